// Search of releases, refined until the order that it finds keeps its bound.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <memsched/bounds/folding.hpp>
#include <memsched/schedulers/release_search.hpp>
#include <memsched/search/work_growth.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Searches the releases of a graph whose nodes are folded into those that they feed (`release_search`), with fewer light nodes
/// each time that the order found takes more than the bound. The graph and the context must outlive it.
class refined_releases {
 public:
  refined_releases(const schedule_graph& g, search& context) : g_(g), context_(context), form_(bounds::fold(g)) {}
  refined_releases(const refined_releases&) = delete;
  refined_releases& operator=(const refined_releases&) = delete;

  /// Nodes of the folded graph.
  std::size_t size() const { return form_.graph.size(); }

  struct finding {
    bytes bound;           ///< no order has a smaller peak; 0 if nothing is known
    bytes level;           ///< up to which the search has got
    bool refined = false;  ///< there is an order, and the next call searches with fewer light nodes
    std::optional<std::vector<node_id>> order{};
  };
  /// Searches on, for a bound from `from` up to `below`, until a limit is hit. An order need not keep the bound. The first
  /// search begins below the known bound, so that its own shows how far it has got.
  finding run(bytes from, bytes below) {
    if (!search_) search_.emplace(form_.graph, context_, most_light_, most_light_ == all_light ? 0 : from, below);
    const std::uint64_t before = context_.control().work();
    auto found = search_->run(below);
    finding f{found.bound > search_->from() ? found.bound : 0, found.bound};
    if (!found.order) {
      growth_.add(static_cast<double>(context_.control().work() - before), found.bound);
      return f;
    }
    f.order = form_.expand(g_, *found.order);
    const auto next = search_->next_most_light(*found.order, found.bound);
    search_.reset();
    f.refined = next.has_value();
    most_light_ = next.value_or(most_light_);
    return f;
  }
  /// See `work_growth`.
  double expected(bytes below, bytes unit) const { return growth_.expected(below, unit); }
  /// Work of the searches that found no order.
  double work() const { return growth_.work(); }
  std::uint64_t bytes_held() const { return search_ ? search_->bytes_held() : 0; }

 private:
  static constexpr delta all_light = std::numeric_limits<delta>::max();

  const schedule_graph& g_;
  search& context_;
  bounds::folding form_;
  delta most_light_ = all_light;
  std::optional<release_search> search_{};
  work_growth growth_{};
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
