// Buffers and plans as comma-separated values, as minimalloc has them.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <memsched/allocation/buffers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Buffers with their names.
struct named_buffers {
  std::vector<std::string> ids;
  std::vector<buffer> buffers;
};

namespace detail {

/// Reads a table of buffers; use it through `read_buffers_csv`.
class buffer_table {
 public:
  result<named_buffers> read(std::string_view text) {
    std::vector<std::string_view> cells;
    while (!text.empty()) {
      ++line_;
      const std::size_t stop = std::min(text.find('\n'), text.size());
      std::string_view row = text.substr(0, stop);
      text.remove_prefix(std::min(stop + 1, text.size()));
      if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
      if (row.empty()) continue;
      split(row, cells);
      if (!(columns_ == 0 ? read_head(cells) : read_row(cells))) return error_;
    }
    if (columns_ == 0) fault("has no header");
    if (!error_.message.empty()) return error_;
    return std::move(table_);
  }

 private:
  enum column : std::size_t { id, lower, upper, end, size, alignment, gaps, offset, columns };
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  static void split(std::string_view row, std::vector<std::string_view>& cells) {
    cells.clear();
    for (;;) {
      const std::size_t comma = std::min(row.find(','), row.size());
      std::string_view cell = row.substr(0, comma);
      while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
      while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
      cells.push_back(cell);
      if (comma == row.size()) return;
      row.remove_prefix(comma + 1);
    }
  }

  bool fault(const std::string& message) {
    error_ = {error_code::bad_input, "line " + std::to_string(line_) + ": " + message, {}, {}};
    return false;
  }

  bool read_head(const std::vector<std::string_view>& cells) {
    constexpr std::array<std::pair<std::string_view, column>, 12> names{{{"id", id},
                                                                         {"buffer", id},
                                                                         {"buffer_id", id},
                                                                         {"lower", lower},
                                                                         {"start", lower},
                                                                         {"begin", lower},
                                                                         {"upper", upper},
                                                                         {"end", end},
                                                                         {"size", size},
                                                                         {"alignment", alignment},
                                                                         {"gaps", gaps},
                                                                         {"offset", offset}}};
    at_.fill(absent);
    columns_ = cells.size();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto found = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == cells[i]; });
      if (found == names.end() && cells[i] != "hint") return fault("there is no column " + base::one_line(cells[i], 40));
      if (found == names.end()) continue;
      if (at_[found->second] != absent) return fault("a second column for " + base::one_line(cells[i], 40));
      at_[found->second] = i;
    }
    if (at_[upper] != absent && at_[end] != absent) return fault("has both upper and end");
    for (const auto& [name, c] : {std::pair{"id", id}, std::pair{"lower", lower}, std::pair{"size", size}})
      if (at_[c] == absent) return fault(std::string("the column ") + name + " is missing");
    return at_[upper] != absent || at_[end] != absent || fault("the column upper is missing");
  }

  template <class T>
  static bool number(std::string_view text, T& n) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return error == std::errc{} && rest == text.data() + text.size();
  }

  bool read_row(const std::vector<std::string_view>& cells) {
    if (cells.size() != columns_)
      return fault("has " + std::to_string(cells.size()) + " fields, the header " + std::to_string(columns_));
    buffer b;
    const auto cell = [&](column c) { return at_[c] == absent ? std::string_view{} : cells[at_[c]]; };
    const auto wrong = [&](const char* name, std::string_view text) {
      return fault(std::string(name) + ": " +
                   (text.empty() ? "is empty" : base::one_line(text, 40) + " is no number that fits"));
    };
    if (!seen_.emplace(cell(id)).second) return fault("the id " + base::one_line(cell(id), 40) + " is given twice");
    table_.ids.emplace_back(cell(id));
    if (!number(cell(lower), b.lower)) return wrong("lower", cell(lower));
    const bool inclusive = at_[upper] == absent;
    const std::string_view last = cell(inclusive ? end : upper);
    if (!number(last, b.upper) || (inclusive && b.upper == std::numeric_limits<std::int64_t>::max()))
      return wrong(inclusive ? "end" : "upper", last);
    b.upper += inclusive ? 1 : 0;
    if (!number(cell(size), b.size)) return wrong("size", cell(size));
    if (const auto text = cell(alignment); !text.empty() && !number(text, b.alignment)) return wrong("alignment", text);
    if (const auto text = cell(offset); !text.empty() && text != "-1" && !number(text, b.offset))
      return wrong("offset", text);
    if (!read_gaps(cell(gaps), b)) return false;
    table_.buffers.push_back(std::move(b));
    return true;
  }

  /// "start-end@low:high", blanks between: during [start, end) the buffer needs its bytes [low, high) alone. Taken are those
  /// that keep the lowest bytes, ever fewer, until the buffer ends.
  bool read_gaps(std::string_view text, buffer& b) {
    std::int64_t until = b.lower;
    while (!text.empty()) {
      const std::size_t blank = std::min(text.find(' '), text.size());
      const std::string_view gap = text.substr(0, blank);
      text.remove_prefix(std::min(text.find_first_not_of(' ', blank), text.size()));
      const std::size_t dash = gap.find('-', 1), at = gap.find('@'), colon = gap.find(':', at == gap.npos ? 0 : at);
      std::int64_t from = 0, to = 0;
      bytes low = 0, high = 0;
      if (dash == gap.npos || at == gap.npos || colon == gap.npos || at < dash || !number(gap.substr(0, dash), from) ||
          !number(gap.substr(dash + 1, at - dash - 1), to) || !number(gap.substr(at + 1, colon - at - 1), low) ||
          !number(gap.substr(colon + 1), high))
        return fault("gaps: " + base::one_line(gap, 40) +
                     " is not of the form start-end@low:high; gaps without bytes are not taken");
      if (low != 0 || (from != until && !b.drops.empty()))
        return fault("gaps: " + base::one_line(gap, 40) + " leaves other bytes than the lowest, until the buffer ends");
      b.drops.push_back({from, high});
      until = to;
    }
    return b.drops.empty() || until == b.upper || fault("gaps: must last until the buffer ends");
  }

  std::size_t line_ = 0, columns_ = 0;
  std::array<std::size_t, columns> at_{};
  std::unordered_set<std::string> seen_;
  named_buffers table_;
  graph_error error_;
};

}  // namespace detail

/// Reads buffers. The header names the columns, in any order: `id` (or `buffer`, `buffer_id`), `lower` (`start`, `begin`),
/// `upper`, or `end`, which is inclusive, `size`; perhaps `alignment`, `gaps` (those in which fewer and fewer of the lowest
/// bytes are needed, until the end), `offset` (fixed; -1 or nothing: free) and `hint` (not used). An error names the line.
inline result<named_buffers> read_buffers_csv(std::string_view text) { return detail::buffer_table{}.read(text); }

/// Writes buffers; `offset`: a plan of them, or empty for the fixed offsets, a column that is left out if there are none.
inline std::string write_buffers_csv(const named_buffers& table, std::span<const bytes> offset = {}) {
  bool aligned = false, drops = false, fixed = !offset.empty();
  for (const buffer& b : table.buffers) {
    aligned |= b.alignment != 1, drops |= !b.drops.empty();
    fixed |= b.offset != no_offset;
  }
  std::string text = "id,lower,upper,size";
  if (aligned) text += ",alignment";
  if (drops) text += ",gaps";
  text += fixed ? ",offset\n" : "\n";
  for (std::size_t i = 0; i < table.buffers.size(); ++i) {
    const buffer& b = table.buffers[i];
    text += table.ids[i] + ',' + std::to_string(b.lower) + ',' + std::to_string(b.upper) + ',' + std::to_string(b.size);
    if (aligned) text += ',' + std::to_string(b.alignment);
    if (drops) text += ',';
    for (std::size_t k = 0; k < b.drops.size(); ++k) {
      const std::int64_t to = k + 1 < b.drops.size() ? b.drops[k + 1].at : b.upper;
      text += (k > 0 ? " " : "") + std::to_string(b.drops[k].at) + '-' + std::to_string(to) +
              "@0:" + std::to_string(b.drops[k].size);
    }
    if (fixed) {
      text += ',';
      if (!offset.empty()) text += std::to_string(offset[i]);
      else if (b.offset != no_offset) text += std::to_string(b.offset);
    }
    text += '\n';
  }
  return text;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
