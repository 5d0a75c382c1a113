// The table of the default scheduler's stages, and the loop that runs them.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

#include <memsched/schedulers/automatic/bounds.hpp>
#include <memsched/schedulers/automatic/orders.hpp>
#include <memsched/schedulers/automatic/part_search.hpp>
#include <memsched/schedulers/automatic/parts_search.hpp>

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

inline part_search::part_search(const schedule_graph& g, search& context, facts f, std::vector<node_id> order,
                                std::uint64_t unit_of_work)
    : g_(g),
      context_(context),
      facts_(f),
      unit_(unit_of_work),
      order_(std::move(order)),
      peak_(peak_of(g, order_)),
      bound_(g.base),
      grid_(peak_unit(g)) {
  if (facts_.active == 0) facts_.active = g.active;
  facts_.size = g.size();
  facts_.located = !g.resources.empty();
}

inline bool part_search::round(const query& q) {
  query_ = q;
  bool more = false;
  for (std::size_t i = 0; i < stage_count && !done() && context_.keep_going(); ++i) {
    turn& t = turns_[i];
    if (stages[i].at_peak && peak_ < t.peak) t.ended = false;
    if (t.ended || !fits(stages[i])) continue;
    more = true;
    if (std::exchange(t.rests, false)) continue;
    while (give_turn(stages[i], t) && !t.ended && !done()) {
    }
  }
  return more && !done();
}

inline bool part_search::fits(const stage& s) const {
  if (facts_.orders && s.does == stage::raises) return false;
  if (facts_.window && s.does == stage::lowers) return false;
  return s.name != facts_.without && s.fits(facts_);
}

/// Returns whether the stage is to go again at once: it lowered the peak, and is likely to do so again, or asks for it.
inline bool part_search::give_turn(const stage& s, turn& t) {
  const double first = s.share * static_cast<double>(unit_) + s.each_node * static_cast<double>(g_.active);
  slice_ = static_cast<std::uint64_t>(std::max(1.0, first)) << std::min(t.doubled, 40U);
  const auto before = std::pair(peak_, bound_);
  const std::uint64_t begun = context_.control().work();
  const detail::named_source name(context_, s.name);
  again_ = false;
  const bool more = context_.control().with_work(slice_, [&] { return (this->*s.run)(); });
  const bool lowered = peak_ < before.first;
  if (!lowered || context_.control().work() - begun >= slice_) ++t.doubled;
  t.ended = !more && !context_.stopped();
  t.peak = peak_;
  t.in_vain = before == std::pair(peak_, bound_) ? t.in_vain + 1 : 0;
  t.rests = s.does == stage::lowers && t.in_vain >= 2 && t.in_vain % 2 == 0;
  report();
  return lowered || again_;
}

inline void part_search::take(std::vector<node_id> order) {
  const bytes peak = peak_of(g_, order);
  if (peak >= peak_) return;
  order_ = std::move(order);
  peak_ = peak;
  line_is_old_ = true;
  report();
}

inline void part_search::raise(bytes bound) {
  bound = peak_grid(g_.base, grid_).up(bound);
  if (bound <= bound_) return;
  bound_ = bound;
  if (narrowed_) narrowed_->raise(bound);
  report();
}

inline order_line& part_search::line() {
  if (!line_ || line_is_old_) line_.emplace(g_, order_);
  line_is_old_ = false;
  return *line_;
}

inline const backbone& part_search::bone() {
  if (!bone_) bone_.emplace(g_.preds, g_.succs, line().nodes(0, line().size()));
  return *bone_;
}

inline void part_search::take_line() {
  if (line_->peak() >= peak_) return;
  take(line_->order());
  line_is_old_ = false;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
