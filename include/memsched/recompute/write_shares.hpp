// Shares of writes: how gaps of a storage bear the cost to write it outside memory.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Finds shares of the cost of writes, of rows that were just made, by which the bound of their cover is high. The bound holds
/// for any shares that sum up to no more than the write. `enough`: a bound that needs not be exceeded, the cost of a known
/// schedule; `rerun_gap::never` if there is none. O(steps * (rows + gaps)), up to 45,000 steps.
///
/// Lemma. For prices of rows, let u_g be the bytes of gap g times its prices, or the cost of its rerun if that is less,
/// beyond the cost to read the storage back; 0 if that is below 0. Of all shares of a write w, those as the u_g lead to the
/// highest value of these prices.
/// Proof. With a share x, a gap's part of the value is the smaller of 0 and, up to a number that does not depend on x,
/// x - u_g, as long as x <= u_g; a larger share adds nothing. So all parts rise by no more than the lesser of w and sum u_g.
/// Shares as the u_g are all at most u_g, or all at least u_g.
MEMSCHED_FUNCTION void share_writes(const execution_table& table, bytes budget, std::uint64_t enough, rerun_rows& r,
                                    search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <vector>

#include <memsched/recompute/price_search.hpp>
#include <memsched/recompute/priced_cover.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Shares by the prices at hand, of the gaps of a cover whose pieces are whole.
class write_sharing {
 public:
  write_sharing(const execution_table& table, priced_cover& cover) : cover_(cover) {
    for (std::size_t i = 0; i < cover.pieces.size(); ++i) {
      const rerun_gap& g = cover.stretch(cover.pieces[i].stretch);
      if (g.load == rerun_gap::never) continue;
      if (storages_.empty() || storages_.back().storage != g.storage)
        storages_.push_back({g.storage, table.write_cost(table.load_of(g.storage)), {}});
      storages_.back().gaps.push_back({i, g});
    }
  }

  /// A price of a byte at which every gap is worth a rerun, or a load and the whole write.
  double highest_price() const {
    double most = cover_.highest_price;
    for (const shared_write& w : storages_)
      for (const shared_gap& g : w.gaps) {
        const double cost = static_cast<double>(std::min(g.gap.rerun, g.gap.load + w.cost));
        most = std::max(most, cost / static_cast<double>(g.gap.size));
      }
    return most;
  }
  /// Sets shares and the costs of pieces.
  void share(const std::vector<double>& p) {
    price_before_.assign(p.size() + 1, 0);
    for (std::size_t k = 0; k < p.size(); ++k) price_before_[k + 1] = price_before_[k] + p[k];
    for (shared_write& w : storages_) share(w);
  }
  /// Of pieces that can be loaded; of others, none.
  void write_to(rerun_rows& r) const {
    for (rerun_gap& g : r.gaps) g.write = 0;
    for (const shared_write& w : storages_)
      for (const shared_gap& g : w.gaps) r.gaps[cover_.pieces[g.piece].stretch].write = g.gap.write;
  }

 private:
  struct shared_gap {
    std::size_t piece;
    rerun_gap gap;
    double worth = 0;
  };
  struct shared_write {
    tensor_id storage;
    std::uint64_t cost;
    std::vector<shared_gap> gaps;
  };

  void share(shared_write& w) {
    double sum = 0;
    for (shared_gap& g : w.gaps) {
      const priced_cover::piece& piece = cover_.pieces[g.piece];
      const double saved = static_cast<double>(piece.size) * (price_before_[piece.last] - price_before_[piece.first]);
      const double rerun = static_cast<double>(g.gap.rerun);
      g.worth = std::max(0.0, std::min(saved, rerun) - static_cast<double>(g.gap.load));
      sum += g.worth;
    }
    if (sum == 0) return;
    std::uint64_t left = w.cost;
    for (shared_gap& g : w.gaps) {
      const double part = static_cast<double>(w.cost) * (g.worth / sum);
      g.gap.write = std::min(left, static_cast<std::uint64_t>(part));
      left -= g.gap.write;
    }
    std::ranges::max_element(w.gaps, {}, &shared_gap::worth)->gap.write += left;
    for (const shared_gap& g : w.gaps) cover_.pieces[g.piece].cost = g.gap.cost();
  }

  priced_cover& cover_;
  std::vector<shared_write> storages_;
  std::vector<double> price_before_;
};

}  // namespace detail

MEMSCHED_FUNCTION void share_writes(const execution_table& table, bytes budget, std::uint64_t enough, rerun_rows& r,
                                    search& context) {
  detail::priced_cover cover(r, budget, 1);
  if (!table.prices() || cover.rows.empty()) return;
  detail::write_sharing shares(table, cover);
  const auto price = [&](const std::vector<double>& p, detail::priced_cover::valuation& v) {
    shares.share(p);
    cover.price(p, v);
  };
  detail::priced_cover::valuation now;
  std::vector<double> best = detail::ascend_rows(cover, shares.highest_price(), context, now, price);
  const detail::price_steps steps{cover.first_steps, cover.first_patience, static_cast<double>(enough)};
  if (enough != rerun_gap::never) best = detail::improve_prices(cover, best, steps, context, now, price);
  shares.share(best);
  shares.write_to(r);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
