// Executions with repetitions and proofs of their extra cost, as found and changed, each with what the library's checker says
// of it: for a second checker, one JSON object a line; or so of plans of spills. usage: recompute_cases COUNT [traffic]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <utility>

#include <memsched/certify/certify.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/formats/recompute_proof.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/proof/check_recompute.hpp>
#include <memsched/proof/traffic_problem.hpp>
#include <memsched/recompute.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <memsched/recompute/plan_spills.hpp>
#include <memsched/structure/list_schedule.hpp>

#include "recompute/priced.hpp"
#include "support/random_problem.hpp"

using namespace memsched;
using json = nlohmann::ordered_json;

namespace {

/// A proof with one number changed.
recompute_proof changed(recompute_proof proof, support::random& r) {
  const auto some = [&](const auto& list) { return r.below(static_cast<std::uint32_t>(list.size())); };
  if (proof.weighed) {
    if (r.chance(50)) proof.weighed->price += r.chance(50) ? 1 : proof.weighed->price;
    else if (r.chance(50)) proof.weighed->orders.bound += 5;
    else proof.bound += 5;
    return proof;
  }
  proof::recompute_case& c = proof.cases[some(proof.cases)];
  switch (r.below(15)) {
    case 0: proof.bound += 5; break;
    case 1: ++proof.scale; break;
    case 2: proof.any_order = !proof.any_order; break;
    case 3: std::swap(proof.rows[some(proof.rows)], proof.rows[some(proof.rows)]); break;
    case 4: c = {.row = some(proof.rows)}; break;
    case 5:
      if (r.chance(30)) c.storage = some(proof.charged);
      else if (r.chance(50)) c.first = r.below(12);
      else c.last = c.first + r.below(4);
      break;
    case 8:
      if (!proof.needs.empty()) proof.needs[some(proof.needs)] = some(proof.rows);
      break;
    case 9:
      if (proof.shares.empty() || proof.shares[0].empty()) break;
      if (proof::recompute_share& s = proof.shares[0][some(proof.shares[0])]; r.chance(30)) s.amount += s.amount / 2 + 1;
      else if (r.chance(50)) s.absent = some(proof.charged);
      else s.pays = s.absent;
      break;
    case 10:
      if (!proof.units.empty()) proof.units[some(proof.units)] = r.below(6);
      break;
    case 11:
      if (!proof.units.empty()) proof.units.pop_back();
      break;
    case 12:
      if (proof.reruns.empty()) break;
      if (r.chance(50)) proof.reruns[some(proof.reruns)].second = some(proof.charged);
      else std::swap(proof.reruns.front(), proof.reruns.back());
      break;
    case 13: c.again = !c.again; break;
    case 14:
      if (proof.writes.empty()) break;
      if (proof::write_share& w = proof.writes[some(proof.writes)]; r.chance(50)) w.amount += 1 + r.below(3);
      else if (r.chance(50)) w.first += 1;
      else proof.writes.pop_back();
      break;
    case 6: proof.charged[some(proof.charged)] = none; break;
    default:
      if (proof.prices.empty() || proof.prices[0].empty()) break;
      auto& [row, price] = proof.prices[0][some(proof.prices[0])];
      if (r.chance(50)) row = some(proof.rows);
      else price += price / 2 + 1;
  }
  return proof;
}

void print(const problem& p, const options& o, const offload& moves, const recompute_result<op_id>& found,
           const recompute_proof& proof, bytes budget, bool is_changed) {
  json result{{"firing", o.default_firing == firing::cbp ? "cbp" : "pbc"}, {"inplace", o.in_place}, {"budget", budget}};
  result["executions"] = found.executions;
  if (moves) {
    result["offload"] = {{"read", moves.read}, {"write", moves.write}, {"ends_outside", moves.ends_outside}};
    result["loads"] = json::array();
    for (const storage_load& l : found.loads) result["loads"].push_back({l.storage, l.before});
  }
  result["peak"] = found.peak;
  result["extra_cost"] = evaluate_executions(p, found.executions, o.model(), found.loads, moves).value().extra_cost;
  result["certificate"] = write_recompute_proof(proof);
  const auto as_read = read_recompute_proof(nlohmann::json::parse(result["certificate"].dump()));
  if (!as_read || write_recompute_proof(*as_read) != result["certificate"]) {
    std::cerr << "a proof is read as another: " << (as_read ? "" : as_read.error().message) << "\n";
    std::exit(1);
  }
  const bool accepted = check_recompute(p, o.model(), budget, proof, moves).empty();
  const json line{
      {"graph", json::parse(write_json(p.draft()))}, {"result", result}, {"accepted", accepted}, {"changed", is_changed}};
  std::cout << line.dump() << "\n";
}

void print_traffic(const problem& p, const options& o, std::span<const op_id> order, bytes capacity, const spill_plan& plan,
                   const recompute_proof& proof, bool is_changed) {
  json result{{"firing", o.default_firing == firing::cbp ? "cbp" : "pbc"}, {"inplace", o.in_place}, {"model", "resident"}};
  result["order"] = std::vector<op_id>(order.begin(), order.end());
  result["capacity"] = capacity;
  result["traffic"] = plan.count.total();
  result["spills"] = json::array();
  for (const spill& s : plan.spills)
    result["spills"].push_back({{"tensor", s.storage}, {"from", s.from}, {"to", s.to}, {"written", s.written}});
  result["certificate"] = write_recompute_proof(proof);
  const bool accepted = check_traffic(p, order, capacity, o.model(), proof).empty();
  const json line{
      {"graph", json::parse(write_json(p.draft()))}, {"result", result}, {"accepted", accepted}, {"changed", is_changed}};
  std::cout << line.dump() << "\n";
}

/// Spills of a random graph on a chip of some capacity, with their proof, and changed ones.
void traffic_case(std::uint64_t seed) {
  support::random r(seed);
  const auto made = make_problem(support::random_draft(seed, {.operators = 4 + r.below(16),
                                                              .max_size = 1 + r.below(20),
                                                              .percent_inplace = r.below(3) * 30,
                                                              .percent_updates = r.below(3) * 10,
                                                              .percent_overwrites = r.below(3) * 20}));
  if (!made) return;  // updates ask for a cycle
  const problem& p = *made;
  options o;
  if (r.chance(40)) o.default_firing = firing::cbp;
  o.in_place = !r.chance(20);
  o.state_limit = 2000;
  const auto order = structure::given_order(make_schedule_graph(p, o.model()));
  const bytes peak = evaluate(p, order, o.model()).value().peak, capacity = peak - peak * r.below(6) / 10;
  const result<spill_plan> plan = plan_spills(p, order, capacity, o);
  if (!plan || plan->proof.cases.empty()) return;
  print_traffic(p, o, order, capacity, *plan, plan->proof, false);
  for (int i = 0; i < 6; ++i) print_traffic(p, o, order, capacity, *plan, changed(plan->proof, r), true);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  if (argc > 2) {
    for (std::uint64_t seed = 0; seed < count; ++seed) traffic_case(seed);
    return 0;
  }
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    support::random r(seed);
    problem_draft d = support::random_draft(
        seed, {.operators = 5 + r.below(20), .percent_updates = r.below(3) * 5, .percent_overwrites = r.below(3) * 20});
    for (problem_draft::operator_data& op : d.operators) op.cost = r.below(4) * 5, op.pure = !r.chance(10);
    auto any = make_problem(std::move(d));
    if (!any) continue;  // updates ask for a cycle
    problem p = r.chance(30)   ? recompute_test::trained(seed, 3 + r.below(4))
                : r.chance(40) ? recompute_test::there_and_back(seed, 4 + r.below(5))
                               : std::move(*any);
    if (r.chance(50)) p = recompute_test::in_units(p, r);
    options o;
    if (r.chance(30)) o.default_firing = firing::cbp;
    o.in_place = !r.chance(20);
    o.state_limit = 2000;
    o.certify = certify;
    const offload moves{r.chance(40) ? 1 + r.below(5) : 0, r.below(6), r.chance(40)};
    const auto order = structure::given_order(make_schedule_graph(p, o.model()));
    const bytes low = least_peak_with_reruns(p, o.model(), moves), high = evaluate(p, order, o.model()).value().peak;
    o.budget = low + (high - low) * r.below(4) / 4;
    const auto solve = [&](const auto& policy) {
      return r.chance(50) ? recompute(p, policy, o, moves) : recompute(p, keep_order{order}, policy, o, moves);
    };
    const auto by_needs = reruns::repair{} | reruns::improve{} | reruns::cover{} | reruns::cover_with_needs{};
    const auto found = r.chance(50) ? solve(reruns::automatic) : solve(by_needs);
    if (found.proof.cases.empty() && !found.proof.weighed) continue;
    print(p, o, moves, found, found.proof, o.budget, false);
    print(p, o, moves, found, found.proof, o.budget - std::min<bytes>(o.budget, 1 + r.below(5)), true);
    if (moves)
      print(p, o, {moves.read + 1 + r.below(3), moves.write, moves.ends_outside}, found, found.proof, o.budget, true);
    for (int i = 0; i < 6; ++i) print(p, o, moves, found, changed(found.proof, r), o.budget, true);
  }
}
