// Tables of integers in C, as small as their values allow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The narrowest integer type of C that holds all numbers from `least` to `most`.
inline std::string c_integer(std::int64_t least, std::int64_t most) {
  if (least >= 0) return most <= UINT8_MAX ? "uint8_t" : most <= UINT16_MAX ? "uint16_t" : "uint32_t";
  if (least >= INT8_MIN && most <= INT8_MAX) return "int8_t";
  return least >= INT16_MIN && most <= INT16_MAX ? "int16_t" : "int32_t";
}

/// Rows of integers as an array of structures. A field with one value in all rows is a constant of the program; equal rows
/// are one. Programs read field F of row p by the macro F_of(p). Precondition: values fit 32 bits, signed or not.
class packed_table {
 public:
  using row = std::vector<std::int64_t>;

  /// `reach` leads from the macros' argument to a row: "" or "->k".
  packed_table(std::string type, std::string name, std::string reach, std::vector<std::string> fields)
      : type_(std::move(type)), name_(std::move(name)), reach_(std::move(reach)), fields_(std::move(fields)) {}

  /// The number of a row.
  std::size_t add(const row& r) {
    const auto [at, is_new] = numbers_.try_emplace(r, rows_.size());
    if (is_new) rows_.push_back(r);
    return at->second;
  }
  std::size_t rows() const { return rows_.size(); }
  const row& at(std::size_t i) const { return rows_[i]; }

  /// Of the array, in bytes.
  std::size_t size() const {
    std::size_t one = 0, widest = 1;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (range(f).first == range(f).second) continue;
      const auto w = static_cast<std::size_t>(width(f));
      one += w, widest = std::max(widest, w);
    }
    const std::size_t length = (std::max<std::size_t>(1, one) + widest - 1) / widest * widest;
    return std::max<std::size_t>(1, rows_.size()) * length;
  }

  /// The structure, its macros and the array.
  std::string text() const {
    std::vector<std::size_t> varying;
    std::string macros;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto [least, most] = range(f);
      const bool one = least == most;
      if (!one) varying.push_back(f);
      macros += "#define " + fields_[f] + "_of(x) " +
                (one ? "((void)(x), " + std::to_string(least) + ")" : "((int32_t)(x)" + reach_ + "->" + fields_[f] + ")") +
                "\n";
    }
    // Wide ones first, so that nothing is lost between them.
    std::stable_sort(varying.begin(), varying.end(), [&](std::size_t a, std::size_t b) { return width(a) > width(b); });
    std::string s = "struct " + type_ + " {";
    for (const std::size_t f : varying) s += " " + type_of(f) + " " + fields_[f] + ";";
    s += (varying.empty() ? " uint8_t none; };\n" : " };\n") + macros;
    s += "static const struct " + type_ + " " + name_ + "[] = {";
    for (std::size_t i = 0; i < std::max<std::size_t>(1, rows_.size()); ++i) {
      s += i % 4 == 0 ? "\n  {" : " {";
      for (std::size_t v = 0; v < varying.size(); ++v) s += (v == 0 ? "" : ", ") + std::to_string(rows_[i][varying[v]]);
      s += varying.empty() ? "0}," : "},";
    }
    return s + "\n};\n";
  }

 private:
  std::pair<std::int64_t, std::int64_t> range(std::size_t f) const {
    if (rows_.empty()) return {0, 0};
    const auto [low, high] =
        std::minmax_element(rows_.begin(), rows_.end(), [&](const row& a, const row& b) { return a[f] < b[f]; });
    return {(*low)[f], (*high)[f]};
  }
  std::string type_of(std::size_t f) const { return c_integer(range(f).first, range(f).second); }
  int width(std::size_t f) const {
    const std::string t = type_of(f);
    return t.find('8') != t.npos ? 1 : t.find("16") != t.npos ? 2 : 4;
  }

  std::string type_, name_, reach_;
  std::vector<std::string> fields_;
  std::vector<row> rows_;
  std::map<row, std::size_t> numbers_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
