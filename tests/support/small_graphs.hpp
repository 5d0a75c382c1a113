// Small random graphs under all memory models, and what is known of them by trying everything.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/search/downsets.hpp>
#include <utility>
#include <vector>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

namespace support {

using namespace memsched;

/// The number of seeds that a law tries.
inline const std::uint64_t cases = seeds(3000);

inline std::vector<options> models() {
  return {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}};
}

/// Calls f(graph, context, optimum) for random graphs of 10 operators under all models.
template <class F>
void for_small_graphs(std::uint64_t seeds, F&& f) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(random_problem(seed, {.operators = 10}), o.model());
      search context(o);
      INFO("seed " << seed);
      f(g, context, exhaustive{}(g, context).lower_bound);
    }
}

/// The number of orders with a peak of at most b.
inline double orders_within(const schedule_graph& g, bytes b) {
  std::map<std::vector<base::bit_word>, double> known;
  const auto from = [&](const auto& self, const base::bit_set& ran, delta level) -> double {
    const base::const_bit_row row = ran;
    if (base::count_bits(row) == g.active) return 1;
    std::vector<base::bit_word> key(row.begin(), row.end());
    if (const auto found = known.find(key); found != known.end()) return found->second;
    double sum = 0;
    for (node_id v = 0; v < g.active; ++v) {
      const auto before = g.preds[v];
      if (ran[v] || !std::all_of(before.begin(), before.end(), [&](node_id u) { return ran[u]; })) continue;
      detail::downset_stepper step(g);
      step.start(row, level);
      step.run(v);
      if (step.peak() > static_cast<delta>(b)) continue;
      base::bit_set next = ran;
      next.insert(v);
      sum += self(self, next, step.level());
    }
    return known[std::move(key)] = sum;
  };
  return g.base > b ? 0 : from(from, base::bit_set(g.active), static_cast<delta>(g.base));
}

/// The optimum by trying every order with the referee: shares nothing with the schedule graph.
inline bytes optimum_by_orders(const problem& p, const options& o) {
  std::vector<op_id> order;
  std::vector<bool> done(p.ops().size(), false);
  bytes best = no_limit;
  const auto go = [&](const auto& self) -> void {
    if (order.size() == done.size()) best = std::min(best, evaluate(p, order, o.model()).value().peak);
    for (op_id op : p.ops()) {
      const auto before = p.predecessors(op);
      if (done[op] || !std::all_of(before.begin(), before.end(), [&](op_id b) { return done[b]; })) continue;
      done[op] = true;
      order.push_back(op);
      self(self);
      order.pop_back();
      done[op] = false;
    }
  };
  go(go);
  return best;
}

}  // namespace support
