// The gap cover: the cheapest gaps that bring every row within the budget, and prices that prove it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The answer of `cover_gaps`.
struct gap_cover {
  bool infeasible = false;   ///< no gaps bring all rows within the budget: no schedule of the scope does
  std::uint64_t bound = 0;   ///< a lower bound of the extra cost of schedules of the scope within the budget
  std::vector<bool> absent;  ///< per gap: a cover, the cheapest that was found; of rows without needs
  std::vector<std::pair<index_t, double>> prices;  ///< (row, price of a byte) before any gap is decided
  std::vector<rerun_decision> answers;  ///< with needs, if `bound` is the least cost of all answers: some of that cost
  recompute_proof proof;                ///< of the bound, but for `any_order` and `charged`
};

/// Limits of `cover_gaps`.
struct cover_limits {
  std::uint64_t enough = ~std::uint64_t{0};  ///< a bound that needs not be exceeded: the cost of a known schedule
  std::size_t nodes = 4096;
  std::uint64_t unit = 1;                              ///< all costs are multiples of it
  std::vector<std::pair<index_t, double>> start = {};  ///< with needs: prices to begin with
};

/// Minimizes the cost of gaps such that at each row the sizes of absent gaps sum to at least the excess over the budget.
/// Branch and bound by Lagrangian prices. A limit ends it with the bound proven so far.
/// O(steps * (rows + gaps)), up to 40,000 steps for the root and 60 for each further node.
///
/// Lemma. For prices p >= 0 of rows, a cover costs at least sum_k p_k excess_k + sum_g min(0, cost_g - size_g P_g), where
/// P_g is the sum of p over the rows of g.
/// Proof. Let x be a cover. sum_g cost_g x_g >= sum_g cost_g x_g + sum_k p_k (excess_k - sum of size_g x_g over g at k),
/// since the bracket is at most 0. Each gap takes the better of both values of x_g.
MEMSCHED_FUNCTION gap_cover cover_gaps(const rerun_rows& r, bytes budget, const cover_limits& limits, search& context);

/// The same if absent storages of some rows, all over the budget, are made again from needed ones (recompute/needs.hpp): the
/// bound is higher, a step a minimum cut over the needs. `limits.enough` must be given. Has no `absent`.
MEMSCHED_FUNCTION gap_cover cover_gaps(const rerun_rows& r, const rerun_needs& needs, bytes budget,
                                       const cover_limits& limits, search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

#include <memsched/recompute/cover_rounding.hpp>
#include <memsched/recompute/price_search.hpp>
#include <memsched/recompute/priced_closure.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class cover_search {
 public:
  cover_search(priced_cover& cover, const cover_limits& limits, search& context)
      : cover_(cover), rows_(cover.rows), pieces_(cover.pieces), limits_(limits), context_(context), rounding_(cover) {}

  gap_cover run() {
    answer_.absent.assign(cover_.source.gaps.size(), false);
    answer_.proof.rows = cover_.source.rows;
    for (const rerun_gap& g : cover_.source.gaps)
      if (g.write > 0) answer_.proof.writes.push_back({g.storage, g.first, g.write});
    if (rows_.empty()) return finish(0);
    if (const std::size_t k = uncovered(); k < rows_.size()) return give_up_at(k);
    answer_.proof.scale = cover_.scale;
    solve();
    return finish(answer_.bound);
  }

 private:
  using state = priced_cover::state;
  using decision = priced_cover::decision;
  static constexpr state open = priced_cover::open, zero = priced_cover::zero;

  struct node {
    std::vector<decision> decisions;    // beside those of the root
    std::vector<std::uint64_t> prices;  // per row of the cover, scaled
    std::uint64_t bound = 0;
    int128 value = 0;  // exact, scaled
    index_t at = 0;    // in the proof
  };
  struct later {
    bool operator()(const node& a, const node& b) const { return a.value != b.value ? a.value > b.value : a.at < b.at; }
  };

  /// Goes to a node: its decisions cut and answer the pieces.
  void enter(const node& n) { cover_.decide(decisions_of(n)); }
  std::vector<decision> decisions_of(const node& n) const {
    std::vector<decision> all = root_decisions_;
    all.insert(all.end(), n.decisions.begin(), n.decisions.end());
    return all;
  }

  /// A row that all pieces which are not decided to be present do not cover; the number of rows if there is none.
  std::size_t uncovered() const {
    std::vector<delta> change(rows_.size() + 1, 0);
    for (const priced_cover::piece& p : pieces_) {
      if (p.answer == zero) continue;
      change[p.first] += static_cast<delta>(p.size);
      change[p.last] -= static_cast<delta>(p.size);
    }
    delta reach = 0;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if ((reach += change[k]) < static_cast<delta>(cover_.excess[k])) return k;
    return rows_.size();
  }

  gap_cover give_up_at(std::size_t k) {
    answer_.infeasible = true;
    answer_.bound = ~std::uint64_t{0};
    answer_.proof.bound = answer_.bound;
    answer_.proof.cases.push_back({.row = rows_[k]});
    return std::move(answer_);
  }
  gap_cover finish(std::uint64_t bound) {
    answer_.bound = bound;
    answer_.proof.bound = bound;
    if (answer_.proof.cases.empty()) answer_.proof.cases.push_back({.prices = add_prices({}, {})});
    return std::move(answer_);
  }

  std::uint64_t cutoff() const { return std::min(best_, limits_.enough); }

  /// For searches for prices.
  auto pricing() {
    return [this](const std::vector<double>& p, priced_cover::valuation& v) { cover_.price(p, v); };
  }
  /// Improves the prices of a node, and its bound.
  void improve_node(node& n, int steps, int patience) {
    const price_steps limits{steps, patience, static_cast<double>(cutoff())};
    take_prices(n, improve_prices(cover_, cover_.unscaled(n.prices), limits, context_, now_, pricing()));
    n.bound = cover_.round_up(n.value);
  }
  /// Gives a node other prices if these raise its value.
  void take_prices(node& n, const std::vector<double>& p) {
    std::vector<std::uint64_t> prices = cover_.scaled(p);
    if (const int128 value = cover_.exact(prices).value; value > n.value) n.prices = std::move(prices), n.value = value;
  }

  /// Keeps the cover that the prices of a node lead to, if it is the cheapest. If rows have needs, covers are too cheap.
  void round(const node& n) {
    if (cover_.has_needs()) return;
    cover_.price(cover_.unscaled(n.prices), now_);
    const std::uint64_t cost = rounding_.round(now_.reduced, context_);
    if (cost >= best_) return;
    best_ = cost;
    answer_.absent.assign(cover_.source.gaps.size(), false);
    for (std::size_t i = 0; i < pieces_.size(); ++i) answer_.absent[pieces_[i].stretch] = rounding_.taken()[i];
  }

  // --- the tree ---

  index_t add_prices(const std::vector<std::uint64_t>& prices, std::vector<proof::recompute_share> shares) {
    auto& lists = answer_.proof.prices;
    lists.emplace_back();
    for (std::size_t k = 0; k < prices.size(); ++k)
      if (prices[k] > 0) lists.back().emplace_back(place_of_price(k), prices[k]);
    proof_bytes_ += lists.back().size() * sizeof(lists.back()[0]) + shares.size() * sizeof(shares[0]);
    answer_.proof.shares.push_back(std::move(shares));
    return static_cast<index_t>(lists.size() - 1);
  }
  /// The place of a price in the proof: a row, or after all rows a rerun.
  index_t place_of_price(std::size_t k) const {
    return k < rows_.size() ? rows_[k] : static_cast<index_t>(cover_.source.rows.size() + k - rows_.size());
  }
  index_t add_case() {
    answer_.proof.cases.emplace_back();
    return static_cast<index_t>(answer_.proof.cases.size() - 1);
  }
  proof::recompute_case& proof_at(index_t at) { return answer_.proof.cases[at]; }

  /// Closes a node for good: its bound counts.
  void close(const node& n) {
    proof_at(n.at).prices = add_prices(n.prices, cover_.exact(n.prices).shares);
    answer_.bound = std::min(answer_.bound, n.bound);
  }

  bool refuted_by_a_row(const node& n) {
    const std::size_t k = uncovered();
    if (k == rows_.size()) return false;
    proof_at(n.at).row = rows_[k];
    return true;
  }
  /// Closes a node with an answer for every gap. Without prices, its value is the cost of the absent gaps; with a high price of
  /// one row, it is beyond all limits if the needs of the row exceed the budget.
  void close_decided(node& n) {
    if (refuted_by_a_row(n)) return;
    std::vector<double> p(cover_.wanted.size(), 0);
    take_prices(n, p);
    for (std::size_t k = 0; k < p.size() && cover_.has_needs(); ++k) {
      p[k] = std::numeric_limits<double>::max();
      take_prices(n, p);
      p[k] = 0;
    }
    n.bound = cover_.round_up(n.value);
    if (cover_.has_needs() && n.bound < cutoff()) {  // then no bound is higher
      best_ = n.bound;
      answer_.answers = decisions_of(n);
    }
    close(n);
  }

  /// Splits the place of a node in the proof by a decision.
  void split(index_t at, const decision& d, index_t& absent, index_t& present) {
    absent = add_case();
    present = add_case();
    proof::recompute_case& c = proof_at(at);
    c.prices = proof::recompute_case::inner;
    c.storage = cover_.stretch(d.stretch).storage;
    c.first = d.first;
    c.last = d.last;
    c.again = d.again;
    c.absent = absent;
    c.present = present;
  }

  /// A decision of a whole piece.
  decision whole(const priced_cover::piece& p, bool absent) const {
    const rerun_gap& g = cover_.stretch(p.stretch);
    const bool again = !cover_.is_tail(p.stretch) && p.from == g.first && p.to == g.last;
    return {p.stretch, p.from, p.to, absent, again};
  }

  /// Decides pieces of the root for which the other answer costs too much by its prices.
  void fix_by_prices(node& root) {
    index_t list = none;
    const int128 needed = static_cast<int128>(cutoff() - std::min<std::uint64_t>(cutoff(), cover_.unit)) << cover_.scale;
    const priced_cover::exact_valuation now = cover_.exact(root.prices);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const int128 r = now.reduced[i] < 0 ? -now.reduced[i] : now.reduced[i];
      if (root.value + r <= needed) continue;  // beyond it, the value rounds up to the cutoff
      if (list == none) list = add_prices(root.prices, now.shares);
      const decision d = whole(pieces_[i], now.reduced[i] < 0);
      index_t absent = 0, present = 0;
      split(root.at, d, absent, present);
      root_decisions_.push_back(d);
      root.at = d.absent ? absent : present;
      proof_at(d.absent ? present : absent).prices = list;
    }
  }

  /// The decision to branch on next, of the node that was priced last; nullopt if all is decided. Pieces with another answer
  /// that costs little by the prices come first, and of these the size and cost with the largest mean gain so far.
  std::optional<decision> next_decision() const {
    using rank = std::tuple<bool, double, double>;
    std::size_t best = pieces_.size();
    rank least{};
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].answer != open) continue;
      const double other = std::fabs(now_.reduced[i]) / (static_cast<double>(pieces_[i].cost) + 1e-9);
      const rank r{other > 0.5, -mean_gain(pieces_[i].stretch), other};
      if (best == pieces_.size() || r < least) best = i, least = r;
    }
    return best == pieces_.size() ? cover_.row_to_decide() : whole(pieces_[best], true);
  }
  /// The mean that decisions of stretches like this one have added to values; without bound if none was decided yet.
  double mean_gain(index_t stretch) const {
    const auto found = gains_.find(kind(stretch));
    return found == gains_.end() ? std::numeric_limits<double>::infinity() : found->second.sum / found->second.times;
  }
  std::pair<bytes, std::uint64_t> kind(index_t stretch) const {
    const rerun_gap& g = cover_.stretch(stretch);
    return {g.size, g.cost()};
  }

  /// Decides something at a node that is taken out, both ways.
  void branch(const node& n, decision d) {
    index_t absent = 0, present = 0;
    split(n.at, d, absent, present);
    d.absent = true;
    const double lower = visit(n, d, absent);
    d.absent = false;
    const double higher = visit(n, d, present);
    decision_gains& g = gains_[kind(d.stretch)];
    g.sum += std::min(lower, higher) + 0.1 * std::max(lower, higher);
    ++g.times;
  }

  /// A child of a node. It is closed, or waits in the queue. Returns the gain in value, up to the cutoff.
  double visit(const node& parent, const decision& d, index_t at) {
    const double before = cover_.unscaled(parent.value), most = static_cast<double>(cutoff()) - before;
    node child = parent;
    child.decisions.push_back(d);
    child.at = at;
    enter(child);
    if (refuted_by_a_row(child)) return most;
    child.value = cover_.exact(child.prices).value;
    improve_node(child, cover_.later_steps, 6);
    if (nodes_ < 32 || nodes_ % 16 == 0) round(child);
    const double gain = cover_.unscaled(child.value) - before;
    if (child.bound >= cutoff()) return close(child), most;
    queue_.push(std::move(child));
    return gain;
  }

  /// Whether nodes and their part of the proof are within the limit of memory.
  bool fits() {
    const std::size_t each = sizeof(node) + 16 * sizeof(decision) + sizeof(std::uint64_t) * cover_.wanted.size();
    return context_.fits(nodes_ * each + proof_bytes_);
  }

  /// Prices to begin with.
  std::vector<double> start() {
    if (!cover_.has_needs()) return ascend_rows(cover_, cover_.highest_price, context_, now_, pricing());
    std::vector<double> p(cover_.wanted.size(), 0);
    for (const auto& [row, price] : limits_.start)
      if (const auto at = std::lower_bound(rows_.begin(), rows_.end(), row); at != rows_.end() && *at == row)
        p[static_cast<std::size_t>(at - rows_.begin())] = price;
    return p;
  }

  void solve() {
    answer_.bound = ~std::uint64_t{0};
    node root;
    root.prices = cover_.scaled(start());
    root.at = add_case();
    round(root);
    improve_node(root, cover_.first_steps, cover_.first_patience);
    round(root);
    for (const auto& p : {cover_.unscaled(root.prices)})
      for (std::size_t k = 0; k < rows_.size(); ++k)
        if (p[k] > 0) answer_.prices.emplace_back(rows_[k], p[k]);
    if (root.bound >= cutoff()) close(root);
    else fix_by_prices(root), queue_.push(std::move(root));
    while (!queue_.empty()) {
      node n = queue_.top();
      const bool tall = n.bound >= cutoff();
      if (!tall && (nodes_ >= limits_.nodes || context_.stopped() || !fits())) {
        answer_.answers.clear();
        break;
      }
      queue_.pop();
      if (tall) {
        enter(n);
        close(n);
        continue;
      }
      ++nodes_, context_.count_state();
      enter(n);
      cover_.price(cover_.unscaled(n.prices), now_);
      if (const auto d = next_decision()) branch(n, *d);
      else close_decided(n);
    }
    for (; !queue_.empty(); queue_.pop()) enter(queue_.top()), close(queue_.top());
    answer_.bound = std::min(answer_.bound, cutoff());
  }

  struct decision_gains {
    double sum = 0, times = 0;
  };

  priced_cover& cover_;
  const std::vector<index_t>& rows_;
  const std::vector<priced_cover::piece>& pieces_;
  cover_limits limits_;
  search& context_;
  std::vector<decision> root_decisions_;
  priced_cover::valuation now_;
  cover_rounding rounding_;
  std::map<std::pair<bytes, std::uint64_t>, decision_gains> gains_;  // by size and cost of gaps
  std::size_t nodes_ = 1, proof_bytes_ = 0;
  std::uint64_t best_ = ~std::uint64_t{0} >> 1;
  std::priority_queue<node, std::vector<node>, later> queue_;
  gap_cover answer_;
};

}  // namespace detail

MEMSCHED_FUNCTION gap_cover cover_gaps(const rerun_rows& r, bytes budget, const cover_limits& limits, search& context) {
  detail::priced_cover cover(r, budget, limits.unit);
  return detail::cover_search(cover, limits, context).run();
}

MEMSCHED_FUNCTION gap_cover cover_gaps(const rerun_rows& r, const rerun_needs& needs, bytes budget,
                                       const cover_limits& limits, search& context) {
  detail::priced_closure cover(r, needs, budget, limits.unit);
  gap_cover answer = detail::cover_search(cover, limits, context).run();
  answer.proof.needs = needs.rows;
  answer.proof.units = needs.units;
  for (const rerun_row& rerun : needs.reruns)
    answer.proof.reruns.emplace_back(needs.needs[rerun.need].row, needs.needs[rerun.need].storage);
  return answer;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
