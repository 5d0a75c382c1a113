#include <algorithm>
#include <cstdio>
#include <memory>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/io/dot.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/forcing_stretch.hpp>
#include <memsched/structure/hierarchy.hpp>
#include <memsched/structure/waists.hpp>
#include <memsched/structure/width.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "commands.hpp"
#include "declare.hpp"
#include "largest.hpp"
#include "sdf.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::problem;

/// The facts about a graph that are printed, as text or as JSON.
struct facts {
  std::size_t operators = 0, tensors = 0, shared = 0, aliases = 0, edges = 0, waists = 0, nodes = 0;
  std::optional<std::size_t> width;
  std::optional<std::size_t> compressed;  ///< nodes; none where a limit came first
  bytes total = 0, largest = 0, inputs = 0, workspace = 0;
  bytes footprint = 0;
  memsched::bounds::node_bound cut;
  std::optional<std::size_t> cut_operators;  ///< that have run at the minimum cut; none where a limit came first
  std::vector<memsched::op_id> file_order;
  memsched::evaluation file;
  memsched::solution best;  ///< what a short search finds
  bytes best_peak = 0;
  memsched::forcing_stretch forced;
};

void measure_size(const problem& p, const memsched::schedule_graph& g, memsched::search& context, facts& f) {
  f.operators = p.ops().size();
  for (auto op : p.ops()) {
    f.edges += p.predecessors(op).size();
    f.workspace = std::max(f.workspace, p.workspace(op));
  }
  for (auto t : p.tensors()) {
    if (p.storage(t) != t) {
      ++f.aliases;
      continue;
    }
    ++f.tensors;
    f.shared += p.readers(t).size() > 1;
    f.total += p.size(t);
    f.largest = std::max(f.largest, p.size(t));
  }
  f.inputs = p.live_at_start();
  f.width = memsched::structure::width(g);
  f.waists = memsched::structure::waists(g).size();
  f.nodes = g.size();
  f.compressed = context.control().with_share(0.2, [&]() -> std::optional<std::size_t> {
    const std::size_t nodes = memsched::presolve::compressed(g, context).graph.size();
    if (context.stopped()) return {};
    return nodes;
  });
}

void measure_bounds(const problem& p, const memsched::schedule_graph& g, memsched::search& context, facts& f) {
  const auto order = memsched::best_heuristic{}(g, context).order;
  f.footprint = memsched::bounds::footprint_bound(p, context.opts().model());
  const auto go_on = [&] { return context.keep_going(); };
  f.cut = context.control().with_share(0.3, [&] { return memsched::bounds::best_cut_bound(g, order, g.base, go_on); });
  if (f.cut.v == memsched::none) return;
  memsched::bounds::cut_bound cut(g);
  cut.at(f.cut.v, 0, go_on);
  if (context.stopped()) return;
  const auto ran = cut.ran();
  f.cut_operators =
      static_cast<std::size_t>(std::count_if(ran.begin(), ran.end(), [&](auto v) { return !g.is_release(v); }));
}

void measure_peaks(const problem& p, const memsched::schedule_graph& g, memsched::search& context, facts& f) {
  f.file_order = memsched::as_given{}(g, context).order;
  f.file = memsched::evaluate(p, f.file_order, context.opts().model()).value();
  constexpr std::uint64_t states = 100000;
  const auto shortly = [&] {
    return context.control().with_states(states, [&] { return memsched::automatic(g, context); });
  };
  f.best = context.control().with_share(0.8, shortly);
  f.best_peak = memsched::peak_of(g, f.best.order);
  f.best.lower_bound = std::min(f.best.lower_bound, f.best_peak);
  f.forced = memsched::find_forcing_stretch(g, context, f.best);
}

std::string text_of(const loaded& graph, const facts& f) {
  const problem& p = graph.problem;
  table rows({"operators", grouped(f.operators)});
  rows.row({"tensors", grouped(f.tensors)});
  rows.row({"  read by several operators", grouped(f.shared)});
  rows.row({"  other names of them (aliases)", grouped(f.aliases)});
  rows.row({"edges", grouped(f.edges)});
  rows.row({"width (operators that can be ready together)", f.width ? grouped(*f.width) : "not computed: too large"});
  rows.row({"waists (operators that every order runs at one place)", grouped(f.waists)});
  rows.row({"nodes (operators, releases of shared tensors)", grouped(f.nodes)});
  rows.row({"  left after compression", f.compressed ? grouped(*f.compressed) : "not computed: no time"});
  rows.row({"all tensors, bytes", grouped(f.total)});
  rows.row({"largest tensor, bytes", grouped(f.largest)});
  rows.row({"graph inputs, bytes", grouped(f.inputs)});
  rows.row({"largest workspace, bytes", grouped(f.workspace)});
  std::string all = graph.name + '\n' + rows.text();

  table bounds({"  what one operator holds while it runs", grouped(f.footprint)});
  bounds.row({"  minimum cut", grouped(f.cut.bound)});
  bounds.row({"  a short search", grouped(f.best.lower_bound)});
  all += "\nbounds: no order takes less than\n" + bounds.text();
  if (f.cut.v != memsched::none)
    all +=
        "  The minimum cut is at " + memsched::base::one_line(p.operator_name(f.cut.v)) +
        ": in every order at least that much is live while it runs" +
        (f.cut_operators ? ", and just that where " + grouped(*f.cut_operators) + " others have run before it.\n" : ".\n");
  if (f.forced.last - f.forced.first < f.operators)
    all += "  The " + grouped(f.forced.last - f.forced.first) + " operators " + grouped(f.forced.first) + " to " +
           grouped(f.forced.last - 1) + " of the best order found, " +
           memsched::base::one_line(p.operator_name(f.best.order[f.forced.first])) + " to " +
           memsched::base::one_line(p.operator_name(f.best.order[f.forced.last - 1])) + ", force " +
           grouped(f.forced.bound) + " bytes, whatever runs before and after them; that order takes " +
           grouped(f.best_peak) + ".\n";

  const auto& e = f.file;
  std::string text = "\npeak of the file's order: " + in_bytes(e.peak) + ", at ";
  text += e.peak_step == f.file_order.size()
              ? "the start"
              : "step " + grouped(e.peak_step + 1) + " of " + grouped(f.file_order.size()) + ", " +
                    memsched::base::one_line(p.operator_name(f.file_order[e.peak_step])) + "; live there:";
  std::vector<named_size> tensors;
  for (const auto t : e.live_at_peak) tensors.emplace_back(p.tensor_name(t), p.size(t));
  table live({"  tensor", "bytes"});
  for (const auto& [name, size] : largest_first(std::move(tensors), 20)) live.row({"  " + name, grouped(size)});
  if (e.peak_step < f.file_order.size() && p.workspace(f.file_order[e.peak_step]) > 0)
    live.row({"  workspace", grouped(p.workspace(f.file_order[e.peak_step]))});
  return all + text + '\n' + live.text();
}

/// Operators and tensors by their indices; `forced_by` is null where the whole graph is needed.
std::string json_of(const loaded& graph, const facts& f) {
  nlohmann::ordered_json j{
      {"version", 1},
      {"graph", graph.name},
      {"operators", f.operators},
      {"tensors", f.tensors},
      {"shared", f.shared},
      {"aliases", f.aliases},
      {"edges", f.edges},
      {"width", f.width ? nlohmann::ordered_json(*f.width) : nlohmann::ordered_json()},
      {"waists", f.waists},
      {"nodes", f.nodes},
      {"nodes_compressed", f.compressed ? nlohmann::ordered_json(*f.compressed) : nlohmann::ordered_json()},
      {"bytes", f.total},
      {"largest", f.largest},
      {"inputs", f.inputs},
      {"workspace", f.workspace},
      {"bounds", {{"footprint", f.footprint}, {"cut", f.cut.bound}, {"search", f.best.lower_bound}}},
      {"given_peak", f.file.peak},
      {"live_at_given_peak", f.file.live_at_peak},
      {"peak", f.best_peak},
      {"forced_by", nlohmann::ordered_json()}};
  if (f.forced.last - f.forced.first < f.operators)
    j["forced_by"] = {{"bound", f.forced.bound},
                      {"first", f.forced.first},
                      {"last", f.forced.last - 1},
                      {"operators", std::vector(f.best.order.begin() + static_cast<std::ptrdiff_t>(f.forced.first),
                                                f.best.order.begin() + static_cast<std::ptrdiff_t>(f.forced.last))}};
  return line_of(j);
}

std::string hierarchy_text(const memsched::structure::hierarchical_graph& h, const std::string& file) {
  std::size_t longest = 0, largest = 0, in_groups = 0;
  for (memsched::node_id i = 0; i < h.graph.active; ++i) longest = std::max(longest, h.sequences[i].size());
  for (memsched::index_t i = 0; i < h.groups.size(); ++i) {
    largest = std::max(largest, h.groups[i].size());
    in_groups += h.groups[i].size();
  }
  table rows({"  sequences", grouped(h.graph.active)});
  rows.row({"    operators in the longest", grouped(longest)});
  rows.row({"    in groups", grouped(in_groups)});
  rows.row({"  groups", grouped(h.groups.size())});
  rows.row({"    sequences in the largest", grouped(largest)});
  return std::string("\nhierarchy, with cells ") +
         (h.graph.scope.empty() ? "found by waists and dominance" : "from the graph's scopes") + "; drawn in " + file +
         '\n' + rows.text();
}

}  // namespace

int run_inspect(const inspect_request& r) {
  const std::string& path = r.graph;
  const std::string& hierarchy = r.hierarchy;
  const bool json = r.format == "json";
  if (const auto error = check_outputs(
          {asked_result(r.output, json ? content::json : content::text), {"--hierarchy", hierarchy, content::dot}}, {path});
      !error.message.empty())
    return report(error);
  if (is_sdf(path, r.how)) {
    if (hierarchy.empty()) return run_sdf_inspect(r);
    return report({memsched::error_code::bad_input, path + ": takes no --hierarchy", {}, {}});
  }
  if (const auto error = only_for_sdf(path, r); !error.message.empty()) return report(error);
  const auto graph = load(path, r.how, scheduler_of("automatic", r));
  if (!graph) return report(graph.error());
  const auto g = memsched::make_schedule_graph(graph->problem, r.options.model());
  facts f;
  memsched::search context(r.options);  // one for all: a limit ends the whole
  measure_size(graph->problem, g, context, f);
  measure_bounds(graph->problem, g, context, f);
  measure_peaks(graph->problem, g, context, f);
  std::vector<output_file> files{{r.output.empty() ? "-" : r.output, json ? json_of(*graph, f) : text_of(*graph, f)}};
  if (!hierarchy.empty()) {
    const memsched::structure::hierarchical_graph h = memsched::structure::hierarchize(g);
    const auto label = [&](memsched::node_id v) { return graph->problem.operator_name(v); };
    if (!json) files[0].text += hierarchy_text(h, hierarchy);
    files.push_back({hierarchy, memsched::to_dot(h, label, graph->name)});
  }
  if (const auto error = write_files(files); !error.message.empty()) return report(error);
  return done;
}

command declare_inspect() {
  const auto r = std::make_shared<inspect_request>();
  command c("inspect", "What a graph is like, its bounds, and where its peak is", "memsched inspect builtin:swiftnet");
  add_graph(c, r->graph, true);
  add_limits(c, *r, default_limit());
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write it there, not to standard output (-)");
  add_format(c, r->format, "text|json");
  c.add("--hierarchy", file(r->hierarchy), "draw sequences and groups (hmcos) as a Graphviz file there");
  add_dataflow(c, *r, false);
  return std::move(c.runs([r](const command& here, session& s) {
    r->format = format_of(here, r->format, r->output);
    prepare(here, *r, s);
    return run_inspect(*r);
  }));
}

}  // namespace cli
