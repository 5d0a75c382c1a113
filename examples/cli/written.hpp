// A rewritten network as a model file, measured as any other model file is.
#pragma once

#include <cstddef>
#include <memsched/formats/tflite_write.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/rewrite/fit.hpp>
#include <optional>
#include <string>

#include "load.hpp"

namespace cli {

/// A model file that is not on disk yet.
struct written_model {
  std::string bytes;
  memsched::problem graph;                      ///< what its reader finds in it; operators in the file's order
  memsched::evaluation cost;                    ///< of the file's order
  std::optional<memsched::micro_arena> head{};  ///< of a .tflite file: what TensorFlow Lite Micro needs for activations
};

/// A file with the figures of the order in which it lists its operators. `graphs` are those that its reader found.
memsched::result<written_model> measured(std::string bytes, const memsched::model_graphs&,
                                         std::optional<memsched::micro_arena> head, memsched::memory_model);

/// Whether a path names a model file: *.onnx or *.tflite.
bool names_model(const std::string& path);

/// A function for the search that gives rewrites of `first` the form that they have in a model file of that name. `first` must
/// outlive it.
memsched::network_form form_of(const std::string& path, const memsched::network& first, const reading&);

/// The network that a search in such a form found, as a model file of that name, in the best order found for it. With
/// `offsets`, a .tflite file says where TensorFlow Lite Micro is to place its tensors.
memsched::result<written_model> write_model(const std::string& path, const memsched::network& first, const memsched::fitted&,
                                            const reading&, memsched::memory_model, bool offsets = false);

}  // namespace cli
