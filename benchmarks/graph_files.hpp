// Graphs that a benchmark reads from a folder.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/json.hpp>
#include <memsched/graph/builder.hpp>

namespace graph_files {

/// The folder that an environment variable names, or another where it names none.
inline std::filesystem::path folder(const char* variable, const char* otherwise) {
  const char* named = std::getenv(variable);
  return named != nullptr ? named : otherwise;
}

/// The folder of graphs of the HyperDAG database.
inline std::filesystem::path hyperdag() { return folder("MEMSCHED_HYPERDAG", "../shared/graphs/hyperdag"); }

/// The files of graphs as JSON in a folder, by their names; none where it is not there.
inline std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The bytes of a file; nothing where there is no such file.
inline std::optional<std::string> text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A graph as JSON; an error where there is no such file, or not one of a graph.
inline memsched::result<memsched::problem> read(const std::filesystem::path& path) {
  using namespace memsched;
  const auto text = text_of(path);
  if (!text) return graph_error{error_code::bad_input, path.string() + " is not there", {}, {}};
  auto draft = read_json(*text);
  if (!draft) return draft.error();
  return make_problem(std::move(*draft));
}

}  // namespace graph_files
