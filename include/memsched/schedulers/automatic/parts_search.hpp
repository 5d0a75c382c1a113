// The search of a graph part by part, highest part first.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <memsched/bounds/probing.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/passes/in_step.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedulers/automatic/part_search.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/search/resumable.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The parts of a divided graph, each compressed and searched, highest first. The graph and the context must outlive it.
class parts_search : public resumable_search {
 public:
  /// Starts from `order`, which is one of g. `f` holds for each part.
  parts_search(const schedule_graph& g, search& context, const facts& f, const std::vector<node_id>& order)
      : g_(g), context_(context), facts_(f), division_(g, order), parts_(division_.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) open_.emplace(division_.peak(i), parts_.size() - i);
    context.control().stats.parts += parts_.size();
  }

  /// Gives a round to the highest part. Returns false if the query is answered, or no part has anything left to try, or a
  /// limit was hit.
  bool round(const query& q) override {
    if (!context_.keep_going() || open_.empty() || bound_ >= q.cutoff || open_.top().first <= std::max(bound_, q.target))
      return false;
    work_on_highest(q);
    return true;
  }
  /// Rounds until that returns false. Goes on where it was.
  void run(const query& q) {
    while (round(q)) {
    }
  }

  bytes peak() const override { return std::max(settled_, open_.empty() ? 0 : open_.top().first); }
  /// No order has a smaller peak. Bytes.
  bytes bound() const override { return bound_; }
  /// The best order, part by part.
  std::vector<node_id> order() const override {
    std::vector<node_id> all;
    all.reserve(g_.active);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool better = parts_[i] && parts_[i]->search->peak() < division_.peak(i);
      const auto nodes =
          better ? division_.expand(i, parts_[i]->form.expand(parts_[i]->search->order())) : division_.order(i);
      all.insert(all.end(), nodes.begin(), nodes.end());
    }
    return all;
  }

 private:
  struct part {
    compressed_graph form;
    std::optional<part_search> search{};
  };

  void work_on_highest(const query& q) {
    const std::size_t at = open_.top().second, i = parts_.size() - at;
    const bool fresh = !parts_[i];
    if (fresh && !open(i)) return;
    bytes peak = open_.top().first;
    open_.pop();
    part_search& s = *parts_[i]->search;
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
  /// Returns false once the time is over.
  bool open(std::size_t i) {
    auto opened = std::make_unique<part>();
    part& p = *opened;
    const schedule_graph plain = division_.graph(i);
    context_.control().spend(plain.size() / 64);
    p.form = compressed(plain, context_, {.max_closure = most_closed});
    if (context_.control().over()) return false;
    const detail::named_source name(context_, "cheap orders");
    solution start = best_heuristic{}(p.form.graph, context_);
    take_if_better(p.form.graph, p.form.project(division_.local_order(i)), start);
    p.search.emplace(p.form.graph, context_, facts_, std::move(start.order));
    parts_[i] = std::move(opened);
    return true;
  }

  void report_start(const part_search& s) {
    const detail::named_source name(context_, "cheap orders");
    context_.report(s.peak(), 0);
  }

  const schedule_graph& g_;
  search& context_;
  facts facts_;
  division division_;
  std::vector<std::unique_ptr<part>> parts_;
  std::priority_queue<std::pair<bytes, std::size_t>> open_;  // peaks of parts, the first part first of those with the same
  bytes settled_ = 0;                                        // the highest peak of parts that have nothing left to try
  bytes bound_ = 0;
};

struct part_search::rows_in_step {
  schedule_graph graph;
  parts_search parts;

  rows_in_step(schedule_graph h, search& context)
      : graph(std::move(h)), parts(graph, context, {.orders = true}, graph.topological_order()) {}
};

/// Searches orders that run rows in step (`in_step`), part by part; goes on where it was.
inline bool part_search::run_rows_in_step() {
  if (!rows_) {
    schedule_graph in_order = bounds::with_edges(g_, in_step::edges(g_));
    if (!context_.keep_going()) return true;
    rows_ = std::make_shared<rows_in_step>(std::move(in_order), context_);
  }
  parts_search& parts = rows_->parts;
  context_.control().aside([&] { return parts.run({from(), below()}), 0; });
  if (parts.peak() < peak_) take(parts.order());
  return context_.stopped();
}

/// A part that was too large for some rules, compressed by all of them.
struct part_search::closed_search {
  compressed_graph form;
  part_search part;

  closed_search(compressed_graph c, search& context, const facts& f, const std::vector<node_id>& order,
                std::uint64_t unit_of_work)
      : form(std::move(c)), part(form.graph, context, f, form.project(order), unit_of_work) {
    part.facts_.located = false;  // projected orders are too high for bounds around their peaks
  }
};

/// Compresses the graph by all rules and gives the result a round of the stages for bounds. Its optimum is that of the graph.
inline bool part_search::work_on_closed() {
  if (!closed_) {
    compressed_graph form = compressed(g_, context_);
    if (context_.control().over()) return true;
    const facts f{.rows = facts_.rows, .without = facts_.without, .closed = true};
    closed_ = std::make_shared<closed_search>(std::move(form), context_, f, order_, unit_);
  } else {
    closed_->part.take(closed_->form.project(order_));
  }
  part_search& s = closed_->part;
  s.raise(bound_);
  const bool more = s.round({from(), below()});
  raise(s.bound());
  if (s.peak() < peak_) take(closed_->form.expand(s.order()));
  return more || context_.stopped();
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
