// A network as a C program with one static arena.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/emit/emission.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The network as a library in C: C11, and C++ as well, of the function
///
///     int NAME_run(const void *const *in, void *const *out, void *arena);
///
/// and constants for sizes, shapes, names and quantization. It needs an arena of `e.arena` bytes, where the tensors lie at
/// their offsets, and nothing of the standard library but memcpy and, for functions of float32, math.h: no input, no output,
/// no heap. Kernels are plain loops over row blocks, slices and whole tensors alike; the ones that no operator needs are left
/// out. With `e.kernels` of CMSIS-NN its scratch stands after the tensors, and the arena is larger by that. Tables hold
/// each number in as few bytes as its column allows, and none if all rows agree. Inputs and outputs are the caller's:
/// elements by rows, columns, channels, in the order of `ends_of`, however they are cut; parts of streamed inputs are copied
/// when they are wanted. The program beside it reads the inputs from the file that its first argument names, or from standard
/// input, and writes the outputs to the second one, or to standard output.
///
/// All values are float32, or all are int8, or all uint8, with a scale, but for float32 in front of an operator that quantizes
/// or after one that dequantizes. The library computes the same as `run` with `float_numbers` or `int8_numbers` and the model's
/// own weights, bit for bit: integers are those of TensorFlow Lite's reference kernels. Of floats that holds if the compiler
/// does not contract products and sums (`-std=c11`, or `-ffp-contract=off`) and has the same mathematical functions.
///
/// An error names tensor or operator: a network that `check_network` refuses, other types, opaque operators without a
/// definition, functions that are only names, weights that the model does not hold, an order that does not list each operator
/// once, tensors outside the arena or not at a multiple of their elements' size. That offsets of live tensors do not overlap is
/// the caller's word: take them from `plan` (plan.hpp), with an alignment of 4 for float32.
MEMSCHED_FUNCTION result<c_library> emit_c(const network& net, const emission& e);

/// Explains why there is no C program of a network in any order and arena, nor of one that it is rewritten into; an empty
/// message if types, operators and weights are no obstacle. CMSIS-NN is for networks of int8. O(network).
MEMSCHED_FUNCTION graph_error why_no_c(const network& net, kernel_library kernels = kernel_library::plain);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/emit/program.hpp>
#include <memsched/network/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

inline bool is_real(const network& net) {
  return std::all_of(net.tensors.begin(), net.tensors.end(),
                     [](const typed_tensor& t) { return t.role != tensor_role::value || t.element == element::float32; });
}

/// Whether an operator only turns float32 into eight bits, or back.
inline bool crosses(const network& net, const operation& op) {
  if (op.does.what != op_kind::copy || op.reads.size() != 1 || op.writes.size() != 1) return false;
  const auto real = [&](const image& x) {
    return std::all_of(x.parts.begin(), x.parts.end(),
                       [&](const placed& p) { return net.tensors[p.tensor].element == element::float32; });
  };
  return op.does.act == activation::identity && real(op.reads[0]) != real(op.writes[0]);
}

/// Explains why no C program has such values; an empty message if one can.
inline graph_error why_no_values(const network& net) {
  constexpr const char* wanted =
      ": a C program has float32 alone, or int8 or uint8 with scales, quantized and dequantized at its ends";
  const bool real = is_real(net);
  std::optional<element> narrow;
  for (tensor_id t = 0; !real && t < net.tensors.size(); ++t) {
    const typed_tensor& x = net.tensors[t];
    if (x.role != tensor_role::value || x.element == element::float32) continue;
    const bool byte = (x.element == element::int8 || x.element == element::uint8) && x.quant.scale != 0;
    if (byte && (!narrow || narrow == x.element)) {
      narrow = x.element;
      continue;
    }
    return {error_code::bad_input, labelled("tensor ", t, x.name) + " has another type" + wanted, {}, {t}};
  }
  for (op_id i = 0; !real && i < net.operations.size(); ++i) {
    const operation& op = net.operations[i];
    if (crosses(net, op) || op.does.what == op_kind::read) continue;
    for (const auto* list : {&op.reads, &op.writes})
      for (const image& x : *list)
        for (const placed& p : x.parts)
          if (net.tensors[p.tensor].role == tensor_role::value && net.tensors[p.tensor].element == element::float32)
            return {error_code::bad_input, labelled("operator ", i, op.name) + " computes float32" + wanted, {i}, {}};
  }
  return {};
}

/// Explains why CMSIS-NN computes no operator of a network; an empty message if it may compute some.
inline graph_error why_no_cmsis(const network& net) {
  for (tensor_id t = 0; t < net.tensors.size(); ++t)
    if (net.tensors[t].role == tensor_role::value && net.tensors[t].element == element::int8) return {};
  return {error_code::bad_input, "CMSIS-NN is for int8, and no tensor is of that type", {}, {}};
}

}  // namespace detail

MEMSCHED_FUNCTION graph_error why_no_c(const network& net, kernel_library kernels) {
  if (graph_error fault = check_network(net); !fault.message.empty()) return fault;
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (graph_error fault = detail::why_no_kernel(net, i); !fault.message.empty()) return fault;
  if (graph_error fault = detail::why_no_values(net); !fault.message.empty()) return fault;
  return kernels == kernel_library::cmsis_nn ? detail::why_no_cmsis(net) : graph_error{};
}

MEMSCHED_FUNCTION result<c_library> emit_c(const network& net, const emission& e) {
  if (graph_error fault = why_no_c(net, e.kernels); !fault.message.empty()) return fault;
  if (detail::is_real(net)) return detail::c_program(net, e, float_numbers{.random_weights = false}).run();
  return detail::c_program(net, e, int8_numbers{.random_weights = false}).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
