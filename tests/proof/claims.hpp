// Claims of `automatic` about small random graphs: is each what `dp` finds, and does a certificate prove it?
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include <memsched/certify/certify.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/schedulers/dp.hpp>

#include "case.hpp"
#include "support/random_problem.hpp"

namespace claims {

using namespace memsched;

inline support::shape any_shape(support::random& r) {
  static constexpr std::array<std::uint32_t, 4> sizes{3, 8, 60, 1000};
  return {.operators = 4 + r.below(12),
          .max_size = sizes[r.below(4)],
          .percent_inplace = r.below(3) * 25,
          .percent_alias = r.chance(70) ? 0U : 10U,
          .percent_control = r.below(2) * 15,
          .percent_rule = r.below(2) * 20,
          .max_inputs = 1 + r.below(4)};
}

inline solution solved(const schedule_graph& g, const options& o, inner_scheduler policy) {
  search context(o);
  return policy(g, context);
}

/// Asks about `graphs` graphs, and prints every `each`-th certificate for a second checker; counts on standard error. False
/// where a claim is wrong, or has no complete certificate.
inline bool print_claims(std::uint64_t graphs, std::uint64_t first, std::uint64_t each) {
  std::uint64_t steps = 0, cases = 0, families = 0, windows = 0, wrong = 0;
  for (std::uint64_t seed = first; seed < first + graphs; ++seed) {
    support::random r(seed);
    const problem_draft draft = support::random_draft(seed, any_shape(r));
    options o;
    o.in_place = !r.chance(33);
    if (r.chance(33)) o.default_firing = firing::cbp;
    const schedule_graph g = make_schedule_graph(make_problem(draft).value(), o.model());
    const solution claimed = solved(g, o, automatic), known = solved(g, o, dp{});
    const bytes peak = peak_of(g, claimed.order);
    const certificate c = certify(g, claimed.order, claimed.lower_bound, [] { return true; });
    const std::string why = check_certificate(g, c);
    const bool holds = peak == claimed.lower_bound && peak == peak_of(g, known.order) && c.bound == peak && why.empty();
    if (!holds) {
      ++wrong;
      std::fprintf(
          stderr, "seed %llu: peak %llu, bound %llu, by dp %llu, certified %llu %s\n", static_cast<unsigned long long>(seed),
          static_cast<unsigned long long>(peak), static_cast<unsigned long long>(claimed.lower_bound),
          static_cast<unsigned long long>(peak_of(g, known.order)), static_cast<unsigned long long>(c.bound), why.c_str());
    }
    steps += !c.steps.empty(), families += c.family.has_value(), windows += c.window.has_value();
    for (const proof::proof_step& s : c.steps)
      if (s.cases) {
        ++cases;
        break;
      }
    if (seed % each == 0 || !holds)
      proof_case(draft, g, o.model(), claimed.order, peak_of(g, known.order)).print("claim", c);
  }
  std::fprintf(stderr,
               "%llu graphs, %llu wrong; certificates with steps %llu, with two cases %llu, with a family %llu, of a window "
               "%llu\n",
               static_cast<unsigned long long>(graphs), static_cast<unsigned long long>(wrong),
               static_cast<unsigned long long>(steps), static_cast<unsigned long long>(cases),
               static_cast<unsigned long long>(families), static_cast<unsigned long long>(windows));
  return wrong == 0;
}

}  // namespace claims
