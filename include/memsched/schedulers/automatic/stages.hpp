// The default scheduler's stages, and their table.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <memsched/base/crew.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/peak_cuts.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/passes/in_step.hpp>
#include <memsched/passes/parts_search.hpp>
#include <memsched/passes/window_bounds.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedulers/automatic/part_search.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/bisect.hpp>
#include <memsched/schedulers/falling_aims.hpp>
#include <memsched/schedulers/greedy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Whether a graph is so large that its order is lowered part by part before, or instead of, searches of the whole.
inline bool worth_lowering(const facts& f) { return !f.closed && f.active >= (f.whole ? huge : medium); }
inline bool worth_restarting(const facts& f) { return !f.whole && !f.orders && f.active <= 8192; }
/// Whether the graph may be compressed further for bounds. `exact`, `probing` and `below` then search the result alone.
inline bool worth_closing(const facts& f) {
  return !f.whole && !f.window && !f.closed && !f.orders && std::max(f.active, f.size) > most_closed &&
         f.size <= compression_rules{}.max_closure;
}
inline bool worth_searching(const facts& f) { return !f.whole && !worth_closing(f); }
inline bool worth_probing(const facts& f) { return worth_searching(f) && f.size <= most_probed; }

inline const std::array<stage, part_search::stage_count> part_search::stages{{
    // clang-format off
    // name, what it does, which graphs it fits, share, work for each node
    {"cuts", raises, [](const facts& f) { return f.size <= huge; }, 0.25, 0.125, &part_search::cut_nodes},
    {"layers", raises, [](const facts& f) { return !f.whole && (f.rows || f.active >= medium); },
     0.25, 0.5, &part_search::cut_layers},
    {"rows", lowers, [](const facts& f) { return f.rows && !f.closed; }, 1, 2, &part_search::run_rows_in_step},
    {"blocks", lowers, worth_lowering, 1, 8, &part_search::order_blocks},
    {"peak", lowers, worth_lowering, 0.5, 0.25, &part_search::lower_highest},
    {"near cuts", raises, [](const facts& f) { return f.located && f.active > (f.whole ? huge : large); },
     0.25, 0.5, &part_search::cut_near_peak, true},
    {"exact", both, [](const facts& f) { return worth_searching(f) && (!f.orders || f.active <= large); },
     3, 1, &part_search::search_exactly},
    {"windows", raises, [](const facts& f) { return f.located && !f.whole && f.active > large; },
     0, 4, &part_search::close_windows, true},
    {"closed", both, worth_closing, 12, 4, &part_search::work_on_closed},
    {"local", lowers, [](const facts& f) { return !f.whole && !f.orders && !f.closed; }, 1, 0.25, &part_search::search_locally},
    {"probing", raises, worth_probing, 4, 8, &part_search::probe},
    {"below", raises, worth_probing, 1, 0, &part_search::search_below},
    {"releases", both, worth_probing, 2, 1, &part_search::search_releases},
    {"restart", lowers, worth_restarting, 2, 0, &part_search::restart},
    // clang-format on
}};

/// Best-first search of the whole part; goes on where it was. It begins at the bound, where it finds orders soonest. If it has
/// not raised the bound for long, it begins anew as far below as the incumbent is above, to tell how its work grows. If it is
/// not expected to decide in reasonable time even so, it ends: search of narrowed graphs does more (`search_below`).
inline bool part_search::search_exactly() {
  constexpr std::uint64_t enough = 9 * unit;
  constexpr double reasonable = 10000;  // times the work so far
  const best_first policy;
  if (g_.active > policy.max_nodes) return false;
  if (!exact_) {
    const bytes lower = exact_begins_below_ ? std::min(from(), below() - from()) : 0;
    exact_.emplace(g_, context_, policy, from() - lower, below());
  }
  const bytes least = exact_->from();
  const auto before = std::pair(context_.control().work(), bound_);
  auto found = exact_->run(below());
  if (found.bound > least) raise(found.bound);
  if (found.order) take(std::move(*found.order));
  const std::uint64_t work = context_.control().work() - before.first;
  exact_in_vain_ = bound_ > before.second ? 0 : exact_in_vain_ + work;
  const double expected = exact_->expected(below(), grid_.step());
  again_ = expected < expected_soon;
  if (!has_room(exact_->bytes_held())) {
    exact_.reset();
    return false;
  }
  if (!context_.stopped()) return false;
  if (expected < reasonable || exact_in_vain_ < enough || facts_.size > most_probed) return true;
  if (std::exchange(exact_begins_below_, true)) return false;
  exact_.reset();
  exact_in_vain_ = 0;
  return true;
}

inline std::vector<node_id> part_search::lowered_locally(const local_search& policy, const std::vector<node_id>& order) {
  return context_.ask(context_.asked().from(from()), [&] { return policy.improve(g_, context_, {order, 0}); }).order;
}

/// Local search from the incumbent: windows at the peak, then all along the order.
inline bool part_search::search_locally() {
  take(lowered_locally({.states = std::uint64_t{400} << local_effort_}, order_));
  if (!context_.stopped()) ++local_effort_;
  return local_effort_ <= most_effort;
}

/// Local search from the greedy order, even if that is higher than the incumbent: it leads elsewhere. The order is first
/// bisected to falling aims, unless the part is closed. Begins once there is enough work for that. Returns false once nothing
/// lowers that order any more.
inline bool part_search::restart() {
  if (!restarted_) {
    if (slice_ < 4 * g_.active) return true;
    restarted_ = greedy{}(g_, context_).order;
    bytes before = no_limit;
    for (bytes peak = peak_of(g_, *restarted_); !facts_.closed && peak < before && !context_.stopped();) {
      restarted_ = bisect{}.improve(g_, context_, std::move(*restarted_), aim_between(from(), peak, grid_.step(), 3, 4));
      before = std::exchange(peak, peak_of(g_, *restarted_));
    }
  }
  restarted_ = lowered_locally({}, *restarted_);
  take(*restarted_);
  return context_.stopped();
}

/// Lowers the highest position, then the next; windows get twice the states if one stays above its aim.
inline bool part_search::lower_highest() {
  const unsigned most = facts_.orders ? 0 : most_effort;
  falling_aims aims(g_, context_, line(), from(), grid_.step());
  while (peak_effort_ <= most && !aims.lower_highest(peak_effort_) && !context_.stopped()) ++peak_effort_;
  take_line();
  return peak_effort_ <= most;
}

/// Cuts the graph along valleys, orders the blocks between them, and lowers the highest blocks.
inline bool part_search::order_blocks() {
  falling_aims aims(g_, context_, line(), from(), grid_.step());
  aims.lower_blocks(bone());
  take_line();
  return context_.stopped();
}

/// One minimum cut for each node, the highest of the incumbent first.
inline bool part_search::cut_nodes() {
  const auto over = [&] { return context_.control().over(); };
  crew* const team = g_.active >= 1000 ? context_.control().team() : nullptr;  // smaller graphs do not pay for a thread
  const auto go_on = [&] { return context_.control().count_cut(); };
  const auto best = best_cut_bound(g_, order_, from(), go_on, slice_ * search_control::visits_of_a_unit, {team, over});
  if (best.v != none) raise(best.bound);
  context_.control().spend_visits(best.work);
  return context_.stopped() || best.gave_up;
}

/// Minimum cuts for the first and the last members of layers. The incumbent says which layers are asked.
inline bool part_search::cut_layers() {
  if (!layers_) layers_.emplace(g_);
  const auto go_on = [&] { return context_.control().count_cut(); };
  const auto best = layers_->run(order_, from(), go_on, slice_ * search_control::visits_of_a_unit);
  if (!best.members.empty()) raise(best.bound);
  context_.control().spend_visits(best.work);
  const bool more = facts_.rows || context_.stopped() || best.gave_up;
  if (!more) layers_.reset();
  return more;
}

/// Cuts over stretches of the line around its highest positions; more of them from turn to turn.
inline bool part_search::cut_near_peak() {
  const auto over = [&] { return context_.control().over(); };
  const auto known = [&] { return from(); };
  const auto go_on = [&] { return !done() && context_.control().count_cut(); };
  const auto raises_bound = [&](bytes bound, std::uint64_t visits) {
    const bytes before = bound_;
    raise(bound);
    context_.control().spend(1 + visits / search_control::visits_of_a_unit);
    return bound_ > before;
  };
  order_line& l = line();
  peak_cuts cuts(l, bone(), {context_.control().team(), over});
  cut_effort_ = std::min(cut_effort_, most_effort);  // once more if it ended at another peak
  while (!done() && cut_effort_ <= most_effort && cuts.run(cut_effort_, known, go_on, raises_bound)) ++cut_effort_;
  return cut_effort_ <= most_effort;
}

/// Closed windows around the highest position, with more work for each from turn to turn.
inline bool part_search::close_windows() {
  const bool closes = g_.size() > most_closed && g_.size() <= compression_rules{}.max_closure;  // the stage `closed`
  const window_bounds windows(line(), bone(), context_, !closes);
  const auto solve = [](const schedule_graph& h, search& c, std::uint64_t work) {
    part_search inner(h, c, {.window = true}, greedy{}(h, c).order, work / 8);
    inner.run(c.asked());
    return solution{inner.order(), inner.bound()};
  };
  window_effort_ = std::min(window_effort_, most_effort);
  for (; !done() && window_effort_ <= most_effort; window_effort_ += !context_.stopped())
    windows.run(
        std::uint64_t{500} << window_effort_, solve,
        [&] {
          return query{from(), below()};
        },
        [&](bytes b) { raise(b); });
  return window_effort_ <= most_effort;
}

/// The first peak from `least` on that the sizes allow.
inline bytes part_search::next_possible(bytes least) {
  if (!possible_) {
    possible_peaks all(g_, [&] { return !context_.control().over(); });
    if (context_.control().over()) return least;
    possible_ = std::move(all);
  }
  return possible_->next(least);
}

/// Searches the releases, with fewer light nodes each time that the order that was found takes more than the bound. Ends if its
/// bound stays further below the best one than that is below the peak.
inline bool part_search::search_releases() {
  constexpr double enough = 4 * unit;
  constexpr std::size_t most_nodes = 1024;  // of larger graphs its bound stays behind those of cuts
  if (!releases_) releases_ = std::make_unique<refined_releases>(g_, context_);
  if (releases_->size() > most_nodes) return false;
  while (!done()) {
    auto found = releases_->run(from(), below());
    raise(found.bound);
    if (!found.order) {
      again_ = releases_->expected(below(), grid_.step()) < expected_soon;
      const bool behind = releases_->work() > enough && found.level + below() < 2 * from();
      return context_.stopped() && !behind && has_room(releases_->bytes_held());
    }
    take(*found.order);
    if (!done()) take(lowered_locally({}, *found.order));
    if (!found.refined) return false;
  }
  return true;
}

/// Narrows the graph for peaks between the bound and the incumbent (`narrowing`), which refutes some. If nothing more is
/// refuted, asks for an order that reaches the bound; then narrows with more patience.
inline bool part_search::probe() {
  constexpr unsigned least_patience = 8, most_patience = 1U << 24;
  if (!narrowed_) narrowed_.emplace(g_, from(), narrowing(g_, context_));
  const auto go_on = [&](std::uint64_t visits) {
    return context_.control().count_cut_as_state(narrowed_->bytes_held(), visits);
  };
  for (bytes asked = 0; !done();) {
    const bytes before = narrowed_->bound();
    const bool settled = narrowed_->run(below(), patience_, go_on);
    if (narrowed_->bound() > before) {
      raise(next_possible(narrowed_->bound()));
      patience_ = std::min(patience_, least_patience);
    }
    if (done() || !settled) break;
    if (asked != narrowed_->bound()) {
      asked = narrowed_->bound();
      if (decide(asked, slice_ / 2)) continue;
    }
    if (patience_ >= most_patience) return false;
    patience_ = std::max(least_patience, 2 * patience_);
  }
  return true;
}

/// Looks for an order just below the incumbent, on a graph narrowed for that.
inline bool part_search::search_below() {
  if (narrowed_ && below() > 0) decide(below() - 1, slice_);
  return true;
}

/// Looks for an order with a peak of at most `asked`, on a graph narrowed for that. Returns whether that was decided.
inline bool part_search::decide(bytes asked, std::uint64_t states) {
  const narrowing& narrow = narrowed_->known_up_to(asked);
  auto found =
      context_.control().aside([&] { return both_ends{}.between(narrow.graph(), context_, asked, asked + 1, states); });
  if (found.order) {
    take(narrow.expand(std::move(*found.order)));
  } else if (found.bound > asked) {
    raise(next_possible(asked + 1));
  }
  return found.order || found.bound > asked;
}

/// A graph compressed, and the search of the result.
struct compressed_part : resumable_search {
  compressed_graph form;
  part_search part;

  /// `order` is one of the compressed graph.
  compressed_part(compressed_graph c, search& context, const facts& f, std::vector<node_id> order,
                  std::uint64_t unit_of_work = part_search::unit)
      : form(std::move(c)), part(form.graph, context, f, std::move(order), unit_of_work) {}

  bool round(const query& q) override { return part.round(q); }
  std::vector<node_id> order() const override { return form.expand(part.order()); }
  bytes peak() const override { return part.peak(); }
  bytes bound() const override { return part.bound(); }
};

/// The search of a graph part by part, each compressed when it is first worked on. `f` holds for each part.
inline std::unique_ptr<parts_search> search_parts(const schedule_graph& g, search& context, const facts& f,
                                                  const std::vector<node_id>& order) {
  const auto begin = [&context, f](const schedule_graph& part,
                                   const std::vector<node_id>& local) -> std::unique_ptr<resumable_search> {
    context.control().spend(part.size() / 64);
    compressed_graph form = compressed(part, context, {.max_closure = most_closed});
    if (context.control().over()) return nullptr;
    const named_source name(context, "cheap orders");
    solution start = best_heuristic{}(form.graph, context);
    take_if_better(form.graph, form.project(local), start);
    return std::make_unique<compressed_part>(std::move(form), context, f, std::move(start.order));
  };
  return std::make_unique<parts_search>(g, context, begin, order);
}

/// Searches orders that run rows in step (`in_step`), part by part; goes on where it was.
inline bool part_search::run_rows_in_step() {
  if (!rows_) {
    in_step_ = bounds::with_edges(g_, in_step::edges(g_));
    if (!context_.keep_going()) return true;
    rows_ = search_parts(in_step_, context_, {.orders = true}, in_step_.topological_order());
  }
  context_.control().aside([&] { return rows_->run({from(), below()}), 0; });
  if (rows_->peak() < peak_) take(rows_->order());
  return context_.stopped();
}

/// Compresses the graph by all rules and gives the result a round of the stages for bounds. Its optimum is that of the graph.
inline bool part_search::work_on_closed() {
  if (!closed_) {
    compressed_graph form = compressed(g_, context_);
    if (context_.control().over()) return true;
    const facts f{.rows = facts_.rows, .without = facts_.without, .closed = true};
    std::vector<node_id> order = form.project(order_);
    closed_ = std::make_shared<compressed_part>(std::move(form), context_, f, std::move(order), unit_);
    closed_->part.facts_.located = false;  // projected orders are too high for bounds around their peaks
  } else {
    closed_->part.take(closed_->form.project(order_));
  }
  closed_->part.raise(bound_);
  const bool more = closed_->round({from(), below()});
  raise(closed_->bound());
  if (closed_->peak() < peak_) take(closed_->order());
  return more || context_.stopped();
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
