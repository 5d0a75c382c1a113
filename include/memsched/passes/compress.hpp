// Compression as a pass (Fradet et al., section 4, Algorithm 1).
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/presolve/compression_rules.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Hands the inner scheduler the compressed graph (see `compressed`), which has the same optimum. If a single order is
/// left, there is nothing to pass on.
struct compress {
  presolve::compression_rules rules{};

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/graph/walk.hpp>
#include <memsched/presolve/compression.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution compress::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  context.control().spend(g.size() / 8);
  constexpr double share = 0.8;  // of the time: the reduced graph must be built yet
  const presolve::compressed_graph c = context.control().with_share(share, [&] { return compressed(g, context, rules); });
  solution s;
  if (c.graph.active > 1) {
    s = inner(c.graph, context);
    if (s.error) return s;
  } else {
    s.order.assign(c.graph.active, 0);
    s.lower_bound = peak_of(c.graph, s.order);
  }
  s.order = c.expand(s.order);
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
