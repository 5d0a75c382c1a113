// The gap cover in numbers: rows over the budget, gaps at these, and the value of prices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/recompute/rows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The rows and gaps of a cover, and the value of prices: as doubles to find good ones, and exactly to prove with.
class priced_cover {
 protected:
  enum state : unsigned char { open, one, zero };  // of a gap: undecided, absent, present

  priced_cover(const rerun_rows& r, bytes budget, std::uint64_t unit) : r_(r), unit_(unit) {
    gather(budget);
    choose_scale();
  }

  /// The value of prices, as doubles; `covered` gets the bytes that the best answer frees at each row.
  double price(const std::vector<double>& p, const std::vector<state>& fixed) {
    const std::size_t n = rows_.size();
    prefix_.resize(n + 1);
    prefix_[0] = 0;
    double value = 0;
    for (std::size_t k = 0; k < n; ++k) {
      prefix_[k + 1] = prefix_[k] + p[k];
      value += p[k] * static_cast<double>(excess_[k]);
    }
    covered_.assign(n + 1, 0);
    reduced_.resize(gaps_.size());
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
      const auto& g = gaps_[i];
      const double size = static_cast<double>(g.size);
      const double reduced = static_cast<double>(g.cost) - size * (prefix_[g.last] - prefix_[g.first]);
      reduced_[i] = reduced;
      if (fixed[i] == zero || (fixed[i] == open && reduced >= 0)) continue;
      value += reduced;
      covered_[g.first] += size;
      covered_[g.last] -= size;
    }
    for (std::size_t k = 1; k < n; ++k) covered_[k] += covered_[k - 1];
    return value;
  }

  /// The same for scaled prices, exactly.
  int128 exact(const std::vector<std::uint64_t>& p, const std::vector<state>& fixed) {
    std::vector<int128> prefix(rows_.size() + 1, 0);
    int128 value = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      prefix[k + 1] = prefix[k] + static_cast<int128>(p[k]);
      value += static_cast<int128>(p[k]) * static_cast<int128>(excess_[k]);
    }
    exact_reduced_.resize(gaps_.size());
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
      const auto& g = gaps_[i];
      const int128 reduced =
          (static_cast<int128>(g.cost) << scale_) - static_cast<int128>(g.size) * (prefix[g.last] - prefix[g.first]);
      exact_reduced_[i] = reduced;
      if (fixed[i] == one || (fixed[i] == open && reduced < 0)) value += reduced;
    }
    return value;
  }

  /// Rounds a scaled value up to a multiple of the unit of costs.
  std::uint64_t round_up(int128 value) const {
    if (value <= 0) return 0;
    const int128 unit = static_cast<int128>(unit_) << scale_;
    return static_cast<std::uint64_t>((value + unit - 1) / unit) * unit_;
  }

  struct open_gap {
    index_t gap;              // in the rows
    std::size_t first, last;  // in rows_, last excluded
    bytes size;
    std::uint64_t cost;
  };
  const rerun_rows& r_;
  std::uint64_t unit_;
  std::vector<index_t> rows_;
  std::vector<bytes> excess_;
  std::vector<open_gap> gaps_;
  unsigned scale_ = 0;
  std::vector<double> prefix_, covered_, reduced_;
  std::vector<int128> exact_reduced_;

 private:
  /// Rows over the budget, but for those that another one implies; and gaps at these.
  void gather(bytes budget) {
    const std::size_t n = r_.rows.size();
    std::vector<delta> level(n + 1, 0);
    for (const rerun_gap& g : r_.gaps) {
      level[g.first] += static_cast<delta>(g.size);
      level[g.last + 1] -= static_cast<delta>(g.size);
    }
    delta live = 0;
    std::vector<index_t> place(n + 1, 0);
    for (index_t k = 0; k < n; ++k) {
      live += level[k];
      const delta excess = live + static_cast<delta>(r_.fixed[k]) - static_cast<delta>(std::min(budget, max_total));
      place[k] = static_cast<index_t>(rows_.size());
      if (excess <= 0) continue;
      rows_.push_back(k);
      excess_.push_back(static_cast<bytes>(excess));
    }
    place[n] = static_cast<index_t>(rows_.size());
    for (index_t i = 0; i < r_.gaps.size(); ++i) {
      const rerun_gap& g = r_.gaps[i];
      const index_t first = place[g.first], last = place[g.last + 1];
      if (g.closed || g.size == 0 || first == last) continue;
      gaps_.push_back({i, first, last, g.size, g.cost});
    }
  }

  /// Prices are at most the cost of one byte, of the dearest gap; they get some 40 bits.
  void choose_scale() {
    double most = 0;
    for (const auto& g : gaps_) most = std::max(most, static_cast<double>(g.cost) / static_cast<double>(g.size));
    scale_ = 0;
    while (scale_ < 100 && std::ldexp(most, static_cast<int>(scale_) + 1) < 0x1p40) ++scale_;
    if (most == 0) scale_ = 0;
  }
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
