// Names that callers of a TensorFlow Lite model have for its inputs and outputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/tflite/model_writer.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// The signatures of a file's subgraph 0 for another file, whose inputs and outputs are these, in the same order. One that
/// names another tensor, and all of a file that is no model, are left out.
inline std::vector<model_signature> signatures_of(std::string_view bytes, const model_writer::list& inputs,
                                                  const model_writer::list& outputs) {
  std::vector<model_signature> found;
  if (bytes.empty()) return found;
  model_file m(bytes);
  if (!m.read()) return found;
  const auto ends = [&](const table& t, field f, const std::vector<index_t>& old, const model_writer::list& now) {
    std::optional<std::vector<std::pair<std::string, std::int32_t>>> names{std::in_place};
    for (const table& e : m.file.children(t, f)) {
      const auto at = std::find(old.begin(), old.end(), m.file.number<std::uint32_t>(e, map_fields::tensor));
      if (at == old.end() || old.size() != now.size()) return names = std::nullopt;
      names->push_back({m.file.text(e, map_fields::name), now[static_cast<std::size_t>(at - old.begin())]});
    }
    return names;
  };
  for (const table& t : m.file.children(m.root, model_fields::signatures)) {
    if (m.file.number<std::uint32_t>(t, signature_fields::subgraph) != 0) continue;
    auto in = ends(t, signature_fields::inputs, m.subgraphs[0].inputs, inputs);
    auto out = ends(t, signature_fields::outputs, m.subgraphs[0].outputs, outputs);
    if (in && out) found.push_back({m.file.text(t, signature_fields::key), std::move(*in), std::move(*out)});
  }
  return m.file.failed() ? std::vector<model_signature>() : found;
}

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
