// Sizes of the tensors of a TensorFlow Lite model, also of tensors with dimensions that depend on an input's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/formats/model.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Operators whose output has the shape to which those of their inputs that are no constants broadcast.
// clang-format off
inline constexpr kind_id pointwise[] = {
    kind("ADD"),        kind("SUB"),        kind("MUL"),           kind("DIV"),        kind("FLOOR_DIV"),
    kind("FLOOR_MOD"),  kind("MAXIMUM"),    kind("MINIMUM"),       kind("POW"),        kind("SQUARED_DIFFERENCE"),
    kind("ADD_N"),      kind("ATAN2"),      kind("LOGICAL_OR"),    kind("LOGICAL_AND"), kind("LOGICAL_NOT"),
    kind("EQUAL"),      kind("NOT_EQUAL"),  kind("LESS"),          kind("LESS_EQUAL"), kind("GREATER"),
    kind("GREATER_EQUAL"), kind("SELECT"),  kind("SELECT_V2"),     kind("RELU"),       kind("RELU_N1_TO_1"),
    kind("RELU_0_TO_1"), kind("RELU6"),     kind("LEAKY_RELU"),    kind("PRELU"),      kind("ELU"),
    kind("GELU"),       kind("HARD_SWISH"), kind("LOGISTIC"),      kind("TANH"),       kind("EXP"),
    kind("LOG"),        kind("SIN"),        kind("COS"),           kind("SQRT"),       kind("RSQRT"),
    kind("SQUARE"),     kind("ABS"),        kind("NEG"),           kind("SIGN"),       kind("FLOOR"),
    kind("CEIL"),       kind("ROUND"),      kind("SOFTMAX"),       kind("LOG_SOFTMAX"), kind("L2_NORMALIZATION"),
    kind("CAST"),       kind("QUANTIZE"),   kind("DEQUANTIZE"),    kind("FAKE_QUANT"), kind("CUMSUM"),
    kind("ZEROS_LIKE"), kind("LOCAL_RESPONSE_NORMALIZATION"),      kind("REVERSE_V2")};
// clang-format on

/// Operators that keep the number of elements: one open dimension follows.
// clang-format off
inline constexpr kind_id rearranging[] = {kind("RESHAPE"),        kind("SQUEEZE"),        kind("EXPAND_DIMS"),
                                          kind("TRANSPOSE"),      kind("DEPTH_TO_SPACE"), kind("SPACE_TO_DEPTH"),
                                          kind("BITCAST")};
// clang-format on

/// Operators whose output has the first dimension of their first input, unless the file fixes it.
// clang-format off
inline constexpr kind_id batched[] = {
    kind("CONV_2D"),   kind("DEPTHWISE_CONV_2D"), kind("CONV_3D"),         kind("AVERAGE_POOL_2D"), kind("MAX_POOL_2D"),
    kind("L2_POOL_2D"), kind("TRANSPOSE_CONV"),   kind("STRIDED_SLICE"),   kind("RESIZE_BILINEAR"), kind("MEAN"),
    kind("RESIZE_NEAREST_NEIGHBOR"),              kind("PAD"),             kind("PADV2"),           kind("MIRROR_PAD"),
    kind("SUM"),       kind("REDUCE_MAX"),        kind("REDUCE_MIN"),      kind("REDUCE_PROD"),     kind("ARG_MAX"),
    kind("ARG_MIN"),   kind("SPLIT"),             kind("SPLIT_V"),         kind("BATCH_MATMUL"),    kind("TOPK_V2"),
    kind("SVDF"),      kind("UNIDIRECTIONAL_SEQUENCE_LSTM")};
// clang-format on

/// Operators whose results have as many rows as the values of their inputs say: no batch.
inline constexpr kind_id counting[] = {custom,       kind("WHERE"),       kind("UNIQUE"), kind("RANGE"),
                                       kind("FILL"), kind("SEGMENT_SUM"), kind("TILE"),   kind("BROADCAST_TO")};

/// Shapes of tensors; faults go to the file.
class tensor_sizes {
 public:
  using dimensions = std::vector<std::int64_t>;  // -1: open

  tensor_sizes(model_file& m, const std::map<std::string, dimensions>& given) : m_(m), given_(given) {}
  tensor_sizes(model_file& m, std::map<std::string, dimensions>&& given) = delete;  // it is read later

  /// Follows given dimensions through subgraph 0.
  void infer() {
    const subgraph_info& g = m_.subgraphs[0];
    inferred_.resize(g.tensors.size());
    std::vector<std::string> names;
    for (const index_t t : g.inputs) {
      if (g.origins[t] != origin::input) continue;
      names.push_back(m_.file.text(g.tensors[t], tensor_fields::name));
      take_given(g.tensors[t], t, names.back());
    }
    for (const auto& entry : given_)
      if (std::find(names.begin(), names.end(), entry.first) == names.end())
        m_.file.fault(error_code::bad_input,
                      "a shape is given for '" + base::one_line(entry.first, 120) + "', which is no graph input");
    for (const operator_info& op : g.operators)
      if (!op.folded && !m_.file.failed()) infer(g, op);
  }

  /// Graph inputs whose open batch was read as the shape beside it says, one line each; once `infer` has run.
  const std::vector<std::string>& assumed() const { return assumed_; }

  /// The dimensions of a tensor of subgraph 0; -1 for an open one.
  dimensions shape(index_t t) { return known(m_.subgraphs[0], t); }

  /// The type and the dimensions of a tensor of subgraph s.
  tensor_form form(std::size_t s, index_t t) {
    const table& data = m_.subgraphs[s].tensors[t];
    const auto type = m_.file.number<std::uint8_t>(data, tensor_fields::type);
    return {type < std::size(element_types) ? element_types[type].name : "",
            s == 0 && t < inferred_.size() ? known(m_.subgraphs[0], t) : declared(data)};
  }

  /// Whether two tensors of subgraph s have one element type and, but for leading dimensions of 1, one shape: under any
  /// broadcast, element i of one is used with element i of the other.
  bool alike(std::size_t s, index_t a, index_t b) {
    const auto form = [&](index_t t) {
      const table& data = m_.subgraphs[s].tensors[t];
      dimensions dims = s == 0 && t < inferred_.size() ? known(m_.subgraphs[0], t) : declared(data);
      dims.erase(dims.begin(), std::find_if(dims.begin(), dims.end(), [](std::int64_t d) { return d != 1; }));
      return std::pair(m_.file.number<std::uint8_t>(data, tensor_fields::type), std::move(dims));
    };
    return form(a) == form(b);
  }

  /// The bytes of a tensor of subgraph s; 0 after a fault.
  bytes size(std::size_t s, index_t t) {
    const table& data = m_.subgraphs[s].tensors[t];
    const auto type = m_.file.number<std::uint8_t>(data, tensor_fields::type);
    if (type >= std::size(element_types))
      return refuse(data, error_code::bad_input, "has the unknown element type " + std::to_string(type));
    if (s == 0 && t < inferred_.size() && !inferred_[t].empty()) return size_of(data, element_types[type], inferred_[t]);
    const dimensions dims = declared(data);
    if (dims.empty() && m_.file.length(data, tensor_fields::shape_signature) > 0)
      return refuse(data, error_code::bad_input, "has no shape");
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] < 0)
        return refuse(data, error_code::bad_size, "has a dynamic shape: dimension " + std::to_string(i) + " is open");
    return size_of(data, element_types[type], dims);
  }

 private:
  /// The dimensions that the file declares; -1 for one that the shape or its signature leaves open.
  dimensions declared(const table& t) {
    const std::vector<std::int32_t> stored = m_.file.numbers(t, tensor_fields::shape);
    const std::vector<std::int32_t> signature = m_.file.numbers(t, tensor_fields::shape_signature);
    dimensions dims(stored.begin(), stored.end());
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] < 0 || (signature.size() == dims.size() && signature[i] < 0)) dims[i] = -1;
    return dims;
  }
  /// The dimensions that runtimes take if no caller resizes an input, for a tensor of which nothing but the batch is open;
  /// empty for others. A single open dimension is a length, of which the file stores a placeholder.
  dimensions stored_batch(const table& t) {
    const dimensions dims = declared(t);
    const std::vector<std::int32_t> stored = m_.file.numbers(t, tensor_fields::shape);
    const bool whole = std::all_of(stored.begin(), stored.end(), [](std::int32_t d) { return d > 0; });
    if (dims.size() < 2 || !whole || !batch_is_open(dims)) return {};
    return {stored.begin(), stored.end()};
  }
  static bool open(const dimensions& dims) { return std::find(dims.begin(), dims.end(), -1) != dims.end(); }
  static std::string text(const dimensions& dims, const char* unknown = "?") {
    std::string s;
    for (const std::int64_t d : dims) s += (s.empty() ? "" : ",") + (d < 0 ? std::string(unknown) : std::to_string(d));
    return s;
  }

  /// The known dimensions of a tensor of subgraph 0.
  dimensions known(const subgraph_info& g, index_t t) {
    return inferred_[t].empty() ? declared(g.tensors[t]) : inferred_[t];
  }

  void take_given(const table& data, index_t t, const std::string& name) {
    const auto found = given_.find(name);
    const dimensions dims = declared(data);
    const auto refuse_given = [&](const std::string& why) {
      m_.file.fault(error_code::bad_input, "the shape [" + text(found->second) + "] given for graph input '" +
                                               base::one_line(name, 120) + "' " + why);
    };
    if (found == given_.end()) {
      if (!open(dims) || m_.file.failed()) return;
      if (dimensions stored = stored_batch(data); !stored.empty()) {
        assumed_.push_back("the batch of graph input '" + base::one_line(name, 120) + "' is open; it is read as [" +
                           text(stored) + "], as the file's shape says; --shape gives another");
        inferred_[t] = std::move(stored);
        return;
      }
      m_.file.fault(error_code::bad_size, data.where.text() + ": " + m_.label(data) +
                                              " is a graph input with open "
                                              "dimensions, [" +
                                              text(dims) + "]: give them, as in --shape " + base::one_line(name, 120) + "=" +
                                              text(dims, "1"));
      return;
    }
    if (std::any_of(found->second.begin(), found->second.end(),
                    [](auto d) { return d <= 0 || d > std::numeric_limits<std::int32_t>::max(); }))
      return refuse_given("has a dimension that is not positive or beyond 2^31");
    bool fits = dims.size() == found->second.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = dims[i] < 0 || dims[i] == found->second[i];
    if (!fits) return refuse_given("contradicts the file's [" + text(dims) + "]");
    inferred_[t] = found->second;
    other_batch_ = other_batch_ || found->second != stored_batch(data);
  }

  /// Fills in the open dimensions of an operator's results.
  void infer(const subgraph_info& g, const operator_info& op) {
    for (const index_t t : op.outputs) {
      dimensions dims = declared(g.tensors[t]);
      if (!open(dims)) continue;
      fill(g, op, dims);
      if (open(dims) && !other_batch_) fill_as_stored(g, op, g.tensors[t], dims);
      if (open(dims)) {
        m_.file.fault(error_code::bad_size, g.tensors[t].where.text() + ": " + m_.label(g.tensors[t]) +
                                                " has a dynamic shape, [" + text(dims) + "], that does not follow from " +
                                                "the inputs of " + op.data.where.text() + " (" + m_.kind_of(op) + ")");
        return;
      }
      inferred_[t] = std::move(dims);
    }
  }

  void fill(const subgraph_info& g, const operator_info& op, dimensions& dims) {
    std::vector<dimensions> inputs;
    for (const index_t t : op.inputs) inputs.push_back(known(g, t));
    if (inputs.empty() || std::any_of(inputs.begin(), inputs.end(), open)) return;
    const index_t first = first_activation(g, op);
    if (first == none) return;
    const dimensions leading = known(g, first);
    if (among(pointwise, op.kind)) {
      broadcast(inputs, dims);
    } else if (among(rearranging, op.kind)) {
      if (keeps_batch(g, op) && dims.size() > 1 && dims[0] < 0) dims[0] = inputs[0][0];
      fill_last(inputs[0], dims);
    } else if (op.kind == kind("FULLY_CONNECTED")) {  // rows of as many elements as the weights have columns
      if (inputs.size() < 2 || inputs[1].size() != 2 || dims.size() > 2) return;
      const auto all = product(inputs[0]);
      if (all && inputs[1][1] > 0 && *all % inputs[1][1] == 0 && dims[0] < 0) dims[0] = *all / inputs[1][1];
    } else if (op.kind == kind("CONCATENATION")) {
      concatenate(op, inputs, dims);
    } else if (among(batched, op.kind) && batch_is_open(declared(g.tensors[first]))) {
      if (!dims.empty() && dims[0] < 0) dims[0] = leading[0];
    }
  }

  /// Takes the shape beside the signature if that is no placeholder: nothing but the batch is open, or an operator that
  /// keeps the number of elements has as many of them in its operand.
  void fill_as_stored(const subgraph_info& g, const operator_info& op, const table& result, dimensions& dims) {
    const std::vector<std::int32_t> stored = m_.file.numbers(result, tensor_fields::shape);
    const dimensions shape(stored.begin(), stored.end());
    if (among(rearranging, op.kind)) {
      const dimensions from = op.inputs.empty() ? dimensions{-1} : known(g, op.inputs[0]);
      if (!open(shape) && !open(from) && product(shape) == product(from)) dims = shape;
    } else if (!among(counting, op.kind) && !stored_batch(result).empty()) {
      dims = shape;
    }
  }

  /// Whether an operator's shape is packed from numbers of which the first is the first dimension of its operand: the chain
  /// SHAPE, STRIDED_SLICE from 0, PACK that converters make of a reshape of each image of a batch.
  bool keeps_batch(const subgraph_info& g, const operator_info& op) {
    const auto producer = [&](index_t t, kind_id k) -> const operator_info* {
      const auto made = std::find_if(g.operators.begin(), g.operators.end(), [&](const operator_info& o) {
        return o.kind == k && o.outputs.size() == 1 && o.outputs[0] == t && !o.inputs.empty();
      });
      return made == g.operators.end() ? nullptr : &*made;
    };
    if (op.inputs.size() != 2 || g.constant(op.inputs[1]) || known(g, op.inputs[0]).empty()) return false;
    const operator_info* pack = producer(op.inputs[1], kind("PACK"));
    const operator_info* first = pack ? producer(pack->inputs[0], kind("STRIDED_SLICE")) : nullptr;
    const operator_info* shape = first && first->inputs.size() == 4 ? producer(first->inputs[0], kind("SHAPE")) : nullptr;
    return shape && shape->inputs[0] == op.inputs[0] && is_zero(g, first->inputs[1]);
  }
  /// Whether a tensor is the one integer 0 in the file.
  bool is_zero(const subgraph_info& g, index_t t) {
    const auto b = m_.file.number<std::uint32_t>(g.tensors[t], tensor_fields::buffer);
    const std::string_view data = b != 0 && b < m_.buffers.size() ? m_.content(m_.buffers[b]) : std::string_view();
    return data.size() == 4 && data.find_first_not_of('\0') == data.npos;
  }

  static bool batch_is_open(const dimensions& dims) {
    return !dims.empty() && dims[0] < 0 && std::count(dims.begin(), dims.end(), -1) == 1;
  }

  /// Open dimensions of a result to which the inputs broadcast; they stay open if the inputs do not fit together.
  static void broadcast(const std::vector<dimensions>& inputs, dimensions& dims) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      std::int64_t size = 1;
      for (const dimensions& in : inputs) {
        if (in.size() > dims.size()) return;
        const std::int64_t d = i < in.size() ? in[in.size() - 1 - i] : 1;
        if (size != 1 && d != 1 && size != d) return;
        if (size == 1) size = d;
      }
      if (std::int64_t& d = dims[dims.size() - 1 - i]; d < 0) d = size;
    }
  }

  void concatenate(const operator_info& op, const std::vector<dimensions>& inputs, dimensions& dims) {
    const table options = m_.file.child(op.data, operator_fields::options);
    const auto listed = m_.file.number<std::int32_t>(options, {0, "axis"});
    const auto rank = static_cast<std::int64_t>(dims.size());
    const std::int64_t axis = listed < 0 ? listed + rank : listed;
    std::int64_t sum = 0;
    for (const dimensions& in : inputs) {
      if (in.size() != dims.size() || axis < 0 || axis >= rank) return;
      sum += in[static_cast<std::size_t>(axis)];
    }
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] < 0) dims[i] = static_cast<std::int64_t>(i) == axis ? sum : inputs[0][i];
  }

  index_t first_activation(const subgraph_info& g, const operator_info& op) const {
    const auto found = std::find_if(op.inputs.begin(), op.inputs.end(), [&](index_t t) { return !g.constant(t); });
    return found == op.inputs.end() ? none : *found;
  }

  /// The one open dimension such that there are as many elements as in `from`.
  static void fill_last(const dimensions& from, dimensions& dims) {
    if (std::count(dims.begin(), dims.end(), -1) != 1) return;
    const auto all = product(from), rest = product(dims);
    if (all && rest && *rest > 0 && *all % *rest == 0) *std::find(dims.begin(), dims.end(), -1) = *all / *rest;
  }

  /// The product of the known dimensions; none beyond 2^61.
  static std::optional<std::int64_t> product(const dimensions& dims) {
    std::int64_t n = 1;
    for (const std::int64_t d : dims) {
      if (d < 0) continue;
      if (d > 0 && n > (std::int64_t{1} << 61) / d) return std::nullopt;
      n *= d;
    }
    return n;
  }

  bytes size_of(const table& data, const element_type& element, const dimensions& dims) {
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
    if (element.bits == 0)
      return refuse(data, error_code::bad_size, std::string("is a ") + element.name + ", whose size the file does not tell");
    std::uint64_t bits = element.bits;
    for (const std::int64_t d : dims) {
      const auto n = static_cast<std::uint64_t>(d);
      if (bits > std::numeric_limits<std::uint64_t>::max() / n)
        return refuse(data, error_code::overflow, "is larger than 2^61 bytes");
      bits *= n;
    }
    return bits / 8 + (bits % 8 != 0);
  }

  bytes refuse(const table& t, error_code code, const std::string& reason) {
    m_.file.fault(code, t.where.text() + ": " + m_.label(t) + " " + reason);
    return 0;
  }

  model_file& m_;
  const std::map<std::string, dimensions>& given_;
  std::vector<std::string> assumed_;
  bool other_batch_ = false;          ///< an input was given another shape than the file stores beside an open batch
  std::vector<dimensions> inferred_;  ///< per tensor of subgraph 0; empty: as declared
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
