// Operators of which a typed network knows nothing, from the TensorFlow Lite model in which they stand into another one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/tflite/model_writer.hpp>
#include <memsched/formats/tflite/weights.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// The operators of a model's subgraph 0, as they are to stand in another model: codes, options, shapes, constants. Faults
/// are sentences without a subject, such as "stands in no TensorFlow Lite model".
class foreign_operators {
 public:
  explicit foreign_operators(std::string_view bytes)
      : holder_(std::make_shared<held_file>(held_file{std::string(bytes)})), m_(holder_->bytes), sizes_(m_, no_shapes_) {
    if (!m_.read()) return;
    sizes_.infer();
    tensors_.emplace(m_, sizes_, holder_);
  }

  struct operator_copy {
    operator_code code;
    option_table options;
    std::vector<std::int32_t> inputs, outputs;  ///< tensors of the file; -1: absent
  };

  /// An operator by its number in the file; none, and `fault`, if it cannot be copied.
  std::optional<operator_copy> find(index_t place, std::string& fault) {
    const auto refuse = [&](std::string why) {
      fault = m_.file.failed() ? m_.file.error().message : std::move(why);
      return std::nullopt;
    };
    if (!tensors_ || place >= m_.subgraphs[0].operators.size()) return refuse("stands in no TensorFlow Lite model");
    const operator_info& op = m_.subgraphs[0].operators[place];
    if (op.rule != nullptr) return refuse("runs another subgraph");
    operator_copy copy;
    const table& code = m_.codes[op.code];
    copy.code = {op.kind, m_.file.number<std::int32_t>(code, code_fields::version, 1),
                 op.kind == custom ? m_.file.text(code, code_fields::custom_code) : ""};
    copy.inputs = m_.file.numbers(op.data, operator_fields::inputs);
    copy.outputs = m_.file.numbers(op.data, operator_fields::outputs);
    copy.options.custom = m_.file.content(op.data, operator_fields::custom_options);
    if (m_.file.number<std::uint64_t>(op.data, operator_fields::large_custom_options_offset) != 0 ||
        m_.file.number<std::uint8_t>(op.data, operator_fields::options_2_type) != 0)
      return refuse("has options that cannot be copied");
    const table options = m_.file.child(op.data, operator_fields::options);
    copy.options.tag = m_.file.number<std::uint8_t>(op.data, operator_fields::options_type);
    copy.options.as_given = true;
    if (options.data == nullptr) copy.options.tag = 0;
    const std::size_t fields = options.data == nullptr ? 0 : m_.file.fields(options);
    for (flatbuffers::voffset_t i = 0; i < fields; ++i)
      if (const auto [bits, width] = m_.file.raw_number(options, i); width != 0)
        copy.options.fields.push_back({i, bits, width});
    if (op.kind == kind("RESHAPE") && copy.inputs.size() == 2) copy.options = {};  // its options say the shape once more
    if (!copy.options.fields.empty() && has_lists(copy.options.tag)) return refuse("has options that cannot be copied");
    if (m_.file.failed()) return refuse("");
    return copy;
  }

  bool is_constant(std::int32_t t) const { return m_.subgraphs[0].constant(static_cast<index_t>(t)); }
  bool is_variable(std::int32_t t) const { return m_.subgraphs[0].origins[static_cast<std::size_t>(t)] == origin::variable; }
  /// Shape, type and scales of a tensor; none if these are not known, or the shape is open.
  struct tensor_copy {
    model_writer::shape dimensions;
    value_type type;
    std::string name;
    std::span<const std::byte> data{};  ///< of a constant
  };
  std::optional<tensor_copy> tensor(std::int32_t number) {
    const auto t = static_cast<index_t>(number);
    const tensor_facts f = tensors_->facts(t);
    if (!f.element || m_.file.failed()) return {};
    tensor_copy copy{{}, {*f.element}, m_.file.text(m_.subgraphs[0].tensors[t], tensor_fields::name)};
    for (const std::int64_t n : tensors_->shape(t)) {
      if (n < 0 || n > std::numeric_limits<std::int32_t>::max()) return {};
      copy.dimensions.push_back(static_cast<std::int32_t>(n));
    }
    const scales q = tensors_->scales_of(t);
    copy.type.scales = q.scale, copy.type.dimension = q.dimension;
    copy.type.zero_points.assign(q.zero_point.begin(), q.zero_point.end());
    if (!is_constant(number)) return copy;
    const auto& c = tensors_->content(t);
    if (!c || c->data.empty()) return {};
    copy.data = c->data;
    return copy;
  }

 private:
  /// Whether a table of options may hold more than numbers: lists, strings, numbers of subgraphs. Those after 99 are not
  /// looked at.
  static bool has_lists(std::uint8_t tag) {
    constexpr std::uint8_t lists[] = {3, 16, 17, 30, 92, 93};
    return tag > 99 || std::find(std::begin(lists), std::end(lists), tag) != std::end(lists);
  }

  static inline const std::map<std::string, tensor_sizes::dimensions> no_shapes_{};
  std::shared_ptr<held_file> holder_;
  model_file m_;
  tensor_sizes sizes_;
  std::optional<typed_tensors> tensors_;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
