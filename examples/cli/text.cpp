#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memsched/graph/error.hpp>
#include <memsched/io/drawing.hpp>
#include <nlohmann/json.hpp>

#include "session.hpp"

namespace cli {

std::string grouped(memsched::bytes n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string line_of(const nlohmann::ordered_json& j) {
  return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string printable(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return text;
}

void print(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

namespace {
std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}
}  // namespace

std::string in_bytes(memsched::bytes n) {
  const std::string exact = grouped(n) + " bytes";
  return n < 1024 ? exact : exact + " (" + memsched::binary_size(n) + ")";
}

std::string seconds(double s) { return formatted(s < 0.0995 ? "%.4f" : s < 9.95 ? "%.2f" : "%.1f", s); }

std::string stop_text(memsched::stop_reason reason) {
  switch (reason) {
    case memsched::stop_reason::finished: return {};
    case memsched::stop_reason::gave_up: return "; the search gave up: more time would not help it";
    default: return std::string("; stopped by the ") + to_string(reason);
  }
}

std::string hexadecimal(std::uint64_t n) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(n));
  return text.data();
}

void table::row(std::vector<std::string> cells) {
  constexpr std::size_t longest = 60;
  if (!cells.empty() && cells.front().size() > longest) cells.front() = memsched::base::one_line(cells.front(), longest);
  rows_.push_back(std::move(cells));
}

std::string table::text() const {
  std::vector<std::size_t> width;
  for (const auto& cells : rows_)
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == width.size()) width.push_back(0);
      width[i] = std::max(width[i], cells[i].size());
    }
  std::string text;
  for (const auto& cells : rows_) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string space(width[i] - cells[i].size(), ' ');
      if (i == 0) line.append(printable(cells[i])).append(space);
      else line.append("  ").append(space).append(printable(cells[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).append("\n");
  }
  return text;
}

}  // namespace cli
