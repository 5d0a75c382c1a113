// Checks of the assumptions that ONNX's inference functions make about an operator. Without them these read beyond the
// end of a shape or divide by zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/literal.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Checks one operator whose inputs are known.
class guard {
 public:
  guard(const onnx::NodeProto& node, const std::vector<const value*>& inputs, const std::string& who)
      : node_(node), op_(node.op_type()), inputs_(inputs), who_(who) {}

  void run() const {
    check_ranges();
    check_ranks();
    check_list();
    check_axis();
    if (const auto other = window_input()) check_window(*other);
    if (op_ == "Scan") check_scan();
    if (op_ == "GatherND") check_range("batch_dims", attribute(node_, "batch_dims", 0), {0, std::min(rank(0), rank(1)) - 1});
    if (op_ == "LayerNormalization") check_range("axis", attribute(node_, "axis", -1), {-rank(0), rank(0) - 1});
    if (op_ == "MaxRoiPool") check_length("pooled_shape", 2);
    if (op_ == "SplitToSequence") refuse(who_ + " makes a sequence; only tensors are supported");
  }

 private:
  using range = std::pair<std::int64_t, std::int64_t>;

  void check_range(std::string_view name, std::int64_t v, range r) const {
    if (v < r.first || v > r.second)
      refuse(who_ + ": " + std::string(name) + " is " + std::to_string(v) + ", not from " + std::to_string(r.first) +
             " to " + std::to_string(r.second));
  }

  /// Parameters stay so small that their products with dimensions do not overflow, and divisors are positive.
  void check_ranges() const {
    constexpr std::int64_t factor = 1 << 20, margin = 1 << 30;
    static const std::map<std::string, range> ranges{{"strides", {1, factor}},
                                                     {"dilations", {1, factor}},
                                                     {"kernel_shape", {1, factor}},
                                                     {"blocksize", {1, factor}},
                                                     {"group", {1, factor}},
                                                     {"pads", {-margin, margin}},
                                                     {"paddings", {-margin, margin}},
                                                     {"output_padding", {0, factor}},
                                                     {"output_shape", {0, max_dimension}},
                                                     {"repeats", {0, factor}},
                                                     {"pooled_shape", {0, max_dimension}},
                                                     {"split", {0, max_dimension}}};
    for (const auto& a : node_.attribute()) {
      const auto found = ranges.find(a.name());
      if (found == ranges.end()) continue;
      if (a.type() == onnx::AttributeProto::INT) check_range(a.name(), a.i(), found->second);
      for (std::int64_t v : a.ints()) check_range(a.name(), v, found->second);
    }
    const char* input = op_ == "Tile" ? "repeats" : op_ == "Pad" ? "pads" : nullptr;
    if (input && inputs_.size() > 1 && inputs_[1] && inputs_[1]->content)
      for (double v : inputs_[1]->content->values) check_range(input, to_integer(v), ranges.at(input));
  }

  void check_ranks() const {
    static const std::unordered_map<std::string, std::vector<std::int64_t>> ranks{
        {"Gemm", {2, 2}}, {"MaxRoiPool", {4, 2}}, {"GRU", {3}}, {"LSTM", {3}}, {"RNN", {3}}, {"STFT", {3}}};
    const auto found = ranks.find(op_);
    if (found == ranks.end()) return;
    for (std::size_t i = 0; i < found->second.size(); ++i)
      check_range(rank_label(i), rank(i), {found->second[i], found->second[i]});
  }

  /// Inference cuts an axis to 32 bits before it looks at it.
  void check_axis() const {
    static const std::unordered_map<std::string, std::int64_t> beyond{
        // how far it may lie beyond the last dimension
        {"Concat", 0},  {"Split", 0},      {"Gather", 0},  {"GatherElements", 0}, {"ScatterElements", 0},
        {"Softmax", 0}, {"LogSoftmax", 0}, {"Hardmax", 0}, {"ArgMax", 0},         {"ArgMin", 0},
        {"TopK", 0},    {"Compress", 0},   {"Flatten", 1}, {"OneHot", 1}};
    const auto found = beyond.find(op_);
    const auto* a = attribute(node_, "axis");
    if (found == beyond.end() || !a || inputs_.empty() || !inputs_[0] || !inputs_[0]->shape) return;
    check_range("axis", a->i(), {-rank(0) - found->second, rank(0) - 1 + found->second});
  }

  /// Inputs that list a number for each dimension (or two, in paddings).
  void check_list() const {
    static const std::unordered_map<std::string, std::size_t> lists{
        {"ConstantOfShape", 0}, {"Expand", 1}, {"Reshape", 1}, {"Tile", 1},     {"Upsample", 1}, {"Pad", 1},
        {"MaxUnpool", 2},       {"Resize", 3}, {"Squeeze", 1}, {"Unsqueeze", 1}};
    const auto found = lists.find(op_);
    if (found == lists.end() || found->second >= inputs_.size()) return;
    const value* list = inputs_[found->second];
    if (!list || !list->shape) return;
    constexpr auto longest = static_cast<std::int64_t>(2 * max_rank);
    for (std::int64_t d : *list->shape) check_range("the length of input " + std::to_string(found->second), d, {0, longest});
  }

  /// The input of a convolution or pooling that has the rank of the first; none for other operators.
  std::optional<std::size_t> window_input() const {
    static const std::unordered_map<std::string, std::size_t> inputs{
        {"Conv", 1},    {"ConvInteger", 1}, {"ConvTranspose", 1}, {"QLinearConv", 3},
        {"MaxPool", 0}, {"AveragePool", 0}, {"LpPool", 0},        {"MaxUnpool", 1}};
    const auto found = inputs.find(op_);
    return found == inputs.end() ? std::nullopt : std::optional(found->second);
  }

  void check_window(std::size_t other) const {
    check_range(rank_label(0), rank(0), {3, static_cast<std::int64_t>(max_rank)});
    check_range(rank_label(other), rank(other), {rank(0), rank(0)});
    const std::int64_t spatial = rank(0) - 2;
    for (const char* name : {"kernel_shape", "strides", "dilations", "output_padding"}) check_length(name, spatial);
    check_length("pads", 2 * spatial);
    if (op_ != "ConvTranspose" && op_ != "MaxUnpool") check_kernel(other);
  }

  /// A window must fit into the padded image.
  void check_kernel(std::size_t other) const {
    const auto* pads = attribute(node_, "pads");
    const auto* kernel = attribute(node_, "kernel_shape");
    const auto* dilations = attribute(node_, "dilations");
    if (const auto* automatic = attribute(node_, "auto_pad"); automatic && automatic->s().starts_with("SAME")) return;
    if (!kernel && other == 0) return;
    const dimensions& image = *inputs_[0]->shape;
    const auto spatial = static_cast<int>(image.size()) - 2;
    for (int i = 0; i < spatial; ++i) {
      const auto at = static_cast<std::size_t>(i) + 2;
      const std::int64_t size = kernel ? kernel->ints(i) : (*inputs_[other]->shape)[at];
      const std::int64_t reach = (size - 1) * (dilations ? dilations->ints(i) : 1) + 1;
      const std::int64_t padded = image[at] + (pads ? pads->ints(i) + pads->ints(i + spatial) : 0);
      if (image[at] > 0 && size > 0 && reach > padded)
        refuse(who_ + ": a kernel of " + std::to_string(reach) + " is larger than its image of " + std::to_string(padded));
    }
  }

  void check_length(const char* name, std::int64_t length) const {
    if (const auto* a = attribute(node_, name))
      check_range("the length of " + std::string(name), a->ints_size(), {length, length});
  }

  void check_scan() const {
    const auto inputs = static_cast<std::int64_t>(inputs_.size());
    const std::int64_t scanned = attribute(node_, "num_scan_inputs", 0);
    check_range("num_scan_inputs", scanned, {1, inputs});
    if (inputs - scanned > node_.output_size()) refuse(who_ + " has fewer outputs than carried values");
  }

  static std::string rank_label(std::size_t input) { return "the rank of input " + std::to_string(input); }

  /// The rank of an input that must be there and of known shape.
  std::int64_t rank(std::size_t i) const {
    if (i >= inputs_.size() || !inputs_[i] || !inputs_[i]->shape)
      refuse(who_ + ": the shape of input " + std::to_string(i) + " is not known");
    return static_cast<std::int64_t>(inputs_[i]->shape->size());
  }

  const onnx::NodeProto& node_;
  const std::string& op_;
  const std::vector<const value*>& inputs_;
  const std::string& who_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
