// R5 in the search behind `fit`: which tensors are cut into how many blocks of rows; and R10: which operators run once for
// each reader.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fit_trials.hpp>
#include <memsched/rewrite/rematerialize.hpp>
#include <memsched/rewrite/split_sums.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Per tensor, the level of its cut into blocks of rows: up to 2^level of them.
using row_levels = std::vector<unsigned>;

/// Cuts `base_`, the network that whole-tensor rules have made, and copies operators of it.
class fit_rows : protected fit_trials {
 public:
  using fit_trials::fit_trials;

 protected:
  /// Finds the tensors that may be cut, those that must be cut alike (an operator in place), and those that are neighbours.
  void prepare() {
    near_.clear(), alike_.clear();
    const std::vector<cut_points> most = row_cuts(base_, coordinate{1} << 30);
    most_.assign(base_.tensors.size(), 0);
    for (tensor_id t = 0; t < most_.size(); ++t)
      if (!most[t].rows.empty())
        most_[t] = level_for(f_.most_blocks == 0 ? base_.tensors[t].size.rows
                                                 : std::min(f_.most_blocks, base_.tensors[t].size.rows));
    for (const operation& op : base_.operations) {
      for (const image& y : op.writes)
        for (const placed& q : y.parts)
          for (const image& x : op.reads)
            for (const placed& p : x.parts)
              if (most_[p.tensor] != 0 && most_[q.tensor] != 0) near_.push_back({p.tensor, q.tensor});
      if (op.overwrites != none) alike_.push_back({op.overwrites, op.writes[0].parts[0].tensor});
    }
  }
  static unsigned level_for(coordinate rows) {
    return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::max<coordinate>(1, rows) - 1)));
  }

  /// The least levels, none below these, with pairs in place alike and neighbours at most one apart.
  void settle(row_levels& level) const {
    for (bool changed = true; changed;) {
      changed = false;
      const auto raise = [&](tensor_id t, unsigned to) {
        if (level[t] < std::min(to, most_[t])) level[t] = std::min(to, most_[t]), changed = true;
      };
      for (const auto& [a, b] : near_) {
        if (level[a] > 1) raise(b, level[a] - 1);
        if (level[b] > 1) raise(a, level[b] - 1);
      }
      for (const auto& [a, b] : alike_) raise(a, level[b]), raise(b, level[a]);
    }
  }

  /// The base with its tensors cut to these levels, the parts of each operator one after the other; `of` says of which tensor
  /// of the base each tensor is a part.
  network cut_in_rows(const row_levels& level, std::vector<tensor_id>* of = nullptr) const {
    std::vector<cut_points> cuts(base_.tensors.size());
    for (tensor_id t = 0; t < cuts.size(); ++t) {
      const coordinate rows = base_.tensors[t].size.rows;
      coordinate n = coordinate{1} << level[t];
      if (f_.most_blocks != 0) n = std::min(n, f_.most_blocks);
      if (level[t] != 0) cuts[t].rows = even_cuts(rows, n);
      if (of != nullptr) of->insert(of->end(), cuts[t].rows.size() + 1, t);
    }
    network parts = cut(base_, cuts).value();
    parts = streamed(split_reductions(std::move(parts), any_order() ? sum_form::any_order : sum_form::chain));
    if (of != nullptr) of->resize(parts.tensors.size(), none);
    return parts;
  }
  /// Likewise, in the order of the best network so far.
  network cut_to(const row_levels& level, std::vector<tensor_id>* of = nullptr) const {
    return follow_best(cut_in_rows(level, of));
  }

  /// A finer cut of the base in the order of the best network so far: the parts of each of its operators one after the
  /// other. Its given order then is one that the scheduler cannot do worse than. Leaves `parts` as it is if its parts
  /// straddle those of the best.
  network follow_best(network parts) const {
    std::vector<std::vector<std::pair<box, std::size_t>>> places(first_.operations.size());  // per origin: part, position
    for (std::size_t i = 0; i < best_.order.size(); ++i)
      if (const operation& op = best_.net.operations[best_.order[i]]; op.origin < places.size())
        places[op.origin].push_back({provenance(best_.net, op), i});
    std::vector<std::pair<std::size_t, op_id>> order;
    for (op_id i = 0; i < parts.operations.size(); ++i) {
      const operation& op = parts.operations[i];
      std::size_t at = 0;
      if (op.origin >= places.size()) return parts;
      for (const auto& [b, position] : places[op.origin])
        if (!common(b, provenance(parts, op)).empty()) at = std::max(at, position);
      order.push_back({at, i});
    }
    std::sort(order.begin(), order.end());
    std::vector<op_id> list;
    list.reserve(order.size());
    for (const auto& [at, i] : order) list.push_back(i);
    network moved = reordered(parts, list);
    return check_network(moved).message.empty() ? moved : parts;
  }
  static box provenance(const network& net, const operation& op) {
    box all;
    for (const placed& p : target(op).parts) all = hull(all, net.tensors[p.tensor].part);
    return all;
  }

  /// The share of the time for one of many networks: a little of a limited time, which is enough to compare them. The best
  /// one needs the rest.
  double cut_share() const { return o_.has_time_limit() ? 0.04 : 0.125; }

  /// Cuts every tensor finer and finer, until that is no better than coarser cuts were: twice in a row, or once if less
  /// than half of the time is left. If a cut gains little over a coarser one, more blocks may not help: R10 is
  /// tried while there are few.
  void cut_evenly() {
    bool copied = false;
    bytes least = no_limit;  // of the cuts so far: the best network may be one that rows start after it
    unsigned most = 0, stalled = 0;
    for (const unsigned m : most_) most = std::max(most, m);
    for (unsigned n = 1; n <= most && !out_of_time() && !out_.error; ++n) {
      row_levels level(most_.size());
      for (tensor_id t = 0; t < level.size(); ++t) level[t] = std::min(n, most_[t]);
      const std::size_t steps = out_.steps.size();
      const std::string site = "every tensor in up to " + std::to_string(coordinate{1} << n) + " blocks";
      network rows = cut_in_rows(level);
      network follows = follow_best(rows);
      if (try_either(std::move(follows), std::move(rows), "rows", site, cut_share())) best_level_ = level;
      if (out_.steps.size() == steps) continue;  // none that the caller can run
      const bytes peak = out_.steps.back().after.peak;
      stalled = peak < least ? 0 : stalled + 1;
      const bool gains_little = least != no_limit && peak > least - least / 8;
      least = std::min(least, peak);
      if (gains_little && !copied) {
        copied = true;
        if (const bytes p = copy_producers(); p < least) least = p, stalled = 0;
      }
      if (stalled == 2 || (stalled == 1 && is_half_time_over())) return;
    }
  }

  /// R10 for tensors that are live at the peak and wait for a reader, and for those larger than their sources: an
  /// operator of few multiply-accumulates once for each reader, in the base, which is cut as before, if the peak falls.
  /// Gives the best peak after it, and `no_limit` if none fell.
  bytes copy_producers() {
    bytes peak = no_limit;
    const auto now = [&] { return std::pair(best_.cost.peak, base_.operations.size()); };
    for (bool fell = true; fell && in_vain_ != now() && !met() && !out_of_time();) {
      fell = false;
      if (best_level_.size() != base_.tensors.size()) best_level_.assign(base_.tensors.size(), 0);
      const uses use(base_);
      std::vector<bool> live(base_.tensors.size(), false);
      for (tensor_id t = 0; t < live.size(); ++t)
        for (const tensor_id part : best_.live_at_peak)
          live[t] = live[t] || (best_.net.tensors[part].role == tensor_role::value &&
                                best_.net.tensors[part].origin == base_.tensors[t].origin);
      std::vector<std::pair<std::uint64_t, op_id>> cheap;
      for (op_id i = 0; i < base_.operations.size(); ++i)
        if (may_rematerialize(base_, use, i) && (enlarges(base_, i) || live[base_.operations[i].writes[0].parts[0].tensor]))
          if (const std::uint64_t cost = macs(base_, base_.operations[i]); cost <= f_.max_extra_macs)
            cheap.push_back({cost, i});
      std::sort(cheap.begin(), cheap.end());
      if (cheap.size() > most_copied) cheap.resize(most_copied);
      for (const auto& [cost, i] : cheap) {
        if (fell || met() || out_of_time() || out_.error) break;
        const network base = base_;
        const row_levels level = best_level_;
        const std::string site = base.operations[i].name;
        row_levels again = level;
        base_ = rematerialize(base, i);
        again.resize(base_.tensors.size(), level[base.operations[i].writes[0].parts[0].tensor]);
        prepare();
        for (tensor_id t = 0; t < again.size(); ++t) again[t] = std::min(again[t], most_[t]);
        fell = try_network(cut_to(again), "one copy for each reader", site, false, cut_share());
        if (fell) best_level_ = std::move(again), peak = best_.cost.peak;
        else base_ = base, prepare();
      }
      if (!fell) in_vain_ = now();
    }
    return peak;
  }
  /// Whether an operator's result is larger than all that it reads: less waits for a copy of it than for its result.
  static bool enlarges(const network& net, op_id i) {
    bytes read = 0;
    for (const image& x : net.operations[i].reads)
      for (const placed& p : x.parts) read += net.tensors[p.tensor].bytes();
    return read < net.tensors[net.operations[i].writes[0].parts[0].tensor].bytes();
  }
  static constexpr std::size_t most_copied = 8;  ///< producers tried at one peak

  /// Cuts tensors live at the peak finer and finer, until the budget holds or nothing is left to cut.
  void cut_to_budget() {
    row_levels level(most_.size(), 0);
    for (;;) {
      std::vector<tensor_id> of;
      network parts = cut_to(level, &of);
      std::optional<fit_trial> trial = measure(std::move(parts), f_.budget);
      if (!trial) return;
      note(trial->cost);
      const bool better = trial->cost.peak < best_.cost.peak;
      out_.steps.push_back({"rows", "what is live at the peak", best_.cost.peak, trial->cost, better});
      if (better) best_ = *trial, best_level_ = level;
      if (trial->cost.peak <= f_.budget) return coarsen(level);
      if (out_of_time()) return;
      std::vector<bool> live(level.size(), false);
      for (const tensor_id t : trial->live_at_peak)
        if (of[t] != none) live[of[t]] = true;
      if (!raise(level, std::move(live))) return;
      settle(level);
    }
  }
  /// Raises the levels of these tensors; if all are as fine as can be, of their neighbours, and theirs, until one is not.
  bool raise(row_levels& level, std::vector<bool> of) const {
    for (bool grew = true; grew;) {
      bool raised = false;
      for (tensor_id t = 0; t < level.size(); ++t)
        if (of[t] && level[t] < most_[t]) ++level[t], raised = true;
      if (raised) return true;
      grew = false;
      const std::vector<bool> before = of;
      for (const auto& [a, b] : near_)
        for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
          if (before[x] && !of[y]) of[y] = true, grew = true;
    }
    return false;
  }

  /// Cuts tensors coarser again if the budget still holds, those with the most blocks first.
  void coarsen(row_levels level) {
    for (bool changed = true; changed && !out_of_time();) {
      changed = false;
      std::vector<tensor_id> by_size;
      for (tensor_id t = 0; t < level.size(); ++t)
        if (level[t] != 0) by_size.push_back(t);
      std::stable_sort(by_size.begin(), by_size.end(), [&](tensor_id a, tensor_id b) { return level[a] > level[b]; });
      for (const tensor_id t : by_size) {
        if (out_of_time() || out_.error) return;
        if (level[t] == 0) continue;
        row_levels lower_level = level;
        lower_with_pairs(lower_level, t);
        row_levels settled = lower_level;
        settle(settled);
        if (settled != lower_level) continue;  // a neighbour would raise it again
        std::optional<fit_trial> trial = measure(cut_to(lower_level), f_.budget, 0.02);
        if (!trial) continue;
        note(trial->cost);
        if (trial->cost.peak > f_.budget || trial->cost.operators > best_.cost.operators) continue;
        out_.steps.push_back({"coarser rows", base_.tensors[t].name, best_.cost.peak, trial->cost, true});
        best_ = std::move(*trial), level = best_level_ = std::move(lower_level), changed = true;
      }
    }
  }
  void lower_with_pairs(row_levels& level, tensor_id t) const {
    const unsigned to = level[t] - 1;
    level[t] = to;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [a, b] : alike_)
        for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
          if (level[x] == to && level[y] == to + 1 && most_[y] > to) level[y] = to, changed = true;
    }
  }

  network base_;
  row_levels most_;        ///< per tensor of the base
  row_levels best_level_;  ///< those of the best network, if it is a cut of the base
  std::vector<std::pair<tensor_id, tensor_id>> near_, alike_;
  std::pair<bytes, std::size_t> in_vain_{};  ///< the best peak, and the base's operators, when copies did not help
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
