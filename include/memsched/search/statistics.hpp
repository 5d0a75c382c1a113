// Counters of all searches, in one struct so that every result carries the same table.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Counts of work, for tables.
struct statistics {
  /// The work of one step of `dp`.
  struct step {
    std::uint64_t run = 0;     ///< which run of `dp` within the call, from 0
    std::uint64_t step = 0;    ///< nodes that had run before it
    std::uint64_t states = 0;  ///< signatures that it memoized
    std::uint64_t moves = 0;   ///< partial orders that it tried to extend by one node
    std::uint64_t pruned = 0;  ///< moves that reached the cutoff
    double seconds = 0;
  };

  /// The outcome of one budget that `soft_budget` tried.
  enum class outcome : unsigned char { solution, no_solution, timeout };

  /// One search under a budget.
  struct trial {
    bytes budget = 0;
    outcome answer = outcome::no_solution;
    std::uint64_t step_states = 0;  ///< T: states that a step might have
    std::uint64_t states = 0;       ///< that the search had
    double seconds = 0;
  };

  /// The number of times that each rule of `compress` changed a graph (Fradet et al., section 4).
  struct rule_counts {
    std::uint64_t c1 = 0, c2 = 0;                  ///< nodes clustered
    std::uint64_t s1 = 0, s2 = 0;                  ///< edges added between nodes with the same neighbours
    std::uint64_t s1_general = 0, s2_general = 0;  ///< edges added by the general conditions
    std::uint64_t local = 0, global = 0;           ///< edges that transitive reduction took out
    std::uint64_t rounds = 0;                      ///< of the outermost loop
    std::uint64_t before = 0, after = 0;           ///< nodes, releases included

    rule_counts& operator+=(const rule_counts& r) {
      c1 += r.c1, c2 += r.c2, s1 += r.s1, s2 += r.s2, s1_general += r.s1_general, s2_general += r.s2_general;
      local += r.local, global += r.global, rounds += r.rounds, before += r.before, after += r.after;
      return *this;
    }
  };

  std::uint64_t states = 0;     ///< sets of operators, or partial orders, that a search looked at
  std::uint64_t cuts = 0;       ///< minimum cuts solved; one of millions of nodes and edges counts more than once
  std::uint64_t parts = 0;      ///< subgraphs handed to a scheduler by `divide`
  std::uint64_t nodes = 0;      ///< nodes of the largest graph that an exact search met
  std::uint64_t memory = 0;     ///< bytes that the tables of a search took at most
  std::vector<step> steps{};    ///< of every run of `dp`
  std::vector<trial> trials{};  ///< of every run of `soft_budget`
  rule_counts rules{};          ///< summed over all calls of `compress`
};

constexpr const char* to_string(statistics::outcome a) noexcept {
  return a == statistics::outcome::solution ? "solution" : a == statistics::outcome::timeout ? "timeout" : "no solution";
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
