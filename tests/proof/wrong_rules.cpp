// What becomes of wrong claims: schedulers and passes drawn at random are asked about small random graphs whose optimum is
// known, until one claims a bound above it; then certificates of that claim must be refused, those that `certify` makes and
// those that compression, probing, shaving and families make before anybody has checked them. Ends with 1 where a false
// claim or a false certificate was made and refused, with 0 where none was made or, with a message, one was accepted.
// `tests/fuzz/claims/mutants.sh SECONDS tests/proof/wrong_rules.cpp` makes one rule wrong at a time.
// usage: wrong_rules [--seconds N]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <memsched/certify/certify.hpp>

#include "fuzz/claims/draws.hpp"
#include "fuzz/claims/oracle.hpp"
#include "fuzz/claims/table.hpp"
#include "support/random_problem.hpp"

namespace {

using namespace memsched;


constexpr auto go_on = [] { return true; };

struct counts {
  std::uint64_t claims = 0, certificates = 0, accepted = 0;  // that are false
};

/// The bound that a scheduler claims, behind up to two passes, where it may be told that some peaks are of no use, which are
/// below the optimum.
bytes claimed(const schedule_graph& g, const options& o, bytes optimum, support::random& r) {
  std::string asked;
  claims::detail::any_scheduler run = claims::detail::any_scheduler_of(r, asked).run;
  for (std::uint32_t passes = r.below(3); passes > 0; --passes) {
    const auto pass = claims::detail::any_pass_of(r, asked);
    if (pass.is_budget) continue;
    run = [first = pass.run, rest = run](const schedule_graph& h, search& c) { return first(h, c, rest); };
  }
  search context(o);
  const bytes floor = r.chance(50) ? 0 : optimum - std::min<bytes>(optimum, r.below(20));
  return context.with_floor(floor, [&] { return run(g, context); }).lower_bound;
}

void ask(const schedule_graph& g, const options& o, bytes optimum, support::random& r, counts& false_ones) {
  const auto judge = [&](const certificate& c) {
    if (c.bound <= optimum) return;
    ++false_ones.certificates;
    if (check_certificate(g, c).empty()) ++false_ones.accepted;
  };
  const bytes claim = claimed(g, o, optimum, r);
  false_ones.claims += claim > optimum;
  search context(o);
  const std::vector<node_id> order = greedy{}(g, context).order;
  if (claim > optimum) judge(certify(g, order, claim, go_on));
  const bytes higher = std::max(claim, optimum + 1 + r.below(4));
  judge(detail::certify_probed(g, higher, go_on));
  judge(detail::certify_rounds(g, higher, r.below(3) * 8, 200, go_on));
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;
  if (argc == 3 && std::strcmp(argv[1], "--seconds") == 0) seconds = std::strtod(argv[2], nullptr);
  const auto start = std::chrono::steady_clock::now();
  const auto now = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t seed = 1;
  counts false_ones;
  for (; now() < seconds && false_ones.claims + false_ones.certificates == 0; ++seed) {
    support::random r(seed);
    options o;
    if (seed % 3 == 1) o.in_place = false;
    if (seed % 3 == 2) o.default_firing = firing::cbp;
    const problem p = claims::problem_of(claims::random_table(r)).value();
    const schedule_graph g = make_schedule_graph(p, o.model());
    const bytes optimum = claims::optimum_of(p, o.model());
    for (int i = 0; i < 10; ++i) ask(g, o, optimum, r, false_ones);
  }
  const std::uint64_t findings = false_ones.claims + false_ones.certificates;
  if (false_ones.accepted > 0) {
    std::printf("a FALSE CERTIFICATE is accepted: seed %llu\n", static_cast<unsigned long long>(seed - 1));
    return 0;
  }
  std::printf("%llu graphs, %llu false claims, %llu false certificates, all refused: %llu findings, %.1f s\n",
              static_cast<unsigned long long>(seed - 1), static_cast<unsigned long long>(false_ones.claims),
              static_cast<unsigned long long>(false_ones.certificates), static_cast<unsigned long long>(findings), now());
  return findings > 0;
}
