// HMCOS: iterative scheduling of hierarchical graphs (Wang et al., DAC 2022, section 3.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/bucket_queue.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/subgraph.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/search/downsets.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/hierarchy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Schedules a hierarchical graph, takes the groups apart that have to do with what is live at the peak, and starts
/// again, until no group is left there or a bound proves the peak. Never worse than `rpo`. Without groups it is exact,
/// unless a search is cut; with them it claims the bound of minimum cuts, and no more.
struct hierarchical {
  hierarchy_level level = hierarchy_level::groups;
  bool adaptive_budget = true;   ///< optimization 1: no peak above the last iteration's
  bool simple_schedules = true;  ///< optimization 2: a group takes its reverse post-order where that lifts no peak
  bool memoize = true;           ///< optimization 3: the schedules of a group are kept, by context
  bool by_levels = false;        ///< Algorithm 2 as printed: all states of one size after another; else the lowest peak
                                 ///< first
  bool safe_moves = true;        ///< what frees memory under the peak so far runs at once; what frees none waits for who
                                 ///< needs it (not with `by_levels`)
  bool readers = true;           ///< where no group defines a value live at the peak, take those apart that read one
  bool bounds = true;            ///< minimum cuts, where searches start and iterations may stop
  std::size_t max_cell = 64;     ///< sequences in a cell that the library finds
  std::uint64_t group_states = 1 << 15;  ///< for one schedule of one group; then it takes what `beam` finds
  std::uint64_t round_states = 1 << 19;  ///< for one round; then what `beam` finds, or the order so far, is the answer
  std::size_t max_units = 1 << 14;       ///< where groups and free sequences are more, nothing is searched

  /// One round of Algorithm 1.
  struct iteration {
    bytes peak = 0;
    std::size_t sequences = 0;  ///< of the graph
    std::size_t freed = 0;      ///< of groups that were taken apart before this round
    std::uint64_t states = 0;   ///< looked at in this round
  };

  solution operator()(const schedule_graph& g, search& context) const {
    return run(g, context, [](const iteration&) {});
  }
  /// Calls `each` after every round.
  solution run(const schedule_graph& g, search& context, function_ref<void(const iteration&)> each) const;
};

inline constexpr hierarchical hmcos{};

namespace detail {

inline constexpr delta unlimited = std::numeric_limits<delta>::max();

/// One way to run a unit at one go, in bytes relative to the level before it.
struct unit_way : node_cost {
  index_t order = none;  ///< of a group: where its order is kept
};

/// The schedules of groups. A group's context says which of the values that others read too are used there for the last
/// time; nothing else outside matters to it.
class group_library {
 public:
  group_library(const hierarchical_graph& h, const hierarchical& policy, search& context)
      : h_(h), policy_(policy), context_(context), memo_(h.groups.size()), local_(h.graph.size(), none) {
    for (index_t group = 0; group < h.groups.size(); ++group) {
      std::vector<node_id> shared, inner;
      for (node_id v : h.groups[group])
        for (node_id r : h.graph.succs[v])
          if (h.graph.is_release(r)) (within(r, group) ? inner : shared).push_back(r);
      for (auto [from, to] : {std::pair{&shared, &shared_}, std::pair{&inner, &inner_}}) {
        std::sort(from->begin(), from->end());
        from->erase(std::unique(from->begin(), from->end()), from->end());
        for (node_id r : *from) to->push(r);
        to->close();
      }
    }
  }

  /// Releases that wait for nodes of the group and for others; ascending.
  std::span<const node_id> shared(index_t group) const { return shared_[group]; }
  const std::vector<node_id>& order(index_t place) const { return orders_[place]; }
  /// About, for the memory limit.
  std::uint64_t bytes_held() const { return held_; }

  /// The best way to run a group from `level` on; nothing where each exceeds `ceiling`. `last` tells of each shared
  /// release whether it waits for the group alone. Up to `cost`, no way is better than another.
  std::optional<unit_way> way(index_t group, const std::vector<bool>& last, delta level, delta cost, delta ceiling) {
    answer fresh;
    answer& a = policy_.memoize ? memo_[group][last] : fresh;
    if (a.part.size() == 0) prepare(a, group, last);
    if (policy_.simple_schedules && level + a.simple.peak <= cost) return keep(a, a.simple, a.simple_order);
    if (!a.solved) solve(a, policy_.adaptive_budget && ceiling != unlimited ? ceiling - level : unlimited);
    if (!a.solved) return std::nullopt;
    return keep(a, a.best, a.best_order);
  }

 private:
  struct answer {
    schedule_graph part;        // with the releases that run inside
    std::vector<node_id> members;  // part's node i is members[i]
    std::vector<node_id> simple_order, best_order;
    unit_way simple, best;
    delta floor = -1;    // no order of the part has a lower peak; not computed yet where negative
    bool solved = false;
    delta refused = -1;  // no order of the part has a peak as low as this
  };

  bool within(node_id release, index_t group) const {
    const auto readers = h_.graph.preds[release];
    return std::all_of(readers.begin(), readers.end(), [&](node_id v) { return h_.group[v] == group; });
  }

  void prepare(answer& a, index_t group, const std::vector<bool>& last) {
    a.members.assign(h_.groups[group].begin(), h_.groups[group].end());
    const auto releases = static_cast<std::ptrdiff_t>(a.members.size());
    a.members.insert(a.members.end(), inner_[group].begin(), inner_[group].end());
    for (std::size_t i = 0; i < last.size(); ++i)
      if (last[i]) a.members.push_back(shared_[group][i]);
    std::sort(a.members.begin() + releases, a.members.end());
    a.part = subgraph(h_.graph, a.members, 0, local_);
    a.part.roots.clear();
    for (node_id v = 0; v < a.part.active; ++v) {
      const auto next = a.part.succs[v];
      if (std::all_of(next.begin(), next.end(), [&](node_id s) { return a.part.is_release(s); })) a.part.roots.push_back(v);
    }
    if (policy_.memoize) held_ += a.part.size() * (sizeof(node_cost) + 6 * sizeof(std::size_t)) + 4 * a.part.preds.items();
    a.simple_order = rpo{}(a.part, context_).order;
    order_walk w(a.part);
    for (node_id v : a.simple_order) w.fire(v);
    a.simple = {{w.peak(), w.level()}};
  }

  void solve(answer& a, delta room);

  /// Hands out a way, its order kept in terms of the whole graph.
  unit_way keep(const answer& a, unit_way& way, const std::vector<node_id>& order) {
    if (way.order == none) {
      way.order = static_cast<index_t>(orders_.size());
      orders_.emplace_back();
      for (node_id v : order) orders_.back().push_back(a.members[v]);
      held_ += order.size() * sizeof(node_id);
    }
    return way;
  }

  const hierarchical_graph& h_;
  const hierarchical& policy_;
  search& context_;
  list_of<node_id> shared_, inner_;
  std::vector<std::map<std::vector<bool>, answer>> memo_;
  std::vector<std::vector<node_id>> orders_;
  std::uint64_t held_ = 0;
  std::vector<node_id> local_;
};

/// Algorithm 2 on one level: every order of the units, states with the same units behind them merged.
///
/// With safe moves, a state is left towards targets only, by the rules of `best_first`: a unit that may free memory, or
/// a release, each with the zero-drop units that it waits for; and towards one alone where that ends no higher than it
/// starts and lifts no peak. A unit that shares a release with a group counts as a target, since the group's peak may
/// depend on whether it has run.
class level_search {
 public:
  /// `group` says of each active node which group it runs with; `library` may be null where that is none everywhere.
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
    for (std::size_t r = h.active; r < h.size(); ++r) {
      for (node_id v : h.preds[r]) {
        const auto so_far = readers_.open();
        if (std::find(so_far.begin(), so_far.end(), units_.unit[v]) == so_far.end()) readers_.push(units_.unit[v]);
      }
      readers_.close();
    }
    zero_drop_.assign(units(), false);
    seen_.assign(units() + readers_.size(), 0);
    if (!policy.by_levels && policy.safe_moves) find_zero_drop();
  }

  std::size_t units() const { return units_.members.size(); }
  /// After `run`: whether nothing is left to look at.
  bool exhausted() const { return open_.empty(); }

  /// The order with the lowest peak, or any one that peaks at most at `floor`; nothing where all exceed `ceiling` or
  /// where a limit was met.
  std::optional<std::vector<node_id>> run(delta floor, delta ceiling) {
    ceiling_ = ceiling;
    start(floor);
    while (!open_.empty() && !context_.stopped()) {
      const delta key = open_.key();
      const index_t at = open_.pop();
      if (entries_[at].closed || (!policy_.by_levels && entries_[at].cost != key)) continue;
      entries_[at].closed = true;
      if (!context_.count_state() || !context_.fits(bytes_held()) || !on_time()) return std::nullopt;
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
      const bool matters = std::any_of(readers.begin(), readers.end(), [&](node_id v) {
        return group_[v] != none || !h_.credits[v].empty();
      });
      if (!matters) continue;
      for (node_id v : readers) zero_drop_[units_.unit[v]] = false;
    }
  }

  void start(delta floor) {
    if (floor > ceiling_) return;
    const delta base = static_cast<delta>(h_.base);
    table_.insert(set_);
    entries_.push_back({std::max(floor, base), base, none, none, none, 0});
    bit_set ready(units());
    for (index_t u = 0; u < units(); ++u)
      if (units_.preds[u].empty()) ready.insert(u);
    const const_bit_row row = ready;
    ready_.insert(ready_.end(), row.begin(), row.end());
    push(0);
  }

  void push(index_t at) {
    open_.push(policy_.by_levels ? static_cast<delta>(entries_[at].depth) : entries_[at].cost, at);
  }

  /// Looks at the clock now and then: a state with many moves takes its time.
  bool on_time() {
    constexpr std::size_t many = 1 << 12;
    if ((looked_at_ += moves_.size()) < many) return true;
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
      return library_->way(group_[v], context_bits_, level, cost, ceiling_);
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
        }
    if (!any && e.depth < units()) collect(rest), try_move(e, rest);
    // Best last, so that it is on top of its bucket: the lowest end first, then the lowest way.
    std::sort(moves_.begin(), moves_.end(), [](const move& a, const move& b) {
      return a.level != b.level ? a.level > b.level : a.cost != b.cost ? a.cost > b.cost : a.target > b.target;
    });
    for (const move& m : moves_) add(at, m);
  }

  /// What may be run next, given the zero-drop units that wait: ready units, and what follows on zero-drop ones.
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

  /// Appends to paths_ what has to run for a target, predecessors first; false where another target is among it.
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

  /// Makes a move of the path just collected, unless it exceeds the ceiling. True where it is safe (see `is_safe`) and lifts
  /// no peak: then it stands for all.
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
      fits = w && m.cost <= ceiling_;
      set_.insert(unit);
    }
    for (std::size_t i = m.begin; i < ran; ++i) set_.erase(paths_[i]);
    if (!fits) return false;
    const auto waits_for_all = [&](node_id r) { return waits_for_path(r, m); };
    const bool safe = policy_.safe_moves && !policy_.by_levels && m.cost == e.cost &&
                      is_safe(e.level, m.level, released_, waits_for_all);
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
  const unit_graph units_;
  list_of<index_t> readers_;  // units, per release
  downset_table table_;
  std::vector<entry> entries_;
  std::vector<bit_word> ready_;  // a row per entry
  bucket_queue<index_t> open_;
  bit_set set_;
  std::vector<bool> zero_drop_;
  std::vector<index_t> targets_, paths_;
  std::vector<node_id> released_;  // on the path of the move under way, before its target
  std::vector<index_t> seen_;  // the look at which a unit or release was last seen
  index_t look_ = 0;
  std::size_t path_begin_ = 0;
  std::vector<move> moves_;
  std::vector<bool> context_bits_;
  std::size_t looked_at_ = 0;
  delta ceiling_ = 0;
};

inline void group_library::solve(answer& a, delta room) {
  if (room <= a.refused || context_.stopped()) return;
  if (a.floor < 0) {
    const auto go_on = [&] { return policy_.bounds && context_.count_cut(); };
    a.floor = static_cast<delta>(best_cut_bound(a.part, a.simple_order, 0, go_on).bound);
  }
  a.best = a.simple;
  a.best_order = a.simple_order;
  if (a.simple.peak <= a.floor) {
    a.solved = true;
    return;
  }
  const std::vector<index_t> no_groups(a.part.active, none);
  level_search inside(a.part, no_groups, nullptr, policy_, context_);
  const auto found = context_.with_states(policy_.group_states, [&] { return inside.run(a.floor, room); });
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

/// Takes groups apart that have to do with values live at a peak of the order: values of nodes that have run while one
/// that needs them has not. First the groups that such values come from; where there is none, and `readers` says so,
/// those that need them. Returns how many sequences that frees.
inline std::size_t disassemble(const schedule_graph& h, const std::vector<node_id>& order, const list_of<node_id>& groups,
                               bool readers, std::vector<index_t>& group) {
  std::vector<delta> height;
  std::vector<std::size_t> position(h.active);
  order_walk w(h);
  for (node_id v : order) {
    position[v] = height.size();
    height.push_back(w.level() + w.effect(v).peak);
    w.fire(v);
  }
  std::vector<std::size_t> next_peak(order.size() + 1, order.size());
  for (std::size_t i = order.size(); i-- > 0;) next_peak[i] = height[i] == w.peak() ? i : next_peak[i + 1];

  std::size_t freed = 0;
  const auto free = [&](node_id v) {
    if (group[v] == none) return;
    const auto members = groups[group[v]];
    freed += members.size();
    for (node_id member : members) group[member] = none;
  };
  const auto live_at_peak = [&](node_id v) {
    std::size_t until = position[v];
    for (node_id s : h.succs[v])
      if (!h.is_release(s)) until = std::max(until, position[s]);
    return next_peak[position[v]] <= until;
  };
  for (node_id v = 0; v < h.active; ++v)
    if (group[v] != none && live_at_peak(v)) free(v);
  if (freed > 0 || !readers) return freed;
  for (node_id v = 0; v < h.active; ++v)
    if (live_at_peak(v))
      for (node_id s : h.succs[v])
        if (!h.is_release(s)) free(s);
  return freed;
}

}  // namespace detail

inline solution hierarchical::run(const schedule_graph& g, search& context,
                                  function_ref<void(const iteration&)> each) const {
  solution s = rpo{}(g, context);
  bytes best = peak_of(g, s.order);
  s.lower_bound = std::max(context.floor(), g.base);
  if (s.lower_bound >= best || !context.keep_going()) return s;

  const hierarchical_graph h = hierarchize(g, level, max_cell);
  std::vector<index_t> group = h.group;
  detail::group_library library(h, *this, context);
  const auto go_on = [&] { return context.count_cut(); };
  iteration round{.sequences = h.graph.active};
  for (delta ceiling = detail::unlimited;;) {
    const std::uint64_t states = context.stats.states;
    detail::level_search search_level(h.graph, group, &library, *this, context);
    context.stats.nodes = std::max<std::uint64_t>(context.stats.nodes, search_level.units());
    std::optional<std::vector<node_id>> found;
    if (search_level.units() <= max_units)
      found =
          context.with_states(round_states, [&] { return search_level.run(static_cast<delta>(s.lower_bound), ceiling); });
    const std::vector<node_id> order = found              ? *found
                                    : context.stopped() ? greedy{}(h.graph, context).order
                                                        : beam{}(h.graph, context).order;
    round.peak = peak_of(h.graph, order);
    if (!found && static_cast<delta>(round.peak) > ceiling) break;
    round.states = context.stats.states - states;
    if (round.peak < best) {
      best = round.peak;
      s.order.clear();
      for (node_id i : order) s.order.insert(s.order.end(), h.sequences[i].begin(), h.sequences[i].end());
    }
    const bool exact = found && search_level.units() == h.graph.active;
    if (exact) s.lower_bound = best;
    else if (bounds && search_level.units() <= max_units)
      s.lower_bound = best_cut_bound(h.graph, order, s.lower_bound, go_on).bound;
    each(round);
    context.report(best, s.lower_bound);
    if (s.lower_bound >= best || !found || context.stopped()) break;
    const std::size_t freed = detail::disassemble(h.graph, order, h.groups, readers, group);
    if (freed == 0) break;
    round.freed += freed;
    if (adaptive_budget) ceiling = static_cast<delta>(round.peak);
  }
  return s;
}

}  // namespace memsched
