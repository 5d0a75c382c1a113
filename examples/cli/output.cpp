#include "output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "load.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace fs = std::filesystem;
using memsched::graph_error;

namespace {

struct ending {
  std::string_view end;
  content holds;
};

constexpr std::array endings{
    ending{".json", content::json},   ending{".jsonl", content::json}, ending{".ndjson", content::json},
    ending{".cbor", content::cbor},   ending{".csv", content::csv},    ending{".svg", content::svg},
    ending{".html", content::html},   ending{".htm", content::html},   ending{".xhtml", content::html},
    ending{".dot", content::dot},     ending{".gv", content::dot},     ending{".c", content::c},
    ending{".h", content::c},         ending{".onnx", content::onnx},  ending{".tflite", content::tflite},
    ending{".xml", content::other},   ending{".pdf", content::other},  ending{".png", content::other},
    ending{".jpg", content::other},   ending{".jpeg", content::other}, ending{".gif", content::other},
    ending{".webp", content::other},  ending{".ps", content::other},   ending{".eps", content::other},
    ending{".tsv", content::other},   ending{".xlsx", content::other}, ending{".yaml", content::other},
    ending{".yml", content::other},   ending{".zip", content::other},  ending{".gz", content::other},
    ending{".pb", content::other},    ending{".pt", content::other},   ending{".h5", content::other},
    ending{".keras", content::other}, ending{".mlir", content::other}, ending{".mlmodel", content::other},
};

/// The end of a name as the table has it.
std::string end_of(std::string_view path) {
  std::string end = fs::path(path).extension().string();
  std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end;
}

const char* name_of(content c) {
  switch (c) {
    case content::text: return "text";
    case content::json: return "JSON";
    case content::cbor: return "CBOR";
    case content::csv: return "CSV";
    case content::svg: return "SVG";
    case content::html: return "HTML";
    case content::dot: return "a Graphviz graph";
    case content::c: return "C";
    case content::onnx: return "an ONNX model";
    case content::tflite: return "a TensorFlow Lite model";
    case content::other: break;
  }
  return "another format";
}

/// The endings of file names for this content, joined by "or"; ".txt" if it has none.
std::string ends_of(content c) {
  std::string list;
  for (const ending& e : endings)
    if (e.holds == c) list += (list.empty() ? "" : " or ") + std::string(e.end);
  return list.empty() ? ".txt" : list;
}

/// Whether a path is written directly: no other file may take the place of a device, a pipe or a descriptor of this process.
bool is_stream(const std::string& path) {
  if (path == "-" || path == "/dev/stdout" || path == "/dev/stderr") return true;
  if (path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/")) return true;
  std::error_code unknown;
  const auto about = fs::status(path, unknown);
  return fs::exists(about) && !fs::is_regular_file(about) && !fs::is_directory(about);
}

/// The file that is replaced or made: behind links, also where there is none yet.
fs::path target_of(const std::string& path) {
  std::error_code unknown;
  fs::path at = path;
  for (int links = 0; links < 40 && fs::is_symlink(at, unknown); ++links) {
    const fs::path next = fs::read_symlink(at, unknown);
    if (unknown) break;
    at = at.parent_path() / next;
  }
  return at;
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  if (is_stream(a) || is_stream(b)) return false;
  std::error_code unknown;
  return target_of(a).lexically_normal() == target_of(b).lexically_normal() || fs::equivalent(a, b, unknown);
}
fs::path unfinished(const std::string& path) { return target_of(path) += ".unfinished"; }

graph_error write_text(const fs::path& to, const output_file& f) {
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  if (!out) return wrong(f.path, std::strerror(errno));
  out << f.text << std::flush;
  return out ? graph_error{} : wrong(f.path, "cannot be written whole");
}

graph_error write_unfinished(const output_file& f) {
  if (is_stream(f.path)) return {};
  if (std::error_code unknown; fs::is_directory(f.path, unknown)) return wrong(f.path, "is a directory");
  if (graph_error fault = write_text(unfinished(f.path), f); !fault.message.empty()) return fault;
  std::error_code ignored;
  if (const auto old = fs::status(target_of(f.path), ignored); fs::exists(old))
    fs::permissions(unfinished(f.path), old.permissions(), ignored);
  return {};
}

graph_error write_stream(const output_file& f) {
  if (!is_stream(f.path)) return {};
  if (f.path != "-") return write_text(f.path, f);
  print(f.text);
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? graph_error{}
                                                              : wrong("standard output", "cannot be written whole");
}

graph_error finish(const output_file& f) {
  if (is_stream(f.path)) return {};
  std::error_code error;
  fs::rename(unfinished(f.path), target_of(f.path), error);
  return error ? wrong(f.path, error.message()) : graph_error{};
}

}  // namespace

content named_content(std::string_view path) {
  const std::string end = end_of(path);
  const auto found = std::find_if(endings.begin(), endings.end(), [&](const ending& e) { return e.end == end; });
  return found == endings.end() ? content::text : found->holds;
}

asked_output asked_result(const std::string& path, content holds) {
  if (path.empty()) return {"the result", "-", holds};
  return {"-o", path, holds};
}

asked_output asked_certificate(const std::string& path) {
  return {"--certificate", path, named_content(path) == content::cbor ? content::cbor : content::json};
}

graph_error check_outputs(const std::vector<asked_output>& all, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [option, path, holds] = all[i];
    if (path.empty()) continue;
    if (const content says = named_content(path); !is_stream(path) && says != content::text && says != holds)
      return wrong(path, "the name ends in " + end_of(path) + ", but " + option + " writes " + name_of(holds) +
                             "; end it in " + ends_of(holds));
    for (const std::string& input : inputs)
      if (path != "-" && same_file(path, input))
        return wrong(path, "is the input itself, which " + option + " would overwrite");
    for (std::size_t other = 0; other < i; ++other)
      if (same_file(all[other].path, path))
        return path == "-" ? wrong(option + " -", "standard output is taken by " + all[other].option + "; name a file")
                           : wrong(path, "is named twice, by " + all[other].option + " and " + option);
  }
  return {};
}

graph_error write_files(const std::vector<output_file>& files) {
  std::string done;
  for (const auto step : {write_unfinished, write_stream, finish})
    for (const output_file& f : files) {
      graph_error fault = step(f);
      if (fault.message.empty()) {
        const bool ends_here = is_stream(f.path) ? step == write_stream : step == finish;
        if (ends_here && f.path != "-") done += (done.empty() ? "" : ", ") + f.path;
        continue;
      }
      std::error_code ignored;
      for (const output_file& other : files)
        if (!is_stream(other.path)) fs::remove(unfinished(other.path), ignored);
      if (!done.empty()) fault.message += "; written were " + done;
      return fault;
    }
  return {};
}

void tell(const std::string& written, std::string_view text) {
  if (written != "-") return print(text);
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void note_over_budget(const std::string& path, memsched::bytes peak, memsched::bytes budget) {
  if (peak <= budget) return;
  note("note: " + (path == "-" ? "standard output" : path) + ": was written, but needs " + grouped(peak) +
       " bytes, more than the budget of " + grouped(budget));
}

}  // namespace cli
