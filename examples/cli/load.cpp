#include "load.hpp"

#include <charconv>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memsched/formats/json.hpp>
#include <memsched/formats/onnx.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/graph/check.hpp>

#include "networks/networks.hpp"

namespace cli {

using memsched::error_code;
using memsched::graph_error;
using memsched::problem_draft;
using memsched::result;

namespace {

graph_error bad_input(const std::string& path, const std::string& reason) {
  return {error_code::bad_input, path + ": " + reason, {}, {}};
}

/// "NAME=1,3,224,224", with any "=" but the last one as part of the name.
graph_error parse_shape(const std::string& text, memsched::onnx_options& into) {
  const std::size_t split = text.rfind('=');
  const auto wrong = [&] { return bad_input("--shape " + text, "is not of the form NAME=1,3,224,224"); };
  if (split == std::string::npos || split == 0) return wrong();
  const auto [entry, fresh] = into.shapes.try_emplace(text.substr(0, split));
  if (!fresh) return bad_input("--shape " + text, "is the second shape for this input");
  std::vector<std::int64_t>& dims = entry->second;
  for (const char *at = text.data() + split + 1, *end = text.data() + text.size();; ++at) {
    std::int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc{}) return wrong();
    dims.push_back(dim);
    if (next == end) return {};
    if (*next != ',') return wrong();
    at = next;
  }
}

result<problem_draft> read_draft(const std::string& path, const shapes& given) {
  constexpr std::string_view builtin = "builtin:";
  const bool made = path.starts_with(builtin);
  const std::string kind = made ? "" : std::filesystem::path(path).extension().string();
  if (!given.empty() && kind != ".onnx")
    return graph_error{error_code::bad_input, "takes no --shape, which is for .onnx files", {}, {}};
  if (made) return networks::make(path.substr(builtin.size()));
  if (kind != ".json" && kind != ".onnx" && kind != ".tflite")
    return graph_error{
        error_code::bad_input, "the name must end in .json, .onnx, .tflite or .xml, or be builtin:NAME", {}, {}};
  memsched::onnx_options onnx;
  for (const std::string& text : given)
    if (graph_error error = parse_shape(text, onnx); !error.message.empty()) return error;
  auto file = read_file(path);
  if (!file) return file.error();
  if (kind == ".json") return memsched::read_json(*file);
  if (kind == ".onnx") return memsched::read_onnx(*file, onnx);
  return memsched::read_tflite(*file);
}

/// One line, whatever a file's names hold, that starts with the path.
graph_error located(const std::string& path, graph_error error) {
  for (char& c : error.message)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (!error.message.starts_with(path) && !error.message.starts_with("--shape")) error.message = path + ": " + error.message;
  return error;
}

}  // namespace

result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return bad_input(path, "is a directory");
  std::ifstream in(path, std::ios::binary);
  if (!in) return bad_input(path, std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return bad_input(path, "cannot be read");
  if (text.empty()) return bad_input(path, "is empty");
  return text;
}

namespace {

std::string unfinished(const output_file& f) { return f.path + ".unfinished"; }

graph_error write_unfinished(const output_file& f) {
  std::ofstream out(unfinished(f), std::ios::binary | std::ios::trunc);
  if (!out) return bad_input(f.path, std::strerror(errno));
  out << f.text << std::flush;
  return out ? graph_error{} : bad_input(f.path, "cannot be written whole");
}

graph_error finish(const output_file& f) {
  std::error_code error;
  std::filesystem::rename(unfinished(f), f.path, error);
  return error ? bad_input(f.path, error.message()) : graph_error{};
}

}  // namespace

graph_error write_files(const std::vector<output_file>& files) {
  for (const auto step : {write_unfinished, finish})
    for (const output_file& f : files)
      if (const graph_error fault = step(f); !fault.message.empty()) {
        std::error_code ignored;
        for (const output_file& other : files) std::filesystem::remove(unfinished(other), ignored);
        return fault;
      }
  return {};
}

result<loaded> load(const std::string& path, const shapes& given) {
  auto draft = read_draft(path, given);
  if (!draft) return located(path, draft.error());
  std::string name = draft->name.empty() ? std::filesystem::path(path).stem().string() : draft->name;
  auto checked = memsched::check(std::move(*draft));
  if (!checked) return located(path, checked.error());
  return loaded{std::move(name), std::move(*checked)};
}

}  // namespace cli
