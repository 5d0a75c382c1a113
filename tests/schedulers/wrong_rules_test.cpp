// Rules that look like those of `best_first` and are wrong: graphs on which they miss the optimum, and our schedulers not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/graph/task_graph.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/branch_and_bound.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/fradet.hpp>
#include <memsched/schedulers/serenity.hpp>
#include <optional>
#include <vector>

using namespace memsched;

namespace {

using node_set = unsigned;  // a bit for each

bool in(node_id v, node_set s) { return (s >> v & 1) != 0; }
node_set with(node_set s, node_id v) { return s | 1U << v; }

/// A graph small enough for sets of its nodes to be walked one by one. Edges lead to larger ids.
struct small_graph {
  schedule_graph g;

  small_graph(std::vector<node_cost> cost, std::vector<precedence> edges, bytes base)
      : g(make_schedule_graph(cost_graph{.cost = std::move(cost), .edges = std::move(edges), .base = base}).value()) {}

  node_set all() const { return (1U << g.size()) - 1; }
  node_set ancestors(node_id v) const {
    node_set s = 0;
    for (node_id u : g.preds[v]) s |= with(ancestors(u), u);
    return s;
  }
  bool closed(node_set s) const {
    for (node_id v = 0; v < g.size(); ++v)
      if (in(v, s) && (ancestors(v) & ~s) != 0) return false;
    return true;
  }
  bool ready(node_id v, node_set ran) const { return !in(v, ran) && (ancestors(v) & ~ran) == 0; }
  delta level(node_set ran) const {
    delta l = static_cast<delta>(g.base);
    for (node_id v = 0; v < g.size(); ++v) l += in(v, ran) ? g.cost[v].impact : 0;
    return l;
  }
  /// The peak of running what `to` has beyond `from`, smallest ids first.
  delta peak(node_set from, node_set to) const {
    delta highest = level(from);
    for (node_id v = 0; v < g.size(); ++v)
      if (in(v, to) && !in(v, from)) highest = std::max(highest, level(from) + g.cost[v].peak), from = with(from, v);
    return highest;
  }
};

void check_exact_schedulers(const schedule_graph& g, bytes optimum) {
  const auto check = [&](const auto& scheduler) {
    const options o;
    search context(o);
    const solution s = scheduler(g, context);
    REQUIRE(peak_of(g, s.order) == optimum);
    REQUIRE(s.lower_bound == optimum);
  };
  check(exhaustive{});
  check(dp{});
  check(dp{.direct = true});
  check(branch_and_bound{});
  check(serenity{});
  check(fradet);
  check(divide{} | best_first{});
  check(compress{} | best_first{});
  for (bool macros : {false, true})
    for (bool commits : {false, true}) check(best_first{.macros = macros, .commits = commits});
  check(automatic);
}

/// Runs one target after the other, each with what it waits for, all of which `postponed` allows to wait until then.
template <class F>
delta branch_over_targets(const small_graph& s, node_set ran, const F& postponed) {
  std::optional<delta> best;
  for (node_id t = 0; t < s.g.size(); ++t) {
    const node_set next = with(ran | s.ancestors(t), t);
    bool target = !in(t, ran) && !postponed(t);
    for (node_id u = 0; u < s.g.size(); ++u)
      if (in(u, next) && !in(u, ran) && u != t) target = target && postponed(u);
    if (!target) continue;
    const delta peak = std::max(s.peak(ran, next), branch_over_targets(s, next, postponed));
    best = std::min(best.value_or(peak), peak);
  }
  return best ? *best : s.peak(ran, s.all());
}

/// Depth-first below a peak, lowest ids first. A set that fails may be taken to show that one before it on its path does:
/// `fails_too(s, before, failed)`; or that one that is met later does: `known_to_fail(s, failed, later)`.
template <class F, class G>
class depth_first {
 public:
  depth_first(const small_graph& s, const F& fails_too, const G& known_to_fail)
      : s_(s), fails_too_(fails_too), known_to_fail_(known_to_fail) {}

  delta smallest_peak() {
    for (bound_ = 0;; ++bound_) {
      failed_.clear();
      path_.clear();
      if (!first_failed(0)) return bound_;
    }
  }

 private:
  /// The place on the path of the first set that has failed with `ran`; none where nothing has.
  std::optional<std::size_t> first_failed(node_set ran) {
    const std::size_t depth = path_.size();
    if (ran == s_.all()) return std::nullopt;
    if (std::any_of(failed_.begin(), failed_.end(), [&](node_set f) { return known_to_fail_(s_, f, ran); })) return depth;
    path_.push_back(ran);
    for (node_id v = 0; v < s_.g.size(); ++v) {
      if (!s_.ready(v, ran) || s_.level(ran) + s_.g.cost[v].peak > bound_) continue;
      const auto failed = first_failed(with(ran, v));
      if (!failed || *failed <= depth) return path_.pop_back(), failed;
    }
    path_.pop_back();
    failed_.push_back(ran);
    for (std::size_t i = 0; i < depth; ++i)
      if (fails_too_(s_, path_[i], ran)) return i;
    return depth;
  }

  const small_graph& s_;
  const F& fails_too_;
  const G& known_to_fail_;
  delta bound_ = 0;
  std::vector<node_set> path_, failed_;
};

}  // namespace

TEST_CASE("what only adds memory may wait for a target only if its peak is what it adds") {
  const small_graph s({{10, 1}, {5, 5}, {0, -1}}, {{1, 2}}, 0);
  const auto adds = [&](node_id v) { return s.g.cost[v].impact >= 0; };
  const auto only_adds = [&](node_id v) { return adds(v) && s.g.cost[v].peak == s.g.cost[v].impact; };
  REQUIRE(branch_over_targets(s, 0, adds) == 14);
  REQUIRE(branch_over_targets(s, 0, only_adds) == 10);
  check_exact_schedulers(s.g, 10);
}

TEST_CASE("a set commits those before it only if it is lowest of all between") {
  const small_graph s({{2, 2}, {5, -3}, {8, -2}}, {}, 5);
  const auto never = [](const small_graph&, node_set, node_set) { return false; };
  const auto lower = [](const small_graph& g, node_set before, node_set failed) {
    return g.level(failed) <= g.level(before);
  };
  const auto lowest = [](const small_graph& g, node_set before, node_set failed) {
    for (node_set e = 0; e <= g.all(); ++e)
      if ((before & ~e) == 0 && (e & ~failed) == 0 && g.closed(e) && g.level(e) < g.level(failed)) return false;
    return true;
  };
  REQUIRE(depth_first(s, lower, never).smallest_peak() == 12);
  REQUIRE(depth_first(s, lowest, never).smallest_peak() == 10);
  check_exact_schedulers(s.g, 10);
}

TEST_CASE("a set does not fail because a part of it with a lower level did") {
  const small_graph s({{2, 2}, {10, 1}, {0, -3}}, {{0, 2}, {1, 2}}, 0);
  const auto never = [](const small_graph&, node_set, node_set) { return false; };
  const auto itself = [](const small_graph&, node_set failed, node_set later) { return failed == later; };
  const auto part = [](const small_graph& g, node_set failed, node_set later) {
    return (failed & ~later) == 0 && g.level(failed) <= g.level(later);
  };
  REQUIRE(depth_first(s, never, part).smallest_peak() == 12);
  REQUIRE(depth_first(s, never, itself).smallest_peak() == 10);
  check_exact_schedulers(s.g, 10);
}
