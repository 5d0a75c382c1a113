// Shaving: precedence that every order below a peak must keep, found by probing what would follow from other precedence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/bounds/probing.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Takes an edge between two nodes for granted and probes; where that is refuted, all orders below the peak keep the reverse
/// edge, from which more may follow. Where it is not, the reverse is taken for granted too, and all orders keep what follows
/// from both. Stronger than probing, which sees one node at a time, and dearer. (In machine scheduling: Martin and Shmoys, A
/// new approach to computing optimal schedules for the job-shop scheduling problem, 1996; for what follows from both ways:
/// Van Hentenryck et al., Constraint processing in cc(FD), 1998, where it is called constructive disjunction.)
///
/// The most promising questions come first: edges after which one of their nodes has the least room left, and pairs of nodes
/// that leave little room either way. The kind that has been asked for fewer cuts since it last helped is next.
class shaver {
 public:
  /// How a prober learnt the edges behind its first `known` ones: what follows from an edge, and from its reverse where that
  /// was asked about too; either may be refuted.
  struct lesson {
    precedence edge;
    std::size_t known;
    const prober& with_edge;
    const prober* with_reverse;
    bool edge_refuted, reverse_refuted;
  };
  using listener = function_ref<void(const lesson&)>;

  /// For a prober that has found nothing more for its peak. `pairs`: asks about the two edges of a pair together, too.
  explicit shaver(const prober& p, bool pairs = true) { collect(p, pairs); }

  /// Adds edges to that prober until so many questions of each kind in a row did not help. Asks `go_on` before each cut;
  /// where that said no, or for more patience, another call goes on: with the whole of the question that was cut short.
  /// Tells `learnt` of what it learns.
  prober::outcome run(prober& p, unsigned patience, function_ref<bool()> go_on, listener learnt = [](const lesson&) {}) {
    while (line* next = choose(patience)) {
      std::uint64_t cuts = 0;
      const auto count = [&] { return ++cuts, go_on(); };
      const question q = next->questions.top();
      next->questions.pop();
      if (p.ordered(q.edge.before, q.edge.after) || p.ordered(q.edge.after, q.edge.before)) continue;
      const std::size_t known = p.edges().size();
      const auto result = q.weighed ? ask(p, q.edge, next == &pairs_, count, learnt) : weigh(p, q, count);
      if (result == prober::outcome::stopped) return next->questions.push(q), result;
      next->cuts += cuts;
      if (q.weighed) ++next->failures;
      if (p.edges().size() == known) continue;
      next->failures = 0, next->cuts = 0;
      if (const auto o = p.run(p.bound(), go_on); o != prober::outcome::open) return o;
    }
    return prober::outcome::open;
  }

  /// Memory of its questions.
  std::uint64_t bytes_held() const { return (edges_.questions.size() + pairs_.questions.size()) * sizeof(question); }

 private:
  struct question {
    delta height;  ///< what the nodes take at least where the edge is kept, or either way
    precedence edge;
    bool weighed;  ///< else they may take less
    bool operator<(const question& q) const {
      return std::tie(height, weighed, edge.before, edge.after) < std::tie(q.height, q.weighed, q.edge.before, q.edge.after);
    }
  };
  struct line {
    std::priority_queue<question> questions{};  // most promising first
    unsigned failures = 0;                      // since it last helped
    std::uint64_t cuts = 0;                     // likewise
  };

  /// Pairs count as weighed: cuts for both edges of each would cost more than a better order of the questions is worth.
  void collect(const prober& p, bool both_ways) {
    std::vector<question> edges, pairs;
    const schedule_graph& g = p.graph();
    for (node_id v = 0; v < g.size(); ++v)
      for (node_id u = 0; u < std::min<std::size_t>(v, g.active); ++u) {
        if (p.ordered(v, u) || p.ordered(u, v)) continue;
        const delta one = p.known_height({u, v}), other = p.known_height({v, u});
        edges.push_back({one, {u, v}, false});
        edges.push_back({other, {v, u}, false});
        if (both_ways) pairs.push_back({std::min(one, other), {u, v}, true});
      }
    edges_.questions = std::priority_queue<question>({}, std::move(edges));
    pairs_.questions = std::priority_queue<question>({}, std::move(pairs));
  }

  line* choose(unsigned patience) {
    line* best = nullptr;
    for (line* l : {&edges_, &pairs_})
      if (l->failures < patience && !l->questions.empty() && (best == nullptr || l->cuts < best->cuts)) best = l;
    return best;
  }

  prober::outcome weigh(prober& p, const question& q, function_ref<bool()> go_on) {
    if (!go_on() || !go_on()) return prober::outcome::stopped;
    edges_.questions.push({p.height(q.edge), q.edge, true});
    return prober::outcome::open;
  }

  /// Teaches p what follows from an edge that does not hold, or else, where `both`, from it and its reverse.
  static prober::outcome ask(prober& p, const precedence& e, bool both, function_ref<bool()> go_on, listener learnt) {
    const precedence reverse{e.after, e.before};
    const std::size_t known = p.edges().size();
    prober with_edge = p;
    with_edge.assume(e);
    if (const auto o = with_edge.run(p.bound(), go_on); o != prober::outcome::open || !both) {
      if (o == prober::outcome::refuted) {
        p.learn(reverse, with_edge.next());
        learnt({e, known, with_edge, nullptr, true, false});
      }
      return o;
    }
    prober with_reverse = p;
    with_reverse.assume(reverse);
    const auto o = with_reverse.run(p.bound(), go_on);
    if (o == prober::outcome::refuted) p.learn(e, with_reverse.next());
    if (o == prober::outcome::open) p.learn_common(with_edge, with_reverse);
    if (p.edges().size() > known) learnt({e, known, with_edge, &with_reverse, false, o == prober::outcome::refuted});
    return o;
  }

  line edges_, pairs_;
};

}  // namespace memsched
