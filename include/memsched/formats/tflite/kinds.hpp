// TensorFlow Lite's operator kinds and element types, by number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Operator kinds by number, as of schema version 3d.
// clang-format off
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
// clang-format on

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

// clang-format off
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
// clang-format on

/// Operators that read or change state which no tensor shows; they keep the order of the file.
inline constexpr kind_id stateful[] = {kind("READ_VARIABLE"),    kind("ASSIGN_VARIABLE"), kind("HASHTABLE_FIND"),
                                       kind("HASHTABLE_IMPORT"), kind("HASHTABLE_SIZE"),  kind("CALL_ONCE")};

/// Operators that change the variables among their inputs: the state from one run of the model to the next. Others that
/// are known read a variable only.
// clang-format off
inline constexpr kind_id changing_variables[] = {
    kind("LSTM"), kind("RNN"), kind("SVDF"), kind("UNIDIRECTIONAL_SEQUENCE_LSTM"), kind("UNIDIRECTIONAL_SEQUENCE_RNN"),
    kind("BIDIRECTIONAL_SEQUENCE_LSTM"), kind("BIDIRECTIONAL_SEQUENCE_RNN"), kind("DELEGATE"), kind("CALL_ONCE"),
    kind("STABLEHLO_CUSTOM_CALL")};
// clang-format on

/// Operators that draw from a generator, which they may share; they keep the order of the file.
inline constexpr kind_id random[] = {kind("RANDOM_STANDARD_NORMAL"), kind("RANDOM_UNIFORM"), kind("MULTINOMIAL"),
                                     kind("STABLEHLO_RNG_BIT_GENERATOR")};

/// Further operators whose outputs are no constants although all their inputs are.
// clang-format off
inline constexpr kind_id unfoldable[] = {
    custom, kind("CALL"), kind("DELEGATE"), kind("IF"), kind("WHILE"), kind("STABLEHLO_CUSTOM_CALL"),
    kind("STABLEHLO_WHILE"), kind("STABLEHLO_COMPOSITE"), kind("STABLEHLO_CASE")};
// clang-format on

inline std::string kind_name(kind_id k) {
  if (k >= 0 && static_cast<std::size_t>(k) < std::size(builtin_names)) return builtin_names[k];
  return "BUILTIN_" + std::to_string(k);
}

struct element_type {
  const char* name;
  unsigned char bits;  ///< of one element; 0 if the file does not tell
};

/// Element types by number. A RESOURCE is a 32-bit handle; elements below a byte are packed.
// clang-format off
inline constexpr element_type element_types[] = {
    {"FLOAT32", 32}, {"FLOAT16", 16},    {"INT32", 32},  {"UINT8", 8},     {"INT64", 64},        {"STRING", 0},
    {"BOOL", 8},     {"INT16", 16},      {"COMPLEX64", 64}, {"INT8", 8},   {"FLOAT64", 64},      {"COMPLEX128", 128},
    {"UINT64", 64},  {"RESOURCE", 32},   {"VARIANT", 0}, {"UINT32", 32},   {"UINT16", 16},       {"INT4", 4},
    {"BFLOAT16", 16}, {"INT2", 2},       {"UINT4", 4},   {"FLOAT8_E4M3FN", 8}, {"FLOAT8_E5M2", 8}};
// clang-format on

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
