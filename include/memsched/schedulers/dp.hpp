// Dynamic programming over zero-indegree sets (SERENITY, section 3.1, Algorithm 1).
#pragma once

#include <cstdint>

#include <memsched/base/linkage.hpp>
#include <memsched/base/random.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Node by node, for every signature the partial order with the least peak. The signature is the set of nodes that are
/// ready (Algorithm 1's zero-indegree set), which determines the nodes that have run: all but these and their descendants.
/// So it gives the level too, and of two partial orders with one signature the one with the smaller peak is as good as the
/// other.
///
/// Step i turns the table of signatures with i nodes run into the next and drops it; of an old table remains one
/// (parent, node) pair a signature, to rebuild the order from. Prunes partial orders that reach the context's cutoff, and
/// nothing else. Without a cutoff the answer is optimal; with one it is, or its bound is no less than the cutoff.
///
/// At a limit it answers with the best of the cheap orders, and with the smallest peak among the last full table and
/// the pruned entries: each order has a prefix there. O(signatures * ready nodes * nodes / 64); at most 2^nodes signatures.
struct dp {
  /// Beyond Algorithm 1: if a ready node leaves no more behind than it found and raises neither the partial order's
  /// peak nor the target, take it and no other. Exact: in any completion it can be moved to the front.
  bool direct = false;

  solution operator()(const schedule_graph& g, search& context) const;
};

namespace detail {

/// Tags of nodes; that of a signature is the sum over the nodes that have run.
constexpr std::uint32_t tag_of(node_id v) { return static_cast<std::uint32_t>(random_source::at(v)); }

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/chunked.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A set of nodes as a key. `Words` is its width if the compiler knows it, or 0: then it is the width of the graph.
template <std::size_t Words>
struct signature {
  using type = std::array<bit_word, Words>;
  static type nothing(std::size_t) { return {}; }
};
template <>
struct signature<0> {
  using type = std::vector<bit_word>;
  static type nothing(std::size_t words) { return type(words); }
};

template <class Key>
bool same(const Key& a, const Key& b) {
  bit_word differ = 0;
  for (std::size_t k = 0; k < a.size(); ++k) differ |= a[k] ^ b[k];
  return differ == 0;
}
template <class Key>
bool disjoint(const Key& a, const Key& b) {
  bit_word common = 0;
  for (std::size_t k = 0; k < a.size(); ++k) common |= a[k] & b[k];
  return common == 0;
}

/// to = from without v, word by word: a word that was just written by itself is slow to read beside others.
template <class Key>
void take_out(const Key& from, node_id v, Key& to) {
  for (std::size_t k = 0; k < from.size(); ++k) to[k] = from[k] & ~(bit_word{k == v / 64} << (v % 64));
}

inline void prefetch([[maybe_unused]] const void* at) {
#if defined(__GNUC__)
  __builtin_prefetch(at);
#endif
}

/// One memoization table M_i. Open addressing; coming look-ups can be announced, so that misses of the cache overlap.
template <class Key>
class memo_table {
 public:
  struct entry {
    Key ready;
    delta level, peak;
    std::uint32_t tag;  ///< the same for equal signatures, and else as good as random
  };
  /// The last step to an entry, and the way back: its parent and the node that ran.
  struct step {
    index_t parent;
    node_id ran;
  };

  std::size_t size() const { return entries_.size(); }
  const entry& operator[](std::size_t i) const { return entries_[i]; }
  const chunked<step>& steps() const { return steps_; }

  /// Makes room for `more` more entries, and so for `announce`.
  void expect(std::size_t more) {
    while (2 * (entries_.size() + more) > slots_.size()) grow();
  }
  /// An entry with this tag is offered soon; `soon` again, with its slot at hand.
  void announce(std::uint32_t tag) const { prefetch(&slots_[place(tag)]); }
  void announce_soon(std::uint32_t tag) const {
    if (const slot& s = slots_[place(tag)]; s.tag == tag && s.entry != none) prefetch(&entries_[s.entry]);
  }

  /// Memoizes `e` unless its signature has a smaller peak already. Whether the signature is new.
  bool offer(const entry& e, step how) {
    for (std::size_t at = place(e.tag);; at = next(at)) {
      slot& s = slots_[at];
      if (s.entry == none) {
        s = {e.tag, static_cast<index_t>(entries_.size())};
        entries_.push(e);
        steps_.push(how);
        return true;
      }
      if (s.tag != e.tag) continue;
      entry& old = entries_[s.entry];
      if (!same(old.ready, e.ready)) continue;
      if (e.peak < old.peak) {
        old.peak = e.peak;
        steps_[s.entry] = how;
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
    slots_.assign(slots, {});
    return std::exchange(steps_, {});
  }
  std::uint64_t bytes_held() const { return entries_.bytes_held() + steps_.bytes_held() + slots_.capacity() * sizeof(slot); }

 private:
  struct slot {
    std::uint32_t tag = 0;
    index_t entry = none;
  };

  std::size_t place(std::uint32_t tag) const { return tag & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void grow() {
    const std::vector<slot> old = std::exchange(slots_, std::vector<slot>(std::max<std::size_t>(64, 2 * slots_.size())));
    for (const slot& s : old) {
      if (s.entry == none) continue;
      std::size_t at = place(s.tag);
      while (slots_[at].entry != none) at = next(at);
      slots_[at] = s;
    }
  }

  chunked<entry> entries_;
  chunked<step> steps_;
  std::vector<slot> slots_;
};

/// The graph as signatures see it. A node s becomes ready by running v if v covers it (no path between them but the
/// edge) and no ancestor of s is ready beside v: one that has not run is ready or descends from a ready node, and that
/// is not v, since v covers s. The same goes for a release and its last reader.
template <class Key>
class signature_moves {
 public:
  struct successor {
    node_id s;
    Key before;  ///< its ancestors
  };
  struct release {
    delta impact;  ///< when it runs
    delta credit;  ///< room for the node that makes it run
    Key before;
  };

  /// Not `complete` if `go_on()`, asked now and then, is false.
  signature_moves(const schedule_graph& g, const Key& nothing, function_ref<bool()> go_on) {
    const auto ancestors = active_ancestors(g, go_on);
    if (!ancestors) return;
    std::size_t keys = 0;
    for (node_id v = 0; v < g.active; ++v) {
      for (node_id s : g.succs[v]) {
        if (!covers(g, *ancestors, v, s)) continue;
        if ((++keys & 0xff) == 0 && !go_on()) return;
        Key before = nothing;
        std::copy_n((*ancestors)[s].begin(), before.size(), before.begin());
        if (!g.is_release(s)) {
          covered_.push({s, std::move(before)});
          continue;
        }
        const auto credits = g.credits[v];
        const auto it = std::find_if(credits.begin(), credits.end(), [&](const auto& c) { return c.release == s; });
        releases_.push({g.cost[s].impact, it == credits.end() ? 0 : it->amount, std::move(before)});
      }
      covered_.close();
      releases_.close();
    }
    complete_ = true;
  }
  bool complete() const { return complete_; }

  std::span<const successor> covered_by(node_id v) const { return covered_[v]; }
  std::span<const release> releases_of(node_id v) const { return releases_[v]; }

 private:
  static bool covers(const schedule_graph& g, const bit_matrix& ancestors, node_id v, node_id s) {
    const auto preds = g.preds[s];
    return std::none_of(preds.begin(), preds.end(), [&](node_id u) { return u != v && test_bit(ancestors[u], v); });
  }

  list_of<successor> covered_;
  list_of<release> releases_;
  bool complete_ = false;
};

/// Algorithm 1 with keys of `Words` words.
template <std::size_t Words>
class dp_search {
  using key = typename signature<Words>::type;
  using table = memo_table<key>;
  using entry = typename table::entry;

 public:
  dp_search(const schedule_graph& g, search& context, const dp& policy, solution incumbent)
      : g_(g),
        context_(context),
        policy_(policy),
        nothing_(signature<Words>::nothing(words_for(g.active))),
        moves_(g, nothing_, [&] { return !context.control().over(); }),
        best_(std::move(incumbent)),
        best_peak_(peak_of(g, best_.order)) {
    cutoff_ = static_cast<delta>(std::min<bytes>(context.asked().cutoff, std::numeric_limits<delta>::max()));
    run_ = context.control().stats.steps.empty() ? 0 : context.control().stats.steps.back().run + 1;
  }

  solution run() {
    if (!moves_.complete()) return context_.keep_going(), std::move(best_);
    key ready = nothing_;
    for (node_id v = 0; v < g_.active; ++v)
      if (g_.preds[v].empty()) set_bit(ready, v);
    const delta base = static_cast<delta>(g_.base);
    now_.expect(1);
    now_.offer({ready, base, base, 0}, {none, none});
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
  static constexpr std::size_t batch = 64;  // moves that are looked up together

  /// Fills M_{i+1} from M_i. False once a limit is met.
  bool step(std::size_t i) {
    context_.control().begin_step();
    const double start = context_.control().seconds();
    statistics::step s{.run = run_, .step = i};
    bool go_on = true;
    for (index_t at = 0; at < now_.size() && go_on; ++at) {
      const entry& e = now_[at];
      const auto take = [&](std::size_t v) {
        ++s.moves;
        s.pruned += !move(e, {at, static_cast<node_id>(v)});
      };
      if (const node_id v = policy_.direct ? safe_node(e) : none; v != none) take(v);
      else for_each_bit(const_bit_row(e.ready), take);
      if (made_ >= batch) go_on = memoize();
      if ((at & 63) == 0) go_on = go_on && context_.fits(bytes_held()) && context_.keep_going();
    }
    go_on = go_on && memoize();
    s.states = next_.size();
    s.seconds = context_.control().seconds() - start;
    context_.control().stats.steps.push_back(s);
    return go_on;
  }

  /// The effect of v after e; leaves in `rest` the nodes ready beside it.
  node_cost effect(const entry& e, node_id v, key& rest) {
    take_out(e.ready, v, rest);
    node_cost c = g_.cost[v];
    for (const auto& r : moves_.releases_of(v)) {
      const delta mask = -delta{disjoint(r.before, rest)};  // no branch: it would be hard to predict
      c.impact += r.impact & mask;
      c.peak -= r.credit & mask;
    }
    c.peak = std::max(c.peak, c.impact);
    return c;
  }

  node_id safe_node(const entry& e) {
    const delta under = std::max(e.peak, static_cast<delta>(best_.lower_bound)) - e.level;
    for (std::size_t k = 0; k < e.ready.size(); ++k)
      for (bit_word w = e.ready[k]; w != 0; w &= w - 1) {
        const node_id v = static_cast<node_id>(k * 64 + static_cast<std::size_t>(std::countr_zero(w)));
        if (g_.cost[v].impact > 0 && moves_.releases_of(v).empty()) continue;
        if (const node_cost c = effect(e, v, rest_); c.impact <= 0 && c.peak <= under) return v;
      }
    return none;
  }

  /// Takes a step from e; the result waits in `after_`. Returns false if it is pruned.
  bool move(const entry& e, typename table::step how) {
    if (made_ == after_.size()) after_.push_back({{nothing_, 0, 0, 0}, {}});
    auto& [after, by] = after_[made_];
    const node_cost c = effect(e, how.ran, after.ready);
    after.peak = std::max(e.peak, e.level + c.peak);
    if (after.peak >= cutoff_) {
      least_pruned_ = std::min(least_pruned_, after.peak);
      return false;
    }
    ++made_;
    by = how;
    after.level = e.level + c.impact;
    after.tag = e.tag + tag_of(how.ran);
    for (const auto& s : moves_.covered_by(how.ran))  // none is an ancestor of another
      if (disjoint(s.before, after.ready)) set_bit(after.ready, s.s);
    return true;
  }
  /// Memoizes the waiting entries. Returns false once a limit is met.
  bool memoize() {
    next_.expect(made_);
    for (std::size_t i = 0; i < made_; ++i) next_.announce(after_[i].first.tag);
    for (std::size_t i = 0; i < made_; ++i) next_.announce_soon(after_[i].first.tag);
    for (const std::size_t made = std::exchange(made_, 0); const auto& [after, by] : std::span(after_).first(made))
      if (next_.offer(after, by) && !context_.count_state()) return false;
    return true;
  }

  /// No order has a peak below it: each has a prefix in the table, or one that was pruned.
  bytes bound() const {
    delta least = least_pruned_;
    for (index_t i = 0; i < now_.size(); ++i) least = std::min(least, now_[i].peak);
    return std::max(best_.lower_bound, static_cast<bytes>(least));
  }
  /// The incumbent, after a limit or if everything was pruned.
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
    const std::uint64_t far_keys = Words == 0 ? (now_.size() + next_.size()) * words_for(g_.active) * sizeof(bit_word) : 0;
    return now_.bytes_held() + next_.bytes_held() + far_keys + trail_bytes_;
  }

  const schedule_graph& g_;
  search& context_;
  dp policy_;
  key nothing_;
  signature_moves<key> moves_;
  solution best_;
  bytes best_peak_;
  delta cutoff_, least_pruned_ = std::numeric_limits<delta>::max();
  std::uint64_t run_ = 0, trail_bytes_ = 0;
  table now_, next_;
  std::vector<chunked<typename table::step>> trail_;
  std::vector<std::pair<entry, typename table::step>> after_;  // the first `made_` count
  std::size_t made_ = 0;
  key rest_ = nothing_;
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

MEMSCHED_FUNCTION solution dp::operator()(const schedule_graph& g, search& context) const {
  solution incumbent = best_heuristic{}(g, context);
  const bytes peak = peak_of(g, incumbent.order);
  incumbent.lower_bound = std::max(context.asked().target, g.base);
  context.control().stats.nodes = std::max<std::uint64_t>(context.control().stats.nodes, g.active);
  const bytes closure = (g.active / 8) * g.size();
  if (peak <= incumbent.lower_bound || !context.keep_going() || !context.fits(closure)) return incumbent;
  return detail::run_dp(g, context, *this, std::move(incumbent));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
