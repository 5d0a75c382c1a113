// Random problems with costs, budgets to ask them about, and prices of moves.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/measure/evaluate.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <memsched/structure/list_schedule.hpp>

#include "../support/random_problem.hpp"

namespace recompute_test {

using namespace memsched;
using ids = std::vector<op_id>;

/// A random problem with random costs, in which some operators run once.
inline problem priced(std::uint64_t seed, std::uint32_t operators, std::uint32_t percent_alias = 10) {
  for (std::uint64_t next = seed;; next += 1000) {
    problem_draft d = support::random_draft(
        next, {.operators = operators, .percent_alias = percent_alias, .percent_updates = 5, .percent_overwrites = 20});
    support::random r(next + 1);
    for (problem_draft::operator_data& op : d.operators) op.cost = r.below(4) * 5, op.pure = !r.chance(10);
    if (auto p = make_problem(std::move(d))) return std::move(*p);  // else updates ask for a cycle
  }
}

/// A training step of random sizes and costs: each layer makes a tensor in between, which only a rerun reads again.
inline problem trained(std::uint64_t seed, unsigned layers) {
  problem_builder b;
  support::random r(seed);
  std::vector<tensor_id> x{b.input(1)};
  for (unsigned i = 1; i <= layers; ++i) {
    const tensor_id between = b.tensor(1 + r.below(8));
    x.push_back(b.tensor(2 + r.below(8)));
    b.op({.reads = {x[i - 1]}, .writes = {between}, .cost = 1 + r.below(6)});
    b.op({.reads = {between}, .writes = {x[i]}, .cost = 1 + r.below(6)});
  }
  tensor_id gradient = x.back();
  for (unsigned i = layers; i > 0; --i) {
    const tensor_id next = b.tensor(1 + r.below(3));
    b.op({.reads = {gradient, x[i]}, .writes = {next}, .cost = 5});
    gradient = next;
  }
  return b.build().value();
}

/// A chain of tensors of random sizes and costs, each made from the one before, and then read in reverse order.
inline problem there_and_back(std::uint64_t seed, unsigned length) {
  problem_builder b;
  support::random r(seed);
  std::vector<tensor_id> x{b.input(1)};
  for (unsigned i = 1; i <= length; ++i) {
    x.push_back(b.tensor(1 + r.below(8)));
    b.op({.reads = {x[i - 1]}, .writes = {x[i]}, .workspace = r.chance(20) ? r.below(8) : 0, .cost = 1 + r.below(6)});
  }
  tensor_id back = x.back();
  for (unsigned i = length - 1; i > 0; --i) {
    const tensor_id next = b.tensor(1 + r.below(4));
    b.op({.reads = {back, x[i]},
          .writes = {next},
          .workspace = r.chance(30) ? r.below(12) : 0,
          .cost = 5,
          .pure = r.chance(50)});
    back = next;
  }
  return b.build().value();
}

/// Draws tensors of random sizes for a small problem, and adds operators to it.
struct drawn_problem {
  explicit drawn_problem(std::uint64_t seed) : r(seed) {}

  tensor_id tensor(std::uint32_t most) { return b.tensor(1 + r.below(most)); }
  /// An operator that runs once.
  void once(std::vector<tensor_id> reads, tensor_id writes, bytes workspace = 0) {
    b.op({.reads = std::move(reads), .writes = {writes}, .workspace = workspace, .cost = 5, .pure = false});
  }

  problem_builder b{};
  support::random r;
};

/// Two tensors made from a third, and then all three read one after the other by a chain of operators, with others in between.
inline problem made_of_one(std::uint64_t seed) {
  drawn_problem d(seed);
  const tensor_id x = d.tensor(6), first = d.tensor(8), second = d.tensor(8);
  d.b.op({.writes = {x}, .cost = 1 + d.r.below(6)});
  d.b.op({.reads = {x}, .writes = {first}, .cost = 1 + d.r.below(3)});
  d.b.op({.reads = {x}, .writes = {second}, .cost = 1 + d.r.below(3)});
  tensor_id last = d.tensor(2);
  d.once({first, second}, last, d.r.below(16));
  for (const tensor_id used : {first, second, x}) {
    const tensor_id between = d.tensor(2), next = d.tensor(2);
    d.once({last}, between, d.r.below(24));
    d.once({between, used}, next, d.r.below(12));
    last = next;
  }
  return d.b.build().value();
}

/// A path of five operators, and a reader of the first tensor that may run before or after the fourth. Random sizes and costs.
inline problem with_late_reader(std::uint64_t seed) {
  drawn_problem d(seed);
  const tensor_id x = d.tensor(8), y = d.tensor(8), marker = d.tensor(2), end = d.tensor(2), late = d.tensor(2),
                  last = d.tensor(2);
  d.b.op({.writes = {x}, .cost = 1 + d.r.below(6)});
  d.b.op({.reads = {x}, .writes = {y}, .cost = 1 + d.r.below(6)});
  d.once({y}, marker, d.r.below(16));
  d.once({marker}, end, d.r.below(20));
  d.once({x, marker}, late);
  d.once({end, late, y}, last);
  return d.b.build().value();
}

/// Two tensors made from a third, of which some operators of a path read one, and an operator beside the path the other.
inline problem with_reader_aside(std::uint64_t seed) {
  drawn_problem d(seed);
  const tensor_id x = d.tensor(6), y = d.tensor(8), z = d.tensor(8), late = d.tensor(2), last = d.tensor(2);
  std::vector<tensor_id> marks{d.tensor(2), d.tensor(2), d.tensor(2), d.tensor(2)};
  const bool reads_twice = d.r.chance(50);
  d.b.op({.writes = {x}, .cost = 1 + d.r.below(6)});
  d.b.op({.reads = {x}, .writes = {y}, .cost = 1 + d.r.below(3)});
  d.b.op({.reads = {x, y}, .writes = {z}, .cost = 1 + d.r.below(3)});
  d.once({z}, marks[0]);
  for (unsigned i = 1; i < 4; ++i) {
    std::vector<tensor_id> reads{marks[i - 1]};
    if (i == 2 && reads_twice) reads.push_back(z);
    d.once(reads, marks[i], d.r.below(24));
  }
  d.once({y, marks[1]}, late);
  d.once({marks[3], late, z}, last);
  return d.b.build().value();
}

/// A path whose first operator takes workspace and may run again late; an operator beside the path reads another tensor, before
/// or after that rerun.
inline problem with_reader_before_rerun(std::uint64_t seed) {
  drawn_problem d(seed);
  const tensor_id t = d.tensor(8), j = d.tensor(8), z = d.tensor(2), m1 = d.tensor(2), m2 = d.tensor(2), late = d.tensor(2),
                  last = d.tensor(2);
  d.b.op({.writes = {t}, .workspace = d.r.below(16), .cost = 1 + d.r.below(3)});
  d.b.op({.reads = {t}, .writes = {j, z}, .cost = 4 + d.r.below(6)});
  d.once({z}, m1, d.r.below(24));
  d.once({m1, t}, m2);
  d.once({j, m1}, late);
  d.once({m2, late}, last);
  return d.b.build().value();
}

/// The same, where operators beside the path make the other tensor, before or after that rerun.
inline problem with_maker_behind_rerun(std::uint64_t seed) {
  drawn_problem d(seed);
  const tensor_id t = d.tensor(4), j = d.b.tensor(4 + d.r.below(6)), w = d.tensor(2), m2 = d.tensor(2), last = d.tensor(2);
  std::vector<tensor_id> marks{d.tensor(2), d.tensor(2), d.tensor(2), d.tensor(2)};
  d.b.op({.writes = {t}, .workspace = 6 + d.r.below(8), .cost = 1 + d.r.below(3)});
  d.once({t}, marks[0]);
  for (unsigned i = 1; i < 4; ++i) d.once({marks[i - 1]}, marks[i], i == 3 ? 12 + d.r.below(4) : 0);
  d.b.op({.reads = {marks[0]}, .writes = {j}, .cost = 4 + d.r.below(6)});
  d.once({j}, w);
  d.once({marks[3], w}, m2);
  d.once({m2, t, j}, last);
  return d.b.build().value();
}

/// The same problem with almost all sizes in whole units of eight bytes.
inline problem in_units(const problem& p, support::random& r) {
  problem_draft d = p.draft();
  for (problem_draft::tensor_data& t : d.tensors) t.size = 8 * t.size + (r.chance(10) ? 1 : 0);
  return make_problem(std::move(d)).value();
}

/// Nothing leaves memory; moves cost about as much as reruns; moves are cheap, and there is a copy outside; storages may be
/// outside at both ends.
inline constexpr offload none_leaves{}, dear_moves{.read = 1, .write = 2}, cheap_moves{.read = 5, .write = 0},
    outer_moves{.read = 2, .write = 1, .ends_outside = true};
inline constexpr std::array kinds_of_moves{none_leaves, dear_moves, cheap_moves, outer_moves};
inline offload kind_of_moves(std::uint64_t seed) { return kinds_of_moves[seed % kinds_of_moves.size()]; }

inline ids own_order(const problem& p) { return structure::given_order(make_schedule_graph(p)); }

/// Budgets between the least peak with reruns and moves and that of the graph's own order.
inline std::vector<bytes> budgets(const problem& p, const offload& moves = none_leaves) {
  const bytes low = least_peak_with_reruns(p, {}, moves), high = evaluate(p, own_order(p)).value().peak;
  std::vector<bytes> list;
  for (bytes b : {low, low + (high - low) / 4, low + (high - low) / 2, low + 3 * (high - low) / 4, high})
    if (list.empty() || list.back() != b) list.push_back(b);
  return list;
}

}  // namespace recompute_test
