// What a caller asks for, and what a search counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {

/// Why a search ended.
enum class stop_reason : unsigned char {
  finished,     ///< by itself
  time_limit,
  state_limit,  ///< or the memory limit
  cancelled,    ///< by the stop token
};

constexpr const char* to_string(stop_reason r) {
  switch (r) {
    case stop_reason::time_limit: return "time_limit";
    case stop_reason::state_limit: return "state_limit";
    case stop_reason::cancelled: return "cancelled";
    case stop_reason::finished: break;
  }
  return "finished";
}

/// How far a search has come; bytes.
struct progress {
  bytes peak = 0;  ///< of the best order so far
  bytes lower_bound = 0;
  std::uint64_t states = 0;
};

/// What one step of `dp` did.
struct step_statistics {
  std::uint64_t run = 0;     ///< which run of `dp` within the call, from 0
  std::uint64_t step = 0;    ///< nodes that had run before it
  std::uint64_t states = 0;  ///< signatures that it memoized
  std::uint64_t moves = 0;   ///< partial orders that it tried to extend by one node
  std::uint64_t pruned = 0;  ///< moves that reached the ceiling
  double seconds = 0;
};

/// What came of one budget that `soft_budget` tried.
enum class budget_answer : unsigned char { solution, no_solution, timeout };

constexpr const char* to_string(budget_answer a) {
  return a == budget_answer::solution ? "solution" : a == budget_answer::timeout ? "timeout" : "no solution";
}

/// One search under a budget.
struct trial_statistics {
  bytes budget = 0;
  budget_answer answer = budget_answer::no_solution;
  std::uint64_t step_states = 0;  ///< T: states that a step might have
  std::uint64_t states = 0;       ///< that the search had
  double seconds = 0;
};

/// How often each rule of `compress` changed a graph (Fradet et al., section 4).
struct rule_counts {
  std::uint64_t c1 = 0, c2 = 0;              ///< nodes clustered
  std::uint64_t s1 = 0, s2 = 0;              ///< edges added between nodes with the same neighbours
  std::uint64_t s1_general = 0, s2_general = 0;  ///< edges added by the general conditions
  std::uint64_t local = 0, global = 0;       ///< edges that transitive reduction took out
  std::uint64_t rounds = 0;                  ///< of the outermost loop
  std::uint64_t before = 0, after = 0;       ///< nodes, releases included
};

/// Counts of work, for tables.
struct statistics {
  std::uint64_t states = 0;     ///< sets of operators, or partial orders, that a search looked at
  std::uint64_t cuts = 0;       ///< minimum cuts solved
  std::uint64_t parts = 0;      ///< subgraphs handed to a scheduler by `divide`
  std::uint64_t nodes = 0;      ///< nodes of the largest graph that an exact search met
  std::uint64_t memory = 0;     ///< bytes that the tables of a search took at most
  std::vector<step_statistics> steps{};    ///< of every run of `dp`
  std::vector<trial_statistics> trials{};  ///< of every run of `soft_budget`
  rule_counts rules{};          ///< summed over all calls of `compress`
};

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// Every limit is kept: a search that meets one returns its best order and its bound.
struct options {
  bytes budget = no_limit;                                             ///< memory there is; decides the verdict
  std::chrono::nanoseconds time_limit = std::chrono::nanoseconds::max();  ///< the one limit that is not deterministic
  std::uint64_t state_limit = no_limit;                                ///< states over the whole search
  bytes memory_limit = 2_GiB;                                          ///< what the tables of a search may take
  std::stop_token stop{};                                              ///< cancels from another thread
  firing default_firing = firing::pbc;                                 ///< for operators that do not say
  bool in_place = true;                                                ///< whether overwritten inputs spare room
  unsigned threads = 1;                                                ///< at most so many
  function_ref<void(const progress&)> on_progress{};                   ///< called now and then; must outlive the call

  memory_model model() const { return {default_firing, in_place}; }
};

}  // namespace memsched
