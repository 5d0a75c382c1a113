// From what a user names on the command line to a checked problem.
#pragma once

#include <functional>
#include <memory>
#include <memsched/formats/model.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/network/network.hpp>
#include <memsched/schedule.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// Bad input, with its place: a path or an option.
memsched::graph_error wrong(const std::string& place, const std::string& reason);

/// Dimensions for dynamic inputs, as "NAME=1,3,224,224".
using shapes = std::vector<std::string>;

/// Options for reading a graph.
struct reading {
  cli::shapes shapes;
  std::vector<std::string> values;  ///< NAME=16000: inputs of .onnx files that always have this value
  bool pure_custom = false;         ///< custom operators of .tflite files keep no state
  bool keep_inputs = false;         ///< graph inputs live to the end
  bool among_others = false;        ///< as one graph of many: an interrupt waits until it is answered
  bool forms = false;               ///< of a JSON graph, types and shapes of tensors are kept, too
  std::string format;  ///< what a file is, whatever its name says: json, onnx, tflite or xml; empty: its name says
};

/// The kind of a file, as the end of a name: ".json", ".onnx", ".tflite", ".xml", or something else.
std::string kind_of(const std::string& path, const reading&);

/// Schedules a graph that an operator runs.
using body_scheduler = std::function<memsched::schedule_result<memsched::op_id>(const memsched::problem&)>;

struct loaded {
  std::string name;                           ///< of the graph: its own, else the file's
  memsched::model_graphs graphs;              ///< of a model file; for others one at most, without its draft
  std::vector<memsched::graph_order> orders;  ///< of the graphs that operators run, from 1
  memsched::problem problem;                  ///< the main graph; operators that run others have their peaks as workspace
  /// The main graph with the bounds of what its operators run as workspace; none where these are the peaks.
  std::optional<memsched::problem> least{};
  std::shared_ptr<const memsched::network> rewritten{};  ///< what the graph lowers from, where it was rewritten
  std::shared_ptr<const memsched::network> first{};      ///< what was rewritten
};

/// Reads *.json, *.onnx, *.tflite, builtin:NAME, or "-" for standard input. An error's message is one line that starts with
/// the path.
memsched::result<loaded> load(const std::string& path, const reading&, const body_scheduler&);

/// Reads a graph from its JSON text; `name` stands for a path in messages.
memsched::result<loaded> load_json(const std::string& name, std::string_view text, const body_scheduler&);

/// The main problem of a loaded model when the graphs that operators run are scheduled otherwise.
memsched::result<loaded> rescheduled(const loaded&, const body_scheduler&);

/// The bytes of a regular file, mapped into memory, or what a pipe held.
class file_bytes {
 public:
  file_bytes() = default;
  file_bytes(const file_bytes&) = delete;
  file_bytes& operator=(const file_bytes&) = delete;
  file_bytes(file_bytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})), mapped_(other.mapped_) {}
  file_bytes& operator=(file_bytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~file_bytes();
  std::string_view view() const { return bytes_; }

 private:
  friend memsched::result<file_bytes> read_file(const std::string&);
  std::string_view bytes_;
  bool mapped_ = false;  ///< else they live as long as the program
};

/// The bytes of a file, or of standard input ("-"), or why they cannot be had; the message starts with the path. A pipe or
/// standard input is read once, and later calls get the same bytes. Directories and devices are refused, behind links too.
memsched::result<file_bytes> read_file(const std::string& path);

/// Makes the options of the readers in formats/. Fails if a shape or a value is malformed or given twice.
memsched::result<memsched::read_options> read_options_of(const reading&);

/// Says on standard error which open batches of a .tflite file were read as its shapes say; once for a file and input.
void note_assumed_shapes(const std::string& path, std::string_view tflite, const memsched::read_options&);

/// Reads the graphs of a model file.
memsched::result<memsched::model_graphs> read_graphs(const std::string& path, std::string_view bytes, const reading&);

}  // namespace cli
