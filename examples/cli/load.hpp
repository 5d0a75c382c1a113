// From what a user names on the command line to a checked problem.
#pragma once

#include <memsched/graph/problem.hpp>
#include <string>
#include <vector>

namespace cli {

/// Dimensions for dynamic inputs, as "NAME=1,3,224,224".
using shapes = std::vector<std::string>;

struct loaded {
  std::string name;  ///< of the graph: its own, else the file's
  memsched::problem problem;
};

/// Reads *.json, *.onnx, *.tflite or builtin:NAME. An error's message is one line that starts with the path.
memsched::result<loaded> load(const std::string& path, const shapes& shapes = {});

/// The bytes of a file, or why they cannot be had; the message starts with the path.
memsched::result<std::string> read_file(const std::string& path);

struct output_file {
  std::string path, text;
};

/// Writes files whole, all or none; an empty message where it went well.
memsched::graph_error write_files(const std::vector<output_file>& files);

}  // namespace cli
