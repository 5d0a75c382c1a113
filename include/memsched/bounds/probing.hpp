// Probing: precedence that every order below a peak must keep, found by minimum cuts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/crew.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/inquiry.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// g with more edges. An edge from a release is drawn from its readers, after the last of which it runs.
/// O(nodes + edges).
inline schedule_graph with_edges(const schedule_graph& g, std::span<const precedence> edges) {
  plain_vector<std::pair<index_t, node_id>> all;  // (node, its predecessor)
  for (node_id v = 0; v < g.size(); ++v)
    for (node_id u : g.preds[v]) all.emplace_back(v, u);
  for (const precedence& e : edges) {
    if (!g.is_release(e.before)) all.emplace_back(e.after, e.before);
    else
      for (node_id reader : g.preds[e.before]) all.emplace_back(e.after, reader);
  }
  const adjacency repeated = adjacency::from_pairs(g.size(), all);
  schedule_graph h = g;
  h.preds = {};
  std::vector<node_id> last(g.size(), none);
  for (node_id v = 0; v < g.size(); ++v) {
    for (node_id u : repeated[v])
      if (std::exchange(last[u], v) != v) h.preds.push(u);
    h.preds.close();
  }
  h.succs = base::transpose(h.preds, g.size());
  return h;
}

/// Derives, for a peak B, edges that all orders with a peak of at most B keep, or that there is no such order.
///
/// When v runs, a set E has run with v's ancestors and without v and its descendants, and level(E) plus v's
/// peak is at most B. If every such E that holds u is too high, v runs before u; if every such E without u is, u
/// runs before v. Sets that are low enough (witnesses) answer both questions for many u at once, so that few minimum
/// cuts are needed. Polynomial; edges narrow further sets, until nothing changes.
///
/// Nodes are asked about in groups, the members of which do not see each other's edges: these are added after the group,
/// member by member. So threads that share a group find the same as one. (If two members order the same two nodes both
/// ways, the first counts. Then B is refuted all the same, when the second is asked about again.)
class prober {
 public:
  using outcome = probing_outcome;

  /// `reuse`: sets answer further questions, as they are and changed a little, before a cut does. `delays`: releases may be
  /// delayed, as in a certificate; else an edge to a release concerns the last of its readers, which says more.
  explicit prober(const schedule_graph& g, bool reuse = true, bool delays = false)
      : reuse_(reuse),
        order_(g, delays),
        known_(g.active, knowledge{detail::witness_sets(g.size())}),
        cuts_{lowest_set(g)} {}

  /// Tells `go_on` of each minimum cut; once that returns false, another call resumes. Later calls must not raise b, since
  /// edges found for one peak hold for lower ones only. Helpers change neither the answer nor the cuts that `go_on` counts.
  outcome run(bytes b, cut_counter go_on, const helpers& who = {}) {
    if (bound_ != static_cast<delta>(b)) next_ = std::numeric_limits<delta>::max();
    bound_ = static_cast<delta>(b);
    for (std::vector<node_id> group = tightest(); !group.empty(); group = tightest())
      if (const outcome o = ask(group, go_on, who); o != outcome::open) return o;
    return outcome::open;
  }

  /// Whether the graph and the edges so far run u before v.
  bool ordered(node_id u, node_id v) const { return order_.ordered(u, v); }
  const detail::known_order& order() const { return order_; }
  /// Takes an edge between nodes that are not ordered for granted: facts derived from there on hold for orders that keep
  /// it.
  void assume(const precedence& e) { add_edge(e); }
  /// Adds an edge between nodes that are not ordered, which all orders with a peak below `next` keep.
  void learn(const precedence& e, bytes next) {
    next_ = std::min(next_, static_cast<delta>(next));
    add_edge(e);
  }
  /// The order that two probers share beyond this one's; one took an edge for granted, the other its reverse. O(nodes^2).
  plain_vector<precedence> common(const prober& one, const prober& other) const {
    plain_vector<precedence> shared;
    for (node_id u = 0; u < graph().size(); ++u)
      for_each_bit(
          detail::minus(detail::intersection(order_.copy(one.order_.descendants()[u]), other.order_.descendants()[u]),
                        order_.descendants()[u]),
          [&](std::size_t v) {
            if (u < graph().active || v < graph().active) shared.push_back({u, static_cast<node_id>(v)});
          });
    return shared;
  }
  /// The least that the nodes of an edge take if it is kept, under the edges so far: level plus peak, bytes. They are not
  /// ordered, one at least is no release, and they have been probed. At most two minimum cuts; nothing
  /// if `count` returns false.
  std::optional<delta> height(const precedence& e, cut_counter count) {
    delta most = 0;
    for (const bool inside : {true, false}) {
      const auto [v, u] = inside ? std::pair(e.after, e.before) : std::pair(e.before, e.after);
      if (v >= graph().active) continue;
      const std::optional<delta> least = about(v).height(known_[v], cuts_.front(), u, inside, count);
      if (!least) return std::nullopt;
      most = std::max(most, *least);
    }
    return most;
  }
  /// An upper bound of `height` from facts at hand, without a cut.
  delta known_height(const precedence& e) const {
    const auto of = [&](node_id v, node_id u, bool inside) {
      return v < graph().active ? known_[v].witnesses.lowest(u, inside).value_or(0) : 0;
    };
    return std::max<delta>({0, of(e.after, e.before, true), of(e.before, e.after, false)});
  }

  const schedule_graph& graph() const { return order_.graph(); }
  /// The peak that `run` was last called with. Bytes.
  bytes bound() const { return static_cast<bytes>(bound_); }
  /// Edges derived so far; none is implied by the graph and those before it.
  const plain_vector<precedence>& edges() const { return edges_; }
  /// After a refutation: no peak from b to below this is reached either. Bytes.
  bytes next() const { return static_cast<bytes>(next_); }
  /// After a refutation: the node that every set in which it can run is too high for.
  node_id refuted_at() const { return refuted_at_; }
  /// Memory of its sets, as of the last group.
  std::uint64_t bytes_held() const { return held_; }

 private:
  using knowledge = detail::node_knowledge;
  using inquiry = detail::inquiry;
  static constexpr std::size_t group_size = 8;

  /// A group of the nodes with open questions that have the least room under B: these find most edges, and refute soonest.
  /// Nodes of which the room is not known come first.
  std::vector<node_id> tightest() {
    plain_vector<std::pair<delta, node_id>> heights;
    for (node_id v = 0; v < graph().active; ++v) {
      knowledge& k = known_[v];
      k.keep_legal(v, bound_, edges_);
      if (!k.answered) heights.emplace_back(-k.least, v);
    }
    const auto end = heights.begin() + static_cast<std::ptrdiff_t>(std::min(group_size, heights.size()));
    std::partial_sort(heights.begin(), end, heights.end());
    std::vector<node_id> group;
    for (auto h = heights.begin(); h != end; ++h) group.push_back(h->second);
    return group;
  }

  inquiry about(node_id v) const { return {order_, v, bound_, reuse_}; }

  /// Asks about a group of nodes.
  outcome ask(const std::vector<node_id>& group, cut_counter go_on, const helpers& who) {
    std::vector<inquiry> inquiries;
    for (node_id v : group) inquiries.push_back(about(v)), held_ -= known_[v].witnesses.bytes_held();
    const bool together = who.team != nullptr && group.size() > 1;
    const outcome result = together ? ask_together(inquiries, go_on, who) : ask_alone(inquiries, go_on);
    for (const inquiry& q : inquiries) take(q), held_ += known_[q.node()].witnesses.bytes_held();
    return result;
  }
  /// One by one, up to one that is refuted or stopped.
  outcome ask_alone(std::vector<inquiry>& inquiries, cut_counter go_on) {
    for (inquiry& q : inquiries)
      if (const auto o = q.run(known_[q.node()], cuts_.front(), go_on); o != outcome::open) return ended_at(q.node(), o);
    return outcome::open;
  }
  /// The same with helpers: each on a copy of the facts; then `go_on` is told of the cuts that those took. An inquiry that it
  /// would have stopped is asked again, so far.
  outcome ask_together(std::vector<inquiry>& inquiries, cut_counter go_on, const helpers& who) {
    while (cuts_.size() < who.team->size()) cuts_.emplace_back(graph());
    struct attempt {
      knowledge known;
      std::vector<std::uint64_t> cuts{};  ///< nodes and edges that each visited
      outcome result = outcome::stopped;
    };
    std::vector<attempt> trials;
    std::vector<inquiry> asked;
    for (const inquiry& q : inquiries) trials.push_back({known_[q.node()]}), asked.push_back(q);
    std::atomic<std::size_t> last = trials.size();  // inquiries after one that is not open do not count
    who.team->run(trials.size(), [&](std::size_t i, std::size_t member) {
      if (i > last) return;
      attempt& t = trials[i];
      const auto count = [&](std::uint64_t visits) { return t.cuts.push_back(visits), i <= last && !who.over(); };
      t.result = asked[i].run(t.known, cuts_[member], count);
      if (t.result == outcome::open) return;
      for (std::size_t l = last; i < l && !last.compare_exchange_weak(l, i);) {
      }
    });
    for (std::size_t i = 0; i < trials.size(); ++i) {
      std::size_t granted = 0;
      while (granted < trials[i].cuts.size() && go_on(trials[i].cuts[granted])) ++granted;
      if (granted < trials[i].cuts.size())
        return ended_at(inquiries[i].node(),
                        inquiries[i].run(known_[inquiries[i].node()], cuts_.front(), [&](auto) { return granted-- > 0; }));
      known_[inquiries[i].node()] = std::move(trials[i].known);
      inquiries[i] = std::move(asked[i]);
      if (trials[i].result != outcome::open) return ended_at(inquiries[i].node(), trials[i].result);
    }
    return outcome::open;
  }
  outcome ended_at(node_id v, outcome o) {
    if (o == outcome::refuted) refuted_at_ = v;
    return o;
  }
  /// Adds the findings of an inquiry. All of its edges are of one node, and so are their consequences (see `inquiry`): they
  /// are ordered at once.
  void take(const inquiry& q) {
    next_ = std::min(next_, q.next());
    if (q.findings().empty()) return;
    const node_id v = q.node();
    bit_set earlier = order_.copy(order_.ancestors()[v]), later = order_.copy(order_.descendants()[v]);
    for (const auto& [edge, derived] : q.findings()) {
      const bool before = edge.after == v;
      const node_id u = before ? edge.before : edge.after;
      if (earlier[u] || later[u]) continue;
      if (derived) edges_.push_back(edge), order_.link(edge);
      before ? unite_bits(earlier, order_.above(u)) : unite_bits(later, order_.below(u));
    }
    order_.order(earlier, v, later);
    for (const auto& [edge, derived] : q.findings())
      if (derived && edge.before == v) order_.keep_nearest(edge.after);
    order_.keep_nearest(v);
  }

  void add_edge(const precedence& e) {
    edges_.push_back(e);
    order_.add(e);
  }

  bool reuse_;
  detail::known_order order_;
  std::vector<knowledge> known_;
  plain_vector<precedence> edges_;
  std::vector<lowest_set> cuts_;  // working memory of each thread
  delta bound_ = -1, next_ = 0;
  node_id refuted_at_ = none;
  std::uint64_t held_ = 0;
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
