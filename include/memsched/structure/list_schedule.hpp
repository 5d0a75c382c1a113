// List scheduling: the ready node with the smallest key, again and again.
#pragma once

#include <algorithm>
#include <numeric>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// An order that runs, of the ready nodes, the one with the smallest key(w, v, age): w is the walk so far, and ages grow as
/// nodes become ready. Keys must differ. A key may depend on `w.effect(v)`: that changes for a ready node only if
/// a release waits for it alone, and then its key is asked again, with a new age. Once `go_on()`, asked every
/// 2^16 nodes, is false, nodes run in a topological order.
/// O((nodes + edges) log nodes) keys at most.
template <class Key, class GoOn>
std::vector<node_id> list_schedule(const schedule_graph& g, Key key, GoOn&& go_on) {
  struct entry {
    std::invoke_result_t<Key&, const order_walk&, node_id, index_t> key;
    node_id v;
    index_t version;
    bool operator<(const entry& other) const { return other.key < key; }  // the queue's top is its largest
  };
  std::vector<node_id> order;
  order.reserve(g.active);
  order_walk w(g);
  plain_vector<bool> done(g.active, false);
  std::vector<index_t> version(g.active, 0);
  std::priority_queue<entry> ready;
  plain_vector<std::pair<node_id, index_t>> changed;  // readers that a node leaves alone, and their versions
  index_t age = 0;
  const auto push = [&](node_id v) { ready.push({key(w, v, age++), v, version[v]}); };
  for (node_id v = 0; v < g.active; ++v)
    if (w.ready(v)) push(v);
  while (!ready.empty()) {
    const entry e = ready.top();
    ready.pop();
    if (done[e.v] || e.version != version[e.v]) continue;
    done[e.v] = true;
    order.push_back(e.v);
    w.fire(e.v, push);
    changed.clear();
    for (node_id r : g.succs[e.v]) {
      if (!g.is_release(r) || w.waits(r) != 1) continue;
      for (node_id last : g.preds[r])  // the one reader that is left frees the tensor
        if (!done[last]) changed.emplace_back(last, ++version[last]);
    }
    for (const auto& [last, latest] : changed)  // once for all the tensors that it is left alone with
      if (version[last] == latest && w.ready(last)) push(last);
    if ((order.size() & 0xffff) == 0 && !go_on()) break;
  }
  if (order.size() < g.active)
    for (node_id v : g.topological_order())
      if (!done[v]) order.push_back(v);
  return order;
}
template <class Key>
std::vector<node_id> list_schedule(const schedule_graph& g, Key key) {
  return list_schedule(g, std::move(key), [] { return true; });
}

/// The order in which the caller lists the operators, if that is one: always the lowest index that is ready.
/// O(nodes + edges) if it is one, else O((nodes + edges) log nodes).
inline std::vector<node_id> given_order(const schedule_graph& g) {
  std::vector<node_id> order(g.active);
  std::iota(order.begin(), order.end(), node_id{0});
  const auto follows = [&](node_id v) {
    return std::all_of(g.preds[v].begin(), g.preds[v].end(), [&](node_id u) { return u < v; });
  };
  if (std::all_of(order.begin(), order.end(), follows)) return order;
  return list_schedule(g, [](const order_walk&, node_id v, index_t) { return v; });
}

}  // namespace structure
}  // namespace MEMSCHED_ABI
}  // namespace memsched
