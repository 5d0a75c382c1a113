#include <memsched/formats/recompute_proof.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/proof/check_recompute.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::op_id;
using json = nlohmann::json;

/// The claims of a result of `recompute`.
struct executions_claim {
  std::vector<op_id> executions;
  std::vector<memsched::storage_load> loads;
  memsched::offload moves;
  bool reruns = true;
  bytes peak = 0, budget = 0;
  std::uint64_t extra_cost = 0, lower_bound = 0;
  std::string status;
};

/// Reads the moves that a result has; sets an error where they are none.
memsched::graph_error read_moves(const json& j, const std::string& path, executions_claim& c) {
  if (const auto reruns = j.find("reruns"); reruns != j.end()) {
    if (!reruns->is_boolean()) return wrong(path, "reruns: must be true or false");
    c.reruns = reruns->get<bool>();
  }
  const auto moves = j.find("offload"), loads = j.find("loads");
  if (moves == j.end() && loads == j.end()) return {};
  if (moves == j.end() || !moves->is_object()) return wrong(path, "offload: must be an object with read and write");
  for (const auto& [key, into] : {std::pair("read", &c.moves.read), std::pair("write", &c.moves.write)}) {
    const auto n = whole_number(*moves, key, path + ": offload");
    if (!n) return n.error();
    *into = *n;
  }
  if (!c.moves) return wrong(path, "offload.read: must be above 0");
  if (const auto outside = moves->find("ends_outside"); outside != moves->end()) {
    if (!outside->is_boolean()) return wrong(path, "offload.ends_outside: must be true or false");
    c.moves.ends_outside = outside->get<bool>();
  }
  if (loads == j.end() || !loads->is_array()) return wrong(path, "loads: must be a list");
  for (const json& item : *loads) {
    const auto index = [&](std::size_t k) {
      return item[k].is_number_unsigned() && item[k].get<std::uint64_t>() < memsched::none;
    };
    if (!item.is_array() || item.size() != 2 || !index(0) || !index(1))
      return wrong(path, "loads[" + std::to_string(c.loads.size()) + "]: must be a tensor and a place among executions");
    c.loads.push_back({item[0].get<memsched::tensor_id>(), item[1].get<memsched::index_t>()});
  }
  return {};
}

memsched::result<executions_claim> read_claim(const json& j, const std::string& path) {
  executions_claim c;
  auto executions = operator_list(j["executions"], "executions", path);
  if (!executions) return executions.error();
  c.executions = std::move(*executions);
  for (const auto& [key, into] : {std::pair("peak", &c.peak), std::pair("budget", &c.budget),
                                  std::pair("extra_cost", &c.extra_cost), std::pair("lower_bound", &c.lower_bound)}) {
    const auto n = whole_number(j, key, path);
    if (!n) return n.error();
    *into = *n;
  }
  if (memsched::graph_error fault = read_moves(j, path, c); !fault.message.empty()) return fault;
  c.status = j.value("status", json()) == json("optimal") ? "optimal" : "";
  return c;
}

/// Whether the operators run for the first time in this order.
bool first_runs_are(const std::vector<op_id>& executions, const std::vector<op_id>& order) {
  std::vector<bool> ran(executions.size(), false);
  std::size_t next = 0;
  for (const op_id op : executions) {
    if (op < ran.size() && ran[op]) continue;
    if (next == order.size() || order[next++] != op) return false;
    ran[op] = true;
  }
  return next == order.size();
}

/// Checks the certificate of a result; returns the sentence that says what it proves.
memsched::result<std::string> proven(const executions_claim& c, const json& file, const memsched::problem& p,
                                     memsched::memory_model model, const std::string& path, verified& v) {
  const auto proof = read_cost_proof(file, path);
  if (!proof) return proof.error();
  if (const std::string why = memsched::check_recompute(p, model, c.budget, *proof, c.moves); !why.empty())
    return wrong(path, "certificate: " + why);
  const bool fits = c.peak <= c.budget, none_fits = proof->bound == ~std::uint64_t{0};
  if (fits && (none_fits || proof->bound > c.extra_cost))
    return wrong(path, "certificate: bound: is above the cost of the executions");
  if (!proof->any_order && fits && !first_runs_are(c.executions, proof->rows))
    return wrong(path, "certificate: rows: are not the order in which the operators run first");
  const std::string scope = proof->any_order ? "in any order" : "with the order of first runs kept";
  v.nothing_fits = none_fits;
  if (!none_fits) v.proven = proof->bound;
  if (none_fits) return "Its certificate proves that nothing is within " + grouped(c.budget) + " bytes, " + scope;
  std::string text = "Its certificate proves that nothing within " + grouped(c.budget) + " bytes costs less than " +
                     grouped(proof->bound) + " more, " + scope;
  if (fits && proof->bound == c.extra_cost) text += ": it is optimal";
  else if (proof->bound < c.lower_bound)
    text += "; a bound of " + grouped(c.lower_bound) + " was found by search and is not covered";
  return text;
}

}  // namespace

memsched::result<memsched::recompute_proof> read_cost_proof(const json& result, const std::string& path) {
  const auto at = result.find("certificate");
  if (at == result.end()) return wrong(path, "has no certificate");
  auto proof = memsched::read_recompute_proof(*at);
  if (!proof) return wrong(path, "certificate: " + proof.error().message);
  return proof;
}

memsched::problem without_reruns(const memsched::problem& p) {
  memsched::problem_draft d = p.draft();
  for (memsched::problem_draft::operator_data& op : d.operators) op.pure = false;
  return memsched::make_problem(std::move(d)).value();
}

memsched::result<verified> verify_executions(const loaded& graph, const json& file, const std::string& path,
                                             bool with_certificate, memsched::memory_model given_model) {
  const auto c = read_claim(file, path);
  if (!c) return c.error();
  const auto model = model_of(file, path, given_model);
  if (!model) return model.error();
  std::optional<memsched::problem> once;
  if (!c->reruns) once = without_reruns(graph.problem);
  const memsched::problem& p = once ? *once : graph.problem;
  const auto e = memsched::evaluate_executions(p, c->executions, *model, c->loads, c->moves);
  if (!e) return wrong(path, "executions: " + e.error().message);
  if (e->peak != c->peak)
    return wrong(path, "peak: says " + grouped(c->peak) + ", but the executions take " + grouped(e->peak));
  if (e->extra_cost != c->extra_cost)
    return wrong(path, "extra_cost: says " + grouped(c->extra_cost) + ", but the executions cost " + grouped(e->extra_cost));
  const bool fits = e->peak <= c->budget;
  if (fits && c->lower_bound > e->extra_cost)
    return wrong(path, "lower_bound: " + grouped(c->lower_bound) + " is above the extra cost, " + grouped(e->extra_cost));
  if (c->status == "optimal" && (!fits || c->lower_bound != e->extra_cost))
    return wrong(path, "status: says optimal, but the bound is below the extra cost, or the budget is not met");
  verified v{"executions", graph.name, "extra_cost", e->extra_cost, {}};
  std::string of_bound = "Its bound is a claim that only a certificate proves";
  if (with_certificate) {
    auto text = proven(*c, file, p, *model, path, v);
    if (!text) return text.error();
    of_bound = std::move(*text);
  }
  v.text = path + ": valid executions of " + graph.name + " with a peak of " + grouped(e->peak) +
           " bytes and an extra cost of " + grouped(e->extra_cost) + ", as it says. " + of_bound + ".\n";
  return v;
}

}  // namespace cli
