// Branching at either end of the orders.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// A pass. What the inner scheduler does not settle is split into cases: by the moves that orders start with (see
/// `best_first`), or by those that they end with, whichever leaves fewer cases that the inner scheduler does not settle
/// either. Those are split again. What is left of a case is a graph of its own, so that a pass like `probe` narrows it
/// further than the whole. Graphs with credits are split at the start alone. For example branch_at_ends{} | probe{} |
/// best_first{}.
struct branch_at_ends {
  unsigned depth = 4;  ///< splits, one behind the other
  std::size_t max_nodes = 1 << 14;  ///< larger graphs are handed on as they are; the closure takes n^2/4 bytes

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/graph/induced_subgraph.hpp>
#include <memsched/graph/mirror.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/search/downsets.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// What orders of a graph start with, lowest peak first.
class first_moves {
 public:
  struct alternative {
    std::vector<node_id> start;  ///< what runs first
    delta peak, level;           ///< of that, and at its end
  };
  /// What is left behind an alternative.
  struct remainder {
    std::vector<node_id> nodes;  ///< as the whole knows them
    schedule_graph graph;
  };

  explicit first_moves(const schedule_graph& g) : g_(g), local_(g.size(), none) {
    downset_moves moves(g, true, true);
    const bit_set nothing(g.active);
    const auto base = static_cast<delta>(g.base);
    for (const auto& m : std::vector(moves.from(nothing, base))) {
      moves.stepper().start(nothing, base);
      moves.run_to(m.target, nothing);
      alternatives_.push_back({moves.path(), m.peak, m.level});
    }
    std::stable_sort(alternatives_.begin(), alternatives_.end(),
                     [](const auto& a, const auto& b) { return a.peak < b.peak; });
  }
  const std::vector<alternative>& alternatives() const { return alternatives_; }

  /// O(nodes + edges).
  remainder behind(const alternative& a) {
    remainder rest;
    bit_set ran(g_.active);
    for (node_id v : a.start) ran.insert(v);
    for (node_id v = 0; v < g_.size(); ++v) {
      const auto readers = g_.preds[v];
      const auto has_run = [&](node_id u) { return ran[u]; };
      if (g_.is_release(v) ? !std::all_of(readers.begin(), readers.end(), has_run) : !ran[v]) rest.nodes.push_back(v);
    }
    rest.graph = induced_subgraph(g_, rest.nodes, static_cast<bytes>(a.level), local_);
    return rest;
  }

 private:
  const schedule_graph& g_;
  std::vector<node_id> local_;
  std::vector<alternative> alternatives_;
};

/// Asks about each alternative; what it finds better than `best` takes its place. Says of each whether it is settled, that
/// is, whether no better order starts so.
class split {
 public:
  explicit split(const schedule_graph& g) : g_(g), moves_(g), bounds_(moves_.alternatives().size(), 0) {}

  void ask(search& context, solution& best, inner_scheduler inner) {
    for (std::size_t i = 0; i < bounds_.size() && context.keep_going(); ++i) {
      const auto& a = moves_.alternatives()[i];
      const bytes high = below(context, best);
      bounds_[i] = std::max(bounds_[i], static_cast<bytes>(a.peak));
      if (bounds_[i] >= high) continue;
      const auto rest = moves_.behind(a);
      solution s{{}, rest.graph.base};
      if (rest.graph.active > 0)
        s = context.with_ceiling(high, [&] { return context.aside([&] { return inner(rest.graph, context); }); });
      if (s.error) {
        best.error = std::move(s.error);
        return;
      }
      bounds_[i] = std::max(bounds_[i], s.lower_bound);
      std::vector<node_id> order = a.start;
      for (node_id v : s.order) order.push_back(rest.nodes[v]);
      take_if_better(g_, std::move(order), best);
    }
    best.lower_bound =
        std::max(best.lower_bound, std::min(*std::min_element(bounds_.begin(), bounds_.end()), below(context, best)));
  }

  std::size_t open(search& context, const solution& best) const {
    const bytes high = below(context, best);
    return static_cast<std::size_t>(std::count_if(bounds_.begin(), bounds_.end(), [&](bytes b) { return b < high; }));
  }

 private:
  bytes below(search& context, const solution& best) const { return std::min(context.ceiling(), peak_of(g_, best.order)); }

  const schedule_graph& g_;
  first_moves moves_;
  std::vector<bytes> bounds_;
};

}  // namespace detail

MEMSCHED_FUNCTION solution branch_at_ends::operator()(const schedule_graph& g, search& context,
                                                      inner_scheduler inner) const {
  solution s = inner(g, context);
  const auto done = [&] { return s.error || is_closed(g, context, s) || context.stopped(); };
  if (depth == 0 || g.active == 0 || g.active > max_nodes || done()) return s;
  const auto deeper = [&](const schedule_graph& h, search& c) { return branch_at_ends{depth - 1, max_nodes}(h, c, inner); };

  detail::split forward(g);
  forward.ask(context, s, inner);
  if (done()) return s;
  if (g.credits.items() > 0) return forward.ask(context, s, deeper), s;

  const schedule_graph image = mirror_image(g);
  solution t{topological_order(image), s.lower_bound};
  const auto take = [&] {
    s.error = std::move(t.error);
    take_if_better(g, reflected(g, t.order), s);
    s.lower_bound = std::max(s.lower_bound, t.lower_bound);
  };
  const bytes high = std::min(context.ceiling(), peak_of(g, s.order));
  detail::split backward(image);
  context.with_ceiling(high, [&] { return backward.ask(context, t, inner), 0; });
  take();
  if (done()) return s;
  if (forward.open(context, s) <= backward.open(context, t)) return forward.ask(context, s, deeper), s;
  context.with_ceiling(high, [&] { return backward.ask(context, t, deeper), 0; });
  take();
  return s;
}

}  // namespace memsched

#endif
