// Schedules within a budget by reruns and loads: repair, prune, destroy and repair.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/random.hpp>
#include <memsched/recompute/candidates.hpp>
#include <memsched/recompute/played_stages.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/recompute/stages.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Finds reruns and loads for a fixed order of first runs. Deterministic by seed and counted work; a schedule that is played
/// counts as a state.
class rerun_search {
 public:
  rerun_search(const execution_table& table, memory_model model, bytes budget, search& context, std::uint64_t seed);

  /// Sets prices of a byte at rows of the order of first runs, as of `gap_cover`: half the rounds of `improve` rank by them.
  void set_prices(const std::vector<std::pair<index_t, double>>& prices) { candidates_.set_prices(prices); }
  /// Adds reruns and loads until the peak is within the budget. Returns false if no candidate helps, a limit is hit or the
  /// extra cost passes `most`; then `s` is left with the reruns so far. O(executions + uses) for each candidate that is taken,
  /// and less for one that is tried.
  bool repair(rerun_stages& s, std::uint64_t most, const candidate_ranks& ranks);
  /// Takes out reruns that the budget does not need, the dearest first. The peak stays within it.
  void prune(rerun_stages& s);
  /// Makes the storages of `absent` gaps again where these end, as far as that is possible. Returns false once the extra cost
  /// passes `most`, or a limit is met.
  bool open_gaps(rerun_stages& s, const rerun_rows& r, const std::vector<bool>& absent, std::uint64_t most);
  /// Destroys a part of the reruns and loads, repairs and prunes, and keeps the result if it costs no more, or now and then a
  /// little more. Ends after `idle` rounds without gain, at `enough` extra cost, or at a limit. `s` must be within the budget.
  void improve(rerun_stages& s, std::uint64_t idle, std::uint64_t enough);

 private:
  /// Changes between two plays: more for large graphs, which take long to play.
  std::size_t several() const { return 1 + p_.ops().size() / 1000; }
  index_t find_high(std::vector<index_t>& high) const;
  std::optional<std::uint64_t> add_best(rerun_stages& s, index_t at, std::vector<rerun_candidate>& found,
                                        const candidate_ranks& ranks);
  double over_with(const rerun_stages& s, const std::vector<op_id>& fresh, index_t stage);
  std::vector<op_id> insert(rerun_stages& s, const rerun_candidate& c) const;
  void erase(rerun_stages& s, index_t stage, const std::vector<op_id>& ops) const;
  bool views_hold(const rerun_stages& s) const;
  void destroy(rerun_stages& s);

  const problem& p_;
  const execution_table& table_;
  bytes budget_;
  search& context_;
  base::random_source random_;
  played_stages played_;
  rerun_candidates candidates_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION rerun_search::rerun_search(const execution_table& table, memory_model model, bytes budget, search& context,
                                             std::uint64_t seed)
    : p_(table.graph()),
      table_(table),
      budget_(budget),
      context_(context),
      random_(seed),
      played_(table, model, budget),
      candidates_(table, played_, budget) {}

/// Adds the operators of c to its stage; returns those that were not there.
MEMSCHED_FUNCTION std::vector<op_id> rerun_search::insert(rerun_stages& s, const rerun_candidate& c) const {
  std::vector<op_id>& stage = s.again[c.stage];
  std::vector<op_id> fresh;
  for (op_id op : c.ops) {
    const auto at = std::lower_bound(stage.begin(), stage.end(), op, [&](op_id a, op_id b) { return played_.before(a, b); });
    if (at != stage.end() && *at == op) continue;
    stage.insert(at, op);
    fresh.push_back(op);
  }
  return fresh;
}

MEMSCHED_FUNCTION void rerun_search::erase(rerun_stages& s, index_t stage, const std::vector<op_id>& ops) const {
  std::erase_if(s.again[stage], [&](op_id op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); });
}

/// Whether views are read only since they were made from the latest copy of their storage.
MEMSCHED_FUNCTION bool rerun_search::views_hold(const rerun_stages& s) const {
  if (!candidates_.has_views()) return true;
  view_ages views(table_);
  for (op_id e : s.executions()) {
    for (tensor_id t : table_.inputs(e))
      if (views.is_stale(t)) return false;
    views.execute(e);
  }
  return true;
}

/// Executions over the budget, and the worst of all.
MEMSCHED_FUNCTION index_t rerun_search::find_high(std::vector<index_t>& high) const {
  high.clear();
  const auto during = played_.during();
  index_t worst = 0;
  for (index_t i = 0; i < during.size(); ++i) {
    if (during[i] > budget_) high.push_back(i);
    if (during[i] > during[worst]) worst = i;
  }
  return worst;
}

/// Adds the candidate with the least rank of the first few that help, and `several()` while together they free less than an
/// eighth of the bytes over the budget at `at`. Returns the cost that they add; nothing if none helps.
MEMSCHED_FUNCTION std::optional<std::uint64_t> rerun_search::add_best(rerun_stages& s, index_t at,
                                                                      std::vector<rerun_candidate>& found,
                                                                      const candidate_ranks& ranks) {
  constexpr std::size_t tried = 24, compared = 4;
  const auto cheaper = [](const rerun_candidate& a, const rerun_candidate& b) { return a.rank < b.rank; };
  std::stable_sort(found.begin(), found.end(), cheaper);
  double best_rank = 0;
  std::size_t best = found.size();
  for (std::size_t i = 0, good = 0; i < std::min(found.size(), tried) && good < compared; ++i) {
    const std::vector<op_id> fresh = insert(s, found[i]);
    const double over = over_with(s, fresh, found[i].stage);
    erase(s, found[i].stage, fresh);
    if (over >= played_.over()) continue;
    ++good;
    double rank = ranks.by_prices ? found[i].rank : candidates_.price(fresh) / (played_.over() - over);
    if (ranks.noise_percent > 0) rank *= 1 + 0.01 * static_cast<double>(random_.below(ranks.noise_percent + 1));
    if (best == found.size() || rank < best_rank) best = i, best_rank = rank;
  }
  if (best == found.size()) return std::nullopt;
  std::swap(found[0], found[best]);
  const bytes enough = (played_.during()[at] - budget_) / 8;
  std::size_t left = several();
  std::vector<bool> freed(p_.tensors().size());
  bytes sum = 0;
  std::uint64_t sum_of_costs = 0;
  for (const rerun_candidate& c : found) {
    if (freed[c.storage]) continue;
    const std::vector<op_id> fresh = insert(s, c);
    if (over_with(s, fresh, c.stage) >= played_.over()) {
      erase(s, c.stage, fresh);
      continue;
    }
    for (op_id op : fresh) sum_of_costs += candidates_.cost(op);
    freed[c.storage] = true;
    if (--left == 0 || (sum += c.gain) >= enough) break;
  }
  return sum_of_costs;
}

/// Bytes over the budget with `fresh` reruns more, which `s` has and the tables do not; the bytes of now if `fresh` is
/// empty or a view would be read from an older copy.
MEMSCHED_FUNCTION double rerun_search::over_with(const rerun_stages& s, const std::vector<op_id>& fresh, index_t stage) {
  context_.count_state();
  return fresh.empty() || !views_hold(s) ? played_.over() : played_.over_with(fresh, stage);
}

MEMSCHED_FUNCTION bool rerun_search::repair(rerun_stages& s, std::uint64_t most, const candidate_ranks& ranks) {
  constexpr std::size_t attempts = 12;
  std::vector<rerun_candidate> found;
  std::vector<index_t> high;
  std::uint64_t spent = extra_cost(table_, s);
  for (;;) {
    played_.take(s);
    if (!context_.count_state() || spent > most) return false;
    if (played_.fits()) return true;
    const index_t worst = find_high(high);
    if (high.empty()) return false;  // the start itself
    std::optional<std::uint64_t> added;
    for (std::size_t attempt = 0; attempt < attempts && !added; ++attempt) {
      const bool at_worst = attempt == 0 && (ranks.noise_percent == 0 || random_.chance(1, 2));
      const index_t at = at_worst ? worst : high[random_.below(high.size())];
      candidates_.find(at, ranks, random_, found);
      added = add_best(s, at, found, ranks);
    }
    if (!added) return false;
    spent += *added;
  }
}

MEMSCHED_FUNCTION void rerun_search::prune(rerun_stages& s) {
  struct rerun {
    std::uint64_t cost;
    index_t stage;
    op_id op;
  };
  std::vector<rerun> all;
  for (index_t k = 0; k < s.again.size(); ++k)
    for (op_id e : s.again[k]) all.push_back({table_.cost(e), k, e});
  std::stable_sort(all.begin(), all.end(), [](const rerun& a, const rerun& b) { return a.cost > b.cost; });
  played_.take(s);
  for (const rerun& r : all) {
    if (!context_.count_state()) return;
    if (played_.over_without(played_.position(r.op, r.stage)) > 0) continue;
    std::vector<op_id>& stage = s.again[r.stage];
    const auto place = std::find(stage.begin(), stage.end(), r.op) - stage.begin();
    stage.erase(stage.begin() + place);
    if (views_hold(s)) played_.take(s);
    else stage.insert(stage.begin() + place, r.op);
  }
}

MEMSCHED_FUNCTION bool rerun_search::open_gaps(rerun_stages& s, const rerun_rows& r, const std::vector<bool>& absent,
                                               std::uint64_t most) {
  std::uint64_t spent = extra_cost(table_, s);
  std::size_t opened = 0;
  for (std::size_t i = 0; i < r.gaps.size(); ++i) {
    if (!absent[i]) continue;
    if (!context_.count_state() || spent > most) return false;
    const rerun_gap& g = r.gaps[i];
    if (opened++ % several() == 0) played_.take(s);
    const index_t at = played_.first_run(r.rows[g.last]);
    const auto* next = played_.next_event(g.storage, at + 1);
    const bool first = next == played_.events(g.storage).data();
    if ((first && p_.producer(g.storage) != none) || !played_.alive_before(g.storage, next)) continue;
    const rerun_hole h{g.storage, first ? 0 : next[-1].at + 1, played_.position(g.storage, next), g.size};
    rerun_candidate c{.storage = h.storage, .gain = h.gain, .stage = candidates_.stage_at(h.to)};
    if (c.stage == 0 || !candidates_.collect(h, candidates_.cheaper_source(h.storage, candidates_.is_end(h.to)), true, c))
      continue;
    const std::vector<op_id> fresh = insert(s, c);
    if (!views_hold(s)) erase(s, c.stage, fresh);
    else
      for (op_id op : fresh) spent += candidates_.cost(op);
  }
  return true;
}

/// Takes out reruns: some at random, those of a window of stages, or those of operators whose places are near each other.
MEMSCHED_FUNCTION void rerun_search::destroy(rerun_stages& s) {
  const std::uint64_t kind = random_.below(3), n = s.order.size() + 1;
  const std::uint64_t share = 5 + random_.below(46);
  const std::uint64_t width = std::max<std::uint64_t>(1, n * (2 + random_.below(24)) / 100), from = random_.below(n);
  for (index_t k = 0; k < s.again.size(); ++k) {
    const std::vector<op_id> before = s.again[k];
    std::erase_if(s.again[k], [&](op_id op) {
      const std::uint64_t place = kind == 1 ? k : played_.place(op);
      return kind == 0 ? random_.chance(share, 100) : place >= from && place < from + width;
    });
    if (s.again[k] != before && !views_hold(s)) s.again[k] = before;
  }
}

MEMSCHED_FUNCTION void rerun_search::improve(rerun_stages& s, std::uint64_t idle, std::uint64_t enough) {
  played_.take(s);
  std::uint64_t best = extra_cost(table_, s), now = best;
  rerun_stages at = s;
  for (std::uint64_t round = 0; round < idle && best > enough && !context_.stopped(); ++round) {
    if (round % 64 == 63) at = s, now = best;
    rerun_stages other = at;
    destroy(other);
    const candidate_ranks ranks{20 * random_.below(8), candidates_.has_prices() && random_.chance(1, 2)};
    if (!repair(other, best * 2, ranks)) continue;
    prune(other);
    const std::uint64_t found = extra_cost(table_, other);
    const bool little_worse = random_.chance(1, 8) && found <= now + now / 50;
    if (found > now && !little_worse) continue;
    at = std::move(other), now = found;
    if (found > best) continue;
    if (found < best) round = 0;
    best = found, s = at;
  }
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
