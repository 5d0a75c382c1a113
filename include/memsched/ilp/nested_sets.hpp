// An integer program without steps: for each node, the set of nodes that have run when it runs.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/ilp/formulation.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// For each critical node v a set E[v] of the nodes that have run when v runs: variables y[u,v], one for each u that may run
/// on either side of v. Memory when v runs is the sum of E[v]'s impacts plus v's peak. E[v] holds with each node its
/// predecessors; of two critical nodes one set holds the other node and all of its set. A node is critical if it can
/// exceed the floor at all: the others fit in anywhere, so that the nested sets are an order.
///
/// Without the constraints between sets, each set is a minimum closure, which linear programs solve: the relaxation is
/// at least the bound of minimum cuts. The one of `time_indexed` is far below that.
struct nested_sets {
  std::optional<schedule_program> operator()(const schedule_graph& g, peak_range range, std::size_t most_rows) const;
};

namespace detail {

class nested_sets_program {
 public:
  nested_sets_program(const schedule_graph& g, peak_range range)
      : g_(g), n_(static_cast<index_t>(g.active)), range_(range), unit_(unit_of(g)), reach_(g), is_critical_(g.size()) {
    for (node_id v = 0; v < n_; ++v)
      if (highest(v) > static_cast<delta>(range.floor)) is_critical_.insert(v), critical_.push_back(v);
  }

  /// At most.
  std::size_t rows() const {
    std::size_t sum = 0;
    for (node_id v : critical_) {
      std::size_t free = 0, links = 0;
      for (node_id u = 0; u < g_.size(); ++u)
        if (incomparable(u, v)) free += !g_.is_release(u), links += g_.preds[u].size();
      sum += links + 2;
      for (const auto& k : g_.credits[v]) sum += g_.preds[k.release].size();
      for (node_id w : critical_)
        if (incomparable(v, w) || follows(v, w)) sum += free + 1;
    }
    return sum;
  }

  void build() {
    column_.assign(critical_.size(), std::vector<index_t>(g_.size(), none));
    spared_.resize(critical_.size());
    for (index_t c = 0; c < critical_.size(); ++c)
      for (node_id u = 0; u < n_; ++u)
        if (incomparable(u, critical_[c])) column_[c][u] = builder_.column(name("y", u, critical_[c]), 0, 1, true);
    peak_ =
        builder_.column("mem", units(static_cast<delta>(range_.floor)), units(static_cast<delta>(range_.ceiling)), false, 1);
    for (index_t c = 0; c < critical_.size(); ++c) add_set(c);
    for (index_t c = 0; c < critical_.size(); ++c)
      for (index_t d = 0; d < critical_.size(); ++d)
        if (c != d) nest(c, d);
    columns_ = builder_.columns();
  }

  milp_model take_model() { return std::move(builder_).build(); }
  bytes unit() const { return unit_; }

  std::vector<double> solution_of(const std::vector<node_id>& order) const {
    std::vector<double> x(columns_, 0);
    std::vector<index_t> position(n_);
    for (index_t i = 0; i < n_; ++i) position[order[i]] = i;
    for (index_t c = 0; c < critical_.size(); ++c) {
      const index_t here = position[critical_[c]];
      const auto all_ran = [&](node_id r, node_id but) {
        const auto readers = g_.preds[r];
        return std::all_of(readers.begin(), readers.end(), [&](node_id u) { return u == but || position[u] < here; });
      };
      for (node_id u = 0; u < g_.size(); ++u)
        if (column_[c][u] != none) x[column_[c][u]] = (g_.is_release(u) ? all_ran(u, none) : position[u] < here) ? 1 : 0;
      for (const auto& [release, column] : spared_[c]) x[column] = all_ran(release, critical_[c]) ? 1 : 0;
    }
    x[peak_] = static_cast<double>(peak_of(g_, order)) / static_cast<double>(unit_);
    return x;
  }

  /// A node runs before the first set that it is in.
  std::vector<node_id> order_of(const std::vector<double>& x) const {
    std::vector<double> key(n_, 0);
    for (node_id u = 0; u < n_; ++u) {
      for (index_t c = 0; c < critical_.size(); ++c) {
        const node_id v = critical_[c];
        if (u == v) continue;
        const bool in = test_bit(reach_.ancestors[v], u) || (column_[c][u] != none && x[column_[c][u]] > 0.5);
        key[u] -= in ? 2 : 0;
      }
      if (!is_critical_[u]) key[u] += 1;
    }
    return order_by(g_, key);
  }

 private:
  using terms = std::vector<milp_builder::term>;
  double units(delta amount) const { return static_cast<double>(amount) / static_cast<double>(unit_); }
  bool incomparable(node_id u, node_id v) const {
    return u != v && !test_bit(reach_.ancestors[v], u) && !test_bit(reach_.descendants[v], u);
  }

  /// The most that v can meet or leave; releases count if they have run in every order.
  delta highest(node_id v) {
    delta level = static_cast<delta>(g_.base);
    closure_.clear();
    local_.assign(g_.size(), none);
    const auto ran = reach_.ancestors[v];
    for (node_id u = 0; u < g_.size(); ++u) {
      if (g_.is_release(u) ? surely_ran(u, v) : test_bit(ran, u)) level += g_.cost[u].impact;
      else if (!g_.is_release(u) && incomparable(u, v)) local_[u] = closure_.add(-g_.cost[u].impact);
    }
    for (node_id u = 0; u < n_; ++u)
      if (local_[u] != none)
        for (node_id p : g_.preds[u])
          if (local_[p] != none) closure_.add_arc(local_[p], local_[u]);
    return level - closure_.solve() + std::max(g_.cost[v].peak, g_.cost[v].impact);
  }
  bool surely_ran(node_id release, node_id v) const {
    const auto readers = g_.preds[release];
    return std::all_of(readers.begin(), readers.end(), [&](node_id u) { return test_bit(reach_.ancestors[v], u); });
  }
  bool can_have_run(node_id release, node_id v) const {
    const auto readers = g_.preds[release];
    return std::none_of(readers.begin(), readers.end(),
                        [&](node_id u) { return u == v || test_bit(reach_.descendants[v], u); });
  }

  /// E[v] is closed, and memory when v runs.
  void add_set(index_t c) {
    const node_id v = critical_[c];
    auto& y = column_[c];
    delta surely = static_cast<delta>(g_.base);
    terms level{{peak_, -1}};
    for (node_id u = 0; u < n_; ++u) {
      if (test_bit(reach_.ancestors[v], u)) surely += g_.cost[u].impact;
      if (y[u] == none) continue;
      level.push_back({y[u], units(g_.cost[u].impact)});
      for (node_id p : g_.preds[u])
        if (y[p] != none) at_most(name("c", u, p) + "_" + std::to_string(v), y[u], y[p]);
    }
    for (node_id r = n_; r < g_.size(); ++r) {
      if (surely_ran(r, v)) surely += g_.cost[r].impact;
      else if (can_have_run(r, v)) {
        y[r] = builder_.column(name("z", r, v), 0, 1, false);
        level.push_back({y[r], units(g_.cost[r].impact)});
        for (node_id u : g_.preds[r])
          if (y[u] != none) at_most(name("r", r, u) + "_" + std::to_string(v), y[r], y[u]);
      }
    }
    terms during = level;
    for (const auto& k : g_.credits[v]) {
      const auto readers = g_.preds[k.release];
      if (std::any_of(readers.begin(), readers.end(), [&](node_id u) { return test_bit(reach_.descendants[v], u); }))
        continue;
      const index_t column = builder_.column(name("k", k.release, v), 0, 1, false);
      spared_[c].emplace_back(k.release, column);
      during.push_back({column, -units(k.amount)});
      for (node_id u : readers)
        if (y[u] != none) at_most(name("l", k.release, u) + "_" + std::to_string(v), column, y[u]);
    }
    builder_.row("during" + std::to_string(v), -unbounded, -units(surely + own_peak(g_, v)), during);
    if (g_.credits[v].empty()) return;
    // The level it leaves may be above its peak.
    terms after = level;
    delta impact = g_.cost[v].impact;
    for (node_id r : g_.succs[v]) {
      if (!g_.is_release(r)) continue;
      const auto found = std::find_if(spared_[c].begin(), spared_[c].end(), [&](const auto& s) { return s.first == r; });
      if (found != spared_[c].end()) after.push_back({found->second, units(g_.cost[r].impact)});
      else if (surely_frees(v, r)) impact += g_.cost[r].impact;
    }
    builder_.row("after" + std::to_string(v), -unbounded, -units(surely + impact), after);
  }
  bool surely_frees(node_id v, node_id release) const {
    const auto readers = g_.preds[release];
    return std::all_of(readers.begin(), readers.end(),
                       [&](node_id u) { return u == v || test_bit(reach_.ancestors[v], u); });
  }

  /// column_a <= column_b
  void at_most(std::string row, index_t a, index_t b) { builder_.row(std::move(row), -unbounded, 0, {{a, 1}, {b, -1}}); }

  /// Whether w comes after v, and no critical node in between.
  bool follows(node_id v, node_id w) const {
    if (!test_bit(reach_.descendants[v], w)) return false;
    const const_bit_row behind = reach_.descendants[v], before = reach_.ancestors[w], critical = is_critical_;
    for (std::size_t k = 0; k < critical.size(); ++k)
      if ((behind[k] & before[k] & critical[k]) != 0) return false;
    return true;
  }

  /// If v runs before w, E[w] holds E[v].
  void nest(index_t c, index_t d) {
    const node_id v = critical_[c], w = critical_[d];
    if (follows(v, w)) {
      for (node_id u = 0; u < n_; ++u)
        if (column_[c][u] != none && column_[d][u] != none)
          at_most(name("n", u, v) + "_" + std::to_string(w), column_[c][u], column_[d][u]);
      return;
    }
    if (!incomparable(v, w)) return;
    const index_t first = column_[d][v];  // v before w
    if (c < d) builder_.row(name("o", v, w), 1, 1, {{first, 1}, {column_[c][w], 1}});
    for (node_id u = 0; u < n_; ++u) {
      const index_t in_v = column_[c][u], in_w = column_[d][u];
      if (u == w || in_v == none || test_bit(reach_.ancestors[w], u)) continue;
      terms sum{{in_v, 1}, {first, 1}};
      if (in_w != none) sum.push_back({in_w, -1});
      builder_.row(name("n", u, v) + "_" + std::to_string(w), -unbounded, 1, sum);
    }
  }

  const schedule_graph& g_;
  index_t n_;
  peak_range range_;
  bytes unit_;
  reachability reach_;
  std::vector<node_id> critical_;
  bit_set is_critical_;
  std::vector<std::vector<index_t>> column_;                      // per set and node
  std::vector<std::vector<std::pair<node_id, index_t>>> spared_;  // per set: release, column
  milp_builder builder_;
  closure_problem closure_;
  std::vector<index_t> local_;
  index_t peak_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace detail

inline std::optional<schedule_program> nested_sets::operator()(const schedule_graph& g, peak_range range,
                                                               std::size_t most_rows) const {
  return detail::make_program(std::make_shared<detail::nested_sets_program>(g, range), most_rows);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
