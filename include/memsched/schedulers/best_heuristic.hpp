// The cheap orders, and the best of them.
#pragma once

#include <utility>

#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The best of several heuristics; the first among equals.
struct best_heuristic {
  solution operator()(const schedule_graph& g, search& context) const {
    solution best = as_given{}(g, context);
    bytes peak = peak_of(g, best.order);
    const auto consider = [&](solution s) {
      if (const bytes p = peak_of(g, s.order); p < peak) peak = p, best.order = std::move(s.order);
    };
    consider(greedy{}(g, context));
    consider(rpo{}(g, context));
    consider(greedy{greedy::rule::growth}(g, context));
    consider(kahn{}(g, context));
    return best;
  }
};

}  // namespace memsched
