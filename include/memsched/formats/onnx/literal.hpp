// Small tensors of an ONNX model with known values, and the attributes of operators.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

using dimensions = std::vector<std::int64_t>;

/// A value is followed up to this number of elements and this rank.
inline constexpr std::int64_t max_literal = 1024;
inline constexpr std::size_t max_rank = 64;

/// The number of elements; none if it or a dimension exceeds `limit` or a dimension is negative.
inline std::optional<std::int64_t> element_count(const dimensions& dims, std::int64_t limit) {
  if (std::any_of(dims.begin(), dims.end(), [limit](auto d) { return d < 0 || d > limit; })) return std::nullopt;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::int64_t n = 1;
  for (std::int64_t d : dims) {
    if (d > limit / n) return std::nullopt;
    n *= d;
  }
  return n;
}

/// A small tensor with a known value. Integers are exact up to 2^53; a larger one of a file stands for "very large".
struct literal {
  int type = 0;  ///< onnx::TensorProto::DataType
  dimensions dims;
  std::vector<double> values;
};

inline constexpr double exact_integer = 9007199254740992.0;  // 2^53
inline constexpr double very_large = 9223372036854775808.0;  // 2^63

inline bool is_real(int type) { return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE; }

/// v as the element type holds it; none if the type does not hold it exactly.
inline std::optional<double> fit(int type, double v) {
  if (type == onnx::TensorProto::DOUBLE) return v;
  if (type == onnx::TensorProto::FLOAT) {
    if (std::isfinite(v) && std::abs(v) > double{std::numeric_limits<float>::max()}) return std::nullopt;
    return double{static_cast<float>(v)};
  }
  if (type == onnx::TensorProto::BOOL) return v != 0 ? 1.0 : 0.0;
  if (type == onnx::TensorProto::INT32 && (v < -2147483648.0 || v > 2147483647.0)) return std::nullopt;
  if (type != onnx::TensorProto::INT32 && type != onnx::TensorProto::INT64) return std::nullopt;
  if (!(std::abs(v) <= exact_integer)) return std::nullopt;
  return std::trunc(v);
}

inline std::int64_t to_integer(double v) {
  if (v >= very_large) return std::numeric_limits<std::int64_t>::max();
  if (v <= -very_large) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(v);
}

inline double from_integer(std::int64_t v) {
  const auto d = static_cast<double>(v);
  return std::abs(d) <= exact_integer ? d : std::copysign(very_large, d);
}

template <class T>
std::vector<double> raw_values(const std::string& raw) {
  std::vector<double> values;
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T v;
    std::memcpy(&v, raw.data() + at, sizeof v);
    if constexpr (std::is_same_v<T, std::int64_t>) values.push_back(from_integer(v));
    else values.push_back(static_cast<double>(v));
  }
  return values;
}

/// The value of a small tensor in a file; none if it is large, stored elsewhere, of another type, or inconsistent.
inline std::optional<literal> read_literal(const onnx::TensorProto& t) {
  using proto = onnx::TensorProto;
  const dimensions dims(t.dims().begin(), t.dims().end());
  const auto n = element_count(dims, max_literal);
  if (!n || dims.size() > max_rank || t.data_location() == proto::EXTERNAL) return std::nullopt;
  if (t.raw_data().size() > static_cast<std::size_t>(max_literal) * sizeof(double)) return std::nullopt;
  const bool raw = t.has_raw_data();
  std::vector<double> values;
  const auto take = [&values](const auto& list) {
    for (auto v : list) {
      if (values.size() > static_cast<std::size_t>(max_literal)) return;
      values.push_back(static_cast<double>(v));
    }
  };
  switch (t.data_type()) {
    case proto::FLOAT: raw ? void(values = raw_values<float>(t.raw_data())) : take(t.float_data()); break;
    case proto::DOUBLE: raw ? void(values = raw_values<double>(t.raw_data())) : take(t.double_data()); break;
    case proto::INT32: raw ? void(values = raw_values<std::int32_t>(t.raw_data())) : take(t.int32_data()); break;
    case proto::BOOL: raw ? void(values = raw_values<std::uint8_t>(t.raw_data())) : take(t.int32_data()); break;
    case proto::INT64:
      if (raw) values = raw_values<std::int64_t>(t.raw_data());
      else take(t.int64_data());
      for (double& v : values)
        if (std::abs(v) > exact_integer) v = std::copysign(very_large, v);
      break;
    default: return std::nullopt;
  }
  if (values.size() != static_cast<std::size_t>(*n)) return std::nullopt;
  return literal{t.data_type(), dims, std::move(values)};
}

/// The tensor that holds a literal.
inline onnx::TensorProto to_tensor(const literal& l) {
  onnx::TensorProto t;
  t.set_data_type(l.type);
  for (std::int64_t d : l.dims) t.add_dims(d);
  for (double v : l.values) {
    if (l.type == onnx::TensorProto::FLOAT) t.add_float_data(static_cast<float>(v));
    else if (l.type == onnx::TensorProto::DOUBLE) t.add_double_data(v);
    else if (l.type == onnx::TensorProto::INT64) t.add_int64_data(to_integer(v));
    else t.add_int32_data(static_cast<std::int32_t>(v));
  }
  return t;
}

inline const onnx::AttributeProto* attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& a : node.attribute())
    if (a.name() == name) return &a;
  return nullptr;
}

inline std::int64_t attribute(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise) {
  const auto* a = attribute(node, name);
  return a ? a->i() : otherwise;
}

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
