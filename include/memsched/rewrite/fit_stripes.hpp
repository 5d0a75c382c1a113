// R6 in the search behind `fit`: regions around the peak in stripes, for multiply-accumulates or for runtimes of whole
// operators.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/rewrite/fit_rows.hpp>
#include <memsched/rewrite/stripes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

class fit_stripes : protected fit_rows {
 public:
  using fit_rows::fit_rows;

 protected:
  /// Regions of a network in stripes, one after the other, each around the peak of the network before it, as long as the
  /// peak falls. Gives the last network. It is the best one, too, if its peak is below that.
  network pay(const network& from) {
    std::optional<fit_trial> now = measure(streamed(from));
    network plain = from;  // without the operators that read streamed inputs
    for (int round = 0; now && round < most_regions && !met() && !out_of_time(); ++round) {
      plain = f_.streamed_input ? std::move(plain) : reordered(now->net, now->order);
      bool fell = false;
      for (candidate& c : candidates(plain, now->peak_step, now->cost.peak)) {
        if (out_of_time() || out_.error) break;
        std::optional<fit_trial> trial = measure(streamed(c.net), no_limit, 0.06);
        if (!trial) continue;
        note(trial->cost);
        const bool better = trial->cost.peak < best_.cost.peak;
        const bool falls = trial->cost.peak < now->cost.peak;
        out_.steps.push_back({"stripes", c.site, now->cost.peak, trial->cost, falls});
        if (!falls) continue;
        if (better) best_ = *trial, best_level_.clear();
        plain = std::move(c.net), now = std::move(trial), fell = true;
        break;
      }
      if (!fell) break;
    }
    return plain;
  }

 private:
  static constexpr int most_regions = 8;
  static constexpr std::size_t most_tried = 3;         ///< of the candidates of one peak, by the scheduler
  static constexpr std::size_t most_formed = 64;       ///< of the candidates of one peak, in their form and given order
  static constexpr std::size_t most_measured = 4'000;  ///< of the candidates of one peak, in their given order
  static constexpr op_id longest = 64;                 ///< operators of a region

  struct candidate {
    network net;
    std::string site;
    bytes peak;  ///< of the given order: stripe by stripe
    std::uint64_t macs;
  };

  static bytes peak_as_given(const network& net, const memory_model& model) {
    const auto low = lower(net);
    if (!low) return no_limit;
    std::vector<op_id> given(low->problem.ops().size());
    std::iota(given.begin(), given.end(), op_id{0});
    const auto e = evaluate(low->problem, given, model);
    return e ? e->peak : no_limit;
  }

  /// Likewise of the form that is asked for; `no_limit` if there is none.
  bytes formed_peak_as_given(const network& net) {
    std::vector<op_id> given(net.operations.size());
    std::iota(given.begin(), given.end(), op_id{0});
    const auto formed = f_.form(net, given);
    if (!formed) return no_limit;
    std::vector<op_id> order(formed->graph.ops().size());
    std::iota(order.begin(), order.end(), op_id{0});
    const auto e = evaluate(formed->graph, order, o_.model());
    return e ? e->peak : no_limit;
  }

  /// The best few networks with one region around a step of the order in stripes: those with the smallest peak of their
  /// given order, below `peak`; in their form, of more of them.
  std::vector<candidate> candidates(const network& net, std::size_t step, bytes peak) {
    std::vector<candidate> best = candidates_as_they_are(net, step, peak);
    if (!f_.form) return best;
    for (candidate& c : best) c.peak = out_of_time() ? no_limit : formed_peak_as_given(streamed(c.net));
    std::erase_if(best, [&](const candidate& c) { return c.peak >= peak; });
    std::stable_sort(best.begin(), best.end(), [](const candidate& a, const candidate& b) { return a.peak < b.peak; });
    if (best.size() > most_tried) best.resize(most_tried);
    return best;
  }
  std::vector<candidate> candidates_as_they_are(const network& net, std::size_t step, bytes peak) {
    std::vector<candidate> best;
    const std::size_t most = f_.form ? most_formed : most_tried;
    const auto at = std::min<std::size_t>(step, net.operations.size() - 1);
    const auto can = [&](std::size_t i) { return may_run_in_stripes(net, net.operations[i]); };
    std::size_t low = at, high = at + 1, measured = 0;
    if (!can(at)) return best;
    while (low > 0 && at - low < longest && can(low - 1)) --low;
    while (high < net.operations.size() && high - at < longest && can(high)) ++high;
    for (std::size_t length = 1; length <= high - low; ++length)
      for (std::size_t first = at + 1 > length + low ? at + 1 - length : low; first <= at && first + length <= high; ++first)
        for (const coordinate n : {2, 4, 8, 16, 32}) {
          const region r{static_cast<op_id>(first), static_cast<op_id>(first + length)};
          if (measured >= most_measured || out_of_time()) return best;
          if (!may_stripe(net, r, n)) break;
          auto made = stripes(net, r, n, f_.profile);
          if (!made || !is_allowed(*made)) break;  // more stripes cost more
          ++measured;
          const bytes p = peak_as_given(streamed(*made), o_.model());
          if (p >= peak) continue;
          const std::uint64_t products = macs(*made);
          if (!f_.form) note({p, 0, products, streamed(*made).operations.size()});
          const auto before = [&](const candidate& c) {
            return std::pair(p, std::pair(products, made->operations.size())) <
                   std::pair(c.peak, std::pair(c.macs, c.net.operations.size()));
          };
          const auto place = std::find_if(best.begin(), best.end(), before);
          if (place == best.end() && best.size() == most) continue;
          best.insert(place, {std::move(*made), site_of(net, r, n), p, products});
          if (best.size() > most) best.pop_back();
        }
    return best;
  }
  static std::string site_of(const network& net, const region& r, coordinate n) {
    return net.operations[r.first].name + " to " + net.operations[r.last - 1].name + ", " + std::to_string(n);
  }
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
