// TensorFlow Lite models as graphs. Opt-in: needs the headers of FlatBuffers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include <memsched/graph/problem.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail::tflite {

/// Operator kinds by number, as of schema version 3d.
inline constexpr const char* builtin_names[] = {
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE",
    "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP", "L2_NORMALIZATION", "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION", "LSTM", "MAX_POOL_2D", "MUL", "RELU", "RELU_N1_TO_1",
    "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN", "SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH", "CONCAT_EMBEDDINGS",
    "SKIP_GRAM", "CALL", "CUSTOM", "EMBEDDING_LOOKUP_SPARSE", "PAD", "UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER",
    "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE", "MEAN", "SUB", "DIV", "SQUEEZE",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN", "EXP", "TOPK_V2", "SPLIT",
    "LOG_SOFTMAX", "DELEGATE", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU", "MAXIMUM", "ARG_MAX", "MINIMUM", "LESS",
    "NEG", "PADV2", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "SELECT", "SLICE", "SIN", "TRANSPOSE_CONV",
    "SPARSE_TO_DENSE", "TILE", "EXPAND_DIMS", "EQUAL", "NOT_EQUAL", "LOG", "SUM", "SQRT", "RSQRT", "SHAPE", "POW",
    "ARG_MIN", "FAKE_QUANT", "REDUCE_PROD", "REDUCE_MAX", "PACK", "LOGICAL_OR", "ONE_HOT", "LOGICAL_AND", "LOGICAL_NOT",
    "UNPACK", "REDUCE_MIN", "FLOOR_DIV", "REDUCE_ANY", "SQUARE", "ZEROS_LIKE", "FILL", "FLOOR_MOD", "RANGE",
    "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU", "SQUARED_DIFFERENCE", "MIRROR_PAD", "ABS", "SPLIT_V", "UNIQUE", "CEIL",
    "REVERSE_V2", "ADD_N", "GATHER_ND", "COS", "WHERE", "RANK", "ELU", "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE",
    "MATRIX_SET_DIAG", "ROUND", "HARD_SWISH", "IF", "WHILE", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5",
    "SCATTER_ND", "SELECT_V2", "DENSIFY", "SEGMENT_SUM", "BATCH_MATMUL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM",
    "CALL_ONCE", "BROADCAST_TO", "RFFT2D", "CONV_3D", "IMAG", "REAL", "COMPLEX_ABS", "HASHTABLE", "HASHTABLE_FIND",
    "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "REDUCE_ALL", "CONV_3D_TRANSPOSE", "VAR_HANDLE", "READ_VARIABLE",
    "ASSIGN_VARIABLE", "BROADCAST_ARGS", "RANDOM_STANDARD_NORMAL", "BUCKETIZE", "RANDOM_UNIFORM", "MULTINOMIAL", "GELU",
    "DYNAMIC_UPDATE_SLICE", "RELU_0_TO_1", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_SUM",
    "ATAN2", "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST", "BITWISE_XOR", "RIGHT_SHIFT", "STABLEHLO_LOGISTIC",
    "STABLEHLO_ADD", "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_RESHAPE",
    "STABLEHLO_CLAMP", "STABLEHLO_CONCATENATE", "STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION",
    "STABLEHLO_SLICE", "STABLEHLO_CUSTOM_CALL", "STABLEHLO_REDUCE", "STABLEHLO_ABS", "STABLEHLO_AND",
    "STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL", "STABLEHLO_FLOOR", "STABLEHLO_LOG", "STABLEHLO_MINIMUM",
    "STABLEHLO_NEGATE", "STABLEHLO_OR", "STABLEHLO_POWER", "STABLEHLO_REMAINDER", "STABLEHLO_RSQRT", "STABLEHLO_SELECT",
    "STABLEHLO_SUBTRACT", "STABLEHLO_TANH", "STABLEHLO_SCATTER", "STABLEHLO_COMPARE", "STABLEHLO_CONVERT",
    "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE", "STABLEHLO_PAD", "STABLEHLO_IOTA",
    "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT", "STABLEHLO_WHILE", "STABLEHLO_GATHER",
    "STABLEHLO_TRANSPOSE", "DILATE", "STABLEHLO_RNG_BIT_GENERATOR", "REDUCE_WINDOW", "STABLEHLO_COMPOSITE",
    "STABLEHLO_SHIFT_LEFT", "STABLEHLO_CBRT", "STABLEHLO_CASE"};

using kind_id = std::int32_t;
inline constexpr kind_id custom = 32;

consteval kind_id kind(std::string_view name) {
  kind_id k = 0;
  while (builtin_names[k] != name) ++k;  // past the end is no constant expression
  return k;
}

template <std::size_t N>
constexpr bool among(const kind_id (&kinds)[N], kind_id k) {
  return std::find(std::begin(kinds), std::end(kinds), k) != std::end(kinds);
}

inline constexpr kind_id views[] = {kind("RESHAPE"), kind("SQUEEZE"), kind("EXPAND_DIMS"), kind("BITCAST")};

inline constexpr kind_id overwriting[] = {
    kind("ADD"),         kind("SUB"),         kind("MUL"),         kind("DIV"),        kind("FLOOR_DIV"),
    kind("FLOOR_MOD"),   kind("MAXIMUM"),     kind("MINIMUM"),     kind("POW"),        kind("SQUARED_DIFFERENCE"),
    kind("ADD_N"),       kind("ATAN2"),       kind("LOGICAL_OR"),  kind("LOGICAL_AND"), kind("LOGICAL_NOT"),
    kind("BITWISE_XOR"), kind("RIGHT_SHIFT"), kind("RELU"),        kind("RELU_N1_TO_1"), kind("RELU_0_TO_1"),
    kind("RELU6"),       kind("LEAKY_RELU"),  kind("PRELU"),       kind("ELU"),        kind("GELU"),
    kind("HARD_SWISH"),  kind("LOGISTIC"),    kind("TANH"),        kind("EXP"),        kind("LOG"),
    kind("SIN"),         kind("COS"),         kind("SQRT"),        kind("RSQRT"),      kind("SQUARE"),
    kind("ABS"),         kind("NEG"),         kind("SIGN"),        kind("FLOOR"),      kind("CEIL"),
    kind("ROUND"),       kind("SOFTMAX"),     kind("DYNAMIC_UPDATE_SLICE")};

/// Operators that read or change what no tensor shows; they keep the order of the file.
inline constexpr kind_id stateful[] = {kind("READ_VARIABLE"),    kind("ASSIGN_VARIABLE"), kind("HASHTABLE_FIND"),
                                       kind("HASHTABLE_IMPORT"), kind("HASHTABLE_SIZE"),  kind("CALL_ONCE")};

/// Further operators whose outputs are no constants although all their inputs are.
inline constexpr kind_id unfoldable[] = {
    custom, kind("CALL"), kind("DELEGATE"), kind("IF"), kind("WHILE"), kind("RANDOM_STANDARD_NORMAL"),
    kind("RANDOM_UNIFORM"), kind("MULTINOMIAL"), kind("STABLEHLO_CUSTOM_CALL"), kind("STABLEHLO_WHILE"),
    kind("STABLEHLO_RNG_BIT_GENERATOR"), kind("STABLEHLO_COMPOSITE"), kind("STABLEHLO_CASE")};

inline std::string kind_name(kind_id k) {
  if (k >= 0 && static_cast<std::size_t>(k) < std::size(builtin_names)) return builtin_names[k];
  return "BUILTIN_" + std::to_string(k);
}

struct element_type {
  const char* name;
  unsigned char bits;  ///< of one element; 0 where the file does not tell
};

/// Element types by number. A RESOURCE is a 32-bit handle; elements below a byte are packed.
inline constexpr element_type element_types[] = {
    {"FLOAT32", 32}, {"FLOAT16", 16},    {"INT32", 32},  {"UINT8", 8},     {"INT64", 64},        {"STRING", 0},
    {"BOOL", 8},     {"INT16", 16},      {"COMPLEX64", 64}, {"INT8", 8},   {"FLOAT64", 64},      {"COMPLEX128", 128},
    {"UINT64", 64},  {"RESOURCE", 32},   {"VARIANT", 0}, {"UINT32", 32},   {"UINT16", 16},       {"INT4", 4},
    {"BFLOAT16", 16}, {"INT2", 2},       {"UINT4", 4},   {"FLOAT8_E4M3FN", 8}, {"FLOAT8_E5M2", 8}};

/// A field of a table: its number in the schema.
struct field {
  flatbuffers::voffset_t number;
  const char* name;
  flatbuffers::voffset_t slot() const { return static_cast<flatbuffers::voffset_t>(4 + 2 * number); }
};

namespace model_fields {
inline constexpr field version{0, "version"}, operator_codes{1, "operator_codes"}, subgraphs{2, "subgraphs"},
    buffers{4, "buffers"};
}
namespace subgraph_fields {
inline constexpr field tensors{0, "tensors"}, inputs{1, "inputs"}, outputs{2, "outputs"}, operators{3, "operators"},
    name{4, "name"};
}
namespace tensor_fields {
inline constexpr field shape{0, "shape"}, type{1, "type"}, buffer{2, "buffer"}, name{3, "name"},
    is_variable{5, "is_variable"}, shape_signature{7, "shape_signature"}, external_buffer{10, "external_buffer"};
}
namespace operator_fields {
inline constexpr field opcode_index{0, "opcode_index"}, inputs{1, "inputs"}, outputs{2, "outputs"},
    options_type{3, "builtin_options_type"}, options{4, "builtin_options"},
    options_2_type{11, "builtin_options_2_type"}, options_2{12, "builtin_options_2"};
}
namespace code_fields {
inline constexpr field old_builtin{0, "deprecated_builtin_code"}, custom_code{1, "custom_code"},
    builtin{3, "builtin_code"};
}
namespace buffer_fields {
inline constexpr field data{0, "data"}, offset{1, "offset"}, size{2, "size"};
}

/// Where in the file something stands: up to two list entries, as in subgraphs[0].operators[3].
struct place {
  const char* list = nullptr;
  std::size_t at = 0;
  const char* inner = nullptr;
  std::size_t inner_at = 0;

  place entry(const char* name, std::size_t i) const {
    return list == nullptr ? place{name, i} : place{list, at, name, i};
  }
  std::string text() const {
    if (list == nullptr) return "the model";
    std::string s = std::string(list) + "[" + std::to_string(at) + "]";
    if (inner != nullptr) s += std::string(".") + inner + "[" + std::to_string(inner_at) + "]";
    return s;
  }
  std::string text(field f) const { return list == nullptr ? f.name : text() + "." + f.name; }
};

/// A table whose head is verified, or none.
struct table {
  const flatbuffers::Table* data = nullptr;
  place where;
};

/// Reads tables of a flatbuffer that may be damaged: each offset is verified just before its use. The first fault is
/// kept; what cannot be read counts as absent.
class untrusted_file {
 public:
  explicit untrusted_file(std::string_view file)
      : words_(aligned(file) ? 0 : file.size() / sizeof(std::uint64_t) + 1),
        begin_(reinterpret_cast<const std::uint8_t*>(words_.empty() ? static_cast<const void*>(file.data())
                                                                    : words_.data())),
        tables_size_(std::min<std::size_t>(file.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1)),
        file_size_(file.size()),
        left_(budget_factor * std::uint64_t{file.size()}),
        verifier_(begin_, tables_size_, 64, std::numeric_limits<flatbuffers::uoffset_t>::max()) {
    if (!words_.empty()) std::memcpy(words_.data(), file.data(), file.size());
  }
  untrusted_file(const untrusted_file&) = delete;
  untrusted_file& operator=(const untrusted_file&) = delete;

  std::uint64_t size() const { return file_size_; }
  bool failed() const { return !error_.message.empty(); }
  graph_error&& error() { return std::move(error_); }
  /// Keeps the first fault; false.
  bool fault(error_code code, std::string message) {
    if (!failed()) error_ = {code, std::move(message), {}, {}};
    return false;
  }

  /// The fault of an index out of range; false.
  bool lacks(error_code code, const std::string& where, const char* what, std::int64_t i, std::size_t count) {
    return fault(code, where + ": there is no " + what + " " + std::to_string(i) + " among " + std::to_string(count));
  }

  table root() {
    if (tables_size_ < 8 || !flatbuffers::BufferHasIdentifier(begin_, "TFL3")) {
      fault(error_code::bad_input, "no TensorFlow Lite model: bytes 4 to 7 are not \"TFL3\"");
      return {};
    }
    const table model = open(0, {});
    if (model.data == nullptr) damaged("the root offset");
    return model;
  }

  template <class T>
  T number(const table& t, field f, T otherwise = 0) {
    if (t.data == nullptr || failed()) return otherwise;
    if (!t.data->VerifyField<T>(verifier_, f.slot(), sizeof(T))) return damaged(t.where.text(f)), otherwise;
    return t.data->GetField<T>(f.slot(), otherwise);
  }

  /// The table in a field; none where the field is absent.
  table child(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    if (at == nullptr) return {};
    const table found = open(offset_of(at), t.where);
    if (found.data == nullptr) damaged(t.where.text(f));
    return found;
  }

  std::vector<table> children(const table& t, field f) {
    const auto* list = vector<flatbuffers::uoffset_t>(t, f);
    std::vector<table> tables;
    if (list == nullptr || !take(list->size() * sizeof(flatbuffers::uoffset_t), t, f)) return tables;
    tables.reserve(list->size());
    std::size_t at = offset_of(list->Data());
    for (flatbuffers::uoffset_t i = 0; i < list->size() && !failed(); ++i, at += sizeof(flatbuffers::uoffset_t)) {
      tables.push_back(open(at, t.where.entry(f.name, i)));
      if (tables.back().data == nullptr) damaged(t.where.entry(f.name, i).text());
    }
    return tables;
  }

  std::vector<std::int32_t> numbers(const table& t, field f) {
    const auto* list = vector<std::int32_t>(t, f);
    std::vector<std::int32_t> values;
    if (list == nullptr || !take(list->size() * sizeof(std::int32_t), t, f)) return values;
    values.reserve(list->size());
    for (flatbuffers::uoffset_t i = 0; i < list->size(); ++i) values.push_back(list->Get(i));
    return values;
  }

  std::string text(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    if (at == nullptr) return {};
    const auto* string = reinterpret_cast<const flatbuffers::String*>(target(at));
    if (!verifier_.VerifyString(string)) return damaged(t.where.text(f)), std::string();
    return take(string->size(), t, f) ? string->str() : std::string();
  }

  /// How many bytes a field holds, without a look at them.
  std::size_t length(const table& t, field f) {
    const auto* list = vector<std::uint8_t>(t, f);
    return list == nullptr ? 0 : list->size();
  }

 private:
  // Lists may overlap, so that a small file could ask for any amount of work. An honest one has each byte read about
  // once.
  static constexpr std::uint64_t budget_factor = 4;

  static bool aligned(std::string_view file) {
    return reinterpret_cast<std::uintptr_t>(file.data()) % sizeof(std::uint64_t) == 0;
  }
  std::size_t offset_of(const std::uint8_t* p) const { return static_cast<std::size_t>(p - begin_); }

  bool damaged(const std::string& what) {
    return fault(error_code::bad_input, what + ": damaged: it reaches past the end of the file or is misaligned");
  }

  /// The table that the offset at byte `at` leads to; none where either is damaged.
  table open(std::size_t at, place where) {
    const flatbuffers::uoffset_t step = verifier_.VerifyOffset(at);
    const std::uint8_t* data = begin_ + at + step;
    if (step == 0 || !verifier_.VerifyTableStart(data)) return {};
    verifier_.EndTable();  // tables are visited one at a time: none is nested in another
    return {reinterpret_cast<const flatbuffers::Table*>(data), where};
  }

  /// Where the offset in a field stands, verified; null where the field is absent.
  const std::uint8_t* offset_field(const table& t, field f) {
    if (t.data == nullptr || failed()) return nullptr;
    if (!t.data->VerifyOffset(verifier_, f.slot())) return damaged(t.where.text(f)), nullptr;
    return t.data->GetAddressOf(f.slot());
  }

  static const std::uint8_t* target(const std::uint8_t* at) {
    return at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at);
  }

  template <class T>
  const flatbuffers::Vector<T>* vector(const table& t, field f) {
    const std::uint8_t* at = offset_field(t, f);
    if (at == nullptr) return nullptr;
    const auto* list = reinterpret_cast<const flatbuffers::Vector<T>*>(target(at));
    if (!verifier_.VerifyVector(list)) return damaged(t.where.text(f)), nullptr;
    return list;
  }

  bool take(std::uint64_t amount, const table& t, field f) {
    if (amount > left_)
      return fault(error_code::bad_input, t.where.text(f) + ": the file's lists overlap: together they are over " +
                                              std::to_string(budget_factor) + " times its size");
    left_ -= amount;
    return true;
  }

  std::vector<std::uint64_t> words_;  ///< a copy, where the caller's bytes are not aligned
  const std::uint8_t* begin_;
  std::size_t tables_size_;  ///< offsets reach 2 GiB; beyond that only weights are stored
  std::uint64_t file_size_;
  std::uint64_t left_;
  flatbuffers::Verifier verifier_;
  graph_error error_;
};

/// An operator that runs subgraphs, and where its options name them.
struct call_rule {
  kind_id kind;
  bool second_union;         ///< its options are in builtin_options_2
  std::uint8_t tag;          ///< their number in the union
  field first;
  std::optional<field> second{};
  bool either = false;       ///< runs one of the two only
};

inline constexpr call_rule call_rules[] = {
    {kind("CALL"), false, 16, {0, "subgraph"}},
    {kind("IF"), false, 92, {0, "then_subgraph_index"}, field{1, "else_subgraph_index"}, true},
    {kind("WHILE"), false, 93, {0, "cond_subgraph_index"}, field{1, "body_subgraph_index"}},
    {kind("CALL_ONCE"), false, 103, {0, "init_subgraph_index"}},
    {kind("STABLEHLO_WHILE"), true, 15, {0, "cond_subgraph_index"}, field{1, "body_subgraph_index"}},
    {kind("STABLEHLO_COMPOSITE"), true, 21, {1, "decomposition_subgraph_index"}}};

/// Where the contents of a tensor come from.
enum class origin : unsigned char { nowhere, constant, input, variable, produced };

struct operator_info {
  table data;
  kind_id kind = 0;
  std::uint32_t code = 0;                ///< position in operator_codes
  std::vector<index> inputs, outputs;    ///< tensors of the subgraph, absent ones left out
  bool folded = false;                   ///< computed from constants alone
};

/// One subgraph, its indices checked and its constants known.
struct subgraph_info {
  table data;
  std::vector<table> tensors;
  std::vector<origin> origins;
  std::vector<operator_info> operators;
  std::vector<index> inputs, outputs;

  bool constant(index t) const { return origins[t] == origin::constant; }
};

/// What an operator that runs subgraphs costs.
struct call_cost {
  bytes workspace = 0;
  bool stateful = false;
};

class importer {
 public:
  explicit importer(std::string_view file) : file_(file) {}

  result<problem_draft> run() {
    const table model = file_.root();
    if (const auto v = file_.number<std::uint32_t>(model, model_fields::version); v != 3)
      file_.fault(error_code::bad_input, "version: is " + std::to_string(v) + ", but only 3 is known");
    codes_ = file_.children(model, model_fields::operator_codes);
    subgraphs_ = file_.children(model, model_fields::subgraphs);
    buffers_ = file_.children(model, model_fields::buffers);
    if (!file_.failed() && subgraphs_.empty()) file_.fault(error_code::bad_input, "subgraphs: the model has none");
    costs_.resize(subgraphs_.size());
    if (!file_.failed()) build();
    if (file_.failed()) return file_.error();
    return std::move(draft_);
  }

 private:
  // One subgraph ---------------------------------------------------------------------------------------------------

  subgraph_info load(std::size_t s) {
    using namespace subgraph_fields;
    subgraph_info g;
    g.data = subgraphs_[s];
    g.tensors = file_.children(g.data, tensors);
    g.inputs = indices(g, g.data, inputs);
    g.outputs = indices(g, g.data, outputs);
    find_origins(g);
    for (const table& data : file_.children(g.data, operators)) g.operators.push_back(read_operator(g, data));
    for (const operator_info& op : g.operators)
      for (index t : op.outputs) mark_produced(g, op, t);
    fold(g);
    return g;
  }

  void find_origins(subgraph_info& g) {
    for (const table& t : g.tensors) {
      const bool variable = file_.number<std::uint8_t>(t, tensor_fields::is_variable) != 0;
      g.origins.push_back(variable ? origin::variable : holds_data(t) ? origin::constant : origin::nowhere);
    }
    for (index t : g.inputs)
      if (g.origins[t] == origin::nowhere) g.origins[t] = origin::input;
  }

  bool holds_data(const table& t) {
    if (file_.number<std::uint32_t>(t, tensor_fields::external_buffer) != 0) return true;
    const auto b = file_.number<std::uint32_t>(t, tensor_fields::buffer);
    if (b == 0) return false;  // the empty one, by convention
    if (b >= buffers_.size())
      return file_.lacks(error_code::bad_input, t.where.text(tensor_fields::buffer), "buffer", b, buffers_.size());
    const table& buffer = buffers_[b];
    if (file_.length(buffer, buffer_fields::data) > 0) return true;
    const auto from = file_.number<std::uint64_t>(buffer, buffer_fields::offset);
    const auto count = file_.number<std::uint64_t>(buffer, buffer_fields::size);
    if (from <= 1 || count == 0) return false;
    if (from > file_.size() || count > file_.size() - from)
      return file_.fault(error_code::bad_input, buffer.where.text() + ": its data lies past the end of the file");
    return true;
  }

  operator_info read_operator(const subgraph_info& g, const table& data) {
    using namespace operator_fields;
    operator_info op;
    op.data = data;
    op.code = file_.number<std::uint32_t>(data, opcode_index);
    if (op.code >= codes_.size()) {
      file_.lacks(error_code::bad_input, data.where.text(opcode_index), "operator code", op.code, codes_.size());
      return op;
    }
    const table& code = codes_[op.code];
    // Numbers beyond 127 did not fit the old field, which then holds a placeholder.
    op.kind = std::max<kind_id>(file_.number<std::int8_t>(code, code_fields::old_builtin),
                                file_.number<kind_id>(code, code_fields::builtin));
    op.inputs = indices(g, data, inputs, true);
    op.outputs = indices(g, data, outputs);
    return op;
  }

  /// Tensors that a field lists. Where they may be absent, -1 is left out.
  std::vector<index> indices(const subgraph_info& g, const table& owner, field f, bool optional = false) {
    std::vector<index> found;
    const std::vector<std::int32_t> listed = file_.numbers(owner, f);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (optional && listed[i] == -1) continue;
      if (listed[i] < 0 || static_cast<std::size_t>(listed[i]) >= g.tensors.size()) {
        file_.lacks(error_code::unknown_tensor, owner.where.text(f) + "[" + std::to_string(i) + "]", "tensor",
                    listed[i], g.tensors.size());
        return {};
      }
      found.push_back(static_cast<index>(listed[i]));
    }
    return found;
  }

  void mark_produced(subgraph_info& g, const operator_info& op, index t) {
    const auto refuse = [&](error_code code, const char* reason) {
      file_.fault(code, op.data.where.text(operator_fields::outputs) + ": " + label(g.tensors[t]) + " " + reason);
    };
    switch (std::exchange(g.origins[t], origin::produced)) {
      case origin::nowhere: return;
      case origin::constant: return refuse(error_code::produced_input, "is a constant");
      case origin::variable: return refuse(error_code::produced_input, "is a variable");
      case origin::input: return refuse(error_code::produced_input, "is an input of the subgraph");
      case origin::produced: return refuse(error_code::two_producers, "is written twice");
    }
  }

  /// Marks what is constant for the runtime although it has no data in the file.
  void fold(subgraph_info& g) {
    for (index t = 0; t < g.tensors.size(); ++t)
      if (g.origins[t] == origin::nowhere) {
        const auto dims = file_.numbers(g.tensors[t], tensor_fields::shape);
        if (std::find(dims.begin(), dims.end(), 0) != dims.end()) g.origins[t] = origin::constant;
      }
    for (operator_info& op : g.operators) {
      op.folded = !op.inputs.empty() && !among(unfoldable, op.kind) && !among(stateful, op.kind) &&
                  std::all_of(op.inputs.begin(), op.inputs.end(), [&](index t) { return g.constant(t); });
      if (op.folded)
        for (index t : op.outputs) g.origins[t] = origin::constant;
    }
  }

  bytes size(const table& t) {
    const auto type = file_.number<std::uint8_t>(t, tensor_fields::type);
    if (type >= std::size(element_types))
      return refuse_size(t, error_code::bad_input, "has the unknown element type " + std::to_string(type));
    const std::vector<std::int32_t> dims = file_.numbers(t, tensor_fields::shape);
    if (dims.empty() && file_.length(t, tensor_fields::shape_signature) > 0)
      return refuse_size(t, error_code::bad_input, "has no shape");
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] < 0)
        return refuse_size(t, error_code::bad_size,
                           "has a dynamic shape: dimension " + std::to_string(i) + " is " + std::to_string(dims[i]));
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
    const element_type& element = element_types[type];
    if (element.bits == 0)
      return refuse_size(t, error_code::bad_size,
                         std::string("is a ") + element.name + ", whose size the file does not tell");
    std::uint64_t bits = element.bits;
    for (const std::int32_t d : dims) {
      const auto n = static_cast<std::uint64_t>(d);
      if (bits > std::numeric_limits<std::uint64_t>::max() / n)
        return refuse_size(t, error_code::overflow, "is larger than 2^61 bytes");
      bits *= n;
    }
    return bits / 8 + (bits % 8 != 0);
  }
  bytes refuse_size(const table& t, error_code code, const std::string& reason) {
    file_.fault(code, t.where.text() + ": " + label(t) + " " + reason);
    return 0;
  }

  /// A tensor in a message: its name with whatever might break the line replaced.
  std::string label(const table& t) {
    std::string name = file_.text(t, tensor_fields::name).substr(0, 100);
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    return "tensor '" + name + "'";
  }

  // Subgraphs that operators run -----------------------------------------------------------------------------------

  struct cost_state {
    bool open = false, done = false;
    call_cost cost;
  };

  /// What an operator's subgraphs cost; nothing for an operator that runs none.
  call_cost call(const operator_info& op) {
    if (op.kind == kind("STABLEHLO_CASE"))
      file_.fault(error_code::bad_input, op.data.where.text() + ": STABLEHLO_CASE is not supported");
    const auto rule = std::find_if(std::begin(call_rules), std::end(call_rules),
                                   [&](const call_rule& r) { return r.kind == op.kind; });
    if (rule == std::end(call_rules)) return {.stateful = among(stateful, op.kind)};
    using namespace operator_fields;
    const field holder = rule->second_union ? options_2 : options;
    const table call_options = file_.child(op.data, holder);
    const auto tag = file_.number<std::uint8_t>(op.data, rule->second_union ? options_2_type : options_type);
    if (call_options.data == nullptr || tag != rule->tag) {
      file_.fault(error_code::bad_input,
                  op.data.where.text(holder) + ": " + kind_name(op.kind) + " has no options of its kind");
      return {};
    }
    call_cost cost = subgraph_cost(op, call_options, rule->first);
    if (rule->second) {
      const call_cost other = subgraph_cost(op, call_options, *rule->second);
      cost.workspace = rule->either ? std::max(cost.workspace, other.workspace) : cost.workspace + other.workspace;
      cost.stateful |= other.stateful;
    }
    cost.stateful |= among(stateful, op.kind);
    return cost;
  }

  call_cost subgraph_cost(const operator_info& caller, const table& options, field f) {
    constexpr std::size_t deepest = 64;
    const std::string where = caller.data.where.text(f);
    const auto refuse = [&](const std::string& reason) {
      file_.fault(error_code::bad_input, where + ": " + reason);
      return call_cost{};
    };
    const auto s = file_.number<std::int32_t>(options, f);
    if (file_.failed()) return {};
    if (s < 0 || static_cast<std::size_t>(s) >= costs_.size())
      return file_.lacks(error_code::bad_input, where, "subgraph", s, costs_.size()), call_cost{};
    cost_state& state = costs_[static_cast<std::size_t>(s)];
    if (state.open) return refuse("subgraph " + std::to_string(s) + " runs itself");
    if (state.done) return state.cost;
    if (depth_ == deepest) return refuse("subgraphs run each other more than " + std::to_string(deepest) + " deep");
    state.open = true;
    ++depth_;
    state.cost = total(load(static_cast<std::size_t>(s)));
    --depth_;
    state.open = false;
    state.done = true;
    return state.cost;
  }

  /// All activations of a subgraph, and the costliest of the operators in it that run others.
  call_cost total(const subgraph_info& g) {
    std::vector<bool> counted(g.tensors.size(), false);
    call_cost cost;
    bytes nested = 0;
    const auto add = [&](bytes more) {
      if (more > max_total - cost.workspace)
        file_.fault(error_code::overflow, g.data.where.text() + ": its tensors sum to more than 2^61 bytes");
      else
        cost.workspace += more;
    };
    const auto count = [&](const std::vector<index>& list) {
      for (index t : list)
        if (!file_.failed() && !g.constant(t) && !counted[t]) {
          counted[t] = true;
          add(size(g.tensors[t]));
        }
    };
    count(g.inputs);
    count(g.outputs);
    for (const operator_info& op : g.operators) {
      if (op.folded || file_.failed()) continue;
      count(op.inputs);
      count(op.outputs);
      const call_cost inner = call(op);
      nested = std::max(nested, inner.workspace);
      cost.stateful |= inner.stateful;
    }
    add(nested);
    return cost;
  }

  // The draft ------------------------------------------------------------------------------------------------------

  void build() {
    costs_[0].open = true;
    main_ = load(0);
    if (file_.failed()) return;
    ids_.assign(main_.tensors.size(), none);
    last_user_.assign(main_.tensors.size(), none);
    draft_.name = file_.text(main_.data, subgraph_fields::name);
    list(main_.inputs, draft_.graph_inputs);
    for (std::size_t i = 0; i < main_.operators.size() && !file_.failed(); ++i)
      if (!main_.operators[i].folded) add_operator(i);
    list(main_.outputs, draft_.graph_outputs);
  }

  /// Variables are listed when they are met, constants never.
  void list(const std::vector<index>& tensors, std::vector<tensor_id>& into) {
    for (index t : tensors)
      if (!main_.constant(t)) {
        const tensor_id id = tensor(t);
        if (main_.origins[t] != origin::variable) into.push_back(id);
      }
  }

  tensor_id tensor(index t) {
    if (ids_[t] != none) return ids_[t];
    ids_[t] = static_cast<tensor_id>(draft_.tensors.size());
    draft_.tensors.push_back({.size = size(main_.tensors[t])});
    draft_.tensor_names.push_back(file_.text(main_.tensors[t], tensor_fields::name));
    if (main_.origins[t] == origin::variable) {
      draft_.graph_inputs.push_back(ids_[t]);
      draft_.graph_outputs.push_back(ids_[t]);
    }
    return ids_[t];
  }

  void add_operator(std::size_t position) {
    const operator_info& op = main_.operators[position];
    const op_id id = static_cast<op_id>(draft_.operators.size());
    for (index t : op.inputs)
      if (!main_.constant(t)) {
        draft_.reads.push(tensor(t));
        if (main_.origins[t] == origin::variable) run_after(std::exchange(last_user_[t], id), id);
      }
    for (index t : op.outputs) draft_.writes.push(tensor(t));
    const call_cost cost = call(op);
    if (cost.stateful) run_after(std::exchange(last_stateful_, id), id);
    operator_data data{.workspace = cost.workspace};
    if (among(views, op.kind)) share(op);
    else if (among(overwriting, op.kind)) data.overwrites = same_sized_input(op, op.inputs.size());
    draft_.reads.close();
    draft_.writes.close();
    draft_.after.close();
    draft_.operators.push_back(data);
    draft_.operator_names.push_back(operator_kind(op) + "_" + std::to_string(position));
  }

  void run_after(op_id before, op_id op) {
    if (before != none && before != op) draft_.after.push(before);
  }

  /// Makes the output of a view an alias of its input.
  void share(const operator_info& op) {
    if (op.outputs.empty()) return;
    draft_.tensors[ids_[op.outputs[0]]].alias_of = same_sized_input(op, 1);
  }

  /// The first activation among the first `candidates` inputs that is as large as the first output.
  tensor_id same_sized_input(const operator_info& op, std::size_t candidates) {
    if (op.outputs.empty()) return none;
    const bytes wanted = draft_.tensors[ids_[op.outputs[0]]].size;
    for (std::size_t i = 0; i < std::min(candidates, op.inputs.size()); ++i) {
      const index t = op.inputs[i];
      if (main_.constant(t) || main_.origins[t] == origin::variable) continue;
      if (draft_.tensors[ids_[t]].size == wanted) return ids_[t];
    }
    return none;
  }

  std::string operator_kind(const operator_info& op) {
    const std::string own = op.kind == custom ? file_.text(codes_[op.code], code_fields::custom_code) : std::string();
    return own.empty() ? kind_name(op.kind) : own;
  }

  untrusted_file file_;
  std::vector<table> codes_, subgraphs_, buffers_;
  std::vector<cost_state> costs_;  ///< per subgraph
  std::size_t depth_ = 0;
  subgraph_info main_;
  std::vector<tensor_id> ids_;     ///< per tensor of the main subgraph: its id in the draft
  std::vector<op_id> last_user_;   ///< per variable: the last operator that reads or changes it
  op_id last_stateful_ = none;
  problem_draft draft_;
};

}  // namespace detail::tflite

/// The graph of a TensorFlow Lite model (a flatbuffer with identifier "TFL3"), its operators in the order of the file;
/// `check` it afterwards. O(file) time and memory beside the weights, which are not read; bytes that do not start at an
/// 8-byte boundary are copied first.
///
/// * Subgraph 0 is the graph. Signatures are ignored.
/// * Constants are left out: tensors with data in the file (or in an external one), empty ones that nobody writes, and
///   what is computed from constants alone, such as DEQUANTIZE of float16 weights. Operators of the latter kind are
///   left out too, unless custom, random or stateful: their results stay for the whole run, as weights do.
/// * A variable (is_variable) lives from start to end: it is a graph input and a graph output. Operators that read or
///   change the same variable keep the order of the file, and so do those with hidden state (READ_VARIABLE,
///   ASSIGN_VARIABLE, HASHTABLE_FIND, _IMPORT and _SIZE, CALL_ONCE, and whatever runs a subgraph with these).
/// * A size is shape times element width, packed for elements below a byte; no shape is a scalar. A negative dimension,
///   STRING and VARIANT are errors, except on tensors that are left out. A RESOURCE is a handle of 4 bytes.
/// * The output of RESHAPE, SQUEEZE, EXPAND_DIMS and BITCAST is an alias of the first input, if that is an activation
///   of the same size and no variable.
/// * In place, first output over the first activation of the same size among the inputs: ADD SUB MUL DIV FLOOR_DIV
///   FLOOR_MOD MAXIMUM MINIMUM POW SQUARED_DIFFERENCE ADD_N ATAN2 LOGICAL_OR LOGICAL_AND LOGICAL_NOT BITWISE_XOR
///   RIGHT_SHIFT RELU RELU_N1_TO_1 RELU_0_TO_1 RELU6 LEAKY_RELU PRELU ELU GELU HARD_SWISH LOGISTIC TANH EXP LOG SIN COS
///   SQRT RSQRT SQUARE ABS NEG SIGN FLOOR CEIL ROUND SOFTMAX DYNAMIC_UPDATE_SLICE.
/// * IF, WHILE, CALL, CALL_ONCE, STABLEHLO_WHILE and STABLEHLO_COMPOSITE are one operator each, whose workspace is the
///   sum of all activations of its subgraphs (of the larger one for IF), plus, for subgraphs that run others, the
///   costliest such operator: enough for any runtime. STABLEHLO_CASE is an error. Workspace of kernels is not in the
///   file, and counts as 0.
/// * Operators are named after kind (custom ones: their code) and position in the file: CONV_2D_3; unknown kinds
///   BUILTIN_<number>. Tensors have their names of the file. Both may hold any byte.
inline result<problem_draft> read_tflite(std::string_view file) { return detail::tflite::importer(file).run(); }

}  // namespace memsched
