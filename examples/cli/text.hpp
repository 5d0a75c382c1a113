// Numbers and tables for people, lines of JSON for programs.
#pragma once

#include <cstdint>
#include <memsched/base/bytes.hpp>
#include <memsched/search/options.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// 6520832 -> "6,520,832".
std::string grouped(memsched::bytes n);
/// 6520832 -> "6,520,832 bytes (6.22 MiB)".
std::string in_bytes(memsched::bytes n);
/// Seconds with as many digits as mean something.
std::string seconds(double s);

/// Says why a search left a gap, as the end of a sentence about the gap: "; stopped by the time_limit". Empty if it finished.
std::string stop_text(memsched::stop_reason reason);

/// A fingerprint, in 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t n);

/// One line of JSON; bytes that are no UTF-8 become U+FFFD.
std::string line_of(const nlohmann::ordered_json&);

/// A field of CSV as RFC 4180 has it.
std::string csv_field(const std::string& text);

/// A name as a file has it, fit for a terminal: control characters become spaces.
std::string printable(std::string_view name);

/// Writes to standard output, below no line of progress.
void print(std::string_view text);

/// Columns as wide as their widest cell; the first to the left, the others to the right. Cells are made printable, and the
/// first of a row is cut after 60 bytes.
class table {
 public:
  explicit table(std::vector<std::string> head) { row(std::move(head)); }
  void row(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cli
