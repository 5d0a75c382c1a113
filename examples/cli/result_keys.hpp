// The keys of files that hold results, so that a misspelt one is not taken for one that is left out.
#pragma once

#include <algorithm>
#include <iterator>
#include <memsched/formats/json/document.hpp>
#include <string>
#include <string_view>

namespace cli {

/// Those that `verify` and --order read.
inline constexpr std::string_view read_result_keys[] = {"order",        "peak",
                                                        "lower_bound",  "status",
                                                        "firing",       "inplace",
                                                        "bodies",       "network",
                                                        "certificate",  "arena",
                                                        "buffers",      "alignment",
                                                        "runtime",      "operators",
                                                        "macs_before",  "macs",
                                                        "kind",         "schedule",
                                                        "separate",     "iterations",
                                                        "network_peak", "network_operators",
                                                        "executions",   "extra_cost",
                                                        "base_cost",    "budget",
                                                        "traffic",      "model",
                                                        "capacity",     "reads",
                                                        "writes",       "spills",
                                                        "offload",      "loads",
                                                        "reruns"};

/// Other keys that the program writes.
inline constexpr std::string_view other_result_keys[] = {"version",        "graph",
                                                         "scheduler",      "names",
                                                         "given_peak",     "stopped",
                                                         "seconds",        "actors",
                                                         "live_at_peak",   "statistics",
                                                         "bound_of",       "planner",
                                                         "conflict",       "unit",
                                                         "repetitions",    "appearances",
                                                         "steps",          "schedule_text",
                                                         "front",          "verified",
                                                         "peak_before",    "lower_bound_of_all",
                                                         "separate_bound", "operators_before",
                                                         "written",        "not_understood",
                                                         "order_by",       "bound_by",
                                                         "runs_again",     "peak_bound",
                                                         "curve",          "choices",
                                                         "objective",      "arenas",
                                                         "found_by"};

/// Looks for a misspelt key in a result: one that is a letter away from one that is read, or two where that has six or more.
/// Returns the complaint; empty if there is none. Results may hold notes of others.
template <class Json>
std::string wrong_result_key(const Json& result) {
  for (auto at = result.begin(); at != result.end(); ++at) {
    const std::string& key = at.key();
    const auto is = [&](std::string_view known) { return key == known; };
    if (memsched::is_free_key(key) || std::any_of(std::begin(read_result_keys), std::end(read_result_keys), is) ||
        std::any_of(std::begin(other_result_keys), std::end(other_result_keys), is))
      continue;
    const auto meant = [&](std::string_view known) {
      return key.size() <= known.size() + 2 && memsched::edit_distance(key, known) <= (known.size() < 6 ? 1 : 2);
    };
    if (std::any_of(std::begin(read_result_keys), std::end(read_result_keys), meant))
      return memsched::unknown_key(key, read_result_keys);
  }
  return {};
}

}  // namespace cli
