// The gap cover in numbers: rows over the budget, gaps at these, and the value of prices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/recompute/decided_needs.hpp>
#include <memsched/recompute/rows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The rows and gaps of a cover, and the value of prices: as doubles to find good ones, and exactly to prove with.
class priced_cover {
 public:
  using decision = rerun_decision;
  enum state : unsigned char { open, one, zero };  ///< undecided, absent, present

  /// A part of a stretch. Different pieces pay for different reruns.
  struct piece {
    index_t stretch;
    index_t from, to;         // rows, both included
    std::size_t first, last;  // in `rows`, last excluded; of tails, nothing
    bytes size;
    std::uint64_t cost;
    state answer;
  };
  /// The value of prices for some answers, and the best answers to open pieces.
  struct valuation {
    double value = 0;
    std::vector<double> covered;  ///< bytes that are absent, per row
    std::vector<double> reduced;  ///< per piece: the cost of an answer beyond the best; below 0 if that is `absent`
  };
  /// The same exactly, scaled.
  struct exact_valuation {
    int128 value = 0;
    std::vector<int128> reduced;
    std::vector<proof::recompute_share> shares;  ///< that prove it, if rows have needs
  };

  priced_cover(const rerun_rows& r, bytes budget, std::uint64_t u) : source(r), unit(u) {
    gather(budget);
    wanted.assign(excess.begin(), excess.end());
    choose_scale();
    pieces = wholes;
  }
  virtual bool has_needs() const { return false; }
  bool is_tail(index_t i) const { return i >= source.gaps.size(); }
  const rerun_gap& stretch(index_t i) const { return is_tail(i) ? source.tails[i - source.gaps.size()] : source.gaps[i]; }
  virtual ~priced_cover() = default;
  priced_cover(const priced_cover&) = delete;
  priced_cover& operator=(const priced_cover&) = delete;

  /// Cuts stretches into pieces with answers. O(stretches + decisions).
  virtual void decide(std::vector<decision> known) {
    known_ = decision_list(std::move(known));
    cut();
  }
  /// When all pieces have answers: a row and storage to decide, if that may show that a piece pays twice.
  virtual std::optional<decision> row_to_decide() { return std::nullopt; }

  /// O(rows + pieces).
  virtual void price(const std::vector<double>& p, valuation& v) {
    const std::size_t n = rows.size();
    prefix_.resize(n + 1);
    prefix_[0] = 0;
    v.value = 0;
    for (std::size_t k = 0; k < n; ++k) {
      prefix_[k + 1] = prefix_[k] + p[k];
      v.value += p[k] * static_cast<double>(wanted[k]);
    }
    v.covered.assign(n + 1, 0);
    v.reduced.resize(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const piece& g = pieces[i];
      const double size = static_cast<double>(g.size);
      const double reduced = static_cast<double>(g.cost) - size * (prefix_[g.last] - prefix_[g.first]);
      v.reduced[i] = reduced;
      if (g.answer == zero || (g.answer == open && reduced >= 0)) continue;
      v.value += reduced;
      v.covered[g.first] += size;
      v.covered[g.last] -= size;
    }
    for (std::size_t k = 1; k < n; ++k) v.covered[k] += v.covered[k - 1];
  }

  virtual exact_valuation exact(const std::vector<std::uint64_t>& p) {
    exact_valuation v;
    std::vector<int128> prefix(rows.size() + 1, 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      prefix[k + 1] = prefix[k] + static_cast<int128>(p[k]);
      v.value += static_cast<int128>(p[k]) * static_cast<int128>(wanted[k]);
    }
    v.reduced.resize(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const piece& g = pieces[i];
      const int128 reduced =
          (static_cast<int128>(g.cost) << scale) - static_cast<int128>(g.size) * (prefix[g.last] - prefix[g.first]);
      v.reduced[i] = reduced;
      if (g.answer == one || (g.answer == open && reduced < 0)) v.value += reduced;
    }
    return v;
  }

  /// Prices as multiples of 2^-scale.
  virtual std::vector<std::uint64_t> scaled(const std::vector<double>& p) const {
    std::vector<std::uint64_t> s(p.size());
    for (std::size_t k = 0; k < p.size(); ++k)
      s[k] = static_cast<std::uint64_t>(std::llround(std::min(std::ldexp(p[k], static_cast<int>(scale)), 0x1p46)));
    return s;
  }
  std::vector<double> unscaled(const std::vector<std::uint64_t>& s) const {
    std::vector<double> p(s.size());
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = std::ldexp(static_cast<double>(s[k]), -static_cast<int>(scale));
    return p;
  }

  double unscaled(int128 value) const { return static_cast<double>(value) * std::ldexp(1.0, -static_cast<int>(scale)); }

  /// Rounds a scaled value up to a multiple of the unit of costs.
  std::uint64_t round_up(int128 value) const {
    if (value <= 0) return 0;
    const int128 step = static_cast<int128>(unit) << scale;
    return static_cast<std::uint64_t>((value + step - 1) / step) * unit;
  }

  const rerun_rows& source;
  std::uint64_t unit;
  std::vector<index_t> rows;
  std::vector<bytes> excess;  ///< per row, over the budget, rounded up
  std::vector<delta> wanted;  ///< per row, the bytes that a price asks to be absent; then per rerun of the needs
  std::vector<piece> wholes;  ///< stretches that may be absent
  std::vector<piece> pieces;
  unsigned scale = 0;
  double highest_price = 0;  ///< the cost of one byte of the dearest gap: no row needs a higher one
  // Steps towards good prices, for the first node of a search and for others.
  int first_steps = 40000, later_steps = 60;
  int first_patience = 40;  ///< steps without gain before steps get shorter, for the first node

 protected:
  /// The number of rows over the budget before a row.
  index_t rows_before(index_t row) const { return place_[row]; }
  /// Cuts gaps where their storages are present, and stretches at the ends of windows.
  void cut() {
    std::ranges::sort(windows_, [](const rerun_window& a, const rerun_window& b) {
      return std::tie(a.stretch, a.until, a.row) < std::tie(b.stretch, b.until, b.row);
    });
    pieces.clear();
    for (piece rest : wholes) {
      const auto decisions = known_.of(rest.stretch);
      if (!is_tail(rest.stretch)) {
        const index_t last = rest.to;
        for (const decision& d : decisions) {
          if (d.absent) continue;
          if (rest.from < d.first) rest.to = d.first - 1, add_pieces(rest, decisions), rest.to = last;
          rest.from = std::max(rest.from, d.last + 1);
        }
      }
      if (rest.from <= rest.to) add_pieces(rest, decisions);
    }
  }

  decision_list known_;
  std::vector<rerun_window> windows_;
  std::vector<bool> counts_;  // per gap, whether its pieces count without a row over the budget; empty: none does

 private:
  void add_pieces(piece rest, std::span<const decision> decisions) {
    const index_t last = rest.to;
    for (const rerun_window& w : of_stretch(windows_, rest.stretch)) {
      if (w.row < rest.from || w.until <= w.row || w.until > last) continue;
      rest.to = w.until - 1;
      add_piece(rest, decisions);
      rest.from = w.until, rest.to = last;
    }
    add_piece(rest, decisions);
  }
  void add_piece(piece p, std::span<const decision> decisions) {
    p.answer = open;
    for (const decision& d : decisions) {
      if (d.absent && p.from <= d.first && d.last <= p.to) p.answer = one;
      if (!d.absent && d.first <= p.from && p.to <= d.last) p.answer = zero;
    }
    if (!is_tail(p.stretch)) p.first = place_[p.from], p.last = place_[p.to + 1];
    const bool counts = !counts_.empty() && counts_[p.stretch];
    if (p.first < p.last || is_tail(p.stretch) || p.answer == one || counts) pieces.push_back(p);
  }

  /// Rows over the budget, and gaps at these.
  void gather(bytes budget) {
    const std::size_t n = source.rows.size();
    std::vector<delta> level(n + 1, 0);
    for (const rerun_gap& g : source.gaps) {
      level[g.first] += static_cast<delta>(g.size);
      level[g.last + 1] -= static_cast<delta>(g.size);
    }
    delta live = 0;
    place_.assign(n + 1, 0);
    for (index_t k = 0; k < n; ++k) {
      live += level[k];
      const delta over = live + static_cast<delta>(source.fixed[k]) - static_cast<delta>(std::min(budget, base::max_total));
      place_[k] = static_cast<index_t>(rows.size());
      if (over <= 0) continue;
      rows.push_back(k);
      excess.push_back(static_cast<bytes>(over));
    }
    place_[n] = static_cast<index_t>(rows.size());
    for (index_t i = 0; i < source.gaps.size(); ++i) {
      const rerun_gap& g = source.gaps[i];
      const index_t first = place_[g.first], last = place_[g.last + 1];
      if (g.closed() || g.size == 0 || first == last) continue;
      wholes.push_back({i, g.first, g.last, first, last, g.size, g.cost(), open});
    }
    round_excesses_up();
  }
  /// Absent gaps have multiples of the common divisor of their sizes at a row, and no less than the smallest.
  void round_excesses_up() {
    std::vector<bytes> divisor(rows.size(), 0), smallest(rows.size(), ~bytes{0});
    for (const piece& g : wholes)
      for (std::size_t k = g.first; k < g.last; ++k) {
        divisor[k] = std::gcd(divisor[k], g.size);
        smallest[k] = std::min(smallest[k], g.size);
      }
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (divisor[k] > 0) excess[k] = std::max(smallest[k], (excess[k] + divisor[k] - 1) / divisor[k] * divisor[k]);
  }

  /// Prices get some 40 bits.
  void choose_scale() {
    for (const piece& g : wholes)
      highest_price = std::max(highest_price, static_cast<double>(g.cost) / static_cast<double>(g.size));
    scale = 0;
    while (scale < 100 && std::ldexp(highest_price, static_cast<int>(scale) + 1) < 0x1p40) ++scale;
    if (highest_price == 0) scale = 0;
  }

  std::vector<index_t> place_;  // per row: rows_before
  std::vector<double> prefix_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
