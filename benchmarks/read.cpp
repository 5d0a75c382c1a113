// Measures reading of graphs as JSON: processor seconds and page faults from a text in memory to a draft, with and without
// types and shapes of tensors, and from the draft to a problem; and seconds of the library's scan and of nlohmann-json with
// a handler that only counts. Usage: bench_read [OPERATORS], 10^6 if absent.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memsched/formats/json.hpp>
#include <memsched/graph/check.hpp>
#include <networks/networks.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timing.hpp"

namespace {

using namespace memsched;

/// `windowed`, all named; with a type and a shape for each tensor where that is asked for.
std::string graph_text(std::size_t operators, bool with_forms) {
  problem_draft draft = networks::make("windowed:" + std::to_string(operators) + ":16:1").value();
  for (std::size_t i = 0; i < operators; ++i) {
    draft.operator_names[i] = "layer" + std::to_string(i);
    draft.tensor_names[i] = "value" + std::to_string(i);
  }
  std::string text = write_json(draft);
  if (!with_forms) return text;
  std::string noted;
  noted.reserve(2 * text.size());
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t at = std::min(text.find("\"bytes\"", from), text.size());
    noted.append(text, from, at - from);
    if (at < text.size()) noted += R"("type": "float32", "shape": [1, 16, 64, 64], "bytes")";
    from = at + std::string_view("\"bytes\"").size();
  }
  return noted;
}

/// Counts events.
struct counter {
  using library = nlohmann::json;
  std::size_t events = 0;

  bool one() { return ++events, true; }
  bool null() { return one(); }
  bool boolean(bool) { return one(); }
  bool number_integer(library::number_integer_t) { return one(); }
  bool number_unsigned(library::number_unsigned_t) { return one(); }
  bool number_float(library::number_float_t, const std::string&) { return one(); }
  bool string(std::string_view) { return one(); }
  bool binary(library::binary_t&) { return one(); }
  bool start_object(std::size_t) { return one(); }
  bool key(std::string_view) { return one(); }
  bool end_object() { return one(); }
  bool start_array(std::size_t) { return one(); }
  bool end_array() { return one(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }
};

/// Prints processor seconds and page faults of a step.
template <class F>
void measure(const char* step, F&& f) {
  const double seconds = timing::processor_seconds();
  const long faults = timing::used().ru_minflt;
  f();
  std::printf("  %-24s %6.2f s %8ld faults\n", step, timing::processor_seconds() - seconds,
              timing::used().ru_minflt - faults);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t operators = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
  for (const bool with_forms : {false, true}) {
    const std::string text = graph_text(operators, with_forms);
    std::printf("%zu operators, %.0f MB%s\n", operators, 1e-6 * static_cast<double>(text.size()),
                with_forms ? " with types and shapes" : "");
    result<problem_draft> draft = problem_draft{};
    std::vector<tensor_form> forms;
    measure("draft", [&] { draft = read_json(text); });
    measure("problem", [&] { (void)make_problem(std::move(*draft)); });
    measure("draft, with forms", [&] { draft = read_json(text, &forms); });
    counter scan, library;
    measure("scan alone", [&] { detail::json_scan(text, scan).run(); });
    measure("nlohmann-json alone", [&] { nlohmann::json::sax_parse(text, &library); });
    if (scan.events != library.events) return std::puts("the events differ"), 1;
  }
}
