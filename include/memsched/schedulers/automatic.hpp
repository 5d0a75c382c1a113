// The default scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Finds an order with the smallest peak and proves it; at a limit, the best order and the best bound so far.
///
/// Starts from the best of five cheap orders and a few minimum cuts, which suffice for many networks. Then divides the graph
/// at its waists, compresses each part, and works on the part with the highest order, in rounds: each stage of a table
/// (`automatic/stages.hpp`) that fits the part gets some work, counted and not timed, and twice as much in the next round. A
/// stage that helped nothing in two rounds sits out the next one. A longer search begins as a shorter one does, so it is never
/// worse.
struct automatic_scheduler {
  std::string_view without{};  ///< a stage that is left out, to see what it is good for

  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

namespace detail {

/// Searches a graph as one part, as `automatic` does behind presolve. Tests make all stages run on small graphs by it.
struct staged_search {
  std::size_t active = 0;     ///< stages fit as if the graph had so many active nodes; 0 for as many as it has
  std::uint64_t unit = 2000;  ///< work that stages share, see `part_search`
  bool rows = false, window = false;

  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace detail

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <memsched/passes/divide.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedulers/automatic/stages.hpp>
#include <memsched/schedulers/best_heuristic.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// Whether most nodes are rows: of networks cut in rows three in four or more follow another in step, of grids with random
/// edges at most one in two.
inline bool has_rows(const schedule_graph& g) { return 3 * in_step::edges(g).size() >= 2 * g.active; }

/// A part of a divided graph, compressed, and its search.
struct searched_part {
  compressed_graph form;
  std::optional<part_search> search{};
  bool more = true;  ///< whether another round may help
};

/// The parts of a graph, searched highest first.
class parts_search {
 public:
  parts_search(const schedule_graph& g, search& context, part_search& whole, const facts& f)
      : g_(g), context_(context), whole_(whole), facts_(f), division_(g), parts_(division_.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) peaks_.push_back(division_.plain_peak(i));
    context.stats.parts += parts_.size();
  }

  void run(const query& q) {
    bound_ = whole_.bound();
    if (!peaks_.empty()) take_order();
    while (!context_.stopped() && bound_ < std::min(whole_.peak(), q.cutoff) && whole_.peak() > q.target) {
      const std::size_t i = highest(std::max(bound_, q.target));
      if (i == parts_.size()) break;
      work_on(i, q);
    }
    if (whole_.peak() > std::max(bound_, q.target) && bound_ < q.cutoff && !context_.stopped()) context_.give_up();
  }
  bytes bound() const { return bound_; }

 private:
  /// The part with the highest order of those that a round may help; the number of parts where there is none.
  std::size_t highest(bytes target) const {
    std::size_t best = parts_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool open = peaks_[i] > target && (!parts_[i] || parts_[i]->more);
      if (open && (best == parts_.size() || peaks_[i] > peaks_[best])) best = i;
    }
    return best;
  }
  void work_on(std::size_t i, const query& q) {
    if (!parts_[i]) open(i);
    searched_part& p = *parts_[i];
    const query within{std::max(bound_, q.target), std::min(whole_.peak(), q.cutoff)};
    bytes beside = 0;
    for (std::size_t k = 0; k < peaks_.size(); ++k)
      if (k != i) beside = std::max(beside, peaks_[k]);
    p.more = context_.with_rest(beside, [&] { return p.search->round(within); });
    if (context_.stopped()) p.more = true;
    peaks_[i] = std::min(peaks_[i], p.search->peak());
    bound_ = std::max(bound_, p.search->bound());
    take_order();
  }
  void take_order() {
    if (*std::max_element(peaks_.begin(), peaks_.end()) < whole_.peak()) whole_.take(order());
  }
  void open(std::size_t i) {
    parts_[i] = std::make_unique<searched_part>();
    searched_part& p = *parts_[i];
    const schedule_graph part = division_.graph(i);
    context_.spend(part.size() / 64);
    p.form = compressed(part, context_);
    const search::named name(context_, "cheap orders");
    p.search.emplace(p.form.graph, context_, facts_, best_heuristic{}(p.form.graph, context_).order);
  }
  /// The order of the whole, part by part.
  std::vector<node_id> order() const {
    std::vector<node_id> all;
    all.reserve(g_.active);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool better = parts_[i] && parts_[i]->search->peak() < division_.plain_peak(i);
      const auto nodes = better ? division_.expand(i, parts_[i]->form.expand(parts_[i]->search->order()))
                                : division_.plain_order(i);
      all.insert(all.end(), nodes.begin(), nodes.end());
    }
    return all;
  }

  const schedule_graph& g_;
  search& context_;
  part_search& whole_;
  facts facts_;  // of each part
  division division_;
  std::vector<bytes> peaks_;  // of the order of each part
  std::vector<std::unique_ptr<searched_part>> parts_;
  bytes bound_ = 0;
};

MEMSCHED_FUNCTION solution staged_search::operator()(const schedule_graph& g, search& context) const {
  const query q{context.floor(), context.ceiling()};
  part_search part(g, context, {.active = active, .rows = rows, .window = window}, greedy{}(g, context).order, unit);
  part.run(q);
  if (!part.closed(q) && !context.stopped()) context.give_up();
  return {part.order(), std::max(part.bound(), context.floor())};
}

}  // namespace detail

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  const detail::query q{context.good_enough(), context.ceiling()};
  std::vector<node_id> cheap;
  bool rows = false;
  {
    const search::named name(context, "cheap orders");
    cheap = best_heuristic{}(g, context).order;
    rows = context.keep_going() && detail::has_rows(g);
    context.report(peak_of(g, cheap), g.base);
  }
  detail::part_search whole(g, context, {.whole = true, .rows = rows, .without = without}, std::move(cheap));
  whole.round(q);
  bytes bound = whole.bound();
  if (!whole.closed(q) && !context.stopped()) {
    detail::parts_search parts(g, context, whole, {.rows = rows, .without = without});
    parts.run(q);
    bound = std::max(bound, parts.bound());
  }
  return {whole.order(), std::max(bound, context.floor())};
}

}  // namespace memsched

#endif
