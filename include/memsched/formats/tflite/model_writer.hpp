// A TensorFlow Lite model under construction: tensors, constants and operators of one subgraph.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include <memsched/formats/tflite/kinds.hpp>
#include <memsched/formats/tflite/tables.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Type and quantization of a tensor in the file; several scales lie along `dimension`.
struct value_type {
  memsched::element element = memsched::element::float32;
  std::vector<float> scales{};
  std::vector<std::int64_t> zero_points{};
  std::int32_t dimension = 0;
  bool operator==(const value_type&) const = default;
};

/// One field of a table of options, one, two, four or eight bytes wide.
struct option_field {
  flatbuffers::voffset_t number;
  std::uint64_t bits;
  std::size_t width = 4;
};
inline option_field word_option(flatbuffers::voffset_t number, std::int64_t v) {
  return {number, static_cast<std::uint32_t>(v)};
}
inline option_field float_option(flatbuffers::voffset_t number, float v) {
  return {number, std::bit_cast<std::uint32_t>(v)};
}
inline option_field byte_option(flatbuffers::voffset_t number, int v) { return {number, static_cast<std::uint8_t>(v), 1}; }

/// The options of an operator: the number of their table in the schema's union, and its fields. Tag 0: none.
struct option_table {
  std::uint8_t tag = 0;
  std::vector<option_field> fields{};
  bool as_given = false;      ///< fields of 0 stand there, too
  std::string_view custom{};  ///< of a custom operator, which the caller keeps alive until `write`
};

/// The code of an operator: its kind, the version of that, and the name of a custom one.
struct operator_code {
  kind_id kind;
  std::int32_t version = 1;
  std::string name{};
  auto operator<=>(const operator_code&) const = default;
};

/// The names that callers use for the inputs and outputs of a model, and their tensors.
struct model_signature {
  std::string key;
  std::vector<std::pair<std::string, std::int32_t>> inputs, outputs;
};

/// Collects the parts of a model, then writes it. Tensors are known by their number.
class model_writer {
 public:
  using shape = std::vector<std::int32_t>;
  using list = std::vector<std::int32_t>;

  std::int32_t tensor(shape dimensions, value_type type, std::string name) {
    tensors_.push_back({std::move(dimensions), std::move(type), std::move(name), 0});
    return static_cast<std::int32_t>(tensors_.size()) - 1;
  }
  /// A tensor with contents, which the caller keeps alive until `write`.
  std::int32_t constant(shape dimensions, value_type type, std::string name, std::span<const std::byte> data) {
    const std::int32_t t = tensor(std::move(dimensions), std::move(type), std::move(name));
    const auto at = reinterpret_cast<const char*>(data.data());
    const auto [entry, is_new] = buffers_.try_emplace(std::string_view(at, data.size()), contents_.size() + 1);
    if (is_new) contents_.push_back(data);
    tensors_.back().buffer = static_cast<std::uint32_t>(entry->second);
    return t;
  }
  /// Likewise, with contents that the model keeps.
  std::int32_t constant(shape dimensions, value_type type, std::string name, std::vector<std::byte> data) {
    made_.push_back(std::move(data));
    return constant(std::move(dimensions), std::move(type), std::move(name), std::span<const std::byte>(made_.back()));
  }
  /// A list of 32-bit integers, such as a shape; equal ones are one tensor.
  std::int32_t integers(const list& values) {
    const auto [at, is_new] = lists_.try_emplace(values, 0);
    if (is_new) {
      std::vector<std::byte> bytes(4 * values.size());
      std::memcpy(bytes.data(), values.data(), bytes.size());
      at->second = constant({static_cast<std::int32_t>(values.size())}, {element::int32}, "list", std::move(bytes));
    }
    return at->second;
  }

  void add(kind_id kind, list inputs, std::int32_t output, option_table options) {
    add(operator_code{kind}, std::move(inputs), list{output}, std::move(options));
  }
  void add(operator_code what, list inputs, list outputs, option_table options) {
    const auto code = codes_.try_emplace(std::move(what), codes_.size()).first->second;
    operators_.push_back({static_cast<std::uint32_t>(code), std::move(inputs), std::move(outputs), std::move(options)});
  }
  /// The number of operators so far.
  std::size_t operators() const { return operators_.size(); }
  const shape& dimensions(std::int32_t t) const { return tensors_[static_cast<std::size_t>(t)].dimensions; }

  const value_type& type(std::int32_t t) const { return tensors_[static_cast<std::size_t>(t)].type; }
  void rename(std::int32_t t, std::string name) { tensors_[static_cast<std::size_t>(t)].name = std::move(name); }

  /// The bytes of the model. An error: it would be beyond 2 GiB.
  result<std::string> write(const std::string& name, const list& inputs, const list& outputs,
                            const std::vector<model_signature>& signatures = {}) {
    std::uint64_t total = 0;
    for (const auto& c : contents_) total += c.size() + 64;
    total += 512 * (tensors_.size() + operators_.size());
    for (const written_tensor& t : tensors_) total += t.name.size() + 24 * t.type.scales.size();
    for (const written_operator& o : operators_) total += 4 * (o.inputs.size() + o.outputs.size()) + o.options.custom.size();
    if (total >= std::uint64_t{1} << 31)
      return graph_error{error_code::too_large, "the model is beyond 2 GiB, which its format cannot say", {}, {}};

    std::vector<offset> codes(codes_.size()), buffers{empty_table()}, tensors, operators;
    for (const auto& [code, number] : codes_) codes[number] = write_code(code);
    for (const auto& c : contents_) buffers.push_back(write_buffer(c));
    for (const written_tensor& t : tensors_) tensors.push_back(write_tensor(t));
    for (const written_operator& o : operators_) operators.push_back(write_operator(o));
    const auto tensor_list = b_.CreateVector(tensors), operator_list = b_.CreateVector(operators);
    const auto input_list = b_.CreateVector(inputs), output_list = b_.CreateVector(outputs);
    const auto graph_name = b_.CreateString(name);
    start();
    b_.AddOffset(subgraph_fields::tensors.slot(), tensor_list);
    b_.AddOffset(subgraph_fields::inputs.slot(), input_list);
    b_.AddOffset(subgraph_fields::outputs.slot(), output_list);
    b_.AddOffset(subgraph_fields::operators.slot(), operator_list);
    b_.AddOffset(subgraph_fields::name.slot(), graph_name);
    const std::vector<offset> graphs{end()};
    const auto code_list = b_.CreateVector(codes), graph_list = b_.CreateVector(graphs),
               buffer_list = b_.CreateVector(buffers);
    const auto description = b_.CreateString("memsched");
    std::vector<offset> named;
    for (const model_signature& s : signatures) named.push_back(write_signature(s));
    const auto signature_list = b_.CreateVector(named);
    start();
    b_.AddElement<std::uint32_t>(model_fields::version.slot(), 3, 0);
    b_.AddOffset(code_list_field.slot(), code_list);
    b_.AddOffset(model_fields::subgraphs.slot(), graph_list);
    b_.AddOffset(description_field.slot(), description);
    b_.AddOffset(model_fields::buffers.slot(), buffer_list);
    if (!named.empty()) b_.AddOffset(model_fields::signatures.slot(), signature_list);
    b_.Finish(end(), "TFL3");
    return std::string(reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize());
  }

 private:
  struct written_tensor {
    shape dimensions;
    value_type type;
    std::string name;
    std::uint32_t buffer;  ///< 0: none
  };
  struct written_operator {
    std::uint32_t code;
    list inputs, outputs;
    option_table options;
  };
  using offset = flatbuffers::Offset<flatbuffers::Table>;
  static constexpr field code_list_field{1, "operator_codes"}, description_field{3, "description"};

  void start() { start_ = b_.StartTable(); }
  offset end() { return b_.EndTable(start_); }
  offset empty_table() {
    start();
    return end();
  }

  offset write_signature(const model_signature& s) {
    const auto maps = [&](const std::vector<std::pair<std::string, std::int32_t>>& names) {
      std::vector<offset> entries;
      for (const auto& [name, t] : names) {
        const auto text = b_.CreateString(name);
        start();
        b_.AddOffset(map_fields::name.slot(), text);
        b_.AddElement<std::uint32_t>(map_fields::tensor.slot(), static_cast<std::uint32_t>(t), 0);
        entries.push_back(end());
      }
      return b_.CreateVector(entries);
    };
    const auto inputs = maps(s.inputs), outputs = maps(s.outputs);
    const auto key = b_.CreateString(s.key);
    start();
    b_.AddOffset(signature_fields::inputs.slot(), inputs);
    b_.AddOffset(signature_fields::outputs.slot(), outputs);
    b_.AddOffset(signature_fields::key.slot(), key);
    return end();
  }

  /// Kinds below 127 stand in an older field too.
  offset write_code(const operator_code& c) {
    flatbuffers::Offset<flatbuffers::String> name{};
    if (!c.name.empty()) name = b_.CreateString(c.name);
    start();
    b_.AddElement<std::int8_t>(code_fields::old_builtin.slot(), static_cast<std::int8_t>(c.kind < 127 ? c.kind : 127), 0);
    if (!c.name.empty()) b_.AddOffset(code_fields::custom_code.slot(), name);
    b_.AddElement<std::int32_t>(code_fields::version.slot(), c.version, 0);
    b_.AddElement<std::int32_t>(code_fields::builtin.slot(), c.kind, 0);
    return end();
  }
  offset write_buffer(std::span<const std::byte> data) {
    b_.ForceVectorAlignment(data.size(), 1, 16);
    const auto bytes = b_.CreateVector(reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
    start();
    b_.AddOffset(buffer_fields::data.slot(), bytes);
    return end();
  }
  static std::int8_t number_of(element e) {
    switch (e) {
      case element::float16: return 1;
      case element::int32: return 2;
      case element::uint8: return 3;
      case element::int64: return 4;
      case element::boolean: return 6;
      case element::int16: return 7;
      case element::int8: return 9;
      case element::float64: return 10;
      case element::float32:
      case element::token: break;
    }
    return 0;
  }
  offset write_tensor(const written_tensor& t) {
    const auto dimensions = b_.CreateVector(t.dimensions);
    const auto name = b_.CreateString(t.name);
    offset quantization{};
    if (!t.type.scales.empty()) {
      const auto scales = b_.CreateVector(t.type.scales);
      const auto zeros = b_.CreateVector(t.type.zero_points);
      start();
      b_.AddOffset(quantization_fields::scale.slot(), scales);
      b_.AddOffset(quantization_fields::zero_point.slot(), zeros);
      b_.AddElement<std::int32_t>(quantization_fields::dimension.slot(), t.type.dimension, 0);
      quantization = end();
    }
    start();
    b_.AddOffset(tensor_fields::shape.slot(), dimensions);
    b_.AddElement<std::int8_t>(tensor_fields::type.slot(), number_of(t.type.element), 0);
    b_.AddElement<std::uint32_t>(tensor_fields::buffer.slot(), t.buffer, 0);
    b_.AddOffset(tensor_fields::name.slot(), name);
    if (!t.type.scales.empty()) b_.AddOffset(tensor_fields::quantization.slot(), quantization);
    return end();
  }
  offset write_operator(const written_operator& o) {
    const auto inputs = b_.CreateVector(o.inputs);
    const auto outputs = b_.CreateVector(o.outputs);
    offset options{};
    flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> custom_options{};
    if (o.options.tag != 0) {
      start();
      for (const option_field& f : o.options.fields) write_option(f, o.options.as_given);
      options = end();
    }
    if (const std::string_view bytes = o.options.custom; !bytes.empty())
      custom_options = b_.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    start();
    b_.AddElement<std::uint32_t>(operator_fields::opcode_index.slot(), o.code, 0);
    b_.AddOffset(operator_fields::inputs.slot(), inputs);
    b_.AddOffset(operator_fields::outputs.slot(), outputs);
    b_.AddElement<std::uint8_t>(operator_fields::options_type.slot(), o.options.tag, 0);
    if (o.options.tag != 0) b_.AddOffset(operator_fields::options.slot(), options);
    if (!o.options.custom.empty()) b_.AddOffset(operator_fields::custom_options.slot(), custom_options);
    return end();
  }
  void write_option(const option_field& f, bool as_given) {
    const flatbuffers::voffset_t slot = field{f.number, "option"}.slot();
    const auto add = [&](auto bits) { as_given ? b_.AddElement(slot, bits) : b_.AddElement(slot, bits, decltype(bits){0}); };
    if (f.width == 1) add(static_cast<std::uint8_t>(f.bits));
    else if (f.width == 2) add(static_cast<std::uint16_t>(f.bits));
    else if (f.width == 4) add(static_cast<std::uint32_t>(f.bits));
    else add(f.bits);
  }

  std::vector<written_tensor> tensors_;
  std::vector<written_operator> operators_;
  std::map<operator_code, std::size_t> codes_;
  std::vector<std::span<const std::byte>> contents_;  ///< of buffers 1, 2, ...
  std::map<std::string_view, std::size_t> buffers_;   ///< their numbers, by contents
  std::map<list, std::int32_t> lists_;
  std::deque<std::vector<std::byte>> made_;
  flatbuffers::FlatBufferBuilder b_;
  flatbuffers::uoffset_t start_ = 0;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
