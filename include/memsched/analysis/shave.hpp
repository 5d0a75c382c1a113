// Shaving: precedence that every order below a peak must keep, found by probing what would follow from the reverse.
#pragma once

#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/analysis/probe.hpp>
#include <memsched/base/function_ref.hpp>

namespace memsched {

/// Takes an edge between two nodes for granted and probes; where that is refuted, all orders below the peak keep the reverse
/// edge, from which more may follow. Stronger than probing, which sees one node at a time, and dearer. (In machine
/// scheduling: Martin and Shmoys, A new approach to computing optimal schedules for the job-shop scheduling problem, 1996.)
///
/// Edges come in the order of promise: first those after which some node has the least room left.
class shaver {
 public:
  /// For a prober that has found nothing more for b. Both must outlive this.
  shaver(prober& p, const schedule_graph& g, bytes b) : prober_(&p), bound_(b) { collect(g); }

  /// Adds edges to the prober until so many edges in a row were not refuted. Asks `go_on` before each cut.
  prober::outcome run(unsigned patience, function_ref<bool()> go_on) {
    for (unsigned failures = 0; failures < patience && !questions_.empty();) {
      question q = questions_.top();
      questions_.pop();
      if (prober_->ordered(q.v, q.u) || prober_->ordered(q.u, q.v)) continue;
      if (!q.exact) {
        if (!go_on()) return prober::outcome::stopped;
        q.height = prober_->height(q.v, q.u, q.inside);
        q.exact = true;
        questions_.push(q);
        continue;
      }
      prober trial = *prober_;
      trial.assume(q.edge());
      switch (trial.run(bound_, go_on)) {
        case prober::outcome::stopped: return prober::outcome::stopped;
        case prober::outcome::open: ++failures; continue;
        case prober::outcome::refuted: break;
      }
      failures = 0;
      prober_->learn({q.edge().after, q.edge().before}, trial.next());
      if (const auto o = prober_->run(bound_, go_on); o != prober::outcome::open) return o;
    }
    return prober::outcome::open;
  }

 private:
  /// What v takes at least where u has run before it, or has not.
  struct question {
    delta height;
    node v, u;
    bool inside;
    bool exact;  ///< else no more than `height`
    precedence edge() const { return inside ? precedence{u, v} : precedence{v, u}; }
    bool operator<(const question& q) const {
      return std::tie(height, exact, q.v, q.u, q.inside) < std::tie(q.height, q.exact, v, u, inside);
    }
  };

  void collect(const schedule_graph& g) {
    std::vector<question> all;
    for (node v = 0; v < g.active; ++v)
      for (node u = 0; u < g.size(); ++u) {
        if (u == v || prober_->ordered(v, u) || prober_->ordered(u, v)) continue;
        for (const bool inside : {true, false})
          if (const auto height = prober_->known_height(v, u, inside)) all.push_back({*height, v, u, inside, false});
      }
    questions_ = std::priority_queue<question>({}, std::move(all));
  }
  prober* prober_;
  bytes bound_;
  std::priority_queue<question> questions_;  // most promising first
};

}  // namespace memsched
