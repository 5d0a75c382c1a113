// The files that a command writes: what their names promise, and all of them or none.
#pragma once

#include <memsched/base/bytes.hpp>
#include <memsched/graph/error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The kind of content of a file.
enum class content : unsigned char { text, json, cbor, csv, svg, html, dot, c, onnx, tflite, other };

/// The content that the end of a name stands for, in capitals or not; text if it stands for none, as many ends do.
content named_content(std::string_view path);

/// A file that a command is asked to write.
struct asked_output {
  std::string option;  ///< for messages
  std::string path;    ///< "-" is standard output; empty: nothing is written
  content holds = content::text;
};

/// The result itself: what -o names, else standard output.
asked_output asked_result(const std::string& path, content);

/// JSON, or CBOR where the name ends in .cbor.
asked_output asked_certificate(const std::string& path);

/// Looks for a reason not to write these files, before any work is done: a name that ends as those of other formats do, two
/// files of one name, the name of an input. Returns it; an empty message if there is none.
memsched::graph_error check_outputs(const std::vector<asked_output>&, const std::vector<std::string>& inputs);

struct output_file {
  std::string path;  ///< "-" is standard output
  std::string text;
};

/// Writes all files or none; an empty message where it went well. A file that was there stays until all texts are on the
/// disk, and keeps its permissions; behind a link, the file that it names is replaced. Devices, pipes and standard output
/// are written last, since what they got cannot be taken back.
memsched::graph_error write_files(const std::vector<output_file>& files);

/// Says what a command did: on standard output, or on standard error where `written`, the path of its output, is standard
/// output.
void tell(const std::string& written, std::string_view text);

/// Says on standard error of a model that was written that it needs more than the budget, where it does.
void note_over_budget(const std::string& path, memsched::bytes peak, memsched::bytes budget);

}  // namespace cli
