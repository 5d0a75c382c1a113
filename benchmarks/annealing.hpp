// Simulated annealing over orders: a baseline that knows nothing of the problem.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/measure/evaluate.hpp>

#include "timing.hpp"

namespace annealing {

using namespace memsched;

/// Lowers a smooth maximum of the bytes over time. A move takes one operator to another place between the last of its
/// predecessors and the first of its successors.
class search {
 public:
  search(const problem& p, std::vector<op_id> order, std::uint64_t seed)
      : p_(p),
        succs_(base::transpose(p.predecessors(), p.ops().size())),
        order_(std::move(order)),
        at_(order_.size()),
        random_(seed) {
    for (std::size_t i = 0; i < order_.size(); ++i) at_[order_[i]] = i;
    peak_ = first_peak_ = evaluate(p_, order_).value().peak;
    cost_ = cost();
  }

  /// Returns the smallest peak met within `seconds` seconds; bytes.
  bytes run(double seconds) {
    const auto start = timing::clock_type::now();
    for (double spent = 0; order_.size() > 1 && spent < seconds; spent = timing::seconds_since(start))
      try_move(0.01 * (1 - spent / seconds));
    return peak_;
  }

 private:
  void try_move(double temperature) {
    const std::size_t from = random_.below(order_.size());
    std::size_t first = 0, last = order_.size() - 1;
    for (op_id a : p_.predecessors(order_[from])) first = std::max(first, at_[a] + 1);
    for (op_id b : succs_[order_[from]]) last = std::min(last, at_[b] - 1);
    const std::size_t to = first + random_.below(last - first + 1);
    move(from, to);
    const double fresh = cost();
    if (fresh <= cost_ || static_cast<double>(random_.below(1'000'000)) < 1e6 * std::exp((cost_ - fresh) / temperature))
      cost_ = fresh;
    else move(to, from);
  }

  void move(std::size_t from, std::size_t to) {
    const auto place = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to) std::rotate(place(from), place(from + 1), place(to + 1));
    else std::rotate(place(to), place(from), place(from + 1));
    for (std::size_t i = std::min(from, to); i <= std::max(from, to); ++i) at_[order_[i]] = i;
  }

  double cost() {
    const evaluation e = evaluate(p_, order_).value();
    peak_ = std::min(peak_, e.peak);
    double sum = 0;
    for (bytes b : e.during) sum += std::pow(static_cast<double>(b) / static_cast<double>(first_peak_), 16);
    return std::pow(sum, 1.0 / 16);
  }

  const problem& p_;
  adjacency succs_;
  std::vector<op_id> order_;
  std::vector<std::size_t> at_;
  base::random_source random_;
  bytes peak_ = 0, first_peak_ = 1;
  double cost_ = 0;
};

}  // namespace annealing
