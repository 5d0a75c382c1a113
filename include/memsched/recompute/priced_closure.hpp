// The gap cover with needs: absent storages of some rows are made again from inputs that are in memory or made again, too.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/priced_cover.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The value of prices where some rows have needs. At such a row with price p, a need takes p times its bytes if it is in
/// memory. If it is absent, its stretch is paid for, once for all rows, and the inputs of its producer are needed. The best
/// answer is a minimum closure: one minimum cut, and its flow proves the value.
///
/// Where the storage can be loaded, its absence saves all of that only with the inputs, and without them less by the row's part
/// of the stretch's `load_more`. A loaded storage pays `load_more` for its stretch, which is no
/// less than all parts together, so that this is a lower bound.
class priced_closure final : public priced_cover {
 public:
  priced_closure(const rerun_rows& r, const rerun_needs& needs, bytes budget, std::uint64_t u)
      : priced_cover(r, budget, u),
        needs_(needs),
        has_needs_(rows.size(), false),
        gap_of_(r.gaps.size() + r.tails.size(), none) {
    add_tails();
    std::vector<index_t> place(r.rows.size(), none);
    for (index_t k = 0; k < rows.size(); ++k) place[rows[k]] = k;
    for (index_t i = 0; i < gaps.size(); ++i) gap_of_[gaps[i].gap] = i;
    std::vector<double> most(rows.size(), 1);  // bytes of needs
    for (const rerun_need& n : needs.needs) {
      place_.push_back(place[n.row]);
      has_needs_[place_.back()] = true;
      most[place_.back()] += static_cast<double>(n.size);
    }
    for (std::size_t i = 0; i < needs.rows.size(); ++i) wanted[place[needs.rows[i]]] = needs.over[i];
    choose_limits(most);
    first_steps = 2000, later_steps = 5, first_patience = 6;  // each is a minimum cut
  }

  bool has_needs() const override { return true; }

  /// A minimum cut over the needs at rows with a price.
  void price(const std::vector<double>& p, const std::vector<state>& fixed, valuation& v) override {
    exact_valuation e = exact(scaled(p), fixed);
    v.value = unscaled(e.value);
    v.reduced.resize(gaps.size());
    const double step = std::ldexp(1.0, -static_cast<int>(scale));
    for (std::size_t i = 0; i < gaps.size(); ++i) v.reduced[i] = static_cast<double>(e.reduced[i]) * step;
    v.covered = find_covered();
  }

  exact_valuation exact(const std::vector<std::uint64_t>& p, const std::vector<state>& fixed) override {
    exact_valuation v;
    cut_.clear();
    arcs_.clear();
    price_gaps(p, fixed, v);
    add_needs(p, fixed);
    v.value += static_cast<int128>(cut_.solve());
    read_flow(p, fixed, v);
    return v;
  }

  std::vector<std::uint64_t> scaled(const std::vector<double>& p) const override {
    std::vector<std::uint64_t> s(p.size());
    for (std::size_t k = 0; k < p.size(); ++k)
      s[k] = static_cast<std::uint64_t>(std::llround(std::min(std::ldexp(p[k], static_cast<int>(scale)), highest_[k])));
    return s;
  }

 private:
  /// Tails of needs are decided like gaps.
  void add_tails() {
    std::vector<bool> found(source.tails.size(), false);
    for (const rerun_need& n : needs_.needs)
      if (n.stretch != none && n.stretch >= source.gaps.size()) found[n.stretch - source.gaps.size()] = true;
    for (index_t i = 0; i < found.size(); ++i)
      if (const rerun_gap& t = source.tails[i]; found[i] && !t.closed)
        gaps.push_back({static_cast<index_t>(source.gaps.size()) + i, 0, 0, t.size, t.cost});
  }

  /// Costs and priced bytes stay within 2^61 in all, so that the cut is exact.
  void choose_limits(const std::vector<double>& most) {
    double cost = 1;
    for (const auto* stretches : {&source.gaps, &source.tails})
      for (const rerun_gap& g : *stretches) cost += static_cast<double>(g.cost);
    while (scale > 0 && std::ldexp(cost, static_cast<int>(scale)) > 0x1p50) --scale;
    const double share = 0x1p59 / std::max<double>(1, static_cast<double>(needs_.rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      highest_.push_back(has_needs_[k] ? std::floor(std::min(share / most[k], 0x1p46)) : 0x1p46);
  }

  /// Gaps as rows without needs price them: those that are worth it or decided are no part of the cut.
  void price_gaps(const std::vector<std::uint64_t>& p, const std::vector<state>& fixed, exact_valuation& v) {
    std::vector<int128> prefix(rows.size() + 1, 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      prefix[k + 1] = prefix[k] + (has_needs_[k] ? 0 : static_cast<int128>(p[k]));
      v.value += static_cast<int128>(p[k]) * static_cast<int128>(wanted[k]);
    }
    v.reduced.resize(gaps.size());
    member_.assign(source.gaps.size() + source.tails.size(), none);
    taken_.assign(gaps.size(), false);
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const auto& g = gaps[i];
      const int128 paid =
          (static_cast<int128>(g.cost) << scale) - static_cast<int128>(g.size) * (prefix[g.last] - prefix[g.first]);
      v.reduced[i] = paid;
      taken_[i] = fixed[i] == one || (fixed[i] == open && paid < 0);
      if (taken_[i]) v.value += paid;
      else if (fixed[i] == open) member_[g.gap] = cut_.add(static_cast<delta>(paid));
    }
  }

  void add_needs(const std::vector<std::uint64_t>& p, const std::vector<state>& fixed) {
    const auto& needs = needs_.needs;
    present_.assign(needs.size(), none);
    absent_.assign(needs.size(), none);
    const std::vector<double> priced = priced_rows(p);
    for (std::size_t i = 0; i < needs.size(); ++i)
      if (p[place_[i]] > 0 && !needs[i].certain) present_[i] = cut_.add(static_cast<delta>(p[place_[i]] * needs[i].size));
    for (index_t i = 0; i < needs.size(); ++i) {
      const rerun_need& n = needs[i];
      if (p[place_[i]] == 0 || n.closed || n.size == 0) continue;
      if (const index_t g = gap_of(n); g != none && fixed[g] == zero) continue;
      const std::uint64_t saved = p[place_[i]] * n.size, tied = tied_to_inputs(n, saved, p[place_[i]], priced);
      absent_[i] = cut_.add(-static_cast<delta>(saved - (tied < saved ? tied : 0)));
      if (n.stretch != none && member_[n.stretch] != none) add_arc(member_[n.stretch], absent_[i], i, none);
      if (present_[i] != none) add_arc(present_[i], absent_[i], i, i);
      if (tied == 0) continue;
      index_t with_inputs = absent_[i];
      if (tied < saved) {
        with_inputs = cut_.add(-static_cast<delta>(tied));
        add_arc(absent_[i], with_inputs, none, none);
      }
      for (index_t input : needs_.inputs[i]) add_arc(present_[input], with_inputs, i, input);
    }
  }
  void add_arc(index_t from, index_t to, index_t need, index_t input) {
    cut_.add_arc(from, to);
    arcs_.push_back({need, input});
  }

  /// The gap or tail of the cover that bears the cost of a need; none where none does.
  index_t gap_of(const rerun_need& n) const { return n.stretch == none ? none : gap_of_[n.stretch]; }

  const rerun_gap& stretch(index_t i) const {
    return i < source.gaps.size() ? source.gaps[i] : source.tails[i - source.gaps.size()];
  }
  /// Per stretch, the sum of prices of rows where its storage may be absent.
  std::vector<double> priced_rows(const std::vector<std::uint64_t>& p) const {
    std::vector<double> sum(source.gaps.size() + source.tails.size(), 0);
    for (std::size_t i = 0; i < place_.size(); ++i)
      if (const rerun_need& n = needs_.needs[i]; n.stretch != none) sum[n.stretch] += static_cast<double>(p[place_[i]]);
    return sum;
  }
  /// The part of the savings of an absent storage that it has only with the inputs of its producer.
  std::uint64_t tied_to_inputs(const rerun_need& n, std::uint64_t saved, std::uint64_t price,
                               const std::vector<double>& priced) const {
    if (n.stretch == none) return n.loads ? 0 : saved;
    const std::uint64_t more = stretch(n.stretch).load_more;
    if (more == rerun_gap::never) return saved;
    const double part = std::ldexp(static_cast<double>(more), static_cast<int>(scale)) * static_cast<double>(price) /
                        priced[n.stretch] * (1 - 1e-9);
    return part < 0x1p62 ? std::min(saved, static_cast<std::uint64_t>(part)) : saved;
  }

  /// Shares from the flow, and for each gap the cost of the other answer: of a gap that is not taken, the rest that it did not
  /// give away; of one that is taken, the rest that its needs did not get.
  void read_flow(const std::vector<std::uint64_t>& p, const std::vector<state>& fixed, exact_valuation& v) {
    const auto& needs = needs_.needs;
    std::vector<delta> unmet(needs.size(), 0);
    for (std::size_t i = 0; i < needs.size(); ++i)
      if (absent_[i] != none) unmet[i] = static_cast<delta>(p[place_[i]] * needs[i].size);
    for (std::size_t a = 0; a < arcs_.size(); ++a) {
      const delta flow = cut_.arcs()[a].flow;
      if (flow == 0) continue;
      const auto [need, input] = arcs_[a];
      if (need == none) continue;  // between the parts of one
      unmet[need] -= flow;
      const rerun_need& n = needs[need];
      v.shares.push_back({n.row, n.storage, input == none ? none : needs[input].storage, static_cast<std::uint64_t>(flow)});
      if (const index_t g = gap_of(n); input == none && g != none) v.reduced[g] -= static_cast<int128>(flow);
    }
    for (std::size_t i = 0; i < gaps.size(); ++i)
      if (const index_t m = member_[gaps[i].gap]; m != none && cut_.holds(m)) taken_[i] = true, v.reduced[i] = 0;
    for (std::size_t i = 0; i < needs.size(); ++i) {
      const index_t g = gap_of(needs[i]);
      if (g != none && fixed[g] == open && taken_[g]) v.reduced[g] -= static_cast<int128>(unmet[i]);
    }
  }

  std::vector<double> find_covered() const {
    std::vector<double> covered(rows.size() + 1, 0);
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (!taken_[i]) continue;
      covered[gaps[i].first] += static_cast<double>(gaps[i].size);
      covered[gaps[i].last] -= static_cast<double>(gaps[i].size);
    }
    for (std::size_t k = 1; k <= rows.size(); ++k) covered[k] += covered[k - 1];
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (has_needs_[k]) covered[k] = 0;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      const double size = static_cast<double>(needs_.needs[i].size);
      if (absent_[i] != none && cut_.holds(absent_[i])) covered[place_[i]] += size;
      if (present_[i] != none && cut_.holds(present_[i])) covered[place_[i]] -= size;
    }
    return covered;
  }

  struct need_arc {
    index_t need, input;  // need none: within one; input none: from its stretch
  };
  const rerun_needs& needs_;
  std::vector<bool> has_needs_;
  std::vector<index_t> gap_of_;  // among gaps of the cover, per gap of the rows
  std::vector<index_t> place_;   // per need, its row among those of the cover
  std::vector<double> highest_;  // price per row
  closure_problem cut_;
  std::vector<index_t> member_;            // per stretch
  std::vector<index_t> present_, absent_;  // members, per need
  std::vector<bool> taken_;                // per gap of the cover
  std::vector<need_arc> arcs_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
