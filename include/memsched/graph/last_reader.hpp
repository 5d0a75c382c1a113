// Finds the reader of a tensor that always runs last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memsched/base/backbone.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/problem.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Finds, for readers of one tensor, which of them can run last. Walks back from a reader over the nodes between the first
/// and the last of them in a topological order: the operators' own if that is one, since a graph is mostly described so
/// that reads are short. A longest path settles many readers without a walk. All walks together take O(operators + uses)
/// steps; after these, of up to 8,192 operators, all ancestors are found at once, in O(operators * uses / 64). Readers of
/// larger graphs that are undecided then stay undecided, which costs strength of bounds, never exactness.
class last_reader_finder {
 public:
  explicit last_reader_finder(const problem& p) : position_(p.ops().size()), seen_(p.ops().size(), none) {
    const std::size_t n = p.ops().size();
    const adjacency succs = base::transpose(p.predecessors(), n);
    std::vector<op_id> order(n);
    std::iota(order.begin(), order.end(), op_id{0});
    const auto is_ordered = [&](op_id op) {
      const auto before = p.predecessors(op);
      return std::all_of(before.begin(), before.end(), [&](op_id b) { return b < op; });
    };
    if (!std::all_of(order.begin(), order.end(), is_ordered)) order = base::topological_order(p.predecessors(), succs);
    plain_vector<std::pair<index_t, index_t>> latest_first;  // so that a walk reads no further than it goes
    latest_first.reserve(succs.items());
    for (std::size_t i = n; i-- > 0;) {
      position_[order[i]] = static_cast<index_t>(i);
      for (op_id next : succs[order[i]]) latest_first.emplace_back(next, order[i]);
    }
    preds_ = adjacency::from_pairs(n, latest_first);
    backbone_ = backbone(p.predecessors(), succs, order);
    budget_ = 16 * (n + succs.items()) + (std::size_t{1} << 20);
  }

  /// The reader that always runs last, or none. `readers` ascend and are two or more.
  op_id always_last(std::span<const op_id> readers) {
    const auto by_position = [&](op_id a, op_id b) { return position_[a] < position_[b]; };
    const op_id latest = *std::max_element(readers.begin(), readers.end(), by_position);
    const auto undecided = [&](op_id r) { return r != latest && !backbone_.proves_before(r, latest); };
    if (std::none_of(readers.begin(), readers.end(), undecided)) return latest;
    if (!std::equal(readers.begin(), readers.end(), asked_.begin(), asked_.end())) {
      asked_.assign(readers.begin(), readers.end());
      std::size_t reached = 0;
      for_readers_before(latest, readers, [&](std::size_t) { return ++reached + 1 < readers.size(); });
      answer_ = reached + 1 == readers.size() ? latest : none;
    }
    return answer_;
  }

  /// Marks in `before_another[i]` that reader i runs before another reader, if that is found out.
  void mark(std::span<const op_id> readers, plain_vector<bool>& before_another) {
    before_another.assign(readers.size(), false);
    for (op_id reader : readers)
      for_readers_before(reader, readers, [&](std::size_t i) { return before_another[i] = true; });
  }

 private:
  /// Calls f(i) for readers[i] that come before `from`, each once, until that says no.
  template <class F>
  void for_readers_before(op_id from, std::span<const op_id> readers, F&& f) {
    index_t earliest = none;
    for (op_id r : readers) earliest = std::min(earliest, position_[r]);
    std::size_t steps = std::min(budget_, least_steps + budget_ / 64);  // one walk leaves the others most of the budget
    budget_ -= steps;
    ++walk_;
    stack_.assign(1, from);
    while (!stack_.empty()) {
      const op_id at = stack_.back();
      stack_.pop_back();
      for (op_id b : preds_[at]) {
        if (position_[b] < earliest) break;
        if (steps == 0) return for_readers_left(from, readers, f);
        --steps;
        if (std::exchange(seen_[b], walk_) == walk_) continue;
        stack_.push_back(b);
        const auto it = std::lower_bound(readers.begin(), readers.end(), b);
        if (it == readers.end() || *it != b) continue;
        if (!f(static_cast<std::size_t>(it - readers.begin()))) stack_.clear(), budget_ += std::exchange(steps, 0);
        if (steps == 0) return;
      }
    }
    budget_ += steps;
  }

  /// The same for those that a walk which ends early has not met.
  template <class F>
  void for_readers_left(op_id from, std::span<const op_id> readers, F&& f) {
    const std::size_t n = position_.size();
    if (n > most_at_once) return;
    if (!ancestors_) find_ancestors();
    for (std::size_t i = 0; i < readers.size(); ++i)
      if (seen_[readers[i]] != walk_ && base::test_bit((*ancestors_)[from], readers[i]) && !f(i)) return;
  }
  void find_ancestors() {
    const std::size_t n = position_.size();
    base::bit_matrix& before = ancestors_.emplace(n, n);
    std::vector<op_id> order(n);
    for (op_id op = 0; op < n; ++op) order[position_[op]] = op;
    for (op_id op : order)
      for (op_id b : preds_[op]) base::unite_bits(before[op], before[b]), base::set_bit(before[op], b);
  }

  static constexpr std::size_t least_steps = 4096, most_at_once = 8192;

  std::vector<index_t> position_, seen_;
  adjacency preds_;  // each list from the latest to the earliest
  backbone backbone_;
  std::vector<op_id> stack_, asked_;
  op_id answer_ = none;
  index_t walk_ = 0;
  std::size_t budget_ = 0;
  std::optional<base::bit_matrix> ancestors_;  // if it was asked for
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
