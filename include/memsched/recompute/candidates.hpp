// Reruns and loads that could free memory around an execution of a schedule that was played.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/random.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/recompute/played_stages.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A storage is to be absent in [from, to).
struct rerun_hole {
  tensor_id storage = none;
  index_t from = 0, to = 0;  ///< positions among executions
  bytes gain = 0;            ///< that it frees while an execution of the hole runs
};

/// Reruns and loads by which the storage of a hole is there at its end: a set for one stage.
struct rerun_candidate {
  tensor_id storage = none;
  bytes gain = 0;
  index_t stage = 0;
  std::vector<op_id> ops{};  ///< in the order in which they come in a stage
  double rank = 0;           ///< cost for the worth of the hole; the smaller, the better
};

/// Ways to rank candidates.
struct candidate_ranks {
  std::uint64_t noise_percent = 0;  ///< spreads ranks by up to 1 + noise
  bool by_prices = false;  ///< a hole is worth the prices of its rows (`set_prices`), else its bytes over the budget
};

/// Finds candidates for the schedule that `played` holds at the time. Refers to its arguments.
class rerun_candidates {
 public:
  rerun_candidates(const execution_table& table, const played_stages& played, bytes budget);

  /// Sets prices of a byte at rows of the order of first runs, as of `gap_cover`.
  void set_prices(const std::vector<std::pair<index_t, double>>& prices);
  bool has_prices() const { return !price_before_.empty(); }

  /// Sets of reruns and loads by which less is live while the execution at `at` runs. O(tensors, and for each candidate the
  /// reads of its reruns).
  void find(index_t at, const candidate_ranks& ranks, base::random_source& random, std::vector<rerun_candidate>& found);
  /// Gathers the reruns and loads by which the storage of h is there at the end of the hole, brought back by `by`. With
  /// `keep_inputs`, inputs that the budget has room for stay until then instead. Returns false if something needed cannot
  /// come back.
  bool collect(const rerun_hole& h, op_id by, bool keep_inputs, rerun_candidate& c);
  /// The execution that brings t back for less: a rerun of its producer, a load, or at the end a departure; `none` if there
  /// is none.
  op_id cheaper_source(tensor_id t, bool at_end = false) const;
  /// The cost of an execution more; a first load writes its storage, too.
  std::uint64_t cost(op_id e) const;
  /// The cost of several, a little above 0 if they cost nothing.
  double price(const std::vector<op_id>& ops) const;
  bool is_end(index_t at) const { return at == played_.run().size(); }
  /// The stage of an execution; of the end, the last one.
  index_t stage_at(index_t at) const;
  bool has_views() const { return has_views_; }

 private:
  op_id move_of(tensor_id t, bool at_end) const;
  void add_all(const rerun_hole& h, double worth, std::vector<rerun_candidate>& found);
  void add(const rerun_hole& h, double worth, op_id by, bool keep_inputs, std::vector<rerun_candidate>& found);
  double worth_of(const rerun_hole& h, bool by_prices) const;
  bool stays_within(tensor_id t, const rerun_hole& h) const;

  const problem& p_;
  const execution_table& table_;
  const played_stages& played_;
  bytes budget_;
  list_of<op_id> views_;  // per storage, other operators than its producer that name it
  bool has_views_ = false;
  double average_cost_ = 1;
  std::vector<double> price_before_;   // sums of prices before each row
  std::vector<unsigned char> member_;  // of the candidate that is made
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION rerun_candidates::rerun_candidates(const execution_table& table, const played_stages& played, bytes budget)
    : p_(table.graph()), table_(table), played_(played), budget_(budget), member_(table.size(), 0) {
  std::vector<std::pair<index_t, op_id>> views;
  double sum = 0;
  for (op_id op : p_.ops()) {
    sum += static_cast<double>(p_.cost(op));
    for (tensor_id t : p_.outputs(op))
      if (p_.storage(t) != t && p_.producer(p_.storage(t)) != op) views.emplace_back(p_.storage(t), op);
  }
  has_views_ = !views.empty();
  views_ = list_of<op_id>::from_pairs(p_.tensors().size(), views);
  average_cost_ = std::max(sum / std::max<double>(1, static_cast<double>(p_.ops().size())), 1e-9);
}

MEMSCHED_FUNCTION void rerun_candidates::set_prices(const std::vector<std::pair<index_t, double>>& prices) {
  price_before_.assign(p_.ops().size() + 2, 0);
  for (const auto& [row, price] : prices) price_before_[row + 1] = price;
  std::partial_sum(price_before_.begin(), price_before_.end(), price_before_.begin());
}

MEMSCHED_FUNCTION std::uint64_t rerun_candidates::cost(op_id e) const {
  const bool writes = table_.is_move(e) && played_.loads(table_.moved(e)) == 0;
  return table_.cost(e) + (writes ? table_.write_cost(e) : 0);
}

/// At the end a departure, if there is one: it costs no more than a load.
MEMSCHED_FUNCTION op_id rerun_candidates::move_of(tensor_id t, bool at_end) const {
  const op_id departure = at_end ? table_.departure_of(t) : none;
  return departure != none ? departure : table_.load_of(t);
}

MEMSCHED_FUNCTION op_id rerun_candidates::cheaper_source(tensor_id t, bool at_end) const {
  const op_id producer = p_.producer(t), load = move_of(t, at_end);
  if (producer == none || !table_.may_repeat(producer)) return load;
  return load != none && cost(load) < cost(producer) ? load : producer;
}

MEMSCHED_FUNCTION double rerun_candidates::price(const std::vector<op_id>& ops) const {
  double sum = 1e-4 * average_cost_ * static_cast<double>(ops.size());
  for (op_id op : ops) sum += static_cast<double>(cost(op));
  return sum;
}

/// Whether t may stay from its last use to the end of the hole, within the budget if that is kept now.
MEMSCHED_FUNCTION bool rerun_candidates::stays_within(tensor_id t, const rerun_hole& h) const {
  const auto* next = played_.next_event(t, h.to);
  if (next == played_.events(t).data()) return true;
  const index_t from = next[-1].at + 1;
  const bytes size = p_.size(t);
  const auto within = [&](index_t a, index_t b, bytes freed) {
    const bytes high = played_.highest(a, b);
    return high + size <= budget_ + freed || (freed > size && high > budget_);
  };
  return (from >= h.from || within(from, h.from, 0)) && within(std::max(from, h.from), h.to, h.gain);
}

MEMSCHED_FUNCTION bool rerun_candidates::collect(const rerun_hole& h, op_id by, bool keep_inputs, rerun_candidate& c) {
  constexpr std::size_t most = 256;
  c.ops.assign(1, by);
  member_[by] = 1;
  bool good = true;
  const auto add = [&](op_id op) {
    if (member_[op]) return;
    member_[op] = 1;
    c.ops.push_back(op);
  };
  const auto returns = [&](tensor_id t) {
    const op_id producer = p_.producer(t), load = table_.load_of(t);
    return (producer != none && member_[producer]) || (load != none && member_[load]);
  };
  for (std::size_t i = 0; i < c.ops.size() && good; ++i) {
    const op_id op = c.ops[i];
    for (tensor_id t : table_.reads(op)) {
      if (returns(t)) continue;
      const op_id source = cheaper_source(t);
      if (source == none || played_.alive(t, h.to) || (keep_inputs && stays_within(t, h))) continue;
      add(source);
    }
    if (has_views_ && !table_.is_departure(op)) {
      for (tensor_id t : table_.creates(op))
        for (op_id view : views_[t])
          if (table_.may_repeat(view) && played_.place(view) < c.stage) add(view);
      for (tensor_id t : table_.inputs(op))  // a view that is older than its storage's copy is made again with it
        if (const op_id view = p_.writer(t); view != none && p_.storage(t) != t && returns(p_.storage(t))) add(view);
    }
    good = c.ops.size() <= most;
  }
  for (op_id op : c.ops) member_[op] = 0;
  for (op_id op : c.ops) good = good && table_.may_repeat(op);
  std::sort(c.ops.begin(), c.ops.end(), [&](op_id a, op_id b) { return played_.before(a, b); });
  return good;
}

MEMSCHED_FUNCTION index_t rerun_candidates::stage_at(index_t at) const {
  return at < played_.stage().size() ? played_.stage()[at] : static_cast<index_t>(p_.ops().size());
}

/// Above 0 if the hole frees bytes over the budget.
MEMSCHED_FUNCTION double rerun_candidates::worth_of(const rerun_hole& h, bool by_prices) const {
  const double gain = static_cast<double>(h.gain);
  const double freed = std::min(played_.over(h.from, h.to), played_.count_over(h.from, h.to) * gain);
  if (freed <= 0 || !by_prices) return freed;
  constexpr double unpriced = 1e-9;  // rows without a price are worth a little, too
  return (price_before_[stage_at(h.to)] - price_before_[stage_at(h.from)]) * gain + unpriced;
}

/// Reruns and loads that fill a hole at its end.
MEMSCHED_FUNCTION void rerun_candidates::add_all(const rerun_hole& h, double worth, std::vector<rerun_candidate>& found) {
  if (const op_id producer = p_.producer(h.storage); producer != none && table_.may_repeat(producer))
    for (const bool keep_inputs : {true, false}) add(h, worth, producer, keep_inputs, found);
  if (const op_id move = move_of(h.storage, is_end(h.to)); move != none) add(h, worth, move, true, found);
}

MEMSCHED_FUNCTION void rerun_candidates::add(const rerun_hole& h, double worth, op_id by, bool keep_inputs,
                                             std::vector<rerun_candidate>& found) {
  rerun_candidate c{.storage = h.storage, .gain = h.gain, .stage = stage_at(h.to)};
  if (!collect(h, by, keep_inputs, c)) return;
  c.rank = price(c.ops) / worth;
  if (!found.empty() && found.back().stage == c.stage && found.back().ops == c.ops) return;
  found.push_back(std::move(c));
}

MEMSCHED_FUNCTION void rerun_candidates::find(index_t at, const candidate_ranks& ranks, base::random_source& random,
                                              std::vector<rerun_candidate>& found) {
  found.clear();
  const op_id running = played_.run()[at];
  for (tensor_id t : p_.tensors()) {
    const auto list = played_.events(t);
    if (list.empty() || p_.size(t) == 0 || !table_.returns(t)) continue;
    const auto* next = played_.next_event(t, at);
    bytes gain = p_.size(t);
    index_t from = next == list.data() ? (p_.producer(t) == none ? 0 : none) : next[-1].at + 1;
    if (played_.position(t, next) == at) {
      if (next->creates) continue;
      if (played_.rule(running) != firing::cbp) {
        gain = played_.spared(running, t);
        if (gain == 0) continue;
      }
      from = at;
      ++next;
    }
    if (from == none || !played_.alive_before(t, next)) continue;
    const rerun_hole h{t, from, played_.position(t, next), gain};
    const double worth = worth_of(h, ranks.by_prices);
    if (worth > 0 && stage_at(h.to) > 0) add_all(h, worth, found);
  }
  if (ranks.noise_percent == 0) return;
  for (rerun_candidate& c : found) c.rank *= 1 + 0.01 * static_cast<double>(random.below(ranks.noise_percent + 1));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
