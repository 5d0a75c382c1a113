// The check that no order below a level leaves a family of sets of events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/proof/check_sets.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Sets of nodes after some events, and which events may happen next (docs/proofs.md, section 6, Events). The graph has no
/// credits.
class event_checker {
 public:
  explicit event_checker(const proof_graph& g)
      : g_(g),
        needs_(g.size()),
        feeds_(g.size()),
        guests_(g.size()),
        host_(g.size(), none),
        impact_(g.size(), 0),
        frees_(g.size()),
        light_(g.size()),
        marked_(g.size()) {}

  std::string run(const proof::set_family& f) {
    if (std::string why = prepare(*f.events); !why.empty()) return why;
    node_set start(g_.size());
    for (node_id r = 0; r < g_.size(); ++r) start[r] = frees_[r] && needs_[r].empty();
    const auto grow = [&](const node_set& ran, node_id t) {
      return t < g_.size() && opens(ran, t) ? std::optional(with_missing(ran)) : std::nullopt;
    };
    const auto fault = [&](const node_set& ran, const set_table& known) {
      return fault_of(ran, known, static_cast<delta>(f.level));
    };
    return check_sets(f, start, "an event", grow, fault);
  }

 private:
  struct range {
    delta low, high;
  };

  // The graph without merged nodes, and its light and folded nodes.

  std::string prepare(const proof::event_model& m) {
    for (node_id v = 0; v < g_.size(); ++v) {
      if (g_.cost(v).peak < std::max<delta>(g_.cost(v).impact, 0)) return ": a node's impact is above its peak";
      if (g_.merged()[v]) continue;
      impact_[v] = g_.cost(v).impact;
      find_needs(v);
      for (node_id u : needs_[v]) feeds_[u].push_back(v);
    }
    for (node_id v = 0; v < g_.size(); ++v) frees_[v] = g_.cost(v).peak == 0 && g_.cost(v).impact < 0 && feeds_[v].empty();
    for (std::size_t i = 0; i < m.folded.size(); ++i) {
      const auto [v, w] = m.folded[i];
      if (v >= g_.size() || w >= g_.size() || host_[v] != none || !folds(v, w))
        return ".events.folded[" + std::to_string(i) + "]: the one need not run with the other";
      host_[v] = w;
      guests_[w].push_back(v);
      impact_[w] += impact_[v];
    }
    for (node_id v = 0; v < g_.size(); ++v) {
      if (host_[v] != none && host_[host_[v]] != none) return ".events.folded: a node is folded into one that is folded";
      if (frees_[v] && !guests_[v].empty() && guests_[v].size() != needs_[v].size())
        return ".events.folded: one that frees memory waits for others, too";
      light_[v] = !frees_alone(v) && impact_[v] >= 0 && room(v) <= static_cast<delta>(m.most_light);
    }
    return {};
  }
  /// The last nodes that v waits for: those that no other of them waits for, past merged ones.
  void find_needs(node_id v) {
    const auto walk = [&](std::vector<node_id> from, bool past_all) {
      std::vector<node_id> seen;
      for (std::size_t i = 0; i < from.size(); ++i)
        for (node_id u : g_.preds(from[i])) {
          if (marked_[u]) continue;
          marked_[u] = true, seen.push_back(u);
          if (past_all || g_.merged()[u]) from.push_back(u);
        }
      for (node_id u : seen) marked_[u] = false;
      return seen;
    };
    std::vector<node_id> direct = walk({v}, false);
    direct.erase(std::remove_if(direct.begin(), direct.end(), [&](node_id u) { return g_.merged()[u]; }), direct.end());
    const std::vector<node_id> implied = direct.size() > 1 ? walk(direct, true) : std::vector<node_id>();
    for (node_id u : implied) marked_[u] = true;
    for (node_id u : direct)
      if (!marked_[u]) needs_[v].push_back(u);
    for (node_id u : implied) marked_[u] = false;
  }
  /// Whether all nodes but w that wait for v free memory, together no more than v adds.
  bool folds(node_id v, node_id w) const {
    delta freed = 0;
    bool feeds_w = false;
    for (node_id u : feeds_[v]) {
      if (u == w) feeds_w = true;
      else if (frees_[u]) freed -= g_.cost(u).impact;
      else return false;
    }
    return feeds_w && freed <= g_.cost(v).impact;
  }
  /// The least by which an order, in the step in which v runs with its guests, is above the level after it.
  delta room(node_id v) const {
    delta least = std::numeric_limits<delta>::max();
    for (node_id u : runs(v)) least = std::min(least, drop(u));
    return least - (frees_[v] ? g_.cost(v).impact : 0);
  }
  /// The nodes of which one runs last when v runs with its guests.
  std::vector<node_id> runs(node_id v) const { return frees_[v] ? guests_[v] : std::vector<node_id>{v}; }
  delta drop(node_id v) const { return g_.cost(v).peak - g_.cost(v).impact; }

  // Sets and events.

  /// Whether v frees memory, and no node runs with it.
  bool frees_alone(node_id v) const { return frees_[v] && guests_[v].empty(); }
  node_id host(node_id v) const { return host_[v] == none ? v : host_[v]; }
  bool is_event(node_id v) const { return !g_.merged()[v] && host_[v] == none && !light_[v]; }

  /// Whether t is an event that has not happened and waits for light nodes only. Fills `missing_` with the nodes that run then,
  /// t first.
  bool opens(const node_set& ran, node_id t) {
    return !ran[t] && is_event(t) && find_missing(ran, t, [&](node_id u) { return !is_event(u); });
  }
  /// Fills `missing_` with t and the nodes beyond `ran` that it waits for. Returns false, before that is done, if one is not
  /// wanted.
  template <class Wanted>
  bool find_missing(const node_set& ran, node_id t, Wanted wanted) {
    missing_.assign(1, t);
    bool all_wanted = true;
    marked_[t] = true;
    const auto add = [&](node_id u) {
      if (ran[u] || marked_[u]) return;
      all_wanted = all_wanted && wanted(u);
      marked_[u] = true, missing_.push_back(u);
    };
    for (std::size_t i = 0; i < missing_.size() && all_wanted; ++i)
      for (node_id u : needs_[missing_[i]]) add(u), add(host(u));
    for (node_id u : missing_) marked_[u] = false;
    return all_wanted;
  }
  /// The set after the event that was found open at `ran` last. Then `freed_` are the nodes that free memory alone on the
  /// way, and `added_` the others.
  node_set with_missing(const node_set& ran) {
    node_set larger = ran;
    added_.clear(), freed_.clear();
    for (node_id u : missing_) larger[u] = true, (frees_alone(u) ? freed_ : added_).push_back(u);
    for (node_id u : added_)
      for (node_id r : feeds_[u])
        if (frees_[r] && !larger[r] && std::all_of(needs_[r].begin(), needs_[r].end(), [&](node_id x) { return larger[x]; }))
          larger[r] = true, freed_.push_back(r);
    return larger;
  }
  delta level(const node_set& ran) const {
    delta sum = g_.base();
    for (node_id u = 0; u < g_.size(); ++u)
      if (ran[u]) sum += g_.cost(u).impact;
    return sum;
  }

  /// Whether an order below the level can only go on, or may go on, into a larger set.
  std::string fault_of(const node_set& ran, const set_table& known, delta bound) {
    const delta here = level(ran);
    std::string left;
    bool any = false;
    for (node_id t = 0; t < g_.size(); ++t) {
      if (!opens(ran, t)) continue;
      any = true;
      const node_set larger = with_missing(ran);
      const delta there = level(larger);
      const bool at_once = there <= here && frees_at_the_end(ran);
      const range cost = charge(t, larger, there);
      if (cost.low >= bound) continue;
      const bool inside = known.contains(larger);
      if (inside && at_once && cost.high < bound) return {};
      if (!inside && left.empty()) left = ": event " + std::to_string(t) + " leads out of the family";
    }
    if (!any && g_.level_at_end() < bound) return ": an order leads out of the family to the end";
    return left;
  }
  /// Whether each of `freed_` waits for all of `added_`.
  bool frees_at_the_end(const node_set& ran) {
    return std::all_of(freed_.begin(), freed_.end(), [&](node_id r) {
      return find_missing(ran, r, [](node_id) { return true; }) && missing_.size() == added_.size() + 1;
    });
  }
  /// The least that an order takes in the step in which t happens, the last event up to the set `ran`, of this level.
  range charge(node_id t, const node_set& ran, delta there) {
    std::vector<node_id> last{t};  // one of which runs in that step, with its guests
    if (frees_alone(t)) last = needs_[t];
    range least{std::numeric_limits<delta>::max(), std::numeric_limits<delta>::max()};
    for (const node_id x : last) {
      const node_id w = host(x);
      for (node_id u : runs(w)) {
        delta takes = there + drop(u) - (frees_[w] ? g_.cost(w).impact : 0);
        for (node_id r : freed_)
          if (contains(needs_[r], u)) takes -= g_.cost(r).impact;
        const range fall = deepest_fall(u, w, ran);
        least = {std::min(least.low, takes + fall.low), std::min(least.high, takes + fall.high)};
      }
    }
    return least;
  }
  /// The depth to which the level may fall in the step of u, in which w runs with its guests, while some of the nodes happen
  /// that wait for these guests, not for u, and for light nodes beyond `ran`. With many such nodes, a range that holds it.
  range deepest_fall(node_id u, node_id w, const node_set& ran) {
    constexpr std::size_t most = 4;
    std::vector<std::pair<node_id, std::vector<node_id>>> side;  // with all that runs with it
    delta all = 0, least_rise = std::numeric_limits<delta>::max();
    for (node_id v : guests_[w])
      for (node_id r : feeds_[v]) {
        if (!frees_[r] || r == w || contains(needs_[r], u) || !opens(ran, r)) continue;
        if (std::any_of(side.begin(), side.end(), [&](const auto& s) { return s.first == r; })) continue;
        delta rise = 0;
        for (std::size_t i = 1; i < missing_.size(); ++i) rise += g_.cost(missing_[i]).impact;
        all += g_.cost(r).impact;
        least_rise = std::min(least_rise, rise);
        side.emplace_back(r, missing_);
      }
    if (side.empty()) return {0, 0};
    if (side.size() > most) return {std::min<delta>(0, all + least_rise), 0};
    delta deepest = 0;
    for (std::size_t chosen = 1; chosen < std::size_t{1} << side.size(); ++chosen) {
      node_set with = ran;
      delta fall = 0;
      for (std::size_t i = 0; i < side.size(); ++i)
        if ((chosen >> i & 1) != 0)
          for (node_id x : side[i].second)
            if (!with[x]) with[x] = true, fall += g_.cost(x).impact;
      deepest = std::min(deepest, fall);
    }
    return {deepest, deepest};
  }
  static bool contains(const std::vector<node_id>& list, node_id v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  }

  const proof_graph& g_;
  std::vector<std::vector<node_id>> needs_, feeds_, guests_;  // guests: nodes that are folded into one
  std::vector<node_id> host_;
  std::vector<delta> impact_;  // with those of guests
  node_set frees_, light_, marked_;
  std::vector<node_id> missing_, added_, freed_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
