// Certificates of bounds: those that are made hold, and mutated ones do not, or prove something true in another way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/certify/certify_graph.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/proof/proof_graph.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <networks/networks.hpp>

#include "support/changed_certificates.hpp"
#include "support/optimum.hpp"
#include "support/random_graph.hpp"
#include "support/seeds.hpp"
#include "support/side_by_side.hpp"

using namespace memsched;

namespace {

const memory_model models[] = {{}, {.in_place = false}, {.default_firing = firing::cbp}};
constexpr auto go_on = [] { return true; };

/// Random graphs: of tensors under each memory model, and with impacts of any sign.
template <class F>
void for_each_graph(std::uint64_t seeds, std::uint32_t operators, F&& f) {
  for (std::uint64_t seed = 0; seed < support::seeds(seeds); ++seed) {
    INFO("seed " << seed);
    const problem p = support::random_problem(seed, {.operators = operators});
    for (const memory_model& model : models) f(make_schedule_graph(p, model));
    f(make_schedule_graph(support::random_costs(seed, operators)).value());
  }
}

std::vector<node_id> good_order(const schedule_graph& g) {
  const options o;
  search context(o);
  return best_heuristic{}(g, context).order;
}

/// The best certificate that rests on compression and probing.
certificate compressed_certificate(const schedule_graph& g, bytes bound) {
  const presolve::compressed_graph form = detail::compressed_for_proof(g);
  certificate c = detail::certify_rounds(g, form, bound, 0, 0, go_on);
  while (c.steps.empty() && --bound > c.bound) c = detail::certify_rounds(g, form, bound, 0, 0, go_on);
  detail::trim(g, c, 1 << 20);
  return c;
}

}  // namespace

TEST_CASE("what cuts and probing prove comes with a certificate that holds") {
  std::size_t derived = 0, reduced = 0, rounds = 0;
  for_each_graph(250, 12, [&](const schedule_graph& g) {
    const auto order = good_order(g);
    const bytes peak = peak_of(g, order);
    bounds::destructive_search probing(g, 0);
    probing.run(peak, bounds::at_each_cut(go_on));
    const certificate c = certify(g, order, peak, go_on);
    REQUIRE(check_certificate(g, c) == "");
    REQUIRE(c.bound >= probing.bound());
    REQUIRE(c.bound >= bounds::best_cut_bound(g, order, g.base, go_on).bound);
    derived += c.steps.size() > 1;
    const certificate d = compressed_certificate(g, peak);
    REQUIRE(check_certificate(g, d) == "");
    REQUIRE(d.bound <= peak);
    reduced += !d.steps.empty() && !d.steps[0].reductions.empty();
    rounds +=
        std::count_if(d.steps.begin(), d.steps.end(), [](const proof::proof_step& s) { return !s.reductions.empty(); }) > 1;
  });
  REQUIRE(derived > support::seeds(25));
  REQUIRE(reduced > support::seeds(250));
  REQUIRE(rounds > 0);
}

TEST_CASE("every optimum of a small graph has a certificate, if need be by a family of sets") {
  std::size_t families = 0, mirrored = 0;
  for_each_graph(500, 11, [&](const schedule_graph& g) {
    const bytes best = support::optimum(g);
    const certificate c = certify(g, good_order(g), best, go_on);
    REQUIRE(check_certificate(g, c) == "");
    REQUIRE(c.bound == best);
    if (best == detail::level_at_ends(g)) return;
    for (const bool from_end : {false, true}) {
      if (from_end && g.credits.items() > 0) continue;
      const auto by_sets = [&](bytes level) {
        certificate made{.bound = level, .family = proof::set_family{.level = level, .mirrored = from_end}};
        return std::pair(find_family(g, made, 4096, go_on), made);
      };
      auto [found, made] = by_sets(best);
      REQUIRE(found);
      REQUIRE(check_certificate(g, made) == "");
      (from_end ? mirrored : families) += made.family->sets.size() > 1;
      REQUIRE_FALSE(by_sets(best + 1).first);
      ++made.family->level, ++made.bound;
      REQUIRE(check_certificate(g, made) != "");
    }
  });
  REQUIRE(families > support::seeds(300));
  REQUIRE(mirrored > support::seeds(200));
}

TEST_CASE("what holds whichever of two nodes runs first, and what shaving refutes, has a certificate") {
  support::random r(3);
  std::size_t cases = 0, changed = 0, refused = 0;
  for_each_graph(700, 11, [&](const schedule_graph& g) {
    const bytes best = support::optimum(g);
    const auto compressed = [](const schedule_graph& h, bytes b, unsigned patience = 0, std::size_t sets = 0) {
      return detail::certify_rounds(h, detail::compressed_for_proof(h), b, patience, sets, go_on);
    };
    const certificate shaved = r.chance(80) ? support::by_cases(g, best, r, compressed) : compressed(g, best, 64, 4096);
    const bool any = std::any_of(shaved.steps.begin(), shaved.steps.end(), [](auto& s) { return s.cases; });
    if (!any) return;
    ++cases;
    REQUIRE(check_certificate(g, shaved) == "");
    REQUIRE(shaved.bound == best);
    for (int i = 0; i < 10; ++i) {
      const certificate other = support::other_cases(shaved, r, g);
      if (other == shaved) continue;
      ++changed;
      if (check_certificate(g, other) != "") ++refused;
      else REQUIRE(other.bound <= best);
    }
  });
  REQUIRE(cases > support::seeds(300));
  REQUIRE(refused > changed / 3);
}

TEST_CASE("a layer drawn at random proves what its bound is, which no order is below, and with a change no more") {
  support::random r(13);
  std::size_t layers = 0, rounds = 0, tight = 0, changed = 0, refused = 0;
  for_each_graph(400, 9, [&](const schedule_graph& g) {
    const bytes best = support::optimum(g);
    const certificate c = support::by_layer(g, best, r);
    if (c.steps.empty()) return;
    REQUIRE(check_certificate(g, c) == "");
    REQUIRE(c.bound <= best);
    ++layers;
    tight += c.bound == best;
    rounds += c.steps.size() > 1;
    const proof::proof_step& s = c.steps.back();
    if (c.steps.size() == 1 && s.reductions.empty() && s.layer.back().v < g.active) {
      std::vector<node_id> nodes;
      for (const proof::layer_member& m : s.layer) nodes.push_back(m.v);
      bounds::layer_bound bounds(g);
      REQUIRE(c.bound == (s.v_first ? bounds.of_first(nodes, 0, go_on) : bounds.of_last(nodes, 0, go_on)));
    }
    for (int i = 0; i < 20; ++i) {
      certificate other = support::other_layer(c, r, g);
      if (other == c) continue;
      ++changed;
      if (check_certificate(g, other) != "") ++refused;
      else REQUIRE(other.bound <= best);
      other.bound = other.steps.back().level = best + 1 + r.below(3);
      REQUIRE(check_certificate(g, other) != "");
    }
  });
  CAPTURE(layers, rounds, tight, changed, refused);
  REQUIRE(layers > support::seeds(1000));
  REQUIRE(rounds > support::seeds(20));
  REQUIRE(tight > support::seeds(100));
  REQUIRE(refused > changed / 2);
}

TEST_CASE("windows bound the whole, whatever stretch of whatever order they are") {
  support::random r(5);
  std::size_t windows = 0, with_slack = 0, tight = 0, changed = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed) {
    INFO("seed " << seed);
    const problem p = support::random_problem(seed, {.operators = 12});
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(p, model);
      const bytes best = support::optimum(g);
      const structure::order_line line(g, r.chance(50) ? good_order(g) : g.topological_order());
      const base::backbone bone(g.preds, g.succs, line.nodes(0, line.size()));
      const bounds::live_index live(line);
      const std::size_t a = line.legal_from(r.below(6)), b = line.legal_from(a + 3 + r.below(8));
      if (a >= b || (a == 0 && b == line.size())) continue;
      const node_id core = line.at(a + r.below(static_cast<std::uint32_t>(b - a)));
      const auto found = detail::describe_window(line, live, bone, a, b, g.is_release(core) ? none : core);
      if (!found) continue;
      const bytes optimum = support::optimum(found->graph), lift = found->window.lift + found->window.slack;
      const certificate c = detail::certify_window(*found, optimum - std::min(optimum, lift), {64, 4096}, {}, go_on);
      if (c.bound == 0) continue;
      ++windows;
      with_slack += found->window.slack > 0;
      REQUIRE(check_certificate(g, c) == "");
      REQUIRE(c.bound <= best);
      tight += c.bound == best;
      for (int i = 0; i < 10; ++i) {
        const certificate other = support::other_window(c, r, g);
        if (other == c) continue;
        ++changed;
        if (check_certificate(g, other) != "") ++refused;
        else REQUIRE(other.bound <= best);
      }
    }
  }
  REQUIRE(windows > support::seeds(1500));
  REQUIRE(with_slack > support::seeds(500));
  REQUIRE(tight > 100);
  REQUIRE(refused > changed / 2);
}

TEST_CASE("a result has a certificate where one is asked for") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    const problem p = support::random_problem(seed, {.operators = 9});
    REQUIRE_FALSE(schedule(p).certificate);
    const auto r = schedule(p, {.certify = certify}).value();
    REQUIRE(r.certificate);
    REQUIRE(r.certificate->bound == r.peak);
    REQUIRE(check_certificate(make_schedule_graph(p), *r.certificate) == "");
    const auto limited = schedule(p, {.default_firing = firing::cbp, .in_place = false, .certify = certify}).value();
    const memory_model model{.default_firing = firing::cbp, .in_place = false};
    REQUIRE(check_certificate(make_schedule_graph(p, model), *limited.certificate) == "");
    REQUIRE(limited.certificate->bound == limited.peak);
  }
}

TEST_CASE("a certificate takes no more than it may, and proves less where that is too little") {
  std::size_t less = 0;
  for (const char* name : {"windowed:100:30:1", "watts_strogatz:10:2"}) {
    const schedule_graph g = make_schedule_graph(make_problem(networks::make(name).value()).value());
    const options o;
    search context(o);
    const solution s = automatic(g, context);
    const certificate whole = certify(g, s.order, s.lower_bound, go_on);
    REQUIRE(whole.bound == s.lower_bound);
    for (std::size_t size = 100; size < 8 * proof::text_size(whole); size *= 8) {
      const certificate c = certify(g, s.order, s.lower_bound, go_on, {.size = size});
      REQUIRE(check_certificate(g, c) == "");
      REQUIRE(proof::text_size(c) <= size);
      less += c.bound < whole.bound;
    }
  }
  REQUIRE(less > 1);
}

TEST_CASE("a family has no more sets than it may have") {
  const schedule_graph g = make_schedule_graph(make_problem(networks::make("layered:20:10:1").value()).value());
  certificate c{.bound = 612, .family = proof::set_family{.level = 612}};
  REQUIRE_FALSE(find_family(g, c, 50, go_on));
  REQUIRE(c.family->sets.size() <= 51 * g.size());
  REQUIRE_FALSE(find_family(g, c, 1 << 20, [] { return false; }));
}

TEST_CASE("rounds of compression and probing prove what either alone does not") {
  const std::pair<const char*, bytes> hard[] = {{"layered:20:10:1", 612}, {"watts_strogatz:100:3", 9050496}};
  for (const auto& [name, best] : hard) {
    const schedule_graph g = make_schedule_graph(make_problem(networks::make(name).value()).value());
    bounds::destructive_search probing(g, 0);
    probing.run(best, bounds::at_each_cut(go_on));
    REQUIRE(probing.bound() < best);
    const certificate c = certify(g, good_order(g), best, go_on);
    REQUIRE(check_certificate(g, c) == "");
    REQUIRE(c.bound == best);
  }
}

TEST_CASE("a certificate with a change is rejected, or proves something true") {
  support::random r(7);
  std::size_t changed = 0, rejected = 0;
  for_each_graph(1000, 9, [&](const schedule_graph& g) {
    const bytes best = support::optimum(g);
    for (const certificate& good : {certify(g, good_order(g), best, go_on), compressed_certificate(g, best)}) {
      REQUIRE(check_certificate(g, good) == "");
      REQUIRE(good.bound <= best);
      if (good.steps.empty() || good.family) continue;
      for (int i = 0; i < 10; ++i) {
        const certificate bad = support::broken(good, r);
        if (bad != good) REQUIRE(check_certificate(g, bad) != "");
        certificate other = support::altered(good, r, g);
        if (r.chance(50)) other = support::altered(other, r, g);
        if (other == good) continue;
        ++changed;
        if (check_certificate(g, other) != "") ++rejected;
        else REQUIRE(other.bound <= best);
        other.bound = best + 1 + r.below(3);
        for (proof::proof_step& s : other.steps) s.level = std::max(s.level, other.bound);
        REQUIRE(check_certificate(g, other) != "");
      }
    }
  });
  REQUIRE(changed > support::seeds(40000));
  REQUIRE(rejected > changed / 5 * 4);
}

TEST_CASE("reductions that the checker allows, in any order, keep the smallest peak") {
  support::random r(11);
  std::size_t allowed = 0;
  for_each_graph(500, 9, [&](const schedule_graph& g) {
    const bytes best = support::optimum(g);
    detail::proof_graph checked(g);
    std::vector<detail::proof_round> round(1);
    for (int i = 0; i < 200; ++i) {
      const proof::reduction x{static_cast<proof::reduction::rule>(r.below(4)),
                               r.below(static_cast<std::uint32_t>(g.size())), r.below(static_cast<std::uint32_t>(g.size()))};
      if (checked.apply(x).empty()) round[0].reductions.push_back(x);
    }
    allowed += round[0].reductions.size();
    REQUIRE(detail::certifier(g, round).refute(best + 1, go_on).empty());
  });
  REQUIRE(allowed > support::seeds(4000));
}

TEST_CASE("a peak is the next possible one from itself on, and none is passed over") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12, .max_size = 200}), model);
      const options o;
      search context(o);
      for (const auto& order :
           {as_given{}(g, context).order, kahn{}(g, context).order, rpo{}(g, context).order, greedy{}(g, context).order}) {
        const bytes peak = peak_of(g, order), below = peak - std::min<bytes>(peak, 3);
        INFO("seed " << seed);
        REQUIRE(bounds::next_possible_peak(g, peak) == peak);
        REQUIRE(bounds::next_possible_peak(g, below) >= below);
        REQUIRE(bounds::next_possible_peak(g, below) <= peak);
      }
    }
}

TEST_CASE("sizes of one branch do not blur the peaks of what runs after it") {
  // x of 7 bytes becomes two branches of 100s; what joins them leaves 1 byte.
  problem_builder b;
  const tensor_id x = b.input(7), a = b.tensor(300), c = b.tensor(200), d = b.tensor(100), e = b.tensor(400),
                  out = b.tensor(1);
  b.op({.reads = {x}, .writes = {a, c}});
  b.op({.reads = {a}, .writes = {d}});
  b.op({.reads = {c}, .writes = {e}});
  b.op({.reads = {d, e}, .writes = {out}});
  b.output(out);
  const schedule_graph g = make_schedule_graph(b.build().value());
  REQUIRE(bounds::next_possible_peak(g, 8) == 100);    // a multiple of 100 while either branch runs
  REQUIRE(bounds::next_possible_peak(g, 502) == 507);  // the first operator
  REQUIRE(bounds::next_possible_peak(g, 601) == 700);
}

TEST_CASE("the bound of two copies has a certificate of one step, of a layer with a node of each") {
  const std::vector<problem_draft> drafts(2, networks::make("randwire-stack:8").value());
  const problem p = make_problem(support::side_by_side(drafts)).value();
  const schedule_graph g = make_schedule_graph(p);
  const auto r = schedule(p, automatic, {.state_limit = 100000});
  REQUIRE(r.verdict() == verdict::optimal);
  const certificate c = certify(g, r.order, r.lower_bound, [] { return true; });
  REQUIRE(c.bound == r.peak);
  REQUIRE(check_certificate(g, c).empty());
  REQUIRE(c.steps.size() == 1);
  REQUIRE(c.steps.front().layer.size() == 2);
}
