// A schedule with reruns and loads that was played, with tables to ask about it and about some that it could have or lack.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/recompute/stages.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Tables of one schedule. Positions are those of its executions, reruns include loads.
class played_stages {
 public:
  /// A use or creation of a storage.
  struct event {
    index_t at = 0;
    bool creates = false;
  };

  played_stages(const execution_table& table, memory_model model, bytes budget)
      : p_(table.graph()),
        table_(table),
        budget_(budget),
        player_(table, model),
        place_(table.size()),
        touched_(p_.tensors().size(), 0) {}

  /// Plays `s` and makes the tables. O(e log e + uses), of e executions.
  void take(const rerun_stages& s);

  std::span<const op_id> run() const { return player_.run(); }
  /// Per execution, the stage that it belongs to.
  std::span<const index_t> stage() const { return player_.stage(); }
  /// Per execution, the bytes while it runs.
  std::span<const bytes> during() const { return player_.during(); }
  firing rule(op_id op) const { return player_.rule(op); }
  /// The bytes that op's outputs spare by taking the place of its read t, if nothing reads t later.
  bytes spared(op_id op, tensor_id t) const { return player_.spared(op, t); }
  /// Whether the peak is within the budget.
  bool fits() const { return level_.peak <= budget_; }
  /// The place of an operator among first runs; of a load, that of the operator that makes its storage; of a departure, `none`.
  index_t place(op_id e) const { return place_[e]; }
  /// Whether `a` stands before `b` in a stage that has both.
  bool before(op_id a, op_id b) const { return place_[a] != place_[b] ? place_[a] < place_[b] : a < b; }
  /// The loads and departures of a storage.
  std::size_t loads(tensor_id t) const { return loads_.empty() ? 0 : loads_[t]; }
  /// The position of an operator's first run.
  index_t first_run(op_id op) const { return stage_start_[place_[op] + 1] - 1; }
  /// The position of a rerun in a stage that has it.
  index_t position(op_id op, index_t stage) const {
    index_t at = stage_start_[stage];
    while (run()[at] != op) ++at;
    return at;
  }
  /// Uses and creations of a storage, in order.
  std::span<const event> events(tensor_id t) const { return events_[t]; }

  /// The first event of t at `at` or later; the end of `events(t)` if there is none.
  const event* next_event(tensor_id t, index_t at) const;
  /// Whether t is in memory before `next`, an event of it or their end: `next` is a use, or t stays to the end.
  bool alive_before(tensor_id t, const event* next) const { return is_end(t, next) ? p_.stays(t) : !next->creates; }
  /// The same before the execution at `at`.
  bool alive(tensor_id t, index_t at) const { return alive_before(t, next_event(t, at)); }
  /// The position of an event of t; of their end, the number of executions.
  index_t position(tensor_id t, const event* e) const { return is_end(t, e) ? static_cast<index_t>(run().size()) : e->at; }
  /// The highest bytes while executions in [from, to) run; 0 if there are none.
  bytes highest(index_t from, index_t to) const;
  /// Bytes over the budget, summed over executions in [from, to).
  double over(index_t from, index_t to) const { return over_[to] - over_[from]; }
  /// All of them.
  double over() const { return level_.over; }
  /// Executions over the budget in [from, to).
  double count_over(index_t from, index_t to) const { return count_[to] - count_[from]; }

  /// `over()` if `added`, in the order `before`, came again in a stage that has none of them.
  /// O(executions between each of their storages' uses), without another play.
  double over_with(std::span<const op_id> added, index_t stage);
  /// `over()` if the rerun at `at` were not there. The same cost.
  double over_without(index_t at);

 private:
  static constexpr std::size_t block = 32;  // executions
  struct insertion {
    op_id op = none;
    index_t at = 0;  // before this execution
  };

  void place_loads();
  bool is_end(tensor_id t, const event* e) const { return e == events_[t].data() + events_[t].size(); }
  void make_table();
  static bytes highest_of(std::span<const bytes> some);
  void touch(op_id op, index_t at);
  bool used_behind(tensor_id t, index_t at, std::size_t added) const;
  detail::firing_effect effect(op_id op, index_t at, std::size_t added) const;
  double shifted_over(index_t from, index_t to, delta shift) const;
  double over_changed();

  const problem& p_;
  const execution_table& table_;
  bytes budget_;
  stage_player player_;
  stage_player::level level_;
  std::vector<index_t> place_, loads_;
  std::vector<index_t> stage_start_;
  list_of<event> events_;                    // per storage
  std::vector<std::vector<bytes>> highest_;  // highest of 2^i blocks from each on
  std::vector<double> over_, count_;         // prefix sums: bytes over the budget, executions over it
  // The change that is asked about:
  std::vector<insertion> added_;
  index_t removed_ = none;
  std::vector<index_t> changed_;        // executions with another effect
  std::vector<tensor_id> from_start_;   // graph inputs with another first event
  std::vector<unsigned char> touched_;  // storages with other events
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <bit>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION void played_stages::take(const rerun_stages& s) {
  level_ = player_.play(s, budget_);
  for (index_t k = 0; k < s.order.size(); ++k) place_[s.order[k]] = k;
  const auto all = run();
  if (table_.prices()) place_loads();
  const auto high = during();
  const std::size_t n = all.size();
  stage_start_.assign(s.again.size() + 1, 0);
  for (index_t k : stage()) ++stage_start_[k + 1];
  for (std::size_t k = 0; k + 1 < stage_start_.size(); ++k) stage_start_[k + 1] += stage_start_[k];
  events_ = list_of<event>::from(p_.tensors().size(), [&](auto&& put) {
    for (index_t i = 0; i < n; ++i) {
      for (tensor_id t : table_.reads(all[i])) put(t, event{i, false});
      for (tensor_id t : table_.creates(all[i])) put(t, event{i, true});
    }
  });
  over_.assign(n + 1, 0), count_.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const bool over = high[i] > budget_;
    over_[i + 1] = over_[i] + (over ? static_cast<double>(high[i] - budget_) : 0);
    count_[i + 1] = count_[i] + (over ? 1 : 0);
  }
  make_table();
}

MEMSCHED_FUNCTION void played_stages::place_loads() {
  loads_.assign(p_.tensors().size(), 0);
  for (op_id e = static_cast<op_id>(p_.ops().size()); e < table_.size(); ++e) {
    const op_id producer = p_.producer(table_.moved(e));
    place_[e] = table_.is_departure(e) ? none : producer == none ? 0 : place_[producer];
  }
  for (op_id e : run())
    if (table_.is_move(e)) ++loads_[table_.moved(e)];
}

/// The highest of each block of executions, and of 2^i blocks from each on.
MEMSCHED_FUNCTION void played_stages::make_table() {
  const auto high = during();
  const std::size_t blocks = high.size() / block;
  highest_.resize(std::bit_width(blocks) + 1);
  highest_[0].resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) highest_[0][b] = highest_of(high.subspan(b * block, block));
  for (std::size_t level = 1; (std::size_t{1} << level) <= blocks; ++level) {
    const std::size_t half = std::size_t{1} << (level - 1);
    highest_[level].resize(blocks + 1 - 2 * half);
    for (std::size_t b = 0; b + 2 * half <= blocks; ++b)
      highest_[level][b] = std::max(highest_[level - 1][b], highest_[level - 1][b + half]);
  }
}

MEMSCHED_FUNCTION bytes played_stages::highest_of(std::span<const bytes> some) {
  bytes highest = 0;
  for (bytes x : some) highest = std::max(highest, x);
  return highest;
}

MEMSCHED_FUNCTION bytes played_stages::highest(index_t from, index_t to) const {
  const auto high = during();
  const std::size_t first = (from + block - 1) / block, last = to / block;  // whole blocks
  if (from >= to) return 0;
  if (first >= last) return highest_of(high.subspan(from, to - from));
  const auto level = static_cast<std::size_t>(std::bit_width(last - first) - 1);
  const bytes whole = std::max(highest_[level][first], highest_[level][last - (std::size_t{1} << level)]);
  const bytes before = highest_of(high.subspan(from, first * block - from));
  return std::max({before, whole, highest_of(high.subspan(last * block, to - last * block))});
}

MEMSCHED_FUNCTION const played_stages::event* played_stages::next_event(tensor_id t, index_t at) const {
  const auto list = events_[t];
  const auto next = std::lower_bound(list.begin(), list.end(), at, [](const event& e, index_t i) { return e.at < i; });
  return list.data() + (next - list.begin());
}

MEMSCHED_FUNCTION double played_stages::over_with(std::span<const op_id> added, index_t stage) {
  added_.clear(), removed_ = none;
  index_t at = stage_start_[stage];
  for (op_id op : added) {
    while (at < stage_start_[stage + 1] && before(run()[at], op)) ++at;
    added_.push_back({op, at});
  }
  for (const insertion& i : added_) touch(i.op, i.at);
  return over_changed();
}

MEMSCHED_FUNCTION double played_stages::over_without(index_t at) {
  added_.clear(), removed_ = at;
  touch(run()[at], at);
  return over_changed();
}

/// Events of op's storages come or go at `at`: the executions of the events before may free, keep or overwrite others, or a
/// graph input leave at the start.
MEMSCHED_FUNCTION void played_stages::touch(op_id op, index_t at) {
  const auto touch_storage = [&](tensor_id t) {
    touched_[t] = 1;
    if (const event* next = next_event(t, at); next != events_[t].data()) changed_.push_back(next[-1].at);
    else if (p_.producer(t) == none) from_start_.push_back(t);
  };
  for (tensor_id t : table_.reads(op)) touch_storage(t);
  for (tensor_id t : table_.creates(op)) touch_storage(t);
}

/// Whether t is used again after some execution before it is made anew: by insertions from `added` on and executions from
/// `at` on.
MEMSCHED_FUNCTION bool played_stages::used_behind(tensor_id t, index_t at, std::size_t added) const {
  const event* next = next_event(t, at);
  if (!is_end(t, next) && next->at == removed_) ++next;
  const index_t before = position(t, next);
  if (touched_[t])
    for (; added < added_.size() && added_[added].at <= before; ++added) {
      const auto has = [&](std::span<const tensor_id> list) { return std::find(list.begin(), list.end(), t) != list.end(); };
      if (has(table_.creates(added_[added].op))) return false;
      if (has(table_.reads(added_[added].op))) return true;
    }
  return alive_before(t, next);
}

/// The effect of an execution of op, before those that `used_behind` looks at.
MEMSCHED_FUNCTION detail::firing_effect played_stages::effect(op_id op, index_t at, std::size_t added) const {
  detail::firing_effect e{.produced = player_.produced(op), .workspace = table_.workspace(op)};
  for (tensor_id t : table_.creates(op))
    if (used_behind(t, at, added)) e.kept += table_.created(op, t);
  for (tensor_id t : table_.reads(op)) {
    if (used_behind(t, at, added)) continue;
    e.freed += p_.size(t);
    e.overwritten += spared(op, t);
  }
  return e;
}

/// Bytes over the budget in [from, to) with `shift` bytes more in memory.
MEMSCHED_FUNCTION double played_stages::shifted_over(index_t from, index_t to, delta shift) const {
  if (shift == 0) return over(from, to);
  const auto high = during();
  const delta limit = static_cast<delta>(std::min(budget_, base::max_total)) - shift;
  double sum = 0;
  for (index_t i = from; i < to; ++i) sum += static_cast<double>(std::max<delta>(0, static_cast<delta>(high[i]) - limit));
  return sum;
}

/// Plays only executions with another effect. Between two of them all bytes shift by the same.
MEMSCHED_FUNCTION double played_stages::over_changed() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  if (removed_ != none) changed_.insert(std::upper_bound(changed_.begin(), changed_.end(), removed_), removed_);
  const auto all = run();
  const auto live = player_.live();
  const auto n = static_cast<index_t>(all.size());
  double sum = 0;
  delta shift = 0;
  for (tensor_id t : from_start_)
    shift += (delta{used_behind(t, 0, 0)} - delta{alive(t, 0)}) * static_cast<delta>(p_.size(t));
  index_t done = 0;
  const auto pass = [&](index_t to) { sum += shifted_over(done, to, shift), done = to; };
  const auto execute = [&](op_id op, const detail::firing_effect& e) {
    const bytes before = live[done] + static_cast<bytes>(shift);  // modulo 2^64, as `shift` may be negative
    const detail::footprint f = fire(rule(op), before, e);
    if (f.during > budget_) sum += static_cast<double>(f.during - budget_);
    return f.after;
  };
  std::size_t next = 0;
  const auto insert_up_to = [&](index_t at) {
    for (; next < added_.size() && added_[next].at <= at; ++next) {
      pass(added_[next].at);
      const bytes after = execute(added_[next].op, effect(added_[next].op, done, next + 1));
      shift = static_cast<delta>(after - live[done]);
    }
  };
  for (index_t at : changed_) {
    insert_up_to(at);
    pass(at);
    const bytes after =
        at == removed_ ? live[at] + static_cast<bytes>(shift) : execute(all[at], effect(all[at], at + 1, next));
    shift = static_cast<delta>(after - live[at + 1]);
    done = at + 1;
  }
  insert_up_to(n);
  pass(n);

  const auto forget = [&](op_id op) {
    for (tensor_id t : table_.reads(op)) touched_[t] = 0;
    for (tensor_id t : table_.creates(op)) touched_[t] = 0;
  };
  for (const insertion& i : added_) forget(i.op);
  if (removed_ != none) forget(all[removed_]);
  changed_.clear(), from_start_.clear();
  return sum;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
