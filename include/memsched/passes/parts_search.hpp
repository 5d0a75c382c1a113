// The search of a graph part by part, highest part first.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include <memsched/passes/divide.hpp>
#include <memsched/search/resumable.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Begins the search of a part from an order of it; nothing once the time is over. The search keeps what it needs of the part.
using part_searcher = std::function<std::unique_ptr<resumable_search>(const schedule_graph&, std::vector<node_id>)>;

/// The parts of a divided graph, each searched, highest first. The peak of the whole is that of its highest part, and its bound
/// that of the part with the best bound. The graph and the context must outlive it.
class parts_search : public resumable_search {
 public:
  /// Starts from `order`, which is one of g.
  parts_search(const schedule_graph& g, search& context, part_searcher searcher, const std::vector<node_id>& order)
      : g_(g), context_(context), searcher_(std::move(searcher)), division_(g, order), parts_(division_.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) open_.emplace(division_.peak(i), parts_.size() - i);
    context.control().stats.parts += parts_.size();
  }

  /// Gives a round to the highest part.
  bool round(const query& q) override {
    if (!context_.keep_going() || open_.empty() || bound_ >= q.cutoff || open_.top().first <= std::max(bound_, q.target))
      return false;
    work_on_highest(q);
    return true;
  }

  bytes peak() const override { return std::max(settled_, open_.empty() ? 0 : open_.top().first); }
  bytes bound() const override { return bound_; }
  /// The best order, part by part.
  std::vector<node_id> order() const override {
    std::vector<node_id> all;
    all.reserve(g_.active);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool better = parts_[i] && parts_[i]->peak() < division_.peak(i);
      const auto nodes = better ? division_.expand(i, parts_[i]->order()) : division_.order(i);
      all.insert(all.end(), nodes.begin(), nodes.end());
    }
    return all;
  }

 private:
  void work_on_highest(const query& q) {
    const std::size_t at = open_.top().second, i = parts_.size() - at;
    const bool fresh = !parts_[i];
    if (fresh) parts_[i] = searcher_(division_.graph(i), division_.local_order(i));
    if (!parts_[i]) return;
    bytes peak = open_.top().first;
    open_.pop();
    resumable_search& s = *parts_[i];
    const query within{std::max(bound_, q.target), std::min(peak, q.cutoff)};
    const bool more = context_.control().with_rest(this->peak(), [&] {
      if (fresh) report_start(s);
      return s.round(within);
    });
    peak = std::min(peak, s.peak());
    bound_ = std::max(bound_, s.bound());
    if (more || context_.stopped() || peak <= std::max(bound_, within.target)) open_.emplace(peak, at);
    else settled_ = std::max(settled_, peak);
  }
  void report_start(const resumable_search& s) {
    const named_source name(context_, "cheap orders");
    context_.report(s.peak(), 0);
  }

  const schedule_graph& g_;
  search& context_;
  part_searcher searcher_;
  division division_;
  std::vector<std::unique_ptr<resumable_search>> parts_;
  std::priority_queue<std::pair<bytes, std::size_t>> open_;  // peaks of parts, the first part first of those with the same
  bytes settled_ = 0;                                        // the highest peak of parts that have nothing left to try
  bytes bound_ = 0;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
