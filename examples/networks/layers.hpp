// A builder in terms of layers and feature maps, which the generators of neural networks share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/builder.hpp>

namespace networks {

using memsched::bytes;
using memsched::index_t;
using memsched::problem_draft;
using memsched::tensor_id;

/// A square feature map of one image; a vector is a map of side 1.
struct feature {
  tensor_id tensor = memsched::none;
  bytes channels = 0, side = 0;
};

/// Whether a layer's output may take the storage of its first input.
enum class store : unsigned char { fresh, in_place };

inline constexpr bytes uint8_size = 1;
inline constexpr bytes float32_size = 4;

/// The side of what a layer with "same" padding makes of a map.
constexpr bytes strided(bytes side, bytes stride) { return (side + stride - 1) / stride; }

/// Builds a network layer by layer. Operator i is called "<kind>_<i>".
class layers {
 public:
  explicit layers(bytes element_size) : element_(element_size) {}

  /// The cell or stage of the layers to come.
  void begin_scope(index_t scope) { scope_ = scope; }
  void end_scope() { scope_ = memsched::none; }

  feature input(bytes channels, bytes side) { return {builder_.input(size(channels, side), "input"), channels, side}; }
  void output(const feature& x) { builder_.output(x.tensor); }

  /// A layer of any kind that writes `channels` maps of `side` x `side`.
  feature apply(const std::string& kind, const std::vector<feature>& from, bytes channels, bytes side,
                store where = store::fresh) {
    const std::string name = kind + "_" + std::to_string(operators_++);
    const feature to{builder_.tensor(size(channels, side), name + ":0"), channels, side};
    memsched::operator_spec op{.writes = {to.tensor}, .scope = scope_, .name = name};
    for (const feature& x : from) op.reads.push_back(x.tensor);
    if (where == store::in_place) op.overwrites = from.front().tensor;
    builder_.op(op);
    return to;
  }

  /// A layer of any kind that keeps the shape of its first input.
  feature same(const std::string& kind, const std::vector<feature>& from, store where = store::fresh) {
    return apply(kind, from, from.front().channels, from.front().side, where);
  }
  feature conv(const feature& x, bytes channels, bytes stride = 1) {
    return apply("conv", {x}, channels, strided(x.side, stride));
  }
  feature depthwise(const feature& x, bytes stride = 1) { return apply("dwconv", {x}, x.channels, strided(x.side, stride)); }
  feature add(const feature& a, const feature& b) { return same("add", {a, b}); }
  feature concat(const std::vector<feature>& from) {
    bytes channels = 0;
    for (const feature& x : from) channels += x.channels;
    return apply("concat", from, channels, from.front().side);
  }

  problem_draft draft() const { return builder_.draft(); }

 private:
  bytes size(bytes channels, bytes side) const { return channels * side * side * element_; }

  memsched::problem_builder builder_;
  bytes element_;
  index_t scope_ = memsched::none;
  std::size_t operators_ = 0;
};

}  // namespace networks
