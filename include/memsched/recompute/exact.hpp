// The cheapest schedule of a small graph within a budget, and the least peak that any schedule reaches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The answer of an exact search.
struct exact_executions {
  bool complete = false;  ///< false: a limit ended the search, or the graph is too large for it; then nothing is claimed
  bool found = false;
  std::vector<op_id> executions{};  ///< ids of the table
  std::uint64_t extra_cost = 0;
  bytes peak = 0;
};

/// The executions of least extra cost within the budget. With an `order` (of all operators), those in which operators first
/// run in it. Dijkstra's search over the operators that ran, the storages that are there and those that were written: a step
/// runs an operator that has its reads there, or loads a storage; then any of its reads may end, and any of its creates may be
/// kept. If storages may end outside, they leave for good after all else. O(2^(operators + 2 storages)) at worst: good to
/// some ten operators. Graphs with more than 64 operators, or storages and views, are too large.
MEMSCHED_FUNCTION exact_executions cheapest_executions(const execution_table& table, memory_model model, bytes budget,
                                                       std::span<const op_id> order, search& context);

/// The executions of least peak, at any cost; the same search by the highest step.
MEMSCHED_FUNCTION exact_executions lowest_executions(const execution_table& table, memory_model model,
                                                     std::span<const op_id> order, search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <bit>
#include <queue>
#include <unordered_map>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class execution_search {
 public:
  execution_search(const execution_table& table, memory_model model, std::span<const op_id> order, search& context)
      : p_(table.graph()), table_(table), model_(model), order_(order), context_(context), bit_(p_.tensors().size(), 0) {}

  /// `by_peak`: minimizes the peak, else the extra cost at peaks of at most `budget`.
  exact_executions run(bool by_peak, bytes budget) {
    if (!number()) return {};
    by_peak_ = by_peak, budget_ = budget;
    begin();
    const std::uint64_t all = p_.ops().size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << p_.ops().size()) - 1;
    while (!queue_.empty()) {
      const auto [weight, i] = queue_.top();
      queue_.pop();
      if (weight > nodes_[i].weight || std::exchange(nodes_[i].done, true)) continue;
      const bool is_end = nodes_[i].at.ran == all;
      if (is_end && (nodes_[i].at.here & stays_) == stays_) return answer(i);
      if (!context_.count_state() || !context_.fits(nodes_.size() * (sizeof(node) + 64))) return {};
      for (op_id e = 0; e < table_.size(); ++e)
        if (!table_.is_departure(e)) step(i, e);
        else if (is_end) depart(i, e);
    }
    return {.complete = true};
  }

 private:
  struct place {
    std::uint64_t ran = 0, here = 0;  // operators; storages, and views that are newer than theirs
    std::uint64_t written = 0;        // storages
    bool ends = false;                // `here` has storages that left for good, too
    bool operator==(const place&) const = default;
  };
  struct hash {
    std::size_t operator()(const place& x) const {
      const std::uint64_t mixed = (x.ran * 0x9e3779b97f4a7c15 ^ x.here) * 0xbf58476d1ce4e5b9;
      return static_cast<std::size_t>((mixed ^ x.written * 0x94d049bb133111eb ^ std::uint64_t{x.ends} << 9) >> 7);
    }
  };
  struct node {
    place at;
    std::uint64_t weight = 0;
    index_t from = none;
    op_id by = none;
    bool done = false;
  };

  /// Bits of storages that are needed after their producers, and of views of storages that are made again. Returns false if
  /// there are too many.
  bool number() {
    if (p_.ops().size() > 64) return false;
    unsigned next = 0;
    for (tensor_id t : p_.tensors()) {
      const tensor_id s = p_.storage(t);
      const bool counts = s == t ? p_.kept(t) : table_.returns(s) && p_.writer(t) != p_.producer(s) && p_.writer(t) != none;
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
  /// All graph inputs are there; those that can come back may leave at once.
  void begin() {
    const std::uint64_t here = here_at_start();
    std::uint64_t may = 0;
    for (tensor_id t : p_.tensors())
      if ((here & bit_[t]) != 0 && p_.storage(t) == t && table_.returns(t)) may |= bit_[t];
    for (std::uint64_t gone = may;; gone = (gone - 1) & may) {
      const bytes start = table_.at_start(bytes_of(here & ~gone));
      if (start <= budget_) reach({0, here & ~gone, 0}, by_peak_ ? start : 0, none, none);
      if (gone == 0) return;
    }
  }
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
    if (table_.is_move(op)) {
      const tensor_id t = table_.moved(op);
      const op_id producer = p_.producer(t);
      return table_.may_repeat(op) && (x.here & bit_[t]) == 0 && (producer == none || (x.ran >> producer & 1) != 0);
    }
    if ((x.ran >> op & 1) != 0) {
      if (!table_.may_repeat(op)) return false;
    } else {
      if (!order_.empty() && order_[static_cast<std::size_t>(std::popcount(x.ran))] != op) return false;
      for (op_id u : p_.predecessors(op))
        if ((x.ran >> u & 1) == 0) return false;
    }
    for (tensor_id t : p_.inputs(op))
      if ((bit_[t] & ~x.here) != 0 || (bit_[p_.storage(t)] & ~x.here) != 0) return false;
    return true;
  }

  /// Whether nothing may miss a storage that is no longer made.
  bool may_end(tensor_id t, std::uint64_t ran) const {
    return table_.returns(t) || (!p_.stays(t) && (readers_[t] & ~ran) == 0);
  }

  /// The place after an execution of op, but for storages that end or are kept; and the cost.
  place behind(const place& x, op_id op, std::uint64_t& cost) const {
    place next = x;
    cost = table_.cost(op);
    if (!table_.is_move(op)) {
      next.ran |= std::uint64_t{1} << op;
      if (next.ran != x.ran) cost = 0;  // its first run
    } else if (const std::uint64_t bit = bit_[table_.moved(op)]; (x.written & bit) == 0) {
      cost += table_.write_cost(op);
      if (table_.prices().write > 0) next.written |= bit;
    }
    for (tensor_id t : table_.creates(op)) next.here &= ~(bit_[t] | views_[t]);  // the old copy ended before
    return next;
  }

  /// A storage that is not there stays outside.
  void depart(index_t i, op_id departure) {
    place x = nodes_[i].at;
    const std::uint64_t bit = bit_[table_.moved(departure)];
    if (!table_.may_repeat(departure) || (x.here & bit) != 0) return;
    const std::uint64_t cost = by_peak_ || (x.written & bit) != 0 ? 0 : table_.write_cost(departure);
    x.here |= bit, x.ends = true;
    reach(x, nodes_[i].weight + cost, i, departure);
  }

  void step(index_t i, op_id op) {
    const place x = nodes_[i].at;
    if (x.ends || !may_run(x, op)) return;
    const std::uint64_t weight = nodes_[i].weight;
    std::uint64_t cost = 0;
    place next = behind(x, op, cost);
    std::vector<tensor_id> ends, keeps;
    const bytes live = bytes_of(next.here);
    bytes produced = 0;
    std::uint64_t made = 0;
    for (tensor_id t : table_.creates(op)) {
      produced += p_.size(t);
      if (!p_.kept(t)) continue;
      if (may_end(t, next.ran)) keeps.push_back(t);
      else made |= bit_[t];
    }
    for (tensor_id t : table_.reads(op))
      if (may_end(t, next.ran)) ends.push_back(t);
    if (!table_.is_move(op))
      for (tensor_id t : p_.outputs(op))
        if (p_.storage(t) != t) next.here |= bit_[t];
    for (std::uint64_t e = 0; e < std::uint64_t{1} << ends.size(); ++e) {
      firing_effect f{.produced = produced, .workspace = table_.workspace(op)};
      std::uint64_t gone = 0;
      for (std::size_t k = 0; k < ends.size(); ++k) {
        if ((e >> k & 1) == 0) continue;
        gone |= bit_[ends[k]] | views_[ends[k]];
        f.freed += p_.size(ends[k]);
        f.overwritten += table_.spared(op, ends[k], model_);
      }
      const bytes during = fire(table_.rule(op, model_), live, f).during;
      if (during > budget_) continue;
      const std::uint64_t total = by_peak_ ? std::max<std::uint64_t>(weight, during) : weight + cost;
      if (total > std::uint64_t{1} << 62) continue;
      for (std::uint64_t k = 0; k < std::uint64_t{1} << keeps.size(); ++k) {
        std::uint64_t kept = made;
        for (std::size_t j = 0; j < keeps.size(); ++j)
          if ((k >> j & 1) != 0) kept |= bit_[keeps[j]];
        reach({next.ran, (next.here & ~gone) | kept, next.written}, total, i, op);
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
  const execution_table& table_;
  memory_model model_;
  std::span<const op_id> order_;
  search& context_;
  std::vector<std::uint64_t> bit_, readers_, views_;
  std::uint64_t stays_ = 0;
  bool by_peak_ = false;
  bytes budget_ = 0;
  std::vector<node> nodes_;
  std::unordered_map<place, index_t, hash> numbers_;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue_;
};

}  // namespace detail

MEMSCHED_FUNCTION exact_executions cheapest_executions(const execution_table& table, memory_model model, bytes budget,
                                                       std::span<const op_id> order, search& context) {
  return detail::execution_search(table, model, order, context).run(false, budget);
}

MEMSCHED_FUNCTION exact_executions lowest_executions(const execution_table& table, memory_model model,
                                                     std::span<const op_id> order, search& context) {
  return detail::execution_search(table, model, order, context).run(true, no_limit);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
