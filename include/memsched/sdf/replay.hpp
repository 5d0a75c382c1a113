// The referee: the cost of a looped schedule, or the place where it lacks tokens. Shares nothing with schedulers.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/sdf/graph.hpp>
#include <memsched/sdf/loops.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// The cost of a schedule of whole iterations.
struct run {
  bytes iterations = 0;
  bytes peak = 0;            ///< bytes if all channels share one memory, with workspace
  std::vector<bytes> fills;  ///< per channel: the most tokens in it at once
  bytes separate = 0;  ///< bytes if each channel has memory of its own, for its largest fill, and the largest workspace
};

/// The cost of the schedule. Fails if it is not a schedule (`bad_order`): a firing that lacks tokens, by its place in the
/// schedule, or firings that are not the same whole number of iterations for all actors. Loops are not unrolled: a body
/// moves each channel's tokens by the same amount every time, so that its first and last run have the extremes.
/// O(items * depth * channels of an actor).
MEMSCHED_FUNCTION result<run> replay(const graph& g, const loops& schedule, firing rule = firing::pbc);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

/// The range and the end of a number while a piece of a schedule runs, relative to its start.
struct swing {
  delta low = 0;   // the least that it was, or that a firing left of it for itself
  delta high = 0;  // the most
  delta end = 0;

  /// This and then `next`.
  void then(const swing& next) {
    low = std::min(low, end + next.low);
    high = std::max(high, end + next.high);
    end += next.end;
  }
  /// This `n` times in a row: as each time ends the same amount higher or lower, the extremes are in the first or the last.
  void repeat(bytes n) {
    const delta last = static_cast<delta>(n - 1) * end;
    low += std::min<delta>(0, last);
    high += std::max<delta>(0, last);
    end += last;
  }
};

struct piece {
  swing level;
  std::unordered_map<index_t, swing> tokens;  // of the channels that it touches
};

class referee {
 public:
  referee(const graph& g, firing rule) : g_(g), rule_(rule) {
    std::vector<std::pair<index_t, index_t>> in, out;
    for (index_t i = 0; i < g.channels().size(); ++i) {
      in.emplace_back(g.channels()[i].to, i);
      out.emplace_back(g.channels()[i].from, i);
    }
    in_ = adjacency::from_pairs(g.actors(), in);
    out_ = adjacency::from_pairs(g.actors(), out);
  }

  result<run> judge(const loops& schedule) const {
    run r;
    if (auto fault = count(schedule, r.iterations)) return *fault;
    std::vector<piece> open(1);
    std::vector<bytes> counts;
    schedule.walk(
        [&](const loops::item& i) {
          open.emplace_back();
          counts.push_back(i.count);
        },
        [&](const loops::item& i) { fire(i.actor, i.count, open.back()); },
        [&] {
          piece body = std::move(open.back());
          open.pop_back();
          const bytes n = counts.back();
          counts.pop_back();
          body.level.repeat(n);
          open.back().level.then(body.level);
          for (auto& [channel, moves] : body.tokens) {
            moves.repeat(n);
            open.back().tokens[channel].then(moves);
          }
        });
    const piece& whole = open.front();
    bytes largest_workspace = 0;
    for (index_t a = 0; a < g_.actors(); ++a) largest_workspace = std::max(largest_workspace, g_.workspace(a));
    r.separate = largest_workspace;
    for (index_t i = 0; i < g_.channels().size(); ++i) {
      const channel& c = g_.channels()[i];
      const auto it = whole.tokens.find(i);
      const swing moves = it == whole.tokens.end() ? swing{} : it->second;
      if (static_cast<delta>(c.tokens) + moves.low < 0) return lacking(schedule, i);
      r.fills.push_back(c.tokens + static_cast<bytes>(moves.high));
      r.separate += c.size * r.fills.back();
    }
    r.peak = static_cast<bytes>(static_cast<delta>(g_.base()) + whole.level.high);
    return r;
  }

 private:
  /// n firings of an actor after a piece.
  void fire(index_t a, bytes n, piece& p) const {
    delta made = 0, taken = 0;
    for (index_t i : in_[a]) {
      const channel& c = g_.channels()[i];
      const delta tokens = static_cast<delta>(c.consumed);
      taken += tokens * static_cast<delta>(c.size);
      swing s = c.from == a ? swing{-tokens, rule_ == firing::pbc ? tokens : 0, 0} : swing{-tokens, 0, -tokens};
      s.repeat(n);
      p.tokens[i].then(s);
    }
    for (index_t i : out_[a]) {
      const channel& c = g_.channels()[i];
      const delta tokens = static_cast<delta>(c.produced);
      made += tokens * static_cast<delta>(c.size);
      if (c.to == a) continue;
      swing s{0, tokens, tokens};
      s.repeat(n);
      p.tokens[i].then(s);
    }
    const delta held = made + static_cast<delta>(g_.workspace(a));
    swing level{-taken, rule_ == firing::pbc ? held : std::max<delta>(0, held - taken), made - taken};
    level.repeat(n);
    p.level.then(level);
  }

  /// Whether all actors fire for the same whole number of iterations.
  std::optional<graph_error> count(const loops& schedule, bytes& iterations) const {
    std::vector<bytes> fired(g_.actors(), 0), around{1};
    bool overflow = false;
    index_t unknown = none;
    schedule.walk(
        [&](const loops::item& i) {
          bytes times = 0;
          overflow |= __builtin_mul_overflow(around.back(), i.count, &times) || i.count == 0;
          around.push_back(times);
        },
        [&](const loops::item& i) {
          bytes times = 0;
          if (i.actor >= g_.actors()) {
            unknown = i.actor;
            return;
          }
          overflow |= __builtin_mul_overflow(around.back(), i.count, &times) ||
                      __builtin_add_overflow(fired[i.actor], times, &fired[i.actor]) || i.count == 0;
        },
        [&] { around.pop_back(); });
    const auto fault = [&](std::string message, std::vector<index_t> actors) {
      return graph_error{error_code::bad_order, std::move(message), std::move(actors), {}};
    };
    if (unknown != none)
      return fault("the schedule names actor " + std::to_string(unknown) + ", and there are " + std::to_string(g_.actors()),
                   {});
    if (overflow) return fault("the schedule repeats something 0 times or 2^64 times", {});
    for (index_t a = 0; a < g_.actors(); ++a) {
      const bytes q = g_.repetitions()[a];
      if (a == 0) iterations = fired[a] / q;
      if (fired[a] == 0 || fired[a] % q != 0 || fired[a] / q != iterations)
        return fault("the schedule fires " + quoted(g_.actor_name(a)) + " " + std::to_string(fired[a]) +
                         " times; one iteration is " + std::to_string(q) +
                         (a == 0 ? "" : ", and the others make " + std::to_string(iterations)),
                     {a});
    }
    bytes total = 0;
    for (const channel& c : g_.channels()) {
      bytes moved = 0;
      overflow |=
          __builtin_mul_overflow(std::max<bytes>(c.size, 1) * c.produced * g_.repetitions()[c.from], iterations, &moved) ||
          __builtin_add_overflow(total, moved, &total) || total > base::max_total;
    }
    if (overflow) return fault("the schedule moves more than 2^61 bytes", {});
    return std::nullopt;
  }

  /// An error that names the firing that lacks tokens if it is among the first 2^24, else only an actor and a channel.
  graph_error lacking(const loops& schedule, index_t some) const {
    std::vector<bytes> tokens;
    for (const channel& c : g_.channels()) tokens.push_back(c.tokens);
    std::uint64_t step = 0;
    graph_error e{error_code::bad_order, {}, {g_.channels()[some].to}, {some}};
    schedule.each_firing([&](index_t a) {
      ++step;
      for (index_t i : in_[a]) {
        const channel& c = g_.channels()[i];
        if (tokens[i] < c.consumed) {
          e.message = "firing " + std::to_string(step) + " of the schedule, of " + quoted(g_.actor_name(a)) + ", needs " +
                      std::to_string(c.consumed) + " tokens on " + quoted(g_.channel_name(i)) + ", which has " +
                      std::to_string(tokens[i]);
          e.operators = {a};
          e.tensors = {i};
          return false;
        }
        tokens[i] -= c.consumed;
      }
      for (index_t i : out_[a]) tokens[i] += g_.channels()[i].produced;
      return step < (std::uint64_t{1} << 24);
    });
    if (e.message.empty())
      e.message =
          "a firing of " + quoted(g_.actor_name(e.operators[0])) + " lacks tokens on " + quoted(g_.channel_name(some));
    return e;
  }

  const graph& g_;
  firing rule_;
  adjacency in_, out_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<run> replay(const graph& g, const loops& schedule, firing rule) {
  return detail::referee(g, rule).judge(schedule);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
