// Hierarchical graphs (Wang et al., HMCOS, section 3.1): operators in sequences, sequences in groups.
#pragma once

#include <cstddef>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/base/dominators.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/waists.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The extent to which operators are grouped: the configurations 1 to 4 of HMCOS's ablation (its Table 2).
enum class hierarchy_level : unsigned char {
  operators,  ///< each operator by itself
  sequences,  ///< operators in sequences
  cells,      ///< sequences in cells
  groups,     ///< cells rearranged into groups
};

/// Operators in sequences, sequences in groups; a value to build, inspect and draw (io/dot.hpp).
struct hierarchical_graph {
  schedule_graph graph;        ///< active node i is sequence i; it has the optimum of the graph that it was made of
  list_of<node_id> sequences;  ///< per active node, the nodes that it runs, in order
  std::vector<index_t> group;  ///< per active node; none if it is in no group
  list_of<node_id> groups;     ///< per group, its sequences, ascending; the graph of groups and other sequences has no cycle
};

/// The units of a graph after grouping: groups, and nodes that are in none.
struct hierarchy_units {
  std::vector<index_t> unit;  ///< per active node
  list_of<node_id> members;   ///< per unit, ascending
  adjacency preds, succs;     ///< among units, each once, ascending
};

/// Units are numbered by their lowest member. `group` may hold any numbers; none is no group. O(nodes + edges).
MEMSCHED_FUNCTION hierarchy_units make_units(const schedule_graph& h, const std::vector<index_t>& group);

/// The sequences of a graph, in a topological order: paths whose inner edges are the only ones of their ends, and in which
/// (Condition 1) the first node stands highest, and (Condition 2) no later node leaves more behind than it finds.
///
/// Credits and releases depend on the nodes that ran before. Condition 1 is asked of the lowest way in
/// which the first node can run against the highest of the others. Then running a sequence in one go keeps the optimum:
/// its later nodes, moved forward to the first one, are no new peak there, and everything later runs no higher.
MEMSCHED_FUNCTION list_of<node_id> find_sequences(const schedule_graph& g);

/// The graph whose active node i is sequence i, with the scope of its first node. O(nodes + edges).
MEMSCHED_FUNCTION schedule_graph join_sequences(const schedule_graph& g, const list_of<node_id>& sequences);

/// Cells of a graph that has none of its own; none if a node is in no cell. The graph is cut after its waists. In
/// each part, the nodes that a node post-dominates form a region that is left through this node alone; the largest regions
/// of 2 to `max_cell` nodes are the cells. No two regions of that kind overlap or run into each other in a cycle.
/// O(edges log nodes).
MEMSCHED_FUNCTION std::vector<index_t> find_cells(const schedule_graph& h, std::size_t max_cell);

/// The hierarchical graph of g. Cells are the caller's scopes, or those of `find_cells` if there are no scopes.
/// O(edges log nodes), and one small minimum cut for each output of a cell.
MEMSCHED_FUNCTION hierarchical_graph hierarchize(const schedule_graph& g, hierarchy_level level = hierarchy_level::groups,
                                                 std::size_t max_cell = 64);

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <memsched/base/closure.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace structure {

MEMSCHED_FUNCTION hierarchy_units make_units(const schedule_graph& h, const std::vector<index_t>& group) {
  hierarchy_units u;
  index_t units = 0;
  std::unordered_map<index_t, index_t> unit_of_group;
  std::vector<std::pair<index_t, node_id>> members;
  for (node_id v = 0; v < h.active; ++v) {
    const index_t unit = group[v] == none ? units : unit_of_group.try_emplace(group[v], units).first->second;
    units = std::max(units, unit + 1);
    u.unit.push_back(unit);
    members.emplace_back(unit, v);
  }
  u.members = list_of<node_id>::from_pairs(units, members);
  std::vector<index_t> before;
  for (index_t unit = 0; unit < units; ++unit) {
    before.clear();
    for (node_id v : u.members[unit])
      for (node_id p : h.preds[v])
        if (u.unit[p] != unit) before.push_back(u.unit[p]);
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (index_t b : before) u.preds.push(b);
    u.preds.close();
  }
  u.succs = base::transpose(u.preds, units);
  return u;
}

MEMSCHED_FUNCTION list_of<node_id> find_sequences(const schedule_graph& g) {
  list_of<node_id> sequences;
  std::vector<bool> taken(g.active, false);
  for (node_id head : g.topological_order()) {
    if (taken[head]) continue;
    sequences.push(head);
    delta lowest = g.cost[head].peak, level = g.cost[head].impact;
    for (const auto& c : g.credits[head]) lowest -= c.amount;
    for (node_id last = head; lowest >= g.cost[head].impact;) {
      const node_id next = detail::only_active(g, g.succs[last]);
      if (next == none || detail::only_active(g, g.preds[next]) == none) break;
      if (g.cost[next].impact > 0 || level + g.cost[next].peak > lowest) break;
      sequences.push(next);
      taken[next] = true;
      level += g.cost[next].impact;
      last = next;
    }
    sequences.close();
  }
  return sequences;
}

MEMSCHED_FUNCTION schedule_graph join_sequences(const schedule_graph& g, const list_of<node_id>& sequences) {
  schedule_graph h;
  h.active = sequences.size();
  h.base = g.base;
  std::vector<node_id> to(g.size());
  for (node_id i = 0; i < h.active; ++i)
    for (node_id v : sequences[i]) to[v] = i;
  for (std::size_t r = g.active; r < g.size(); ++r) to[r] = static_cast<node_id>(h.active + r - g.active);

  std::vector<std::pair<index_t, schedule_graph::credit>> credits;
  for (node_id i = 0; i < h.active; ++i) {
    const node_id first = sequences[i].front();
    node_cost c = g.cost[first];
    for (node_id v : sequences[i].subspan(1)) c.impact += g.cost[v].impact;
    h.cost.push_back(c);
    for (node_id p : g.preds[first]) h.preds.push(to[p]);
    h.preds.close();
    for (const auto& k : g.credits[first]) {
      const auto readers = g.preds[k.release];
      if (std::none_of(readers.begin(), readers.end(), [&](node_id r) { return r != first && to[r] == i; }))
        credits.emplace_back(i, schedule_graph::credit{to[k.release], k.amount});
    }
    if (!g.scope.empty()) h.scope.push_back(g.scope[first]);
  }
  std::vector<node_id> listed(h.active, none);  // the latest release that has the sequence in its list
  for (node_id r = static_cast<node_id>(g.active); r < g.size(); ++r) {
    h.cost.push_back(g.cost[r]);
    for (node_id reader : g.preds[r])
      if (std::exchange(listed[to[reader]], r) != r) h.preds.push(to[reader]);
    h.preds.close();
  }
  h.credits = list_of<schedule_graph::credit>::from_pairs(h.size(), credits);
  h.succs = base::transpose(h.preds, h.size());
  for (node_id v : g.roots) h.roots.push_back(to[v]);
  return h;
}

MEMSCHED_FUNCTION std::vector<index_t> find_cells(const schedule_graph& h, std::size_t max_cell) {
  std::vector<node_id> order = h.topological_order();
  std::vector<index_t> part(h.active), size(h.active, 1), cell(h.active, none);
  std::vector<bool> is_waist(h.active, false);
  for (node_id v : waists(h)) is_waist[v] = true;
  index_t parts = 0;
  for (node_id v : order) {
    part[v] = parts;
    if (is_waist[v]) ++parts;
  }
  std::reverse(order.begin(), order.end());
  const dominator_tree tree(h.succs, order);
  const auto above = [&](node_id v) {
    const node_id p = tree.parent(v);
    return p == tree.root() || part[p] != part[v] ? none : p;
  };
  for (std::size_t i = order.size(); i-- > 0;)
    if (const node_id p = above(order[i]); p != none) size[p] += size[order[i]];
  index_t cells = 0;
  for (node_id v : order) {
    const node_id p = above(v);
    if (p != none && cell[p] != none) cell[v] = cell[p];
    else if (size[v] >= 2 && size[v] <= max_cell) cell[v] = cells++;
  }
  return cell;
}

}  // namespace structure

namespace detail {

/// Steps 2 to 4 of section 3.1.2: finds nodes after the outputs of cells that are worth running with them.
class regrouping {
 public:
  /// `group` holds cells, numbered from 0.
  regrouping(const schedule_graph& h, std::vector<index_t>& group)
      : h_(h),
        group_(group),
        cell_(group),
        order_(h.topological_order()),
        tree_(h.preds, order_),
        accepted_(h.size(), 0),
        local_(h.size(), none) {
    for (node_id v : order_) {
      if (cell_[v] == none) continue;
      if (cell_[v] >= entry_.size()) entry_.resize(cell_[v] + 1, none);
      index_t& entry = entry_[cell_[v]];
      entry = entry == none ? v : tree_.nearest_common(entry, v);
    }
    next_ = static_cast<index_t>(entry_.size());
  }

  void run() {
    for (node_id v : order_)
      if (cell_[v] != none && group_[v] == cell_[v] && is_output(v)) extract(v);
  }

 private:
  bool is_output(node_id v) const {
    const auto next = h_.succs[v];
    return std::any_of(next.begin(), next.end(), [&](node_id s) { return !h_.is_release(s) && cell_[s] != cell_[v]; });
  }

  /// Whether x, after the output v, may be taken: a member of another cell, one that also starts elsewhere. A cell that
  /// v dominates wholly stays as it is; else all that follows the waist of an hourglass would be one group.
  bool may_take(node_id v, node_id x) const {
    const index_t c = cell_[x];
    return c != none && c != cell_[v] && group_[x] == c && !tree_.dominates(v, entry_[c]);
  }

  /// Takes nodes that the output v dominates into a group of their own: those with which the values that v and they
  /// leave behind are smallest, the most of them among equals. That is a minimum closure, since the predecessors of a
  /// node that v dominates are v or dominated by v.
  void extract(node_id v) {
    closure_.clear();
    members_.assign(1, v);
    met_.clear();
    for (std::size_t i = 0; i < members_.size(); ++i)
      for (node_id s : h_.succs[members_[i]]) {
        if (accepted_[s]++ == 0) met_.push_back(s);
        if (accepted_[s] == h_.preds[s].size() && (h_.is_release(s) || may_take(v, s))) add(s, v);
      }
    closure_.solve();
    std::vector<node_id> chosen;
    for (node_id x : members_)
      if (x != v && closure_.holds(local_[x])) chosen.push_back(x);
    if (chosen.size() >= 2) {
      for (node_id x : chosen) group_[x] = next_;
      ++next_;
    }
    for (node_id x : met_) accepted_[x] = 0, local_[x] = none;
  }

  void add(node_id x, node_id v) {
    local_[x] = closure_.add(h_.cost[x].impact);
    for (node_id p : h_.preds[x])
      if (p != v) closure_.add_arc(local_[p], local_[x]);
    if (!h_.is_release(x)) members_.push_back(x);
  }

  const schedule_graph& h_;
  std::vector<index_t>& group_;
  const std::vector<index_t> cell_;
  const std::vector<node_id> order_;
  const dominator_tree tree_;
  std::vector<index_t> entry_;  // per cell, the nearest vertex that dominates all of it
  std::vector<index_t> accepted_, local_;
  std::vector<node_id> members_, met_;
  closure_problem closure_;
  index_t next_ = 0;
};

/// Dissolves groups through which a cycle of units runs, and groups of one: a caller's scopes may be anything.
inline void dissolve_cycles(const schedule_graph& h, std::vector<index_t>& group) {
  const hierarchy_units u = make_units(h, group);
  std::vector<bool> reached(u.members.size(), false), reaches(u.members.size(), false);
  for (index_t i : base::topological_order(u.preds, u.succs)) reached[i] = true;
  for (index_t i : base::topological_order(u.succs, u.preds)) reaches[i] = true;
  for (node_id v = 0; v < h.active; ++v) {
    const index_t unit = u.unit[v];
    if ((!reached[unit] && !reaches[unit]) || u.members[unit].size() == 1) group[v] = none;
  }
}

/// Numbers groups from 0 by their lowest member.
inline list_of<node_id> number_groups(std::vector<index_t>& group) {
  std::unordered_map<index_t, index_t> number;
  std::vector<std::pair<index_t, node_id>> members;
  for (node_id v = 0; v < group.size(); ++v) {
    if (group[v] == none) continue;
    group[v] = number.try_emplace(group[v], static_cast<index_t>(number.size())).first->second;
    members.emplace_back(group[v], v);
  }
  return list_of<node_id>::from_pairs(number.size(), members);
}

}  // namespace detail
namespace structure {

MEMSCHED_FUNCTION hierarchical_graph hierarchize(const schedule_graph& g, hierarchy_level level, std::size_t max_cell) {
  hierarchical_graph h;
  if (level == hierarchy_level::operators) {
    for (node_id v : g.topological_order()) h.sequences.push(v), h.sequences.close();
  } else {
    h.sequences = find_sequences(g);
  }
  h.graph = join_sequences(g, h.sequences);
  h.group.assign(h.graph.active, none);
  if (level < hierarchy_level::cells) return h;
  h.group = h.graph.scope.empty() ? find_cells(h.graph, max_cell) : h.graph.scope;
  detail::number_groups(h.group);
  if (level == hierarchy_level::groups) detail::regrouping(h.graph, h.group).run();
  detail::dissolve_cycles(h.graph, h.group);
  h.groups = detail::number_groups(h.group);
  return h;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
