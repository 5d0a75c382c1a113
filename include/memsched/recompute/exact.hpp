// The cheapest schedule of a small graph within a budget, and the least peak that any schedule reaches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The answer of an exact search.
struct exact_executions {
  bool complete = false;  ///< false: a limit ended the search, or the graph is too large for it; then nothing is claimed
  bool found = false;
  std::vector<op_id> executions{};
  std::uint64_t extra_cost = 0;
  bytes peak = 0;
};

/// The executions of least extra cost within the budget. With an `order` (of all operators), those in which operators first
/// run in it. Dijkstra's search over the operators that ran and the storages that are there: a step runs an operator that has
/// its reads there; then any of its reads may end, and any of its creates may be kept. O(2^(operators + storages)) at worst:
/// good to some ten operators. Graphs with more than 64 operators, or storages and views, are too large.
MEMSCHED_FUNCTION exact_executions cheapest_executions(const problem& p, memory_model model, bytes budget,
                                                       std::span<const op_id> order, search& context);

/// The executions of least peak, at any cost; the same search by the highest step.
MEMSCHED_FUNCTION exact_executions lowest_executions(const problem& p, memory_model model, std::span<const op_id> order,
                                                     search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <bit>
#include <queue>
#include <unordered_map>
#include <utility>

#include <memsched/graph/runs_again.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class execution_search {
 public:
  execution_search(const problem& p, memory_model model, std::span<const op_id> order, search& context)
      : p_(p), model_(model), order_(order), context_(context), again_(runs_again(p)), bit_(p.tensors().size(), 0) {}

  /// `by_peak`: minimizes the peak, else the extra cost at peaks of at most `budget`.
  exact_executions run(bool by_peak, bytes budget) {
    if (!number()) return {};
    by_peak_ = by_peak, budget_ = budget;
    const bytes start = p_.live_at_start();
    if (start > budget) return {.complete = true};
    reach({0, here_at_start()}, by_peak ? start : 0, none, none);
    const std::uint64_t all = p_.ops().size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << p_.ops().size()) - 1;
    while (!queue_.empty()) {
      const auto [weight, i] = queue_.top();
      queue_.pop();
      if (weight > nodes_[i].weight || std::exchange(nodes_[i].done, true)) continue;
      if (nodes_[i].at.ran == all && (nodes_[i].at.here & stays_) == stays_) return answer(i);
      if (!context_.count_state() || !context_.fits(nodes_.size() * (sizeof(node) + 64))) return {};
      for (op_id op : p_.ops()) step(i, op);
    }
    return {.complete = true};
  }

 private:
  struct place {
    std::uint64_t ran = 0, here = 0;  // operators; storages, and views that are newer than theirs
    bool operator==(const place&) const = default;
  };
  struct hash {
    std::size_t operator()(const place& x) const {
      return static_cast<std::size_t>((x.ran * 0x9e3779b97f4a7c15 ^ x.here) * 0xbf58476d1ce4e5b9 >> 7);
    }
  };
  struct node {
    place at;
    std::uint64_t weight = 0;
    index_t from = none;
    op_id by = none;
    bool done = false;
  };

  /// Bits of storages that somebody needs, and of views of storages that are made again. False where there are too many.
  bool number() {
    if (p_.ops().size() > 64) return false;
    unsigned next = 0;
    for (tensor_id t : p_.tensors()) {
      const tensor_id s = p_.storage(t);
      const bool counts = s == t ? p_.kept(t) : remade(s) && p_.writer(t) != p_.producer(s);
      if (!counts) continue;
      if (next == 64) return false;
      bit_[t] = std::uint64_t{1} << next++;
      if (s == t && p_.stays(t)) stays_ |= bit_[t];
    }
    for (op_id op : p_.ops())
      if (p_.reads(op).size() > 16 || p_.creates(op).size() > 16) return false;
    readers_.assign(p_.tensors().size(), 0);
    for (tensor_id t : p_.tensors())
      for (op_id r : p_.readers(t)) readers_[t] |= std::uint64_t{1} << r;
    views_.assign(p_.tensors().size(), 0);
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) != t) views_[p_.storage(t)] |= bit_[t];
    return true;
  }
  bool remade(tensor_id s) const { return p_.producer(s) != none && again_[p_.producer(s)]; }
  std::uint64_t here_at_start() const {
    std::uint64_t here = 0;
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.writer(t) == none) here |= bit_[t];
    return here;
  }
  bytes bytes_of(std::uint64_t here) const {
    bytes sum = 0;
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && (here & bit_[t]) != 0) sum += p_.size(t);
    return sum;
  }

  bool may_run(const place& x, op_id op) const {
    if ((x.ran >> op & 1) != 0) {
      if (!again_[op]) return false;
    } else {
      if (!order_.empty() && order_[static_cast<std::size_t>(std::popcount(x.ran))] != op) return false;
      for (op_id u : p_.predecessors(op))
        if ((x.ran >> u & 1) == 0) return false;
    }
    for (tensor_id t : p_.inputs(op))
      if ((bit_[t] & ~x.here) != 0 || (bit_[p_.storage(t)] & ~x.here) != 0) return false;
    return true;
  }

  /// Whether nobody may miss a storage that is made no more.
  bool may_end(tensor_id t, std::uint64_t ran) const { return remade(t) || (!p_.stays(t) && (readers_[t] & ~ran) == 0); }

  void step(index_t i, op_id op) {
    const place x = nodes_[i].at;
    if (!may_run(x, op)) return;
    const std::uint64_t weight = nodes_[i].weight;
    const bool first = (x.ran >> op & 1) == 0;
    place next{x.ran | std::uint64_t{1} << op, x.here};
    std::vector<tensor_id> ends, keeps;
    bytes produced = 0;
    for (tensor_id t : p_.creates(op)) {
      next.here &= ~(bit_[t] | views_[t]);  // the old copy ended before
      produced += p_.size(t);
    }
    const bytes live = bytes_of(next.here);
    std::uint64_t made = 0;
    for (tensor_id t : p_.creates(op)) {
      if (!p_.kept(t)) continue;
      if (may_end(t, next.ran)) keeps.push_back(t);
      else made |= bit_[t];
    }
    for (tensor_id t : p_.reads(op))
      if (may_end(t, next.ran)) ends.push_back(t);
    for (tensor_id t : p_.outputs(op))
      if (p_.storage(t) != t) next.here |= bit_[t];
    for (std::uint64_t e = 0; e < std::uint64_t{1} << ends.size(); ++e) {
      firing_effect f{.produced = produced, .workspace = p_.workspace(op)};
      std::uint64_t gone = 0;
      for (std::size_t k = 0; k < ends.size(); ++k) {
        if ((e >> k & 1) == 0) continue;
        gone |= bit_[ends[k]] | views_[ends[k]];
        f.freed += p_.size(ends[k]);
        if (model_.in_place)
          for (const storage_reuse& r : p_.reuses(op))
            if (r.input == ends[k]) f.overwritten += r.spared;
      }
      const bytes during = fire(p_.firing(op).value_or(model_.default_firing), live, f).during;
      if (during > budget_) continue;
      const std::uint64_t total = by_peak_ ? std::max<std::uint64_t>(weight, during) : weight + (first ? 0 : p_.cost(op));
      if (total > std::uint64_t{1} << 62) continue;
      for (std::uint64_t k = 0; k < std::uint64_t{1} << keeps.size(); ++k) {
        std::uint64_t kept = made;
        for (std::size_t j = 0; j < keeps.size(); ++j)
          if ((k >> j & 1) != 0) kept |= bit_[keeps[j]];
        reach({next.ran, (next.here & ~gone) | kept}, total, i, op);
      }
    }
  }

  void reach(const place& x, std::uint64_t weight, index_t from, op_id by) {
    const auto [found, fresh] = numbers_.try_emplace(x, static_cast<index_t>(nodes_.size()));
    const index_t i = found->second;
    if (fresh) nodes_.push_back({x, weight, from, by});
    else if (weight < nodes_[i].weight) nodes_[i].weight = weight, nodes_[i].from = from, nodes_[i].by = by;
    else return;
    queue_.emplace(weight, i);
  }

  exact_executions answer(index_t i) const {
    exact_executions a{.complete = true, .found = true};
    (by_peak_ ? a.peak : a.extra_cost) = nodes_[i].weight;
    for (; nodes_[i].by != none; i = nodes_[i].from) a.executions.push_back(nodes_[i].by);
    std::reverse(a.executions.begin(), a.executions.end());
    return a;
  }

  using entry = std::pair<std::uint64_t, index_t>;
  const problem& p_;
  memory_model model_;
  std::span<const op_id> order_;
  search& context_;
  std::vector<bool> again_;
  std::vector<std::uint64_t> bit_, readers_, views_;
  std::uint64_t stays_ = 0;
  bool by_peak_ = false;
  bytes budget_ = 0;
  std::vector<node> nodes_;
  std::unordered_map<place, index_t, hash> numbers_;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue_;
};

}  // namespace detail

MEMSCHED_FUNCTION exact_executions cheapest_executions(const problem& p, memory_model model, bytes budget,
                                                       std::span<const op_id> order, search& context) {
  return detail::execution_search(p, model, order, context).run(false, budget);
}

MEMSCHED_FUNCTION exact_executions lowest_executions(const problem& p, memory_model model, std::span<const op_id> order,
                                                     search& context) {
  return detail::execution_search(p, model, order, context).run(true, no_limit);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
