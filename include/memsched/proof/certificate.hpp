// Certificates: data that makes a lower bound checkable.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace proof {

/// Bytes that a flow carries from a node to one of its successors.
struct flow_arc {
  node_id from = none, to = none;
  delta amount = 0;
  auto operator<=>(const flow_arc&) const = default;
};

/// A rule of compression (Fradet et al., section 4): some order with the smallest peak runs `first` right before `second`
/// (C1, C2: one node from then on, `second` or `first`; the other stays as one that costs nothing) or somewhere before it
/// (S1, S2).
struct reduction {
  enum class rule : unsigned char { c1, c2, s1, s2 };
  rule by = rule::c1;
  node_id first = none, second = none;
  auto operator<=>(const reduction&) const = default;
};

/// A node of a layer, and the flow that shows how much it takes if it runs first of them, or last. Without a flow if it
/// cannot.
struct layer_member {
  node_id v = none;
  std::vector<flow_arc> flow{};  ///< ascending
  bool operator==(const layer_member&) const = default;
};

/// A fact about positions. Nodes that take memory while they run are counted; E(k) is the set of nodes that have run before
/// counted node number k, from 0, and the last E is all. The flow, with the price on each counted node, shows that E(k) has
/// `level` or more if it holds v (`inside`), or lacks it; or in any case. In orders with a smaller peak, then, v is in no E up
/// to E(k), or in E(k) and all after it; or there is no such order.
struct position_fact {
  index_t k = 0;
  node_id v = none;  ///< none if it is about E(k) in any case
  bool inside = false;
  delta price = 0;               ///< in parts of a byte, `parts` to one, as are the amounts of the flow
  std::vector<flow_arc> flow{};  ///< ascending
  bool operator==(const position_fact&) const = default;
  static constexpr delta parts = 64;
};

/// A step of a proof: a cut, two cases, a layer, or positions. Its claim holds in the graph with the reductions and the edges
/// of those before.
///
/// A cut states the least memory in use while v runs, were it not for the order that it derives. By then a set E has run,
/// with all that v waits for and nothing that waits for v. Any E takes `level` at least if, moreover,
/// * it holds `other`, which shows that every order with a smaller peak runs v before `other` (`v_first`), or
/// * it lacks `other`, which shows that every order with a smaller peak runs `other` before v, or
/// * there is no `other`, which shows that no order has a smaller peak.
/// The flow proves it: it balances the bytes that nodes add against those that their successors free. In it, size + i stands
/// for the i-th credit of v, a successor of the nodes that must have run for v to have it.
///
/// Two cases: every order runs v before `other`, and keeps the claims of the steps of `then` for such orders, or `other`
/// before v, and keeps those of `otherwise`. Steps may end in showing that there is no such order with a small peak;
/// if both do, the proof ends. Else there is one that keeps `edges`, which follow in each case that was not refuted.
///
/// A layer: one of some nodes runs first (`v_first`), or last. Before the first, its ancestors have run and none of the
/// layer nor of their descendants; before the last, all others have run with their ancestors, and no descendant of the last.
/// The flows show that the first, or the last, takes at least `level`, whichever it is: no order has a smaller peak.
///
/// Positions: facts, each under those before it, about the graph as it is. They show `edges`, or that a node has no
/// position: then there are no edges, and no order has a peak below `level`.
struct proof_step {
  node_id v = none, other = none;
  bool v_first = false;                 ///< of a layer: whether it is about the first member, not the last
  bytes level = 0;                      ///< 0 for two cases
  std::vector<flow_arc> flow{};         ///< ascending
  std::vector<reduction> reductions{};  ///< that come before the step
  bool cases = false;                   ///< whether the step is two cases, not a cut
  std::vector<proof_step> then{}, otherwise{};
  std::vector<precedence> edges{};
  std::vector<layer_member> layer{};       ///< not empty if the step is a layer; by ascending nodes
  std::vector<position_fact> positions{};  ///< not empty if the step is about positions
  bool operator==(const proof_step& s) const {
    return v == s.v && other == s.other && v_first == s.v_first && level == s.level && flow == s.flow &&
           reductions == s.reductions && cases == s.cases && then == s.then && otherwise == s.otherwise &&
           edges == s.edges && layer == s.layer && positions == s.positions;
  }
};

/// The nodes that are no events of a family (docs/proofs.md, section 6): *folded* ones run together with another node; *light*
/// ones add memory, and take at most `most_light` more while they run than there is after them.
struct event_model {
  bytes most_light = 0;
  std::vector<precedence> folded{};  ///< each `before` runs together with its `after`
  bool operator==(const event_model&) const = default;
};

/// Sets of nodes that no order with a peak below `level` leaves: such an order would run through one of them, and from each
/// of them through a larger one, but none holds all nodes. A set is grown: the set before it, one more node with all
/// that it waits for, and then all idle nodes that are ready, again and again (idle nodes, and why they may:
/// docs/proofs.md, sections 5 and 6). The first set, number 0, is grown from nothing; `sets` are the others, numbered from
/// 1.
struct set_family {
  struct grown_set {
    index_t from = 0;  ///< the number of a set before it
    node_id by = none;
    auto operator<=>(const grown_set&) const = default;
  };
  bytes level = 0;
  bool mirrored = false;                ///< whether the sets are of the mirror image: nodes that run last, last things first
  std::vector<reduction> reductions{};  ///< that come before it
  std::optional<event_model> events{};  ///< if set, sets grow by events
  std::vector<grown_set> sets{};
  bool operator==(const set_family&) const = default;
};

/// A window of an order as a graph of its own, with a bound that is one of the whole (docs/proofs.md, section 7). Its nodes
/// lie between two sets that can have run: D0, and D0 with `nodes`. Its graph has those nodes, as they are listed:
/// operators, then, if D0 is not empty, one that takes and keeps `lift` bytes and comes before `behind`; if D0 and
/// `nodes` are not all, one that frees them and comes after `ahead`; then releases. `behind` and `ahead` are places in
/// `nodes`.
struct proof_window {
  struct range {
    node_id first = 0, last = 0;  ///< the last one is not in it
    auto operator<=>(const range&) const = default;
  };
  std::vector<range> before{};  ///< D0, ascending
  std::vector<node_id> nodes{};
  std::vector<index_t> behind{}, ahead{};
  bytes lift = 0;
  bytes slack = 0;  ///< bytes live at the ends: makers of them need not run before `behind`, or freers after `ahead`
  bool operator==(const proof_window&) const = default;
};

}  // namespace proof

/// A proof that no order has a peak below `bound`, the lowest level of the steps and the family. Each step holds in the graph
/// with the reductions and the order of those before it, and so does the family, which ends the proof. If there is no family,
/// the last step ends it: a cut without `other`, a layer, or two cases that are both refuted. Without either: the level at the
/// start or the end. If there is a window, all of that is about its graph, and `bound` is that graph's less the lift
/// and the slack.
struct certificate {
  bytes bound = 0;
  std::vector<proof::proof_step> steps{};
  std::optional<proof::set_family> family{};
  std::optional<proof::proof_window> window{};
  bool operator==(const certificate&) const = default;
};

namespace proof {

/// A certificate takes no more bytes than this as text (formats/certificate.hpp).
MEMSCHED_FUNCTION std::size_t text_size(const certificate& c);

}  // namespace proof
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace proof {

constexpr std::size_t digits(bytes n) {
  std::size_t count = 1;
  for (; n > 9; n /= 10) ++count;
  return count;
}

inline std::size_t text_size(const std::vector<reduction>& list) {
  std::size_t size = 20;
  for (const reduction& r : list) size += 10 + digits(r.first) + digits(r.second);
  return size;
}

inline std::size_t text_size(const std::vector<flow_arc>& flow) {
  std::size_t size = 0;
  for (const flow_arc& a : flow) size += 5 + digits(a.from) + digits(a.to) + digits(static_cast<bytes>(a.amount));
  return size;
}

inline std::size_t text_size(const std::vector<proof_step>& steps) {
  std::size_t size = 0;
  for (const proof_step& s : steps) {
    size += 90 + digits(s.v) + digits(s.other) + digits(s.level) + text_size(s.reductions);
    size += text_size(s.flow);
    for (const layer_member& m : s.layer) size += 20 + digits(m.v) + text_size(m.flow);
    for (const position_fact& x : s.positions)
      size += 50 + digits(x.k) + digits(x.v) + digits(static_cast<bytes>(std::abs(x.price))) + text_size(x.flow);
    for (const precedence& e : s.edges) size += 4 + digits(e.before) + digits(e.after);
    size += text_size(s.then) + text_size(s.otherwise);
  }
  return size;
}

MEMSCHED_FUNCTION std::size_t text_size(const certificate& c) {
  std::size_t size = 40 + digits(c.bound) + text_size(c.steps);
  if (c.family) {
    size += 60 + digits(c.family->level) + text_size(c.family->reductions);
    for (const auto& [from, by] : c.family->sets) size += 4 + digits(from) + digits(by);
    if (c.family->events) {
      size += 50 + digits(c.family->events->most_light);
      for (const precedence& e : c.family->events->folded) size += 4 + digits(e.before) + digits(e.after);
    }
  }
  if (c.window) {
    size += 90 + digits(c.window->lift) + digits(c.window->slack);
    for (const auto& [first, last] : c.window->before) size += 4 + digits(first) + digits(last);
    for (const auto* list : {&c.window->nodes, &c.window->behind, &c.window->ahead})
      for (index_t v : *list) size += 1 + digits(v);
  }
  return size;
}

}  // namespace proof
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
