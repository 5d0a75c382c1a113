// Orders of row blocks in waves: where a scheduler may start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// An order in waves runs through the inputs of a network once, from the first row to the last. A block is due when the last
/// of its operands is, and the delay of its operator later; of blocks that are due at once, those of later operators come
/// first. Without delays every row goes as deep into the network as it can at once. A delay lets rows wait in front of an
/// operator until more of the input has made room.
///
/// Delays are those of the operators of the first network, by `operation::origin`, so that delays found for few blocks
/// serves for more. Units: 65,536 are all rows of an input.
using wave_delays = std::vector<std::uint32_t>;

/// An order in waves, and its peak in bytes.
struct wave_order {
  std::vector<op_id> order;
  bytes peak = 0;
};

/// The best order in waves that a local search over delays finds, from `delays`, which then are its own; missing ones are 0.
/// `p` is the problem that `net` lowers to. Tries as many orders as it is told, each O(n log n) for n operators and their
/// operands; ends earlier at an order within `budget`. Deterministic. Returns an order that can run, for any delays.
MEMSCHED_FUNCTION wave_order order_in_waves(const network& net, const problem& p, memory_model model, wave_delays& delays,
                                            std::size_t tries, bytes budget = 0);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include <memsched/base/random.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class waves {
 public:
  static constexpr std::uint32_t all_rows = 1U << 16;

  waves(const network& net, const problem& p, memory_model model) : p_(p), model_(model), next_(p.ops().size()) {
    std::vector<coordinate> rows;  // of each origin of a part of an input
    for (const typed_tensor& x : net.tensors) {
      if (x.origin == none) continue;
      if (x.origin >= rows.size()) rows.resize(x.origin + 1, 1);
      rows[x.origin] = std::max(rows[x.origin], x.part.rows.last);
    }
    const auto last_row = [&](const std::vector<image>& images, bool of_inputs) {
      std::uint64_t at = 0;
      for (const image& i : images)
        for (const placed& q : i.parts)
          if (const typed_tensor& x = net.tensors[q.tensor]; x.origin != none && (x.input || !of_inputs))
            at = std::max(
                at, all_rows * static_cast<std::uint64_t>(x.part.rows.last) / static_cast<std::uint64_t>(rows[x.origin]));
      return at;
    };
    for (const op_id i : p.ops()) {
      const operation& op = net.operations[i];
      const bool reads_input = op.does.what == op_kind::read;
      origin_.push_back(reads_input || op.origin == none ? 0 : op.origin + 1);
      from_.push_back(reads_input ? last_row(op.writes, false) : last_row(op.reads, true));
      for (const op_id before : p.predecessors(i)) next_[before].push_back(i);
    }
  }

  /// The number of delays: one for each origin.
  std::size_t origins() const { return origin_.empty() ? 0 : *std::max_element(origin_.begin(), origin_.end()); }

  std::vector<op_id> order(const wave_delays& delays) const {
    using turn = std::tuple<std::uint64_t, std::uint64_t, op_id>;  // when due, how early its operator, which
    std::priority_queue<turn, std::vector<turn>, std::greater<>> due;
    std::vector<std::uint64_t> at = from_;
    std::vector<std::size_t> waits(next_.size());
    std::vector<op_id> list;
    const auto add = [&](op_id i) {
      if (origin_[i] != 0) at[i] += delays[origin_[i] - 1];
      due.push({at[i], ~origin_[i], i});
    };
    for (op_id i = 0; i < waits.size(); ++i)
      if (waits[i] = p_.predecessors(i).size(); waits[i] == 0) add(i);
    while (!due.empty()) {
      const op_id i = std::get<2>(due.top());
      due.pop();
      list.push_back(i);
      for (const op_id later : next_[i]) {
        at[later] = std::max(at[later], at[i]);
        if (--waits[later] == 0) add(later);
      }
    }
    return list;
  }

  /// The peak, and, of orders with one peak, which has fewer steps near it.
  std::pair<bytes, double> cost(const std::vector<op_id>& list) const {
    const evaluation e = evaluate(p_, list, model_).value();
    double high = 0;
    for (const bytes b : e.during) {
      double part = static_cast<double>(b) / static_cast<double>(std::max<bytes>(1, e.peak));
      for (int i = 0; i < 4; ++i) part *= part;  // to the 16th power
      high += part;
    }
    return {e.peak, high};
  }

 private:
  const problem& p_;
  memory_model model_;
  std::vector<std::vector<op_id>> next_;
  std::vector<std::uint64_t> origin_;  ///< of each operator, from 1; 0: none
  std::vector<std::uint64_t> from_;    ///< how much of an input it needs
};

}  // namespace detail

MEMSCHED_FUNCTION wave_order order_in_waves(const network& net, const problem& p, memory_model model, wave_delays& delays,
                                            std::size_t tries, bytes budget) {
  const detail::waves w(net, p, model);
  delays.resize(std::max(delays.size(), w.origins()), 0);
  std::vector<op_id> best = w.order(delays);
  auto least = w.cost(best);
  base::random_source random(1);
  for (std::size_t i = 1; i < tries && w.origins() != 0 && least.first > budget; ++i) {
    wave_delays other = delays;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::uint64_t power = random.below(10);
      other[random.below(w.origins())] = power == 9 ? 0 : detail::waves::all_rows >> power;
    }
    std::vector<op_id> order = w.order(other);
    const auto cost = w.cost(order);
    if (cost > least) continue;
    best = std::move(order), least = cost, delays = std::move(other);
  }
  return {std::move(best), least.first};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
