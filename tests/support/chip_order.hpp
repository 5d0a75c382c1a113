// The parts that searches over all contents of a chip share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include <memsched/graph/problem.hpp>

/// The least cost of each content of a chip.
template <class State>
using chip_costs = std::map<State, memsched::bytes>;

template <class State>
void note(chip_costs<State>& all, const State& at, memsched::bytes cost) {
  const auto [place, fresh] = all.emplace(at, cost);
  if (!fresh) place->second = std::min(place->second, cost);
}

/// An order on a chip, and the uses of storages in it.
class chip_order {
 protected:
  chip_order(const memsched::problem& p, std::span<const memsched::op_id> order, memsched::bytes capacity,
             memsched::memory_model model)
      : p_(p), order_(order), capacity_(capacity), model_(model) {}

  bool reads(std::size_t k, memsched::tensor_id t) const {
    const auto list = p_.reads(order_[k]);
    return std::find(list.begin(), list.end(), t) != list.end();
  }
  bool needed_behind(std::size_t k, memsched::tensor_id t) const {
    bool needed = p_.stays(t);
    for (std::size_t j = k + 1; j < order_.size(); ++j) needed |= reads(j, t);
    return needed;
  }

  const memsched::problem& p_;
  std::span<const memsched::op_id> order_;
  memsched::bytes capacity_;
  memsched::memory_model model_;
};
