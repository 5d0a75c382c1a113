// Placing: at which positions nodes can run in orders below a peak, found by minimum cuts through sets of a given size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/closure.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/position_ranges.hpp>
#include <memsched/bounds/probing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// For a prober that has found nothing more for its peak B: derives how many nodes have run when each one runs, and from that
/// further edges, or that no order has a peak of at most B.
///
/// Nodes that take memory while they run are counted. Let E(k) be the set of nodes that have run before counted node number k,
/// from 0, in an order with a peak of at most B; the last E is all. Let r be the least that a counted node takes above the
/// level at which it runs. Lemma: a node that is in no closed set of k counted nodes and a level of at most B - r is not in
/// E(j) for any j <= k; one that is in each such set is in E(j) for any j >= k. Here k is below the number of counted nodes.
/// Proof: E(k) is such a set, since node number k takes its level and r, or more; and E(j) is part of E(k) for j <= k. So each
/// node has a first k at which it may be in E(k), and a k from which on it is due. If a counted u is due where v is first, or
/// before, u runs before v: E(k + 1) holds v if v is number k or runs right after it, and u then too, as a lower number or as
/// number k.
///
/// With a price for counted nodes, a closed set E of n of them has a value, level(E) + price * (n - k). Whatever the price, the
/// least value, which one minimum cut finds, is no more than the least level of a set of k of them (Lagrange). A cut also finds
/// a set, and the value of a set bounds the least value at any price: sets found before answer most questions.
///
/// Nothing is asked if levels stay far below B at all positions, as on meshes. Dense random graphs gain most.
class placer {
 public:
  using outcome = probing_outcome;

  /// Shown by a cut: E(k) cannot hold v (`inside`), or cannot lack it.
  struct fact {
    index_t k;
    node_id v;  ///< none if E(k) cannot be
    bool inside;
    delta price;  ///< in parts of a byte, `scale` to one
  };
  using listener = function_ref<void(std::size_t known)>;
  static constexpr delta scale = 64;

  explicit placer(const prober& p) : g_(&p.graph()), rise_(least_rise(*g_, g_->cost)), positions_(g_->cost) {
    delta most = 0;
    total_ = static_cast<delta>(g_->base);
    for (node_id v = 0; v < g_->size(); ++v) {
      const delta impact = std::abs(g_->cost[v].impact);
      most = std::max(most, impact), total_ += impact;
    }
    const index_t step = std::max<index_t>(1, positions_.counted() / most_counts);
    for (index_t k = step; k < positions_.counted(); k += step) counts_.push_back({k, false, {}});
    constexpr delta limit = std::numeric_limits<delta>::max() / (4 * scale);
    most_price_ = 4 * most * scale;
    fits_ = g_->size() <= most_nodes && total_ < limit / static_cast<delta>(positions_.counted() + 1);
  }

  /// Goes on until no position changes, and probes with the edges that follow. Tells `go_on` of each cut; once that returns
  /// false, another call resumes. Tells `learnt` how many edges p had, whenever it has added some by the facts so far.
  outcome run(
      prober& p, cut_counter go_on, const helpers& who = {}, listener learnt = [](std::size_t) {}) {
    while (fits_ && (!settled_ || edges_ != p.edges().size())) {
      settled_ = false;
      if (at_ == 0) follow(p);
      if (!positions_.spread(p.order().preds())) return outcome::refuted;
      for (; at_ < counts_.size(); ++at_)
        if (const outcome o = place(counts_[at_], p, go_on); o != outcome::open) return o;
      at_ = 0;
      settled_ = !std::exchange(changed_, false);
      if (settled_) return outcome::open;
      if (!learn(p)) return outcome::refuted;
      if (p.edges().size() > edges_) learnt(edges_);
      if (const outcome o = p.run(p.bound(), go_on, who); o != outcome::open) return o;
    }
    return outcome::open;
  }

  /// After a refutation: no peak from B to below this is reached either. Bytes.
  bytes next() const { return next_; }
  /// In the order in which they were found, each under those before it and the edges that p had then.
  const std::vector<fact>& facts() const { return facts_; }
  /// Memory of its sets.
  std::uint64_t bytes_held() const {
    std::uint64_t sets = 0;
    for (const count& c : counts_) sets += c.sets.size();
    return sets * words_for(g_->size()) * sizeof(bit_word);
  }

 private:
  static constexpr index_t most_counts = 24;
  static constexpr std::size_t most_sets = 256, most_nodes = 2048;
  static constexpr unsigned most_cuts = 12;                               // for one question
  static constexpr delta no_set = std::numeric_limits<delta>::max() / 2;  // the level if none has the right size

  /// A closed set as a bound for any price.
  struct line {
    delta level;   ///< of the set; bytes
    delta beyond;  ///< counted nodes in it, less k
    delta value(delta price) const { return scale * level + price * beyond; }
  };
  struct found_set {
    bit_set nodes;
    line bound;
  };
  struct count {
    index_t k;
    bool is_high;  ///< whether each E(k) has half of the level that is allowed, at least
    std::vector<found_set> sets;
  };
  /// A question: whether v can be in E(k), or not in it. About E(k) itself if v is none.
  struct question {
    node_id v = none;
    bool inside = true;
  };
  struct answer {
    outcome result;
    delta level = 0;  ///< if it is refuted: the least level of such a set, in bytes, and the price that shows it
    delta price = 0;
  };

  index_t weight(node_id v) const { return positions_.weight(v); }
  index_t counted(const_bit_row set) const {
    index_t n = 0;
    for_each_bit(set, [&](std::size_t u) { n += weight(static_cast<node_id>(u)); });
    return n;
  }

  /// Takes over the order that p knows; drops sets that its new edges forbid.
  void follow(const prober& p) {
    const std::size_t known = std::exchange(edges_, p.edges().size());
    for (count& c : counts_)
      std::erase_if(c.sets, [&](const found_set& s) {
        return std::any_of(p.edges().begin() + static_cast<std::ptrdiff_t>(std::min(known, edges_)), p.edges().end(),
                           [&](const precedence& e) { return s.nodes[e.after] && !s.nodes[e.before]; });
      });
    positions_.follow([&](node_id v) {
      const const_bit_row before = p.order().ancestors()[v], behind = p.order().descendants()[v];
      return position_ranges::surroundings{count_bits(before), counted(before), counted(behind)};
    });
  }

  /// Asks about the counted nodes that may be in E(k) or not. Refuted if E(k) cannot be, or a node has no position left.
  outcome place(count& c, const prober& p, cut_counter go_on) {
    look_at(c, p);
    const delta limit = static_cast<delta>(p.bound()) - rise_;
    if (!c.is_high)
      if (const answer a = ask(c, {}, limit / 2, p, go_on); a.result != outcome::refuted) return a.result;
    c.is_high = true;
    if (const answer a = ask(c, {}, limit, p, go_on); a.result != outcome::open) return end(a, {c.k, none, false, a.price});
    for (node_id v = 0; v < g_->size(); ++v)
      for (const bool inside : {true, false}) {
        if (weight(v) == 0 || !is_free(v, c.k)) break;
        const answer a = ask(c, {v, inside}, limit, p, go_on);
        if (a.result == outcome::stopped) return a.result;
        if (a.result == outcome::open) continue;
        end(a, {c.k, v, inside, a.price});
        changed_ = true;
        positions_.narrow(c.k, v, inside);
        if (!positions_.spread(p.order().preds())) return outcome::refuted;
        look_at(c, p);
      }
    return outcome::open;
  }
  outcome end(const answer& a, const fact& shown) {
    if (a.result == outcome::refuted) next_ = std::min(next_, static_cast<bytes>(a.level + rise_)), facts_.push_back(shown);
    return a.result;
  }
  bool is_free(node_id v, index_t k) const { return positions_.may_hold(k, v) && !positions_.is_due(k, v); }

  /// Prepares questions about E(k): the nodes that must be in it, those that may, and the sets that are still allowed.
  void look_at(count& c, const prober& p) {
    bit_set in(g_->size()), out(g_->size());
    free_.clear();
    fixed_ = {static_cast<delta>(g_->base), -static_cast<delta>(c.k)};
    local_.assign(g_->size(), none);
    for (node_id v = 0; v < g_->size(); ++v) {
      if (!positions_.may_hold(c.k, v)) out.insert(v);
      else if (!positions_.is_due(c.k, v)) local_[v] = static_cast<index_t>(free_.size()), free_.push_back(v);
      else in.insert(v), add(fixed_, v);
    }
    arcs_.clear();
    for (node_id v : free_)
      for (node_id u : p.order().preds()[v])
        if (local_[u] != none) arcs_.emplace_back(local_[u], local_[v]);
    std::erase_if(c.sets, [&](const found_set& s) { return !is_subset(in, s.nodes) || intersects(out, s.nodes); });
    inside_ = std::move(in);
  }
  void add(line& set, node_id v) const { set.level += g_->cost[v].impact, set.beyond += weight(v); }

  /// Whether a set that a question is about may have a level of at most `limit`.
  answer ask(count& c, const question& q, delta limit, const prober& p, cut_counter go_on) {
    side_.assign(free_.size(), side::open);
    if (q.v != none) {
      const const_bit_row others = q.inside ? p.order().ancestors()[q.v] : p.order().descendants()[q.v];
      for (std::size_t i = 0; i < free_.size(); ++i)
        if (free_[i] == q.v || test_bit(others, free_[i])) side_[i] = q.inside ? side::in : side::out;
    }
    line low = fixed_, high = fixed_;  // the smallest set and the largest
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (side_[i] == side::in) add(low, free_[i]);
      if (side_[i] != side::out) add(high, free_[i]);
    }
    if (low.beyond > 0) return {outcome::refuted, no_set, scale * (limit + total_)};
    if (high.beyond < 0) return {outcome::refuted, no_set, -scale * (limit + total_)};
    std::optional<delta> last;
    for (unsigned cuts = 0; cuts < most_cuts; ++cuts) {
      const delta price = best_price(c, q, low, high);
      if (std::min(low.value(price), high.value(price)) <= scale * limit || last == price) break;
      const std::uint64_t before = closure_.work();
      const delta value = cut(price, c);
      if (!go_on(closure_.work() - before)) return {outcome::stopped};
      if (value > scale * limit) return {outcome::refuted, (value + scale - 1) / scale, price};
      last = price;
    }
    return {outcome::open};
  }

  /// The price at which the sets found so far allow most, and the two of them that allow no more there: one of at most k
  /// counted nodes, one of at least k.
  delta best_price(const count& c, const question& q, line& low, line& high) const {
    for (;;) {
      const delta apart = high.beyond - low.beyond;
      const delta price = apart == 0 ? 0 : std::clamp(scale * (low.level - high.level) / apart, -most_price_, most_price_);
      const line* least = nullptr;
      delta value = std::min(low.value(price), high.value(price));
      for (const found_set& s : c.sets)
        if ((q.v == none || s.nodes[q.v] == q.inside) && s.bound.value(price) < value)
          least = &s.bound, value = least->value(price);
      if (!least) return price;
      (least->beyond <= 0 ? low : high) = *least;
    }
  }

  /// The least value of a set that `side_` allows. Keeps the set.
  delta cut(delta price, count& c) {
    line set = fixed_;
    closure_.clear();
    member_.assign(free_.size(), none);
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (side_[i] == side::in) add(set, free_[i]);
      if (side_[i] == side::open) member_[i] = closure_.add(scale * g_->cost[free_[i]].impact + weight(free_[i]) * price);
    }
    for (const auto& [u, v] : arcs_)
      if (member_[u] != none && member_[v] != none) closure_.add_arc(member_[u], member_[v]);
    const delta value = set.value(price) + closure_.solve();
    bit_set nodes = inside_;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const bool chosen = member_[i] != none && closure_.holds(member_[i]);
      if (chosen) add(set, free_[i]);
      if (chosen || side_[i] == side::in) nodes.insert(free_[i]);
    }
    if (c.sets.size() == most_sets) c.sets.erase(c.sets.begin());
    c.sets.push_back({std::move(nodes), set});
    return value;
  }

  /// Adds the edges that positions ask for. Returns false if two nodes are each to run before the other.
  bool learn(prober& p) const {
    for (node_id v = 0; v < g_->active; ++v)
      for (node_id u = 0; u < g_->active; ++u)
        if (u != v && positions_.orders(u, v) && !p.ordered(u, v)) {
          if (p.ordered(v, u)) return false;
          p.learn({u, v}, next_);
        }
    return true;
  }

  enum class side : unsigned char { open, in, out };

  const schedule_graph* g_;
  bool fits_ = true;  // otherwise it is too large to be asked about
  delta rise_;        // of any counted node, at least; bytes
  delta total_ = 0;   // bytes, of all that is added and freed
  delta most_price_ = 0;
  position_ranges positions_;
  std::vector<count> counts_;
  std::size_t at_ = 0;        // the count that is asked about
  std::size_t edges_ = none;  // of the prober, that positions follow
  bool changed_ = false;      // whether a position has, since then
  bool settled_ = false;      // whether none did in the last round
  bytes next_ = std::numeric_limits<bytes>::max();
  std::vector<fact> facts_;
  // Of the count that is asked about:
  bit_set inside_;
  std::vector<node_id> free_;
  std::vector<index_t> local_, member_;
  plain_vector<std::pair<index_t, index_t>> arcs_;  // between free nodes
  line fixed_{};
  plain_vector<side> side_;
  closure_problem closure_;
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
