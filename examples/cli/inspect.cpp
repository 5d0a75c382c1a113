#include <algorithm>
#include <cstdio>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/io/dot.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/structure/hierarchy.hpp>
#include <memsched/structure/waists.hpp>
#include <memsched/structure/width.hpp>

#include "commands.hpp"
#include "sdf.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::problem;

void print_size(const loaded& graph, const memsched::schedule_graph& g, const memsched::options& o) {
  const problem& p = graph.problem;
  std::size_t edges = 0, shared = 0, storages = 0, aliases = 0;
  bytes total = 0, largest = 0, workspace = 0;
  for (auto op : p.ops()) {
    edges += p.predecessors(op).size();
    workspace = std::max(workspace, p.workspace(op));
  }
  for (auto t : p.tensors()) {
    if (p.storage(t) != t) {
      ++aliases;
      continue;
    }
    ++storages;
    shared += p.readers(t).size() > 1;
    total += p.size(t);
    largest = std::max(largest, p.size(t));
  }
  const auto width = memsched::width(g);
  memsched::search context(o);
  table rows({"operators", grouped(p.ops().size())});
  rows.row({"tensors", grouped(storages)});
  rows.row({"  read by several operators", grouped(shared)});
  rows.row({"  other names of them (aliases)", grouped(aliases)});
  rows.row({"edges", grouped(edges)});
  rows.row({"width (operators that can be ready together)", width ? grouped(*width) : "not computed: too large"});
  rows.row({"waists (operators that every order runs at one place)", grouped(memsched::waists(g).size())});
  rows.row({"nodes (operators, releases of shared tensors)", grouped(g.size())});
  rows.row({"  left after compression", grouped(memsched::compressed(g, context).graph.size())});
  rows.row({"all tensors, bytes", grouped(total)});
  rows.row({"largest tensor, bytes", grouped(largest)});
  rows.row({"graph inputs, bytes", grouped(p.live_at_start())});
  rows.row({"largest workspace, bytes", grouped(workspace)});
  print(graph.name + '\n' + rows.text());
}

void print_bounds(const problem& p, const memsched::schedule_graph& g, const memsched::options& o) {
  memsched::search context(o);
  const auto order = memsched::best_heuristic{}(g, context).order;
  const auto best = memsched::best_cut_bound(g, order, g.base, [&] { return context.keep_going(); });
  table rows({"  what one operator holds while it runs", grouped(memsched::footprint_bound(p, o.model()))});
  rows.row({"  minimum cut", grouped(best.bound)});
  print("\nbounds: no order takes less than\n" + rows.text());
  if (best.v == memsched::none) return;
  memsched::cut_bound cut(g);
  cut.at(best.v);
  const auto ran = cut.ran();
  const auto operators = std::count_if(ran.begin(), ran.end(), [&](auto v) { return !g.is_release(v); });
  print("  because of " + memsched::one_line(p.operator_name(best.v)) +
        ": whatever has run when it runs, at least that much is live; least after these " + std::to_string(operators) +
        " operators.\n");
}

void print_peak(const problem& p, const memsched::schedule_graph& g, const memsched::options& o) {
  memsched::search context(o);
  const auto order = memsched::as_given{}(g, context).order;
  const auto e = memsched::evaluate(p, order, o.model()).value();
  std::string text = "\npeak of the file's order: " + grouped(e.peak) + " bytes (" + scaled(e.peak) + "), at ";
  text += e.peak_step == order.size() ? "the start"
                                      : "step " + std::to_string(e.peak_step) + " of " + std::to_string(order.size()) +
                                            ", " + memsched::one_line(p.operator_name(order[e.peak_step])) + "; live there:";
  table rows({"  tensor", "bytes"});
  for (auto t : e.live_at_peak) rows.row({"  " + p.tensor_name(t), grouped(p.size(t))});
  if (e.peak_step < order.size() && p.workspace(order[e.peak_step]) > 0)
    rows.row({"  workspace", grouped(p.workspace(order[e.peak_step]))});
  print(text + '\n' + rows.text());
}

void print_hierarchy(const memsched::hierarchical_graph& h, const std::string& file) {
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
  print(std::string("\nhierarchy, with cells ") +
        (h.graph.scope.empty() ? "found by waists and dominance" : "from the graph's scopes") + "; drawn in " + file + '\n' +
        rows.text());
}

}  // namespace

int run_inspect(const std::string& path, const std::string& hierarchy, const request& r) {
  if (is_sdf(path, r.how)) {
    if (hierarchy.empty()) return run_sdf_inspect(path, r);
    return report({memsched::error_code::bad_input, path + ": takes no --hierarchy", {}, {}});
  }
  if (const auto error = only_for_sdf(path, r); !error.message.empty()) return report(error);
  const auto graph = load(path, r.how, scheduler_of("optimal", r));
  if (!graph) return report(graph.error());
  const auto g = memsched::make_schedule_graph(graph->problem, r.options.model());
  memsched::hierarchical_graph h;
  if (!hierarchy.empty()) {
    h = memsched::hierarchize(g);
    const auto label = [&](memsched::node_id v) { return graph->problem.operator_name(v); };
    const auto error = write_files({{hierarchy, memsched::to_dot(h, label, graph->name)}});
    if (!error.message.empty()) return report(error);
  }
  print_size(*graph, g, r.options);
  print_bounds(graph->problem, g, r.options);
  print_peak(graph->problem, g, r.options);
  if (!hierarchy.empty()) print_hierarchy(h, hierarchy);
  return done;
}

}  // namespace cli
