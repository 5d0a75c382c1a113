// Shaving: finds precedence that every order below a peak must keep, by probing the consequences of assumed precedence.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/base/crew.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/probing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// Takes an edge between two nodes for granted and probes; if that is refuted, all orders below the peak keep the reverse
/// edge, from which more may follow. If it is not, the reverse is taken for granted too, and all orders keep the
/// consequences of both. Stronger than probing, which sees one node at a time, and dearer. (In machine scheduling: Martin
/// and Shmoys, A new approach to computing optimal schedules for the job-shop scheduling problem, 1996; for consequences of
/// both ways: Van Hentenryck et al., Constraint processing in cc(FD), 1998, where it is called constructive disjunction.)
///
/// The most promising questions come first: edges after which one of their nodes has the least room left, and pairs of nodes
/// that leave little room either way. The kind that has been asked for fewer cuts since it last helped is next. Threads ask
/// several questions at once; after the first answer that helps, the others do not count.
class shaver {
 public:
  /// The source of a prober's edges after its first `known` ones: the consequences of an edge, and of its reverse if that
  /// was asked about too; either may be refuted.
  struct lesson {
    precedence edge;
    std::size_t known;
    const prober& with_edge;
    const prober* with_reverse;
    bool edge_refuted, reverse_refuted;
  };
  using listener = function_ref<void(const lesson&)>;

  /// `pairs`: asks about the two edges of a pair together, too.
  explicit shaver(bool pairs = true) : both_ways_(pairs) {}

  /// Adds edges to a prober that has found nothing more for its peak, the same in all calls, until `patience` questions of each
  /// kind in a row did not help. Tells `go_on` of each cut; while it collects the questions, of some at a time, as if they were
  /// one. If that returns false, or to spend more patience, a later call resumes and repeats the interrupted question. Helpers
  /// do not affect the answer. Reports each finding to `learnt`.
  prober::outcome run(
      prober& p, unsigned patience, cut_counter go_on, const helpers& who = {}, listener learnt = [](const lesson&) {}) {
    if (!collect(p, go_on)) return prober::outcome::stopped;
    while (line* next = choose(patience)) {
      std::uint64_t cuts = 0;
      const auto count = [&](std::uint64_t visits) { return ++cuts, go_on(visits); };
      const std::size_t known = p.edges().size();
      const auto result = ask_some(p, *next, patience - next->failures, count, who, learnt);
      next->cuts += cuts;
      if (result == prober::outcome::stopped) return result;
      if (p.edges().size() == known) continue;
      next->failures = 0, next->cuts = 0;
      if (const auto o = p.run(p.bound(), go_on, who); o != prober::outcome::open) return o;
    }
    return prober::outcome::open;
  }

  /// Memory of its questions.
  std::uint64_t bytes_held() const { return (edges_.questions.size() + pairs_.questions.size()) * sizeof(question); }

 private:
  struct question {
    delta height;  ///< bytes that the nodes take at least if the edge is kept, or either way
    precedence edge;
    bool weighed;  ///< else they may take less
    bool operator<(const question& q) const {
      return std::tie(height, weighed, edge.before, edge.after) < std::tie(q.height, q.weighed, q.edge.before, q.edge.after);
    }
  };
  struct line {
    std::priority_queue<question, plain_vector<question>> questions{};  // most promising first
    unsigned failures = 0;                                              // since it last helped
    std::uint64_t cuts = 0;                                             // likewise
  };

  /// Collects the questions of the nodes that are left. Returns false once `go_on` does. Pairs count as weighed: cuts for both
  /// edges of each would cost more than a better order of the questions is worth.
  bool collect(const prober& p, cut_counter go_on) {
    constexpr std::uint64_t visits_of_a_pair = 32;  // it takes as long
    constexpr std::uint64_t visits_of_a_cut = 1 << 15;
    const schedule_graph& g = p.graph();
    std::uint64_t visits = 0;
    while (collected_ < g.size()) {
      const node_id v = collected_++;
      const node_id end = static_cast<node_id>(std::min<std::size_t>(v, g.active));
      for (node_id u = 0; u < end; ++u) {
        if (p.ordered(v, u) || p.ordered(u, v)) continue;
        const delta one = p.known_height({u, v}), other = p.known_height({v, u});
        edges_.questions.push({one, {u, v}, false});
        edges_.questions.push({other, {v, u}, false});
        if (both_ways_) pairs_.questions.push({std::min(one, other), {u, v}, true});
      }
      visits += visits_of_a_pair * end;
      if (visits >= visits_of_a_cut && !go_on(std::exchange(visits, 0))) return false;
    }
    return true;
  }

  line* choose(unsigned patience) {
    line* best = nullptr;
    for (line* l : {&edges_, &pairs_})
      if (l->failures < patience && !l->questions.empty() && (best == nullptr || l->cuts < best->cuts)) best = l;
    return best;
  }

  static constexpr std::size_t group_size = 4;

  /// Asks the next questions, at most `most` and those of a group, up to one that helps: adds the consequences to p.
  prober::outcome ask_some(prober& p, line& l, std::size_t most, cut_counter go_on, const helpers& who, listener learnt) {
    plain_vector<question> group;
    const auto put_back = [&](std::size_t from) {
      for (std::size_t i = from; i < group.size(); ++i) l.questions.push(group[i]);
    };
    while (!l.questions.empty() && group.size() < std::min(most, group_size)) {
      const question q = l.questions.top();
      const bool settled = p.ordered(q.edge.before, q.edge.after) || p.ordered(q.edge.after, q.edge.before);
      std::optional<delta> height;
      if (!settled && !q.weighed && !(height = p.height(q.edge, go_on))) return put_back(0), prober::outcome::stopped;
      l.questions.pop();
      if (settled) continue;
      if (height) l.questions.push({*height, q.edge, true});
      else group.push_back(q);
    }
    const bool both = &l == &pairs_;
    std::vector<answer> answers(group.size());
    const bool together = who.team != nullptr && group.size() > 1;
    if (together) ask_together(p, group, both, answers, who);
    for (std::size_t i = 0; i < group.size(); ++i) {
      answer& a = answers[i];
      if (!together) a = ask(p, group[i].edge, both, go_on);
      for (const std::uint64_t visits : a.cuts)
        if (!go_on(visits)) return put_back(i), prober::outcome::stopped;
      if (a.stopped) return put_back(i), prober::outcome::stopped;
      ++l.failures;
      const std::size_t known = p.edges().size();
      for (const precedence& e : a.edges)
        if (!p.ordered(e.before, e.after)) p.learn(e, a.next);  // common edges may follow from each other
      if (a.edges.empty()) continue;
      const auto refuted = [](const std::optional<trial>& t) { return t && t->outcome == prober::outcome::refuted; };
      learnt({group[i].edge, known, a.kept->known, a.reversed ? &a.reversed->known : nullptr, refuted(a.kept),
              refuted(a.reversed)});
      return put_back(i + 1), prober::outcome::open;
    }
    return prober::outcome::open;
  }
  /// The facts that hold if an edge is taken for granted.
  struct trial {
    prober known;
    prober::outcome outcome;
  };
  /// The consequences of a question: edges that all orders with a peak below `next` keep, and if there are any, their
  /// reason.
  struct answer {
    plain_vector<precedence> edges{};
    bytes next = 0;
    bool stopped = true;
    std::optional<trial> kept{}, reversed{};
    std::vector<std::uint64_t> cuts{};  ///< nodes and edges that each visited, not yet counted
  };
  void ask_together(const prober& p, const plain_vector<question>& group, bool both, std::vector<answer>& answers,
                    const helpers& who) {
    std::atomic<std::size_t> last = group.size();  // questions after one that helps do not count
    who.team->run(group.size(), [&](std::size_t i, std::size_t) {
      std::vector<std::uint64_t> cuts;
      const auto count = [&](std::uint64_t visits) { return cuts.push_back(visits), i <= last && !who.over(); };
      if (i > last) return;
      answers[i] = ask(p, group[i].edge, both, count);
      answers[i].cuts = std::move(cuts);
      if (!answers[i].stopped && answers[i].edges.empty()) return;
      for (std::size_t l = last; i < l && !last.compare_exchange_weak(l, i);) {
      }
    });
  }

  /// The consequences of an edge that does not hold, or else, if `both`, those of it and its reverse.
  static answer ask(const prober& p, const precedence& e, bool both, cut_counter go_on) {
    const precedence reverse{e.after, e.before};
    const auto suppose = [&](const precedence& edge) {
      trial t{p, {}};
      t.known.assume(edge);
      t.outcome = t.known.run(p.bound(), go_on);
      return t;
    };
    trial kept = suppose(e);
    if (kept.outcome == prober::outcome::stopped) return {};
    if (kept.outcome == prober::outcome::refuted) {
      const bytes next = kept.known.next();
      return {{reverse}, next, false, std::move(kept)};
    }
    if (!both) return {.stopped = false};
    trial reversed = suppose(reverse);
    if (reversed.outcome == prober::outcome::stopped) return {};
    const bool refuted = reversed.outcome == prober::outcome::refuted;
    answer a{refuted ? plain_vector{e} : p.common(kept.known, reversed.known),
             refuted ? reversed.known.next() : std::min(kept.known.next(), reversed.known.next()), false};
    if (!a.edges.empty()) a.kept = std::move(kept), a.reversed = std::move(reversed);
    return a;
  }

  bool both_ways_;
  node_id collected_ = 0;  // of which the questions are collected
  line edges_, pairs_;
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
