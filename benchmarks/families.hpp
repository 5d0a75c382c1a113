// Families of practical graphs that no network stands behind, for benchmarks of deadlines and bounds: stencils, pyramids, tiled
// factorizations, fast Fourier transforms, Strassen's product, messages along edges, training steps.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/graph/builder.hpp>

namespace families {

using memsched::bytes;
using memsched::none;
using memsched::problem_builder;
using memsched::problem_draft;
using memsched::tensor_id;
using memsched::base::random_source;
using tensors = std::vector<tensor_id>;
using arguments = std::vector<std::size_t>;

inline tensor_id apply(problem_builder& g, tensors from, bytes size, tensor_id overwritten = none) {
  const tensor_id to = g.tensor(size);
  g.op({.reads = std::move(from), .writes = {to}, .overwrites = overwritten});
  return to;
}
inline tensors inputs(problem_builder& g, std::size_t count, bytes size) {
  tensors t;
  for (std::size_t i = 0; i < count; ++i) t.push_back(apply(g, {}, size));
  return t;
}

/// `steps` steps in time of a row of `cells`: each cell reads itself and its neighbours of the step before.
inline problem_draft stencil(std::size_t cells, std::size_t steps) {
  problem_builder g;
  tensors row = inputs(g, cells, 8);
  for (std::size_t t = 0; t < steps; ++t) {
    tensors next;
    for (std::size_t i = 0; i < cells; ++i) {
      tensors from{row[i]};
      if (i > 0) from.push_back(row[i - 1]);
      if (i + 1 < cells) from.push_back(row[i + 1]);
      next.push_back(apply(g, from, 8));
    }
    row = next;
  }
  for (tensor_id t : row) g.output(t);
  return g.draft();
}

/// The same on a square with sides of `side` cells and four neighbours.
inline problem_draft stencil2d(std::size_t side, std::size_t steps) {
  problem_builder g;
  tensors grid = inputs(g, side * side, 8);
  for (std::size_t t = 0; t < steps; ++t) {
    tensors next;
    for (std::size_t y = 0; y < side; ++y)
      for (std::size_t x = 0; x < side; ++x) {
        tensors from{grid[y * side + x]};
        if (x > 0) from.push_back(grid[y * side + x - 1]);
        if (x + 1 < side) from.push_back(grid[y * side + x + 1]);
        if (y > 0) from.push_back(grid[(y - 1) * side + x]);
        if (y + 1 < side) from.push_back(grid[(y + 1) * side + x]);
        next.push_back(apply(g, from, 8));
      }
    grid = next;
  }
  for (tensor_id t : grid) g.output(t);
  return g.draft();
}

/// A row of `width` values, each pair of neighbours joined, until one is left.
inline problem_draft pyramid(std::size_t width) {
  problem_builder g;
  tensors row = inputs(g, width, 8);
  for (; row.size() > 1; row.pop_back())
    for (std::size_t i = 0; i + 1 < row.size(); ++i) row[i] = apply(g, {row[i], row[i + 1]}, 8);
  g.output(row.front());
  return g.draft();
}

/// Cholesky factorization of tiles x tiles tiles of 16 KiB; updates of a tile in place.
inline problem_draft cholesky(std::size_t tiles) {
  constexpr bytes tile = 16384;
  problem_builder g;
  std::vector<tensors> a(tiles);
  for (std::size_t i = 0; i < tiles; ++i) a[i] = inputs(g, i + 1, tile);
  for (std::size_t k = 0; k < tiles; ++k) {
    a[k][k] = apply(g, {a[k][k]}, tile, a[k][k]);
    for (std::size_t i = k + 1; i < tiles; ++i) a[i][k] = apply(g, {a[i][k], a[k][k]}, tile, a[i][k]);
    for (std::size_t i = k + 1; i < tiles; ++i)
      for (std::size_t j = k + 1; j <= i; ++j) {
        tensors from{a[i][j], a[i][k]};
        if (j != i) from.push_back(a[j][k]);
        a[i][j] = apply(g, from, tile, a[i][j]);
      }
  }
  for (const tensors& row : a)
    for (tensor_id t : row) g.output(t);
  return g.draft();
}

/// LU factorization without pivots, likewise.
inline problem_draft lu(std::size_t tiles) {
  constexpr bytes tile = 16384;
  problem_builder g;
  std::vector<tensors> a;
  for (std::size_t i = 0; i < tiles; ++i) a.push_back(inputs(g, tiles, tile));
  for (std::size_t k = 0; k < tiles; ++k) {
    a[k][k] = apply(g, {a[k][k]}, tile, a[k][k]);
    for (std::size_t i = k + 1; i < tiles; ++i) {
      a[i][k] = apply(g, {a[i][k], a[k][k]}, tile, a[i][k]);
      a[k][i] = apply(g, {a[k][i], a[k][k]}, tile, a[k][i]);
    }
    for (std::size_t i = k + 1; i < tiles; ++i)
      for (std::size_t j = k + 1; j < tiles; ++j) a[i][j] = apply(g, {a[i][j], a[i][k], a[k][j]}, tile, a[i][j]);
  }
  for (const tensors& row : a)
    for (tensor_id t : row) g.output(t);
  return g.draft();
}

/// Butterflies over 2^levels values.
inline problem_draft fft(std::size_t levels) {
  problem_builder g;
  const std::size_t n = std::size_t{1} << levels;
  tensors row = inputs(g, n, 16);
  for (std::size_t l = 0; l < levels; ++l) {
    tensors next(n);
    for (std::size_t i = 0; i < n; ++i) next[i] = apply(g, {row[i], row[i ^ (std::size_t{1} << l)]}, 16);
    row = next;
  }
  for (tensor_id t : row) g.output(t);
  return g.draft();
}

/// Strassen's product of two matrices of `leaf` bytes times 4^depth, cut into quarters `depth` times.
inline problem_draft strassen(std::size_t depth) {
  problem_builder g;
  const auto join = [&](tensor_id x, tensor_id y, bytes size) { return apply(g, {x, y}, size); };
  std::function<tensor_id(tensor_id, tensor_id, bytes, std::size_t)> product = [&](tensor_id x, tensor_id y, bytes size,
                                                                                   std::size_t left) {
    if (left == 0) return join(x, y, size);
    const bytes q = size / 4;
    tensors a, b;
    for (int i = 0; i < 4; ++i) a.push_back(apply(g, {x}, q)), b.push_back(apply(g, {y}, q));
    const auto multiply = [&](tensor_id l, tensor_id r) { return product(l, r, q, left - 1); };
    const tensor_id m1 = multiply(join(a[0], a[3], q), join(b[0], b[3], q)), m2 = multiply(join(a[2], a[3], q), b[0]),
                    m3 = multiply(a[0], join(b[1], b[3], q)), m4 = multiply(a[3], join(b[2], b[0], q)),
                    m5 = multiply(join(a[0], a[1], q), b[3]), m6 = multiply(join(a[2], a[0], q), join(b[0], b[1], q)),
                    m7 = multiply(join(a[1], a[3], q), join(b[2], b[3], q));
    const tensor_id c11 = apply(g, {m1, m4, m5, m7}, q), c12 = join(m3, m5, q), c21 = join(m2, m4, q),
                    c22 = apply(g, {m1, m2, m3, m6}, q);
    return apply(g, {c11, c12, c21, c22}, size);
  };
  const bytes size = bytes{4096} << (2 * depth);
  const tensor_id x = apply(g, {}, size), y = apply(g, {}, size);
  g.output(product(x, y, size, depth));
  return g.draft();
}

/// `rounds` rounds of messages between `nodes` nodes: each reads three others near it.
inline problem_draft messages(std::size_t nodes, std::size_t rounds, std::uint64_t seed) {
  random_source random(seed);
  problem_builder g;
  tensors state = inputs(g, nodes, 256);
  for (std::size_t r = 0; r < rounds; ++r) {
    tensors next;
    for (std::size_t i = 0; i < nodes; ++i) {
      tensors from{state[i]};
      for (int k = 0; k < 3; ++k) {
        const tensor_id other = state[(i + nodes - 8 + random.below(17)) % nodes];
        if (std::find(from.begin(), from.end(), other) == from.end()) from.push_back(other);
      }
      next.push_back(apply(g, {apply(g, from, 64), state[i]}, 256));
    }
    state = next;
  }
  for (tensor_id t : state) g.output(t);
  return g.draft();
}

/// A training step of a transformer: forward, backward with the activations that each layer saved, an update of each weight's
/// moment in place.
inline problem_draft training(std::size_t layers, std::uint64_t seed) {
  random_source random(seed);
  constexpr bytes hidden = 1 << 16;
  problem_builder g;
  tensor_id x = apply(g, {}, hidden);
  struct saved {
    tensor_id in, qkv, attention, joined, wide;
  };
  std::vector<saved> all;
  for (std::size_t l = 0; l < layers; ++l) {
    saved s{};
    s.in = x;
    const tensor_id normed = apply(g, {x}, hidden);
    s.qkv = apply(g, {normed}, 3 * hidden);
    s.attention = apply(g, {s.qkv}, hidden * (1 + random.below(3)));
    const tensor_id mixed = apply(g, {s.attention, s.qkv}, hidden);
    s.joined = apply(g, {mixed, x}, hidden);
    s.wide = apply(g, {apply(g, {s.joined}, hidden)}, 4 * hidden);
    x = apply(g, {apply(g, {s.wide}, hidden), s.joined}, hidden);
    all.push_back(s);
  }
  tensor_id gradient = apply(g, {apply(g, {x}, 4)}, hidden);
  tensors moments;
  for (std::size_t l = 0; l < layers; ++l) moments.push_back(g.input(2 * hidden));
  for (std::size_t l = layers; l-- > 0;) {
    const saved& s = all[l];
    const tensor_id d_wide = apply(g, {gradient, s.wide}, 4 * hidden), w1 = apply(g, {d_wide, s.joined}, 2 * hidden);
    const tensor_id d_joined = apply(g, {apply(g, {d_wide}, hidden), gradient}, hidden);
    const tensor_id d_qkv = apply(g, {d_joined, s.attention, s.qkv}, 3 * hidden), w2 = apply(g, {d_qkv, s.in}, 2 * hidden);
    gradient = apply(g, {apply(g, {d_qkv}, hidden), d_joined}, hidden);
    g.output(apply(g, {moments[l], w1, w2}, 2 * hidden, moments[l]));
  }
  g.output(gradient);
  return g.draft();
}

/// A family by its name, with the numbers that follow it.
struct family {
  std::string_view name, parameters;
  std::size_t count;  ///< of numbers behind the name
  problem_draft (*make)(const arguments&);
};
inline constexpr family all[] = {
    {"stencil", "CELLS:STEPS", 2, [](const arguments& a) { return stencil(a[0], a[1]); }},
    {"stencil2d", "SIDE:STEPS", 2, [](const arguments& a) { return stencil2d(a[0], a[1]); }},
    {"pyramid", "WIDTH", 1, [](const arguments& a) { return pyramid(a[0]); }},
    {"cholesky", "TILES", 1, [](const arguments& a) { return cholesky(a[0]); }},
    {"lu", "TILES", 1, [](const arguments& a) { return lu(a[0]); }},
    {"fft", "LEVELS", 1, [](const arguments& a) { return fft(a[0]); }},
    {"strassen", "DEPTH", 1, [](const arguments& a) { return strassen(a[0]); }},
    {"messages", "NODES:ROUNDS:SEED", 3, [](const arguments& a) { return messages(a[0], a[1], a[2]); }},
    {"training", "LAYERS:SEED", 2, [](const arguments& a) { return training(a[0], a[1]); }},
};

/// The graph that a name such as "stencil:48:48" stands for; none where it stands for none.
inline std::optional<problem_draft> make(std::string_view name) {
  arguments numbers;
  std::string_view rest = name;
  const auto word = [&] {
    const std::string_view w = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), w.size() + 1));
    return w;
  };
  const std::string_view kind = word();
  while (!rest.empty()) {
    const std::string_view w = word();
    std::size_t n = 0;
    if (std::from_chars(w.data(), w.data() + w.size(), n).ec != std::errc{}) return std::nullopt;
    numbers.push_back(n);
  }
  for (const family& f : all)
    if (f.name == kind && f.count == numbers.size()) return f.make(numbers);
  return std::nullopt;
}

}  // namespace families
