// A planner for very many buffers: fills the lowest valley with the buffer that lives longest.
#pragma once

#include <limits>
#include <span>

#include <memsched/allocation/plan.hpp>
#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Fills the lowest valley of the arena with the longest-lived buffer that fits into it, from its left end, from its right
/// end, or inside, and raises it if nothing does (Sekiyama et al., Profile-guided memory optimization for deep neural
/// networks, 2018). O(n log n). If buffers are fixed it answers as `by_size`.
struct valley_fit {
  arena_plan operator()(std::span<const buffer> buffers, bytes capacity, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include <memsched/allocation/first_fit.hpp>
#include <memsched/allocation/packing.hpp>
#include <memsched/allocation/placement.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Valley fit over the items of a packing, none of which is fixed. Runs of equal floor are a linked list, and a heap has the
/// lowest.
class valley_filler {
 public:
  explicit valley_filler(const packing& p) : p_(p), offset_(p.items.size(), -1), run_(p.sections) {
    const std::size_t n = p.items.size();
    starts_.assign(p.sections + 1, 0);
    for (const auto& i : p.items) ++starts_[i.first + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    earlier_.resize(n), first_left_.assign(starts_.begin(), starts_.end() - 1);
    std::iota(earlier_.begin(), earlier_.end(), index_t{0});
    std::vector<std::pair<index_t, index_t>> ends;
    for (index_t i = static_cast<index_t>(n); i-- > 0;) ends.emplace_back(p.items[i].last - 1, i);
    ending_ = adjacency::from_pairs(p.sections, ends);
    next_ending_.assign(p.sections, 0);
    for (width_ = 1; width_ < p.sections; width_ *= 2) {
    }
    tree_.assign(2 * width_, none);
    for (index_t s = 0; s < p.sections; ++s) tree_[width_ + s] = least_end(s);
    for (std::size_t k = width_; k-- > 1;) tree_[k] = std::min(tree_[2 * k], tree_[2 * k + 1]);
  }

  /// Offsets of the items, in units.
  std::vector<units> run() {
    if (p_.sections > 0) make_run(0, p_.sections, 0, none);
    while (!heap_.empty()) {
      const auto [h, p] = heap_.top();
      heap_.pop();
      if (run_[p].end == 0 || run_[p].floor != h) continue;  // joined or replaced since
      if (const index_t i = best_in(p, run_[p].end); i != none) place(i, p);
      else lift(p);
    }
    return std::move(offset_);
  }

 private:
  struct stretch {
    index_t end = 0;        ///< after its last section; 0: no run starts here
    index_t before = none;  ///< start of the run before
    units floor = 0;
  };

  void make_run(index_t p, index_t q, units floor, index_t before) {
    run_[p] = {q, before, floor};
    if (q < p_.sections) run_[q].before = p;
    heap_.emplace(floor, p);
  }

  // Items that start in a section are a range of items, ascending by end. `earlier_` leads from a placed one to the left.
  index_t unplaced_up_to(index_t at) {
    index_t root = at;
    while (root != none && earlier_[root] != root) root = earlier_[root];
    while (at != root) at = std::exchange(earlier_[at], root);
    return root;
  }
  index_t least_end(index_t s) {
    while (first_left_[s] < starts_[s + 1] && offset_[first_left_[s]] >= 0) ++first_left_[s];
    return first_left_[s] < starts_[s + 1] ? p_.items[first_left_[s]].last : none;
  }
  /// The longest unplaced item that starts at s and ends at q or before.
  index_t longest_from(index_t s, index_t q) {
    const auto begin = p_.items.begin() + starts_[s], end = p_.items.begin() + starts_[s + 1];
    const auto above = std::upper_bound(begin, end, q, [](index_t limit, const auto& i) { return limit < i.last; });
    if (above == begin) return none;
    const index_t i = unplaced_up_to(static_cast<index_t>(above - p_.items.begin() - 1));
    return i == none || i < starts_[s] ? none : i;
  }
  /// The longest unplaced item that ends at q and starts at p or later.
  index_t longest_to(index_t p, index_t q) {
    const auto list = ending_[q - 1];  // descending by start
    index_t& at = next_ending_[q - 1];
    index_t found = none;
    while (at < list.size() && offset_[list[at]] >= 0) ++at;
    for (index_t k = at; k < list.size() && p_.items[list[k]].first >= p && k < at + longest_search; ++k)
      if (offset_[list[k]] < 0) found = list[k];
    return found;
  }
  /// The first section in [p, q) at which an unplaced item starts that ends at q or before.
  index_t start_inside(index_t p, index_t q) const {
    std::size_t k = width_ + p;
    for (;;) {  // up to a subtree that has one, then down
      if (tree_[k] <= q) break;
      while (k % 2 == 1) {
        k /= 2;
        if (k <= 1) return none;
      }
      ++k;
    }
    while (k < width_) k = tree_[2 * k] <= q ? 2 * k : 2 * k + 1;
    const index_t s = static_cast<index_t>(k - width_);
    return s < q ? s : none;
  }
  index_t best_in(index_t p, index_t q) {
    if (const index_t i = longest_from(p, q); i != none) return i;
    if (const index_t i = longest_to(p, q); i != none) return i;
    const index_t s = start_inside(p, q);
    return s == none ? none : longest_from(s, q);
  }

  void place(index_t i, index_t p) {
    const auto& item = p_.items[i];
    const stretch old = run_[p];
    const units at = (old.floor + item.alignment - 1) / item.alignment * item.alignment;
    offset_[i] = at;
    earlier_[i] = i == 0 ? none : i - 1;
    for (std::size_t k = width_ + item.first; k > 0; k /= 2)
      tree_[k] = k >= width_ ? least_end(item.first) : std::min(tree_[2 * k], tree_[2 * k + 1]);
    index_t before = old.before, from = p;
    const auto add = [&](index_t to, units floor) {
      if (from == to) return;
      make_run(from, to, floor, before);
      before = from, from = to;
    };
    add(item.first, old.floor);
    units size = item.size;
    for (const auto& [s, less] : item.drops) add(s, at + size), size = less;
    add(item.last, at + size);
    add(old.end, old.floor);
    join_at(p);
    if (item.last < p_.sections) join_at(item.last);
  }
  /// Joins the run that starts at p with the one before if their floors are the same.
  void join_at(index_t p) {
    const index_t before = run_[p].before;
    if (before == none || run_[before].floor != run_[p].floor) return;
    const index_t q = run_[p].end;
    run_[p].end = 0;
    make_run(before, q, run_[before].floor, run_[before].before);
  }
  /// Raises a run in which nothing fits to its lower wall; ends it if there is none.
  void lift(index_t p) {
    const index_t q = run_[p].end, before = run_[p].before;
    const units left = before == none ? no_wall : run_[before].floor, right = q < p_.sections ? run_[q].floor : no_wall;
    const units level = std::min(left, right);
    if (level >= no_wall) return;
    run_[p].floor = level;
    heap_.emplace(level, p);
    if (q < p_.sections) join_at(q);
    join_at(p);
  }

  static constexpr index_t longest_search = 64;

  const packing& p_;
  std::vector<units> offset_;
  std::vector<stretch> run_;  ///< by first section
  std::priority_queue<std::pair<units, index_t>, std::vector<std::pair<units, index_t>>, std::greater<>> heap_;
  std::vector<index_t> starts_, first_left_, earlier_, next_ending_;
  adjacency ending_;
  std::size_t width_ = 1;
  std::vector<index_t> tree_;  ///< least end of unplaced items by the section in which they start
};

}  // namespace detail

MEMSCHED_FUNCTION arena_plan valley_fit::operator()(std::span<const buffer> buffers, bytes capacity, search& context) const {
  if (std::any_of(buffers.begin(), buffers.end(), [](const buffer& b) { return b.offset != no_offset; }))
    return by_size{}(buffers, capacity, context);
  const detail::packing p(buffers);
  return detail::make_plan(buffers, detail::in_bytes(buffers, p, detail::valley_filler(p).run()), capacity,
                           detail::simple_bound(buffers));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
