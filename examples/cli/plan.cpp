#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <memsched/allocation/conflict.hpp>
#include <memsched/certify/certify_joint.hpp>
#include <memsched/formats/arena_proof.hpp>
#include <memsched/formats/buffers_csv.hpp>
#include <memsched/plan.hpp>
#include <nlohmann/json.hpp>

#include "arena_svg.hpp"
#include "commands.hpp"
#include "declare.hpp"
#include "largest.hpp"
#include "limits.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::arena_plan;
using memsched::bytes;
using memsched::index_t;
using memsched::none;
using json = nlohmann::ordered_json;

/// The subject of a plan: the buffers of an order of a graph, or those of a table.
struct subject {
  std::string name;
  std::vector<memsched::op_id> order;
  std::vector<std::vector<index_t>> tensors;  ///< per buffer
  std::vector<std::string> names;             ///< per buffer
  memsched::order_buffers held;
  bytes peak = 0;
  bool of_graph = false;
  std::optional<memsched::problem> graph;
};

/// Calls f with the planner of that name.
template <class F>
auto with_planner(const std::string& name, F&& f) {
  if (name == "birth") return f(memsched::by_birth{});
  if (name == "size") return f(memsched::by_size{});
  if (name == "valley") return f(memsched::valley_fit{});
  if (name == "exact") return f(memsched::exact_fit{});
  return f(memsched::minimize{});
}

void name_buffers(subject& s, const memsched::problem& p) {
  s.tensors.assign(s.held.buffers.size(), {});
  for (memsched::tensor_id t : p.tensors())
    if (s.held.of_tensor[t] != none) s.tensors[s.held.of_tensor[t]].push_back(t);
  for (index_t b = 0; b < s.held.buffers.size(); ++b) {
    std::string name;
    for (const index_t t : s.tensors[b]) name += (name.empty() ? "" : " ") + memsched::base::one_line(p.tensor_name(t), 60);
    if (s.held.workspace_of[b] != none)
      name = "workspace of " + memsched::base::one_line(p.operator_name(s.held.workspace_of[b]), 60);
    s.names.push_back(std::move(name));
  }
}

json as_json(const subject& s, const plan_request& r, const arena_plan& plan, double took) {
  json j;
  j["version"] = 1;
  j["graph"] = s.name;
  if (s.of_graph) {
    j["firing"] = firing_name(r);
    j["inplace"] = r.options.in_place;
    j["order"] = s.order;
    j["peak"] = s.peak;
  }
  j["arena"] = plan.size;
  j["lower_bound"] = plan.lower_bound;
  j["bound_of"] = r.joint ? "joint" : s.of_graph ? "order" : "buffers";
  j["status"] = to_string(plan.verdict());
  j["planner"] = r.planner;
  j["alignment"] = r.alignment;
  j["capacity"] = plan.capacity == memsched::no_limit ? json() : json(plan.capacity);
  j["buffers"] = json::array();
  for (std::size_t i = 0; i < s.held.buffers.size(); ++i) {
    const auto& b = s.held.buffers[i];
    json entry;
    if (!s.of_graph) entry["id"] = s.names[i];
    else if (s.held.workspace_of[i] != none) entry["workspace_of"] = s.held.workspace_of[i];
    else entry["tensors"] = s.tensors[i];
    entry["lower"] = b.lower;
    entry["upper"] = b.upper;
    entry["size"] = b.size;
    entry["offset"] = plan.offset[i];
    for (const auto& d : b.drops) entry["drops"].push_back({d.at, d.size});
    j["buffers"].push_back(std::move(entry));
  }
  j["conflict"] = plan.conflict;
  j["stopped"] = to_string(plan.stopped);
  j["seconds"] = took;
  return j;
}

std::string as_text(const subject& s, const plan_request& r, const arena_plan& plan, double took) {
  std::string text = "graph        " + s.name + ": " + std::to_string(s.held.buffers.size()) + " buffers\n";
  if (s.of_graph) text += "peak         " + grouped(s.peak) + " bytes\n";
  text += "arena        " + in_bytes(plan.size) + ", by " + r.planner + '\n';
  text += "lower bound  " + grouped(plan.lower_bound) + " bytes, for " +
          (r.joint      ? "all orders"
           : s.of_graph ? "this order"
                        : "these buffers") +
          ": " + to_string(plan.verdict()) + '\n';
  if (plan.capacity != memsched::no_limit)
    text += "capacity     " + grouped(plan.capacity) + " bytes: " + (plan.fits() ? "fits" : "does not fit") + '\n';
  if (!plan.conflict.empty()) {
    text += "conflict     these do not fit below the bound by themselves:";
    for (const index_t b : plan.conflict) text += ' ' + s.names[b];
    text += '\n';
  }
  text += "took         " + seconds(took) + " s, " + grouped(plan.stats.states) + " nodes\n\n";
  std::vector<bytes> sizes;
  for (const auto& b : s.held.buffers) sizes.push_back(b.size);
  constexpr std::size_t short_enough = 60, largest = 20;
  const bool all = r.list || sizes.size() <= short_enough;
  table rows({all ? "buffer" : "the largest buffers", "offset", "size", "from", "to"});
  for (const std::size_t i : places_of_largest(sizes, all ? sizes.size() : largest))
    rows.row({s.names[i], grouped(plan.offset[i]), grouped(s.held.buffers[i].size), std::to_string(s.held.buffers[i].lower),
              std::to_string(s.held.buffers[i].upper)});
  text += rows.text();
  if (!all)
    text +=
        "(" + grouped(s.held.buffers.size()) + " buffers; --list writes them here, --format json or csv and -o elsewhere)\n";
  return text;
}

std::string as_csv(const subject& s, const arena_plan& plan) {
  memsched::named_buffers table{s.names, s.held.buffers};
  if (s.of_graph)
    for (std::size_t i = 0; i < table.ids.size(); ++i) table.ids[i] = std::to_string(i);
  return memsched::write_buffers_csv(table, plan.offset);
}

/// Plans what the request names; an error in the plan where that cannot be.
/// Half of the time is for the order, where none is given, and what is left for the arena.
arena_plan solve(subject& s, const plan_request& r, std::chrono::steady_clock::time_point start) {
  arena_plan failed;
  if (is_table(r.graph)) {
    const auto refuse = [&](memsched::graph_error e) {
      failed.error = wrong(r.graph, e.message);
      return failed;
    };
    if (r.joint || !r.order.empty()) return refuse({{}, "a table of buffers has no order", {}, {}});
    auto table = read_table(r.graph, r.alignment);
    if (!table) return failed.error = table.error(), failed;
    s.name = std::filesystem::path(r.graph).stem().string();
    s.names = std::move(table->ids);
    s.held.buffers = std::move(table->buffers);
    s.held.workspace_of.assign(s.names.size(), none);
    arena_plan plan =
        with_planner(r.planner, [&](const auto& how) { return memsched::plan_offsets(s.held.buffers, how, r.options); });
    return plan.error ? refuse(*plan.error) : plan;
  }
  auto graph = load(r.graph, r.how, scheduler_of("automatic", r));
  if (!graph) return failed.error = graph.error(), failed;
  s.name = graph->name;
  s.of_graph = true;
  arena_plan plan;
  if (r.joint) {
    if (!r.order.empty()) return failed.error = wrong(r.order, "--joint takes no order: it finds one"), failed;
    auto j = with_planner(r.planner, [&](const auto& how) {
      return memsched::plan_order_and_offsets(graph->problem, memsched::automatic, how, r.options, r.alignment);
    });
    s.order = std::move(j.order), s.held = std::move(j.held), s.peak = j.peak;
    plan = std::move(j.plan);
  } else {
    auto order = read_order(r.order, *graph, with_share(rest_of(r.options, start), 2));
    if (!order) return failed.error = order.error(), failed;
    s.order = std::move(*order);
    s.held = memsched::buffers_of(graph->problem, s.order, r.options.model()).value();
    s.peak = memsched::evaluate(graph->problem, s.order, r.options.model())->peak;
    for (auto& b : s.held.buffers) b.alignment = r.alignment;
    plan = with_planner(
        r.planner, [&](const auto& how) { return memsched::plan_offsets(s.held.buffers, how, rest_of(r.options, start)); });
  }
  if (plan.error) return failed.error = wrong(r.graph, plan.error->message), failed;
  name_buffers(s, graph->problem);
  s.graph = std::move(graph->problem);
  return plan;
}

/// The proof that no arena is smaller than the plan's bound, as JSON; nothing where there is none within the limits.
std::optional<json> proof_of(const subject& s, const plan_request& r, const arena_plan& plan) {
  memsched::options o = r.options;
  o.budget = memsched::no_limit;
  if (r.joint) {
    const auto proof = with_planner(r.planner, [&](const auto& how) {
      return memsched::certify_joint(*s.graph, s.order, plan.lower_bound, memsched::automatic, how, o, r.alignment);
    });
    return proof ? std::optional(memsched::write_joint_proof(*proof)) : std::nullopt;
  }
  memsched::search context(o);
  const auto proof = memsched::certify_packing(s.held.buffers, plan.lower_bound, context);
  return proof ? std::optional(memsched::write_packing_proof(*proof)) : std::nullopt;
}

/// The plan with the proof of its bound, or with one of what is live at once; says which of them it was then.
std::string with_certificate(const subject& s, const plan_request& r, const arena_plan& plan, double took) {
  json j = as_json(s, r, plan, took);
  auto proof = proof_of(s, r, plan);
  if (!proof) {
    const bytes simple = memsched::detail::simple_bound(s.held.buffers);
    std::string proven = "nothing";
    if (!r.joint) {
      memsched::search context(memsched::options{});
      const auto less = memsched::certify_packing(s.held.buffers, simple, context);
      if (less) proof = memsched::write_packing_proof(*less), proven = "a bound of " + grouped(simple) + " bytes";
    }
    std::fprintf(stderr, "memsched: %s: proves %s, not the bound of %s bytes: none was found within the limits\n",
                 r.certificate.c_str(), proven.c_str(), grouped(plan.lower_bound).c_str());
  }
  j["certificate"] = proof ? std::move(*proof) : memsched::write_packing_proof({});
  if (!r.certificate.ends_with(".cbor")) return line_of(j);
  std::string binary;
  json::to_cbor(j, binary);
  return binary;
}

}  // namespace

bool is_table(const std::string& path) { return std::filesystem::path(path).extension() == ".csv"; }

memsched::result<memsched::named_buffers> read_table(const std::string& path, bytes alignment) {
  const auto text = read_file(path);
  if (!text) return text.error();
  auto table = memsched::read_buffers_csv(text->view());
  if (!table) return wrong(path, table.error().message);
  for (auto& b : table->buffers)
    if (b.alignment == 1) b.alignment = alignment;
  return table;
}

int run_plan(const plan_request& r) {
  const content result = r.format == "csv" ? content::csv : r.format == "json" ? content::json : content::text;
  if (const auto error =
          check_outputs({asked_result(r.output, result), {"--svg", r.svg, content::svg}, asked_certificate(r.certificate)},
                        {r.graph, r.order});
      !error.message.empty())
    return report(error);
  subject s;
  const auto start = std::chrono::steady_clock::now();
  arena_plan plan = solve(s, r, start);
  if (plan.error) return report(*plan.error);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!r.joint && plan.lower_bound > memsched::detail::simple_bound(s.held.buffers)) {
    memsched::options limited;
    limited.time_limit = std::min<std::chrono::nanoseconds>(std::chrono::seconds(10), r.options.time_left(start));
    limited.stop = r.options.stop;
    memsched::search context(limited);
    plan.conflict = memsched::find_conflict(s.held.buffers, plan.lower_bound - 1, context).buffers;
  }
  const std::string text = r.format == "csv"    ? as_csv(s, plan)
                           : r.format == "json" ? line_of(as_json(s, r, plan, took))
                                                : as_text(s, r, plan, took);
  std::vector<output_file> files;
  if (!r.certificate.empty()) files.push_back({r.certificate, with_certificate(s, r, plan, took)});
  if (!r.svg.empty()) files.push_back({r.svg, arena_svg(s.name, s.held.buffers, s.names, plan, s.order.size())});
  return write_result(r.output, text, std::move(files), plan.fits() ? done : over_budget);
}

command declare_plan() {
  const auto r = std::make_shared<plan_request>();
  command c("plan", "Offsets of all tensors of an order in the smallest arena; of a table of buffers",
            "memsched plan model.tflite --alignment 16 --svg arena.svg");
  c.add("GRAPH", graph(r->graph),
        "*.json, *.onnx, *.tflite, builtin:NAME (`memsched networks` lists them), or - for standard input; or BUFFERS.csv "
        "as minimalloc reads it")
      .required();
  c.in("Arena");
  c.add("--order", file(r->order), "a result of `schedule`, or a list of operator indices; else the order of least peak");
  c.add("--joint", flag(r->joint), "find the order, too: the smallest arena over all orders");
  c.add("--planner", choice("minimize|exact|birth|size|valley", r->planner),
        "minimize: smallest, with proof\nexact: within the budget or the load\nbirth: as TensorFlow Lite\nsize: as "
        "TensorFlow Lite for Microcontrollers\nvalley: valley fit\n")
      .by_default(r->planner);
  c.add("--alignment", number(r->alignment, 1, std::uint64_t{1} << 40),
        "of every offset; in a table, of those without their own")
      .by_default("1");
  c.add("--budget,--capacity", size(r->options.budget),
        "bytes there are, as 256K; exit status 3 where the arena needs more");
  add_limits(c, *r, default_limit());
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write the plan there, not to standard output (-)");
  add_format(c, r->format, "text|json|csv");
  c.add("--list", flag(r->list), "list the buffers, however many; else up to 60, or the 20 largest");
  c.add("--svg", file(r->svg), "draw the arena, time by offset, as an SVG there");
  c.add("--certificate", file(r->certificate),
        "write the plan there as JSON, or CBOR where the name ends in .cbor, with a proof that no arena is smaller, which "
        "`verify --certificate` checks");
  return std::move(c.runs([r](const command& here, session& s) {
    r->format = format_of(here, r->format, r->output);
    prepare(here, *r, s);
    return run_plan(*r);
  }));
}

}  // namespace cli
