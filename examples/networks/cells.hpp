// Networks of stacked cells: NASNet-A (Zoph et al. 2018), AmoebaNet-A (Real et al. 2019), DARTS (Liu et al. 2019), in
// the sizes and with the conventions of HMCOS (Wang et al., DAC 2022): float32; convolution and normalization are one
// operator; relu and addition are operators of their own and may work in place; equal operators on equal inputs are
// one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <networks/layers.hpp>

namespace networks {

/// The operations that a cell may apply to a map. Convolutions are separable; the kernel's size does not change memory.
enum class step : unsigned char { id, sep3, sep5, sep7, dil3, avg3, max3, conv1x7 };

/// A step and where its input comes from: 0 the cell before the last, 1 the last cell, 2 and up the blocks of this
/// cell.
struct edge {
  step what;
  std::size_t from;
};

/// The sum of two edges.
struct block {
  edge left, right;
};

/// A cell is a list of blocks; its output concatenates some of them.
struct cell_plan {
  std::vector<block> blocks;
  std::vector<std::size_t> concatenated;
};

struct genotype {
  cell_plan normal, reduction;
};

// clang-format off
inline genotype nasnet_a() {
  using enum step;
  return {.normal = {.blocks = {{{sep5, 1}, {sep3, 0}},
                                {{sep5, 0}, {sep3, 0}},
                                {{avg3, 1}, {id, 0}},
                                {{avg3, 0}, {avg3, 0}},
                                {{sep3, 1}, {id, 1}}},
                     .concatenated = {0, 2, 3, 4, 5, 6}},
          .reduction = {.blocks = {{{sep5, 1}, {sep7, 0}},
                                   {{max3, 1}, {sep5, 0}},
                                   {{avg3, 1}, {sep5, 0}},
                                   {{id, 3}, {avg3, 2}},
                                   {{sep3, 2}, {max3, 1}}},
                        .concatenated = {3, 4, 5, 6}}};
}

inline genotype amoebanet_a() {
  using enum step;
  return {.normal = {.blocks = {{{avg3, 0}, {max3, 0}},
                                {{id, 0}, {avg3, 1}},
                                {{sep5, 2}, {sep3, 1}},
                                {{sep3, 2}, {id, 1}},
                                {{avg3, 4}, {sep3, 0}}},
                     .concatenated = {3, 5, 6}},
          .reduction = {.blocks = {{{avg3, 0}, {sep3, 1}},
                                   {{max3, 1}, {max3, 0}},
                                   {{max3, 0}, {sep7, 2}},
                                   {{sep7, 0}, {avg3, 1}},
                                   {{sep3, 3}, {conv1x7, 0}}},
                        .concatenated = {4, 5, 6}}};
}

inline genotype darts() {
  using enum step;
  return {.normal = {.blocks = {{{sep3, 0}, {sep3, 1}},
                                {{sep3, 0}, {sep3, 1}},
                                {{sep3, 1}, {id, 0}},
                                {{id, 0}, {dil3, 2}}},
                     .concatenated = {2, 3, 4, 5}},
          .reduction = {.blocks = {{{max3, 0}, {max3, 1}},
                                   {{id, 2}, {max3, 1}},
                                   {{max3, 0}, {id, 2}},
                                   {{id, 2}, {max3, 1}}},
                        .concatenated = {2, 3, 4, 5}}};
}

/// A random point of NASNet's search space (Zoph et al. 2018, section 3): each cell has five blocks; a block takes two of
/// what is there before it, with repetition, and any step; what no block takes is concatenated.
inline genotype random_genotype(std::uint64_t seed) {
  constexpr std::size_t blocks = 5, steps = 8;
  memsched::base::random_source random(seed);
  const auto cell = [&] {
    cell_plan plan;
    std::vector<bool> taken(blocks + 2, false);
    const auto draw = [&](std::size_t there) {
      const auto from = static_cast<std::size_t>(random.below(there));
      taken[from] = true;
      return edge{static_cast<step>(random.below(steps)), from};
    };
    for (std::size_t i = 0; i < blocks; ++i) {
      const edge left = draw(i + 2);
      plan.blocks.push_back({left, draw(i + 2)});
    }
    for (std::size_t i = 0; i < blocks + 2; ++i)
      if (!taken[i]) plan.concatenated.push_back(i);
    return plan;
  };
  genotype drawn;
  drawn.normal = cell();
  drawn.reduction = cell();
  return drawn;
}

/// The frame around the cells: N is a normal cell, R a reduction, which halves the side.
struct cell_stack {
  bytes image_side, stem_stride, classes;
  std::string_view cells;
};

inline constexpr cell_stack cifar_stack{32, 1, 100, "NNNNNN" "R" "NNNNNN" "R" "NNNNNN"};
inline constexpr cell_stack imagenet_stack{224, 2, 1000, "RR" "NNNN" "R" "NNNN" "R" "NNNN"};
// clang-format on

/// Builds one network, in `Layers`; each operator's scope is the index of its cell.
template <class Layers = layers>
class cell_network {
 public:
  explicit cell_network(genotype plan) : plan_(std::move(plan)) {}

  /// `filters` is the width of the first cell; each later reduction doubles it.
  auto build(const cell_stack& stack, bytes filters) {
    feature last = net_.conv(net_.input(3, stack.image_side), 32, stack.stem_stride);
    feature before_last;
    for (std::size_t i = 0; i < stack.cells.size(); ++i) {
      const bool reduce = stack.cells[i] == 'R';
      if (reduce && i > 0) filters *= 2;
      net_.begin_scope(static_cast<index_t>(i));
      const feature right = squeeze(last, filters);
      const feature left = i == 0 ? right : fit(before_last, right.side, filters);
      before_last = std::exchange(last, cell(reduce ? plan_.reduction : plan_.normal, left, right, reduce));
    }
    net_.end_scope();
    net_.output(classify(last, stack.classes));
    return net_.draft();
  }

 private:
  feature cell(const cell_plan& plan, const feature& left, const feature& right, bool reduce) {
    std::vector<feature> blocks{left, right};
    for (const block& b : plan.blocks) {
      const feature x = follow(b.left, blocks, reduce);
      const feature y = follow(b.right, blocks, reduce);
      blocks.push_back(merged("add", {x, y}, x.side, store::in_place));
    }
    std::vector<feature> parts;
    for (std::size_t b : plan.concatenated) parts.push_back(blocks[b]);
    return net_.concat(parts);
  }

  feature follow(const edge& e, const std::vector<feature>& blocks, bool reduce) {
    const feature& x = blocks[e.from];
    const bytes stride = reduce && e.from < 2 ? 2 : 1;
    switch (e.what) {
      case step::id: return x;
      case step::sep3:
      case step::sep5:
      case step::sep7: return separable(separable(x, stride), 1);
      case step::dil3: return separable(x, stride);
      case step::avg3: return merged("avgpool", {x}, strided(x.side, stride));
      case step::max3: return merged("maxpool", {x}, strided(x.side, stride));
      case step::conv1x7: return net_.conv(net_.conv(x, x.channels, stride), x.channels);
    }
    return x;
  }

  feature relu(const feature& x) { return merged("relu", {x}, x.side, store::in_place); }
  feature separable(const feature& x, bytes stride) { return net_.conv(net_.depthwise(relu(x), stride), x.channels); }
  feature squeeze(const feature& x, bytes filters) { return net_.conv(relu(x), filters); }

  /// Brings the cell before the last to the shape of the last one, by the "factorized reduction" where it is larger:
  /// two convolutions of every other pixel, the second one shifted by a pixel.
  feature fit(const feature& x, bytes side, bytes filters) {
    if (x.side == side) return squeeze(x, filters);
    const feature active = relu(x);
    const feature even = net_.conv(net_.apply("subsample", {active}, x.channels, side), filters / 2);
    const feature padded = net_.apply("pad", {active}, x.channels, x.side + 1);
    const feature shifted = net_.apply("slice", {padded}, x.channels, x.side);
    const feature odd = net_.conv(net_.apply("subsample", {shifted}, x.channels, side), filters / 2);
    return net_.same("bn", {net_.concat({even, odd})});
  }

  feature classify(const feature& x, bytes classes) {
    const feature pooled = net_.apply("gap", {relu(x)}, x.channels, 1);
    const feature flat = net_.same("squeeze", {pooled}, store::in_place);
    return net_.same("bias", {net_.apply("matmul", {flat}, classes, 1)}, store::in_place);
  }

  /// A layer without weights, once for each list of inputs.
  feature merged(const std::string& kind, const std::vector<feature>& from, bytes side, store where = store::fresh) {
    std::vector<tensor_id> reads;
    for (const feature& x : from) reads.push_back(x.tensor);
    const auto [at, is_new] = made_.try_emplace({kind, reads, side});
    if (is_new) at->second = net_.apply(kind, from, from.front().channels, side, where);
    return at->second;
  }

  genotype plan_;
  Layers net_{float32_size};
  std::map<std::tuple<std::string, std::vector<tensor_id>, bytes>, feature> made_;
};

}  // namespace networks
