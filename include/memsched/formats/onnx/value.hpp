// The importer's facts about tensors of an ONNX graph: types, shapes, sizes; and its refusals of a file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/literal.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Ends the import; `read_onnx` turns it into its error value.
struct import_failure {
  graph_error error;
};

[[noreturn]] inline void refuse(std::string message, error_code code = error_code::bad_input) {
  throw import_failure{{code, std::move(message), {}, {}}};
}

inline std::string in_quotes(std::string_view name) {
  return std::string(1, '\'').append(base::one_line(name, 120)).append(1, '\'');
}

/// "operator 3 'conv1' (Conv)"
inline std::string label(const onnx::NodeProto& node, int position) {
  std::string text = "operator " + std::to_string(position);
  if (!node.name().empty()) text += " " + in_quotes(node.name());
  return text + " (" + base::one_line(node.op_type(), 60) + ")";
}

/// The known part of a tensor's type: `type` 0 and `ranked` false for nothing, a dimension of -1 for an open one.
struct partial {
  int type = onnx::TensorProto::UNDEFINED;
  bool ranked = false;
  dimensions dims;

  bool fixed() const {
    return ranked && std::all_of(dims.begin(), dims.end(), [](auto d) { return d >= 0; });
  }
};

inline std::string to_string(const partial& p) {
  if (!p.ranked) return "of unknown rank";
  std::string text = "[";
  for (std::size_t i = 0; i < p.dims.size(); ++i)
    text += (i ? "," : "") + (p.dims[i] < 0 ? std::string("?") : std::to_string(p.dims[i]));
  return text + "]";
}

/// The facts that a file or an inference states of the tensor `who`; refuses all but dense tensors.
inline partial facts(const onnx::TypeProto& type, const std::string& who) {
  const auto not_supported = [&who](const char* kind) { refuse(who + " is " + kind + "; only tensors are supported"); };
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType: not_supported("a sequence"); break;
    case onnx::TypeProto::kMapType: not_supported("a map"); break;
    case onnx::TypeProto::kOptionalType: not_supported("an optional"); break;
    case onnx::TypeProto::kSparseTensorType: not_supported("a sparse tensor"); break;
    default: break;
  }
  partial p;
  if (!type.has_tensor_type()) return p;
  p.type = type.tensor_type().elem_type();
  p.ranked = type.tensor_type().has_shape();
  const auto& dims = type.tensor_type().shape().dim();
  if (dims.size() > static_cast<int>(max_rank))
    refuse(who + " has " + std::to_string(dims.size()) + " dimensions; at most 64 are supported");
  for (const auto& d : dims) p.dims.push_back(d.has_dim_value() && d.dim_value() >= 0 ? d.dim_value() : -1);
  return p;
}

/// Adds the facts of `other` to p; refuses a contradiction.
inline void merge(partial& p, const partial& other, const std::string& who, const char* source) {
  const auto contradiction = [&] {
    refuse(who + " is of type " + std::to_string(p.type) + " " + to_string(p) + ", but " + source + " type " +
           std::to_string(other.type) + " " + to_string(other));
  };
  if (p.type == onnx::TensorProto::UNDEFINED) p.type = other.type;
  else if (other.type != onnx::TensorProto::UNDEFINED && other.type != p.type) contradiction();
  if (!other.ranked) return;
  if (!std::exchange(p.ranked, true)) {
    p.dims = other.dims;
    return;
  }
  if (p.dims.size() != other.dims.size()) contradiction();
  for (std::size_t i = 0; i < p.dims.size(); ++i) {
    if (p.dims[i] < 0) p.dims[i] = other.dims[i];
    else if (other.dims[i] >= 0 && other.dims[i] != p.dims[i]) contradiction();
  }
}

/// Bits of one element of a dense tensor; 0 for strings and for numbers that are no type. Types above 16 are newer than ONNX
/// 1.12.
inline unsigned element_bits(int type) {
  static constexpr std::array<unsigned, 27> bits{0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                                                 64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
  return type >= 0 && static_cast<std::size_t>(type) < bits.size() ? bits[static_cast<std::size_t>(type)] : 0;
}

/// The name that ONNX gives an element type: FLOAT; its number if ONNX 1.12 has no name for it.
inline std::string type_name(int type) {
  return onnx::TensorProto_DataType_IsValid(type)
             ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(type))
             : "type " + std::to_string(type);
}

/// Shapes of files and of inference stay below this, so that no inference function overflows.
inline constexpr std::int64_t max_dimension = std::int64_t{1} << 40;

/// The bytes of a tensor of fixed shape.
inline bytes size_of(const partial& p, const std::string& who) {
  if (p.type == onnx::TensorProto::STRING) refuse(who + " holds strings, whose size no file states");
  const bytes bits = element_bits(p.type);
  if (bits == 0) refuse(who + " has no known element type (" + std::to_string(p.type) + ")");
  if (std::any_of(p.dims.begin(), p.dims.end(), [](auto d) { return d > max_dimension; }))
    refuse(who + " " + to_string(p) + " has a dimension of more than 2^40", error_code::overflow);
  const auto n = element_count(p.dims, static_cast<std::int64_t>(base::max_total));
  if (!n || static_cast<bytes>(*n) > base::max_total / ((bits + 7) / 8))
    refuse(who + " " + to_string(p) + " takes more than 2^61 bytes", error_code::overflow);
  return (static_cast<bytes>(*n) * bits + 7) / 8;
}

/// The facts about one name of a graph.
struct value {
  int type = onnx::TensorProto::UNDEFINED;
  std::optional<dimensions> shape{};  ///< always there for an activation
  std::optional<literal> content{};   ///< of a small constant
  bool constant = false;              ///< a weight, or made of weights and shapes alone
  bytes size = 0;                     ///< of an activation
  int producer = -1;                  ///< position of the operator that writes it
  tensor_id id = none;                ///< of an activation, in the draft of its graph
  std::vector<op_id> after{};         ///< of a constant made from shapes: the producers of tensors of these shapes
};

/// The names of a graph, and those of the graphs around it.
struct scope {
  const scope* outer = nullptr;
  std::unordered_map<std::string, value> values{};
  std::unordered_multimap<std::string, const onnx::TypeProto*> declared{};

  const value* find(const std::string& name) const {
    for (const scope* s = this; s; s = s->outer)
      if (const auto found = s->values.find(name); found != s->values.end()) return &found->second;
    return nullptr;
  }
};

inline bool one_of(const std::string& name, const std::unordered_set<std::string>& set) { return set.count(name) > 0; }

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
