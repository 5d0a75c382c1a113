// Typed networks as ONNX files. Opt-in: needs the same libraries as memsched/formats/onnx.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <memsched/formats/onnx.hpp>
#include <memsched/formats/onnx/from_network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The bytes of an ONNX model (operator set 15) of standard operators that computes the same as `net`, in this order of its
/// operators. `net` is `first` rewritten, or `first` itself: inputs and outputs are those of `first`, by its names, in the
/// order and the shapes of its file (`ends_of`). Images between them have the shape 1, channels, rows, columns. Blocks are
/// Slice and Concat, which copy; a block of a convolution or pooling has pads of its own where the whole image has pad;
/// weights are stored as slices; sums in parts are additions; a block of a resize is Gather and, bilinear, weighted sums. An
/// opaque operator is copied from the model that `first` was read from, with its attributes, constants and the shapes of its
/// operands there.
///
/// `ends`, if it is given, gets for each place in the order how many nodes the file has once those up to there are
/// written.
///
/// Errors: a network that `check_network` refuses; an order that does not list each operator once; values that are not
/// float32, but between opaque operators; opaque operators that stand in no model, that run graphs, or that another operator
/// set than 15 defines otherwise; functions that operator set 15 lacks, streamed inputs, blocks of nothing but pad, constant
/// outputs, operands with fewer channels, weights that the model does not hold.
inline result<std::string> write_onnx_network(const network& first, const network& net, std::span<const op_id> order,
                                              std::vector<std::size_t>* ends = nullptr) {
  return onnx_detail::guarded<std::string>([&]() -> result<std::string> {
    if (graph_error e = check_network(net); !e.message.empty()) return e;
    const auto model = onnx_detail::network_writer(first, net).run(order, ends);
    if (!model) return model.error();
    return model->SerializeAsString();
  });
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
