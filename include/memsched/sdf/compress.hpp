// Compression of synchronous dataflow before any firing becomes a node: rules that keep the smallest peak.
//
// Each rule turns a graph into one with the same smallest peak. The expansion meant is the one without the chains of an
// actor's own firings, which has the same smallest peak as the one with them: if a prefix of an order has fired
// n(to) times, it holds n(to) c - d distinct produced tokens, so p n(from) >= c n(to) - d, and firings renumbered in order
// are admissible at the same cost, as costs depend on the actor alone.
#pragma once

#include <cstdint>

#include <memsched/base/linkage.hpp>
#include <memsched/sdf/composites.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// The rules that apply. Those that need all paths (actors^2 bits) apply to at most `max_closure` actors.
struct actor_rules {
  bool t = true, r = true, c = true, s = true;
  std::size_t max_closure = 4096;
};

/// The number of times that each rule changed the graph.
struct actor_rule_counts {
  std::uint64_t t = 0, r = 0, c1 = 0, c2 = 0, s1 = 0, s2 = 0;
};

/// A graph with the same smallest peak and at most as many actors and firings. Orders of it are orders of c when each firing
/// is replaced by its body. An actor that was made of several is solved: its body is a best schedule with each actor once.
/// Adds to `counts` how often each rule changed the graph.
///
/// Rules, until none applies: T drops a need that a path implies; R makes f firings of an actor one; C1 and C2 make two
/// actors that fire in turn one; S1 and S2 let one of two actors run before the other. Cost: below a millisecond for a
/// hundred actors, whatever the rates; closures of paths make it cubic.
MEMSCHED_FUNCTION composite_graph compress(const composite_graph& c, const actor_rules& rules, actor_rule_counts& counts);
inline composite_graph compress(const composite_graph& c, const actor_rules& rules = {}) {
  actor_rule_counts counts;
  return compress(c, rules, counts);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

/// "Free" is a need without tokens at the start; all needs are in normal form (see `binding`). Rates in normal form follow
/// from the repetitions, so that a need is its ends and its tokens; it is one-to-one if it is free and the repetitions
/// are equal. drop = peak - impact.
class actor_compressor {
 public:
  actor_compressor(const composite_graph& c, const actor_rules& rules)
      : given_(c),
        rules_(rules),
        links_{std::vector<std::vector<link>>(c.actors.size()), std::vector<std::vector<link>>(c.actors.size())},
        queued_(c.actors.size(), true),
        alive_count_(c.actors.size()) {
    for (index_t a = 0; a < c.actors.size(); ++a) {
      actors_.push_back({c.actors[a].repetitions, c.actors[a].cost, a});
      plans_.push_back({plan::leaf, a, 0});
      queue_.push_back(a);
    }
    std::reverse(queue_.begin(), queue_.end());
    for (const need& e : binding(c.needs, c.actors)) connect(e);
  }

  composite_graph run(actor_rule_counts& counts) {
    counts_ = &counts;
    do settle();
    while (alive_count_ > 1 && alive_count_ <= rules_.max_closure && (rules_.t || rules_.s) && order_pairs());
    return finish();
  }

 private:
  enum side : std::size_t { outputs = 0, inputs = 1 };
  static constexpr side mirror(side s) { return s == outputs ? inputs : outputs; }

  struct link {
    index_t other;
    bytes tokens;
  };
  struct actor {
    bytes repetitions = 0;  // 0: merged into another
    node_cost cost;
    std::size_t body = 0;  // its plan
  };
  /// The composition of a body; written out at the end.
  struct plan {
    enum kind : unsigned char { leaf, sequence, repeat } what;
    std::size_t first;  // of a leaf: the actor given
    bytes second;       // of a repetition: how often
  };

  bool alive(index_t a) const { return actors_[a].repetitions > 0; }
  std::vector<link>& around(index_t a, side s) { return links_[s][a]; }

  void wake(index_t a) {
    if (!queued_[a]) queued_[a] = true, queue_.push_back(a);
  }
  void wake_around(index_t a) {
    wake(a);
    for (side s : {outputs, inputs})
      for (const link& l : around(a, s)) wake(l.other);
  }

  need rates(index_t from, index_t to, bytes tokens) const {
    const bytes g = std::gcd(actors_[from].repetitions, actors_[to].repetitions);
    return {from, to, actors_[to].repetitions / g, actors_[from].repetitions / g, tokens};
  }
  /// Adds a need in normal form, or lowers the tokens of the one that is there.
  void connect(const need& e) {
    for (side s : {outputs, inputs}) {
      std::vector<link>& list = around(s == outputs ? e.from : e.to, s);
      const index_t other = s == outputs ? e.to : e.from;
      const auto it = std::find_if(list.begin(), list.end(), [&](const link& l) { return l.other == other; });
      if (it == list.end()) list.push_back({other, e.tokens});
      else it->tokens = std::min(it->tokens, e.tokens);
    }
  }
  void disconnect(index_t from, index_t to) {
    std::erase_if(around(from, outputs), [&](const link& l) { return l.other == to; });
    std::erase_if(around(to, inputs), [&](const link& l) { return l.other == from; });
  }

  void settle() {
    while (!queue_.empty()) {
      const index_t a = queue_.back();
      queue_.pop_back();
      queued_[a] = false;
      if (!alive(a)) continue;
      if (rules_.r && regroup(a)) continue;
      if (rules_.c && !merge_first(a)) merge_second(a);
    }
  }

  // R. An actor of impact <= 0 all whose needs have c = 1, and p and d that f divides: f firings in a row see the same
  // firings of each producer. So their predecessors, peaks and impacts are equal, and S1 chains them; then each but the
  // first has the one before as its only predecessor, and C2 merges them, as peak <= drop - (impact of those merged before).
  // The successors do not matter. For impact >= 0 the mirror image: outputs, S2, C1.

  bool regroup(index_t a) {
    actor& x = actors_[a];
    const auto divisor = [&](side s) {
      bytes f = x.repetitions;
      for (const link& l : around(a, s)) {
        const need e = s == inputs ? rates(l.other, a, l.tokens) : rates(a, l.other, l.tokens);
        if ((s == inputs ? e.consumed : e.produced) != 1) return bytes{1};
        f = std::gcd(std::gcd(f, s == inputs ? e.produced : e.consumed), l.tokens);
      }
      return f;
    };
    bytes f = 1;
    if (x.cost.impact <= 0) f = divisor(inputs);
    if (x.cost.impact >= 0) f = std::max(f, divisor(outputs));
    if (f == 1) return false;
    ++counts_->r;
    group(a, f);
    return true;
  }

  /// Makes f firings of a one.
  void group(index_t a, bytes f) {
    std::vector<need> all;
    for (const link& l : around(a, inputs)) {
      all.push_back(rates(l.other, a, l.tokens));
      all.back().consumed *= f;
    }
    for (const link& l : around(a, outputs)) {
      all.push_back(rates(a, l.other, l.tokens));
      all.back().produced *= f;
    }
    for (const need& e : all) disconnect(e.from, e.to);
    actor& x = actors_[a];
    x.cost.peak += std::max<delta>(0, static_cast<delta>(f - 1) * x.cost.impact);
    x.cost.impact *= static_cast<delta>(f);
    x.repetitions /= f;
    plans_.push_back({plan::repeat, x.body, f});
    x.body = plans_.size() - 1;
    for (const need& e : all) connect_if_binding(normal(e));
    wake_around(a);
  }
  void connect_if_binding(const need& e) {
    if (e.from != e.to && e.tokens < e.consumed * actors_[e.to].repetitions) connect(e);
  }

  // C1. All outputs of A are one-to-one and go to B: B_j is the only successor of A_j. If impact(A) >= 0 and drop(A) <=
  // peak(B), some best order runs B_j right after A_j (Fradet et al., rule C1, for each j in turn: merging one pair leaves
  // the condition of the others as it is). C2 is the mirror image.

  bool one_to_one(index_t a, const link& l) const {
    return l.tokens == 0 && actors_[a].repetitions == actors_[l.other].repetitions;
  }
  bool merge_first(index_t a) {
    if (around(a, outputs).size() != 1) return false;
    const link l = around(a, outputs).front();
    const node_cost x = actors_[a].cost, y = actors_[l.other].cost;
    if (!one_to_one(a, l) || x.impact < 0 || x.drop() > y.peak) return false;
    ++counts_->c1;
    merge(a, l.other);
    return true;
  }
  bool merge_second(index_t b) {
    if (around(b, inputs).size() != 1) return false;
    const link l = around(b, inputs).front();
    const node_cost x = actors_[l.other].cost, y = actors_[b].cost;
    if (!one_to_one(b, l) || y.impact > 0 || y.peak > x.drop()) return false;
    ++counts_->c2;
    merge(l.other, b);
    return true;
  }

  /// A;B, with A_j and B_j as one, in the place of the one with more neighbours.
  void merge(index_t a, index_t b) {
    disconnect(a, b);
    const auto degree = [&](index_t x) { return around(x, outputs).size() + around(x, inputs).size(); };
    const index_t keep = degree(a) >= degree(b) ? a : b, gone = keep == a ? b : a;
    const node_cost x = actors_[a].cost, y = actors_[b].cost;
    plans_.push_back({plan::sequence, actors_[a].body, actors_[b].body});
    actors_[keep].cost = {std::max(x.peak, x.impact + y.peak), x.impact + y.impact};
    actors_[keep].body = plans_.size() - 1;
    for (side s : {outputs, inputs}) {
      const std::vector<link> list = std::move(around(gone, s));
      around(gone, s).clear();
      for (const link& l : list) {
        std::erase_if(around(l.other, mirror(s)), [&](const link& k) { return k.other == gone; });
        if (l.other != keep)  // tokens from B back to A become a self loop, which the order of A;B's firings meets
          connect(s == outputs ? need{keep, l.other, 1, 1, l.tokens} : need{l.other, keep, 1, 1, l.tokens});
      }
    }
    actors_[gone].repetitions = 0;
    --alive_count_;
    wake_around(keep);
  }

  // T and S, which look at paths.

  /// One round of T, and of S if T found nothing. Returns false if nothing changed.
  bool order_pairs() {
    close();
    bool changed = false;
    if (rules_.t)
      for (index_t a : order_) changed |= drop_implied(a);
    if (changed || !rules_.s) return changed;
    for (side s : {inputs, outputs})
      for (index_t a : order_)
        if (order_one(a, s)) changed = true;
    return changed;
  }

  /// Finds the actors that each one reaches by free needs, which make no cycles, as the whole is live.
  void close() {
    const std::size_t n = actors_.size();
    place_.assign(n, none);
    order_.clear();
    std::vector<index_t> waits(n, 0);
    for (index_t a = 0; a < n; ++a) {
      if (!alive(a)) continue;
      for (const link& l : around(a, inputs)) waits[a] += l.tokens == 0 ? 1 : 0;
      if (waits[a] == 0) order_.push_back(a);
    }
    for (std::size_t i = 0; i < order_.size(); ++i)
      for (const link& l : around(order_[i], outputs))
        if (l.tokens == 0 && --waits[l.other] == 0) order_.push_back(l.other);
    for (index_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
    free_ = base::bit_matrix(order_.size(), order_.size());
    for (std::size_t i = order_.size(); i-- > 0;)
      for (const link& l : around(order_[i], outputs))
        if (l.tokens == 0) base::set_bit(free_[i], place_[l.other]), base::unite_bits(free_[i], free_[place_[l.other]]);
  }
  bool reaches_free(index_t a, index_t b) const { return base::test_bit(free_[place_[a]], place_[b]); }

  /// T. Along a free path the needs compose to n(from) >= (q(from) / q(to)) n(to), by balance, which is p n(from) >= c n(to)
  /// and implies the need from the first to the last actor, with or without tokens.
  bool drop_implied(index_t a) {
    std::vector<index_t> implied;
    for (const link& l : around(a, outputs)) {
      const bool by_path = std::any_of(around(a, outputs).begin(), around(a, outputs).end(), [&](const link& k) {
        return k.other != l.other && k.tokens == 0 && reaches_free(k.other, l.other);
      });
      if (by_path) implied.push_back(l.other);
    }
    for (index_t b : implied) disconnect(a, b), wake(a), wake(b), ++counts_->t;
    return !implied.empty();
  }

  /// S1 (side `inputs`). q(A) = q(B), no free path between them, and each input X of A reaches B by free needs. With tokens
  /// or without, A_j then waits for no more than the first ceil(j q(X) / q(A)) firings of X, and so does B_j. Take the
  /// expansion with the chains of own firings, and j in rising order: A_j's other predecessor A_(j-1) comes before B_(j-1),
  /// by the pair before, and so before B_j. So all predecessors of A_j come before B_j, which is why B_j cannot come before
  /// A_j. If impact(A) <= 0 and peak(A) <= peak(B), some best order runs A_j before B_j (Fradet et al., rule S1).
  /// S2 (side `outputs`) is the mirror image: A below is the one that then runs last, with drops for peaks.
  bool order_one(index_t a, side s) {
    const node_cost x = actors_[a].cost;
    const auto level = [&](const node_cost& c) { return s == inputs ? c.peak : c.drop(); };
    if (s == inputs ? x.impact > 0 : x.impact < 0) return false;
    for (index_t b : order_) {
      const actor& y = actors_[b];
      if (b == a || y.repetitions != actors_[a].repetitions || level(x) > level(y.cost)) continue;
      if (reaches_free(a, b) || reaches_free(b, a)) continue;
      const bool covered = std::all_of(around(a, s).begin(), around(a, s).end(), [&](const link& l) {
        return s == inputs ? reaches_free(l.other, b) : reaches_free(b, l.other);
      });
      if (!covered) continue;
      const index_t before = s == inputs ? a : b, after = s == inputs ? b : a;
      ++(s == inputs ? counts_->s1 : counts_->s2);
      connect({before, after, 1, 1, 0});
      note_path(before, after);
      wake(a), wake(b);
      return true;
    }
    return false;
  }
  void note_path(index_t from, index_t to) {
    const std::size_t i = place_[from], j = place_[to];
    for (std::size_t k = 0; k < order_.size(); ++k)
      if (k == i || base::test_bit(free_[k], i)) base::set_bit(free_[k], j), base::unite_bits(free_[k], free_[j]);
  }

  composite_graph finish() {
    composite_graph c;
    c.base = given_.base;
    std::vector<index_t> place(actors_.size(), none);
    for (index_t a = 0; a < actors_.size(); ++a) {
      if (!alive(a)) continue;
      place[a] = static_cast<index_t>(c.actors.size());
      c.actors.push_back({actors_[a].repetitions, actors_[a].cost, written_out(actors_[a].body)});
    }
    for (index_t a = 0; a < actors_.size(); ++a)
      for (const link& l : around(a, outputs)) {
        need e = rates(a, l.other, l.tokens);
        e.from = place[a], e.to = place[l.other];
        c.needs.push_back(e);
      }
    return c;
  }
  loops written_out(std::size_t body) const {
    constexpr std::size_t end = static_cast<std::size_t>(-1);
    loops l;
    std::vector<std::size_t> todo{body};
    while (!todo.empty()) {
      const std::size_t at = todo.back();
      todo.pop_back();
      if (at == end) {
        l.close();
        continue;
      }
      const plan& p = plans_[at];
      if (p.what == plan::leaf) {
        l.append(given_.actors[p.first].body);
      } else if (p.what == plan::sequence) {
        todo.push_back(static_cast<std::size_t>(p.second));
        todo.push_back(p.first);
      } else {
        l.open(p.second);
        todo.push_back(end);
        todo.push_back(p.first);
      }
    }
    return l;
  }

  const composite_graph& given_;
  const actor_rules& rules_;
  actor_rule_counts* counts_ = nullptr;
  std::vector<actor> actors_;
  std::vector<plan> plans_;
  std::vector<std::vector<link>> links_[2];
  std::vector<index_t> queue_;
  std::vector<bool> queued_;
  std::size_t alive_count_;
  std::vector<index_t> order_, place_;  // alive actors, free needs first to last
  base::bit_matrix free_;               // by places in `order_`
};

}  // namespace detail

MEMSCHED_FUNCTION composite_graph compress(const composite_graph& c, const actor_rules& rules, actor_rule_counts& counts) {
  return detail::actor_compressor(c, rules).run(counts);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
