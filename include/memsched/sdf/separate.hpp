// The smallest sum of separate buffers: a search over how much room each channel has.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/sdf/graph.hpp>
#include <memsched/sdf/loops.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// A schedule, and bounds of the sum of separate buffers.
struct separate_schedule {
  loops schedule;
  bytes lower_bound = 0;  ///< no schedule takes less if each channel has memory of its own, with the largest workspace
};

/// A schedule with the smallest sum of separate buffers, and a bound. Each channel has room for its least fill at first, and
/// every actor that has tokens and room fires. If that completes, nothing takes less. If it stops, some actors
/// wait for each other, and one of the channels among them needs more room: a best-first search over which (Geilen, Basten,
/// Stuijk, "Minimising buffer requirements of synchronous dataflow graphs with model checking", 2005, ask the same
/// question).
///
/// Iterations follow each other: with the same room, a run that fires each actor more often completes an iteration when
/// its firings beyond the repetitions are left out, so that the answer is that of any number of iterations, and of infinite
/// runs. The bound holds whatever limit ends the search; a limit on states counts runs. O(firings) for each.
MEMSCHED_FUNCTION separate_schedule least_buffers(const graph& g, firing rule, search& context, bytes iterations = 1);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/sdf/bounds.hpp>
#include <memsched/sdf/fold.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

/// Runs an iteration in which channel c has room for `room()[c]` tokens: every actor that has tokens and room fires. Room is to
/// the actor that fills a channel as tokens are to the one that empties it, so that the order of trying does not matter
/// (Lee and Messerschmitt): it completes, or stops with the most firings of each actor that any order reaches.
class bounded_run {
 public:
  static constexpr bytes unlimited = ~bytes{0};

  explicit bounded_run(const graph& g) : g_(&g) {
    std::vector<std::pair<index_t, index_t>> in, out;
    for (index_t i = 0; i < g.channels().size(); ++i) {
      if (g.channels()[i].from == g.channels()[i].to) continue;
      in.emplace_back(g.channels()[i].to, i);
      out.emplace_back(g.channels()[i].from, i);
    }
    in_ = adjacency::from_pairs(g.actors(), in);
    out_ = adjacency::from_pairs(g.actors(), out);
    visited_.assign(g.actors(), 0);
  }

  /// Starts an iteration.
  void start(std::vector<bytes> room) {
    room_ = std::move(room);
    left_ = g_->repetitions();
    tokens_.clear();
    for (const channel& c : g_->channels()) tokens_.push_back(c.tokens);
    queued_.assign(g_->actors(), true);
    queue_.clear();
    for (index_t a = static_cast<index_t>(g_->actors()); a-- > 0;) queue_.push_back(a);
    firings_left_ = g_->actors();
  }
  const std::vector<bytes>& room() const { return room_; }
  /// Gives a channel more room, for a run to go on.
  void widen(index_t c, bytes room) {
    room_[c] = room;
    wake(g_->channels()[c].from);
  }
  /// Calls fired(actor, times) for each firing. Returns whether all have fired.
  template <class F>
  bool run(F&& fired) {
    while (!queue_.empty()) {
      const index_t a = queue_.back();
      queue_.pop_back();
      queued_[a] = false;
      bytes times = left_[a];
      for (index_t i : in_[a]) times = std::min(times, tokens_[i] / g_->channels()[i].consumed);
      for (index_t i : out_[a])
        if (room_[i] != unlimited) times = std::min(times, (room_[i] - tokens_[i]) / g_->channels()[i].produced);
      if (times == 0) continue;
      fired(a, times);
      if ((left_[a] -= times) == 0) --firings_left_;
      for (index_t i : in_[a]) tokens_[i] -= times * g_->channels()[i].consumed, wake(g_->channels()[i].from);
      for (index_t i : out_[a]) tokens_[i] += times * g_->channels()[i].produced, wake(g_->channels()[i].to);
    }
    return firings_left_ == 0;
  }

  /// A channel that is to have room for at least `room` tokens.
  struct lack {
    index_t channel;
    bytes room;
  };
  /// Of a run that stopped: the channels of a cycle of actors, each of which waits for the next, that lack room. Those for
  /// which `may(lack)` says no count as if they lacked tokens. Every completing run with at least this room has more on one of
  /// them, at least as much as is returned here: take the first firing of an actor of the cycle beyond those made here. The
  /// next of the cycle has fired no more often than here, so that tokens that lack here lack then; so it is room that lacked
  /// here, and the channel holds then as much as is returned here, or more.
  template <class May>
  std::vector<lack> cycle(May&& may) {
    index_t a = 0;
    while (left_[a] == 0) ++a;
    std::vector<index_t> path;
    std::vector<lack> reasons;  // of each step; channel none if it is tokens
    ++round_;
    while (visited_[a] != round_) {
      visited_[a] = round_;
      path.push_back(a);
      reasons.push_back({none, 0});
      index_t next = none;
      bytes most = 0;
      for (index_t i : in_[a])
        if (tokens_[i] < g_->channels()[i].consumed) next = g_->channels()[i].from;
      if (next == none)
        for (index_t i : out_[a]) {
          const channel& c = g_->channels()[i];
          if (room_[i] == unlimited || room_[i] - tokens_[i] >= c.produced) continue;
          const lack l{i, tokens_[i] + c.produced};
          if (!may(l)) {
            next = c.to;
            reasons.back() = {none, 0};
            break;
          }
          const bytes cost = (l.room - room_[i]) * c.size;
          if (cost > most || next == none) most = cost, next = c.to, reasons.back() = l;
        }
      a = next;
    }
    const auto first = std::find(path.begin(), path.end(), a) - path.begin();
    std::vector<lack> lacks(reasons.begin() + first, reasons.end());
    std::erase_if(lacks, [](const lack& l) { return l.channel == none; });
    return lacks;
  }

 private:
  void wake(index_t a) {
    if (!queued_[a] && left_[a] > 0) queued_[a] = true, queue_.push_back(a);
  }

  const graph* g_;
  adjacency in_, out_;
  std::vector<bytes> room_, tokens_, left_;
  std::vector<index_t> queue_;
  std::vector<bool> queued_;
  std::size_t firings_left_ = 0;  // actors that have some
  std::vector<std::uint64_t> visited_;
  std::uint64_t round_ = 0;
};

/// Best first over how much room channels have, from the least of each on.
class room_search {
 public:
  room_search(const graph& g, firing rule, search& context)
      : g_(g), rule_(rule), context_(context), bound_(separate_bound(g, rule)), run_(g) {}

  separate_schedule find(bytes iterations) {
    node root;
    for (const channel& c : g_.channels()) {
      root.room.push_back(c.size == 0 ? bounded_run::unlimited : least_fill(c, rule_));
      root.most.push_back(bounded_run::unlimited);
    }
    best_ = root.room;
    if (!look(root)) {
      dive(root.room);
      search_from(std::move(root));
    }
    return {written_out(iterations), bound_};
  }

 private:
  /// All that completes with at least `room`, and less than `most` if that is set.
  struct node {
    std::vector<bytes> room, most;
    bytes cost = 0, bound = 0;  // above that of the root
    std::uint64_t number = 0;
    bool operator<(const node& other) const {
      return std::tie(bound, cost, number) > std::tie(other.bound, other.cost, other.number);
    }
  };
  using lack = bounded_run::lack;

  bytes price(const lack& l, const std::vector<bytes>& room) const {
    return (l.room - room[l.channel]) * g_.channels()[l.channel].size;
  }
  static auto within(const std::vector<bytes>& most) {
    return [&most](const lack& l) { return l.room < most[l.channel]; };
  }
  static void ignore(index_t, bytes) {}

  /// Sets the bound of x, and whether it completes. Some channel of a cycle needs more room; with all that it lacks given to
  /// that cycle, the run goes on to another. So the cheapest lacks of cycles without a common channel add up.
  bool look(node& x) {
    run_.start(x.room);
    x.bound = x.cost;
    bool complete = run_.run(ignore);
    if (complete) return true;
    while (!complete) {
      const std::vector<lack> lacks = run_.cycle(within(x.most));
      if (lacks.empty()) {
        x.bound = hopeless;
        return false;
      }
      bytes least = hopeless;
      for (const lack& l : lacks) least = std::min(least, price(l, x.room));
      for (const lack& l : lacks) run_.widen(l.channel, bounded_run::unlimited);
      x.bound += least;
      complete = run_.run(ignore);
    }
    return false;
  }

  /// A first answer: when a run stops, the channel of the cycle whose room lets the most firings follow for its price.
  void dive(std::vector<bytes> room) {
    const auto anything = [](const lack&) { return true; };
    bounded_run now(g_);
    now.start(room);
    while (!now.run(ignore)) {
      const std::vector<lack> lacks = now.cycle(anything);
      const lack* chosen = &lacks.front();
      double most = -1;
      for (const lack& l : lacks) {
        if (lacks.size() == 1 || !context_.count_state()) break;
        bounded_run next = now;
        next.widen(l.channel, l.room);
        double fired = 0;
        const bool complete = next.run([&](index_t, bytes times) { fired += static_cast<double>(times); });
        const double value = (complete ? 1e30 : fired) / static_cast<double>(price(l, now.room()));
        if (value > most) most = value, chosen = &l;
      }
      now.widen(chosen->channel, chosen->room);
    }
    best_ = now.room();
    for (index_t i = 0; i < best_.size(); ++i)  // less room for each by itself, as long as it completes
      for (bytes low = room[i]; low < best_[i] && context_.count_state();) {
        std::vector<bytes> less = best_;
        less[i] = low + (best_[i] - low) / 2;
        run_.start(less);
        if (run_.run(ignore)) best_ = std::move(less);
        else low = less[i] + 1;
      }
    for (index_t i = 0; i < best_.size(); ++i)
      if (best_[i] != bounded_run::unlimited) best_cost_ += (best_[i] - room[i]) * g_.channels()[i].size;
  }

  /// Children of a node: of the cycle where it stops, the first channel with the room that it lacks; or less there, and the
  /// second with it; and so on. They have all that completes between them, and nothing twice.
  void search_from(node root) {
    const bytes start = bound_;
    std::priority_queue<node> open;
    const std::uint64_t node_bytes = 2 * sizeof(bytes) * g_.channels().size() + sizeof(node);
    std::uint64_t made = 0;
    open.push(std::move(root));
    while (!open.empty() && open.top().bound < best_cost_) {
      bound_ = start + open.top().bound;
      const node x = open.top();
      if (!context_.fits(node_bytes * open.size())) return;
      run_.start(x.room);
      run_.run(ignore);
      const std::vector<lack> lacks = run_.cycle(within(x.most));
      std::vector<node> children;
      node child = x;
      for (const lack& l : lacks) {
        if (!context_.count_state()) return;
        const bytes most = child.most[l.channel];
        child.room[l.channel] = l.room;
        child.cost = x.cost + price(l, x.room);
        child.number = ++made;
        if (look(child)) {
          if (child.cost < best_cost_) best_cost_ = child.cost, best_ = child.room;
        } else if (child.bound < best_cost_) {
          children.push_back(child);
        }
        child.room[l.channel] = x.room[l.channel];
        child.most[l.channel] = std::min(most, l.room);
      }
      open.pop();
      for (node& c : children) open.push(std::move(c));
    }
    bound_ = start + best_cost_;
  }

  loops written_out(bytes iterations) {
    std::map<std::pair<index_t, bytes>, index_t> symbols;
    std::vector<index_t> sequence;
    run_.start(best_);
    run_.run([&](index_t a, bytes times) {
      sequence.push_back(symbols.try_emplace({a, times}, static_cast<index_t>(symbols.size())).first->second);
    });
    std::vector<loops> bodies(symbols.size());
    for (const auto& [what, symbol] : symbols) bodies[symbol].fire(what.first, what.second);
    loops all;
    all.append(fold(sequence, bodies), iterations);
    return all;
  }

  static constexpr bytes hopeless = ~bytes{0};

  const graph& g_;
  firing rule_;
  search& context_;
  bytes bound_, best_cost_ = 0;  // all of it; above that of the root
  std::vector<bytes> best_;
  bounded_run run_;
};

}  // namespace detail

MEMSCHED_FUNCTION separate_schedule least_buffers(const graph& g, firing rule, search& context, bytes iterations) {
  return detail::room_search(g, rule, context).find(iterations);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
