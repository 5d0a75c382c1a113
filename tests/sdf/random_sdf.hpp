// Random small graphs of synchronous dataflow, and answers found by going through all that there is.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/sdf/graph.hpp>
#include <memsched/sdf/loops.hpp>

namespace support {

using memsched::bytes;
using memsched::delta;
using memsched::firing;
using memsched::index_t;
namespace sdf = memsched::sdf;

struct sdf_shape {
  unsigned actors = 5;
  unsigned delays = 0;      ///< of 8 channels: the number with initial tokens
  unsigned back = 0;        ///< of 8 channels: the number that go back and so close cycles
  unsigned self_loops = 0;  ///< of 8 actors
  unsigned most = 4;        ///< largest number of firings, before parts are reduced
  std::uint64_t most_states = 4000;
};

/// A graph of the shape with actors in no particular order; nothing where the dice gave a deadlock or too large a one.
inline std::optional<sdf::graph> random_sdf(std::uint64_t seed, const sdf_shape& shape) {
  memsched::base::random_source random(seed * 7919 + shape.actors);
  const auto below = [&](std::uint64_t n) { return static_cast<unsigned>(random.below(n)); };
  const unsigned n = 2 + below(shape.actors - 1);
  std::vector<bytes> q(n);
  const unsigned kind = below(3);  // equal, multiples of each other, or any numbers of firings
  for (bytes& x : q) x = kind == 0 ? 2 : kind == 1 ? bytes{1} << below(3) : 1 + below(shape.most);
  std::vector<index_t> name(n);  // a random numbering
  std::iota(name.begin(), name.end(), index_t{0});
  for (unsigned i = n; i > 1; --i) std::swap(name[i - 1], name[below(i)]);
  sdf::graph_builder b;
  for (unsigned a = 0; a < n; ++a) b.actor({}, below(6) == 0 ? below(below(2) == 0 ? 5 : 30) : 0);
  const auto connect = [&](unsigned u, unsigned v, bytes tokens) {
    const bytes g = std::gcd(q[u], q[v]), k = 1 + below(below(3) == 0 ? 3 : 1);
    b.connect({name[u], name[v], q[v] / g * k, q[u] / g * k, tokens, below(6) == 0 ? 0 : 1 + below(4)});
  };
  const unsigned channels = n - 1 + below(n);
  for (unsigned i = 0; i < channels; ++i) {
    unsigned u = below(n), v = below(n);
    if (below(3) == 0) v = below(n), u = v == 0 ? 0 : v - 1;
    if (u == v) continue;
    if (u > v) std::swap(u, v);
    const bool back = below(8) < shape.back;
    if (back) std::swap(u, v);
    connect(u, v, back || below(8) < shape.delays ? below(static_cast<unsigned>(3 * q[v]) + 3) : 0);
  }
  for (unsigned a = 0; a < n; ++a)
    if (below(8) < shape.self_loops) {
      const bytes rate = 1 + below(3);
      b.connect({name[a], name[a], rate, rate, rate + below(2), below(3)});
    }
  auto g = b.build();
  if (!g) return std::nullopt;
  std::uint64_t states = 1;
  for (bytes r : g->repetitions()) {
    if (r > shape.most_states) return std::nullopt;
    states *= r + 1;
    if (states > shape.most_states) return std::nullopt;
  }
  return *g;
}

/// Tokens in each channel, moved firing by firing; it knows nothing but the rules of firing.
class token_walk {
 public:
  token_walk(const sdf::graph& g, firing rule) : g_(g), rule_(rule) {
    for (const sdf::channel& c : g.channels()) tokens_.push_back(c.tokens);
    fills_ = tokens_;
    peak_ = level();
  }
  bool can(index_t a) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (g_.channels()[i].to == a && tokens_[i] < g_.channels()[i].consumed) return false;
    return true;
  }
  void fire(index_t a) {
    const auto take = [&] {
      for (std::size_t i = 0; i < tokens_.size(); ++i)
        if (g_.channels()[i].to == a) tokens_[i] -= g_.channels()[i].consumed;
    };
    if (rule_ == firing::cbp) take();
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (g_.channels()[i].from == a) tokens_[i] += g_.channels()[i].produced;
    peak_ = std::max(peak_, level() + g_.workspace(a));
    for (std::size_t i = 0; i < tokens_.size(); ++i) fills_[i] = std::max(fills_[i], tokens_[i]);
    if (rule_ == firing::pbc) take();
  }
  bytes level() const {
    bytes sum = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) sum += tokens_[i] * g_.channels()[i].size;
    return sum;
  }
  bytes peak() const { return peak_; }
  void forget_peak() { peak_ = level(); }
  const std::vector<bytes>& fills() const { return fills_; }
  const std::vector<bytes>& tokens() const { return tokens_; }

 private:
  const sdf::graph& g_;
  firing rule_;
  std::vector<bytes> tokens_, fills_;
  bytes peak_ = 0;
};

/// The smallest peak of an iteration: a search over how often each actor has fired, the lowest peak first.
inline bytes smallest_peak(const sdf::graph& g, firing rule) {
  const std::size_t n = g.actors();
  std::vector<std::uint64_t> weight(n + 1, 1);
  for (std::size_t a = 0; a < n; ++a) weight[a + 1] = weight[a] * (g.repetitions()[a] + 1);
  std::vector<bool> done(weight[n], false);
  std::priority_queue<std::pair<bytes, std::uint64_t>, std::vector<std::pair<bytes, std::uint64_t>>, std::greater<>> open;
  open.emplace(g.base(), 0);
  while (!open.empty()) {
    const bytes peak = open.top().first;
    const std::uint64_t state = open.top().second;
    open.pop();
    if (done[state]) continue;
    done[state] = true;
    if (state + 1 == weight[n]) return peak;
    std::vector<bytes> tokens;
    bytes level = 0;
    const auto fired = [&](index_t a) { return state / weight[a] % (g.repetitions()[a] + 1); };
    for (const sdf::channel& c : g.channels()) {
      tokens.push_back(c.tokens + c.produced * fired(c.from) - c.consumed * fired(c.to));
      level += tokens.back() * c.size;
    }
    for (index_t a = 0; a < n; ++a) {
      if (fired(a) == g.repetitions()[a]) continue;
      bool can = true;
      bytes made = g.workspace(a), taken = 0;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        const sdf::channel& c = g.channels()[i];
        if (c.to == a) can = can && tokens[i] >= c.consumed, taken += c.consumed * c.size;
        if (c.from == a) made += c.produced * c.size;
      }
      if (!can) continue;
      const bytes during = rule == firing::pbc ? level + made : std::max(level, level - taken + made);
      const bytes after = level - taken + made - g.workspace(a);
      open.emplace(std::max({peak, during, after}), state + weight[a]);
    }
  }
  return std::numeric_limits<bytes>::max();
}

/// The smallest sum of separate buffers, without workspace: a search over how often each actor has fired and the largest
/// fills so far, the smallest sum first. Nothing where that is more than `most_states`.
inline std::optional<bytes> smallest_separate(const sdf::graph& g, firing rule, std::size_t most_states) {
  struct state {
    bytes sum;
    std::vector<bytes> fired, fills;
    auto operator<=>(const state&) const = default;
  };
  const auto sum_of = [&](const std::vector<bytes>& fills) {
    bytes sum = 0;
    for (std::size_t i = 0; i < fills.size(); ++i) sum += fills[i] * g.channels()[i].size;
    return sum;
  };
  state start{0, std::vector<bytes>(g.actors(), 0), {}};
  for (const sdf::channel& c : g.channels()) start.fills.push_back(c.tokens);
  start.sum = sum_of(start.fills);
  std::set<state> open{start}, seen{start};
  while (!open.empty()) {
    const state s = *open.begin();
    open.erase(open.begin());
    if (s.fired == g.repetitions()) return s.sum;
    if (seen.size() > most_states) return std::nullopt;
    for (index_t a = 0; a < g.actors(); ++a) {
      if (s.fired[a] == g.repetitions()[a]) continue;
      state next = s;
      bool can = true;
      for (std::size_t i = 0; i < s.fills.size(); ++i) {
        const sdf::channel& c = g.channels()[i];
        const bytes tokens = c.tokens + c.produced * s.fired[c.from] - c.consumed * s.fired[c.to];
        if (c.to == a) can = can && tokens >= c.consumed;
        const bool frees_first = rule == firing::cbp && c.to == a;
        if (c.from == a && can)
          next.fills[i] = std::max(next.fills[i], tokens + c.produced - (frees_first ? c.consumed : 0));
      }
      if (!can) continue;
      ++next.fired[a];
      next.sum = sum_of(next.fills);
      if (seen.insert(next).second) open.insert(std::move(next));
    }
  }
  return std::nullopt;
}

}  // namespace support
