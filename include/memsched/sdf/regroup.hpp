// Fewer firings than an exact answer needs: several firings of an actor as one (Fradet et al., sections 8.1 and 8.2).
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/sdf/composites.hpp>
#include <memsched/sdf/divisors.hpp>
#include <memsched/sdf/liveness.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

/// d firings of one actor in a row (Fradet et al., Equation (5)): the level rises by d - 1 impacts before the last.
inline composite in_a_row(const composite& a, bytes d) {
  composite x;
  x.repetitions = a.repetitions / d;
  x.cost = {a.cost.peak + std::max<delta>(0, static_cast<delta>(d - 1) * a.cost.impact),
            static_cast<delta>(d) * a.cost.impact};
  x.body.append(a.body, d);
  return x;
}

/// c with d[a] firings of each actor a as one.
inline composite_graph grouped(const composite_graph& c, const std::vector<bytes>& d) {
  composite_graph g;
  g.base = c.base;
  for (std::size_t a = 0; a < c.actors.size(); ++a) g.actors.push_back(in_a_row(c.actors[a], d[a]));
  g.needs = c.needs;
  for (need& e : g.needs) e.produced *= d[e.from], e.consumed *= d[e.to];
  g.needs = binding(std::move(g.needs), g.actors);
  return g;
}

inline std::vector<bytes> repetitions_of(const composite_graph& c) {
  std::vector<bytes> q;
  for (const composite& a : c.actors) q.push_back(a.repetitions);
  return q;
}

/// Chooses, per actor, the number of firings that are made one: it starts at one each and grows along the divisors of the
/// repetitions.
class regrouper {
 public:
  regrouper(const composite_graph& c, bool as_printed)
      : c_(c), as_printed_(as_printed), d_(c.actors.size(), 1), version_(c.actors.size(), 0) {
    std::vector<std::pair<index_t, index_t>> in, out, succs;
    for (index_t i = 0; i < c.needs.size(); ++i) {
      in.emplace_back(c.needs[i].to, i);
      out.emplace_back(c.needs[i].from, i);
      succs.emplace_back(c.needs[i].from, c.needs[i].to);
    }
    const std::size_t n = c.actors.size();
    in_ = adjacency::from_pairs(n, in), out_ = adjacency::from_pairs(n, out);
    index_t parts = 0;
    part_ = components(adjacency::from_pairs(n, succs), parts);
    size_of_part_.assign(parts, 0);
    for (index_t p : part_) ++size_of_part_[p];
  }

  /// Returns false if no actor can be grouped any further.
  bool run(bytes most) {
    bytes firings = c_.firings();
    if (as_printed_) firings -= group_as_printed();
    for (index_t a = 0; a < d_.size(); ++a) queue(a);
    while (firings > most) {
      if (queue_.empty()) return false;
      const step s = queue_.top();
      queue_.pop();
      if (s.version != version_[s.actor]) continue;
      const bytes before = std::exchange(d_[s.actor], s.next);
      if (size_of_part_[part_[s.actor]] > 1 && !live()) {
        d_[s.actor] = before;
        queue_step(s.actor, s.next);  // a larger divisor is tried in its turn
        continue;
      }
      firings -= c_.actors[s.actor].repetitions / before - c_.actors[s.actor].repetitions / s.next;
      if (as_printed_) firings -= group_as_printed();
      queue(s.actor);
      for (index_t i : in_[s.actor]) queue(c_.needs[i].from);
      for (index_t i : out_[s.actor]) queue(c_.needs[i].to);
    }
    return true;
  }
  composite_graph result() const { return grouped(c_, d_); }

 private:
  struct step {
    delta score;
    index_t actor;
    bytes next;
    std::uint64_t version;
    friend bool operator<(const step& a, const step& b) {  // the least score first, then the smallest index
      return std::pair(a.score, a.actor) > std::pair(b.score, b.actor);
    }
  };

  static delta up(bytes s, bytes r) { return static_cast<delta>((s + r - 1) / r * r); }

  void queue(index_t a) { queue_step(a, d_[a]); }
  void queue_step(index_t a, bytes above) {
    const bytes q = c_.actors[a].repetitions;
    ++version_[a];
    const std::vector<bytes>& all = divisors_of(q);
    const auto next = std::upper_bound(all.begin(), all.end(), above);
    if (next != all.end()) queue_.push({score(a, *next), a, *next, version_[a]});
  }
  /// All divisors, or many of them if q is large.
  const std::vector<bytes>& divisors_of(bytes q) {
    const auto [known, fresh] = divisors_.try_emplace(q);
    if (fresh) known->second = divisors(q).all;
    return known->second;
  }
  /// Equation (6): tokens that A must produce for one firing of each successor, and predecessors for one of A, with `next`
  /// firings as one rather than as they are.
  delta score(index_t a, bytes next) const {
    delta sum = 0;
    for (index_t i : out_[a]) {
      const need& e = c_.needs[i];
      const bytes wanted = e.consumed * d_[e.to];
      sum += up(wanted, e.produced * next) - up(wanted, e.produced * d_[a]);
    }
    for (index_t i : in_[a]) {
      const need& e = c_.needs[i];
      const bytes batch = e.produced * d_[e.from];
      sum += up(e.consumed * next, batch) - up(e.consumed * d_[a], batch);
    }
    return sum;
  }
  /// Equation (4) as printed, for each actor in turn: the largest divisor of its repetitions that is no more than the
  /// firings that one firing of each predecessor enables and one of each successor needs. Returns how many firings vanish.
  bytes group_as_printed() {
    bytes fewer = 0;
    for (index_t a = 0; a < d_.size(); ++a) {
      const bytes q = c_.actors[a].repetitions;
      bytes most = q;
      for (index_t i : out_[a]) most = std::min(most, c_.needs[i].consumed * d_[c_.needs[i].to] / c_.needs[i].produced);
      for (index_t i : in_[a]) most = std::min(most, c_.needs[i].produced * d_[c_.needs[i].from] / c_.needs[i].consumed);
      const std::vector<bytes>& all = divisors_of(q);
      const auto above = std::upper_bound(all.begin(), all.end(), most);
      const bytes best = above == all.begin() ? 0 : *std::prev(above);
      if (best <= d_[a]) continue;
      const bytes before = std::exchange(d_[a], best);
      if (size_of_part_[part_[a]] > 1 && !live()) {
        d_[a] = before;
        continue;
      }
      fewer += q / before - q / best;
    }
    return fewer;
  }
  bool live() const {
    std::vector<need> needs = c_.needs;
    for (need& e : needs) e.produced *= d_[e.from], e.consumed *= d_[e.to];
    std::vector<bytes> q = repetitions_of(c_);
    for (std::size_t a = 0; a < q.size(); ++a) q[a] /= d_[a];
    return check_liveness(needs, q).verdict == life::live;
  }

  const composite_graph& c_;
  bool as_printed_;
  std::vector<bytes> d_;
  adjacency in_, out_;
  std::vector<index_t> part_, size_of_part_;
  std::vector<std::uint64_t> version_;
  std::priority_queue<step> queue_;
  std::map<bytes, std::vector<bytes>> divisors_;
};

}  // namespace detail

/// Options of `regroup`.
struct grouping {
  /// Equation (4) of Fradet et al. beside Equation (6), as in their Table 3. It does not look at how groups align and does
  /// NOT keep the smallest peak, though the paper says that it does: their qmf23_3d has 31, and 32 after it. `compress`
  /// has the rule (R) that keeps it.
  bool equation_4_as_printed = false;
};

/// c with at most `most_firings` firings, or with as few as can be: partial expansion (Fradet et al., section 8.2.2; Zaki et
/// al., Partial Expansion Graphs, 2012). While there are more, the actor of the least Equation (6) has the next larger
/// divisor of its repetitions of its firings made one, unless that stops a cycle. A schedule of the result is one of c, with
/// that peak; the smallest peak of the result may be larger, and a bound of it is none of c. O(firings that vanish) at most.
MEMSCHED_FUNCTION composite_graph regroup(const composite_graph& c, bytes most_firings, grouping how = {});

/// c with all firings of each actor in a row: its orders are the flat single-appearance schedules (section 8.2.1, with costs
/// by Equation (5)). `cycle` if there is none, as actors wait for each other; names(a) is how the error calls actor a.
template <class Names>
result<composite_graph> flat(const composite_graph& c, Names&& names) {
  composite_graph f = detail::grouped(c, detail::repetitions_of(c));
  const liveness l = check_liveness(f.needs, detail::repetitions_of(f));
  if (l.verdict == life::live) return f;
  graph_error e{error_code::cycle, "no flat schedule: all firings of ", {}, {}};
  for (const shortage& s : l.cycle) {
    e.message += (e.operators.empty() ? "" : ", which need some of ") + detail::quoted(names(f.needs[s.need].to));
    e.operators.push_back(f.needs[s.need].to);
  }
  if (!l.cycle.empty()) e.message += ", which need some of " + detail::quoted(names(f.needs[l.cycle.front().need].to));
  return e;
}
MEMSCHED_FUNCTION result<composite_graph> flat(const composite_graph& c);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

MEMSCHED_FUNCTION composite_graph regroup(const composite_graph& c, bytes most_firings, grouping how) {
  detail::regrouper r(c, how.equation_4_as_printed);
  r.run(most_firings);
  return r.result();
}

MEMSCHED_FUNCTION result<composite_graph> flat(const composite_graph& c) {
  return flat(c, [](index_t a) { return "actor " + std::to_string(a); });
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
