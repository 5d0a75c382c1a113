// Covers from prices: the cheapest gaps first, then without those that no row needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/recompute/priced_cover.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Makes covers, again and again: keeps its tables. Refers to the cover.
class cover_rounding {
 public:
  static constexpr std::uint64_t no_cover = ~std::uint64_t{0};

  explicit cover_rounding(const priced_cover& cover) : cover_(cover), rows_(cover.rows), pieces_(cover.pieces) {}

  /// The cost of a cover that has the gaps of a reduced cost below 0, and others if these do not cover all rows;
  /// `no_cover` if gaps or time end before. O(gaps * (rows + gaps)).
  std::uint64_t round(const std::vector<double>& reduced, search& context) {
    take_.assign(pieces_.size(), false);
    missing_.assign(cover_.excess.begin(), cover_.excess.end());
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i].answer == priced_cover::one || (pieces_[i].answer == priced_cover::open && reduced[i] < 0)) take(i);
    return take_for_all_rows(context) ? leave_out() : no_cover;
  }
  /// Per gap, whether the last cover has it.
  const std::vector<bool>& taken() const { return take_; }

 private:
  void take(std::size_t i) {
    take_[i] = true;
    for (std::size_t k = pieces_[i].first; k < pieces_[i].last; ++k) missing_[k] -= static_cast<double>(pieces_[i].size);
  }
  void leave(std::size_t i) {
    take_[i] = false;
    for (std::size_t k = pieces_[i].first; k < pieces_[i].last; ++k) missing_[k] += static_cast<double>(pieces_[i].size);
  }

  /// Sums of missing bytes, and of rows that miss some, before each row.
  void sum_missing() {
    missing_before_.resize(rows_.size() + 1), rows_before_.resize(rows_.size() + 1);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      missing_before_[k + 1] = missing_before_[k] + std::max(0.0, missing_[k]);
      rows_before_[k + 1] = rows_before_[k] + (missing_[k] > 0 ? 1 : 0);
    }
  }
  /// About the missing bytes that a gap would cover, and not fewer.
  double gain(const priced_cover::piece& g) const {
    return std::min(missing_before_[g.last] - missing_before_[g.first],
                    static_cast<double>(g.size) * (rows_before_[g.last] - rows_before_[g.first]));
  }

  /// Takes gaps until no row misses bytes: at the row that misses most, the one that costs least for a missing byte. Returns
  /// false if gaps or time end before.
  bool take_for_all_rows(search& context) {
    while (context.keep_going()) {
      const auto worst = static_cast<std::size_t>(std::max_element(missing_.begin(), missing_.end()) - missing_.begin());
      if (missing_[worst] <= 0) return true;
      sum_missing();
      std::size_t best = pieces_.size();
      double least = 0;
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const priced_cover::piece& g = pieces_[i];
        if (take_[i] || g.answer == priced_cover::zero || g.first > worst || worst >= g.last) continue;
        const double rank = (static_cast<double>(g.cost) + 1e-3) / gain(g);
        if (best == pieces_.size() || rank < least) best = i, least = rank;
      }
      if (best == pieces_.size()) return false;
      take(best);
    }
    return false;
  }

  /// Takes out gaps that no row needs, the dearest first. Returns the cost of the others.
  std::uint64_t leave_out() {
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (take_[i]) taken.push_back(i);
    std::sort(taken.begin(), taken.end(), [&](std::size_t a, std::size_t b) {
      return pieces_[a].cost != pieces_[b].cost ? pieces_[a].cost > pieces_[b].cost : a < b;
    });
    std::uint64_t cost = 0;
    for (std::size_t i : taken) {
      const double size = static_cast<double>(pieces_[i].size);
      bool needed = pieces_[i].answer == priced_cover::one;
      for (std::size_t k = pieces_[i].first; k < pieces_[i].last && !needed; ++k) needed = missing_[k] + size > 0;
      if (needed) cost += pieces_[i].cost;
      else leave(i);
    }
    return cost;
  }

  const priced_cover& cover_;
  const std::vector<index_t>& rows_;
  const std::vector<priced_cover::piece>& pieces_;
  std::vector<bool> take_;
  std::vector<double> missing_;                       // per row: bytes that it still misses
  std::vector<double> missing_before_, rows_before_;  // prefix sums: missing bytes, rows that miss some
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
