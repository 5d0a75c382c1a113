// The difference between the library's own scan of a JSON text and nlohmann-json.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <memsched/formats/json.hpp>

#include "event_log.hpp"
#include "same_draft.hpp"

namespace support {

/// Whether the scan takes a text to its end.
inline bool scan_takes(std::string_view text) {
  event_log seen;
  return memsched::detail::json_scan(text, seen).run() == memsched::detail::scan_end::complete;
}

/// The first difference between the events of the two, or between the graphs and errors that they read; empty if there is
/// none. After a mark of byte order, which the scan refuses, nlohmann-json reads alone.
inline std::string json_difference(std::string_view text) {
  using namespace memsched;
  constexpr std::string_view mark = "\xef\xbb\xbf";
  event_log slow, fast;
  nlohmann::json::sax_parse(text.begin(), text.end(), &slow);
  if (detail::json_scan(text, fast).run() == detail::scan_end::complete && fast.seen != slow.seen) return "events";
  if (text.starts_with(mark)) return {};
  std::vector<tensor_form> forms, other_forms;
  const auto graph = read_json(text, &forms), other = read_json(std::string(mark) + std::string(text), &other_forms);
  if (static_cast<bool>(graph) != static_cast<bool>(other)) return "one error";
  if (graph) {
    const auto same = [](const tensor_form& a, const tensor_form& b) { return a.type == b.type && a.shape == b.shape; };
    if (!std::equal(forms.begin(), forms.end(), other_forms.begin(), other_forms.end(), same)) return "forms";
    return difference(*graph, *other);
  }
  const graph_error &error = graph.error(), &other_error = other.error();
  if (error.message.starts_with("line ") && other_error.message.starts_with("line "))
    return {};  // the mark counts as a column
  if (error.code == other_error.code && error.message == other_error.message) return {};
  return error.message + " / " + other_error.message;
}

}  // namespace support
