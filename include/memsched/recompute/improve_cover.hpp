// Local search among the gap covers of an order.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Returns a cover of the rows over the budget that costs no more than `absent`, which says of each gap whether its storage is
/// absent in it; if `absent` is no cover, perhaps one. Takes a few gaps of a row away and repairs without one of them, and
/// keeps a cover that costs no more. A storage is written once, however often it is loaded. Deterministic; ends by counted
/// work, O(40,000 * (gaps + rows)) at most, or at a limit.
MEMSCHED_FUNCTION std::vector<bool> improve_cover(const execution_table& table, const rerun_rows& r, bytes budget,
                                                  std::vector<bool> absent, search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <memsched/base/random.hpp>
#include <memsched/recompute/priced_cover.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class cover_improvement {
 public:
  cover_improvement(const execution_table& table, const priced_cover& cover, search& context)
      : cover_(cover),
        context_(context),
        state_(cover.pieces.size(), present),
        best_(state_),
        loaded_(table.graph().tensors().size(), 0),
        write_(table.graph().tensors().size(), 0),
        missing_(cover.excess.begin(), cover.excess.end()) {
    for (const priced_cover::piece& p : cover.pieces)
      if (const op_id e = table.load_of(storage(p)); e != none) write_[storage(p)] = table.write_cost(e);
  }

  std::vector<bool> run(const std::vector<bool>& absent) {
    if (repair(state_.size())) trim(), keep_best();
    for (std::size_t g = 0; g < state_.size(); ++g)
      if (const bool is = state_[g] != present; is != absent[cover_.pieces[g].stretch]) is ? give_back(g) : take(g);
    if (repair(state_.size())) trim(), keep_best();
    go_back_to(best_), improve();
    std::vector<bool> result(absent.size(), false);
    for (std::size_t g = 0; g < state_.size(); ++g)
      if (best_[g] != present) result[cover_.pieces[g].stretch] = true;
    return result;
  }

 private:
  enum source : unsigned char { present, rerun, load };

  tensor_id storage(const priced_cover::piece& p) const { return cover_.stretch(p.stretch).storage; }

  /// The cheaper way to fill a gap beside the others, and its cost.
  std::pair<source, std::uint64_t> cheaper(std::size_t g) const {
    const rerun_gap& gap = cover_.stretch(cover_.pieces[g].stretch);
    if (gap.load == rerun_gap::never) return {rerun, gap.rerun};
    const std::uint64_t with_write = gap.load + (loaded_[gap.storage] == 0 ? write_[gap.storage] : 0);
    return with_write < gap.rerun ? std::pair(load, with_write) : std::pair(rerun, gap.rerun);
  }
  void take(std::size_t g) {
    const auto [by, cost] = cheaper(g);
    state_[g] = by;
    cost_ += cost;
    if (by == load) ++loaded_[storage(cover_.pieces[g])];
    for (std::size_t k = cover_.pieces[g].first; k < cover_.pieces[g].last; ++k)
      missing_[k] -= static_cast<delta>(cover_.pieces[g].size);
  }
  void give_back(std::size_t g) {
    const rerun_gap& gap = cover_.stretch(cover_.pieces[g].stretch);
    if (state_[g] == rerun) cost_ -= gap.rerun;
    else cost_ -= gap.load + (--loaded_[gap.storage] == 0 ? write_[gap.storage] : 0);
    state_[g] = present;
    for (std::size_t k = cover_.pieces[g].first; k < cover_.pieces[g].last; ++k)
      missing_[k] += static_cast<delta>(cover_.pieces[g].size);
  }

  /// Takes gaps until all rows are covered, those first that free much for their cost; none that is `banned`. Returns false if
  /// they do not suffice or a limit is hit.
  bool repair(std::size_t banned) {
    std::vector<index_t> open(missing_.size() + 1, 0);  // uncovered rows in front of each
    for (;;) {
      std::size_t worst = 0;
      for (std::size_t k = 0; k < missing_.size(); ++k) {
        open[k + 1] = open[k] + (missing_[k] > 0 ? 1 : 0);
        if (missing_[k] > missing_[worst]) worst = k;
      }
      if (missing_[worst] <= 0) return true;
      if (!context_.count_state()) return false;
      std::size_t choice = state_.size();
      double least = 0;
      for (std::size_t g = 0; g < state_.size(); ++g) {
        const priced_cover::piece& p = cover_.pieces[g];
        if (state_[g] != present || g == banned || p.first > worst || worst >= p.last) continue;
        const double freed = static_cast<double>(std::min(static_cast<delta>(p.size), missing_[worst]));
        const double rank =
            noise() * static_cast<double>(cheaper(g).second) / (freed * static_cast<double>(open[p.last] - open[p.first]));
        if (choice == state_.size() || rank < least) choice = g, least = rank;
      }
      if (choice == state_.size()) return false;
      take(choice);
    }
  }
  /// Between 0.75 and 1.25 if repairs of one cover shall differ, else 1.
  double noise() { return noisy_ ? 0.75 + static_cast<double>(random_.below(1024)) / 2048 : 1; }

  /// Gives back gaps that no row needs, the largest first.
  void trim() {
    std::vector<std::size_t> taken;
    for (std::size_t g = 0; g < state_.size(); ++g)
      if (state_[g] != present) taken.push_back(g);
    std::ranges::stable_sort(taken, std::ranges::greater(), [&](std::size_t g) { return cover_.pieces[g].size; });
    for (std::size_t g : taken) {
      const priced_cover::piece& p = cover_.pieces[g];
      bool needed = false;
      for (std::size_t k = p.first; k < p.last && !needed; ++k) needed = missing_[k] + static_cast<delta>(p.size) > 0;
      if (!needed) give_back(g);
    }
  }

  void improve() {
    constexpr std::uint64_t tries = 40'000, work = 400'000'000;
    const std::uint64_t one = 1 + state_.size() + missing_.size();
    std::vector<std::size_t> here;
    for (std::uint64_t k = 0; k < tries && k * one < work && context_.keep_going(); ++k) {
      const std::size_t row = random_.below(missing_.size());
      here.clear();
      for (std::size_t g = 0; g < state_.size(); ++g)
        if (state_[g] != present && cover_.pieces[g].first <= row && row < cover_.pieces[g].last) here.push_back(g);
      const std::vector<source> before = state_;
      const std::uint64_t cost_before = cost_;
      std::size_t banned = state_.size();
      for (std::uint64_t n = 1 + random_.below(4); n > 0 && !here.empty(); --n) {
        std::swap(here[random_.below(here.size())], here.back());
        banned = here.back();
        here.pop_back();
        give_back(banned);
      }
      noisy_ = k % 2 == 1;
      const bool covers = repair(banned);
      if (covers) trim();
      if (!covers || cost_ > cost_before) go_back_to(before);
      else keep_best();
    }
  }
  void keep_best() {
    if (cost_ < best_cost_) best_cost_ = cost_, best_ = state_;
  }
  void go_back_to(const std::vector<source>& before) {
    for (std::size_t g = 0; g < state_.size(); ++g)
      if (state_[g] != present && state_[g] != before[g]) give_back(g);
    for (std::size_t g = 0; g < state_.size(); ++g)
      if (state_[g] != before[g]) take(g);
  }

  const priced_cover& cover_;
  search& context_;
  std::vector<source> state_, best_;   // per piece
  std::vector<std::uint32_t> loaded_;  // per storage, the gaps with loads
  std::vector<std::uint64_t> write_;   // per storage
  std::vector<delta> missing_;         // per row: bytes that no gap frees yet; below 0: bytes to spare
  std::uint64_t cost_ = 0, best_cost_ = ~std::uint64_t{0};
  base::random_source random_{1};
  bool noisy_ = false;
};

}  // namespace detail

MEMSCHED_FUNCTION std::vector<bool> improve_cover(const execution_table& table, const rerun_rows& r, bytes budget,
                                                  std::vector<bool> absent, search& context) {
  const detail::priced_cover cover(r, budget, 1);
  if (cover.rows.empty()) return absent;
  return detail::cover_improvement(table, cover, context).run(absent);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
