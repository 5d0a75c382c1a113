// Certificates of bounds: made of compression, minimum cuts, layers, probing, shaving, placing, windows and families of sets.
#pragma once

#include <span>

#include <memsched/base/bytes.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/search/options.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A certificate of the best bound that can be proven for g, up to one of at least `bound`, which some search claims.
/// `order` is one with a small peak. Asks `go_on` before each cut and each set; if that returns false, or if more is needed
/// than the limits allow, the certificate's bound is smaller. `check_certificate` has accepted it. Working memory
/// is about as large as the sets of the family, a bit for each node, beside that of the graph.
MEMSCHED_FUNCTION certificate certify(const schedule_graph& g, std::span<const node_id> order, bytes bound,
                                      base::function_ref<bool()> go_on, const options::certificate_limits& limits = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/certify/certify_graph.hpp>
#include <memsched/certify/derive_rounds.hpp>
#include <memsched/certify/find_window.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/proof/check_certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION certificate certify(const schedule_graph& g, std::span<const node_id> order, bytes bound,
                                      base::function_ref<bool()> go_on, const options::certificate_limits& limits) {
  certificate best = detail::assemble(g, {});
  const auto consider = [&](certificate c) {
    detail::take_if_better(g, limits, std::move(c), best);
    return best.bound >= bound;
  };
  if (best.bound >= bound) return best;
  const bounds::node_bound single = bounds::best_cut_bound(g, order, best.bound, go_on);
  const auto by_cut = [&] { return single.v != none && consider(detail::certify_cut(g, single, go_on)); };
  if (single.bound >= bound && by_cut()) return best;
  if (consider(detail::certify_components(g, order, single.bound, go_on))) return best;
  // Little effort first; and for each, of a large graph narrow windows, then the whole, then wide windows.
  const bool local = g.size() > 1024, whole = g.size() <= limits.probed;
  presolve::compressed_graph form;
  if (whole) {
    form = detail::compressed_for_proof(g);
    const std::size_t few = detail::sets_within(limits, g, detail::few_sets);
    if (consider(detail::certify_by_sets(g, form, bound, few, go_on))) return best;
  }
  if (single.bound < bound) by_cut();
  const std::size_t narrow = whole ? g.size() / 4 : g.size();  // nodes
  std::optional<detail::window_finder> finder;
  std::vector<detail::described_window> windows;
  for (const auto& effort : detail::certificate_efforts) {
    if (whole && &effort == &detail::certificate_efforts[2]) {  // the time may run out below: a lower bound first
      consider(detail::certify_layer(g, form, best.bound, go_on));
      bounds::destructive_search search(g, best.bound);
      search.run(bound, bounds::at_each_cut(go_on));
      consider(detail::certify_probed(g, search.bound(), go_on));
    }
    bool tried = !whole;
    const auto try_whole = [&] {
      if (!std::exchange(tried, true)) detail::certify_graph(g, form, bound, effort, limits, go_on, best);
    };
    if (local && !finder) finder.emplace(g, order, bound, go_on);
    for (std::size_t i = 0; local && best.bound < bound && go_on(); ++i) {
      if (i == windows.size()) {
        if (!finder->next()) break;
        windows.push_back(finder->found());
      }
      if (windows[i].graph.size() > narrow) try_whole();
      if (best.bound < bound) consider(detail::certify_window(windows[i], bound, effort, limits, go_on));
    }
    try_whole();
    if (best.bound >= bound || !go_on()) break;
  }
  if (!best.family && !best.window) detail::trim(g, best, detail::trimming);
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
