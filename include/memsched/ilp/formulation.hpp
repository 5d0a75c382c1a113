// The parts that all integer programs for schedules share.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/ilp/milp.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The question to an integer program of a graph: an order with a peak in [floor, ceiling]. Bytes.
struct peak_range {
  bytes floor = 0, ceiling = 0;
};

/// An integer program of a graph, and how its solutions and orders correspond.
struct schedule_program {
  milp_model model;                                                             ///< its objective is the peak
  bytes unit = 1;                                                               ///< bytes of one unit of the objective
  std::function<std::vector<double>(const std::vector<node_id>&)> solution_of;  ///< of an order with a peak in the range
  std::function<std::vector<node_id>(const std::vector<double>&)> order_of;     ///< always a valid order
};

/// A function from a graph and a range to a program; nothing if that would have more than `most_rows` rows. The graph
/// must outlive the program.
template <class F>
concept formulation = requires(const F& f, const schedule_graph& g, peak_range r, std::size_t most_rows) {
  { f(g, r, most_rows) } -> std::same_as<std::optional<schedule_program>>;
};

namespace detail {

/// The largest number that divides all amounts of a graph: the unit of its integer programs.
inline bytes unit_of(const schedule_graph& g) { return std::gcd(g.base, peak_unit(g)); }

/// The peak of a node without its credits. If it has none, the level it leaves counts too.
inline delta own_peak(const schedule_graph& g, node_id v) {
  return g.credits[v].empty() ? std::max(g.cost[v].peak, g.cost[v].impact) : g.cost[v].peak;
}

/// The program that P, a class of this room, builds of a graph; P says how many rows that takes at most.
template <class P>
std::optional<schedule_program> make_program(std::shared_ptr<P> builder, std::size_t most_rows) {
  if (builder->rows() > most_rows) return std::nullopt;
  builder->build();
  schedule_program p;
  p.model = builder->take_model();
  p.unit = builder->unit();
  p.solution_of = [builder](const std::vector<node_id>& order) { return builder->solution_of(order); };
  p.order_of = [builder](const std::vector<double>& x) { return builder->order_of(x); };
  return p;
}

/// The active nodes by ascending key, as far as precedence allows.
inline std::vector<node_id> order_by(const schedule_graph& g, const std::vector<double>& key) {
  return list_schedule(g, [&](const order_walk&, node_id v, index_t) { return std::pair(key[v], v); });
}

inline std::string name(const char* kind, index_t a, index_t b) {
  std::string text = kind;
  return text.append(std::to_string(a)).append("_").append(std::to_string(b));
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
