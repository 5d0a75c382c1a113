// A graph laid out in the positions of one of its orders: levels, heights, and the live resources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <span>
#include <utility>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// An order with its releases: each right after the last node that it waits for. A stretch [a, b) of positions whose ends
/// are `legal` holds the nodes between two sets that can have run. O(nodes + edges) to build.
class order_line {
 public:
  /// `order` holds the active nodes, predecessors first; g must outlive this.
  order_line(const schedule_graph& g, std::span<const node_id> order)
      : g_(&g),
        at_(g.size()),
        position_(g.size()),
        level_(g.size() + 1),
        height_(g.size()),
        highest_(g.size() / stretch + 1) {
    std::vector<index_t> waits(g.size() - g.active);
    for (std::size_t r = g.active; r < g.size(); ++r) waits[r - g.active] = static_cast<index_t>(g.preds[r].size());
    std::size_t end = 0;
    for (node_id v : order) {
      at_[end++] = v;
      for (node_id r : g.succs[v])
        if (g.is_release(r) && --waits[r - g.active] == 0) at_[end++] = r;
    }
    level_[0] = static_cast<delta>(g.base);
    measure(0, end);
  }

  const schedule_graph& graph() const { return *g_; }
  std::size_t size() const { return at_.size(); }
  node_id at(std::size_t i) const { return at_[i]; }
  index_t position(node_id v) const { return position_[v]; }
  /// The nodes in the positions [a, b).
  std::span<const node_id> nodes(std::size_t a, std::size_t b) const { return {at_.data() + a, b - a}; }
  /// The level before position i, or at the end for i = size(). Bytes.
  delta level(std::size_t i) const { return level_[i]; }
  /// Memory in use while the node in position i runs; for a release the level at the end of its step. Bytes.
  delta height(std::size_t i) const { return height_[i]; }

  /// Whether position i, or the end, begins a step: no release stands there.
  bool legal(std::size_t i) const { return i >= at_.size() || !g_->is_release(at_[i]); }
  /// The first such from i on.
  std::size_t legal_from(std::size_t i) const {
    while (!legal(i)) ++i;
    return std::min(i, at_.size());
  }
  /// The stretch with legal ends that reaches at least so far before position i, and after it.
  std::pair<std::size_t, std::size_t> around(std::size_t i, std::size_t reach) const {
    std::size_t a = i - std::min(i, reach);
    while (!legal(a)) --a;  // the first position is legal
    return {a, legal_from(std::min(size(), i + reach))};
  }

  /// Bytes; the order's peak.
  bytes peak() const {
    delta peak = static_cast<delta>(g_->base);
    for (delta h : highest_) peak = std::max(peak, h);
    return static_cast<bytes>(peak);
  }
  /// The first position as high as the peak. O(nodes / 128).
  std::size_t highest() const {
    if (at_.empty()) return 0;
    const auto best = static_cast<std::size_t>(std::max_element(highest_.begin(), highest_.end()) - highest_.begin());
    std::size_t i = best * stretch;
    while (i + 1 < at_.size() && height_[i] < highest_[best]) ++i;
    return i;
  }
  /// The highest position of each stretch of 128, highest stretch first.
  std::vector<index_t> heights() const {
    std::vector<index_t> top;
    for (std::size_t first = 0; first < at_.size(); first += stretch) {
      const auto begin = height_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = height_.begin() + static_cast<std::ptrdiff_t>(std::min(first + stretch, at_.size()));
      top.push_back(static_cast<index_t>(std::max_element(begin, end) - height_.begin()));
    }
    std::stable_sort(top.begin(), top.end(), [&](index_t a, index_t b) { return height_[a] > height_[b]; });
    return top;
  }
  /// The highest height in [a, b).
  delta highest_in(std::size_t a, std::size_t b) const {
    return a == b ? level_[a]
                  : *std::max_element(height_.begin() + static_cast<std::ptrdiff_t>(a),
                                      height_.begin() + static_cast<std::ptrdiff_t>(b));
  }

  /// Puts active nodes into another order: those in a stretch with legal ends that begins at a. O(nodes + their edges).
  void replace(std::size_t a, std::span<const node_id> order) {
    std::size_t end = a;
    for (std::size_t left = order.size(); left > 0 || !legal(end); ++end) {
      left -= !g_->is_release(at_[end]);
      position_[at_[end]] = none;
    }
    end = a;
    const auto put = [&](node_id v) { at_[end] = v, position_[v] = static_cast<index_t>(end++); };
    for (node_id v : order) {
      put(v);
      for (node_id r : g_->succs[v]) {
        if (!g_->is_release(r) || position_[r] != none) continue;  // runs elsewhere, or has run
        const auto readers = g_->preds[r];
        if (std::all_of(readers.begin(), readers.end(), [&](node_id u) { return position_[u] < end; })) put(r);
      }
    }
    measure(a, end);
  }

  std::vector<node_id> order() const {
    std::vector<node_id> active;
    active.reserve(g_->active);
    for (node_id v : at_)
      if (!g_->is_release(v)) active.push_back(v);
    return active;
  }

 private:
  static constexpr std::size_t stretch = 128;

  void measure(std::size_t a, std::size_t b) {
    for (std::size_t i = a; i < b; ++i) position_[at_[i]] = static_cast<index_t>(i);
    for (std::size_t i = a, end = a; i < b; i = end) {
      level_[i + 1] = level_[i] + g_->cost[at_[i]].impact;
      for (end = i + 1; !legal(end); ++end) level_[end + 1] = level_[end] + g_->cost[at_[end]].impact;
      const auto last = [&](node_id r) { return position_[r] > i && position_[r] < end; };
      height_[i] = level_[i] + detail::effect_of(*g_, at_[i], last).peak;
      for (std::size_t r = i + 1; r < end; ++r) height_[r] = level_[end];
    }
    for (std::size_t s = a / stretch; s * stretch < b; ++s)
      highest_[s] = highest_in(s * stretch, std::min((s + 1) * stretch, at_.size()));
  }

  const schedule_graph* g_;
  std::vector<node_id> at_;
  std::vector<index_t> position_;
  plain_vector<delta> level_, height_;
  plain_vector<delta> highest_;  // of each stretch
};

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched
