#include <algorithm>
#include <charconv>
#include <chrono>
#include <memsched/certify/certify.hpp>
#include <memsched/formats/recompute_proof.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/recompute.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <memsched/structure/list_schedule.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#ifdef MEMSCHED_HAS_CBC
#include <memsched/ilp/reruns.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#endif

#include "declare.hpp"
#include "limits.hpp"
#include "schedule.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::op_id;
using json = nlohmann::ordered_json;
using found_runs = memsched::recompute_result<op_id>;

constexpr const char* policy_words =
    "automatic|exact|repair|improve|bounds"
#ifdef MEMSCHED_HAS_CBC
    "|ilp"
#endif
    ;

/// Hands f the policy of a word of --policy.
template <class F>
found_runs with_policy(const std::string& word, const F& f) {
  using namespace memsched::reruns;
  if (word == "exact") return f(exact{.operators = 64, .states = memsched::no_limit});
  if (word == "repair") return f(order_first{} | repair{});
  constexpr auto repairs = order_first{} | repair{} | repair_by_prices{} | improve{};
  if (word == "improve") return f(repairs);
  if (word == "bounds") return f(cover{} | weights{} | cover_with_needs{});
#ifdef MEMSCHED_HAS_CBC
  if (word == "ilp") return f(within{0.4, repairs} | ilp<memsched::cbc>{});
#endif
  return f(automatic);
}

found_runs solve(const loaded& graph, const recompute_request& r, bytes budget, const std::vector<op_id>& given) {
  memsched::options o = r.options;
  o.budget = budget;
  if (!r.certificate.empty()) o.certify = memsched::certify;
  return with_policy(r.policy, [&](const auto& policy) {
    return r.keep_order ? memsched::recompute(graph.problem, memsched::keep_order{given}, policy, o, r.moves)
                        : memsched::recompute(graph.problem, policy, o, r.moves);
  });
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

/// Bytes of "90%" of the given peak, rounded up, or of a size.
bytes budget_of(const recompute_request& r, bytes given_peak) {
  if (!r.percent) return r.options.budget;
  return static_cast<bytes>((static_cast<long double>(given_peak) * *r.percent + 99.0L) / 100.0L);
}

/// Operators that run more than once, with how often they run.
std::vector<std::pair<op_id, std::size_t>> repeated(const loaded& graph, const found_runs& a) {
  std::vector<std::size_t> times(graph.problem.ops().size(), 0);
  for (op_id op : a.executions) ++times[op];
  std::vector<std::pair<op_id, std::size_t>> list;
  for (op_id op : graph.problem.ops())
    if (times[op] > 1) list.emplace_back(op, times[op]);
  return list;
}

json as_json(const loaded& graph, const recompute_request& r, const found_runs& a, double took) {
  json j;
  j["version"] = 1;
  j["graph"] = graph.name;
  j["firing"] = firing_name(r);
  j["inplace"] = r.options.in_place;
  j["budget"] = a.budget;
  j["executions"] = a.executions;
  if (r.moves) {
    j["offload"] = {{"read", r.moves.read}, {"write", r.moves.write}};
    if (r.moves.ends_outside) j["offload"]["ends_outside"] = true;
    j["loads"] = json::array();
    for (const auto& load : a.loads) j["loads"].push_back({load.storage, load.before});
  }
  if (r.no_reruns) j["reruns"] = false;
  j["peak"] = a.peak;
  j["given_peak"] = a.given_peak;
  j["peak_bound"] = a.peak_bound;
  j["base_cost"] = a.base_cost;
  j["extra_cost"] = a.extra_cost;
  j["lower_bound"] = a.lower_bound;
  j["bound_of"] = to_string(a.scope);
  j["found_by"] = a.found_by;
  j["bound_by"] = a.bound_by;
  j["status"] = to_string(a.verdict());
  j["stopped"] = to_string(a.stopped);
  j["seconds"] = took;
  j["runs_again"] = json::array();
  for (const auto& [op, times] : repeated(graph, a)) j["runs_again"].push_back({op, times});
  return j;
}

std::string verdict_text(const found_runs& a) {
  const std::string scope = a.scope == memsched::bound_scope::any_order ? "in any order" : "with this order kept";
  switch (a.verdict()) {
    case memsched::verdict::optimal: return "optimal: nothing within the budget costs less " + scope;
    case memsched::verdict::infeasible: return "nothing fits the budget " + scope;
    case memsched::verdict::unknown: return "no executions within the budget were found, and none are ruled out";
    default: break;
  }
  return "of executions " + scope + stop_text(a.stopped);
}

/// Says how many storages leave memory, and how many bytes move out and back.
std::string moves_text(const loaded& graph, const recompute_request& r, const found_runs& a) {
  std::vector<memsched::tensor_id> left;
  bytes read = 0, written = 0;
  for (const auto& load : a.loads) {
    left.push_back(load.storage);
    const bool ends = r.moves.ends_outside && load.before == a.executions.size() && graph.problem.stays(load.storage);
    read += ends ? 0 : graph.problem.size(load.storage);
  }
  std::sort(left.begin(), left.end());
  left.erase(std::unique(left.begin(), left.end()), left.end());
  for (const auto t : left) written += graph.problem.size(t);
  return std::to_string(left.size()) + (left.size() == 1 ? " tensor leaves" : " tensors leave") +
         " memory: " + grouped(written) + " bytes out, " + grouped(read) + " back";
}

std::string as_text(const loaded& graph, const recompute_request& r, const found_runs& a, double took) {
  const auto again = repeated(graph, a);
  std::string text = graph.name + ": " + std::to_string(graph.problem.ops().size()) + " operators\n";
  text += "peak         " + in_bytes(a.peak) + ", " + share(a.peak, a.given_peak) + " of the file order's " +
          grouped(a.given_peak) + "\n";
  text += "budget       " + grouped(a.budget) + " bytes: " + (a.fits() ? "met" : "not met") + "\n";
  text += "extra cost   " + grouped(a.extra_cost) + " of " + grouped(a.base_cost) + ", " + share(a.extra_cost, a.base_cost) +
          "; " + std::to_string(again.size()) + " operators run again\n";
  if (r.moves) text += "moved        " + moves_text(graph, r, a) + "\n";
  text += "lower bound  " + grouped(a.lower_bound) + ", " + verdict_text(a) + "\n";
  text += "found by     " + std::string(a.found_by) +
          (a.bound_by.empty() ? std::string() : "; bound by " + std::string(a.bound_by)) + '\n';
  text += "took         " + seconds(took) + " s, " + grouped(a.stats.states) + " states\n";
  constexpr std::size_t shown = 40;
  if (!again.empty()) text += "\n";
  for (std::size_t i = 0; i < std::min(shown, again.size()); ++i)
    text += "runs " + std::to_string(again[i].second) + " times: " + printable(graph.problem.operator_name(again[i].first)) +
            "\n";
  if (again.size() > shown) text += "and " + std::to_string(again.size() - shown) + " more\n";
  return text;
}

/// Budgets from the given peak down to the least that might do, at equal distances.
std::vector<bytes> budgets(bytes high, bytes low, std::size_t count) {
  std::vector<bytes> list;
  for (std::size_t i = 0; i < count; ++i) {
    const bytes span = high - std::min(low, high), parts = std::max<bytes>(count - 1, 1);
    const bytes b = high - (span / parts * i + span % parts * i / parts);
    if (list.empty() || b < list.back()) list.push_back(b);
  }
  return list;
}

/// A schedule for a budget is one for each larger budget, and a bound holds for each smaller one.
void make_monotone(std::vector<found_runs>& curve) {
  for (std::size_t i = curve.size(); i-- > 1;) {
    found_runs &larger = curve[i - 1], &smaller = curve[i];
    if (!smaller.fits() || (larger.fits() && larger.extra_cost <= smaller.extra_cost)) continue;
    larger.executions = smaller.executions, larger.loads = smaller.loads;
    larger.peak = smaller.peak, larger.extra_cost = smaller.extra_cost, larger.found_by = smaller.found_by;
  }
  for (std::size_t i = 1; i < curve.size(); ++i) {
    curve[i].lower_bound = std::max(curve[i].lower_bound, curve[i - 1].lower_bound);
    curve[i].refuted = curve[i].refuted || curve[i - 1].refuted;
  }
}

int run_curve(const loaded& graph, recompute_request r, const std::vector<op_id>& given, bytes given_peak) {
  const bytes low = memsched::least_peak_with_reruns(graph.problem, r.options.model(), r.moves);
  r.options = with_share(std::move(r.options), std::max<std::size_t>(r.curve, 1));
  std::vector<found_runs> curve;
  for (bytes b : budgets(given_peak, low, r.curve)) {
    curve.push_back(solve(graph, r, b, given));
    if (curve.back().error) return report(wrong(r.graph, curve.back().error->message));
  }
  make_monotone(curve);
  json rows = json::array();
  std::vector<cost_point> points;
  table text({"budget", "of the given peak", "extra cost", "of the cost", "lower bound", "status"});
  for (const found_runs& a : curve) {
    json row{{"budget", a.budget}, {"lower_bound", a.lower_bound}, {"status", to_string(a.verdict())}};
    row["extra_cost"] = a.fits() ? json(a.extra_cost) : json();
    row["peak"] = a.peak;
    rows.push_back(row);
    points.push_back({a.budget, a.fits() ? std::optional(a.extra_cost) : std::nullopt, a.lower_bound,
                      a.verdict() == memsched::verdict::infeasible});
    text.row({grouped(a.budget), share(a.budget, given_peak), a.fits() ? grouped(a.extra_cost) : "-",
              a.fits() ? share(a.extra_cost, a.base_cost) : "-", grouped(a.lower_bound), to_string(a.verdict())});
  }
  json j{{"version", 1}, {"graph", graph.name}, {"given_peak", given_peak}};
  j["base_cost"] = curve[0].base_cost;
  j["bound_of"] = r.keep_order ? "given order" : "any order";
  j["curve"] = rows;
  std::vector<output_file> files;
  if (!r.svg.empty()) files.push_back({r.svg, curve_svg(graph.name, points, curve[0].base_cost)});
  return write_result(r.output, r.json ? line_of(j) : text.text(), std::move(files));
}

}  // namespace

int run_recompute(const recompute_request& r) {
  if (const auto error = check_outputs({asked_result(r.output, r.json ? content::json : content::text),
                                        {"--svg", r.svg, content::svg},
                                        {"--certificate", r.certificate, content::json}},
                                       {r.graph});
      !error.message.empty())
    return report(error);
  auto graph = load(r.graph, r.how, scheduler_of("automatic", r));
  if (!graph) return report(graph.error());
  if (r.no_reruns) graph->problem = without_reruns(graph->problem);
  const auto& p = graph->problem;
  const auto given = memsched::structure::given_order(memsched::make_schedule_graph(p, r.options.model()));
  const bytes given_peak = memsched::evaluate(p, given, r.options.model()).value().peak;
  if (r.curve > 0) return run_curve(*graph, r, given, given_peak);
  const auto start = std::chrono::steady_clock::now();
  const found_runs a = solve(*graph, r, budget_of(r, given_peak), given);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (a.error) return report(wrong(r.graph, a.error->message));
  json object = as_json(*graph, r, a, took);
  std::vector<output_file> files;
  const std::string text = r.json ? line_of(object) : as_text(*graph, r, a, took);
  if (!r.certificate.empty()) {
    if (a.proof.cases.empty() && !a.proof.weighed)
      return report(wrong(r.certificate, "there is nothing to prove: the bound is 0, or that of one operator's memory"));
    object["certificate"] = memsched::write_recompute_proof(a.proof);
    files.push_back({r.certificate, line_of(object)});
  }
  return write_result(r.output, text, std::move(files), a.fits() ? done : over_budget);
}

namespace {

/// Reads a size, or a share as "80%"; returns what is wrong with the text.
std::string read_budget(const std::string& text, recompute_request& r) {
  if (!text.ends_with('%')) return read_size(text, r.options.budget);
  double share = -1;
  const char* end = text.data() + text.size() - 1;
  const auto [rest, code] = std::from_chars(text.data(), end, share);
  if (code != std::errc{} || rest != end || !(share >= 0 && share <= 1e6)) return text + " is no share, as 80%";
  r.percent = share;
  return {};
}

/// Reads READ[,WRITE], bytes for a unit of cost; returns what is wrong with the text.
std::string read_offload(const std::string& text, memsched::offload& into) {
  const std::size_t comma = std::min(text.find(','), text.size());
  std::string fault = read_size(text.substr(0, comma), into.read);
  into.write = into.read;
  if (fault.empty() && comma < text.size()) fault = read_size(text.substr(comma + 1), into.write);
  return fault.empty() && into.read == 0 ? "READ must be above 0: the bytes that a unit of cost brings back" : fault;
}

}  // namespace

command declare_recompute() {
  const auto r = std::make_shared<recompute_request>();
  const auto format = std::make_shared<std::string>("text");
  command c("recompute", "Run operators again, at the least extra cost, to fit a budget below every order's peak",
            "memsched recompute builtin:transformer_step --budget 70%");
  add_graph(c, r->graph, false);
  c.in("Recompute");
  c.add(
      "--budget", {"SIZE", [r](const std::string& t) { return read_budget(t, *r); }},
      "bytes there are, as 262144 or 256K, or a share of the file order's peak, as 80%; exit status 3 where it is not met");
  c.add("--curve", number(r->curve, 1, 10000),
        "instead: so many budgets from the file order's peak down, a line each: extra cost, bound");
  c.add("--keep-order", flag(r->keep_order), "operators first run in the file's order; so of the bound");
  c.add(
      "--offload", {"READ[,WRITE]", [r](const std::string& t) { return read_offload(t, r->moves); }},
      "tensors may also leave memory and come back: the bytes that a unit of cost moves, as 16K where costs are microseconds "
      "and a link moves 16 GB/s; each that leaves is written once (WRITE: as READ; 0: at no cost)");
  c.add(
      "--policy", choice(policy_words, r->policy),
      "which part of the search runs: the exact one (up to 64 operators), one repair of each order, repairs until a limit, "
      "bounds alone, or, where the program is built with Cbc, an integer program after repairs (ilp)");
  c.add("--ends-outside", flag(r->moves.ends_outside),
        "graph inputs may be outside memory at the start, and what stays may be at the end: written, and not read back")
      .needs("--offload");
  c.add("--no-reruns", flag(r->no_reruns), "nothing runs again: tensors only move").needs("--offload");
  add_limits(c, *r, default_limit());
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write the result there, not to standard output (-)");
  add_format(c, *format, "text|json");
  add_log(c, *r);
  c.add("--svg", file(r->svg), "draw the curve there: extra cost and bound over budgets").needs("--curve");
  c.add("--certificate", file(r->certificate),
        "write the result there as JSON, with a proof of the bound of its extra cost, which "
        "tests/proof/check_recompute.py checks")
      .needs("--budget");
  return std::move(c.runs([r, format](const command& here, session& s) {
    if (here.given("--budget") == here.given("--curve")) return misuse(here, "--budget is required, or --curve");
    r->json = format_of(here, *format, r->output) == "json";
    prepare(here, *r, s);
    return run_recompute(*r);
  }));
}

}  // namespace cli
