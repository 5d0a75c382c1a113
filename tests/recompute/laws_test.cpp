// Laws of schedules with reruns over random graphs: the exact search against all short sequences, and everything else
// against the exact search.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/proof/check_recompute.hpp>
#include <memsched/proof/proof_needs.hpp>
#include <memsched/proof/proof_rows.hpp>
#include <memsched/proof/weighed_problem.hpp>
#include <memsched/recompute.hpp>
#include <memsched/recompute/cover.hpp>
#include <memsched/recompute/exact.hpp>
#include <memsched/recompute/improve_cover.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <memsched/recompute/played_stages.hpp>
#include <memsched/recompute/priced_closure.hpp>
#include <memsched/recompute/repair.hpp>
#include <memsched/recompute/write_shares.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/structure/list_schedule.hpp>

#include "../support/seeds.hpp"
#include "priced.hpp"

using namespace recompute_test;

namespace {

/// The referee's answer for ids of a table.
result<executions_evaluation> evaluate_ids(const execution_table& table, const ids& all, memory_model model = {}) {
  const auto [executions, loads] = without_loads(table, all);
  return evaluate_executions(table.graph(), executions, model, loads, table.prices());
}

/// The least extra cost and the least peak over all sequences of at most `most` executions.
struct all_sequences {
  const execution_table& table;
  std::size_t most;
  bytes budget;
  ids run{};
  std::optional<std::uint64_t> extra{};
  bytes peak = no_limit;

  void go() {
    const problem& p = table.graph();
    if (const auto e = evaluate_ids(table, run)) {
      peak = std::min(peak, e->peak);
      if (e->peak <= budget && (!extra || e->extra_cost < *extra)) extra = e->extra_cost;
    }
    if (run.size() == most) return;
    const auto ran = [&](op_id x) { return x == none || std::find(run.begin(), run.end(), x) != run.end(); };
    for (op_id e = 0; e < table.size(); ++e) {
      if (table.is_move(e)) {
        if (!table.may_repeat(e) || !ran(p.producer(table.moved(e)))) continue;
      } else if (const auto before = p.predecessors(e); !std::all_of(before.begin(), before.end(), ran)) {
        continue;
      }
      run.push_back(e);
      go();
      run.pop_back();
    }
  }
};

std::uint64_t unit_of(const execution_table& table) {
  std::uint64_t unit = table.prices() ? 1 : 0;
  for (op_id op : table.graph().ops()) unit = std::gcd(unit, table.cost(op));
  return std::max<std::uint64_t>(unit, 1);
}

}  // namespace

TEST_CASE("law: the exact search finds what all short sequences hold") {
  std::size_t compared = 0, cost_something = 0, with_loads = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(240); ++seed) {
    const offload moves = seed % 2 == 1 ? kind_of_moves(1 + seed / 2 % 3) : none_leaves;
    const problem p = priced(seed, moves ? 3 : 4, 20);
    const execution_table table(p, moves);
    for (bytes budget : budgets(p, moves)) {
      all_sequences all{table, moves ? 5U : 6U, budget};
      all.go();
      search context{options{}};
      const exact_executions e = cheapest_executions(table, {}, budget, {}, context);
      REQUIRE(e.complete);
      if (all.extra) {
        REQUIRE(e.found);
        REQUIRE(e.extra_cost <= *all.extra);
      }
      if (e.found) {
        const executions_evaluation cost = evaluate_ids(table, e.executions).value();
        REQUIRE(cost.extra_cost == e.extra_cost);
        REQUIRE(cost.peak <= budget);
        cost_something += e.extra_cost > 0;
        with_loads += !without_loads(table, e.executions).second.empty();
        if (all.extra && e.executions.size() <= all.most) REQUIRE(e.extra_cost == *all.extra);
      }
      const exact_executions low = lowest_executions(table, {}, {}, context);
      REQUIRE(low.peak <= all.peak);
      REQUIRE(evaluate_ids(table, low.executions).value().peak == low.peak);
      REQUIRE(e.found == (low.peak <= budget));
      ++compared;
    }
  }
  REQUIRE(compared > support::seeds(240));
  REQUIRE(cost_something > 0);
  REQUIRE(with_loads > 0);
}

namespace {

/// Whether the shares of each write sum up to no more than the write.
bool shares_are_parts(const execution_table& table, const rerun_rows& rows) {
  std::vector<std::uint64_t> sum(table.graph().tensors().size(), 0);
  for (const rerun_gap& g : rows.gaps) sum[g.storage] += g.write;
  return std::ranges::all_of(rows.gaps, [&](const rerun_gap& g) {
    return g.write == 0 || sum[g.storage] <= table.write_cost(table.load_of(g.storage));
  });
}

}  // namespace

TEST_CASE("law: no bound is above the cheapest schedule, and no least peak above one that is reached") {
  std::size_t above_0 = 0, above_0_with_moves = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(150); ++seed) {
    for (const offload& moves : kinds_of_moves) {
      const problem p = priced(seed, moves ? 5 : 7);
      const execution_table table(p, moves);
      const ids order = own_order(p);
      search context{options{}};
      for (const memory_model model : {memory_model{}, memory_model{.default_firing = firing::cbp}}) {
        REQUIRE(least_peak_with_reruns(p, model, moves) <= lowest_executions(table, model, {}, context).peak);
        for (bytes budget : budgets(p, moves))
          for (const bool any : {false, true}) {
            const exact_executions e = cheapest_executions(table, model, budget, any ? ids{} : order, context);
            rerun_rows rows =
                any ? rows_of_path(table, model, find_path(p, model, order, budget)) : rows_of_order(table, model, order);
            if (seed % 3 > 0) share_writes(table, budget, e.found ? e.extra_cost : rerun_gap::never, rows, context);
            REQUIRE(shares_are_parts(table, rows));
            const gap_cover c = cover_gaps(rows, budget, {.unit = unit_of(table)}, context);
            if (!e.found) continue;
            REQUIRE_FALSE(c.infeasible);
            REQUIRE(c.bound <= e.extra_cost);
            (moves ? above_0_with_moves : above_0) += c.bound > 0;
          }
      }
    }
  }
  REQUIRE(above_0 > support::seeds(150) / 4);
  REQUIRE(above_0_with_moves > support::seeds(150) / 4);
}

TEST_CASE("law: orders of weighed problems bound the extra cost of every schedule") {
  std::size_t above_0 = 0, compared = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(150); ++seed) {
    const offload moves = kind_of_moves(seed);
    const problem p = priced(seed, moves ? 5 : 7);
    const execution_table table(p, moves);
    support::random r(seed);
    std::vector<tensor_id> charged(p.ops().size(), none);
    for (op_id op : p.ops())
      if (const auto made = p.creates(op); !made.empty())
        charged[op] = made[r.below(static_cast<std::uint32_t>(made.size()))];
    search context{options{}};
    for (const memory_model model :
         {memory_model{}, memory_model{.default_firing = firing::cbp}, memory_model{.in_place = false}}) {
      for (bytes budget : budgets(p, moves)) {
        const exact_executions e = cheapest_executions(table, model, budget, {}, context);
        if (!e.found) continue;
        for (const std::uint64_t price : {1U, 3U, 8U, 20U, 60U}) {
          constexpr unsigned scale = 4;
          const problem weighed = weighed_problem(p, model, charged, price, scale, moves).value();
          options o;
          o.default_firing = model.default_firing, o.in_place = model.in_place;
          const auto s = schedule(weighed, dp{}, o);
          REQUIRE(s.verdict() == verdict::optimal);
          REQUIRE(s.peak <= (e.extra_cost << scale) + price * budget);
          above_0 += s.peak > price * budget;
          ++compared;
        }
      }
    }
  }
  REQUIRE(above_0 > 0);
  REQUIRE(compared > support::seeds(150));
}

/// The bound by a cover with needs at rows that may have some, with its proof.
gap_cover cover_with_needs(const execution_table& table, const rerun_rows& rows, const rerun_needs& needs, bytes budget,
                           std::uint64_t known, search& context) {
  const problem& p = table.graph();
  gap_cover c = cover_gaps(rows, needs, budget, {.enough = known, .unit = unit_of(table)}, context);
  c.proof.charged.assign(p.ops().size(), none);
  for (tensor_id t : p.tensors())
    if (rows.charged_to[t] != none) c.proof.charged[rows.charged_to[t]] = t;
  return c;
}
rerun_needs needs_at(const execution_table& table, memory_model model, const rerun_rows& rows, std::span<const index_t> at,
                     bytes budget) {
  rerun_needs needs = find_needs(table, model, rows, at, budget);
  find_reruns(table, model, rows, budget, needs);
  return needs;
}
rerun_needs needs_of(const execution_table& table, memory_model model, const rerun_rows& rows, bytes budget,
                     search& context) {
  const gap_cover plain = cover_gaps(rows, budget, {.unit = unit_of(table)}, context);
  return needs_at(table, model, rows, rows_with_needs(plain.prices), budget);
}

TEST_CASE("law: a tail bears no cost while a reader may still be to come, and the checker knows it") {
  std::size_t too_high = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const problem p = with_late_reader(seed);
    const execution_table table(p);
    search context{options{}};
    for (bytes budget : budgets(p)) {
      const exact_executions e = cheapest_executions(table, {}, budget, {}, context);
      if (!e.found || e.extra_cost == 0) continue;
      rerun_rows rows = rows_of_path(table, {}, find_path(p, {}, own_order(p), budget));
      for (rerun_gap& tail : rows.tails) tail.first = 0;
      gap_cover c =
          cover_with_needs(table, rows, needs_of(table, {}, rows, budget, context), budget, 2 * e.extra_cost, context);
      c.proof.any_order = true;
      if (c.bound > e.extra_cost) REQUIRE(check_recompute(p, {}, budget, c.proof) != "");
      too_high += c.bound > e.extra_cost;
    }
  }
  REQUIRE(too_high > 0);
}

TEST_CASE("law: a storage is made again for another one before the use of that, and the checker knows it") {
  std::size_t too_high = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(600); ++seed) {
    const problem p = there_and_back(seed, 5);
    const execution_table table(p);
    support::random r(seed);
    search context{options{}};
    const ids order = own_order(p);
    for (bytes budget : budgets(p)) {
      const exact_executions e = cheapest_executions(table, {}, budget, order, context);
      if (!e.found || e.extra_cost == 0) continue;
      rerun_rows rows = rows_of_order(table, {}, order);
      for (rerun_gap& g : rows.gaps)
        if (g.back != none) g.back = g.first + r.below(g.last - g.first + 1);
      const gap_cover c =
          cover_with_needs(table, rows, needs_of(table, {}, rows, budget, context), budget, 2 * e.extra_cost, context);
      if (c.bound > e.extra_cost) REQUIRE(check_recompute(p, {}, budget, c.proof) != "");
      too_high += c.bound > e.extra_cost;
    }
  }
  REQUIRE(too_high > 0);
}

/// Where storages are in memory while the operators of some rows first run, of executions without loads.
class memory_at_rows {
 public:
  memory_at_rows(const problem& p, const rerun_rows& rows, const ids& run)
      : p_(p), rows_(rows), run_(run), first_(p.ops().size()), in_memory_(rows.rows.size()) {
    for (std::size_t k = run.size(); k-- > 0;) first_[run[k]] = k;
    for (tensor_id t : p.tensors()) {
      std::vector<std::size_t> until(run.size(), 0);  // per step, the last use of the copy that is there before it
      for (std::size_t k = run.size(), last = p.stays(t) ? run.size() : 0; k-- > 0;) {
        const auto has = [&](const auto& list) { return std::ranges::find(list, t) != list.end(); };
        until[k] = has(p.creates(run[k])) ? 0 : last;
        if (has(p.creates(run[k]))) last = 0;
        if (has(p.reads(run[k]))) last = std::max(last, k), until[k] = std::max(until[k], k);
      }
      for (std::size_t k = 0; k < rows.rows.size(); ++k) {
        const std::size_t at = first_[rows.rows[k]];
        const op_id maker = p.producer(t);
        if (p.storage(t) == t && (maker == none || first_[maker] < at) && until[at] > at) in_memory_[k].push_back(t);
      }
    }
  }

  /// Whether the storage of a gap is made again between the uses around the gap.
  bool made_again(const rerun_gap& g) const {
    std::size_t end = p_.stays(g.storage) ? run_.size() : 0;
    for (op_id reader : p_.readers(g.storage)) end = std::max(end, first_[reader]);
    if (g.back != none) end = first_[rows_.rows[g.back]];
    for (std::size_t k = g.since == none ? 0 : first_[rows_.rows[g.since]]; k < end; ++k)
      if (run_[k] == p_.producer(g.storage) && k > first_[run_[k]]) return true;
    return false;
  }
  /// Storages that are needed and absent at a row.
  std::vector<tensor_id> absent(const execution_table& table, index_t k, memory_model model) const {
    std::vector<tensor_id> needed, absent;
    for (const rerun_gap& g : rows_.gaps)
      if (g.first <= k && k <= g.last) needed.push_back(g.storage);
    const op_id op = rows_.rows[k];
    const auto has = [](const auto& list, tensor_id t) { return std::ranges::find(list, t) != list.end(); };
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const tensor_id t = needed[i];
      if (has(in_memory_[k], t)) continue;
      absent.push_back(t);
      if (!table.returns(t)) continue;
      for (tensor_id input : p_.reads(p_.producer(t))) {
        const bool there = has(p_.creates(op), input) || (table.rule(op, model) == firing::pbc && has(p_.reads(op), input));
        if (!there && !has(needed, input)) needed.push_back(input);
      }
    }
    return absent;
  }

 private:
  const problem& p_;
  const rerun_rows& rows_;
  const ids& run_;
  std::vector<std::size_t> first_;  // per operator, the step of its first run
  std::vector<std::vector<tensor_id>> in_memory_;
};

/// Checks the parts that the checker finds by decisions that hold of a schedule: each in which a storage is absent has a
/// rerun of its own, certain needs are needs, and storages that last and are not made again fit beside certain reruns.
/// Returns whether any stretch is cut.
bool require_sound_parts(const execution_table& table, memory_model model, bool any, bytes budget, const rerun_rows& rows,
                         const rerun_needs& by_search, const ids& run, const memory_at_rows& memory,
                         std::span<const rerun_decision> decisions) {
  const problem& p = table.graph();
  recompute_proof proof;
  proof.any_order = any;
  proof.rows = rows.rows;
  proof.charged.assign(p.ops().size(), none);
  proof.needs = by_search.rows;
  proof.units.assign(proof.needs.size(), 1);
  for (const rerun_need& n : by_search.needs)
    if (n.certain && !n.closed && rows.gaps[n.stretch].back != none) proof.reruns.emplace_back(n.row, n.storage);
  detail::proof_rows gaps(p, model, proof, {});
  REQUIRE(gaps.run(budget) == "");
  detail::proof_needs needs(p, proof, false, gaps);
  REQUIRE(needs.run() == "");
  for (index_t i = 0; i < by_search.reruns.size(); ++i) {
    const rerun_need& n = by_search.needs[by_search.reruns[i].need];
    const auto at = std::ranges::find(proof.reruns, std::pair(n.row, n.storage)) - proof.reruns.begin();
    REQUIRE(std::ranges::equal(by_search.lasting[i], needs.reruns[static_cast<std::size_t>(at)].lasting));
  }
  std::vector<detail::proof_needs::decision> known;
  for (const rerun_decision& d : decisions) {
    const bool is_tail = d.stretch >= rows.gaps.size();
    const tensor_id t = is_tail ? rows.tails[d.stretch - rows.gaps.size()].storage : rows.gaps[d.stretch].storage;
    known.push_back({needs.find_stretch(t, d.first, d.last), d.first, d.last, d.absent, d.again});
    REQUIRE(needs.is_tail(known.back().stretch) == is_tail);
  }
  needs.decide({});
  const std::size_t before = needs.parts.size();
  needs.decide(std::move(known));
  std::vector<std::size_t> absent_parts(p.tensors().size(), 0);
  for (const auto& part : needs.parts) {
    const tensor_id t = needs.stretch(part.stretch).storage;
    bool absent = false;
    for (std::size_t k = part.first; k <= part.last && !absent; ++k) {
      const auto all = memory.absent(table, static_cast<index_t>(k), model);
      absent = std::ranges::find(all, t) != all.end();
    }
    if (part.is == detail::proof_needs::present) REQUIRE_FALSE(absent);
    absent_parts[t] += absent || part.is == detail::proof_needs::absent;
  }
  for (tensor_id t : p.tensors())
    if (absent_parts[t] > 0) REQUIRE(absent_parts[t] < static_cast<std::size_t>(std::ranges::count(run, p.producer(t))));
  for (const auto& row : needs.rows) {
    const auto all = memory.absent(table, static_cast<index_t>(row.row), model);
    for (const auto& m : row.members) {
      const bool absent = std::ranges::find(all, m.storage) != all.end();
      if (m.is != detail::proof_needs::open) REQUIRE(absent == (m.is == detail::proof_needs::absent));
      if (m.is == detail::proof_needs::absent) REQUIRE(m.certain);
    }
  }
  for (const auto& rerun : needs.reruns) {
    if (!needs.is_certain(rerun)) continue;
    int128 bytes_then = rerun.bytes;
    for (std::size_t g : rerun.lasting) {
      const bool again = memory.made_again(rows.gaps[g]);
      if (!again) bytes_then += static_cast<int128>(rows.gaps[g].size);
      const bool has_parts = std::ranges::any_of(needs.parts, [&](const auto& part) { return part.stretch == g; });
      if (again && !rows.gaps[g].closed() && !needs.is_decided_at_rows(g)) REQUIRE(has_parts);
    }
    REQUIRE(bytes_then <= static_cast<int128>(budget));
  }
  return needs.parts.size() > before;
}

TEST_CASE("law: prices count no more than the cost of a schedule of which all decisions hold") {
  std::size_t above_0 = 0, cut = 0, cut_by_checker = 0, by_reruns = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1400); ++seed) {
    support::random r(seed);
    problem p = seed % 7 == 0   ? trained(seed, 3)
                : seed % 7 == 1 ? priced(seed, 8, 0)
                : seed % 7 == 2 ? there_and_back(seed, 4 + r.below(2))
                : seed % 7 == 3 ? made_of_one(seed)
                : seed % 7 == 4 ? with_reader_aside(seed)
                : seed % 7 == 5 ? with_reader_before_rerun(seed)
                                : with_maker_behind_rerun(seed);
    if (r.chance(30)) p = in_units(p, r);
    const execution_table table(p);
    const ids order = own_order(p);
    search context{options{}};
    const memory_model model{.default_firing = r.chance(30) ? firing::cbp : firing::pbc};
    for (bytes budget : budgets(p)) {
      const bool any = seed % 7 > 4 || r.chance(50);
      const exact_executions e = cheapest_executions(table, model, budget, any ? ids{} : order, context);
      if (!e.found || e.extra_cost == 0) continue;
      const rerun_rows rows =
          any ? rows_of_path(table, model, find_path(p, model, order, budget)) : rows_of_order(table, model, order);
      const detail::priced_cover plain(rows, budget, 1);
      if (plain.rows.empty()) continue;
      const memory_at_rows memory(p, rows, e.executions);
      const rerun_needs needs = needs_at(table, model, rows, plain.rows, budget);
      detail::priced_closure closure(rows, needs, budget, 1);
      const auto is_absent = [&](tensor_id t, index_t first, index_t last) {
        for (index_t k = first; k <= last; ++k) {
          const auto absent = memory.absent(table, k, model);
          if (std::ranges::find(absent, t) != absent.end()) return true;
        }
        return false;
      };
      for (int trial = 0; trial < 12; ++trial) {
        std::vector<rerun_decision> decisions;
        for (const auto& s : closure.wholes) {
          if (r.chance(20)) continue;
          if (!closure.is_tail(s.stretch) && r.chance(40)) {
            decisions.push_back({s.stretch, s.from, s.to, memory.made_again(rows.gaps[s.stretch]), true});
            if (r.chance(70)) continue;
          }
          const bool all_rows = r.chance(60);
          for (index_t k = s.from; k <= s.to; ++k) {
            if (!all_rows && r.chance(50)) continue;
            const index_t last = r.chance(80) ? k : k + r.below(s.to - k + 1);
            decisions.push_back({s.stretch, k, last, is_absent(closure.stretch(s.stretch).storage, k, last)});
          }
        }
        const std::size_t before = closure.wholes.size();
        cut_by_checker += require_sound_parts(table, model, any, budget, rows, needs, e.executions, memory, decisions);
        closure.decide(std::move(decisions));
        cut += closure.pieces.size() > before;
        std::vector<std::uint64_t> prices(closure.wanted.size(), 0);
        const std::size_t from = r.chance(30) ? plain.rows.size() : 0;
        for (std::size_t k = from; k < prices.size(); ++k)
          if (r.chance(from > 0 ? 70 : 40)) prices[k] = (std::uint64_t{1} << closure.scale) * r.below(40) / 16;
        for (std::size_t k = plain.rows.size(); k < prices.size(); ++k) by_reruns += prices[k] > 0 && closure.wanted[k] > 0;
        const int128 value = closure.exact(prices).value;
        REQUIRE(value <= static_cast<int128>(e.extra_cost) << closure.scale);
        above_0 += value > 0;
      }
    }
  }
  REQUIRE(above_0 > support::seeds(300));
  REQUIRE(cut > support::seeds(300) / 4);
  REQUIRE(cut_by_checker > support::seeds(300) / 4);
  REQUIRE(by_reruns > support::seeds(300) / 10);
}

/// Whether a case decides a tail; whether it decides some rows of a gap or tail, but not all.
bool decides_tail(const rerun_rows& rows, const proof::recompute_case& c) {
  return std::ranges::any_of(rows.tails, [&](const rerun_gap& g) { return g.storage == c.storage && g.first <= c.first; });
}
bool decides_a_part(const rerun_rows& rows, const proof::recompute_case& c) {
  const auto is_whole = [&](const rerun_gap& g) { return g.storage == c.storage && g.first == c.first && g.last == c.last; };
  return c.prices == proof::recompute_case::inner && std::ranges::none_of(rows.gaps, is_whole) &&
         std::ranges::none_of(rows.tails, is_whole);
}

TEST_CASE("law: with needs, no bound is above the cheapest schedule, its proof holds, and no changed one claims too much") {
  std::size_t higher = 0, higher_with_moves = 0, in_larger_units = 0, by_tails = 0, by_parts = 0, by_reruns = 0, refused = 0,
              accepted = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(600); ++seed) {
    support::random r(seed);
    const offload moves = seed % 2 == 0   ? none_leaves
                          : seed % 6 == 1 ? dear_moves
                          : seed % 6 == 3 ? outer_moves
                                          : offload{.read = 2, .write = 0};
    problem p = seed % 5 == 0   ? trained(seed, 3)
                : seed % 5 == 1 ? with_late_reader(seed)
                : seed % 5 == 2 ? priced(seed, moves ? 6 : 8)
                                : there_and_back(seed, moves ? 4 : 5);
    if (r.chance(50)) p = in_units(p, r);
    const execution_table table(p, moves);
    const ids order = own_order(p);
    search context{options{}};
    for (const memory_model model : {memory_model{}, memory_model{.default_firing = firing::cbp}})
      for (bytes budget : budgets(p, moves))
        for (const bool any : {false, true}) {
          const exact_executions e = cheapest_executions(table, model, budget, any ? ids{} : order, context);
          if (!e.found || e.extra_cost == 0) continue;
          const rerun_rows rows =
              any ? rows_of_path(table, model, find_path(p, model, order, budget)) : rows_of_order(table, model, order);
          // An aim that is out of reach: a bound may stop at the cost of a known schedule, not below it.
          gap_cover c = cover_with_needs(table, rows, needs_of(table, model, rows, budget, context), budget,
                                         2 * e.extra_cost, context);
          c.proof.any_order = any;
          REQUIRE_FALSE(c.infeasible);
          REQUIRE(c.bound <= e.extra_cost);
          REQUIRE(check_recompute(p, model, budget, c.proof, moves) == "");
          (moves ? higher_with_moves : higher) +=
              c.bound > cover_gaps(rows, budget, {.unit = unit_of(table)}, context).bound;
          in_larger_units += std::ranges::any_of(c.proof.units, [](bytes u) { return u > 1; });
          by_tails += std::ranges::any_of(c.proof.cases, [&](const proof::recompute_case& x) {
            return x.prices == proof::recompute_case::inner && decides_tail(rows, x);
          });
          by_reruns += std::ranges::any_of(c.proof.prices, [&](const auto& list) {
            return std::ranges::any_of(list, [&](const auto& price) { return price.first >= c.proof.rows.size(); });
          });
          by_parts += std::ranges::any_of(c.proof.cases, [&](const auto& x) { return decides_a_part(rows, x); });
          for (int change = 0; change < 8; ++change) {
            recompute_proof other = c.proof;
            if (!other.units.empty() && r.chance(20))
              other.units[r.below(static_cast<std::uint32_t>(other.units.size()))] += r.below(9);
            auto& list = other.shares[r.below(static_cast<std::uint32_t>(other.shares.size()))];
            if (list.empty()) continue;
            proof::recompute_share& share = list[r.below(static_cast<std::uint32_t>(list.size()))];
            switch (r.below(5)) {
              case 0: share.amount *= 2; break;
              case 1: share.pays = r.chance(50) ? none : share.absent; break;
              case 2: share.absent = r.below(static_cast<std::uint32_t>(p.tensors().size())); break;
              case 3: share.row = r.below(static_cast<std::uint32_t>(other.rows.size())); break;
              default: list.push_back(share);
            }
            if (r.chance(50)) other.bound += unit_of(table);
            const bool fine = check_recompute(p, model, budget, other, moves).empty();
            REQUIRE((!fine || other.bound <= e.extra_cost));
            ++(fine ? accepted : refused);
          }
        }
  }
  REQUIRE(higher > 0);
  REQUIRE(higher_with_moves > 0);
  REQUIRE(in_larger_units > 0);
  REQUIRE(by_tails > 0);
  REQUIRE(by_parts > 0);
  REQUIRE(by_reruns > 0);
  REQUIRE(refused > support::seeds(150));
  REQUIRE(accepted > 0);
}

namespace {

/// Whether all rows are within the budget if storages are absent in some gaps.
bool covers(const rerun_rows& r, const std::vector<bool>& absent, bytes budget) {
  std::vector<bytes> live = r.fixed;
  for (std::size_t i = 0; i < r.gaps.size(); ++i)
    for (index_t k = r.gaps[i].first; k <= r.gaps[i].last && !absent[i]; ++k) live[k] += r.gaps[i].size;
  return std::ranges::all_of(live, [&](bytes b) { return b <= budget; });
}
/// The cost to fill these gaps by loads.
std::uint64_t cost_of(const execution_table& table, const rerun_rows& r, const std::vector<bool>& absent) {
  std::vector<std::uint64_t> sum(table.graph().tensors().size(), 0);
  for (std::size_t i = 0; i < r.gaps.size(); ++i) {
    const rerun_gap& g = r.gaps[i];
    if (!absent[i]) continue;
    if (sum[g.storage] == 0) sum[g.storage] = table.write_cost(table.load_of(g.storage));
    sum[g.storage] += g.load;
  }
  return std::accumulate(sum.begin(), sum.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("law: covers that are improved cover all rows, and cost no more") {
  std::size_t better = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(40); ++seed) {
    problem_draft d = priced(seed, 20).draft();
    for (problem_draft::operator_data& op : d.operators) op.pure = false;
    const problem p = make_problem(std::move(d)).value();
    const offload moves = kind_of_moves(1 + seed % 3);
    const execution_table table(p, moves);
    for (const bytes budget : budgets(p, moves)) {
      const rerun_rows rows = rows_of_order(table, {}, own_order(p));
      search context{options{}};
      const gap_cover start = cover_gaps(rows, budget, {.nodes = 1}, context);
      if (start.infeasible || !covers(rows, start.absent, budget)) continue;
      const std::vector<bool> absent = improve_cover(table, rows, budget, start.absent, context);
      REQUIRE(covers(rows, absent, budget));
      REQUIRE(cost_of(table, rows, absent) <= cost_of(table, rows, start.absent));
      better += cost_of(table, rows, absent) < cost_of(table, rows, start.absent);
      REQUIRE(improve_cover(table, rows, budget, start.absent, context) == absent);
    }
  }
  REQUIRE(better > 0);
}

TEST_CASE("law: the gaps of a storage pay for its write once, and the checker knows it") {
  problem_builder b;
  const auto x = b.tensor(4), first = b.tensor(9), second = b.tensor(9), end = b.tensor(1);
  const auto once = [&](ids reads, ids writes) { b.op({.reads = reads, .writes = writes, .cost = 0, .pure = false}); };
  const auto a = b.tensor(1), c = b.tensor(1), e = b.tensor(1);
  once({}, {x});
  once({}, {first});
  once({first}, {a});
  once({x, a}, {c});
  once({c}, {second});
  once({second}, {e});
  once({x, e}, {end});
  b.output(end);
  const problem p = b.build().value();
  const offload moves{.read = 1, .write = 1};
  options o;
  o.budget = 10;
  const auto found = recompute(p, keep_order{own_order(p)}, o, moves);
  REQUIRE(found.extra_cost == 12);  // written once, read twice
  REQUIRE(found.proof.bound == 12);
  REQUIRE(check_recompute(p, {}, o.budget, found.proof, moves) == "");
  recompute_proof twice = found.proof;
  twice.bound = 16;
  twice.writes = {{x, 1, 4}, {x, 4, 4}};
  for (auto& list : twice.prices)
    for (auto& [row, price] : list) price = std::uint64_t{2} << twice.scale;
  REQUIRE(check_recompute(p, {}, o.budget, twice, moves) ==
          "writes[1] is for no gap that a load fills, or more than is left of the write");
}

TEST_CASE("law: of small graphs, recompute finds the cheapest schedule and proves it, or proves that there is none") {
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    const offload moves = kind_of_moves(seed);
    const problem p = priced(seed, moves ? 5 : 6);
    const execution_table table(p, moves);
    const ids order = own_order(p);
    std::uint64_t before = 0;
    std::vector<bytes> falling = budgets(p);
    std::reverse(falling.begin(), falling.end());
    for (bytes budget : falling) {
      search context{options{}};
      options o;
      o.budget = budget;
      for (const bool any : {true, false}) {
        const auto r = any ? recompute(p, o, moves) : recompute(p, keep_order{order}, o, moves);
        const exact_executions e = cheapest_executions(table, {}, budget, any ? ids{} : order, context);
        REQUIRE_FALSE(r.error);
        REQUIRE(r.fits() == e.found);
        REQUIRE(r.verdict() == (e.found ? verdict::optimal : verdict::infeasible));
        const executions_evaluation cost = evaluate_executions(p, r.executions, {}, r.loads, moves).value();
        REQUIRE(cost.peak == r.peak);
        REQUIRE(cost.extra_cost == r.extra_cost);
        if (!e.found) continue;
        REQUIRE(r.extra_cost == e.extra_cost);
        if (any) REQUIRE(r.extra_cost >= std::exchange(before, r.extra_cost));
      }
    }
  }
}

TEST_CASE("law: the checker accepts each proof, and no changed one that claims more than is true") {
  std::size_t accepted = 0, refused = 0, with_cases = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(120); ++seed) {
    const offload moves = kind_of_moves(seed);
    const problem p = priced(seed, moves ? 5 : 8);
    const execution_table table(p, moves);
    const std::uint64_t unit = unit_of(table);
    const ids order = own_order(p);
    support::random r(seed);
    for (bytes budget : budgets(p, moves))
      for (const bool any : {true, false}) {
        options o;
        o.budget = budget;
        const auto found = any ? recompute(p, o, moves) : recompute(p, keep_order{order}, o, moves);
        if (found.proof.cases.empty()) continue;  // an order does, or one operator alone does not
        REQUIRE(check_recompute(p, {}, budget, found.proof, moves) == "");
        with_cases += found.proof.cases.size() > 1;
        REQUIRE((found.verdict() != verdict::optimal || found.proof.bound <= found.extra_cost));
        for (int change = 0; change < 12; ++change) {
          recompute_proof other = found.proof;
          proof::recompute_case& c = other.cases[r.below(static_cast<std::uint32_t>(other.cases.size()))];
          switch (r.below(9)) {
            case 8:
              if (other.writes.empty()) continue;
              other.writes[r.below(static_cast<std::uint32_t>(other.writes.size()))].amount += 1 + r.below(3);
              break;
            case 7: other.scale = r.below(130), other.bound = std::uint64_t{1} << r.below(64); break;
            case 0: other.bound += unit; break;
            case 1: c.row = r.below(static_cast<std::uint32_t>(other.rows.size()) + 1), c.prices = none; break;
            case 2:
              c = {.prices = proof::recompute_case::inner, .storage = r.below(12), .absent = 1, .present = 1};
              c.first = r.below(8), c.last = c.first + r.below(3);
              break;
            case 3: other.scale += 1; break;
            case 4: std::swap(other.rows.front(), other.rows.back()); break;
            case 5: other.any_order = !other.any_order; break;
            default:
              if (other.prices.empty() || other.prices[0].empty()) continue;
              other.prices[0][0].second *= 2;
          }
          if (r.chance(50)) other.bound = other.bound > ~unit ? other.bound : other.bound + unit;
          if (!check_recompute(p, {}, budget, other, moves).empty()) {
            ++refused;
            continue;
          }
          ++accepted;
          search context{options{}};
          const exact_executions e = cheapest_executions(table, {}, budget, other.any_order ? ids{} : other.rows, context);
          REQUIRE((!e.found || other.bound <= e.extra_cost));
        }
      }
  }
  REQUIRE(refused > support::seeds(120));
  REQUIRE(accepted > 0);
  REQUIRE(with_cases > 0);
}

/// Random reruns and loads in the order of first runs, each after the first run of its operator.
rerun_stages random_stages(const execution_table& table, const ids& order, support::random& r) {
  const problem& p = table.graph();
  rerun_stages s(order);
  for (index_t k = 1; k < s.again.size(); ++k) {
    const auto load = [&](tensor_id t) {
      if (table.load_of(t) != none && r.chance(8)) s.again[k].push_back(table.load_of(t));
    };
    for (tensor_id t : p.tensors())
      if (p.storage(t) == t && p.producer(t) == none) load(t);
    for (index_t i = 0; i < k; ++i) {
      if (table.may_repeat(order[i]) && r.chance(8)) s.again[k].push_back(order[i]);
      for (tensor_id t : p.creates(order[i])) load(t);
    }
    if (k == order.size())
      for (tensor_id t : p.tensors())
        if (table.departure_of(t) != none && r.chance(30)) s.again[k].push_back(table.departure_of(t));
    // Loads of inputs share their place with those of the first operator.
    std::stable_sort(s.again[k].begin(), s.again[k].end(), [&](op_id a, op_id b) {
      const auto place = [&](op_id e) {
        const op_id by = table.is_move(e) ? p.producer(table.moved(e)) : e;
        if (table.is_departure(e)) return std::ptrdiff_t{none};
        return by == none ? 0 : std::find(order.begin(), order.end(), by) - order.begin();
      };
      return place(a) != place(b) ? place(a) < place(b) : a < b;
    });
  }
  return s;
}

TEST_CASE("law: bytes over the budget with some reruns more or one less are those of a play of that") {
  std::size_t differ = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(150); ++seed) {
    const problem p = priced(seed, 20);
    const execution_table table(p, kind_of_moves(seed));
    const ids order = own_order(p);
    support::random r(seed);
    for (const memory_model model :
         {memory_model{}, memory_model{.default_firing = firing::cbp}, memory_model{.in_place = false}}) {
      const bytes budget = evaluate(p, order, model).value().peak / 2;
      played_stages tables(table, model, budget);
      stage_player player(table, model);
      rerun_stages s = random_stages(table, order, r);
      tables.take(s);
      REQUIRE(tables.over() == player.play(s, budget).over);
      for (index_t k = 0; k < s.again.size(); ++k) {
        const ids before = s.again[k], more = random_stages(table, order, r).again[k];
        ids fresh, both;
        std::set_difference(more.begin(), more.end(), before.begin(), before.end(), std::back_inserter(fresh),
                            [&](op_id a, op_id b) { return tables.before(a, b); });
        std::merge(before.begin(), before.end(), fresh.begin(), fresh.end(), std::back_inserter(both),
                   [&](op_id a, op_id b) { return tables.before(a, b); });
        s.again[k] = both;
        REQUIRE(tables.over_with(fresh, k) == player.play(s, budget).over);
        differ += tables.over_with(fresh, k) != tables.over();
        for (std::size_t i = 0; i < before.size(); ++i) {
          s.again[k] = before;
          s.again[k].erase(s.again[k].begin() + static_cast<std::ptrdiff_t>(i));
          REQUIRE(tables.over_without(tables.position(before[i], k)) == player.play(s, budget).over);
        }
        s.again[k] = before;
      }
    }
  }
  REQUIRE(differ > support::seeds(150));
}

TEST_CASE("law: the highest bytes of a stretch are those of its executions") {
  for (std::uint64_t seed = 0; seed < support::seeds(10); ++seed) {
    const problem p = priced(seed, 120);
    const execution_table table(p, dear_moves);
    support::random r(seed);
    played_stages tables(table, {}, 100);
    tables.take(random_stages(table, own_order(p), r));
    const auto n = static_cast<index_t>(tables.run().size());
    for (int i = 0; i < 400; ++i) {
      const index_t from = r.below(n + 1), to = from + r.below(n + 1 - from);
      bytes highest = 0;
      for (index_t at = from; at < to; ++at) highest = std::max(highest, tables.during()[at]);
      REQUIRE(tables.highest(from, to) == highest);
    }
  }
}

TEST_CASE("law: repair, prune and improve end within the budget, and never below the bound") {
  std::size_t repaired = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    const offload moves = kind_of_moves(seed);
    const problem p = priced(seed, 40);
    const execution_table table(p, moves);
    const ids order = own_order(p);
    for (bytes budget : budgets(p, moves)) {
      search context{options{}};
      rerun_search reruns(table, {}, budget, context, seed);
      rerun_stages s(order);
      if (!reruns.repair(s, no_limit / 4, {})) continue;
      const std::uint64_t repair_cost = extra_cost(table, s);
      reruns.prune(s);
      REQUIRE(extra_cost(table, s) <= repair_cost);
      const std::uint64_t pruned = extra_cost(table, s);
      reruns.improve(s, 20, 0);
      REQUIRE(extra_cost(table, s) <= pruned);
      const executions_evaluation cost = evaluate_ids(table, s.executions()).value();
      REQUIRE(cost.peak <= budget);
      REQUIRE(cost.extra_cost == extra_cost(table, s));
      const gap_cover c = cover_gaps(rows_of_order(table, {}, order), budget, {.unit = unit_of(table)}, context);
      REQUIRE_FALSE(c.infeasible);
      REQUIRE(c.bound <= cost.extra_cost);
      repaired += s.reruns() > 0;
    }
  }
  REQUIRE(repaired > support::seeds(60) / 4);
}

TEST_CASE("law: counted limits give the same schedule each time, and every limit gives one") {
  for (std::uint64_t seed = 0; seed < support::seeds(20); ++seed) {
    const problem p = priced(seed, 30);
    options o;
    o.budget = budgets(p)[1 % budgets(p).size()];
    for (std::uint64_t states : {0U, 10U, 200U, 2000U}) {
      o.state_limit = states;
      const offload moves = kind_of_moves(seed);
      const auto r = recompute(p, o, moves), again = recompute(p, o, moves);
      REQUIRE_FALSE(r.error);
      REQUIRE(evaluate_executions(p, r.executions, {}, r.loads, moves).value().peak == r.peak);
      REQUIRE(r.executions == again.executions);
      REQUIRE(r.loads == again.loads);
      REQUIRE(r.lower_bound == again.lower_bound);
    }
  }
}

namespace {

/// A chain of n operators forward and back, of unit costs: activations have a byte, gradients none.
problem chain(unsigned n) {
  problem_builder b;
  std::vector<tensor_id> x{b.input(0)}, g(n + 1);
  for (unsigned i = 1; i <= n; ++i) {
    x.push_back(b.tensor(1));
    b.op({.reads = {x[i - 1]}, .writes = {x[i]}, .cost = 1});
  }
  for (unsigned i = 0; i <= n; ++i) g[i] = b.tensor(0);
  b.op({.reads = {x[n]}, .writes = {g[n]}, .cost = 1, .pure = false});
  for (unsigned i = n; i > 0; --i) b.op({.reads = {x[i - 1], g[i]}, .writes = {g[i - 1]}, .cost = 1, .pure = false});
  return b.build().value();
}

/// The fewest forward steps that bring l activations back, the last first, with m bytes beside the one in front of them:
/// keep the one k steps on, do those after it, then those before it (Griewank and Walther, Revolve, 2000). A step that
/// reads another than the first takes two bytes.
std::uint64_t chain_steps(unsigned l, unsigned m) {
  if (l == 0) return 0;
  std::uint64_t least = 1U << 30;
  for (unsigned k = 1; m > 0 && k <= (m > 1 ? l : 1); ++k)
    least = std::min(least, k + chain_steps(l - k, m - 1) + chain_steps(k - 1, m));
  return least;
}

}  // namespace

TEST_CASE("law: chains cost what the recursion over their checkpoints says") {
  for (const unsigned n : {3U, 5U, 6U, 10U})  // up to 6 the exact search
    for (unsigned m = 2; m <= n; ++m) {
      options o;
      o.budget = m;
      const auto r = recompute(chain(n), o);
      REQUIRE(r.fits());
      REQUIRE(r.extra_cost == chain_steps(n, m) - n);
      REQUIRE(r.lower_bound <= r.extra_cost);
    }
}

TEST_CASE("the least peak looks one step back: of two inputs, one is made last") {
  problem_builder b;
  const auto w = b.tensor(10), z = b.tensor(10), x = b.tensor(10), y = b.tensor(1), out = b.tensor(1);
  b.op({.writes = {w}, .name = "make w"});
  b.op({.writes = {z}, .name = "make z"});
  b.op({.reads = {w}, .writes = {x}, .name = "w to x"});
  b.op({.reads = {z}, .writes = {y}, .name = "z to y"});
  b.op({.reads = {x, y}, .writes = {out}, .name = "last"});
  const problem p = b.build().value();
  search context{options{}};
  REQUIRE(least_peak_with_reruns(p) == 21);  // no operator alone takes more than 20
  REQUIRE(lowest_executions(execution_table(p), {}, {}, context).peak == 21);
  // Where storages may leave, both inputs can be loaded last.
  const execution_table table(p, dear_moves);
  REQUIRE(least_peak_with_reruns(p, {}, dear_moves) == 20);
  REQUIRE(lowest_executions(table, {}, {}, context).peak == 20);
}

TEST_CASE("faults: an order to keep that is none, and handles that the graph lacks") {
  problem_builder b;
  const auto x = b.tensor(4), y = b.tensor(1);
  b.op({.writes = {x}, .name = "make"});
  b.op({.reads = {x}, .writes = {y}, .name = "use"});
  const problem p = b.build().value();
  options o;
  o.budget = 4;
  REQUIRE(recompute(p, keep_order{ids{1, 0}}, o).error->message == "step 0 runs use before make, which it needs");
  REQUIRE(recompute(p, keep_order{ids{0, 7}}, o).error->message == "step 1 names operator 7, which does not exist");
  const auto r = recompute(p, o);
  REQUIRE(r.verdict() == verdict::infeasible);
  REQUIRE(r.peak_bound == 5);
  REQUIRE(r.executions == ids{0, 1});
}
