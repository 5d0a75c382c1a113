// Typed networks as TensorFlow Lite models. Opt-in: needs the headers of FlatBuffers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <memsched/formats/tflite/from_network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The bytes of a TensorFlow Lite model of standard operators that computes the same as `net`, in this order of its
/// operators. `net` is `first` rewritten, or `first` itself: inputs and outputs are those of `first`, by its names, in the
/// order and the shapes of its file (`ends_of`). Images between them have the shape 1, rows, columns, channels. Types and
/// quantization are those of the tensors; scales of weights by channel stay. Blocks are SLICE and CONCATENATION, which copy;
/// more than ten parts are joined in a tree, since TensorFlow Lite Micro takes no more at once. A block of a convolution has
/// a PAD of its own if it needs other pads than SAME or VALID; a block of a pooling is cut from a larger one. Blocks of
/// resizes by whole numbers and of transposed convolutions are cut from the result for the rows that they need. Sums in
/// parts are additions. Each constant stands in the file once, for any number of blocks that read it; in half precision, if
/// that holds all weights of layers exactly. Operators have version 1. An opaque operator is copied from the model that
/// `first` was read from, with its code, version, options, constants and the shapes of its tensors there; so are signatures.
/// The same call gives the same bytes.
///
/// `ends`, if it is given, gets for each place in the order how many operators the file has once those up to there are
/// written.
///
/// Integers stay equal to the bit if the runtime computes each element alone: the additions only copy. So do floats
/// if it sums in the same order.
///
/// Errors: a network that `check_network` refuses; an order that does not list each operator once; opaque operators that
/// stand in no model, of variables, of open shapes, or with options of lists; functions that TensorFlow Lite lacks; parts of
/// sums of integers; streamed inputs; constant outputs; blocks of nothing but pad, of poolings whose strides miss them, and
/// of resizes by other ratios; weights that the model does not hold; a model beyond 2 GiB.
inline result<std::string> write_tflite_network(const network& first, const network& net, std::span<const op_id> order,
                                                std::vector<std::size_t>* ends = nullptr) {
  if (graph_error e = check_network(net); !e.message.empty()) return e;
  return detail::tflite::network_writer(first, net, ends).run(order);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
