// SwiftNet for human presence detection (Visual Wake Words challenge 2019), the network of SERENITY's Figure 12 and
// Table 2: 224x224 image, one byte per element. The wiring is that of the published uint8 model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <networks/layers.hpp>

namespace networks {

enum class swiftnet_layer : unsigned char { split, conv, dwconv, concat, add, maxpool, avgpool, fc, softmax };

/// Row i of the wiring writes tensor i + 1 and reads the tensors listed; tensor 0 is the image. Only layers with
/// weights that mix channels need a width; the other shapes follow.
struct swiftnet_row {
  swiftnet_layer what;
  std::vector<tensor_id> reads;
  bytes channels = 0, stride = 1;
};

// clang-format off
inline std::vector<swiftnet_row> swiftnet_wiring() {
  using enum swiftnet_layer;
  return {
      // stem
      {split, {0}}, {conv, {1}, 16, 4}, {dwconv, {2}}, {conv, {3}, 32}, {maxpool, {4}},
      // cell A: rows 5 to 29, 28 pixels
      {conv, {5}, 32}, {concat, {5, 6}}, {conv, {6}, 32}, {conv, {5}, 32}, {concat, {5, 9}},
      {conv, {6}, 32}, {conv, {7}, 32}, {concat, {11, 12}}, {concat, {5, 9, 11, 12}}, {conv, {13}, 32},
      {concat, {6, 15}}, {concat, {12, 15}}, {conv, {16}, 32}, {conv, {14}, 32}, {concat, {8, 12, 18, 19}},
      {dwconv, {12}}, {conv, {21}, 32}, {dwconv, {18}}, {conv, {23}, 32}, {dwconv, {17}},
      {conv, {25}, 32}, {dwconv, {10}}, {conv, {27}, 32}, {conv, {20}, 32}, {concat, {22, 24, 26, 28, 29}},
      // around it
      {conv, {5}, 48}, {conv, {30}, 48}, {add, {31, 32}}, {maxpool, {33}},
      // cell B: rows 34 to 54, 14 pixels
      {conv, {34}, 48}, {conv, {34}, 48}, {conv, {34}, 48}, {conv, {34}, 48}, {conv, {34}, 80},
      {dwconv, {35}}, {dwconv, {35}}, {conv, {40}, 48}, {concat, {35, 42}}, {concat, {35, 42}},
      {conv, {43}, 48}, {dwconv, {44}}, {conv, {41}, 48}, {concat, {47, 36}}, {conv, {48}, 48},
      {conv, {36}, 48}, {concat, {34, 35, 42, 37}}, {conv, {51}, 48}, {conv, {52}, 48}, {conv, {46}, 48},
      {concat, {38, 45, 49, 53, 50, 54}},
      // around it
      {conv, {55}, 80}, {add, {39, 56}}, {maxpool, {57}},
      // cell C: rows 58 to 79, 7 pixels
      {conv, {58}, 64}, {conv, {58}, 76}, {dwconv, {59}}, {conv, {59}, 64}, {dwconv, {59}},
      {conv, {59}, 64}, {dwconv, {59}}, {dwconv, {59}}, {conv, {61}, 64}, {concat, {58, 67}},
      {concat, {59, 67}}, {conv, {68}, 64}, {dwconv, {69}}, {dwconv, {62}}, {dwconv, {62}},
      {conv, {63}, 64}, {conv, {72}, 64}, {conv, {73}, 64}, {conv, {71}, 64}, {conv, {65}, 64},
      {conv, {66}, 64}, {concat, {70, 74, 75, 64, 76, 77, 78, 79}},
      // around it, and the head
      {conv, {80}, 76}, {add, {60, 81}}, {avgpool, {82}}, {fc, {83}, 2}, {softmax, {84}},
  };
}
// clang-format on

/// Rows [first, last) of the wiring. Fused: a depthwise convolution and the pointwise one after it are one operator, as
/// in SERENITY's count of a cell's operators.
struct swiftnet_part {
  std::size_t first, last;
  bool fused;
};

inline constexpr swiftnet_part swiftnet_whole{0, 85, false};
inline constexpr swiftnet_part swiftnet_cell_a{5, 30, true};
inline constexpr swiftnet_part swiftnet_cell_b{34, 55, true};
inline constexpr swiftnet_part swiftnet_cell_c{58, 80, true};
inline constexpr swiftnet_part swiftnet_cells_abc{5, 80, true};

/// Builds a part. Its inputs are what it reads from before it; its outputs are what it writes and either
/// the rest reads or no operator does.
class swiftnet {
 public:
  explicit swiftnet(const swiftnet_part& part) : part_(part) {}

  problem_draft build() {
    add_inputs();
    for (std::size_t row = part_.first; row < part_.last; ++row)
      if (!(part_.fused && rows_[row].what == swiftnet_layer::dwconv)) add_operator(row);
    add_outputs();
    return net_.draft();
  }

 private:
  using kind = swiftnet_layer;

  /// Channels and side of every tensor of the whole network.
  static std::vector<feature> shapes(const std::vector<swiftnet_row>& rows) {
    std::vector<feature> map{{.channels = 3, .side = 224}};
    for (const swiftnet_row& row : rows) map.push_back(shape(row, map));
    return map;
  }

  static feature shape(const swiftnet_row& row, const std::vector<feature>& map) {
    feature to = map[row.reads.front()];
    to.side = strided(to.side, row.stride);
    if (row.channels != 0) to.channels = row.channels;
    if (row.what == kind::maxpool) to.side /= 2;
    if (row.what == kind::avgpool) to.side = 1;
    if (row.what == kind::concat) {
      to.channels = 0;
      for (tensor_id t : row.reads) to.channels += map[t].channels;
    }
    return to;
  }

  static const char* name(kind what) {
    switch (what) {
      case kind::split: return "split";
      case kind::conv: return "conv";
      case kind::dwconv: return "dwconv";
      case kind::concat: return "concat";
      case kind::add: return "add";
      case kind::maxpool: return "maxpool";
      case kind::avgpool: return "avgpool";
      case kind::fc: return "fc";
      case kind::softmax: return "softmax";
    }
    return "";
  }

  /// Whether a tensor comes from a row of this part, and whether a row belongs to it.
  bool written_here(tensor_id t) const { return t > part_.first && t <= part_.last; }
  bool here(std::size_t row) const { return row >= part_.first && row < part_.last; }

  void add_inputs() {
    std::vector<bool> wanted(map_.size(), false);
    for (std::size_t row = part_.first; row < part_.last; ++row)
      for (tensor_id t : rows_[row].reads) wanted[t] = !written_here(t);
    for (std::size_t t = 0; t < map_.size(); ++t)
      if (wanted[t]) map_[t] = net_.input(map_[t].channels, map_[t].side);
  }

  void add_operator(std::size_t i) {
    const swiftnet_row& row = rows_[i];
    feature& to = map_[i + 1];
    std::string what = name(row.what);
    std::vector<feature> from;
    for (tensor_id t : row.reads) {
      const bool skipped = part_.fused && written_here(t) && rows_[t - 1].what == kind::dwconv;
      if (skipped) what = "sepconv";
      from.push_back(map_[skipped ? rows_[t - 1].reads.front() : t]);
    }
    to = net_.apply(what, from, to.channels, to.side);
  }

  void add_outputs() {
    std::vector<bool> read_inside(map_.size(), false), read_outside(map_.size(), false);
    for (std::size_t row = 0; row < rows_.size(); ++row)
      for (tensor_id t : rows_[row].reads) (here(row) ? read_inside : read_outside)[t] = true;
    for (std::size_t t = part_.first + 1; t <= part_.last; ++t)
      if (read_outside[t] || !read_inside[t]) net_.output(map_[t]);
  }

  swiftnet_part part_;
  std::vector<swiftnet_row> rows_ = swiftnet_wiring();
  std::vector<feature> map_ = shapes(rows_);  ///< per tensor: its shape, and once it exists, its id
  layers net_{uint8_size};
};

}  // namespace networks
