// The integer program of Zhong et al. (section IV-A): which operator runs, and which tensor is there, in each step.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <memsched/ilp/formulation.hpp>
#include <memsched/ilp/tensors.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Variables O[i,j], node i runs in step j, and T[k,j], tensor k is in memory in step j. Constraints (1) to (6) as the
/// paper has them, if it leaves no doubt; else:
/// * (3) only speaks of tensors. Precedence without one is a tensor of size 0.
/// * A tensor that a reader of a shared one leaves for the others, which may have run by then, is needed by those that
///   have not; (4) lets it appear but does not make it, so a constraint does.
/// * (6) is one row a step: one node runs in it, so its extra bytes are a sum over all nodes. They are the bytes that it
///   takes beyond its outputs, and fewer than none if inputs go before outputs come.
/// * (10) as printed, with a maximum, forbids a tensor in steps in which a reader with fewer descendants may still need
///   it. Here it has the minimum.
/// Room that depends on the last reader of a tensor has variables K of its own.
struct time_indexed {
  bool pruning = true;  ///< (7) to (10): no variables for values that cannot be 1

  std::optional<schedule_program> operator()(const schedule_graph& g, peak_range range, std::size_t most_rows) const;
};

namespace detail {

class time_indexed_program {
 public:
  time_indexed_program(const schedule_graph& g, peak_range range, bool pruning)
      : g_(g), n_(static_cast<index_t>(g.active)), range_(range), unit_(unit_of(g)), tensors_(tensors_of(g)), reach_(g) {
    add_precedence();
    find_windows(pruning);
  }

  /// At most.
  std::size_t rows() const {
    std::size_t reads = 0;
    for (const flowing_tensor& t : tensors_) reads += t.readers.size() + 2;
    for (node_id v = 0; v < n_; ++v)
      for (const auto& c : g_.credits[v]) reads += g_.preds[c.release].size();
    return n_ * (reads + 4);
  }

  void build() {
    for (node_id i = 0; i < n_; ++i) add_columns(ran_[i], "O", i, true);
    for (index_t k = 0; k < held_.size(); ++k) add_columns(held_[k], "T", k, true);
    for (node_id v = 0; v < n_; ++v)
      for (const auto& c : g_.credits[v]) {
        spared_.push_back({v, c.release, units(c.amount), ran_[v]});
        add_columns(spared_.back().columns, "K", static_cast<index_t>(spared_.size() - 1), false);
      }
    peak_ =
        builder_.column("mem", units(static_cast<delta>(range_.floor)), units(static_cast<delta>(range_.ceiling)), false, 1);
    columns_ = builder_.columns();
    add_steps();
    for (index_t k = 0; k < held_.size(); ++k) add_life(k);
    for (const spared& s : spared_) add_spared(s);
    for (index_t j = 0; j < n_; ++j) add_memory(j);
  }

  milp_model take_model() { return std::move(builder_).build(); }
  bytes unit() const { return unit_; }

  std::vector<double> solution_of(const std::vector<node_id>& order) const {
    std::vector<double> x(columns_, 0);
    std::vector<index_t> step(n_);
    for (index_t j = 0; j < n_; ++j) step[order[j]] = j;
    for (node_id i = 0; i < n_; ++i) x[ran_[i].at(step[i])] = 1;
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const flowing_tensor& t = tensors_[k];
      const index_t from = t.producer == none ? 0 : step[t.producer];
      index_t to = t.producer == none ? 0 : from + 1;
      for (node_id u : t.readers) to = std::max(to, step[u] + 1);
      if (t.stays) to = n_;
      for (index_t j = from; j < to; ++j)
        if (held_[k].has(j)) x[held_[k].at(j)] = 1;
    }
    for (const spared& s : spared_) {
      const auto readers = g_.preds[s.release];
      const bool last = std::all_of(readers.begin(), readers.end(), [&](node_id u) { return step[u] <= step[s.v]; });
      if (last) x[s.columns.at(step[s.v])] = 1;
    }
    x[peak_] = static_cast<double>(peak_of(g_, order)) / static_cast<double>(unit_);
    return x;
  }

  std::vector<node_id> order_of(const std::vector<double>& x) const {
    std::vector<double> key(n_, 0);
    for (node_id i = 0; i < n_; ++i)
      for (index_t j = ran_[i].first; j < ran_[i].last; ++j) key[i] += j * x[ran_[i].at(j)];
    return order_by(g_, key);
  }

 private:
  /// The columns of one thing in the steps in which it is not fixed to 0.
  struct row_of_steps {
    index_t first = 0, last = 0, column = 0;
    bool has(index_t j) const { return j >= first && j < last; }
    index_t at(index_t j) const { return column + j - first; }
  };
  struct spared {  // room that v gains if it is the last reader
    node_id v, release;
    double amount;
    row_of_steps columns;
  };
  using terms = std::vector<milp_builder::term>;

  double units(delta amount) const { return static_cast<double>(amount) / static_cast<double>(unit_); }

  /// Tensors of size 0 for edges that no tensor of that producer covers.
  void add_precedence() {
    std::vector<std::pair<node_id, node_id>> covered;
    for (const auto& t : tensors_)
      if (t.producer != none)
        for (node_id u : t.readers) covered.emplace_back(t.producer, u);
    std::sort(covered.begin(), covered.end());
    for (node_id u = 0; u < n_; ++u) {
      flowing_tensor t{u, 0, {}};
      for (node_id s : g_.succs[u])
        if (!g_.is_release(s) && !std::binary_search(covered.begin(), covered.end(), std::pair(u, s)))
          t.readers.push_back(s);
      if (!t.readers.empty()) tensors_.push_back(std::move(t));
    }
  }

  void find_windows(bool pruning) {
    ran_.resize(n_);
    for (node_id i = 0; i < n_; ++i) {
      ran_[i] = {0, n_};
      if (!pruning) continue;
      ran_[i].first = static_cast<index_t>(count_bits(reach_.ancestors[i]));
      for_each_bit(reach_.descendants[i], [&](std::size_t d) { ran_[i].last -= d < n_; });
    }
    for (const flowing_tensor& t : tensors_) {
      row_of_steps steps{0, n_};
      if (pruning && t.producer != none) steps.first = ran_[t.producer].first;
      if (pruning && !t.stays) {
        steps.last = t.producer == none ? 0 : ran_[t.producer].last;
        for (node_id u : t.readers) steps.last = std::max(steps.last, ran_[u].last);
      }
      held_.push_back(steps);
    }
  }

  void add_columns(row_of_steps& steps, const char* kind, index_t i, bool integral) {
    steps.column = static_cast<index_t>(builder_.columns());
    for (index_t j = steps.first; j < steps.last; ++j) builder_.column(name(kind, i, j + 1), 0, 1, integral);
  }

  void add_steps() {
    for (index_t j = 0; j < n_; ++j) {  // (1)
      terms sum;
      for (node_id i = 0; i < n_; ++i)
        if (ran_[i].has(j)) sum.push_back({ran_[i].at(j), 1});
      builder_.row("step" + std::to_string(j + 1), 1, 1, sum);
    }
    for (node_id i = 0; i < n_; ++i) {  // (2)
      terms sum;
      for (index_t j = ran_[i].first; j < ran_[i].last; ++j) sum.push_back({ran_[i].at(j), 1});
      builder_.row("once" + std::to_string(i), 1, 1, sum);
    }
  }

  /// (3) to (5) for one tensor.
  void add_life(index_t k) {
    const flowing_tensor& t = tensors_[k];
    const row_of_steps& held = held_[k];
    for (node_id u : t.readers)
      for (index_t j = ran_[u].first; j < ran_[u].last; ++j) {
        terms sum{{ran_[u].at(j), 1}};
        if (held.has(j)) sum.push_back({held.at(j), -1});
        const bool always = t.producer == none || test_bit(reach_.descendants[t.producer], u);
        if (!always) add_ran_before(sum, t.producer, j, 1);
        builder_.row(name("needs", k, u) + "_" + std::to_string(j + 1), -unbounded, always ? 0 : 1, sum);
      }
    for (index_t j = held.first; j < held.last; ++j) {
      if (t.producer == none && j == 0) continue;
      terms sum{{held.at(j), 1}};
      if (held.has(j - 1)) sum.push_back({held.at(j - 1), -1});
      if (t.producer != none && ran_[t.producer].has(j)) sum.push_back({ran_[t.producer].at(j), -1});
      builder_.row(name("holds", k, j + 1), -unbounded, 0, sum);
    }
    if (t.stays && n_ > 0) builder_.row("stays" + std::to_string(k), 1, 1, {{held.at(n_ - 1), 1}});
    if (t.producer == none || t.size == 0 || t.stays || has_later_reader(t)) return;
    for (index_t j = ran_[t.producer].first; j < ran_[t.producer].last; ++j)
      builder_.row(name("makes", k, j + 1), -unbounded, 0, {{ran_[t.producer].at(j), 1}, {held.at(j), -1}});
  }
  bool has_later_reader(const flowing_tensor& t) const {
    return std::any_of(t.readers.begin(), t.readers.end(),
                       [&](node_id u) { return test_bit(reach_.descendants[t.producer], u); });
  }

  /// Adds "u has run before step j".
  void add_ran_before(terms& sum, node_id u, index_t j, double factor) const {
    for (index_t i = ran_[u].first; i < std::min(ran_[u].last, j); ++i) sum.push_back({ran_[u].at(i), factor});
  }

  /// K[j] <= O[v,j], and <= "u has run before step j" for each other reader u.
  void add_spared(const spared& s) {
    const index_t k = static_cast<index_t>(&s - spared_.data());
    for (index_t j = s.columns.first; j < s.columns.last; ++j) {
      builder_.row(name("last", k, j + 1), -unbounded, 0, {{s.columns.at(j), 1}, {ran_[s.v].at(j), -1}});
      for (node_id u : g_.preds[s.release]) {
        if (u == s.v) continue;
        terms sum{{s.columns.at(j), 1}};
        add_ran_before(sum, u, j, -1);
        builder_.row(name("last", k, u) + "_" + std::to_string(j + 1), -unbounded, 0, sum);
      }
    }
  }

  /// (6) for one step.
  void add_memory(index_t j) {
    terms live{{peak_, -1}};
    std::vector<delta> outputs(n_, 0);
    for (index_t k = 0; k < held_.size(); ++k) {
      if (tensors_[k].size == 0) continue;
      if (held_[k].has(j)) live.push_back({held_[k].at(j), units(tensors_[k].size)});
      if (tensors_[k].producer != none) outputs[tensors_[k].producer] += tensors_[k].size;
    }
    terms during = live;
    for (node_id i = 0; i < n_; ++i)
      if (const delta extra = own_peak(g_, i) - outputs[i]; ran_[i].has(j) && extra != 0)
        during.push_back({ran_[i].at(j), units(extra)});
    for (const spared& s : spared_)
      if (s.columns.has(j)) during.push_back({s.columns.at(j), -s.amount});
    builder_.row("memory" + std::to_string(j + 1), -unbounded, 0, during);
    if (spared_.empty()) return;
    // A node with credits may take less while it runs than the one before left.
    for (node_id i = 0; i < n_; ++i)
      if (ran_[i].has(j) && outputs[i] != 0) live.push_back({ran_[i].at(j), -units(outputs[i])});
    builder_.row("before" + std::to_string(j + 1), -unbounded, 0, live);
  }

  const schedule_graph& g_;
  index_t n_;
  peak_range range_;
  bytes unit_;
  std::vector<flowing_tensor> tensors_;
  reachability reach_;
  std::vector<row_of_steps> ran_, held_;
  std::vector<spared> spared_;
  milp_builder builder_;
  index_t peak_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace detail

inline std::optional<schedule_program> time_indexed::operator()(const schedule_graph& g, peak_range range,
                                                                std::size_t most_rows) const {
  return detail::make_program(std::make_shared<detail::time_indexed_program>(g, range, pruning), most_rows);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
