// The search of one part of a graph: an incumbent, and stages that lower its peak or raise its bound, in rounds.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/backbone.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/presolve/narrowing.hpp>
#include <memsched/schedulers/both_ends.hpp>
#include <memsched/schedulers/local_search.hpp>
#include <memsched/schedulers/refined_releases.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/search/resumable.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Graphs of more active nodes than this are large: they are worked on where their order is highest.
inline constexpr std::size_t large = 400;
/// Minimum cuts of the whole of graphs of more nodes than this take long: windows of them are cut instead.
inline constexpr std::size_t huge = 1 << 14;
/// Smaller parts are searched exactly, or locally from one start, before their order is lowered at its peak.
inline constexpr std::size_t medium = 200;
/// Nodes, releases included, up to which a part is compressed by rules that need the closure before its first round; of
/// larger parts the stage `closed` does so, for bounds: orders are found faster if edges are few.
inline constexpr std::size_t most_closed = 512;
/// Nodes, releases included, up to which probing pays.
inline constexpr std::size_t most_probed = 8192;

/// A stage that makes more effort from turn to turn ends after this: twice as much each time.
inline constexpr unsigned most_effort = 8;

/// Properties that decide which stages fit a graph.
struct facts {
  std::size_t active = 0;      ///< nodes without releases; 0 stands for those of the graph
  std::size_t size = 0;        ///< with releases; set by the search
  bool whole = false;          ///< the caller's graph as it came: neither divided nor compressed
  bool rows = false;           ///< most nodes are rows in step
  std::string_view without{};  ///< a stage that is left out
  bool window = false;         ///< stands for a larger graph: its bound alone counts
  bool orders = false;         ///< orders alone count, and no bounds
  bool closed = false;         ///< a part compressed by all rules, searched beside it: `restart` alone lowers its order
  bool located = false;        ///< the graph knows its resources, so that windows of it have bounds; set by the search
};

class part_search;
struct compressed_part;

/// One way to lower the peak or to raise the bound.
struct stage {
  std::string_view name;                               ///< in progress, results and logs
  enum : unsigned char { lowers, raises, both } does;  ///< lowers the peak, raises the bound
  bool (*fits)(const facts&);
  double share;                ///< work in the first round, in units of `part_search::unit`; it doubles from round to round
  double each_node;            ///< and for each active node
  bool (part_search::*run)();  ///< returns whether another call, with more work, may find more
  bool at_peak = false;        ///< looks where the order is highest: after it ended it goes on with a lower order
};

/// A search goes on at once if it is expected to end within this many times its work so far.
inline constexpr double expected_soon = 16;

/// The graph and the context must outlive it.
class part_search final : public resumable_search {
 public:
  static constexpr std::uint64_t unit = 2000;  ///< work: some tens of milliseconds

  /// Starts from `order`, which is one of g. `unit_of_work` scales the work of all stages.
  part_search(const schedule_graph& g, search& context, facts f, std::vector<node_id> order,
              std::uint64_t unit_of_work = unit);

  part_search(const part_search&) = delete;
  part_search& operator=(const part_search&) = delete;

  /// Gives each stage that fits its share of work. Returns false if no stage has anything left to try, or the query is
  /// answered, or a limit was hit.
  bool round(const query& q) override;
  std::vector<node_id> order() const override { return order_; }
  bytes peak() const override { return peak_; }
  /// No order of the graph has a smaller peak, whatever the target. Bytes.
  bytes bound() const override { return bound_; }
  /// Takes over another order if it is better.
  void take(std::vector<node_id> order);

  // The stages (stages.hpp).

  bool cut_nodes();
  bool search_exactly();
  bool search_releases();
  bool run_rows_in_step();
  bool cut_layers();
  bool order_blocks();
  bool lower_highest();
  bool cut_near_peak();
  bool close_windows();
  bool search_locally();
  bool restart();
  bool probe();
  bool search_below();
  bool work_on_closed();

  static constexpr std::size_t stage_count = 14;
  static const std::array<stage, stage_count> stages;

 private:
  static constexpr auto lowers = stage::lowers, raises = stage::raises, both = stage::both;  // as the table says it
  struct turn {
    unsigned doubled = 0, in_vain = 0;  ///< how often its slice was; turns in a row without gain
    bool rests = false, ended = false;
    bytes peak = no_limit;  // after the last of them
  };

  bool fits(const stage& s) const;
  bool give_turn(const stage& s, turn& t);

  // Shared by stages for bounds and for orders.

  /// Peaks below this are not told apart.
  bytes from() const { return std::max(bound_, query_.target); }
  /// A useful order has a peak below this.
  bytes below() const { return std::min(peak_, query_.cutoff); }
  bool done() const { return closed(query_) || context_.stopped(); }
  /// Whether a search that holds `held` bytes may go on: its next turn, twice as long, must not end the whole search for want
  /// of memory.
  bool has_room(bytes held) const { return held <= context_.opts().memory_limit / 4; }
  void raise(bytes bound);
  void report() { context_.report(peak_, bound_); }

  /// The incumbent as a timeline. Stages change it, and keep better orders by `take_line`.
  order_line& line();
  const backbone& bone();
  void take_line();

  std::vector<node_id> lowered_locally(const local_search& policy, const std::vector<node_id>& order);

  bytes next_possible(bytes least);
  bool decide(bytes asked, std::uint64_t states);

  const schedule_graph& g_;
  search& context_;
  facts facts_;
  query query_{};
  std::uint64_t unit_;
  std::vector<node_id> order_;
  bytes peak_, bound_;
  std::array<turn, stage_count> turns_{};
  std::uint64_t slice_ = 0;  // work of the stage that runs

  peak_grid grid_;
  std::optional<order_line> line_;  // of order_, unless line_is_old_
  bool line_is_old_ = true;
  std::optional<backbone> bone_;
  std::optional<layer_search> layers_;
  std::optional<both_ends_search> exact_;
  std::uint64_t exact_in_vain_ = 0;  // its work since it raised the bound
  bool exact_begins_below_ = false;  // the bound, to tell how its work grows
  bool again_ = false;               // whether the stage that runs asks for another turn at once
  std::unique_ptr<refined_releases> releases_;
  schedule_graph in_step_;  // with edges that keep rows in step
  std::unique_ptr<resumable_search> rows_;
  std::shared_ptr<compressed_part> closed_;
  std::optional<std::vector<node_id>> restarted_;  // the order of another start
  std::optional<destructive_search<narrowing>> narrowed_;
  std::optional<possible_peaks> possible_;
  unsigned patience_ = 0;  // of shaving
  unsigned peak_effort_ = 0, cut_effort_ = 0, window_effort_ = 0, local_effort_ = 0;
};

inline part_search::part_search(const schedule_graph& g, search& context, facts f, std::vector<node_id> order,
                                std::uint64_t unit_of_work)
    : g_(g),
      context_(context),
      facts_(f),
      unit_(unit_of_work),
      order_(std::move(order)),
      peak_(peak_of(g, order_)),
      bound_(g.base),
      grid_(g) {
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
  bound = grid_.up(bound);
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
