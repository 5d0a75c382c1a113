// The gap cover with needs: absent storages of some rows are made again from inputs that are in memory or made again, too.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/recompute/decided_needs.hpp>
#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/priced_cover.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The value of prices if some rows have needs. At such a row with price p, a need takes p times its bytes if it is in
/// memory. If it is absent, its stretch is paid for, once for all rows, and the inputs of its producer are needed. The best
/// answer is a minimum closure: one minimum cut, and its flow proves the value.
///
/// If the storage can be loaded, its absence saves all of that only with the inputs, and without them less by the row's part
/// of the stretch's `load_more`. A loaded storage pays `load_more` for its stretch, which is no
/// less than all parts together, so that this is a lower bound.
class priced_closure final : public priced_cover {
 public:
  priced_closure(const rerun_rows& r, const rerun_needs& needs, bytes budget, std::uint64_t u)
      : priced_cover(r, budget, u), needs_(needs), decided_(r, needs), has_needs_(rows.size(), false) {
    add_tails();
    std::vector<index_t> place(r.rows.size(), none);
    for (index_t k = 0; k < rows.size(); ++k) place[rows[k]] = k;
    std::vector<double> most(rows.size(), 1);  // bytes of needs
    for (index_t i = 0; i < needs.needs.size(); ++i) {
      const rerun_need& n = needs.needs[i];
      place_.push_back(place[n.row]);
      has_needs_[place_.back()] = true;
      most[place_.back()] += static_cast<double>(n.size);
    }
    choose_limits(most);
    add_reruns();
    decide({});
    first_steps = 2000, later_steps = 5, first_patience = 6;  // each is a minimum cut
  }

  bool has_needs() const override { return true; }

  /// Cuts pieces where storages are made again, too (`find_needs`).
  void decide(std::vector<decision> known) override {
    known_ = decision_list(std::move(known));
    windows_ = decided_.decide(known_);
    count_reruns();
    cut();
    piece_of_.assign(needs_.needs.size(), none);
    for (index_t i = 0; i < pieces.size(); ++i)
      for (index_t need : decided_.needs_of(pieces[i].stretch))
        if (const index_t k = needs_.needs[need].row; pieces[i].from <= k && k <= pieces[i].to) piece_of_[need] = i;
    want();
  }

  /// Storages that the last cut says are absent come first, then those that may be.
  std::optional<decision> row_to_decide() override {
    const auto is_absent = [&](index_t i) {
      return decided_.is_absent(i) || (piece_of_[i] != none && absent_[i] != none && cut_.holds(absent_[i]));
    };
    const auto may_be_absent = [&](index_t i) {
      return decided_.is_absent(i) || (decided_.is_open(i) && piece_of_[i] != none && taken_[piece_of_[i]]);
    };
    auto d = dearest_return(is_absent);
    if (!d) d = dearest_return(may_be_absent);
    return d ? d : rerun_over_budget(may_be_absent);
  }

  /// A minimum cut over the needs at rows with a price.
  void price(const std::vector<double>& p, valuation& v) override {
    exact_valuation e = exact(scaled(p));
    v.value = unscaled(e.value);
    v.reduced.resize(pieces.size());
    const double step = std::ldexp(1.0, -static_cast<int>(scale));
    for (std::size_t i = 0; i < pieces.size(); ++i) v.reduced[i] = static_cast<double>(e.reduced[i]) * step;
    v.covered = find_covered();
  }

  exact_valuation exact(const std::vector<std::uint64_t>& p) override {
    exact_valuation v;
    cut_.clear();
    arcs_.clear();
    price_pieces(p, v);
    add_needs(p);
    v.value += static_cast<int128>(cut_.solve());
    read_flow(p, v);
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
      if (const rerun_gap& t = source.tails[i]; found[i] && !t.closed())
        wholes.push_back({static_cast<index_t>(source.gaps.size()) + i, t.first, t.last, 0, 0, t.size, t.cost(), open});
  }

  /// Takes needs that are made again for another one, with pieces that are absent after that, too: the one with the dearest
  /// piece. Returns the first need that is not decided, of it and those that it is made again for.
  template <class F>
  std::optional<decision> dearest_return(const F& absent) {
    const std::vector<rerun_return> returns = decided_.find_returns(known_, absent);
    index_t best = none;
    for (index_t i = 0; i < returns.size(); ++i) {
      if (returns[i].reader == none || piece_of_[i] == none || !is_absent_from(returns[i].back, piece_of_[i], absent))
        continue;
      if (best == none || pieces[piece_of_[best]].cost < pieces[piece_of_[i]].cost) best = i;
    }
    while (best != none && !decided_.is_open(best)) best = returns[best].reader;
    if (best == none) return std::nullopt;
    const rerun_need& n = needs_.needs[best];
    return decision{n.stretch, n.row, n.row, true};
  }
  /// The need with the most bytes over the budget while its producer runs again, if gaps are as answered.
  template <class F>
  std::optional<decision> rerun_over_budget(const F& absent) const {
    std::vector<bool> made_again(source.gaps.size(), false);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (taken_[i] && !is_tail(pieces[i].stretch)) made_again[pieces[i].stretch] = true;
    index_t worst = none;
    delta most = 0;
    for (index_t i = 0; i < needs_.reruns.size(); ++i) {
      const rerun_row& rerun = needs_.reruns[i];
      if (!decided_.is_open(rerun.need) || !absent(rerun.need)) continue;
      delta over = static_cast<delta>(rerun.over);
      for (index_t g : needs_.lasting[i])
        if (made_again[g]) over -= static_cast<delta>(source.gaps[g].size);
      if (over > most) most = over, worst = rerun.need;
    }
    if (worst == none) return std::nullopt;
    const rerun_need& n = needs_.needs[worst];
    return decision{n.stretch, n.row, n.row, true};
  }
  /// Whether a piece is absent at a row over the budget from `row` on.
  template <class F>
  bool is_absent_from(index_t row, index_t i, const F& absent) const {
    const piece& p = pieces[i];
    if (row > p.to) return false;
    if (!is_tail(p.stretch) && taken_[i] && rows_before(row) < p.last) return true;
    return std::ranges::any_of(decided_.needs_of(p.stretch), [&](index_t need) {
      const index_t k = needs_.needs[need].row;
      return row <= k && k <= p.to && absent(need);
    });
  }
  /// Finds certain reruns, the bytes over the budget that a price asks for, and the gaps that may make room for these. If a
  /// storage is known to be in memory at rows of a gap, it may be made again between them: the gap counts neither way.
  void count_reruns() {
    counts_.assign(source.gaps.size() + source.tails.size(), false);
    for (index_t i = 0; i < needs_.reruns.size(); ++i) {
      const rerun_row& rerun = needs_.reruns[i];
      delta& over = wanted[rows.size() + i];
      over = 0;
      rooms_[i].clear();
      if (!decided_.is_absent(rerun.need)) continue;
      over = static_cast<delta>(rerun.over);
      for (index_t g : needs_.lasting[i]) {
        if (is_decided_at_rows(g)) over -= static_cast<delta>(source.gaps[g].size);
        else rooms_[i].push_back(g), counts_[g] = true;
      }
    }
  }
  bool is_decided_at_rows(index_t gap) const {
    return std::ranges::any_of(known_.of(gap), [](const decision& d) { return !d.absent && !d.again; });
  }
  /// At rows with needs, a price asks for the bytes of certain needs beyond the room.
  void want() {
    for (index_t i = 0, need = 0; i < needs_.rows.size(); ++i) {
      delta over = -static_cast<delta>(needs_.room[i]);
      index_t k = none;
      for (; need < place_.size() && needs_.needs[need].row == needs_.rows[i]; ++need) {
        k = place_[need];
        if (decided_.is_certain(need) && !decided_.is_absent(need)) over += static_cast<delta>(needs_.needs[need].size);
      }
      if (k != none) wanted[k] = over;
    }
  }

  /// Reruns have prices after those of rows, and gaps that last while they run are decided, too.
  void add_reruns() {
    wanted.resize(rows.size() + needs_.reruns.size(), 0);
    rooms_.resize(needs_.reruns.size());
    highest_.resize(wanted.size(), 0x1p46);
    std::vector<bool> found(source.gaps.size(), false);
    for (const piece& p : wholes)
      if (!is_tail(p.stretch)) found[p.stretch] = true;
    for (index_t i = 0; i < needs_.reruns.size(); ++i)
      for (index_t g : needs_.lasting[i]) {
        const rerun_gap& gap = source.gaps[g];
        if (found[g] || gap.closed() || gap.size == 0) continue;
        found[g] = true;
        wholes.push_back({g, gap.first, gap.last, 0, 0, gap.size, gap.cost(), open});
      }
  }

  /// Costs and priced bytes stay within 2^61 in all, so that the cut is exact.
  void choose_limits(const std::vector<double>& most) {
    double cost = 1;
    for (const auto* stretches : {&source.gaps, &source.tails})
      for (const rerun_gap& g : *stretches) cost += static_cast<double>(g.cost());
    while (scale > 0 && std::ldexp(cost, static_cast<int>(scale)) > 0x1p50) --scale;
    const double share = 0x1p59 / std::max<double>(1, static_cast<double>(needs_.rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      highest_.push_back(has_needs_[k] ? std::floor(std::min(share / most[k], 0x1p46)) : 0x1p46);
  }

  /// Gaps as rows without needs price them: those that are worth it or decided are no part of the cut.
  void price_pieces(const std::vector<std::uint64_t>& p, exact_valuation& v) {
    std::vector<int128> prefix(rows.size() + 1, 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      prefix[k + 1] = prefix[k] + (has_needs_[k] ? 0 : static_cast<int128>(p[k]));
      v.value += static_cast<int128>(p[k]) * static_cast<int128>(wanted[k]);
    }
    std::vector<int128> by_reruns(source.gaps.size(), 0);  // per gap, prices of reruns that it makes room for
    for (index_t i = 0; i < needs_.reruns.size(); ++i) {
      const auto price = static_cast<int128>(p[rows.size() + i]);
      v.value += price * static_cast<int128>(wanted[rows.size() + i]);
      for (index_t g : rooms_[i]) by_reruns[g] += price;
    }
    v.reduced.resize(pieces.size());
    member_.assign(pieces.size(), none);
    taken_.assign(pieces.size(), false);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const piece& g = pieces[i];
      const int128 price = prefix[g.last] - prefix[g.first] + (is_tail(g.stretch) ? 0 : by_reruns[g.stretch]);
      const int128 paid = (static_cast<int128>(g.cost) << scale) - static_cast<int128>(g.size) * price;
      v.reduced[i] = paid;
      taken_[i] = g.answer == one || (g.answer == open && paid < 0);
      if (taken_[i]) v.value += paid;
      else if (g.answer == open) member_[i] = cut_.add(static_cast<delta>(paid));
    }
  }

  void add_needs(const std::vector<std::uint64_t>& p) {
    const auto& needs = needs_.needs;
    present_.assign(needs.size(), none);
    absent_.assign(needs.size(), none);
    const std::vector<double> priced = priced_rows(p);
    for (index_t i = 0; i < needs.size(); ++i)
      if (p[place_[i]] > 0 && !decided_.is_certain(i))
        present_[i] = cut_.add(static_cast<delta>(p[place_[i]] * needs[i].size));
    for (index_t i = 0; i < needs.size(); ++i) {
      const rerun_need& n = needs[i];
      if (p[place_[i]] == 0 || n.closed || n.size == 0 || !decided_.is_open(i)) continue;
      const std::uint64_t saved = p[place_[i]] * n.size, tied = tied_to_inputs(n, saved, p[place_[i]], priced);
      absent_[i] = cut_.add(-static_cast<delta>(saved - (tied < saved ? tied : 0)));
      if (const index_t payer = piece_of_[i]; payer != none && member_[payer] != none)
        add_arc(member_[payer], absent_[i], i, none);
      if (present_[i] != none) add_arc(present_[i], absent_[i], i, i);
      if (tied == 0) continue;
      index_t with_inputs = absent_[i];
      if (tied < saved) {
        with_inputs = cut_.add(-static_cast<delta>(tied));
        add_arc(absent_[i], with_inputs, none, none);
      }
      for (index_t input : needs_.inputs[i])
        if (present_[input] != none) add_arc(present_[input], with_inputs, i, input);
    }
  }
  void add_arc(index_t from, index_t to, index_t need, index_t input) {
    cut_.add_arc(from, to);
    arcs_.push_back({need, input});
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
    const std::uint64_t more = stretch(n.stretch).load_more();
    if (more == rerun_gap::never) return saved;
    const double part = std::ldexp(static_cast<double>(more), static_cast<int>(scale)) * static_cast<double>(price) /
                        priced[n.stretch] * (1 - 1e-9);
    return part < 0x1p62 ? std::min(saved, static_cast<std::uint64_t>(part)) : saved;
  }

  /// Shares from the flow, and for each gap the cost of the other answer: of a gap that is not taken, the rest that it did not
  /// give away; of one that is taken, the rest that its needs did not get.
  void read_flow(const std::vector<std::uint64_t>& p, exact_valuation& v) {
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
      if (input == none) v.reduced[piece_of_[need]] -= static_cast<int128>(flow);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (const index_t m = member_[i]; m != none && cut_.holds(m)) taken_[i] = true, v.reduced[i] = 0;
    for (std::size_t i = 0; i < needs.size(); ++i) {
      const index_t g = piece_of_[i];
      if (g != none && pieces[g].answer == open && taken_[g]) v.reduced[g] -= static_cast<int128>(unmet[i]);
    }
  }

  std::vector<double> find_covered() const {
    std::vector<double> covered(rows.size() + 1, 0);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!taken_[i]) continue;
      covered[pieces[i].first] += static_cast<double>(pieces[i].size);
      covered[pieces[i].last] -= static_cast<double>(pieces[i].size);
    }
    for (std::size_t k = 1; k <= rows.size(); ++k) covered[k] += covered[k - 1];
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (has_needs_[k]) covered[k] = 0;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      const double size = static_cast<double>(needs_.needs[i].size);
      if (absent_[i] != none && cut_.holds(absent_[i])) covered[place_[i]] += size;
      if (present_[i] != none && cut_.holds(present_[i])) covered[place_[i]] -= size;
    }
    covered.resize(rows.size());
    std::vector<double> made_again(source.gaps.size(), 0);  // bytes
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (taken_[i] && !is_tail(pieces[i].stretch)) made_again[pieces[i].stretch] += static_cast<double>(pieces[i].size);
    for (index_t i = 0; i < needs_.reruns.size(); ++i) {
      covered.push_back(0);
      for (index_t g : rooms_[i]) covered.back() += made_again[g];
    }
    return covered;
  }

  struct need_arc {
    index_t need, input;  // need none: within one; input none: from its stretch
  };
  const rerun_needs& needs_;
  decided_needs decided_;
  std::vector<bool> has_needs_;
  std::vector<index_t> place_;               // per need, its row among those of the cover
  std::vector<index_t> piece_of_;            // per need, the piece that pays for it
  std::vector<std::vector<index_t>> rooms_;  // per rerun, gaps that may make room for it; none if it is not certain
  std::vector<double> highest_;              // price per row
  closure_problem cut_;
  std::vector<index_t> member_;            // per piece
  std::vector<index_t> present_, absent_;  // members, per need
  std::vector<bool> taken_;                // per piece
  std::vector<need_arc> arcs_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
