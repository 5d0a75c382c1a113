// Families of practical graphs, for benchmarks of deadlines and bounds: stencils, pyramids, tiled factorizations, fast Fourier
// transforms, sorting networks, Strassen's product, messages along edges, trees, hubs, pipelines, small networks, and training
// steps.
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

/// Writes values away: each of them lives until then.
inline void store(problem_builder& g, const tensors& values) {
  for (tensor_id t : values) g.op({.reads = {t}});
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

/// Cholesky factorization of tiles x tiles tiles of 16 KiB that are loaded and stored; updates of a tile in place.
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
  for (const tensors& row : a) store(g, row);
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
  for (const tensors& row : a) store(g, row);
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

/// QR factorization by tiles of 16 KiB: a tile of a column is joined with the one on the diagonal, and so are the tiles beside
/// the two.
inline problem_draft qr(std::size_t tiles) {
  constexpr bytes tile = 16384;
  problem_builder g;
  std::vector<tensors> a;
  for (std::size_t i = 0; i < tiles; ++i) a.push_back(inputs(g, tiles, tile));
  const auto join = [&](tensor_id& upper, tensor_id& lower, tensors by) {
    by.insert(by.begin(), {upper, lower});
    const tensor_id old = upper;
    upper = g.tensor(tile), lower = g.tensor(tile);
    g.op({.reads = std::move(by), .writes = {upper, lower}, .overwrites = old});
  };
  for (std::size_t k = 0; k < tiles; ++k) {
    a[k][k] = apply(g, {a[k][k]}, tile, a[k][k]);
    for (std::size_t j = k + 1; j < tiles; ++j) a[k][j] = apply(g, {a[k][j], a[k][k]}, tile, a[k][j]);
    for (std::size_t i = k + 1; i < tiles; ++i) {
      join(a[k][k], a[i][k], {});
      for (std::size_t j = k + 1; j < tiles; ++j) join(a[k][j], a[i][j], {a[i][k]});
    }
  }
  for (const tensors& row : a) store(g, row);
  return g.draft();
}

/// Bitonic sort of 2^levels values: each operator puts two of them in order.
inline problem_draft bitonic(std::size_t levels) {
  problem_builder g;
  tensors row = inputs(g, std::size_t{1} << levels, 8);
  for (std::size_t block = 2; block <= row.size(); block *= 2)
    for (std::size_t distance = block / 2; distance > 0; distance /= 2)
      for (std::size_t i = 0; i < row.size(); ++i) {
        if ((i & distance) != 0) continue;
        const tensor_id low = g.tensor(8), high = g.tensor(8);
        g.op({.reads = {row[i], row[i ^ distance]}, .writes = {low, high}});
        row[i] = low, row[i ^ distance] = high;
      }
  for (tensor_id t : row) g.output(t);
  return g.draft();
}

/// Each mapper writes a piece for each reducer.
inline problem_draft map_reduce(std::size_t mappers, std::size_t reducers) {
  problem_builder g;
  std::vector<tensors> pieces(reducers);
  for (std::size_t m = 0; m < mappers; ++m) {
    tensors written;
    for (tensors& p : pieces) written.push_back(p.emplace_back(g.tensor(64 + m % 7 * 16)));
    g.op({.reads = {apply(g, {}, 1024)}, .writes = written});
  }
  for (const tensors& p : pieces) g.output(apply(g, p, 512));
  return g.draft();
}

/// An elimination tree of a sparse factorization: each front reads the contributions of its children, and leaves one.
inline problem_draft elimination(std::size_t fronts, std::uint64_t seed) {
  random_source random(seed);
  problem_builder g;
  std::vector<tensors> children(fronts);
  for (std::size_t f = 0; f < fronts; ++f) {
    const bytes side = 1 + random.below(20) + f * 40 / fronts;
    const tensor_id contribution = g.tensor(8 * side * side);
    g.op({.reads = children[f], .writes = {contribution}, .workspace = 8 * side * (1 + random.below(40))});
    if (f + 1 < fronts) children[f + 1 + random.below(std::min<std::size_t>(fronts - f - 1, 30))].push_back(contribution);
    else g.output(contribution);
  }
  return g.draft();
}

/// A sum of many leaves in a tree, and from it a tree of values as wide, in which two read each one. Nothing is an output.
inline problem_draft trees(std::size_t leaves, std::uint64_t seed) {
  random_source random(seed);
  problem_builder g;
  const auto size = [&] { return 1 + random.below(100); };
  tensors level;
  for (std::size_t i = 0; i < leaves; ++i) level.push_back(apply(g, {}, size()));
  while (level.size() > 1) {
    tensors next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      tensors from{level[i]};
      if (i + 1 < level.size()) from.push_back(level[i + 1]);
      next.push_back(apply(g, from, size()));
    }
    level = next;
  }
  while (level.size() < leaves) {
    tensors next;
    for (tensor_id t : level)
      for (int child = 0; child < 2; ++child) next.push_back(apply(g, {t}, size()));
    level = next;
  }
  return g.draft();
}

/// Operators that all read one tensor, and some another; one reads every second of them, and others two each.
inline problem_draft hubs(std::size_t operators, std::uint64_t seed) {
  random_source random(seed);
  problem_builder g;
  const tensor_id first = apply(g, {}, 50), second = apply(g, {}, 70);
  tensors made, half;
  for (std::size_t i = 0; i < operators; ++i) {
    made.push_back(apply(g, random.below(2) == 0 ? tensors{first} : tensors{first, second}, 1 + random.below(100)));
    if (i % 2 == 0) half.push_back(made.back());
  }
  apply(g, half, 5);
  for (std::size_t i = 0; i + 1 < operators; i += 2) apply(g, {made[i], made[i + 1]}, 1 + random.below(20));
  return g.draft();
}

/// `batches` batches in a pipeline of `stages` stages that all run on one device: forward, backward with the values that each
/// stage saved, gradients summed in place.
inline problem_draft pipeline(std::size_t stages, std::size_t batches) {
  constexpr bytes hidden = 4096;
  problem_builder g;
  tensors sums;
  for (std::size_t s = 0; s < stages; ++s) sums.push_back(g.input(4 * hidden));
  for (std::size_t b = 0; b < batches; ++b) {
    tensors saved{apply(g, {}, hidden)};
    for (std::size_t s = 0; s < stages; ++s) saved.push_back(apply(g, {saved.back()}, hidden * (1 + s % 3)));
    tensor_id gradient = apply(g, {saved.back()}, hidden);
    for (std::size_t s = stages; s-- > 0;) {
      sums[s] = apply(g, {sums[s], saved[s], gradient}, 4 * hidden, sums[s]);
      gradient = apply(g, {gradient, saved[s]}, hidden);
    }
  }
  for (tensor_id t : sums) g.output(t);
  return g.draft();
}

/// Many small operators as a compiler lowers programs to: each reads one to three of the latest values, most of them small.
inline problem_draft hlo(std::size_t operators, std::uint64_t seed) {
  random_source random(seed);
  problem_builder g;
  tensors all = inputs(g, 8, 4096);
  for (std::size_t i = 0; i < operators; ++i) {
    tensors from;
    for (std::size_t k = 1 + random.below(3); k > 0; --k) {
      const tensor_id t = all[all.size() - 1 - random.below(std::min<std::size_t>(all.size(), 60))];
      if (std::find(from.begin(), from.end(), t) == from.end()) from.push_back(t);
    }
    all.push_back(apply(g, from, bytes{4} << (random.below(14) * random.below(2))));
  }
  g.output(all.back());
  return g.draft();
}

/// Layers of a transformer in which each of `experts` experts gets a part of the values, as large as its gate says.
inline problem_draft experts(std::size_t layers, std::size_t experts, std::uint64_t seed) {
  random_source random(seed);
  constexpr bytes hidden = 1 << 16;
  problem_builder g;
  tensor_id x = apply(g, {}, hidden);
  for (std::size_t l = 0; l < layers; ++l) {
    const tensor_id gate = apply(g, {x}, 4 * experts);
    tensors results{x, gate};
    for (std::size_t e = 0; e < experts; ++e) {
      const bytes share = hidden / experts * (1 + random.below(3)) / 2;
      const tensor_id part = apply(g, {x, gate}, share);
      results.push_back(apply(g, {apply(g, {part}, 4 * share)}, share));
    }
    x = apply(g, results, hidden);
  }
  g.output(x);
  return g.draft();
}

/// A recurrent network: cell and output of each step from those of the step before.
inline problem_draft lstm(std::size_t steps) {
  constexpr bytes hidden = 1024;
  problem_builder g;
  tensor_id cell = apply(g, {}, hidden), out = apply(g, {}, hidden);
  for (std::size_t t = 0; t < steps; ++t) {
    const tensor_id gates = apply(g, {apply(g, {}, hidden), out}, 4 * hidden);
    cell = apply(g, {gates, cell}, hidden);
    out = apply(g, {gates, cell}, hidden);
  }
  g.output(out);
  return g.draft();
}

/// An encoder and a decoder, each level of which reads what the same level of the encoder wrote.
inline problem_draft unet(std::size_t levels) {
  problem_builder g;
  tensor_id x = apply(g, {}, bytes{1} << 16);
  tensors skips;
  const auto size_at = [](std::size_t level) { return bytes{1} << (20 - level); };
  for (std::size_t l = 0; l < levels; ++l) {
    skips.push_back(x = apply(g, {apply(g, {x}, size_at(l))}, size_at(l)));
    x = apply(g, {x}, size_at(l) / 4);
  }
  for (std::size_t l = levels; l-- > 0;) {
    const tensor_id joined = apply(g, {apply(g, {x}, size_at(l)), skips[l]}, 2 * size_at(l));
    x = apply(g, {apply(g, {joined}, size_at(l))}, size_at(l));
  }
  g.output(x);
  return g.draft();
}

/// A block in which each layer reads all layers before it, through a joined copy.
inline problem_draft densenet(std::size_t layers) {
  constexpr bytes growth = 32 * 28 * 28;
  problem_builder g;
  tensors features{apply(g, {}, 2 * growth)};
  for (std::size_t l = 0; l < layers; ++l) {
    const tensor_id joined = apply(g, features, (l + 2) * growth);
    features.push_back(apply(g, {apply(g, {joined}, 4 * growth)}, growth));
  }
  g.output(apply(g, features, growth));
  return g.draft();
}

/// A graph and its backward pass: each operator runs once more, on the gradients of what it wrote and on what it read, and
/// writes gradients of what it read. Those of one tensor are summed in place; those of what nothing writes are the outputs.
inline problem_draft trained(problem_draft d) {
  const std::size_t forward = d.operators.size();
  tensors gradient(d.tensors.size(), none);
  const auto add = [&](const tensors& reads, const tensors& writes, tensor_id overwritten) {
    d.operators.push_back({.overwrites = overwritten});
    for (tensor_id t : reads) d.reads.push(t);
    for (tensor_id t : writes) d.writes.push(t);
    d.reads.close(), d.writes.close(), d.after.close();
    if (d.overwrites.size() > 0) d.overwrites.close();
    if (d.updates.size() > 0) d.updates.close();
  };
  const auto fresh = [&](bytes size) {
    d.tensors.push_back({.size = size});
    return static_cast<tensor_id>(d.tensors.size() - 1);
  };
  for (tensor_id t : d.graph_outputs) {
    gradient[t] = fresh(d.tensors[t].size);
    add({t}, {gradient[t]}, none);
  }
  d.graph_outputs.clear();
  for (std::size_t op = forward; op-- > 0;) {
    tensors reads, read(d.reads[op].begin(), d.reads[op].end()), writes;
    for (tensor_id t : d.writes[op])
      if (gradient[t] != none) reads.push_back(gradient[t]);
    if (reads.empty()) continue;
    if (read.empty()) {
      for (tensor_id t : reads) d.graph_outputs.push_back(t);
      continue;
    }
    reads.insert(reads.end(), read.begin(), read.end());
    for (tensor_id t : read) writes.push_back(fresh(d.tensors[t].size));
    add(reads, writes, none);
    for (std::size_t i = 0; i < read.size(); ++i) {
      tensor_id& sum = gradient[read[i]];
      if (sum == none) {
        sum = writes[i];
      } else {
        const tensor_id before = sum;
        sum = fresh(d.tensors[read[i]].size);
        add({before, writes[i]}, {sum}, before);
      }
    }
  }
  return d;
}

/// A family by its name, with the numbers that follow it.
struct family {
  std::string_view name, parameters;
  std::size_t count;  ///< of numbers after the name
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
    {"qr", "TILES", 1, [](const arguments& a) { return qr(a[0]); }},
    {"bitonic", "LEVELS", 1, [](const arguments& a) { return bitonic(a[0]); }},
    {"map_reduce", "MAPPERS:REDUCERS", 2, [](const arguments& a) { return map_reduce(a[0], a[1]); }},
    {"elimination", "FRONTS:SEED", 2, [](const arguments& a) { return elimination(a[0], a[1]); }},
    {"trees", "LEAVES:SEED", 2, [](const arguments& a) { return trees(a[0], a[1]); }},
    {"hubs", "OPERATORS:SEED", 2, [](const arguments& a) { return hubs(a[0], a[1]); }},
    {"pipeline", "STAGES:BATCHES", 2, [](const arguments& a) { return pipeline(a[0], a[1]); }},
    {"hlo", "OPERATORS:SEED", 2, [](const arguments& a) { return hlo(a[0], a[1]); }},
    {"experts", "LAYERS:EXPERTS:SEED", 3, [](const arguments& a) { return experts(a[0], a[1], a[2]); }},
    {"lstm", "STEPS", 1, [](const arguments& a) { return lstm(a[0]); }},
    {"unet", "LEVELS", 1, [](const arguments& a) { return unet(a[0]); }},
    {"densenet", "LAYERS", 1, [](const arguments& a) { return densenet(a[0]); }},
};

/// The graph that a name such as "stencil:48:48" stands for, or "trained:unet:6" for one with its backward pass; none where it
/// stands for none.
inline std::optional<problem_draft> make(std::string_view name) {
  if (constexpr std::string_view prefix = "trained:"; name.starts_with(prefix)) {
    auto forward = make(name.substr(prefix.size()));
    return forward ? std::optional(trained(std::move(*forward))) : std::nullopt;
  }
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
