// The whole arena of TensorFlow Lite Micro, head and persistent tail: which file of a network takes the least of it.
#pragma once

#include <cstddef>
#include <memsched/formats/tflite_write.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/fit.hpp>
#include <optional>
#include <string>
#include <vector>

#include "advice.hpp"
#include "commands.hpp"
#include "written.hpp"

namespace cli {

/// A file, and the bytes that TensorFlow Lite Micro takes for it.
struct arena_choice {
  std::string network;   ///< given (the file as it is), reordered, or rewritten
  bool offsets = false;  ///< the file states where tensors lie
  std::size_t operators = 0;
  memsched::bytes peak = 0;  ///< of the file's order, as `schedule` counts it
  memsched::bytes head = 0;  ///< activations
  memsched::bytes tail = 0;  ///< the persistent rest, as `micro_tail_of` models it
  memsched::bytes total() const { return head + tail; }
  bool operator==(const arena_choice&) const = default;
};

/// The files that were compared, and the one with the smallest total.
struct smallest_total {
  advice found;                        ///< of the search; `found.found` is the network of the chosen file
  std::vector<arena_choice> choices;   ///< the first is the given file
  std::size_t chosen = 0;              ///< the first of the smallest total
  std::optional<written_model> file;   ///< the chosen one, which is set
  std::vector<std::string> uncounted;  ///< kinds whose kernels may keep more than the tails hold
};

/// Searches as `advise` does, and again with ever fewer multiply-accumulates to spend, and compares the written files of all
/// networks found with the given file, and with that in its best order; each as the runtime places its tensors and with
/// offsets, or with offsets alone where these are asked for. The model and the output are .tflite files.
memsched::result<smallest_total> find_smallest_total(const memsched::network&, const memsched::fit_options&,
                                                     const rewrite_request&);

}  // namespace cli
