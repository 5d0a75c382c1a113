// Tests that wrong claims stay without proof: schedulers after passes, searches between two peaks, and bounds, drawn at
// random, are asked about small random graphs whose optimum is known, until one claims a bound above it. No certificate of
// that may be accepted: `certify` must prove less than was claimed, and what compression, probing, shaving and families make
// before anybody has checked it must be refused. Ends with 1 where false claims were made and remained without proof, with 0
// where none was made or, with a message, a false certificate was accepted.
// `tests/fuzz/claims/mutants.sh SECONDS tests/proof/wrong_rules.cpp` makes one rule wrong at a time.
// usage: wrong_rules [--seconds N]     (of the processor)
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

#include <memsched/bounds/placing.hpp>
#include <memsched/certify/certify_graph.hpp>
#include <memsched/certify/derive_rounds.hpp>
#include <memsched/schedulers/both_ends.hpp>

#include "fuzz/claims/question_limit.hpp"
#include "fuzz/claims/questions.hpp"
#include "fuzz/claims/table.hpp"
#include "support/changed_certificates.hpp"

namespace {

using namespace memsched;

using claims::subject;

constexpr auto go_on = [] { return true; };

struct counts {
  std::uint64_t claims = 0, certificates = 0, accepted = 0;  // that are false
};

/// The bound that a scheduler claims, after up to three passes, within some bounds and limits. `floor`: peaks below it are
/// of no use.
bytes claimed_by_scheduler(const subject& x, bytes floor, claims::random& r) {
  std::string asked;
  claims::detail::any_scheduler run = claims::detail::any_scheduler_of(r, asked).run;
  for (std::uint32_t passes = r.chance(40) ? 0 : 1 + r.below(3); passes > 0; --passes)
    run = [first = claims::detail::any_pass_of(r, asked).run, rest = run](const schedule_graph& h, search& c) {
      return first(h, c, rest);
    };
  options o = x.o;
  o.state_limit = r.chance(30) ? 1 + r.below(r.chance(50) ? 30 : 400) : 20000;
  const bytes ceiling = r.chance(25) ? claims::detail::near(x.optimum, claims::detail::any_offset(r)) : no_limit;
  search context(o);
  const solution s = context.ask({floor, ceiling}, [&] { return run(x.g, context); });
  return s.error ? 0 : s.lower_bound;
}

/// The bound that two searches claim of what lies between two peaks.
bytes claimed_between(const subject& x, bytes floor, claims::random& r) {
  std::string asked;
  const best_first policy = claims::detail::any_best_first(r, asked);
  const bytes below = claims::detail::near(x.optimum, claims::detail::any_offset(r));
  const std::uint64_t states = r.chance(40) ? 1 + r.below(60) : 20000;
  search c(x.o);
  if (r.chance(50)) return memsched::detail::both_ends{policy}.between(x.g, c, floor, below, states).bound;
  return c.control().with_states(states, [&] { return policy.between(x.g, c, floor, below); }).bound;
}

/// The peak up to which probing, shaving and placing refute all.
bytes claimed_by_probing(const subject& x, claims::random& r) {
  const bytes peak = claims::detail::near(x.optimum, 30 - static_cast<int>(r.below(60)));
  const unsigned patience = r.below(4);
  bounds::prober p(x.g, r.chance(70));
  const auto always = bounds::at_each_cut(go_on);
  auto outcome = p.run(peak, always);
  if (outcome == bounds::prober::outcome::open && patience > 0)
    outcome = bounds::shaver(r.chance(70)).run(p, patience, always);
  bounds::placer places(p);
  if (outcome == bounds::prober::outcome::open) outcome = places.run(p, always);
  return outcome == bounds::prober::outcome::refuted ? std::min(p.next(), places.next()) : 0;
}

/// The bound of a destructive search that is stopped now and then, while the peak that is reached falls; or of a search in
/// the graph that it hands out, in which each order below that peak is to be found.
bytes claimed_by_destructive_search(const subject& x, claims::random& r) {
  search c(x.o);
  bounds::destructive_search<presolve::narrowing> bounds(x.g, x.g.base, presolve::narrowing(x.g, c));
  bytes high = x.optimum + r.below(r.chance(50) ? 60 : 1000);
  for (std::uint32_t calls = 1 + r.below(8); calls > 0 && bounds.bound() <= x.optimum; --calls) {
    std::uint64_t cuts = r.chance(30) ? 100000 : r.below(r.chance(50) ? 10 : 60);
    bounds.run(high, r.chance(70) ? 0 : r.below(4), [&](auto) { return cuts > 0 ? (--cuts, true) : false; });
    if (r.chance(50)) high = x.optimum + r.below(static_cast<std::uint32_t>(high - x.optimum + 1));
  }
  if (high == 0 || r.chance(50)) return bounds.bound();
  search rest(x.o);
  return std::min(high, dp{}(bounds.known_up_to(high - 1).graph(), rest).lower_bound);
}

bytes claimed_by_cuts_and_layers(const subject& x, const std::vector<node_id>& order, claims::random& r) {
  bytes bound = bounds::layer_search(x.g).run(order, bounds::best_cut_bound(x.g, order, 0, go_on).bound, go_on).bound;
  bounds::cut_bound cut(x.g);
  for (node_id v = 0; v < x.g.active; ++v) bound = std::max(bound, cut.at(v));
  std::vector<node_id> layer;
  for (node_id v = 0; v < x.g.active; ++v)
    if (r.chance(40)) layer.push_back(v);
  if (layer.empty()) return bound;
  bounds::layer_bound members(x.g);
  return std::max({bound, members.of_first(layer, 0, go_on), members.of_last(layer, 0, go_on)});
}

/// Makes a claim about a graph, and counts what is false.
void ask(const subject& x, claims::random& r, counts& false_ones) {
  const auto judge = [&](const certificate& c) {
    if (c.bound <= x.optimum) return;
    ++false_ones.certificates;
    if (check_certificate(x.g, c).empty()) ++false_ones.accepted;
  };
  const std::vector<node_id> order = claims::detail::any_order(x.g, r);
  const bytes floor = r.chance(50) ? 0 : claims::detail::near(x.optimum, claims::detail::any_offset(r));
  bytes claim = 0;
  switch (r.below(10)) {
    case 0: claim = claimed_between(x, floor, r); break;
    case 1: claim = claimed_by_probing(x, r); break;
    case 2: claim = claimed_by_destructive_search(x, r); break;
    case 3: claim = claimed_by_cuts_and_layers(x, order, r); break;
    default: claim = claimed_by_scheduler(x, floor, r);
  }
  const bool is_false = claim > std::max(x.optimum, floor);
  false_ones.claims += is_false;
  if (is_false) judge(certify(x.g, order, claim, go_on));
  if (!is_false && !r.chance(10)) return;
  const bytes higher = std::max(claim, x.optimum + 1 + r.below(4));
  judge(memsched::detail::certify_probed(x.g, higher, go_on));
  judge(support::by_positions(x.g, higher, r.chance(30)));
  const auto form = memsched::detail::compressed_for_proof(x.g);
  judge(memsched::detail::certify_rounds(x.g, form, higher, r.below(3) * 8, 200, go_on));
  judge(memsched::detail::certify_by_events(x.g, form, higher, 200, go_on));
}

std::uint64_t seed_now = 0;

void no_end(int) {
  std::printf("%llu graphs, then a search without end\n", static_cast<unsigned long long>(seed_now));
  std::fflush(stdout);
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 10;
  if (argc == 3 && std::strcmp(argv[1], "--seconds") == 0) seconds = std::strtod(argv[2], nullptr);
  std::signal(SIGVTALRM, no_end);
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  std::uint64_t seed = 1;
  counts false_ones;
  for (; now() < seconds && false_ones.claims + false_ones.accepted == 0; ++seed) {
    claims::random r(seed);
    options o;
    if (seed % 3 == 1) o.in_place = false;
    if (seed % 3 == 2) o.default_firing = firing::cbp;
    const problem p = claims::problem_of(claims::random_table(r)).value();
    schedule_graph g = make_schedule_graph(p, o.model());
    if (r.chance(20)) g = claims::detail::coarsened(g, 2 + r.below(4));
    const auto optimum = claims::optimum_of(g);
    seed_now = seed;
    for (int i = 0; i < 20 && optimum; ++i) claims::limit_question(10), ask({p, o, g, *optimum}, r, false_ones);
  }
  const std::uint64_t findings = false_ones.claims + false_ones.certificates;
  if (false_ones.accepted > 0) {
    std::printf("a FALSE CERTIFICATE is accepted: seed %llu\n", static_cast<unsigned long long>(seed - 1));
    return 0;
  }
  std::printf("%llu graphs: %llu false claims, none proven, %llu false certificates, all refused: %llu findings, %.1f s\n",
              static_cast<unsigned long long>(seed - 1), static_cast<unsigned long long>(false_ones.claims),
              static_cast<unsigned long long>(false_ones.certificates), static_cast<unsigned long long>(findings), now());
  return findings > 0;
}
