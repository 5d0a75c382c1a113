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

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A window as a certificate describes it, and its graph, in the numbering that the certificate has.
struct described_window {
  proof::proof_window window;
  schedule_graph graph;
};

/// The closed window of the stretch [a, b) of a line around `core`, if there is one (see `close_window`).
inline std::optional<described_window> describe_window(const order_line& l, const live_index& live, const backbone& bone,
                                                       std::size_t a, std::size_t b, node_id core) {
  auto found = close_window(l, live, bone, a, b, core);
  if (!found) return std::nullopt;
  described_window d{{.lift = found->lift - found->slack, .slack = found->slack}, std::move(found->graph)};
  std::vector<node_id> ran(l.nodes(0, a).begin(), l.nodes(0, a).end());
  std::sort(ran.begin(), ran.end());
  for (node_id v : ran) {
    auto& ranges = d.window.before;
    if (ranges.empty() || ranges.back().last != v) ranges.push_back({v, v});
    ranges.back().last = v + 1;
  }
  for (const bool releases : {false, true})
    for (node_id v : l.nodes(a, b))
      if (l.graph().is_release(v) == releases) d.window.nodes.push_back(v);
  const bool opens = a > 0, closes = b < l.size();
  const std::size_t operators = d.graph.active - opens - closes;
  if (opens) d.window.behind.assign(d.graph.succs[operators].begin(), d.graph.succs[operators].end());
  if (closes) d.window.ahead.assign(d.graph.preds[operators + opens].begin(), d.graph.preds[operators + opens].end());
  return d;
}

/// Closed windows around the nodes of an order that are as high as a bound, the narrow ones first. Needs a graph that knows
/// its resources.
class window_finder {
 public:
  window_finder(const schedule_graph& g, std::span<const node_id> order, bytes bound, function_ref<bool()> go_on)
      : line_(g, order),
        bone_(g.preds, g.succs, line_.nodes(0, line_.size())),
        live_(line_),
        cut_(line_, live_, bone_),
        go_on_(go_on),
        bound_(bound) {
    if (g.resources.empty()) return;
    for (index_t i : line_.heights())
      if (line_.height(i) >= static_cast<delta>(bound) && high_.size() < most_places) high_.push_back(i);
  }

  /// Goes on to the next window; false if there is none.
  bool next() {
    while (reach_ < reaches.size()) {
      if (high_.empty() || !go_on_()) return false;
      const index_t at = high_[place_];
      const auto [a, b] = best_ends(at, reaches[reach_]);
      if (++place_ == high_.size()) place_ = 0, ++reach_;
      if ((a == 0 && b == line_.size()) || std::pair(a, b) == last_) continue;
      last_ = {a, b};
      const node_id core = line_.graph().is_release(line_.at(at)) ? none : line_.at(at);
      auto found = describe_window(line_, live_, bone_, a, b, core);
      // No window proves more than the line's peak less its slack.
      if (!found || line_.peak() < bound_ + found->window.slack) continue;
      found_ = std::move(*found);
      return true;
    }
    return false;
  }

  const described_window& found() const { return found_; }

 private:
  static constexpr std::array<std::size_t, 6> reaches{50, 100, 200, 400, 800, 1600};
  static constexpr std::size_t most_places = 4;

  std::pair<std::size_t, std::size_t> best_ends(std::size_t at, std::size_t reach) {
    if (line_.graph().is_release(line_.at(at))) return line_.around(at, reach);
    return cut_.best_ends(
        at, reach, [] { return true; }, [](bytes) {});
  }

  order_line line_;
  backbone bone_;
  live_index live_;
  windowed_cut cut_;
  function_ref<bool()> go_on_;
  bytes bound_;
  std::vector<index_t> high_;  // positions
  std::size_t place_ = 0, reach_ = 0;
  std::pair<std::size_t, std::size_t> last_{0, 0};
  described_window found_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
