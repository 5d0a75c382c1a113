// Weakly connected components one by one, their orders interleaved by hills and valleys (Liu, 1987).
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Solves the weakly connected components of a graph apart, copies once, and interleaves their orders without loss. Then asks
/// about one component beside the hills of the others, for better orders, and about one with a node in place of the others, for
/// the bound (lemma at `components_search`). May leave a gap even if each answer is exact. A connected graph is passed on.
struct components {
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/passes/components_search.hpp>
#include <memsched/search/resumable.hpp>
#include <memsched/structure/components.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// One question to a scheduler, as a search of a single turn.
class single_question : public resumable_search {
 public:
  /// `refusal` is set if the scheduler rejects the graph.
  single_question(const schedule_graph& g, search& context, inner_scheduler inner, std::vector<node_id> order,
                  std::optional<graph_error>& refusal)
      : g_(g), context_(context), inner_(inner), best_{std::move(order)}, refusal_(refusal) {}

  bool round(const query&) override {
    solution s = inner_(g_, context_);
    if (s.error) return refusal_ = std::move(s.error), false;
    take_if_better(g_, std::move(s.order), best_);
    best_.lower_bound = std::max(best_.lower_bound, s.lower_bound);
    return false;
  }
  std::vector<node_id> order() const override { return best_.order; }
  bytes peak() const override { return peak_of(g_, best_.order); }
  bytes bound() const override { return best_.lower_bound; }

 private:
  const schedule_graph& g_;
  search& context_;
  inner_scheduler inner_;
  solution best_;
  std::optional<graph_error>& refusal_;
};

}  // namespace detail

MEMSCHED_FUNCTION solution components::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  if (!context.keep_going()) return {g.topological_order()};
  auto members = structure::components(g);
  if (members.size() < 2) return inner(g, context);
  std::optional<graph_error> refusal;
  const auto ask_once = [&](const schedule_graph& h, detail::component_graph,
                            std::vector<node_id> order) -> std::unique_ptr<detail::resumable_search> {
    return std::make_unique<detail::single_question>(h, context, inner, std::move(order), refusal);
  };
  detail::components_search apart(g, context, ask_once, std::move(members), g.topological_order());
  apart.run_or_give_up(context.asked(), context);
  if (refusal) return {{}, 0, std::move(refusal)};
  return {apart.order(), std::max(apart.bound(), context.asked().target)};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
