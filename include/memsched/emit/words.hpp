// Numbers, names and arrays in C.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A number in C, with `digits` digits: enough that reading them gives it again.
inline std::string c_digits(double x, int digits) {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x < 0 ? "-INFINITY" : "INFINITY";
  char s[40];
  std::snprintf(s, sizeof s, "%.*g", digits, x);
  const std::string text = s;
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}
inline std::string c_value(double x) { return c_digits(x, 17); }
inline std::string c_value(float x) {
  const std::string s = c_digits(static_cast<double>(x), 9);
  return std::isfinite(x) ? s + "F" : s;
}
inline std::string c_value(std::int64_t x) { return x == INT32_MIN ? "INT32_MIN" : std::to_string(x); }

/// A text that ends no comment.
inline std::string c_comment(std::string s) {
  for (char& c : s)
    if (c == '*' || c == '/' || c == '\\' || c == '?' || static_cast<unsigned char>(c) > 126) c = '_';
  return s;
}

/// A text that ends no string.
inline std::string c_quoted(const std::string& s) {
  std::string out;
  for (const char c : s)
    out += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > 126 ? '_' : c;
  return out;
}

/// An array of numbers; of one 0 if there are none.
template <class T>
std::string c_array(const std::string& type, const std::string& name, const std::vector<T>& values) {
  std::string s = "static const " + type + " " + name + "[] = {";
  std::size_t count = 0;
  for (const T& x : values) {
    s += count++ % 16 == 0 ? "\n  " : " ";
    if constexpr (std::is_floating_point_v<T>) s += c_value(x) + ",";
    else s += c_value(static_cast<std::int64_t>(x)) + ",";
  }
  return s + (values.empty() ? "0" : "\n") + "};\n";
}

/// Kinds of kernels: those of operators in the order of `op_kind`, then those of programs alone.
inline constexpr const char* c_kinds[] = {"convolution",
                                          "depthwise",
                                          "transposed_convolution",
                                          "max_pooling",
                                          "average_pooling",
                                          "mean",
                                          "dense",
                                          "add",
                                          "subtract",
                                          "multiply",
                                          "divide",
                                          "minimum",
                                          "maximum",
                                          "copy",
                                          "pad",
                                          "resize_bilinear",
                                          "resize_nearest",
                                          "depth_to_space",
                                          "reshape",
                                          "unary",
                                          "prelu",
                                          "softmax",
                                          "add_sums",
                                          "finish",
                                          "finish_mean",
                                          "begin",
                                          "take",
                                          "give",
                                          "from_real",
                                          "to_real",
                                          "stride"};

inline const char* c_kind_name(op_kind k) { return c_kinds[static_cast<std::size_t>(k)]; }

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
