// The room that kernels of TensorFlow Lite Micro ask for while they run: scratch buffers in the head of the arena.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <memsched/allocation/buffers.hpp>
#include <memsched/base/bytes.hpp>
#include <memsched/formats/tflite/kinds.hpp>
#include <memsched/formats/tflite/sizes.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// The buffers that an operator asks for.
struct micro_requests {
  std::vector<bytes> sizes;  ///< as asked for: the runtime rounds each up to 16
  bool known = true;         ///< false: the kernel may ask for more
};

/// The requests of the reference kernels of 2026. A pointer counts 8 bytes: right in a simulation on 64 bits, too much on a
/// microcontroller.
class micro_scratch {
 public:
  micro_scratch(model_file& m, tensor_sizes& sizes) : m_(m), sizes_(sizes) {}

  /// The requests of an operator of subgraph s. Faults of sizes go to the file.
  micro_requests of(std::size_t s, const operator_info& op) {
    micro_requests r;
    if (op.inputs.empty() || op.outputs.empty()) return r;
    const auto input_type = type(s, op.inputs[0]);
    const auto results = [&] { return elements(s, op.outputs[0]); };
    if (op.kind == kind("MEAN") || op.kind == kind("SUM")) {
      if (quantized(input_type)) r.sizes = {4 * results()};
    } else if (op.kind == kind("REDUCE_MAX") || op.kind == kind("REDUCE_MIN")) {
      r.sizes = {4 * rank(s, op.inputs[0]), op.inputs.size() > 1 ? 4 * elements(s, op.inputs[1]) : 0};
    } else if (op.kind == kind("MIRROR_PAD")) {
      r.sizes.assign(2, 4 * rank(s, op.inputs[0]));
    } else if (op.kind == kind("ADD_N")) {
      r.sizes = {8 * op.inputs.size()};
    } else if (op.kind == kind("SVDF")) {
      r.sizes = {4 * filters_of_svdf(s, op)};
      if (input_type == int8) r.sizes.push_back(4 * results());
    } else if (op.kind == kind("UNIDIRECTIONAL_SEQUENCE_LSTM")) {
      r.sizes.assign(4, state_of_lstm(s, op));
    } else if (op.kind == kind("TRANSPOSE_CONV")) {
      const auto result_type = type(s, op.outputs[0]);
      if (result_type == int8 || result_type == int16) r.sizes = {(result_type == int8 ? 4 : 8) * results()};
    } else if (among(weighted, op.kind) && op.inputs.size() > 1) {
      const auto weights = type(s, op.inputs[1]);
      if (weights == int4) r.sizes = {elements(s, op.inputs[1])};  // unpacked, a byte each
      r.known = input_type != float32 || weights == float32;
    } else {
      r.known = op.kind != custom || m_.kind_of(op).find("Detection") == std::string::npos;
    }
    std::erase(r.sizes, 0);
    return r;
  }

 private:
  static constexpr kind_id weighted[] = {kind("CONV_2D"), kind("DEPTHWISE_CONV_2D"), kind("FULLY_CONNECTED")};
  static constexpr std::uint8_t float32 = 0, uint8 = 3, int16 = 7, int8 = 9, int4 = 17;

  static bool quantized(std::uint8_t type) { return type == int8 || type == uint8 || type == int16; }
  std::uint8_t type(std::size_t s, index_t t) {
    return m_.file.number<std::uint8_t>(m_.subgraphs[s].tensors[t], tensor_fields::type);
  }
  tensor_sizes::dimensions dimensions(std::size_t s, index_t t) { return *sizes_.form(s, t).shape; }
  bytes rank(std::size_t s, index_t t) { return dimensions(s, t).size(); }
  bytes elements(std::size_t s, index_t t) {
    const auto of = type(s, t);
    const auto bits = static_cast<bytes>(of < std::size(element_types) ? element_types[of].bits : 0);
    return bits == 0 ? 0 : sizes_.size(s, t) * 8 / bits;
  }
  bytes dimension(std::size_t s, index_t t, std::size_t i) {
    const auto dims = dimensions(s, t);
    return i < dims.size() && dims[i] > 0 ? static_cast<bytes>(dims[i]) : 0;
  }

  /// Batch times filters: the input has a row for each image of the batch, the weights one for each filter.
  bytes filters_of_svdf(std::size_t s, const operator_info& op) {
    if (op.inputs.size() < 2) return 0;
    return dimension(s, op.inputs[0], 0) * dimension(s, op.inputs[1], 0);
  }

  /// A cell's state: batch times cells, of integers of 16 bits or of floating point. The two variables of an operator have as
  /// many elements if nothing is projected, as the kernel demands.
  bytes state_of_lstm(std::size_t s, const operator_info& op) {
    bytes state = 0;
    for (const index_t t : op.inputs)
      if (m_.subgraphs[s].origins[t] == origin::variable) state = std::max(state, sizes_.size(s, t));
    return state;
  }

  model_file& m_;
  tensor_sizes& sizes_;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
