#include "load.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memsched/formats/json.hpp>
#include <memsched/formats/nodes.hpp>
#include <memsched/formats/onnx.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/graph/check.hpp>
#include <mutex>
#include <set>

#include "networks/networks.hpp"
#include "session.hpp"

namespace cli {

using memsched::error_code;
using memsched::graph_error;
using memsched::model_graphs;
using memsched::problem_draft;
using memsched::result;

graph_error wrong(const std::string& place, const std::string& reason) {
  return {error_code::bad_input, place + ": " + memsched::base::one_line(reason, 4000), {}, {}};
}

namespace {

/// "NAME=1,3,224,224", with any "=" but the last one as part of the name.
graph_error parse_shape(const std::string& text, memsched::read_options& into) {
  const std::size_t split = text.rfind('=');
  const auto malformed = [&] { return wrong("--shape " + text, "is not of the form NAME=1,3,224,224"); };
  if (split == std::string::npos || split == 0) return malformed();
  const auto [entry, fresh] = into.shapes.try_emplace(text.substr(0, split));
  if (!fresh) return wrong("--shape " + text, "is the second shape for this input");
  std::vector<std::int64_t>& dims = entry->second;
  for (const char *at = text.data() + split + 1, *end = text.data() + text.size();; ++at) {
    std::int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc{}) return malformed();
    dims.push_back(dim);
    if (next == end) return {};
    if (*next != ',') return malformed();
    at = next;
  }
}

/// "NAME=16000", with any "=" but the last one as part of the name.
graph_error parse_value(const std::string& text, memsched::read_options& into) {
  const std::size_t split = text.rfind('=');
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  if (split == std::string::npos || split == 0) return wrong("--value " + text, "is not of the form NAME=16000");
  const auto [rest, error] = std::from_chars(text.data() + split + 1, end, number);
  if (error != std::errc{} || rest != end) return wrong("--value " + text, "is not of the form NAME=16000");
  if (!into.values.try_emplace(text.substr(0, split), number).second)
    return wrong("--value " + text, "is the second value for this input");
  return {};
}

/// A graph that is no model file.
model_graphs single(problem_draft draft, std::vector<memsched::tensor_form> forms = {}) {
  model_graphs graphs(1);
  graphs[0].draft = std::move(draft);
  graphs[0].forms = std::move(forms);
  return graphs;
}

result<model_graphs> read_node_graph(std::string_view text) {
  const auto nodes = memsched::read_nodes(text);
  if (!nodes) return nodes.error();
  const auto low = memsched::lower(*nodes);
  if (!low) return low.error();
  problem_draft draft = low->problem.draft();
  draft.name = nodes->name();
  return single(std::move(draft));
}

/// The name of what is read, for people.
std::string named(const std::string& path) { return path == "-" ? "standard input" : path; }

result<model_graphs> read_any(const std::string& path, const reading& how) {
  constexpr std::string_view builtin = "builtin:";
  const bool made = path.starts_with(builtin);
  const std::string kind = made ? "" : kind_of(path, how);
  if (!how.shapes.empty() && kind != ".onnx" && kind != ".tflite")
    return graph_error{error_code::bad_input, "takes no --shape, which is for .onnx and .tflite files", {}, {}};
  if (!how.values.empty() && kind != ".onnx")
    return graph_error{error_code::bad_input, "takes no --value, which is for .onnx files", {}, {}};
  if (made) {
    auto draft = networks::make(path.substr(builtin.size()));
    if (!draft) return draft.error();
    return single(std::move(*draft));
  }
  if (kind.empty() && path == "-")
    return graph_error{
        error_code::bad_input, "is none of JSON, ONNX, TensorFlow Lite and XML; --input-format says which", {}, {}};
  if (kind == ".xml")
    return graph_error{error_code::bad_input,
                       "is synchronous dataflow, which only schedule, report, compare, inspect and verify take",
                       {},
                       {}};
  if (kind != ".json" && kind != ".onnx" && kind != ".tflite")
    return graph_error{error_code::bad_input, "the name must end in .json, .onnx or .tflite, or be builtin:NAME", {}, {}};
  const auto file = read_file(path);
  if (!file) return file.error();
  return read_graphs(path, file->view(), how);
}

/// One line, whatever a file's names hold, that starts with the path.
graph_error located(const std::string& path, graph_error error) {
  for (char& c : error.message)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (!error.message.starts_with(path) && !error.message.starts_with("--")) error.message = path + ": " + error.message;
  return error;
}

}  // namespace

namespace {

/// The kind of a file by its first bytes: ".json", ".xml", ".tflite", ".onnx", or nothing.
std::string kind_of_bytes(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == bytes.npos) return {};
  if (bytes[first] == '{' || bytes[first] == '[') return ".json";
  if (bytes[first] == '<') return ".xml";
  if (bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3") return ".tflite";
  constexpr char version_of_onnx = 8;  // the tag of a model's first field
  return bytes[0] == version_of_onnx ? ".onnx" : "";
}

}  // namespace

std::string kind_of(const std::string& path, const reading& how) {
  if (!how.format.empty()) return "." + how.format;
  std::string end = std::filesystem::path(path).extension().string();
  std::error_code unknown;
  if (path != "-" && (!end.empty() || !std::filesystem::is_fifo(path, unknown))) return end;
  const without_answer yet(!how.among_others);
  const auto held = read_file(path);  // kept for who reads it again
  return held ? kind_of_bytes(held->view()) : ".json";
}

result<model_graphs> read_graphs(const std::string& path, std::string_view bytes, const reading& how) {
  if (kind_of(path, how) == ".json") {
    constexpr std::size_t largest = std::size_t{1} << 31;  // what is parsed takes several times as much
    if (bytes.size() > largest) return wrong(path, "is larger than the 2 GiB that are read of a JSON file");
    if (memsched::is_node_text(bytes)) return read_node_graph(bytes);
    std::vector<memsched::tensor_form> forms;
    auto draft = memsched::read_json(bytes, how.forms ? &forms : nullptr);
    if (!draft) return draft.error();
    return single(std::move(*draft), std::move(forms));
  }
  const auto options = read_options_of(how);
  if (!options) return options.error();
  if (kind_of(path, how) == ".onnx") return memsched::read_onnx(bytes, *options);
  note_assumed_shapes(path, bytes, *options);
  return memsched::read_tflite(bytes, *options);
}

void note_assumed_shapes(const std::string& path, std::string_view tflite, const memsched::read_options& options) {
  static std::mutex mutex;
  static std::set<std::string> noted;  // a command may read a file several times
  const std::lock_guard<std::mutex> lock(mutex);
  for (const std::string& what : memsched::assumed_shapes(tflite, options))
    if (noted.insert(path + what).second) std::fprintf(stderr, "memsched: note: %s: %s\n", path.c_str(), what.c_str());
}

result<memsched::read_options> read_options_of(const reading& how) {
  memsched::read_options options{.shapes = {}, .values = {}, .pure_custom = how.pure_custom};
  for (const std::string& text : how.shapes)
    if (graph_error error = parse_shape(text, options); !error.message.empty()) return error;
  for (const std::string& text : how.values)
    if (graph_error error = parse_value(text, options); !error.message.empty()) return error;
  return options;
}

namespace {

/// Schedules what operators run, and makes the main problem.
result<loaded> finish(std::string name, model_graphs graphs, const body_scheduler& schedule) {
  auto orders = memsched::schedule_graphs(graphs, 1, schedule);
  if (!orders) return orders.error();
  const bool written_back = !graphs[0].positions.empty();  // as only model files are, which need the draft
  const auto main = [&](memsched::bytes memsched::graph_order::*amount) {
    if (graphs.size() == 1 && !written_back) return memsched::make_problem(std::move(graphs[0].draft));
    return memsched::make_problem(memsched::with_workspace(graphs, 0, *orders, amount));
  };
  auto problem = main(&memsched::graph_order::peak);
  if (!problem) return problem.error();
  loaded l{std::move(name), {}, std::move(*orders), std::move(*problem), {}};
  if (!memsched::calls_are_proven(graphs, 0, l.orders)) {
    orders = l.orders;
    auto least = main(&memsched::graph_order::lower_bound);
    if (!least) return least.error();
    l.least = std::move(*least);
  }
  l.graphs = std::move(graphs);
  return l;
}

}  // namespace

result<loaded> load(const std::string& path, const reading& how, const body_scheduler& schedule) {
  auto graphs = [&] {
    const without_answer yet(!how.among_others);
    return read_any(path, how);
  }();
  if (!graphs) return located(named(path), graphs.error());
  problem_draft& draft = (*graphs)[0].draft;
  if (how.keep_inputs)
    draft.graph_outputs.insert(draft.graph_outputs.end(), draft.graph_inputs.begin(), draft.graph_inputs.end());
  const std::string stem = path == "-" ? "graph" : std::filesystem::path(path).stem().string();
  std::string name = draft.name.empty() ? stem : memsched::base::one_line(draft.name);
  auto l = finish(std::move(name), std::move(*graphs), schedule);
  if (!l) return located(named(path), l.error());
  return l;
}

result<loaded> load_json(const std::string& name, std::string_view text, const body_scheduler& schedule) {
  auto draft = memsched::read_json(text);
  if (!draft) return located(name, draft.error());
  std::string title = draft->name.empty() ? name : memsched::base::one_line(draft->name);
  auto l = finish(std::move(title), single(std::move(*draft)), schedule);
  if (!l) return located(name, l.error());
  return l;
}

result<loaded> rescheduled(const loaded& l, const body_scheduler& schedule) {
  if (l.graphs.size() <= 1) return l;
  return finish(l.name, l.graphs, schedule);
}

}  // namespace cli
