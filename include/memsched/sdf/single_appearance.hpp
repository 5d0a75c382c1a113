// The best nest of loops in which each actor appears once, for a given order of the actors.
#pragma once

#include <span>
#include <string>
#include <utility>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/sdf/composites.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// A looped schedule and its peak.
struct looped {
  loops schedule;
  bytes peak = 0;
};

/// The schedule of the smallest peak of those that are nests of loops with the actors once each, in this order. An exact
/// dynamic program: with each actor of i..j fired q / g times,
///
///     best(i, j, g) = min over h | gcd(q_i..q_j) / g, over splits k that no need without its tokens goes back over, of
///                     max(best(i, k, g h), impact(i, k, g h) + best(k + 1, j, g h)) + max(0, (h - 1) impact(i, j, g h))
///
/// Peaks enter monotonically and impacts do not depend on splits, so that the best parts make the best whole. The loop
/// factor h is a choice, as the largest is not always best for shared memory: with peaks 20 and 10, impacts -5 and 10, ten
/// times each, (10 a b) takes 65 bytes above the start and (10 a) (10 b) takes 50.
///
/// `cycle` if tokens that go back in this order allow none. O(actors^3 * divisors + actors^2 * divisors^2), and
/// `too_large` if that is more than `most_work`.
MEMSCHED_FUNCTION result<looped> single_appearance(const composite_graph& c, std::span<const index_t> order,
                                                   std::uint64_t most_work = std::uint64_t{1} << 30);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include <memsched/sdf/divisors.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

class nest_finder {
 public:
  nest_finder(const composite_graph& c, std::span<const index_t> order) : c_(c), order_(order), n_(order.size()) {
    std::vector<index_t> place(n_);
    for (index_t i = 0; i < n_; ++i) place[order[i]] = i;
    for (const need& e : c.needs)
      if (place[e.from] > place[e.to])
        // A body whose firings are q / g may run `to` first if its c q / g tokens are there: g >= c q / d.
        back_.push_back({place[e.to], place[e.from],
                         e.tokens == 0 ? never : (e.consumed * c.actors[e.to].repetitions - 1) / e.tokens + 1});
    impact_.assign(n_ + 1, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      const composite& a = c.actors[order[i]];
      impact_[i + 1] = impact_[i] + static_cast<delta>(a.repetitions) * a.cost.impact;
    }
    cells_.resize(n_ * n_);
  }

  result<looped> run(std::uint64_t most_work) {
    for (std::size_t j = 0; j < n_; ++j) {
      bytes g = repetitions(j);
      cell(j, j).g = {g};
      for (std::size_t i = j; i-- > 0;) cell(i, j).g = {g = std::gcd(g, repetitions(i))};
    }
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = i + 1; j < n_; ++j) {
        auto& g = cell(i, j).g;
        const auto [known, fresh] = divisors_.try_emplace(g.front());
        if (fresh) known->second = divisors(g.front());
        if (!known->second.complete) return too_large();
        g = known->second.all;
      }
    for (std::size_t length = 2; length <= n_; ++length)
      for (std::size_t i = 0; i + length <= n_; ++i) {
        const std::uint64_t divisors_here = cell(i, i + length - 1).g.size();
        const std::uint64_t work = length * divisors_here * divisors_here;
        if (work > most_work) return too_large();
        most_work -= work;
        solve(i, i + length - 1);
      }
    looped answer;
    const delta peak = n_ == 0 ? 0 : peak_of(0, n_ - 1, 1);
    if (peak == unknown)
      return graph_error{error_code::cycle, "no schedule has each actor once in this order: tokens go back", {}, {}};
    answer.peak = static_cast<bytes>(static_cast<delta>(c_.base) + std::max<delta>(peak, 0));
    if (n_ > 0) write(answer.schedule);
    return answer;
  }

 private:
  static constexpr bytes never = ~bytes{0};
  static constexpr delta unknown = std::numeric_limits<delta>::max();

  struct choice {
    delta peak = unknown;
    index_t split = 0;
    bytes inner = 1;
  };
  /// Of a range of actors: the divisors g of all repetitions, ascending, and the best of each; singles keep none.
  struct range {
    std::vector<bytes> g;
    std::vector<choice> best;
  };
  struct back_need {
    std::size_t to, from;  // places
    bytes least;           // g from which on it makes no actor wait
  };

  range& cell(std::size_t i, std::size_t j) { return cells_[i * n_ + j]; }
  const range& cell(std::size_t i, std::size_t j) const { return cells_[i * n_ + j]; }
  bytes repetitions(std::size_t i) const { return c_.actors[order_[i]].repetitions; }
  delta impact(std::size_t i, std::size_t j, bytes g) const { return (impact_[j + 1] - impact_[i]) / static_cast<delta>(g); }
  static graph_error too_large() {
    return {error_code::too_large, "too many actors or divisors for the table of single-appearance schedules", {}, {}};
  }

  /// Highest level of actors i..j, each fired q / g times, above the level before them.
  delta peak_of(std::size_t i, std::size_t j, bytes g) const {
    if (i == j) {
      const node_cost c = c_.actors[order_[i]].cost;
      return c.peak + std::max<delta>(0, static_cast<delta>(repetitions(i) / g - 1) * c.impact);
    }
    return best(i, j, g).peak;
  }
  const choice& best(std::size_t i, std::size_t j, bytes g) const {
    const range& r = cell(i, j);
    return r.best[static_cast<std::size_t>(std::lower_bound(r.g.begin(), r.g.end(), g) - r.g.begin())];
  }

  void solve(std::size_t i, std::size_t j) {
    range& r = cell(i, j);
    std::vector<bytes> least(j - i, 0);  // per split k: needs that go back over it
    for (const back_need& b : back_)
      if (i <= b.to && b.from <= j)
        for (std::size_t k = b.to; k < b.from; ++k) least[k - i] = std::max(least[k - i], b.least);
    std::vector<choice> once(r.g.size());  // the best body at each g
    for (std::size_t x = 0; x < r.g.size(); ++x) {
      const bytes g = r.g[x];
      for (std::size_t k = i; k < j; ++k) {
        if (least[k - i] == never || g < least[k - i]) continue;
        const delta left = peak_of(i, k, g), right = peak_of(k + 1, j, g);
        if (left == unknown || right == unknown) continue;
        const delta peak = std::max(left, impact(i, k, g) + right);
        if (peak < once[x].peak) once[x] = {peak, static_cast<index_t>(k), 1};
      }
    }
    r.best.assign(r.g.size(), {});
    for (std::size_t x = 0; x < r.g.size(); ++x)
      for (std::size_t y = x; y < r.g.size(); ++y) {
        if (r.g[y] % r.g[x] != 0 || once[y].peak == unknown) continue;
        const bytes h = r.g[y] / r.g[x];
        const delta peak = once[y].peak + std::max<delta>(0, static_cast<delta>(h - 1) * impact(i, j, r.g[y]));
        if (peak < r.best[x].peak) r.best[x] = {peak, once[y].split, h};
      }
  }

  void write(loops& l) const {
    struct task {
      std::size_t i, j;
      bytes g;  // 0: end of a list
    };
    std::vector<task> todo{{0, n_ - 1, 1}};
    while (!todo.empty()) {
      const task t = todo.back();
      todo.pop_back();
      if (t.g == 0) {
        l.close();
      } else if (t.i == t.j) {
        l.append(c_.actors[order_[t.i]].body, repetitions(t.i) / t.g);
      } else {
        const choice& b = best(t.i, t.j, t.g);
        l.open(b.inner);
        todo.push_back({0, 0, 0});
        todo.push_back({b.split + std::size_t{1}, t.j, t.g * b.inner});
        todo.push_back({t.i, b.split, t.g * b.inner});
      }
    }
  }

  const composite_graph& c_;
  std::span<const index_t> order_;
  std::size_t n_;
  std::vector<back_need> back_;
  std::vector<delta> impact_;  // sums of q * impact
  std::vector<range> cells_;
  std::map<bytes, divisor_list> divisors_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<looped> single_appearance(const composite_graph& c, std::span<const index_t> order,
                                                   std::uint64_t most_work) {
  constexpr std::size_t most_actors = 2048;
  if (order.size() > most_actors)
    return graph_error{error_code::too_large, "more than 2048 actors for the table of single-appearance schedules", {}, {}};
  return detail::nest_finder(c, order).run(most_work);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
