// A network as a C program with one static arena.
#pragma once

#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/emit/emission.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The text of a C11 program that computes the network: one static arena of `e.arena` bytes, the tensors at their offsets,
/// kernels in plain loops that read and write row blocks, slices and whole tensors alike, weights as arrays. Its `main`
/// reads the inputs (from the file that its first argument names, else from standard input) and writes the outputs (to the
/// second one, else to standard output): little-endian elements, rows, columns, channels, in the order of
/// `ends_of`, however they are cut. Streamed inputs are read when they are wanted.
///
/// All values are float32, or all are int8, or all uint8, with a scale. The program computes the same as `run`
/// `float_numbers` or `int8_numbers` with the model's own weights, bit for bit where the compiler does not contract products
/// and sums (`-std=c11`, or `-ffp-contract=off`) and has the same mathematical functions.
///
/// An error: a network that `check_network` refuses, other types, opaque operators, functions that are only names, weights
/// that the model does not hold, an order that does not list each operator once, tensors outside the arena or not at a
/// multiple of their elements' size. That offsets of live tensors do not overlap is the caller's word: take them from `plan`
/// (plan.hpp), with an alignment of 4 for float32.
MEMSCHED_FUNCTION result<std::string> emit_c(const network& net, const emission& e);

/// Why there is no C program of a network in any order and arena, nor of one that it is rewritten into; an empty message
/// where types, operators and weights are no obstacle. O(network).
MEMSCHED_FUNCTION graph_error why_no_c(const network& net);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/emit/program.hpp>
#include <memsched/network/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether all values are float32, all int8 with a scale, or all uint8 with one.
enum class c_values : unsigned char { floats, bytes, mixed };

inline c_values values_of(const network& net) {
  bool real = true, signed_bytes = true, unsigned_bytes = true;
  for (const typed_tensor& t : net.tensors) {
    if (t.role != tensor_role::value) continue;
    real = real && t.element == element::float32;
    signed_bytes = signed_bytes && t.element == element::int8 && t.quant.scale != 0;
    unsigned_bytes = unsigned_bytes && t.element == element::uint8 && t.quant.scale != 0;
  }
  return real ? c_values::floats : signed_bytes || unsigned_bytes ? c_values::bytes : c_values::mixed;
}

inline graph_error of_mixed_values() {
  return {
      error_code::bad_input, "a C program needs tensors of float32 alone, or of int8 or uint8 alone with scales", {}, {}};
}

}  // namespace detail

MEMSCHED_FUNCTION graph_error why_no_c(const network& net) {
  if (graph_error fault = check_network(net); !fault.message.empty()) return fault;
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (graph_error fault = detail::why_no_kernel(net, i); !fault.message.empty()) return fault;
  return detail::values_of(net) == detail::c_values::mixed ? detail::of_mixed_values() : graph_error{};
}

MEMSCHED_FUNCTION result<std::string> emit_c(const network& net, const emission& e) {
  if (graph_error fault = check_network(net); !fault.message.empty()) return fault;
  switch (detail::values_of(net)) {
    case detail::c_values::floats: return detail::c_program(net, e, float_numbers{.random_weights = false}).run();
    case detail::c_values::bytes: return detail::c_program(net, e, int8_numbers{.random_weights = false}).run();
    case detail::c_values::mixed: break;
  }
  return detail::of_mixed_values();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
