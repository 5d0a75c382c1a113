// Synchronous dataflow: actors that fire again and again, and channels with fixed rates between them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/sdf/liveness.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// Each firing of `from` puts `produced` tokens into the channel, and each firing of `to` takes `consumed` out.
///
/// A self loop (from = to) holds an actor's state; its rates must be equal. A channel whose tokens have size 0 only orders
/// firings: a self loop that forbids overlapping ones, or free places of a bounded buffer.
struct channel {
  index_t from = none, to = none;
  bytes produced = 1, consumed = 1;  ///< tokens per firing, 1 or more
  bytes tokens = 0;                  ///< there at the start of an iteration, and again at its end
  bytes size = 1;                    ///< bytes of one token
};

/// A checked graph: consistent (some numbers of firings restore all tokens) and live (some order of them exists). Made by
/// `graph_builder`.
class graph {
 public:
  std::size_t actors() const { return names_.size(); }
  const std::vector<channel>& channels() const { return channels_; }
  /// The number of times that each actor fires in one iteration: the least numbers above 0 that restore all tokens, in each
  /// weakly connected part by itself.
  const std::vector<bytes>& repetitions() const { return repetitions_; }
  /// Firings of one iteration; 2^64 - 1 if there are more.
  bytes firings() const {
    bytes sum = 0;
    for (bytes q : repetitions_)
      if (__builtin_add_overflow(sum, q, &sum)) return ~bytes{0};
    return sum;
  }
  /// Bytes of the tokens that are there at the start.
  bytes base() const {
    bytes sum = 0;
    for (const channel& c : channels_) sum += c.size * c.tokens;
    return sum;
  }
  /// Bytes that an actor holds while it fires.
  bytes workspace(index_t a) const { return workspace_[a]; }
  /// The name that was given, or "actor 3".
  std::string actor_name(index_t a) const { return names_[a].empty() ? "actor " + std::to_string(a) : names_[a]; }
  /// The name that was given, or "channel 3".
  std::string channel_name(std::size_t c) const {
    return channel_names_[c].empty() ? "channel " + std::to_string(c) : channel_names_[c];
  }
  /// The needs of the channels for an order.
  std::vector<need> needs() const {
    std::vector<need> all;
    for (const channel& c : channels_) all.push_back({c.from, c.to, c.produced, c.consumed, c.tokens});
    return all;
  }

 private:
  friend class graph_builder;
  std::vector<channel> channels_;
  std::vector<std::string> names_, channel_names_;
  std::vector<bytes> workspace_, repetitions_;
};

/// Collects actors and channels; `build` checks them. Ids are handed out from 0.
class graph_builder {
 public:
  index_t actor(std::string name = {}, bytes workspace = 0) {
    g_.names_.push_back(std::move(name));
    g_.workspace_.push_back(workspace);
    return static_cast<index_t>(g_.names_.size() - 1);
  }
  index_t connect(const channel& c, std::string name = {}) {
    g_.channels_.push_back(c);
    g_.channel_names_.push_back(std::move(name));
    return static_cast<index_t>(g_.channels_.size() - 1);
  }

  /// The graph. Fails for a channel of an actor that does not exist or with a rate of 0
  /// (`unknown_operator`, `bad_size`), rates that do not balance (`inconsistent_rates`), too few tokens on a cycle
  /// (`deadlock`), more than 2^61 firings, tokens or bytes in an iteration (`overflow`), or a cycle with so few tokens that
  /// 2^26 steps do not find out whether it is live (`too_large`). The error names actors and channels, and lists them as
  /// `operators` and `tensors`. O(actors + channels) but for `check_liveness`, whatever the numbers of firings.
  result<graph> build() const;

 private:
  std::optional<graph_error> check_channels() const;
  std::optional<graph_error> balance(graph& g) const;
  std::optional<graph_error> check_sizes(const graph& g) const;
  std::optional<graph_error> check_deadlock(const graph& g) const;

  graph g_;
};

namespace detail {
inline std::string quoted(const std::string& name) { return '"' + base::one_line(name, 100) + '"'; }
}  // namespace detail

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace sdf {

namespace detail {

/// n / m, in lowest terms.
struct fraction {
  bytes n = 1, m = 1;
  friend bool operator==(const fraction&, const fraction&) = default;
};

/// f * p / c in lowest terms; nothing if a part does not fit into 64 bits.
inline std::optional<fraction> scaled(fraction f, bytes p, bytes c) {
  const bytes g = std::gcd(p, c);
  p /= g, c /= g;
  const bytes a = std::gcd(f.n, c), b = std::gcd(p, f.m);
  fraction r;
  if (__builtin_mul_overflow(f.n / a, p / b, &r.n) || __builtin_mul_overflow(f.m / b, c / a, &r.m)) return std::nullopt;
  return r;
}

}  // namespace detail

MEMSCHED_FUNCTION std::optional<graph_error> graph_builder::check_channels() const {
  if (g_.actors() >= none || g_.channels_.size() >= none)
    return graph_error{error_code::too_large, "the graph has more than 2^32 - 2 actors or channels", {}, {}};
  for (index_t i = 0; i < g_.channels_.size(); ++i) {
    const channel& c = g_.channels_[i];
    const std::string name = "channel " + detail::quoted(g_.channel_name(i));
    for (index_t a : {c.from, c.to})
      if (a >= g_.actors())
        return graph_error{error_code::unknown_operator,
                           name + " names actor " + std::to_string(a) + ", and there are " + std::to_string(g_.actors()),
                           {a},
                           {i}};
    if (c.produced == 0 || c.consumed == 0)
      return graph_error{error_code::bad_size, name + " has a rate of 0", {c.produced == 0 ? c.from : c.to}, {i}};
  }
  return std::nullopt;
}

/// Numbers of firings as fractions of a root's, over a spanning tree of each part; every other channel is checked against
/// them. With the root at 1/1 its number is the least common multiple of the denominators: it must be a multiple of each,
/// and that one makes all numbers whole. So a fraction that does not fit into 64 bits means a number that does not.
MEMSCHED_FUNCTION std::optional<graph_error> graph_builder::balance(graph& g) const {
  using detail::fraction;
  const std::size_t n = g.actors();
  std::vector<std::pair<index_t, index_t>> pairs;
  for (index_t i = 0; i < g.channels_.size(); ++i) {
    pairs.emplace_back(g.channels_[i].from, i);
    if (g.channels_[i].to != g.channels_[i].from) pairs.emplace_back(g.channels_[i].to, i);
  }
  const auto around = adjacency::from_pairs(n, pairs);
  std::vector<fraction> share(n);
  std::vector<bool> seen(n, false);
  g.repetitions_.assign(n, 0);
  const auto overflow = [&](index_t a) {
    return graph_error{error_code::overflow, "repetitions overflow at " + detail::quoted(g.actor_name(a)), {a}, {}};
  };
  for (index_t root = 0; root < n; ++root) {
    if (seen[root]) continue;
    std::vector<index_t> part{root};
    seen[root] = true;
    for (std::size_t at = 0; at < part.size(); ++at)
      for (index_t i : around[part[at]]) {
        const channel& c = g.channels_[i];
        const bool forward = c.from == part[at];
        const index_t other = forward ? c.to : c.from;
        const auto expected = forward ? detail::scaled(share[part[at]], c.produced, c.consumed)
                                      : detail::scaled(share[part[at]], c.consumed, c.produced);
        if (!seen[other]) {
          if (!expected) return overflow(other);
          seen[other] = true;
          share[other] = *expected;
          part.push_back(other);
        } else if (expected != share[other]) {
          const auto ratio = [](fraction f) {
            return std::to_string(f.n) + (f.m == 1 ? std::string() : " per " + std::to_string(f.m));
          };
          if (c.from == c.to)
            return graph_error{error_code::inconsistent_rates,
                               "the rates are inconsistent: each firing of " + detail::quoted(g.actor_name(c.to)) +
                                   " puts " + std::to_string(c.produced) + " tokens into its self loop " +
                                   detail::quoted(g.channel_name(i)) + " and takes " + std::to_string(c.consumed),
                               {c.to},
                               {i}};
          const fraction here = *detail::scaled({}, c.produced, c.consumed);
          std::string others = "other numbers";
          if (const auto r = detail::scaled(share[c.to], share[c.from].m, share[c.from].n)) others = ratio(*r);
          return graph_error{error_code::inconsistent_rates,
                             "the rates are inconsistent: by channel " + detail::quoted(g.channel_name(i)) + " " +
                                 detail::quoted(g.actor_name(c.to)) + " fires " + std::to_string(here.n) + " times per " +
                                 (here.m == 1 ? "firing of " : std::to_string(here.m) + " firings of ") +
                                 detail::quoted(g.actor_name(c.from)) + ", by others " + others,
                             {c.from, c.to},
                             {i}};
        }
      }
    bytes common = 1;
    for (index_t a : part)
      if (__builtin_mul_overflow(common / std::gcd(common, share[a].m), share[a].m, &common)) return overflow(a);
    for (index_t a : part)
      if (__builtin_mul_overflow(share[a].n, common / share[a].m, &g.repetitions_[a]) || g.repetitions_[a] > base::max_total)
        return overflow(a);
  }
  return std::nullopt;
}

MEMSCHED_FUNCTION std::optional<graph_error> graph_builder::check_sizes(const graph& g) const {
  bytes total = 0;
  const auto exceeds = [&](bytes tokens, bytes size) {
    bytes more = 0;
    return __builtin_mul_overflow(tokens, std::max<bytes>(size, 1), &more) || __builtin_add_overflow(total, more, &total) ||
           total > base::max_total;
  };
  for (index_t i = 0; i < g.channels_.size(); ++i) {
    const channel& c = g.channels_[i];
    bytes moved = 0;
    if (__builtin_mul_overflow(c.produced, g.repetitions_[c.from], &moved) || exceeds(moved, c.size) ||
        exceeds(c.tokens, c.size))
      return graph_error{
          error_code::overflow,
          "tokens of one iteration take more than 2^61 bytes, with channel " + detail::quoted(g.channel_name(i)),
          {},
          {i}};
  }
  for (index_t a = 0; a < g.actors(); ++a)
    if (exceeds(g.workspace_[a], 1))
      return graph_error{error_code::overflow,
                         "tokens and workspace take more than 2^61 bytes, with actor " + detail::quoted(g.actor_name(a)),
                         {a},
                         {}};
  return std::nullopt;
}

MEMSCHED_FUNCTION std::optional<graph_error> graph_builder::check_deadlock(const graph& g) const {
  const liveness l = check_liveness(g.needs(), g.repetitions_);
  if (l.verdict == life::live) return std::nullopt;
  if (l.verdict == life::unknown)
    return graph_error{error_code::too_large,
                       "the cycle through " + detail::quoted(g.actor_name(l.actor)) +
                           " has so few tokens that trying it 2^26 times does not tell whether it is live",
                       {l.actor},
                       {}};
  graph_error e{error_code::deadlock, "deadlock: ", {}, {}};
  constexpr std::size_t most_named = 20;
  for (std::size_t k = 0; k < l.cycle.size(); ++k) {
    const channel& c = g.channels_[l.cycle[k].need];
    e.operators.push_back(c.to);
    e.tensors.push_back(static_cast<index_t>(l.cycle[k].need));
    if (k == most_named) e.message += ", ...";
    if (k >= most_named) continue;
    const std::string missing = std::to_string(l.cycle[k].missing);
    e.message += (k == 0 ? "" : ", ") + detail::quoted(g.actor_name(c.to));
    e.message += k > 0 ? " for " + missing : " waits for " + missing + " more token" + (missing == "1" ? "" : "s");
    e.message += " on " + detail::quoted(g.channel_name(l.cycle[k].need));
  }
  return e;
}

MEMSCHED_FUNCTION result<graph> graph_builder::build() const {
  if (auto e = check_channels()) return *e;
  graph g = g_;
  if (auto e = balance(g)) return *e;
  if (auto e = check_sizes(g)) return *e;
  if (auto e = check_deadlock(g)) return *e;
  return g;
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
