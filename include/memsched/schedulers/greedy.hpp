// List scheduling by memory freed.
#pragma once

#include <compare>
#include <queue>
#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {

/// Runs the ready node that serves memory best: first those that leave no more behind than they found, lowest peak
/// first; else the one with the largest drop from its peak (the order of independent tasks that is optimal, Fradet et
/// al., Property 10) or with the smallest growth. Ties go to the node that became ready last: depth before breadth.
/// O((nodes + edges) log nodes).
struct greedy {
  static constexpr bool is_baseline = true;
  enum class rule : unsigned char { drop, growth };
  rule prefer = rule::drop;

  solution operator()(const schedule_graph& g, search&) const {
    solution s;
    s.order.reserve(g.active);
    walk w(g);
    std::vector<bool> done(g.active, false);
    std::vector<index> version(g.active, 0);
    std::priority_queue<entry> ready;
    index clock = 0;
    const auto push = [&](node v) { ready.push(rank(w.effect(v), v, clock++, version[v])); };
    for (node v = 0; v < g.active; ++v)
      if (w.ready(v)) push(v);
    while (!ready.empty()) {
      const entry e = ready.top();
      ready.pop();
      if (done[e.v] || e.version != version[e.v]) continue;
      done[e.v] = true;
      s.order.push_back(e.v);
      w.fire(e.v, push);
      for (node r : g.succs[e.v]) {
        if (!g.is_release(r) || w.waits(r) != 1) continue;
        for (node last : g.preds[r])  // the one reader that is left frees the tensor
          if (!done[last]) {
            ++version[last];
            if (w.ready(last)) push(last);
          }
      }
    }
    return s;
  }

 private:
  struct entry {
    bool shrinks;
    delta first, second;  // larger is better
    index clock;
    node v;
    index version;
    auto operator<=>(const entry&) const = default;
  };
  entry rank(node_cost c, node v, index clock, index version) const {
    if (c.impact <= 0) return {true, -c.peak, -c.impact, clock, v, version};
    const delta drop = c.peak - c.impact;
    if (prefer == rule::drop) return {false, drop, -c.impact, clock, v, version};
    return {false, -c.impact, drop, clock, v, version};
  }
};

}  // namespace memsched
