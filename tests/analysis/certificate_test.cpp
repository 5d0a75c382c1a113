// Certificates of bounds: those that are made hold, and mutated ones do not, or prove something true in another way.
#include <catch2/catch.hpp>
#include <memsched/analysis/certify.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/random_problem.hpp"

using namespace memsched;

namespace {

const memory_model models[] = {{}, {.in_place = false}, {.default_firing = firing::cbp}};
constexpr auto go_on = [] { return true; };

template <class T>
std::size_t any(const std::vector<T>& list, support::random& r) {
  return r.below(static_cast<std::uint32_t>(list.size()));
}
template <class T>
void erase_any(std::vector<T>& list, support::random& r) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(any(list, r)));
}
template <class T>
void repeat_any(std::vector<T>& list, support::random& r) {
  const std::size_t i = any(list, r);
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), T(list[i]));
}

/// A change of one field, or a lost or repeated step or arc: any of these breaks a certificate.
certificate broken(certificate c, support::random& r) {
  cut_step& s = c.steps[any(c.steps, r)];
  const bytes change = 1 + r.below(5), sign = r.chance(50) ? 1 : static_cast<bytes>(-1);
  switch (r.below(8)) {
    case 0: c.bound += change * sign; break;
    case 1: s.level += change * sign; break;
    case 2:
      if (!s.flow.empty()) s.flow[any(s.flow, r)].amount += static_cast<delta>(change * sign);
      break;
    case 3:
      if (!s.flow.empty()) erase_any(s.flow, r);
      break;
    case 4:
      if (!s.flow.empty()) repeat_any(s.flow, r);
      break;
    case 5: erase_any(c.steps, r); break;
    case 6: repeat_any(c.steps, r); break;
    default:
      if (s.flow.size() > 1) std::swap(s.flow[0], s.flow[1 + r.below(static_cast<std::uint32_t>(s.flow.size() - 1))]);
  }
  return c;
}

/// A change of what the proof says, up to nonsense; with luck it is another proof.
certificate altered(certificate c, support::random& r, const schedule_graph& g) {
  cut_step& s = c.steps[any(c.steps, r)];
  const auto any_node = [&] { return r.chance(5) ? none - r.below(2) : r.below(static_cast<std::uint32_t>(g.size() + 2)); };
  switch (r.below(8)) {
    case 0: s.v = any_node(); break;
    case 1: s.other = any_node(); break;
    case 2: s.v_first = !s.v_first; break;
    case 3: std::swap(s.v, s.other); break;
    case 4: std::swap(s, c.steps[any(c.steps, r)]); break;
    case 5:
      if (!s.flow.empty()) s.flow[any(s.flow, r)].from = any_node();
      break;
    case 6:
      if (!s.flow.empty()) s.flow[any(s.flow, r)].to = any_node();
      break;
    default:
      s.flow.push_back({any_node(), any_node(), static_cast<delta>(r.chance(10) ? r.next() : r.below(9))});
      std::sort(s.flow.begin(), s.flow.end());
  }
  return c;
}

}  // namespace

TEST_CASE("what cuts and probing prove comes with a certificate that holds") {
  std::size_t derived = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}), model);
      const options o;
      search context(o);
      const auto order = best_heuristic{}(g, context).order;
      const bytes peak = peak_of(g, order);
      destructive_search probing(g, 0);
      probing.run(peak, go_on);
      const certificate c = certify(g, order, peak, go_on);
      INFO("seed " << seed);
      REQUIRE(check_certificate(g, c) == "");
      REQUIRE(c.bound >= probing.bound());
      REQUIRE(c.bound >= best_cut_bound(g, order, g.base, go_on).bound);
      derived += c.steps.size() > 1;
    }
  REQUIRE(derived > 100);
}

TEST_CASE("a certificate with a change is rejected, or proves something true") {
  support::random r(7);
  std::size_t changed = 0, rejected = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 9}), model);
      const options o;
      search context(o);
      const solution best = exhaustive{}(g, context);
      const certificate good = certify(g, best.order, best.lower_bound, go_on);
      INFO("seed " << seed);
      REQUIRE(check_certificate(g, good) == "");
      REQUIRE(good.bound <= best.lower_bound);
      if (good.steps.empty()) continue;
      for (int i = 0; i < 20; ++i) {
        const certificate bad = broken(good, r);
        if (bad != good) REQUIRE(check_certificate(g, bad) != "");
        certificate other = altered(good, r, g);
        if (r.chance(50)) other = altered(other, r, g);
        if (other == good) continue;
        ++changed;
        if (check_certificate(g, other) != "") ++rejected;
        else REQUIRE(other.bound <= best.lower_bound);
        other.bound = best.lower_bound + 1 + r.below(3);
        for (cut_step& s : other.steps) s.level = std::max(s.level, other.bound);
        REQUIRE(check_certificate(g, other) != "");
      }
    }
  REQUIRE(changed > 40000);
  REQUIRE(rejected > changed / 5 * 4);
}
