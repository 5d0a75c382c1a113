// Plans of spills: when storages leave a chip and come back, so that an order moves few bytes.
#pragma once

#include <span>
#include <vector>

#include <memsched/allocation/replay_spills.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

struct spill_plan {
  std::vector<spill> spills;  ///< ascending by `from`, then by storage
  traffic_count count;        ///< bytes that they move
};

/// Plans which whole storages leave a chip of `capacity` bytes and when, so that each operator of an order has all its operands
/// and its workspace there: `traffic_model::resident`. Moves no more than `count_traffic`, and proves a lower bound for this
/// order. Fails as `count_traffic` does. Limits of the context end it with the best plan so far.
/// O(steps * (operators + gaps)), up to 600 steps for the bound and 20,000 for the plan.
///
/// **Cover.** A gap is a stretch between two uses of a storage, or behind its last use where it stays to the end. At each
/// step, gaps in which the storage is outside must free the bytes of operands, workspace and all idle storages beyond the
/// capacity. A gap costs its bytes for reading, but for one that reaches the end; and all gaps of one value of a
/// storage, which an update ends, cost its bytes once, for writing.
///
/// **Bound.** For prices p >= 0 of a byte at each step, every plan moves at least sum_k p_k excess_k less, for each value of s
/// bytes, max(0, sum over its gaps of max(0, s P_g - read_g) - s), where P_g is the sum of p over the gap.
/// Proof. A plan's cost is at least cost + sum_k p_k (excess_k - bytes that its gaps free at k), since the bracket is at most 0.
/// That is a sum over values, each of which is least where it takes no gap, or those with s P_g > read_g.
MEMSCHED_FUNCTION result<spill_plan> plan_spills(const problem& p, std::span<const op_id> order, bytes capacity,
                                                 memory_model model, search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include <memsched/base/int128.hpp>
#include <memsched/base/random.hpp>
#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The gaps of an order, and the bytes that they must free. Row 0 is the start, row k + 1 the step k; only rows that overflow are kept.
struct spill_cover {
  struct gap {
    index_t value;        ///< which value of a storage
    index_t first, last;  ///< kept rows, `last` excluded
    bool read;            ///< the storage comes back
    spill what;
  };
  struct value {
    bytes size = 0;
    std::size_t first = 0, last = 0;  ///< its gaps, `last` excluded
  };

  std::vector<bytes> excess;  ///< per kept row
  std::vector<gap> gaps;      ///< of one value side by side
  std::vector<value> values;
};

class spill_cover_builder {
 public:
  spill_cover_builder(const problem& p, std::span<const op_id> order, bytes capacity, memory_model model)
      : p_(p), order_(order), capacity_(capacity), step_(order.size()), used_(order.size() + 1, 0) {
    for (index_t k = 0; k < order.size(); ++k) step_[order[k]] = k;
    const chip operands(p, order, capacity, traffic_model::resident, model);
    for (index_t k = 0; k < order.size(); ++k) used_[k + 1] = operands.working_set(k);
  }

  spill_cover run() {
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.kept(t)) add_storage(t);
    keep_rows();
    return std::move(out_);
  }

 private:
  void add_storage(tensor_id t) {
    const auto steps = static_cast<index_t>(order_.size());
    std::vector<index_t> uses;
    for (op_id reader : p_.readers(t)) uses.push_back(step_[reader]);
    std::sort(uses.begin(), uses.end());
    index_t from = 0, row = 0;  // where the gap would begin: the step, and the row
    if (p_.producer(t) != none) from = step_[p_.producer(t)] + 1, row = from + 1;
    begin_value(t);
    for (index_t use : uses) {
      add_gap(t, from, use, row, use + 1, true);
      if (updates_storage(p_, order_[use], t)) begin_value(t);
      from = use + 1, row = from + 1;
    }
    if (p_.stays(t)) add_gap(t, from, steps, row, steps + 1, false);
    end_value();
  }
  void begin_value(tensor_id t) {
    end_value();
    out_.values.push_back({p_.size(t), out_.gaps.size(), out_.gaps.size()});
  }
  void end_value() {
    if (!out_.values.empty()) out_.values.back().last = out_.gaps.size();
  }
  /// Rows from `row` to `end`, which is excluded.
  void add_gap(tensor_id t, index_t from, index_t to, index_t row, index_t end, bool read) {
    if (row >= end || p_.size(t) == 0) return;
    for (index_t r = row; r < end; ++r) used_[r] += p_.size(t);
    out_.gaps.push_back({static_cast<index_t>(out_.values.size() - 1), row, end, read, {t, from, to, false}});
  }

  void keep_rows() {
    std::vector<index_t> before(used_.size() + 1, 0);  // kept rows in front of each
    for (std::size_t r = 0; r < used_.size(); ++r) {
      before[r + 1] = before[r] + (used_[r] > capacity_ ? 1 : 0);
      if (used_[r] > capacity_) out_.excess.push_back(used_[r] - capacity_);
    }
    for (spill_cover::gap& g : out_.gaps) g.first = before[g.first], g.last = before[g.last];
    round_up();
  }
  /// Rounds excesses up: gaps free multiples of the common divisor of their sizes at a row, and no less than the smallest.
  void round_up() {
    std::vector<bytes> divisor(out_.excess.size(), 0), smallest(out_.excess.size(), no_limit);
    for (const spill_cover::gap& g : out_.gaps)
      for (index_t r = g.first; r < g.last; ++r) {
        divisor[r] = std::gcd(divisor[r], p_.size(g.what.storage));
        smallest[r] = std::min(smallest[r], p_.size(g.what.storage));
      }
    for (std::size_t r = 0; r < out_.excess.size(); ++r)
      if (divisor[r] > 0)
        out_.excess[r] = std::max(smallest[r], (out_.excess[r] + divisor[r] - 1) / divisor[r] * divisor[r]);
  }

  const problem& p_;
  std::span<const op_id> order_;
  bytes capacity_;
  std::vector<index_t> step_;
  std::vector<bytes> used_;  ///< bytes at each row while nothing is outside
  spill_cover out_;
};

/// Searches for a cheap cover: prices for a bound and for starts, then repair after gaps are taken away.
class spill_search {
 public:
  spill_search(const spill_cover& cover, search& context)
      : cover_(cover), context_(context), out_(cover.gaps.size(), false), taken_(cover.values.size(), 0) {}

  /// Begins with a cover. `floor`: a bound that is known.
  void run(const std::vector<bool>& start, bytes floor) {
    bound = floor;
    load(start);
    trim();
    keep_best();
    find_prices();
    improve();
  }

  std::vector<bool> best;  ///< per gap: whether the storage is outside
  bytes cost = no_limit, bound = 0;

 private:
  using delta = std::int64_t;
  static constexpr int scale = 40;  // of prices, as powers of 2

  bytes size(std::size_t g) const { return cover_.values[cover_.gaps[g].value].size; }
  /// Bytes that one more gap costs, or one less spares, beside `others` of the same value.
  bytes margin(std::size_t g, std::uint32_t others) const {
    return (cover_.gaps[g].read ? size(g) : 0) + (others == 0 ? size(g) : 0);
  }

  // --- the cover at hand ---

  void load(const std::vector<bool>& outside) {
    missing_.assign(cover_.excess.begin(), cover_.excess.end());
    std::fill(taken_.begin(), taken_.end(), 0);
    std::fill(out_.begin(), out_.end(), false);
    now_ = 0;
    for (std::size_t g = 0; g < outside.size(); ++g)
      if (outside[g]) take(g);
  }
  void take(std::size_t g) {
    out_[g] = true;
    now_ += margin(g, taken_[cover_.gaps[g].value]++);
    for (index_t r = cover_.gaps[g].first; r < cover_.gaps[g].last; ++r) missing_[r] -= static_cast<delta>(size(g));
  }
  void give_back(std::size_t g) {
    out_[g] = false;
    now_ -= margin(g, --taken_[cover_.gaps[g].value]);
    for (index_t r = cover_.gaps[g].first; r < cover_.gaps[g].last; ++r) missing_[r] += static_cast<delta>(size(g));
  }

  /// Takes gaps until all rows are covered, those first that free much for their cost; none that is `banned`. Returns false if
  /// they do not suffice or a limit is hit.
  bool repair(std::size_t banned) {
    std::vector<index_t> open(missing_.size() + 1, 0);  // uncovered rows in front of each
    for (;;) {
      std::size_t worst = 0;
      for (std::size_t r = 0; r < missing_.size(); ++r) {
        open[r + 1] = open[r] + (missing_[r] > 0 ? 1 : 0);
        if (missing_[r] > missing_[worst]) worst = r;
      }
      if (missing_.empty() || missing_[worst] <= 0) return true;
      if (!context_.count_state()) return false;
      std::size_t choice = cover_.gaps.size();
      double least = 0;
      for (std::size_t g = 0; g < cover_.gaps.size(); ++g) {
        const auto& gap = cover_.gaps[g];
        if (out_[g] || g == banned || gap.first > worst || worst >= gap.last) continue;
        const double freed = static_cast<double>(std::min(static_cast<delta>(size(g)), missing_[worst]));
        const double rank = noise() * static_cast<double>(margin(g, taken_[gap.value])) /
                            (freed * static_cast<double>(open[gap.last] - open[gap.first]));
        if (choice == cover_.gaps.size() || rank < least) choice = g, least = rank;
      }
      if (choice == cover_.gaps.size()) return false;
      take(choice);
    }
  }

  /// Between 0.75 and 1.25 where repairs of one cover shall differ, else 1.
  double noise() { return noisy_ ? 0.75 + static_cast<double>(random_.below(1024)) / 2048 : 1; }

  /// Gives back gaps that are not needed, those first that spare most.
  void trim() {
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < out_.size(); ++g)
      if (out_[g]) order.push_back(g);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    for (std::size_t g : order) {
      const auto& gap = cover_.gaps[g];
      bool needed = false;
      for (index_t r = gap.first; r < gap.last && !needed; ++r) needed = missing_[r] + static_cast<delta>(size(g)) > 0;
      if (!needed) give_back(g);
    }
  }
  void keep_best() {
    if (now_ < cost) cost = now_, best = out_;
  }

  // --- prices ---

  /// Per row r, the sum of prices in front of it.
  template <class T>
  static std::vector<T> sums(const std::vector<T>& prices) {
    std::vector<T> sum(prices.size() + 1, 0);
    for (std::size_t r = 0; r < prices.size(); ++r) sum[r + 1] = sum[r] + prices[r];
    return sum;
  }

  /// The bound that scaled prices prove, in whole bytes: a plan moves no fraction, so that it is rounded up.
  bytes exact(const std::vector<int128>& prices) const {
    const std::vector<int128> sum = sums(prices);
    constexpr int128 one = int128{1} << scale;
    int128 value = 0;
    for (std::size_t r = 0; r < prices.size(); ++r) value += prices[r] * cover_.excess[r];
    for (const auto& v : cover_.values) {
      int128 gain = 0;  // for a byte
      for (std::size_t g = v.first; g < v.last; ++g) {
        const auto& gap = cover_.gaps[g];
        gain += std::max<int128>(0, sum[gap.last] - sum[gap.first] - (gap.read ? one : 0));
      }
      value -= std::max<int128>(0, gain - one) * v.size;
    }
    return value <= 0 ? 0 : static_cast<bytes>((value + one - 1) / one);
  }

  /// Returns the value of prices; sets `chosen_` to the gaps that are worth it and `freed_` to their bytes at each row.
  double evaluate(const std::vector<double>& prices) {
    const std::vector<double> sum = sums(prices);
    std::fill(chosen_.begin(), chosen_.end(), false);
    std::vector<double> change(prices.size() + 1, 0);
    double value = 0;
    for (std::size_t r = 0; r < prices.size(); ++r) value += prices[r] * static_cast<double>(cover_.excess[r]);
    for (const auto& v : cover_.values) {
      const auto reduced = [&](std::size_t g) {
        const auto& gap = cover_.gaps[g];
        return sum[gap.last] - sum[gap.first] - (gap.read ? 1 : 0);
      };
      double gain = -1;
      for (std::size_t g = v.first; g < v.last; ++g) gain += std::max(0.0, reduced(g));
      if (gain <= 0) continue;
      const auto s = static_cast<double>(v.size);
      value -= gain * s;
      for (std::size_t g = v.first; g < v.last; ++g)
        if (reduced(g) > 0) chosen_[g] = true, change[cover_.gaps[g].first] += s, change[cover_.gaps[g].last] -= s;
    }
    freed_ = sums(change);
    return value;
  }

  /// Improves prices by subgradient steps (Polyak); now and then the gaps that they choose begin a cover.
  void find_prices() {
    constexpr int steps = 600, rounds = 20;
    std::vector<double> prices(cover_.excess.size(), 0), good = prices;
    chosen_.assign(cover_.gaps.size(), false);
    double highest = -1, factor = 1;
    int idle = 0;
    for (int step = 0; step < steps && bound < cost && factor > 1e-4 && context_.keep_going(); ++step) {
      const double value = evaluate(prices), aim = static_cast<double>(cost);
      if (value > highest) highest = value, good = prices, idle = 0;
      else if (++idle > 8) idle = 0, factor *= 0.6, prices = good, evaluate(prices);
      if (step % (steps / rounds) == 0) {
        load(chosen_);
        if (repair(cover_.gaps.size())) trim(), keep_best();
        prove(good);
      }
      double norm = 0;
      for (std::size_t r = 0; r < prices.size(); ++r) {
        const double g = static_cast<double>(cover_.excess[r]) - freed_[r + 1];
        if (prices[r] > 0 || g > 0) norm += g * g;
      }
      if (norm == 0) break;
      const double length = factor * std::max(aim - value, 1e-3 * aim) / norm;
      for (std::size_t r = 0; r < prices.size(); ++r)
        prices[r] = std::max(0.0, prices[r] + length * (static_cast<double>(cover_.excess[r]) - freed_[r + 1]));
    }
    prove(good);
  }
  void prove(const std::vector<double>& prices) {
    constexpr double most = 4;  // a byte moves at most three times for a gap
    std::vector<int128> scaled;
    scaled.reserve(prices.size());
    for (double x : prices) scaled.push_back(static_cast<int128>(std::ldexp(std::min(x, most), scale)));
    bound = std::max(bound, exact(scaled));
  }

  // --- improvement ---

  /// Takes up to four gaps of one row away, repairs without one of them, and keeps a cover that costs no more.
  void improve() {
    constexpr std::uint64_t tries = 20'000, work = 200'000'000;
    const std::uint64_t one = 1 + cover_.gaps.size() + cover_.excess.size();
    load(best);
    std::vector<std::size_t> here;
    for (std::uint64_t k = 0; k < tries && k * one < work && bound < cost && context_.keep_going(); ++k) {
      const auto row = static_cast<index_t>(random_.below(cover_.excess.size()));
      here.clear();
      for (std::size_t g = 0; g < out_.size(); ++g)
        if (out_[g] && cover_.gaps[g].first <= row && row < cover_.gaps[g].last) here.push_back(g);
      const std::vector<bool> before = out_;
      const bytes cost_before = now_;
      std::size_t banned = cover_.gaps.size();
      for (std::uint64_t n = 1 + random_.below(4); n > 0 && !here.empty(); --n) {
        std::swap(here[random_.below(here.size())], here.back());
        banned = here.back();
        here.pop_back();
        give_back(banned);
      }
      noisy_ = k % 2 == 1;
      if (repair(banned)) trim();
      if (!covered() || now_ > cost_before) load(before);
      else keep_best();
    }
  }
  bool covered() const {
    return std::all_of(missing_.begin(), missing_.end(), [](delta m) { return m <= 0; });
  }

  const spill_cover& cover_;
  search& context_;
  std::vector<bool> out_, chosen_;    ///< per gap
  std::vector<std::uint32_t> taken_;  ///< per value: gaps outside
  std::vector<delta> missing_;        ///< per row: bytes that no gap frees yet; below 0: bytes to spare
  std::vector<double> freed_;         ///< by chosen gaps; of row r at r + 1
  bytes now_ = 0;
  base::random_source random_{1};
  bool noisy_ = false;
};

}  // namespace detail

MEMSCHED_FUNCTION result<spill_plan> plan_spills(const problem& p, std::span<const op_id> order, bytes capacity,
                                                 memory_model model, search& context) {
  if (graph_error error = check_order(p, order); !error.message.empty()) return error;
  std::vector<detail::chip::eviction> evicted;
  const auto belady = detail::chip(p, order, capacity, traffic_model::resident, model, &evicted).run();
  if (!belady) return belady.error();
  const detail::spill_cover cover = detail::spill_cover_builder(p, order, capacity, model).run();
  std::vector<bool> start(cover.gaps.size());
  std::vector<index_t> at(p.tensors().size(), none);  // per storage, its first gap
  for (std::size_t g = cover.gaps.size(); g-- > 0;) at[cover.gaps[g].what.storage] = static_cast<index_t>(g);
  for (const auto& [storage, to] : evicted)
    for (std::size_t g = at[storage]; g < cover.gaps.size() && cover.gaps[g].what.storage == storage; ++g)
      if (cover.gaps[g].what.to == to) start[g] = true;
  detail::spill_search search(cover, context);
  search.run(start, belady->lower_bound);
  spill_plan plan;
  std::vector<bool> copied(cover.values.size(), false);
  for (std::size_t g = 0; g < cover.gaps.size(); ++g) {
    if (!search.best[g]) continue;
    const auto& gap = cover.gaps[g];
    spill s = gap.what;
    s.written = !copied[gap.value];
    copied[gap.value] = true;
    plan.count.writes += s.written ? p.size(s.storage) : 0;
    plan.count.reads += gap.read ? p.size(s.storage) : 0;
    plan.spills.push_back(s);
  }
  std::sort(plan.spills.begin(), plan.spills.end(),
            [](const spill& a, const spill& b) { return a.from != b.from ? a.from < b.from : a.storage < b.storage; });
  plan.count.lower_bound = search.bound;
  return plan;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
