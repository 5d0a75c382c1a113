// Windows of an order in which a bound may be certified.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/backbone.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/bounds/closed_window.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/structure/line.hpp>

namespace memsched::inline MEMSCHED_ABI::detail {

/// Closed windows around the nodes of an order that are as high as a bound, the narrow ones first. Needs a graph that knows its
/// resources.
class window_finder {
 public:
  window_finder(const schedule_graph& g, std::span<const node_id> order, bytes bound, function_ref<bool()> go_on)
      : line_(g, order), bone_(g.preds, g.succs, line_.nodes(0, line_.size())), live_(line_), cut_(line_, live_, bone_),
        go_on_(go_on) {
    if (g.resources.empty()) return;
    for (index_t i : line_.heights())
      if (line_.height(i) >= static_cast<delta>(bound) && high_.size() < most_places) high_.push_back(i);
  }

  /// Goes on to the next window; false where there is none.
  bool next() {
    while (reach_ < reaches.size()) {
      if (high_.empty() || !go_on_()) return false;
      const auto [a, b] = best_ends(high_[place_], reaches[reach_]);
      if (++place_ == high_.size()) place_ = 0, ++reach_;
      if ((a == 0 && b == line_.size()) || std::pair(a, b) == last_) continue;
      last_ = {a, b};
      auto found = close_window(line_, live_, bone_, a, b);
      if (!found) continue;
      take(std::move(*found), a, b);
      return true;
    }
    return false;
  }

  const proof_window& window() const { return window_; }
  /// The window's graph, in the numbering that a certificate has.
  const schedule_graph& graph() const { return graph_; }

 private:
  static constexpr std::array<std::size_t, 6> reaches{50, 100, 200, 400, 800, 1600};
  static constexpr std::size_t most_places = 4;

  std::pair<std::size_t, std::size_t> around(std::size_t i, std::size_t reach) const {
    std::size_t a = i - std::min(i, reach);
    while (!line_.legal(a)) --a;  // the first position is legal
    return {a, line_.legal_from(std::min(line_.size(), i + reach))};
  }
  /// The ends of a window around a position that leave the least slack for a cut there, of some that are about so far.
  std::pair<std::size_t, std::size_t> best_ends(std::size_t at, std::size_t reach) {
    if (line_.graph().is_release(line_.at(at))) return around(at, reach);
    auto best = around(at, reach);
    bytes before = static_cast<bytes>(-1), behind = before;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto [a, b] = around(at, reach + k * reach / 4);
      const auto r = cut_.at(line_.at(at), a, b);
      if (r.slack_before < before) before = r.slack_before, best.first = a;
      if (r.slack_behind < behind) behind = r.slack_behind, best.second = b;
    }
    return best;
  }

  void take(closed_window found, std::size_t a, std::size_t b) {
    const schedule_graph& g = line_.graph();
    window_ = {.lift = found.lift};
    graph_ = std::move(found.graph);
    std::vector<node_id> ran(line_.nodes(0, a).begin(), line_.nodes(0, a).end());
    std::sort(ran.begin(), ran.end());
    for (node_id v : ran) {
      if (window_.before.empty() || window_.before.back().last != v) window_.before.push_back({v, v});
      window_.before.back().last = v + 1;
    }
    for (const bool releases : {false, true})
      for (node_id v : line_.nodes(a, b))
        if (g.is_release(v) == releases) window_.nodes.push_back(v);
    const bool opens = a > 0, closes = b < line_.size();
    const std::size_t operators = graph_.active - opens - closes;
    if (opens) window_.behind.assign(graph_.succs[operators].begin(), graph_.succs[operators].end());
    if (closes) window_.ahead.assign(graph_.preds[operators + opens].begin(), graph_.preds[operators + opens].end());
  }

  order_line line_;
  backbone bone_;
  live_index live_;
  windowed_cut cut_;
  function_ref<bool()> go_on_;
  std::vector<index_t> high_;  // positions
  std::size_t place_ = 0, reach_ = 0;
  std::pair<std::size_t, std::size_t> last_{0, 0};
  proof_window window_;
  schedule_graph graph_;
};

}  // namespace memsched::inline MEMSCHED_ABI::detail
