// The persistent rest of TensorFlow Lite Micro's arena: lists of operators and tensors, and memory that kernels keep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <memsched/allocation/buffers.hpp>
#include <memsched/base/bytes.hpp>
#include <memsched/formats/tflite/micro_scratch.hpp>
#include <memsched/formats/tflite/sizes.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Pointers of the machine that runs TensorFlow Lite Micro: microcontrollers have 32 bits, simulations on a desktop 64.
enum class pointer_width : unsigned char { bits_32, bits_64 };

namespace detail::tflite {

/// Bytes of a structure with pointers of 32 and of 64 bits.
struct micro_size {
  std::uint16_t on_32 = 0, on_64 = 0;
  constexpr bytes on(pointer_width w) const { return w == pointer_width::bits_32 ? on_32 : on_64; }
};
constexpr micro_size both(std::uint16_t n) { return {n, n}; }

/// A kernel keeps a multiplier and a shift for each channel of this operand; the channels lie in this dimension.
struct micro_channels {
  std::uint8_t operand = 0, dimension = 0;  ///< operand 0: none
  bool when_several = false;                ///< only if the operand has several scales
};

/// Structures that TensorFlow Lite Micro makes for an operator of a kind, by its reference kernels of 2026.
struct micro_kernel {
  kind_id kind;
  micro_size options{};  ///< parsed from the file
  bytes aligned = 4;     ///< of the options
  micro_size data{};     ///< made by the kernel when it starts
  micro_channels channels{};
};

// clang-format off
inline constexpr micro_kernel micro_kernels[] = {
    {kind("CONV_2D"), both(28), 4, {56, 72}, {1, 0}},
    {kind("DEPTHWISE_CONV_2D"), both(28), 4, {56, 72}, {1, 3}},
    {kind("TRANSPOSE_CONV"), both(20), 4, {72, 80}, {1, 0}},
    {kind("FULLY_CONNECTED"), both(16), 4, {48, 64}, {1, 0, true}},
    {kind("AVERAGE_POOL_2D"), both(40), 4, both(32)},
    {kind("MAX_POOL_2D"), both(40), 4, both(32)},
    {kind("ADD"), both(8), 4, both(60)},
    {kind("SUB"), both(8), 4, both(52)},
    {kind("MUL"), both(4), 4, both(36)},
    {kind("DIV"), both(4), 4, both(36)},
    {kind("SOFTMAX"), both(4), 4, {56, 80}},
    {kind("CONCATENATION"), both(8), 4, {24, 40}},
    {kind("STRIDED_SLICE"), both(24), 4, both(84)},
    {kind("PAD"), {}, 4, both(56)},
    {kind("PADV2"), {}, 4, both(56)},
    {kind("MEAN"), both(1), 1, both(52)},
    {kind("SUM"), both(1), 1, both(52)},
    {kind("QUANTIZE"), {}, 4, both(32)},
    {kind("DEQUANTIZE"), {}, 4, both(32)},
    {kind("RELU"), {}, 4, both(28)},
    {kind("RELU6"), {}, 4, both(8)},
    {kind("LEAKY_RELU"), both(4), 4, both(24)},
    {kind("PRELU"), {}, 4, both(28)},
    {kind("HARD_SWISH"), {}, 4, both(20)},
    {kind("LOGISTIC"), {}, 4, both(16)},
    {kind("TANH"), {}, 4, both(16)},
    {kind("SVDF"), both(12), 4, {40, 48}},
    {kind("CALL_ONCE"), both(4), 4, both(8)},
    {kind("VAR_HANDLE"), {8, 16}, 8, both(4)},
    // Kernels that keep nothing.
    {kind("RESHAPE"), both(36)},
    {kind("SQUEEZE"), both(36)},
    {kind("SPLIT"), both(4)},
    {kind("SPLIT_V"), both(4)},
    {kind("PACK"), both(8)},
    {kind("UNPACK"), both(8)},
    {kind("ARG_MAX"), both(4)},
    {kind("ARG_MIN"), both(4)},
    {kind("GATHER"), both(8)},
    {kind("DEPTH_TO_SPACE"), both(4)},
    {kind("SPACE_TO_DEPTH"), both(4)},
    {kind("RESIZE_NEAREST_NEIGHBOR"), both(2), 1},
    {kind("RESIZE_BILINEAR"), both(2), 1},
    {kind("SLICE")}, {kind("TRANSPOSE")}, {kind("EXPAND_DIMS")}, {kind("MAXIMUM")}, {kind("MINIMUM")},
    {kind("READ_VARIABLE")}, {kind("ASSIGN_VARIABLE")}, {kind("SQRT")}, {kind("EXP")}, {kind("LOG")}, {kind("SIN")},
    {kind("COS")}, {kind("SQUARE")}, {kind("NEG")}, {kind("FLOOR")}, {kind("CEIL")}, {kind("ROUND")}};
// clang-format on

/// Structures of the runtime itself.
inline constexpr micro_size allocator_size{36, 72}, planner_size{44, 72}, micro_allocator_size{36, 72},
    options_allocator_size{8, 16}, subgraph_size{8, 16}, eval_tensor_size{12, 24}, node_size{32, 64},
    scratch_handle_size{4, 8}, tensor_size{40, 64}, quantization_size{12, 24}, pointer_size{4, 8}, variables_size{12, 16},
    variable_size{20, 40};

/// Adds up the persistent allocations of TensorFlow Lite Micro in their order, with the padding between them: the
/// interpreter, its lists, the kernels, variables, and the inputs and outputs that callers see.
class micro_tail_count {
 public:
  /// `before`: bytes that stand in front of the lists of the model.
  micro_tail_count(model_file& m, tensor_sizes& sizes, pointer_width width, bytes before)
      : m_(m), sizes_(sizes), width_(width), end_(before) {
    for (const std::size_t s : m_.callers_first) ordered_.push_back(s);
    std::sort(ordered_.begin(), ordered_.end());
  }

  /// The interpreter's own objects, in front of the lists.
  static bytes of_interpreter(pointer_width w) {
    return allocator_size.on(w) + planner_size.on(w) + micro_allocator_size.on(w);
  }

  bytes run() {
    const bytes pointer = pointer_size.on(width_);
    take(options_allocator_size.on(width_), pointer);
    take(subgraph_size.on(width_) * m_.listed().size(), pointer);
    for (const table& g : m_.listed())
      take(eval_tensor_size.on(width_) * m_.file.children(g, subgraph_fields::tensors).size(), pointer);
    for (const table& g : m_.listed())
      take(node_size.on(width_) * m_.file.children(g, subgraph_fields::operators).size(), pointer);
    each_operator([&](std::size_t, const operator_info&, const micro_kernel& k) {
      take(k.options.on(width_), std::min(k.aligned, std::max<bytes>(pointer, 4)));
    });
    each_operator([&](std::size_t, const operator_info&, const micro_kernel& k) { kept(k.data.on(width_)); });
    each_operator([&](std::size_t s, const operator_info& op, const micro_kernel& k) { prepare(s, op, k); });
    keep_variables();
    keep_ends(subgraph_fields::inputs);
    keep_ends(subgraph_fields::outputs);
    return end_;
  }

  /// Resource variables, once counted; the caller of the runtime makes room for their list.
  std::size_t variables() const { return variables_.size(); }

  /// Kinds that have no row in the table, each once: nothing is counted for them but their nodes.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  /// The end moves down to an aligned place with room for `size` bytes.
  void take(bytes size, bytes alignment) {
    if (size > 0) end_ = round_up(end_ + size, alignment);
  }
  /// Memory that a kernel asks for.
  void kept(bytes size) { take(size, 16); }

  template <class See>
  void each_operator(const See& see) {
    for (const std::size_t s : ordered_)
      for (const operator_info& op : m_.subgraphs[s].operators) {
        const auto k = std::find_if(std::begin(micro_kernels), std::end(micro_kernels),
                                    [&](const micro_kernel& known) { return known.kind == op.kind; });
        if (k != std::end(micro_kernels)) see(s, op, *k);
        else if (const std::string name = m_.kind_of(op);
                 std::find(unknown_.begin(), unknown_.end(), name) == unknown_.end())
          unknown_.push_back(name);
      }
  }

  void prepare(std::size_t s, const operator_info& op, const micro_kernel& k) {
    const auto& tensors = m_.subgraphs[s].tensors;
    if (k.channels.operand > 0 && k.channels.operand < op.inputs.size()) {
      const table& weights = tensors[op.inputs[k.channels.operand]];
      const table quantization = m_.file.child(weights, tensor_fields::quantization);
      const bool several = m_.file.numbers<float>(quantization, quantization_fields::scale).size() > 1;
      const auto dims = m_.file.numbers(weights, tensor_fields::shape);
      if (k.channels.dimension < dims.size() && dims[k.channels.dimension] > 0 && (several || !k.channels.when_several))
        for (int list = 0; list < 2; ++list) kept(4 * static_cast<bytes>(dims[k.channels.dimension]));
    }
    scratch_ += micro_scratch(m_, sizes_).of(s, op).sizes.size();
    if (op.kind == kind("VAR_HANDLE") && !op.outputs.empty()) handles_[{s, op.outputs[0]}] = name_of(op);
    if (op.kind == kind("ASSIGN_VARIABLE") && op.inputs.size() == 2) {
      const auto handle = handles_.find({s, op.inputs[0]});
      if (handle == handles_.end() || !variables_.insert(handle->second).second) return;
      kept(sizes_.size(s, op.inputs[1]));
    }
  }

  /// The name under which subgraphs share a variable.
  std::pair<std::string, std::string> name_of(const operator_info& op) {
    constexpr field container{0, "container"}, shared{1, "shared_name"};
    const table options = m_.file.child(op.data, operator_fields::options);
    return {m_.file.text(options, container), m_.file.text(options, shared)};
  }

  void keep_variables() {
    for (const std::size_t s : ordered_) {
      take(scratch_ * scratch_handle_size.on(width_), pointer_size.on(width_));
      const subgraph_info& g = m_.subgraphs[s];
      for (index_t t = 0; t < g.tensors.size(); ++t)
        if (g.origins[t] == origin::variable) kept(sizes_.size(s, t));
    }
  }

  /// Inputs or outputs of subgraph 0: a list of pointers, and a tensor with its quantization for each.
  void keep_ends(field which) {
    const std::vector<std::int32_t> list = m_.file.numbers(m_.subgraphs[0].data, which);
    kept(list.size() * pointer_size.on(width_));
    for (const std::int32_t t : list) {
      const bytes pointer = pointer_size.on(width_);
      take(tensor_size.on(width_), pointer);
      const table quantization =
          m_.file.child(m_.subgraphs[0].tensors[static_cast<std::size_t>(t)], tensor_fields::quantization);
      const std::size_t scales = m_.file.numbers<float>(quantization, quantization_fields::scale).size();
      if (scales == 0 || m_.file.numbers<std::int64_t>(quantization, quantization_fields::zero_point).empty()) continue;
      take(quantization_size.on(width_), pointer);
      take(4 + 4 * static_cast<bytes>(scales), 4);
    }
  }

  model_file& m_;
  tensor_sizes& sizes_;
  pointer_width width_;
  bytes end_;
  std::vector<std::size_t> ordered_;  ///< subgraphs that run, as the file lists them
  std::size_t scratch_ = 0;
  std::map<std::pair<std::size_t, index_t>, std::pair<std::string, std::string>> handles_;
  std::set<std::pair<std::string, std::string>> variables_;
  std::vector<std::string> unknown_;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
