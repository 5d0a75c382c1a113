// Algorithm 2 of HMCOS: the search over one level of a hierarchical graph, and that of a group inside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/bucket_queue.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/hierarchical/group_library.hpp>
#include <memsched/search/downset_moves.hpp>
#include <memsched/search/downsets.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Algorithm 2 on one level: every order of the units, states with the same units after them merged.
///
/// With safe moves, a state is left towards targets only, by the rules of `best_first`: a unit that may free memory, or
/// a release, each with the units of no drop that it waits for; and towards one alone if that ends no higher than it
/// starts and lifts no peak. A unit that shares a release with a group counts as a target, since the group's peak may
/// depend on whether it has run.
class level_search {
 public:
  /// `group` says of each active node which group it runs with; `library` may be null if that is none everywhere.
  level_search(const schedule_graph& h, const std::vector<index_t>& group, group_library* library,
               const hierarchical& policy, search& context)
      : h_(h),
        group_(group),
        library_(library),
        policy_(policy),
        context_(context),
        units_(make_units(h, group)),
        table_(units_.members.size()),
        set_(units_.members.size()) {
    std::vector<node_id> listed(units(), none);  // the latest release that has the unit in its list
    for (node_id r = static_cast<node_id>(h.active); r < h.size(); ++r) {
      for (node_id v : h.preds[r])
        if (std::exchange(listed[units_.unit[v]], r) != r) readers_.push(units_.unit[v]);
      readers_.close();
    }
    zero_drop_.assign(units(), false);
    seen_.assign(units() + readers_.size(), 0);
    if (!policy.by_levels && policy.safe_moves) find_zero_drop();
  }

  std::size_t units() const { return units_.members.size(); }
  /// After `run`: whether nothing is left to look at.
  bool exhausted() const { return open_.empty(); }

  /// The order with the lowest peak, or any one that peaks at most at `target`; nothing if all exceed `cutoff` or
  /// if a limit was met.
  std::optional<std::vector<node_id>> run(delta target, delta cutoff) {
    cutoff_ = cutoff;
    start(target);
    while (!open_.empty() && !context_.stopped()) {
      const delta key = open_.key();
      const index_t at = open_.pop();
      if (entries_[at].closed || (!policy_.by_levels && entries_[at].cost != key)) continue;
      entries_[at].closed = true;
      if (!context_.count_state() || !context_.fits(bytes_held())) return std::nullopt;
      if (entries_[at].depth == units()) return rebuild(at);
      expand(at);
    }
    return std::nullopt;
  }

 private:
  struct entry {
    delta cost, level;
    index_t parent, target, order, depth;
    bool closed = false;
  };
  struct move {
    index_t target;
    delta cost, level;
    index_t order;
    std::size_t begin, end;  // of its units in paths_
  };
  /// The target that stands for all units that are left. Targets below it: units, then releases.
  static constexpr index_t rest = none - 1;

  void find_zero_drop() {
    for (index_t u = 0; u < units(); ++u) {
      const node_id v = units_.members[u].front();
      zero_drop_[u] = !is_group(u) && h_.cost[v].peak == h_.cost[v].impact && h_.cost[v].impact >= 0;
    }
    for (std::size_t r = h_.active; r < h_.size(); ++r) {
      const auto readers = h_.preds[r];
      const bool matters = std::any_of(readers.begin(), readers.end(),
                                       [&](node_id v) { return group_[v] != none || !h_.credits[v].empty(); });
      if (!matters) continue;
      for (node_id v : readers) zero_drop_[units_.unit[v]] = false;
    }
  }

  void start(delta target) {
    if (target > cutoff_) return;
    const delta base = static_cast<delta>(h_.base);
    table_.insert(set_);
    entries_.push_back({std::max(target, base), base, none, none, none, 0});
    bit_set ready(units());
    for (index_t u = 0; u < units(); ++u)
      if (units_.preds[u].empty()) ready.insert(u);
    const const_bit_row row = ready;
    ready_.insert(ready_.end(), row.begin(), row.end());
    push(0);
  }

  void push(index_t at) { open_.push(policy_.by_levels ? static_cast<delta>(entries_[at].depth) : entries_[at].cost, at); }

  /// Looks at the clock each some thousand units of paths or before them: a state with many moves takes its time.
  bool on_time(std::size_t units) {
    constexpr std::size_t many = 1 << 12;
    if ((looked_at_ += 1 + units) < many) return true;
    looked_at_ = 0;
    return context_.keep_going();
  }

  bool is_group(index_t unit) const { return group_[units_.members[unit].front()] != none; }
  /// Whether a release waits for this unit alone.
  bool last(node_id release, index_t unit) const {
    for (index_t u : readers_[release - h_.active])
      if (u != unit && !set_[u]) return false;
    return true;
  }

  /// ScheduleVertex.
  std::optional<unit_way> way(index_t unit, delta level, delta cost) {
    const node_id v = units_.members[unit].front();
    if (is_group(unit)) {
      const auto shared = library_->shared(group_[v]);
      context_bits_.resize(shared.size());
      for (std::size_t i = 0; i < shared.size(); ++i) context_bits_[i] = last(shared[i], unit);
      return library_->way(group_[v], context_bits_, level, cost, cutoff_);
    }
    return unit_way{effect_of(h_, v, [this, unit](node_id release) { return last(release, unit); })};
  }

  void expand(index_t at) {
    const entry e = entries_[at];
    const auto row = table_[at];
    std::copy(row.begin(), row.end(), bit_row(set_).begin());
    moves_.clear();
    paths_.clear();
    find_targets(at);
    bool safe = false, any = false;
    for (const bool groups : {false, true})  // groups last: to schedule one takes time
      for (std::size_t i = 0; i < targets_.size() && !safe; ++i)
        if (groups == (targets_[i] < units() && is_group(targets_[i])) && collect(targets_[i])) {
          any = true;
          safe = try_move(e, targets_[i]);
          if (!on_time(paths_.size() - path_begin_)) return;
        }
    if (!any && e.depth < units()) collect(rest), try_move(e, rest);
    // Best last, so that it is on top of its bucket: the lowest end first, then the lowest way.
    std::sort(moves_.begin(), moves_.end(), [](const move& a, const move& b) {
      return a.level != b.level ? a.level > b.level : a.cost != b.cost ? a.cost > b.cost : a.target > b.target;
    });
    for (const move& m : moves_) {
      if (!on_time(m.end - m.begin)) return;
      add(at, m);
    }
  }

  /// The units that may run next, given the zero-drop units that wait: ready units, and those that follow zero-drop ones.
  void find_targets(index_t at) {
    const std::size_t width = words_for(units());
    targets_.clear();
    ++look_;
    const auto see = [&](index_t i) { return std::exchange(seen_[i], look_) != look_; };
    for_each_bit(const_bit_row{ready_.data() + at * width, width}, [&](std::size_t i) {
      see(static_cast<index_t>(i));
      targets_.push_back(static_cast<index_t>(i));
    });
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const index_t u = targets_[i];
      if (u >= units() || !zero_drop_[u]) continue;
      for (index_t next : units_.succs[u])
        if (see(next)) targets_.push_back(next);
      for (node_id r : h_.succs[units_.members[u].front()])
        if (const index_t target = static_cast<index_t>(units() + r - h_.active); h_.is_release(r) && see(target))
          targets_.push_back(target);
    }
    std::erase_if(targets_, [&](index_t t) { return t < units() && zero_drop_[t]; });
    std::sort(targets_.begin(), targets_.end());
  }

  /// Appends to paths_ the units that must run for a target, predecessors first; false if another target is among them.
  bool collect(index_t target) {
    const std::size_t begin = paths_.size();
    path_begin_ = begin;
    if (target == rest) {
      for (index_t u = 0; u < units(); ++u)
        if (!set_[u]) paths_.push_back(u);
      return true;
    }
    ++look_;
    const auto need = [&](std::span<const index_t> before) {
      for (index_t u : before) {
        if (set_[u] || std::exchange(seen_[u], look_) == look_) continue;
        if (!zero_drop_[u]) return false;
        paths_.push_back(u);
      }
      return true;
    };
    bool open = need(target < units() ? units_.preds[target] : readers_[target - units()]);
    for (std::size_t i = begin; open && i < paths_.size(); ++i) open = need(units_.preds[paths_[i]]);
    if (!open) return paths_.resize(begin), false;
    // Zero-drop units are numbered topologically.
    std::sort(paths_.begin() + static_cast<std::ptrdiff_t>(begin), paths_.end());
    if (target < units()) paths_.push_back(target);
    return true;
  }

  /// Makes a move of the path just collected, unless it exceeds the cutoff. Returns true if it is safe (see `is_safe`) and
  /// lifts no peak: then it stands for all.
  bool try_move(const entry& e, index_t target) {
    move m{target, e.cost, e.level, none, path_begin_, paths_.size()};
    bool fits = true;
    std::size_t ran = m.begin;
    released_.clear();
    for (; fits && ran < m.end; ++ran) {
      const index_t unit = paths_[ran];
      const auto w = way(unit, m.level, m.cost);
      if (w) {
        m.cost = std::max(m.cost, m.level + w->peak);
        m.level += w->impact;
        m.order = w->order;
        if (unit != target) note_released(unit);
      }
      fits = w && m.cost <= cutoff_;
      set_.insert(unit);
    }
    for (std::size_t i = m.begin; i < ran; ++i) set_.erase(paths_[i]);
    if (!fits) return false;
    const auto releases_wait = [&] {
      return std::all_of(released_.begin(), released_.end(), [&](node_id r) { return waits_for_path(r, m); });
    };
    const bool safe =
        policy_.safe_moves && !policy_.by_levels && m.cost == e.cost && is_safe(e.level, m.level, releases_wait);
    if (safe) moves_.clear();
    moves_.push_back(m);
    return safe;
  }

  /// Notes the releases that a zero-drop unit which is about to run lets run. (Those of a target wait for all its path.)
  void note_released(index_t unit) {
    for (node_id r : h_.succs[units_.members[unit].front()])
      if (h_.is_release(r) && h_.cost[r].impact < 0 && last(r, unit)) released_.push_back(r);
  }
  /// Whether a release, which units of a move's path alone let run, waits for all of them.
  bool waits_for_path(node_id release, const move& m) {
    if (m.target < units()) return false;  // not for the target
    const bool open = collect(static_cast<index_t>(units() + release - h_.active));
    const std::size_t needed = paths_.size() - m.end;
    paths_.resize(m.end);
    return open && needed == m.end - m.begin;
  }

  void add(index_t from, const move& m) {
    for (std::size_t i = m.begin; i < m.end; ++i) set_.insert(paths_[i]);
    const auto [at, fresh] = table_.insert(set_);
    const auto depth = entries_[from].depth + static_cast<index_t>(m.end - m.begin);
    const entry e{m.cost, m.level, from, m.target, m.order, depth};
    if (fresh) {
      entries_.push_back(e);
      add_ready(from, m);
      push(at);
    } else if (!entries_[at].closed && e.cost < entries_[at].cost) {
      entries_[at] = e;
      push(at);
    }
    for (std::size_t i = m.begin; i < m.end; ++i) set_.erase(paths_[i]);
  }

  void add_ready(index_t from, const move& m) {
    const std::size_t width = words_for(units()), begin = ready_.size();
    ready_.resize(begin + width);
    std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(from * width), width,
                ready_.begin() + static_cast<std::ptrdiff_t>(begin));
    const bit_row row{ready_.data() + begin, width};
    for (std::size_t i = m.begin; i < m.end; ++i)
      for (index_t next : units_.succs[paths_[i]]) {
        const auto before = units_.preds[next];
        looked_at_ += before.size();
        if (std::all_of(before.begin(), before.end(), [&](index_t u) { return set_[u]; })) set_bit(row, next);
      }
    for (std::size_t i = m.begin; i < m.end; ++i) reset_bit(row, paths_[i]);
  }

  std::vector<node_id> rebuild(index_t at) {
    std::vector<index_t> states;
    for (; entries_[at].parent != none; at = entries_[at].parent) states.push_back(at);
    std::vector<node_id> order;
    order.reserve(h_.active);
    for (std::size_t i = states.size(); i-- > 0;) {
      const entry& e = entries_[states[i]];
      const auto row = table_[e.parent];
      std::copy(row.begin(), row.end(), bit_row(set_).begin());
      paths_.clear();
      collect(e.target);
      for (index_t unit : paths_) {
        if (!is_group(unit)) {
          order.push_back(units_.members[unit].front());
        } else {
          const auto& inside = library_->order(e.order);
          order.insert(order.end(), inside.begin(), inside.end());
        }
      }
    }
    return order;
  }

  std::uint64_t bytes_held() const {
    return table_.bytes_held() + entries_.capacity() * sizeof(entry) + ready_.capacity() * sizeof(bit_word) +
           open_.bytes_held() + (library_ ? library_->bytes_held() : 0);
  }

  const schedule_graph& h_;
  const std::vector<index_t>& group_;
  group_library* library_;
  const hierarchical& policy_;
  search& context_;
  const hierarchy_units units_;
  list_of<index_t> readers_;  // units, per release
  downset_table table_;
  std::vector<entry> entries_;
  std::vector<bit_word> ready_;  // a row per entry
  bucket_queue<index_t> open_;
  bit_set set_;
  std::vector<bool> zero_drop_;
  std::vector<index_t> targets_, paths_;
  std::vector<node_id> released_;  // on the path of the move under way, before its target
  std::vector<index_t> seen_;      // the look at which a unit or release was last seen
  index_t look_ = 0;
  std::size_t path_begin_ = 0;
  std::vector<move> moves_;
  std::vector<bool> context_bits_;
  std::size_t looked_at_ = 0;
  delta cutoff_ = 0;
};

inline void group_library::solve(answer& a, delta room) {
  if (room <= a.refused || context_.stopped()) return;
  if (a.target < 0) {
    const auto go_on = [&] { return policy_.bounds && context_.control().count_cut(); };
    a.target = static_cast<delta>(best_cut_bound(a.part, a.simple_order, 0, go_on).bound);
  }
  a.best = a.simple;
  a.best_order = a.simple_order;
  if (a.simple.peak <= a.target) {
    a.solved = true;
    return;
  }
  const std::vector<index_t> no_groups(a.part.active, none);
  level_search inside(a.part, no_groups, nullptr, policy_, context_);
  const auto found = context_.control().with_states(policy_.group_states, [&] { return inside.run(a.target, room); });
  if (context_.stopped()) return;
  a.solved = found || !inside.exhausted();
  if (!a.solved) {
    a.refused = room;
    return;
  }
  const std::vector<node_id> order = found ? *found : beam{}(a.part, context_).order;
  order_walk w(a.part);
  for (node_id v : order) w.fire(v);
  if (w.peak() >= a.simple.peak) return;
  a.best = {{w.peak(), w.level()}};
  a.best_order = order;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
