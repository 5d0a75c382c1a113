// Needs: storages that must be in memory or come back, since a producer that runs again reads them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/recompute/rows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A storage that is needed after a row if the storage before it in a chain is absent there.
struct rerun_need {
  index_t row = 0;
  tensor_id storage = none;
  bool certain = false;    ///< some gap says that it is needed, whatever is absent
  bool closed = false;     ///< it cannot be absent: it is neither made again nor loaded
  bool loads = false;      ///< it can be loaded
  bytes size = 0;          ///< in whole units of the row
  index_t stretch = none;  ///< that bears the cost if it is absent: a gap, or after them a tail; none: it costs nothing
};

/// A rerun of the producer of a need, if its storage is absent. Memory while it runs is a row of its own.
struct rerun_row {
  index_t need = none;
  bytes over = 0;  ///< bytes over the budget, with all storages of gaps that last
};

/// Needs at some rows, row by row.
struct rerun_needs {
  std::vector<index_t> rows;
  std::vector<bytes> units;  ///< per row: sizes of needs are rounded down to multiples of it
  std::vector<bytes> room;   ///< per row: bytes of the budget beside those of the operator, in whole units
  std::vector<rerun_need> needs;
  list_of<index_t> inputs;        ///< per need, those needs of its row that its producer reads
  std::vector<rerun_row> reruns;  ///< of `find_reruns`: with the most bytes over the budget, by need; 64 at most
  list_of<index_t> lasting;       ///< per rerun, gaps that last and are of no reads or outputs of the producer
};

/// The needs at `rows`, positions in r.rows that rise.
///
/// Lemma. Let N be the least set of storages that holds those with a gap at row k, and for each member that is absent at k all
/// that its producer reads. The producer of each absent member runs again after row k, if nothing can be loaded.
/// Proof. By induction along the chain: a member with a gap has a use still to come; any other is read by a producer that
/// runs again after row k, and is absent there. So it is made again in between. Hence each member takes its bytes at row k
/// or costs a rerun, which its stretch bears: a gap, or the rows after all uses of the storage. The stretches of one storage
/// do not overlap in time, so that no rerun is counted twice. A member that is loaded instead needs no inputs, but its stretch
/// bears `load_more`: savings that rest on its inputs are limited to that, over all rows (priced_closure). The reads and
/// outputs of the operator of row k are in memory at k, and no needs. O(chosen rows * uses).
///
/// Each row counts bytes in whole units, of its own. Lemma. The sizes of the needs that are in memory at row k, rounded down to
/// multiples of a unit, sum to at most the room that the budget leaves beside the operator of row k, rounded down likewise.
/// Proof. Rounded or not, they sum to at most the room, and the rounded sum is a multiple of the unit.
/// The largest sizes of a training step mostly have a large divisor, and a budget has none.
MEMSCHED_FUNCTION rerun_needs find_needs(const execution_table& table, memory_model model, const rerun_rows& r,
                                         std::span<const index_t> rows, bytes budget);

/// Adds reruns to needs, unless something can be loaded. O(needs * gaps around their rows).
///
/// Lemma. In a schedule that loads nothing, let the storage t of a gap be needed and absent at row k, and let the operator
/// of row b use it next. While the producer of t runs again between both, the storages of other gaps that last from k to b
/// are in memory, but for those that are made again in these gaps. The latter have at least the bytes over the budget.
/// Proof. Let j be the storage of a gap that lasts. It was made before row k or by its operator, and has a use after the
/// rerun. If it is absent while the producer of t runs, then it is made again after that and before that use, which ends
/// the gap or is after row b. Reads and outputs of the producer are counted with it.
MEMSCHED_FUNCTION void find_reruns(const execution_table& table, memory_model model, const rerun_rows& r, bytes budget,
                                   rerun_needs& needs);

/// Rows that are worth needs, by the prices of a cover (row, price): the dearest, and as many evenly spread; 16 at most.
MEMSCHED_FUNCTION std::vector<index_t> rows_with_needs(std::vector<std::pair<index_t, double>> prices);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <functional>
#include <numeric>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The unit of a row's needs that gains most. It takes the remainder of the room, and loses that of each size. Candidates are
/// the divisors of the largest sizes.
MEMSCHED_FUNCTION bytes choose_unit(std::span<const rerun_need> needs, bytes room) {
  std::vector<bytes> sizes;
  for (const rerun_need& n : needs)
    if (n.size > 0) sizes.push_back(n.size);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  bytes unit = 0, best = 1;
  delta most = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bytes before = std::exchange(unit, std::gcd(unit, sizes[i]));
    if (unit == before) continue;
    delta gain = static_cast<delta>(room % unit);
    for (bytes s : sizes) gain -= static_cast<delta>(s % unit);
    if (gain > most) most = gain, best = unit;
  }
  return best;
}

/// Rounds the sizes of a row's needs and the room down.
MEMSCHED_FUNCTION void count_in_units(std::span<rerun_need> needs, bytes room, rerun_needs& out) {
  const bytes unit = choose_unit(needs, room);
  for (rerun_need& n : needs) n.size -= n.size % unit;
  room -= room % unit;
  out.units.push_back(unit);
  out.room.push_back(room);
}

/// Whether the storage of a gap is in memory all the time between two rows, unless it is made again in the gap.
inline bool lasts(const rerun_gap& g, index_t row, index_t back) {
  return (g.first <= row || g.since == row) && (g.last >= back || g.back == back);
}

/// The gaps of reruns that last, found row by row. Refers to the problem and rows.
class lasting_gaps {
 public:
  lasting_gaps(const problem& p, const rerun_rows& r) : p_(p), rows_(r) {}

  /// Gaps that last while the producer of a need runs again, but for its reads and outputs. O(gaps) for the first of a row.
  std::vector<index_t> of(const rerun_need& n) {
    if (n.row != row_) gather(n.row);
    const op_id producer = p_.producer(n.storage);
    std::vector<index_t> found;
    for (const index_t i : around_) {
      const rerun_gap& g = rows_.gaps[i];
      const auto has = [&](const auto& list) { return std::ranges::find(list, g.storage) != list.end(); };
      if (lasts(g, n.row, rows_.gaps[n.stretch].back) && !has(p_.reads(producer)) && !has(p_.creates(producer)))
        found.push_back(i);
    }
    return found;
  }

 private:
  void gather(index_t row) {
    row_ = row;
    around_.clear();
    for (index_t i = 0; i < rows_.gaps.size(); ++i)
      if (lasts(rows_.gaps[i], row, row)) around_.push_back(i);
  }

  const problem& p_;
  const rerun_rows& rows_;
  index_t row_ = none;
  std::vector<index_t> around_;
};

}  // namespace detail

MEMSCHED_FUNCTION rerun_needs find_needs(const execution_table& table, memory_model model, const rerun_rows& r,
                                         std::span<const index_t> rows, bytes budget) {
  const problem& p = table.graph();
  rerun_needs out;
  out.rows.assign(rows.begin(), rows.end());
  std::vector<index_t> tail(p.tensors().size(), none), found(p.tensors().size());
  for (index_t i = 0; i < r.tails.size(); ++i) tail[r.tails[i].storage] = i;
  std::vector<std::pair<index_t, index_t>> inputs;
  for (const index_t k : rows) {
    constexpr index_t unseen = none, there = none - 1;  // in memory while the row runs
    found.assign(found.size(), unseen);
    const op_id op = r.rows[k];
    for (tensor_id t : p.creates(op)) found[t] = there;
    if (table.rule(op, model) == firing::pbc)
      for (tensor_id t : p.reads(op)) found[t] = there;
    const std::size_t first = out.needs.size();
    const auto add = [&](tensor_id t, bool certain, index_t stretch) {
      found[t] = static_cast<index_t>(out.needs.size());
      out.needs.push_back({k, t, certain, !table.returns(t), table.load_of(t) != none, p.size(t), stretch});
    };
    for (index_t i = 0; i < r.gaps.size(); ++i)
      if (r.gaps[i].first <= k && k <= r.gaps[i].last) add(r.gaps[i].storage, true, i);
    for (std::size_t i = first; i < out.needs.size(); ++i) {
      const op_id producer = p.producer(out.needs[i].storage);
      if (producer == none || !table.may_repeat(producer)) continue;
      for (tensor_id t : p.reads(producer)) {
        if (found[t] == there) continue;
        if (found[t] == unseen) {
          const bool behind = tail[t] != none && r.tails[tail[t]].first <= k;
          add(t, false, behind ? static_cast<index_t>(r.gaps.size()) + tail[t] : none);
        }
        inputs.emplace_back(static_cast<index_t>(i), found[t]);
      }
    }
    detail::count_in_units(std::span(out.needs).subspan(first), budget - std::min(budget, r.fixed[k]), out);
  }
  out.inputs = list_of<index_t>::from_pairs(out.needs.size(), inputs);
  return out;
}

MEMSCHED_FUNCTION void find_reruns(const execution_table& table, memory_model model, const rerun_rows& r, bytes budget,
                                   rerun_needs& needs) {
  if (table.prices()) return;
  constexpr std::size_t most = 64;
  const problem& p = table.graph();
  detail::lasting_gaps lasting(p, r);
  for (index_t i = 0; i < needs.needs.size(); ++i) {
    const rerun_need& n = needs.needs[i];
    if (!n.certain || n.closed || n.size == 0 || r.gaps[n.stretch].back == none) continue;
    bytes sum = bytes_of_run(table, model, p.producer(n.storage));
    for (index_t g : lasting.of(n)) sum += r.gaps[g].size;
    if (sum > budget) needs.reruns.push_back({i, sum - budget});
  }
  std::ranges::sort(needs.reruns, [](const rerun_row& a, const rerun_row& b) {
    return a.over != b.over ? a.over > b.over : a.need < b.need;
  });
  if (needs.reruns.size() > most) needs.reruns.resize(most);
  std::ranges::sort(needs.reruns, {}, &rerun_row::need);
  std::vector<std::pair<index_t, index_t>> pairs;
  for (index_t i = 0; i < needs.reruns.size(); ++i)
    for (index_t g : lasting.of(needs.needs[needs.reruns[i].need])) pairs.emplace_back(i, g);
  needs.lasting = list_of<index_t>::from_pairs(needs.reruns.size(), pairs);
}

MEMSCHED_FUNCTION std::vector<index_t> rows_with_needs(std::vector<std::pair<index_t, double>> prices) {
  constexpr std::size_t half = 8;
  std::vector<index_t> chosen;
  const std::size_t spread = std::min(half, prices.size());
  for (std::size_t i = 0; i < spread; ++i) chosen.push_back(prices[i * prices.size() / spread].first);
  const auto dearer = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  };
  std::sort(prices.begin(), prices.end(), dearer);
  for (std::size_t i = 0; i < spread; ++i) chosen.push_back(prices[i].first);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
