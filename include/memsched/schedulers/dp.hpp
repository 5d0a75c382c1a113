// Dynamic programming over zero-indegree sets (SERENITY, section 3.1, Algorithm 1).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <memsched/analysis/reachability.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/policy/policy.hpp>
#include <memsched/schedulers/best_heuristic.hpp>

namespace memsched {

/// Node by node, for every signature the partial order with the least peak. The signature is the set of nodes that are
/// ready (Algorithm 1's zero-indegree set), which tells what has run: all but these and their descendants. So it tells
/// the level too, and of two partial orders with one signature the one with the smaller peak is as good as the other.
///
/// Step i turns the table of signatures with i nodes run into the next and drops it; what stays of an old table is one
/// (parent, node) pair a signature, to rebuild the order from. Prunes what reaches the context's ceiling, and nothing
/// else. Without a ceiling the answer is optimal; with one it is, or its bound is no less than the ceiling.
///
/// At a limit it answers with the best of the cheap orders, and with the smallest peak among the last full table and
/// what was pruned: each order has a prefix there. O(signatures * ready nodes * nodes / 64); at most 2^nodes signatures.
struct dp {
  /// Beyond Algorithm 1: where a ready node leaves no more behind than it found and raises neither the partial order's
  /// peak nor the floor, take it and no other. Exact: in any completion it can be moved to the front.
  bool direct = false;

  solution operator()(const schedule_graph& g, search& context) const;
};

namespace detail {

/// An array that grows by chunks, so that it neither moves nor takes more than it holds.
template <class T>
class chunked {
 public:
  T& operator[](std::size_t i) { return chunks_[i / per_chunk][i % per_chunk]; }
  const T& operator[](std::size_t i) const { return chunks_[i / per_chunk][i % per_chunk]; }
  void push(const T& value) {
    if (size_ == chunks_.size() * per_chunk) chunks_.push_back(std::make_unique_for_overwrite<T[]>(per_chunk));
    (*this)[size_++] = value;
  }
  std::size_t size() const { return size_; }
  /// Forgets the items, and the memory of all but `keep` of them.
  void clear(std::size_t keep) {
    size_ = 0;
    chunks_.resize(std::min(chunks_.size(), keep / per_chunk + 1));
  }
  std::uint64_t bytes_held() const { return chunks_.size() * per_chunk * sizeof(T); }

 private:
  static constexpr std::size_t per_chunk = std::size_t{1} << 12;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

/// A set of nodes as a key. `Words` is its width where the compiler knows it, or 0: then it is the width of the graph.
template <std::size_t Words>
struct signature {
  using type = std::array<word, Words>;
  static type nothing(std::size_t) { return {}; }
};
template <>
struct signature<0> {
  using type = std::vector<word>;
  static type nothing(std::size_t words) { return type(words); }
};

/// One memoization table M_i.
template <class Key>
class memo_table {
 public:
  struct entry {
    Key ready;
    delta level, peak;
  };
  /// How an entry came about, and how to get back.
  struct step {
    index parent;
    node ran;
  };

  std::size_t size() const { return entries_.size(); }
  const entry& operator[](std::size_t i) const { return entries_[i]; }
  const chunked<step>& steps() const { return steps_; }

  /// Memoizes `e` unless its signature has a smaller peak already. Whether the signature is new.
  bool offer(const entry& e, step how) {
    if (2 * entries_.size() >= slots_.size()) grow();
    for (std::size_t at = hash(e.ready) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == none) {
        slots_[at] = static_cast<index>(entries_.size());
        entries_.push(e);
        steps_.push(how);
        return true;
      }
      entry& old = entries_[slots_[at]];
      if (old.ready != e.ready) continue;
      if (e.peak <= old.peak) {
        old.peak = e.peak;
        steps_[slots_[at]] = how;
      }
      return false;
    }
  }

  /// Empties the table and hands out its way back.
  chunked<step> drop() {
    const std::size_t size = entries_.size();
    std::size_t slots = 64;
    while (slots < 2 * size) slots *= 2;
    entries_.clear(size);
    slots_.assign(slots, none);
    return std::exchange(steps_, {});
  }
  std::uint64_t bytes_held() const { return entries_.bytes_held() + steps_.bytes_held() + slots_.capacity() * sizeof(index); }

 private:
  static std::uint64_t hash(const Key& key) {
    std::uint64_t h = 0x9e3779b97f4a7c15;
    for (word w : key) {
      h = (h ^ w) * 0xff51afd7ed558ccd;
      h ^= h >> 32;
    }
    return h;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), none);
    for (index i = 0; i < entries_.size(); ++i) {
      std::size_t at = hash(entries_[i].ready) & (slots_.size() - 1);
      while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  chunked<entry> entries_;
  chunked<step> steps_;
  std::vector<index> slots_;
};

/// The graph as signatures see it. A node s becomes ready by running v where v covers it (no path between them but the
/// edge) and no ancestor of s is ready beside v: one that has not run is ready or descends from a ready node, and that
/// is not v, since v covers s. The same goes for a release and its last reader.
class signature_moves {
 public:
  struct release {
    node r;
    delta impact;  ///< when it runs
    delta credit;  ///< room for the node that makes it run
  };

  explicit signature_moves(const schedule_graph& g) : reach_(g) {
    for (node v = 0; v < g.active; ++v) {
      for (node s : g.succs[v]) {
        if (!covers(g, v, s)) continue;
        if (!g.is_release(s)) {
          covered_.push(s);
          continue;
        }
        const auto credits = g.credits[v];
        const auto it = std::find_if(credits.begin(), credits.end(), [&](const credit& c) { return c.release == s; });
        releases_.push({s, g.cost[s].impact, it == credits.end() ? 0 : it->amount});
      }
      covered_.close();
      releases_.close();
    }
  }

  std::span<const node> covered_by(node v) const { return covered_[v]; }
  std::span<const release> releases_of(node v) const { return releases_[v]; }
  /// Whether s can run now that `ready` are all ready nodes beside s.
  bool waits_for_none(node s, const_bit_row ready) const {
    const const_bit_row before = reach_.ancestors[s];
    for (std::size_t k = 0; k < ready.size(); ++k)
      if ((before[k] & ready[k]) != 0) return false;
    return true;
  }

 private:
  bool covers(const schedule_graph& g, node v, node s) const {
    const auto preds = g.preds[s];
    return std::none_of(preds.begin(), preds.end(), [&](node u) { return u != v && test(reach_.ancestors[u], v); });
  }

  reachability reach_;
  adjacency covered_;
  list_of<release> releases_;
};

/// Algorithm 1 with keys of `Words` words.
template <std::size_t Words>
class dp_search {
  using key = typename signature<Words>::type;
  using table = memo_table<key>;

 public:
  dp_search(const schedule_graph& g, search& context, const dp& policy, solution incumbent)
      : g_(g), context_(context), policy_(policy), moves_(g), best_(std::move(incumbent)), best_peak_(peak_of(g, best_.order)) {
    ceiling_ = static_cast<delta>(std::min<bytes>(context.ceiling(), std::numeric_limits<delta>::max()));
    run_ = context.stats.steps.empty() ? 0 : context.stats.steps.back().run + 1;
  }

  solution run() {
    key ready = signature<Words>::nothing(words_for(g_.active));
    for (node v = 0; v < g_.active; ++v)
      if (g_.preds[v].empty()) set(ready, v);
    const delta base = static_cast<delta>(g_.base);
    now_.offer({ready, base, base}, {none, none});
    for (std::size_t i = 0; i < g_.active; ++i) {
      if (!step(i) || next_.size() == 0) return answer();
      trail_bytes_ += now_.steps().bytes_held();
      trail_.push_back(now_.drop());
      std::swap(now_, next_);
      if (context_.opts().on_progress) context_.report(best_peak_, bound());
    }
    return rebuild();
  }

 private:
  /// Fills M_{i+1} from M_i. False once a limit is met.
  bool step(std::size_t i) {
    context_.begin_step();
    const double start = context_.seconds();
    step_statistics s{.run = run_, .step = i};
    bool go_on = true;
    for (index at = 0; at < now_.size() && go_on; ++at) {
      const auto& e = now_[at];
      const auto take = [&](std::size_t v) {
        ++s.moves;
        if (go_on && move(e, at, static_cast<node>(v), s.pruned)) go_on = context_.count_state();
      };
      if (const node v = policy_.direct ? safe_node(e) : none; v != none) take(v);
      else for_each_bit(const_bit_row(e.ready), take);
      if ((at & 63) == 0) go_on = go_on && context_.fits(bytes_held()) && context_.keep_going();
    }
    s.states = next_.size();
    s.seconds = context_.seconds() - start;
    context_.stats.steps.push_back(s);
    return go_on;
  }

  /// The effect of v after e; leaves in `rest_` what is ready beside it.
  node_cost effect(const typename table::entry& e, node v) {
    rest_ = e.ready;
    reset(rest_, v);
    node_cost c = g_.cost[v];
    for (const auto& r : moves_.releases_of(v)) {
      if (!moves_.waits_for_none(r.r, rest_)) continue;
      c.impact += r.impact;
      c.peak -= r.credit;
    }
    c.peak = std::max(c.peak, c.impact);
    return c;
  }

  node safe_node(const typename table::entry& e) {
    const delta under = std::max(e.peak, static_cast<delta>(best_.lower_bound)) - e.level;
    for (std::size_t k = 0; k < e.ready.size(); ++k)
      for (word w = e.ready[k]; w != 0; w &= w - 1) {
        const node v = static_cast<node>(k * 64 + static_cast<std::size_t>(std::countr_zero(w)));
        if (g_.cost[v].impact > 0 && moves_.releases_of(v).empty()) continue;
        if (const node_cost c = effect(e, v); c.impact <= 0 && c.peak <= under) return v;
      }
    return none;
  }

  /// Runs v on e. Whether that gives a new signature.
  bool move(const typename table::entry& e, index at, node v, std::uint64_t& pruned) {
    const node_cost c = effect(e, v);
    after_ = e;
    after_.ready = rest_;
    for (node s : moves_.covered_by(v))
      if (moves_.waits_for_none(s, rest_)) set(after_.ready, s);
    after_.peak = std::max(e.peak, e.level + c.peak);
    if (after_.peak >= ceiling_) {
      ++pruned;
      least_pruned_ = std::min(least_pruned_, after_.peak);
      return false;
    }
    after_.level += c.impact;
    return next_.offer(after_, {at, v});
  }

  /// No order has a peak below it: each has a prefix in the table, or one that was pruned.
  bytes bound() const {
    delta least = least_pruned_;
    for (index i = 0; i < now_.size(); ++i) least = std::min(least, now_[i].peak);
    return std::max(best_.lower_bound, static_cast<bytes>(least));
  }
  /// The incumbent, after a limit or where everything was pruned.
  solution answer() {
    if (next_.size() == 0 && !context_.stopped()) now_.drop();
    best_.lower_bound = std::min(bound(), best_peak_);
    return std::move(best_);
  }
  solution rebuild() {
    best_.lower_bound = std::max(best_.lower_bound, static_cast<bytes>(now_[0].peak));
    best_.order.clear();
    auto how = now_.steps()[0];
    for (std::size_t i = trail_.size(); i-- > 0; how = trail_[i][how.parent]) best_.order.push_back(how.ran);
    std::reverse(best_.order.begin(), best_.order.end());
    return std::move(best_);
  }
  std::uint64_t bytes_held() const {
    const std::uint64_t far_keys = Words == 0 ? (now_.size() + next_.size()) * words_for(g_.active) * sizeof(word) : 0;
    return now_.bytes_held() + next_.bytes_held() + far_keys + trail_bytes_;
  }

  const schedule_graph& g_;
  search& context_;
  dp policy_;
  signature_moves moves_;
  solution best_;
  bytes best_peak_;
  delta ceiling_, least_pruned_ = std::numeric_limits<delta>::max();
  std::uint64_t run_ = 0, trail_bytes_ = 0;
  table now_, next_;
  std::vector<chunked<typename table::step>> trail_;
  typename table::entry after_{};
  key rest_{};
};

/// The narrowest search that takes the graph.
inline solution run_dp(const schedule_graph& g, search& context, const dp& policy, solution incumbent) {
  const auto with = [&](auto words) { return dp_search<words()>(g, context, policy, std::move(incumbent)).run(); };
  switch (words_for(g.active)) {
    case 1: return with(std::integral_constant<std::size_t, 1>{});
    case 2: return with(std::integral_constant<std::size_t, 2>{});
    case 3: return with(std::integral_constant<std::size_t, 3>{});
    case 4: return with(std::integral_constant<std::size_t, 4>{});
    case 5:
    case 6: return with(std::integral_constant<std::size_t, 6>{});
    case 7:
    case 8: return with(std::integral_constant<std::size_t, 8>{});
    default: return with(std::integral_constant<std::size_t, 0>{});
  }
}

}  // namespace detail

inline solution dp::operator()(const schedule_graph& g, search& context) const {
  solution incumbent = best_heuristic{}(g, context);
  const bytes peak = peak_of(g, incumbent.order);
  incumbent.lower_bound = std::max(context.floor(), g.base);
  context.stats.nodes = std::max<std::uint64_t>(context.stats.nodes, g.active);
  const bytes closure = 2 * (g.size() / 8) * g.size();
  if (peak <= incumbent.lower_bound || !context.keep_going() || !context.fits(closure)) return incumbent;
  return detail::run_dp(g, context, *this, std::move(incumbent));
}

}  // namespace memsched
