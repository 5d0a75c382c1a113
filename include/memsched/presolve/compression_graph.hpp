// A schedule graph that can be changed: nodes merge, edges come and go, each in constant time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/random.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace presolve {

/// A smaller schedule graph, and the runs of nodes of the larger one that its nodes stand for.
struct compressed_graph {
  schedule_graph graph;
  std::vector<node_id> first;                ///< per node of `graph`: the node of the larger graph that it starts with
  std::vector<node_id> name;                 ///< likewise: the one into which `reductions` merge the others
  std::vector<node_id> next;                 ///< per node of the larger graph: the one that follows in the same run, or none
  std::size_t active = 0;                    ///< of the larger graph
  std::vector<proof::reduction> reductions;  ///< the rules that made it, on nodes of the larger graph

  /// An order of the larger graph's active nodes from one of `graph`'s. O(nodes + edges).
  std::vector<node_id> expand(const std::vector<node_id>& order) const {
    std::vector<node_id> whole;
    whole.reserve(active);
    const auto take = [&](node_id v) {
      for (node_id u = first[v]; u != none; u = next[u])
        if (u < active) whole.push_back(u);
    };
    std::vector<index_t> waits(graph.size());
    for (node_id v = 0; v < graph.size(); ++v) waits[v] = static_cast<index_t>(graph.preds[v].size());
    for (node_id v : order) {
      take(v);
      for (node_id s : graph.succs[v])  // a release may stand for nodes of the larger graph, too
        if (--waits[s] == 0 && graph.is_release(s)) take(s);
    }
    return whole;
  }
  /// An order of `graph` like one of the larger graph's active nodes: nodes run, as far as edges allow, in the order of the
  /// first of those that they stand for. O((nodes + edges) log nodes).
  std::vector<node_id> project(const std::vector<node_id>& order) const {
    std::vector<index_t> position(next.size(), 0);
    for (index_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    return list_schedule(graph, [&](const order_walk&, node_id v, index_t) { return std::pair(position[first[v]], v); });
  }
};

}  // namespace presolve

namespace detail {

/// The neighbours on one side: those that run later, or those that run earlier.
enum class side : unsigned char { later, earlier };
constexpr side mirror(side s) { return s == side::later ? side::earlier : side::later; }
inline constexpr std::array both_sides{side::later, side::earlier};

/// Everything here reads the same in both directions: seen from `side::earlier` the graph is its own mirror image, with
/// edges reversed, peaks and drops exchanged and impacts negated. So each of the rules is written once.
///
/// Two more nodes, a start and an end, are tied to sources and sinks. They and the nodes with a part in a credit are
/// `fixed`. A neighbour list's hash is a sum of random keys, so that equal lists are found without comparing them.
class compression_graph {
 public:
  explicit compression_graph(const schedule_graph& g)
      : g_(&g), nodes_(g.size() + 2), alive_count_(nodes_.size()), next_(g.size(), none) {
    edges_.reserve(g.preds.items() + g.size() / 8 + 2);
    for (node_id v = 0; v < g.size(); ++v) {
      nodes_[v].cost = g.cost[v];
      nodes_[v].first = nodes_[v].last = nodes_[v].name = v;
    }
    for (node_id v = 0; v < g.size(); ++v) {
      const auto before = g.preds[v];
      for (std::size_t i = before.size(); i-- > 0;) link(before[i], v);  // lists grow at the front
      if (before.empty()) link(start(), v);
      if (g.succs[v].empty()) link(v, end());
    }
    for (node_id v = 0; v < g.size(); ++v)
      for (const auto& c : g.credits[v]) {
        nodes_[c.release].fixed = true;
        for (node_id reader : g.preds[c.release]) nodes_[reader].fixed = true;
      }
    nodes_[start()].fixed = nodes_[end()].fixed = true;
  }

  /// Ids run below this until `pack` gives new ones; start and end are the last two.
  std::size_t size() const { return nodes_.size(); }
  node_id start() const { return static_cast<node_id>(nodes_.size() - 2); }
  node_id end() const { return static_cast<node_id>(nodes_.size() - 1); }
  bool alive(node_id v) const { return nodes_[v].alive; }
  std::size_t alive_count() const { return alive_count_; }
  bool fixed(node_id v) const { return nodes_[v].fixed; }
  /// Seen in the direction in which `s` comes later.
  node_cost cost(node_id v, side s) const {
    const node_cost c = nodes_[v].cost;
    return s == side::later ? c : node_cost{c.drop(), -c.impact};
  }

  index_t degree(node_id v, side s) const { return at(v, s).size; }
  std::uint64_t hash(node_id v, side s) const { return at(v, s).hash; }
  /// The neighbour at the front of a list that is not empty.
  node_id front(node_id v, side s) const { return edges_[at(v, s).first].end[index_of(s)]; }
  /// Calls f(edge, neighbour); f may unlink that edge.
  template <class F>
  void for_each(node_id v, side s, F&& f) const {
    for (index_t e = at(v, s).first; e != none;) {
      const index_t here = std::exchange(e, edges_[e].next[index_of(s)]);
      f(here, edges_[here].end[index_of(s)]);
    }
  }

  void link(node_id before, node_id after) { link(before, after, side::later); }
  /// Ties `to` to `from` at side s of `from`. The edge must be new.
  void link(node_id from, node_id to, side s) {
    index_t e = static_cast<index_t>(edges_.size());
    if (free_ != none) {
      e = std::exchange(free_, edges_[free_].next[0]);
    } else {
      edges_.emplace_back();
    }
    edges_[e].end[index_of(s)] = to;
    edges_[e].end[index_of(mirror(s))] = from;
    for (side t : both_sides) insert(e, t);
  }
  void unlink(index_t e) {
    for (side t : both_sides) remove(e, t);
    edges_[e].next[0] = std::exchange(free_, e);
  }

  /// Keeps a record of a rule that is applied to two nodes.
  void note(proof::reduction::rule by, node_id first, node_id second) {
    reductions_.push_back({by, nodes_[first].name, nodes_[second].name});
  }
  /// Makes one node of a and b, which then runs b right after a, and which `note` knows by the name of `named`, one of them.
  /// Returns its id, one of theirs.
  node_id merge(node_id a, node_id b, node_id named) {
    if (degree(a, side::later) <= degree(b, side::earlier)) unlink_between(a, b, side::later);
    else unlink_between(b, a, side::earlier);
    const auto links = [&](node_id v) { return degree(v, side::later) + degree(v, side::earlier); };
    const auto [gone, kept] = links(a) < links(b) ? std::pair(a, b) : std::pair(b, a);
    for (side s : both_sides) absorb(gone, kept, s);
    const record before = nodes_[a], behind = nodes_[b];
    const delta level = before.cost.impact;
    nodes_[kept].name = nodes_[named].name;
    nodes_[kept].cost = {std::max(before.cost.peak, level + behind.cost.peak), level + behind.cost.impact};
    next_[before.last] = behind.first;
    nodes_[kept].first = before.first;
    nodes_[kept].last = behind.last;
    nodes_[gone].alive = false;
    --alive_count_;
    for (side s : both_sides) touch(kept, s);
    return kept;
  }

  /// Leaves in `changed` the nodes with a new list at side s or a new cost since the last call; some may be dead.
  void take_changed(side s, std::vector<node_id>& changed) {
    changed.clear();
    changed.swap(changed_[index_of(s)]);
    for (node_id v : changed) nodes_[v].changed[index_of(s)] = false;
  }

  /// Gives the nodes that are alive the lowest ids, in the order of their old ones, and moves them and their edges together.
  /// All changes must have been taken. Returns the new id of each old one, none for the dead. O(nodes + edges).
  std::vector<node_id> pack();
  /// The nodes that are alive, start and end included, in a topological order towards s. O(they and their edges).
  std::vector<node_id> order(side s = side::later);
  /// The remaining nodes as a schedule graph. Nodes that may run by themselves become releases, if that takes few edges: the
  /// nodes after them wait for those before them instead. Such edges may be implied by others: `reduce` gets the nodes that
  /// they lead to, each once, and may drop some.
  compressed_graph finish(base::function_ref<void(const std::vector<node_id>&)> reduce) &&;

 private:
  struct edge {
    std::array<node_id, 2> end;         // [later], [earlier]
    std::array<index_t, 2> next, prev;  // in the list of end[1 - s] at side s
  };
  struct list {
    index_t first = none;
    index_t size = 0;
    std::uint64_t hash = 0;
  };
  /// All that is known of a node: a rule that looks at one reads one line of the cache.
  struct alignas(64) record {
    std::array<list, 2> lists;
    node_cost cost;
    node_id first = none, last = none;  // of the run of nodes of g that it stands for
    node_id name = none;                // in `reductions_`
    bool alive = true, fixed = false;
    std::array<bool, 2> changed{};
  };

  static constexpr std::size_t index_of(side s) { return static_cast<std::size_t>(s); }
  list& at(node_id v, side s) { return nodes_[v].lists[index_of(s)]; }
  const list& at(node_id v, side s) const { return nodes_[v].lists[index_of(s)]; }

  void touch(node_id v, side s) {
    if (std::exchange(nodes_[v].changed[index_of(s)], true)) return;
    changed_[index_of(s)].push_back(v);
  }
  /// Puts e into the list at side s of its other end.
  void insert(index_t e, side s) {
    const node_id owner = edges_[e].end[index_of(mirror(s))];
    list& l = at(owner, s);
    edges_[e].next[index_of(s)] = l.first;
    edges_[e].prev[index_of(s)] = none;
    if (l.first != none) edges_[l.first].prev[index_of(s)] = e;
    l.first = e;
    ++l.size;
    l.hash += random_source::at(edges_[e].end[index_of(s)]);
    touch(owner, s);
  }
  void remove(index_t e, side s) {
    const node_id owner = edges_[e].end[index_of(mirror(s))];
    list& l = at(owner, s);
    const index_t before = edges_[e].prev[index_of(s)], behind = edges_[e].next[index_of(s)];
    (before == none ? l.first : edges_[before].next[index_of(s)]) = behind;
    if (behind != none) edges_[behind].prev[index_of(s)] = before;
    --l.size;
    l.hash -= random_source::at(edges_[e].end[index_of(s)]);
    touch(owner, s);
  }
  void unlink_between(node_id from, node_id to, side s) {
    for_each(from, s, [&](index_t e, node_id w) {
      if (w == to) unlink(e);
    });
  }
  /// Hands the edges of `gone` at side s to `kept`, but for those that it has already.
  void absorb(node_id gone, node_id kept, side s) {
    for_each(gone, s, [&](index_t e, node_id w) {
      if (tied(kept, w, s)) return unlink(e);
      remove(e, s);
      edges_[e].end[index_of(mirror(s))] = kept;
      insert(e, s);
      at(w, mirror(s)).hash += random_source::at(kept) - random_source::at(gone);
      touch(w, mirror(s));
    });
  }
  /// Whether w is a neighbour of v at side s. Gives up on two long lists: an edge twice weakens the rules, no more.
  bool tied(node_id v, node_id w, side s) const {
    const bool turn = degree(v, s) > degree(w, mirror(s));
    const side t = turn ? mirror(s) : s;
    const auto [from, to] = turn ? std::pair(w, v) : std::pair(v, w);
    index_t left = 1024;
    for (index_t e = at(from, t).first; e != none && left > 0; e = edges_[e].next[index_of(t)], --left)
      if (edges_[e].end[index_of(t)] == to) return true;
    return false;
  }

  /// Whether v waits for others, needs no room and adds none: it may run by itself, right after the last of them.
  bool frees_at_once(node_id v) const;
  /// Makes the nodes after v wait for those before v instead; means the same if v runs by itself.
  void detach(node_id v);
  /// Makes a node wait for those of some others that it does not wait for yet.
  void link_new(const std::vector<node_id>& before, node_id after);
  /// The resources of the smaller graph's levels: `run_of` maps the larger graph's nodes to its own, of which those
  /// from `active` on run by themselves.
  std::vector<schedule_graph::resource> resources(const std::vector<node_id>& run_of, std::size_t active,
                                                  std::size_t size) const;

  const schedule_graph* g_;
  std::vector<record> nodes_;
  std::size_t alive_count_;
  std::vector<node_id> next_;  // links the nodes of each run
  std::vector<proof::reduction> reductions_;
  plain_vector<edge> edges_;
  index_t free_ = none;
  std::array<std::vector<node_id>, 2> changed_;
  std::vector<index_t> waits_;  // scratch of `order` and `link_new`, all 0
};

inline std::vector<node_id> compression_graph::pack() {
  std::vector<node_id> place(size(), none);
  plain_vector<precedence> edges;
  node_id kept = 0;
  for (node_id v = 0; v < size(); ++v)
    if (alive(v)) place[v] = kept++;
  for (node_id v = 0; v < size(); ++v)
    if (alive(v)) for_each(v, side::earlier, [&](index_t, node_id u) { edges.push_back({place[u], place[v]}); });
  for (node_id v = 0; v < size(); ++v) {
    if (!alive(v)) continue;
    nodes_[place[v]] = nodes_[v];
    nodes_[place[v]].lists = {};
  }
  nodes_.resize(kept);
  edges_.clear();
  free_ = none;
  for (std::size_t i = edges.size(); i-- > 0;) link(edges[i].before, edges[i].after);  // lists grow at the front
  std::vector<node_id> changed;
  for (side s : both_sides) take_changed(s, changed);
  return place;
}

inline std::vector<node_id> compression_graph::order(side s) {
  std::vector<node_id> order{s == side::later ? start() : end()};
  order.reserve(alive_count_);
  waits_.resize(size());
  for (std::size_t i = 0; i < order.size(); ++i)
    for_each(order[i], s, [&](index_t, node_id w) {
      if (waits_[w] == 0) waits_[w] = degree(w, mirror(s));
      if (--waits_[w] == 0) order.push_back(w);
    });
  return order;
}

inline bool compression_graph::frees_at_once(node_id v) const {
  if (nodes_[v].cost.peak != 0 || nodes_[v].cost.impact > 0 || (fixed(v) && !g_->is_release(nodes_[v].first))) return false;
  bool waits = true;
  for_each(v, side::earlier, [&](index_t, node_id u) { waits &= u != start(); });
  return waits;
}

inline void compression_graph::detach(node_id v) {
  std::vector<node_id> before, after;
  for_each(v, side::earlier, [&](index_t, node_id u) { before.push_back(u); });
  for_each(v, side::later, [&](index_t e, node_id w) {
    after.push_back(w);
    unlink(e);
  });
  for (node_id w : after)
    if (w != end()) link_new(before, w);
  link(v, end());
}

/// Looks through the list of `after`, which is long if many nodes were detached from it, or through shorter ones of `before`.
inline void compression_graph::link_new(const std::vector<node_id>& before, node_id after) {
  std::size_t others = 0;
  for (node_id u : before) others += degree(u, side::later);
  const bool many = others >= degree(after, side::earlier);
  const auto mark = [&](index_t m) { for_each(after, side::earlier, [&](index_t, node_id u) { waits_[u] = m; }); };
  if (many) mark(1);
  for (node_id u : before)
    if (many ? waits_[u] == 0 : !tied(u, after, side::later)) link(u, after);
  if (many) mark(0);
}

/// A resource that a node that runs by itself passes on to one after it, which does not wait for it any more, is room that
/// it was handed: it takes no more than it frees. So that room counts as passed on directly.
inline std::vector<schedule_graph::resource> compression_graph::resources(const std::vector<node_id>& run_of,
                                                                          std::size_t active, std::size_t size) const {
  std::vector<schedule_graph::resource> found;
  std::vector<plain_vector<schedule_graph::resource>> from(size - active), to(size - active);
  const auto put = [&](const schedule_graph::resource& r) {
    if (r.from != none && r.from >= active) from[r.from - active].push_back(r);
    else if (r.to != none && r.to >= active) to[r.to - active].push_back(r);
    else found.push_back(r);
  };
  const auto place = [&](node_id v) { return v == none ? none : run_of[v]; };
  for (const auto& r : g_->resources)
    if (const schedule_graph::resource mapped{place(r.from), place(r.to), r.size};
        mapped.from != mapped.to || r.from == none)
      put(mapped);
  for (std::size_t v = 0; v < from.size(); ++v) {
    for (auto out : from[v])
      while (out.size > 0 && !to[v].empty()) {
        auto& in = to[v].back();
        const bytes moved = std::min(in.size, out.size);
        put({in.from, out.to, moved});
        in.size -= moved, out.size -= moved;
        if (in.size == 0) to[v].pop_back();
      }
    found.insert(found.end(), to[v].begin(), to[v].end());
  }
  return found;
}

inline compressed_graph compression_graph::finish(base::function_ref<void(const std::vector<node_id>&)> reduce) && {
  std::vector<node_id> nodes = order(), changed;
  std::erase_if(nodes, [&](node_id v) { return v == start() || v == end(); });
  plain_vector<bool> runs_itself(size(), false);
  for (node_id v : nodes) {
    const std::size_t before = degree(v, side::earlier), after = degree(v, side::later);
    if (!frees_at_once(v) || before * after > 2 * (before + after)) continue;
    for_each(v, side::later, [&](index_t, node_id w) {
      if (w != end()) changed.push_back(w);
    });
    detach(v);
    runs_itself[v] = true;
  }
  std::stable_partition(nodes.begin(), nodes.end(), [&](node_id v) { return !runs_itself[v]; });
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  reduce(changed);

  compressed_graph c;
  c.active = g_->active;
  c.next = std::move(next_);
  c.reductions = std::move(reductions_);
  std::vector<node_id> place(size(), none), tied_to(nodes.size(), none), run_of;
  for (node_id i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  if (!g_->roots.empty() || g_->credits.items() > 0 || !g_->resources.empty()) {
    run_of.assign(g_->size(), none);
    for (node_id v : nodes)
      for (node_id u = nodes_[v].first; u != none; u = c.next[u]) run_of[u] = place[v];
  }
  c.graph.base = g_->base;
  for (node_id v : nodes) {
    c.first.push_back(nodes_[v].first);
    c.name.push_back(nodes_[v].name);
    c.graph.active += !runs_itself[v];
    c.graph.cost.push_back(nodes_[v].cost);
    for_each(v, side::earlier, [&](index_t, node_id u) {
      if (u != start() && std::exchange(tied_to[place[u]], v) != v) c.graph.preds.push(place[u]);
    });
    c.graph.preds.close();
    if (fixed(v))  // a node that lost its edge to a release by reduction is never the last that it waits for
      for (const auto& k : g_->credits[nodes_[v].first])
        if (const node_id r = run_of[k.release]; tied(v, nodes[r], side::later)) c.graph.credits.push({r, k.amount});
    c.graph.credits.close();
  }
  c.graph.succs = base::transpose(c.graph.preds, c.graph.size());
  c.graph.resources = resources(run_of, c.graph.active, c.graph.size());
  plain_vector<bool> is_root(nodes.size(), false);
  for (node_id root : g_->roots)
    if (const node_id v = run_of[root]; v < c.graph.active && !is_root[v]) is_root[v] = true, c.graph.roots.push_back(v);
  return c;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
