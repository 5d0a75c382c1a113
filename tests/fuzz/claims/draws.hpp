// Schedulers and passes drawn at random, with all their switches, for questions to them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <memsched/memsched.hpp>

#include "support/random_problem.hpp"

namespace claims {

using namespace memsched;
using support::random;

namespace detail {

inline std::string number(bytes b) { return b == no_limit ? "none" : std::to_string(b); }

using any_scheduler = std::function<solution(const schedule_graph&, search&)>;
using any_pass = std::function<solution(const schedule_graph&, search&, inner_scheduler)>;

/// A member's name and value, for the report.
template <class T>
T pick(std::string& asked, const char* name, T value) {
  asked += std::string(" ") + name + "=" + std::to_string(value);
  return value;
}
inline bool flip(random& r, std::string& asked, const char* name, std::uint32_t percent = 50) {
  return pick(asked, name, r.chance(percent));
}

inline best_first any_best_first(random& r, std::string& asked) {
  const bool m = flip(r, asked, "macros", 75), c = flip(r, asked, "commits", 75), b = flip(r, asked, "backjumps", 60);
  return {.macros = m, .commits = c, .backjumps = b};
}
inline presolve::compression_rules any_rules(random& r, std::string& asked) {
  if (r.chance(50)) return {};
  const bool c1 = flip(r, asked, "c1"), c2 = flip(r, asked, "c2"), s1 = flip(r, asked, "s1"), s2 = flip(r, asked, "s2"),
             sp = flip(r, asked, "sp"), general = flip(r, asked, "general"), local = flip(r, asked, "local"),
             global = flip(r, asked, "global");
  return {.c1 = c1,
          .c2 = c2,
          .s1 = s1,
          .s2 = s2,
          .series_parallel = sp,
          .general = general,
          .local_reduction = local,
          .global_reduction = global};
}

struct last_stage {
  any_scheduler run;
  bool exact;                ///< without limits it proves the optimum
  bool heeds_ceiling;        ///< as `soft_budget` asks
  bool claims_floor = true;  ///< its bound may be the floor
};

inline last_stage any_scheduler_of(random& r, std::string& asked) {
  switch (r.below(16)) {
    case 0: {
      asked += " dp";
      return {dp{.direct = flip(r, asked, "direct")}, true, true};
    }
    case 1:
    case 2:
    case 3: asked += " best_first"; return {any_best_first(r, asked), true, true};
    case 4: {
      asked += " branch_and_bound";
      branch_and_bound b;
      for (bool branch_and_bound::*m :
           {&branch_and_bound::starts, &branch_and_bound::fast_backtracking, &branch_and_bound::direct_negatives,
            &branch_and_bound::remember, &branch_and_bound::cuts})
        b.*m = flip(r, asked, "");
      return {b, true, true};
    }
    case 5:
    case 6: {
      asked += " hierarchical";
      hierarchical h;
      h.level = static_cast<structure::hierarchy_level>(pick(asked, "level", r.chance(50) ? 0 : r.below(4)));
      h.safe_moves = flip(r, asked, "safe_moves", 85);
      for (bool hierarchical::*m : {&hierarchical::adaptive_budget, &hierarchical::simple_schedules, &hierarchical::memoize,
                                    &hierarchical::readers, &hierarchical::bounds})
        h.*m = flip(r, asked, "", 70);
      h.by_levels = flip(r, asked, "by_levels", 10);
      if (r.chance(20)) h.group_states = pick(asked, "group_states", 1 + r.below(20));
      if (r.chance(20)) h.round_states = pick(asked, "round_states", 1 + r.below(100));
      if (r.chance(20)) h.max_cell = pick(asked, "max_cell", 1 + r.below(5));
      return {h, false, false};
    }
    case 7:
    case 8:
    case 9: {
      asked += " stages";
      constexpr std::size_t sizes[] = {10, 300, 1000, 10000};
      memsched::detail::staged_search s;
      s.active = pick(asked, "active", sizes[r.below(4)]);
      s.unit = pick(asked, "unit", r.chance(50) ? 1 + r.below(4) : 1 + r.below(200));
      s.rows = flip(r, asked, "rows", 30);
      s.window = flip(r, asked, "window", 20);
      if (r.chance(30)) s.rise = pick(asked, "rise", r.below(r.chance(50) ? 20 : 1000));
      return {s, true, false, false};
    }
    case 10: asked += " automatic"; return {automatic, true, false};
    case 11: {
      asked += " serenity";
      serenity s;
      for (bool serenity::*m : {&serenity::divides, &serenity::budgets, &serenity::direct}) s.*m = flip(r, asked, "");
      s.budget.step_states = pick(asked, "step_states", 1 + r.below(200));
      return {s, true, false};
    }
    case 12: asked += " fradet"; return {fradet, true, false};
    case 13: asked += " automatic"; return {automatic, true, false};
    case 14: asked += " apart"; return {memsched::detail::apart_search{}, false, false};
    default:
      switch (r.below(4)) {
        case 0: asked += " best_heuristic"; return {best_heuristic{}, false, false};
        case 1: asked += " beam"; return {beam{}, false, false};
        case 2: asked += " local_search"; return {local_search{}, false, false};
        default: asked += " exhaustive"; return {exhaustive{}, true, false};
      }
  }
}

struct stage {
  any_pass run;
  bool exact = true;  ///< keeps the optimum
  bool is_budget = false;
};

inline stage any_pass_of(random& r, std::string& asked) {
  switch (r.below(9)) {
    case 0:
    case 1: asked += " compress"; return {compress{any_rules(r, asked)}};
    case 2: asked += " compose"; return {compose{}};
    case 3: asked += " divide"; return {divide{}};
    case 4: {
      asked += " soft_budget";
      soft_budget b;
      b.use_bounds = flip(r, asked, "use_bounds");
      b.step_states = pick(asked, "step_states", 1 + r.below(300));
      return {b, true, true};
    }
    case 5: {
      asked += " fuse";
      fuse f;
      if (r.chance(30)) f.max_size = pick(asked, "max_size", 2 + r.below(5));
      if (r.chance(30)) f.max_sets = pick(asked, "max_sets", 1 + r.below(20));
      return {f};
    }
    case 6: {
      asked += " probe";
      return {probe{.patience = pick(asked, "patience", r.below(4))}};
    }
    case 7: asked += " components"; return {components{}, false};
    default: {
      asked += " partition";
      partition q;
      q.shape.parts = pick(asked, "parts", 1 + r.below(4));
      q.shape.naive = flip(r, asked, "naive");
      return {q, false};
    }
  }
}

}  // namespace detail

}  // namespace claims
