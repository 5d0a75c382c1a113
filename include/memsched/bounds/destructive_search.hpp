// The smallest peak that something which refutes peaks cannot refute: a lower bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// The peaks that orders of a graph can have are among these: its base plus or minus multiples of a step.
class peak_grid {
 public:
  explicit peak_grid(const schedule_graph& g) : peak_grid(g.base, peak_unit(g)) {}
  peak_grid(bytes base, bytes step) : base_(base), step_(step) {}
  bytes step() const { return step_; }
  /// The next of them, b included; bytes. No peak is below the graph's base.
  bytes up(bytes b) const { return down(std::max(b, base_) + step_ - 1); }
  bytes down(bytes b) const { return b - (b - base_) % step_; }

 private:
  bytes base_, step_;
};

/// Looks for the smallest peak that a refuter cannot refute, between a bound and a peak that is reached. Gallops up from the
/// bound, and bisects. If the two are close, first asks for the peak below the upper one, since a good order is often the best.
///
/// A refuter is a value, as `prober` is: `run(peak, how...)` returns whether there is no order with at most that peak, or
/// that it can derive no more, or that it was stopped; called again, it resumes. Facts that it derived for one peak
/// help it with lower ones. `next()` returns, after a refutation, a peak below which there is no order either.
template <class Refuter = prober>
class destructive_search {
 public:
  /// Peaks below `low` are of no interest, whether they are reached or not. So `low` is not lifted to the next peak that
  /// there can be, as a bound is (see `raise`). `fresh` has been asked nothing yet.
  destructive_search(const schedule_graph& g, bytes low, Refuter fresh)
      : peaks_(g), bound_(std::max(low, g.base)), above_(std::move(fresh)) {}
  destructive_search(const schedule_graph& g, bytes low) : destructive_search(g, low, Refuter(g)) {}

  /// At first `low`, which says nothing. Once it is above that, no order has a smaller peak, not even one below `low`: if a
  /// peak is refuted, so are all lower ones. Bytes.
  bytes bound() const { return bound_; }
  /// The smallest peak that is not refuted, if one was tried; at the end the largest that there can be within the bound.
  std::optional<bytes> unrefuted() const { return open_.empty() ? std::nullopt : std::optional(open_.back().peak); }
  bool settled() const { return unrefuted() == peaks_.down(bound_); }
  /// One refuter with the facts about orders with a peak of at most `peak`, which is below the one `run` was last called
  /// with. Facts derived from one peak hold for lower ones, and for no higher one: so this is the last that was asked about
  /// so high a peak.
  const Refuter& known_up_to(bytes peak) const {
    const auto lower =
        std::find_if(open_.begin(), open_.end(), [&](const attempt& a) { return a.peak < peaks_.down(peak); });
    return lower == open_.begin() ? above_ : std::prev(lower)->refuter;
  }

  /// Memory of all refuters, in bytes.
  std::uint64_t bytes_held() const {
    std::uint64_t held = above_.bytes_held() + (trial_ ? trial_->refuter.bytes_held() : 0);
    for (const attempt& a : open_) held += a.refuter.bytes_held();
    return held;
  }

  /// Goes on until the bound is settled for orders below `high`, a peak that is reached. Returns false if a refuter, which
  /// is run with `how`, was stopped before. Keeps derived facts from call to call; `high` may fall between them. If the
  /// bound is settled already, peaks that could not be refuted are tried again, the highest first: `how` may be more than
  /// before.
  template <class... How>
  bool run(bytes high, const How&... how) {
    forget_from(high);
    if (settled())
      if (const auto outcome = try_again(high, how...); outcome != prober::outcome::refuted)
        return outcome == prober::outcome::open;
    while (bound_ < high && !settled()) {
      if (!trial_) trial_ = begin(high);
      const auto outcome = trial_->refuter.run(trial_->peak, how...);
      if (outcome == prober::outcome::stopped) return false;
      attempt done = *std::exchange(trial_, std::nullopt);
      if (outcome == prober::outcome::refuted) {
        raise(proven_by(done, open_.empty() ? high : open_.back().peak + 1));
        step_ = 2 * step_ + peaks_.step();
      } else {
        open_.push_back(std::move(done));
      }
    }
    return true;
  }

  /// Takes over from elsewhere that no order has a smaller peak than `bound`.
  void raise(bytes bound) {
    bound_ = std::max(bound_, peaks_.up(bound));
    while (!open_.empty() && open_.back().peak < peaks_.down(bound_)) open_.pop_back();
    if (trial_ && trial_->peak < peaks_.down(bound_)) trial_.reset();
  }

 private:
  static constexpr bytes close = 8;  // a bound is close to a peak if it is lower by an eighth of the peak at most

  struct attempt {
    bytes peak;
    Refuter refuter;
  };

  /// From the bound to the lowest peak that is not refuted.
  bytes room(bytes high) const {
    return std::max(bound_, open_.empty() ? peaks_.down(high - 1) : open_.back().peak) - bound_;
  }
  /// The bound of a refutation from facts that hold for peaks below `valid`.
  static bytes proven_by(const attempt& a, bytes valid) { return std::min(std::max(a.peak + 1, a.refuter.next()), valid); }
  /// Until one of the refuters refutes its peak, or is stopped.
  template <class... How>
  prober::outcome try_again(bytes high, const How&... how) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const auto outcome = open_[i].refuter.run(open_[i].peak, how...);
      if (outcome == prober::outcome::refuted) raise(proven_by(open_[i], i == 0 ? high : open_[i - 1].peak + 1));
      if (outcome != prober::outcome::open) return outcome;
    }
    return prober::outcome::open;
  }
  attempt begin(bytes high) {
    step_ = std::clamp(step_, room(high) / 8, room(high) / 2);
    if (open_.empty()) return {peaks_.down(room(high) <= high / close ? high - 1 : bound_ + step_), above_};
    return {peaks_.down(std::min(bound_ + step_, open_.back().peak - 1)), open_.back().refuter};
  }
  /// Facts that hold below peaks from `high` on hold below `high`.
  void forget_from(bytes high) {
    while (!open_.empty() && open_.front().peak >= high) {
      above_ = std::move(open_.front().refuter);
      open_.erase(open_.begin());
    }
    if (trial_ && trial_->peak >= high) trial_->peak = peaks_.down(high - 1);
  }

  peak_grid peaks_;
  bytes bound_, step_ = 0;
  Refuter above_;                 // for any peak that may still be asked for
  std::vector<attempt> open_;     // falling peaks, none of them refuted
  std::optional<attempt> trial_;  // under way, for a peak below all of those
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
