// Graphs as JSON text, both ways. Opt-in: needs nlohmann-json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <memsched/formats/json/reader.hpp>
#include <memsched/formats/json/writer.hpp>
#include <memsched/formats/model.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The graph that a JSON text describes; hand it to `make_problem`. O(text) time; memory is that of the draft, but address
/// space of up to four times the text is reserved.
///
///   {"name": "...",
///    "ops": [{"name": "c1", "op": "Conv", "inputs": [0], "outputs": [1], "workspace": 0, "inplace": -1, "after": [],
///             "overwrites": [[1, 0]], "updates": [0], "firing": "pbc", "scope": "cell1", "cost": 12, "pure": true}],
///    "tensors": [{"name": "x", "bytes": 1024, "alias_of": 0, "shape": [16, 16], "type": "float32", "producer": "c0"}],
///    "graph_inputs": [0], "graph_outputs": [7]}
///
/// Required: ops, tensors, graph_inputs, graph_outputs; inputs and outputs of an operator; bytes of a tensor.
/// * Sizes are whole numbers of bytes, 0 to 2^64-1. A whole number below 2^53 may also be written 1024.0 or 1e3.
/// * Indices count from 0 within `ops` or `tensors`; they may point forward.
/// * inplace is the position in `inputs` of the input that the first output may overwrite; absent or -1: none.
/// * overwrites lists further pairs [position in `outputs`, position in `inputs`]. An output, and an input, stands in one
///   pair at most, that of inplace included.
/// * updates lists the positions in `inputs` of tensors that the operator changes where they are (see graph_traits), each
///   once.
/// * alias_of is the tensor whose storage this one names; absent, null or -1: none.
/// * scope is any string; equal strings become equal numbers, 0, 1, 2... in order of first appearance.
/// * An operator without name takes its `op`. If none has a name, the draft's list of names is empty.
/// * cost is a whole number of 0 or more, in any unit; absent: 1. pure is true or false; absent: true. They are the
///   cost of another run of the operator, and whether it may have one (`recompute`).
/// * duration and async of an operator, shape, type and producer of a tensor may hold anything. If `forms` is given, it gets
///   for each tensor the type, if that is a string, and the shape, if that is a list of whole numbers written without
///   point and exponent; an error leaves it as it is.
/// * An unknown key of an operator or a tensor is an error that names the nearest known one. In the graph itself only a key
///   that is one or two letters away from a known one is. Keys that begin with "x-" are free everywhere.
/// * A key given twice in one object is an error, except in objects that are not read.
/// An error names line and column if the text is no JSON, else the place, as in "ops[3].inputs[1]: ...".
inline result<problem_draft> read_json(std::string_view text, std::vector<tensor_form>* forms = nullptr) {
  return detail::json_graph_reader::read(text, forms);
}

/// The inverse of read_json, for a draft whose lists have one entry for each operator, whose overwritten and updated tensors
/// are among the inputs, and whose operators overwrite with each output and over each input at most once: one operator, one
/// tensor a line, defaults left out. A draft has no operator kinds, and numbers for scopes: the former are not written, the
/// latter as strings, which read_json numbers anew.
inline std::string write_json(const problem_draft& draft) { return detail::json_graph_writer(draft).run(); }

}  // namespace MEMSCHED_ABI
}  // namespace memsched
