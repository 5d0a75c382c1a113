// Operators of a TensorFlow Lite model, and parts of images among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/image_parts.hpp>
#include <memsched/formats/layers.hpp>
#include <memsched/formats/tflite/model_writer.hpp>
#include <memsched/network/numbers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// A value of the file: its tensor, none after a fault, and its extents. All images have the shape 1, rows, columns,
/// channels; inputs and results of copied operators get it if an operator wants it.
struct file_value {
  std::int32_t tensor = -1;
  extents size{};
  bool operator==(const file_value&) const = default;
};

/// Adds operators and constants to the model of a network.
class image_writer : protected image_parts<file_value> {
 protected:
  using image_parts<file_value>::image_parts;
  using list = model_writer::list;

  static list dimensions(const extents& e) {
    return {1, static_cast<std::int32_t>(e.rows), static_cast<std::int32_t>(e.columns),
            static_cast<std::int32_t>(e.channels)};
  }
  static value_type type_of(element e, const quantization& q) {
    return q.scale == 0 ? value_type{e} : value_type{e, {q.scale}, {q.zero_point}};
  }
  value_type type_of(tensor_id t) const { return type_of(net_.tensors[t].element, net_.tensors[t].quant); }
  bool quantized() const { return net_.tensors[result_].element != element::float32; }

  /// The result of an operator, of the same type as the network operator's result, or of another.
  file_value node(kind_id kind, list inputs, const extents& size, option_table options = {}) {
    return node(kind, std::move(inputs), size, type_of(result_), std::move(options));
  }
  file_value node(kind_id kind, list inputs, const extents& size, value_type type, option_table options = {}) {
    if (failed()) return {};
    const std::string name = (op_ == nullptr ? "network" : op_->name) + "/" + std::to_string(count_++);
    const file_value y{model_.tensor(dimensions(size), std::move(type), name), size};
    model_.add(kind, std::move(inputs), y.tensor, std::move(options));
    return y;
  }

  file_value as_image(const file_value& x, const extents& size) override {
    if (failed() || x.tensor < 0 || model_.dimensions(x.tensor) == dimensions(size)) return x;
    const auto [at, is_new] = images_.try_emplace(x.tensor);
    if (is_new) at->second = reshaped(x, size);
    return at->second;
  }
  file_value slice_of(const file_value& x, const box& from, const box& b) override {
    if (failed()) return {};
    const extents at{b.rows.first - from.rows.first, b.columns.first - from.columns.first,
                     b.channels.first - from.channels.first};
    list begin = dimensions(at);
    begin[0] = 0;
    return node(kind("SLICE"), {x.tensor, model_.integers(begin), model_.integers(dimensions(b.size()))}, b.size(),
                model_.type(x.tensor));
  }
  file_value joined(const std::vector<file_value>& values, axis a) override {
    if (failed()) return {};
    if (std::ssize(values) > most_joined) {
      std::vector<file_value> groups;
      for (auto at = values.begin(); at != values.end();) {
        const auto next = at + std::min<std::ptrdiff_t>(most_joined, values.end() - at);
        groups.push_back(next - at == 1 ? *at : joined({at, next}, a));
        at = next;
      }
      return joined(groups, a);
    }
    list inputs;
    extents all = values[0].size;
    coordinate& length = a == axis::rows ? all.rows : a == axis::columns ? all.columns : all.channels;
    length = 0;
    for (const file_value& v : values) {
      inputs.push_back(v.tensor);
      length += image_parts::along(whole(v.size), a).size();
      if (model_.type(v.tensor) != model_.type(values[0].tensor)) fault("joins parts of several types or scales");
    }
    const int dimension = a == axis::rows ? 1 : a == axis::columns ? 2 : 3;
    return node(kind("CONCATENATION"), std::move(inputs), all, model_.type(values[0].tensor),
                {10, {word_option(0, dimension)}});
  }
  /// x with pads of the extents `before` and `behind`, of zeros, or of `filling` (a constant of one element).
  file_value padded(const file_value& x, const extents& before, const extents& behind, std::int32_t filling = -1) {
    if (failed() || (before.elements() == 0 && before == extents{0, 0, 0} && behind == extents{0, 0, 0})) return x;
    std::vector<std::byte> bytes(32);
    const std::int64_t pads[] = {
        0, 0, before.rows, behind.rows, before.columns, behind.columns, before.channels, behind.channels};
    for (std::size_t i = 0; i < 8; ++i) {
      const auto n = static_cast<std::int32_t>(pads[i]);
      std::memcpy(bytes.data() + 4 * i, &n, 4);
    }
    const std::int32_t how = model_.constant({4, 2}, {element::int32}, "pads", std::move(bytes));
    const extents size{x.size.rows + before.rows + behind.rows, x.size.columns + before.columns + behind.columns,
                       x.size.channels + before.channels + behind.channels};
    if (filling < 0) return node(kind("PAD"), {x.tensor, how}, size, model_.type(x.tensor));
    return node(kind("PADV2"), {x.tensor, how, filling}, size, model_.type(x.tensor));
  }
  file_value reshaped(const file_value& x, const extents& size) {
    if (failed()) return {};
    return node(kind("RESHAPE"), {x.tensor, model_.integers(dimensions(size))}, size, model_.type(x.tensor));
  }

  // Constants --------------------------------------------------------------------------------------------------------

  /// In which order a constant of the file has the axes of a blob, and how many of its dimensions are there.
  enum class layout : unsigned char { kernel, depthwise, matrix, vector, slopes, image };

  /// A part of a blob as a constant: these output and input channels, rows and columns. Equal parts are one constant, which
  /// refers to the bytes of the blob if these stand there one after the other.
  std::int32_t weights(const slice& s, layout how) {
    const blob::axes& a = net_.blobs[s.of].size;
    return part_of(s, {0, a.rows}, {0, a.columns}, how);
  }
  std::int32_t part_of(const slice& s, interval rows, interval columns, layout how) {
    if (failed()) return -1;
    const blob& b = net_.blobs[s.of];
    if (b.data.empty()) return fault("has weights that the model does not hold"), -1;
    const std::vector<std::int64_t> key{
        s.of,       s.outputs.first, s.outputs.last, s.inputs.first, s.inputs.last,
        rows.first, rows.last,       columns.first,  columns.last,   static_cast<std::int64_t>(how)};
    const auto [at, is_new] = constants_.try_emplace(key, -1);
    if (!is_new) return at->second;
    const bool outputs_last = how == layout::depthwise;
    const auto o = s.outputs.size(), r = rows.size(), c = columns.size(), i = s.inputs.size();
    const blob::axes stride = outputs_last ? blob::axes{1, c * o, o, 1} : packed({o, r, c, i});
    const auto elements = o * r * c * i;
    const auto width = static_cast<std::int64_t>(size_of(b.element));
    const std::int64_t first = s.outputs.first * b.stride.outputs + rows.first * b.stride.rows +
                               columns.first * b.stride.columns + s.inputs.first * b.stride.inputs;
    const auto same = [](std::int64_t n, std::int64_t x, std::int64_t y) { return n == 1 || x == y; };
    const bool as_stored = same(o, stride.outputs, b.stride.outputs) && same(r, stride.rows, b.stride.rows) &&
                           same(c, stride.columns, b.stride.columns) && same(i, stride.inputs, b.stride.inputs);
    const auto shape = shape_of(o, r, c, i, how);
    const value_type type = type_of(b, s.outputs, how);
    if (as_stored) {
      const auto data = b.data.subspan(static_cast<std::size_t>(first * width), static_cast<std::size_t>(elements * width));
      return at->second = constant_of(shape, type, b.name, data);
    }
    std::vector<std::byte> data(static_cast<std::size_t>(elements * width));
    for (std::int64_t x = 0; x < o; ++x)
      for (std::int64_t y = 0; y < r; ++y)
        for (std::int64_t z = 0; z < c; ++z)
          for (std::int64_t w = 0; w < i; ++w) {
            const auto from = element_at(b, s.outputs.first + x, rows.first + y, columns.first + z, s.inputs.first + w);
            const std::int64_t to = x * stride.outputs + y * stride.rows + z * stride.columns + w * stride.inputs;
            std::copy(from.begin(), from.end(), data.begin() + static_cast<std::ptrdiff_t>(to * width));
          }
    made_.push_back(std::move(data));
    return at->second = constant_of(shape, type, b.name, made_.back());
  }
  /// If halves hold all weights of layers exactly, as in a model of half precision, constants that they hold are stored
  /// so, followed by a DEQUANTIZE.
  std::int32_t constant_of(const list& shape, const value_type& type, const std::string& name,
                           std::span<const std::byte> data) {
    if (!half_model_) half_model_ = of_halves();
    const auto halves = *half_model_ && type.element == element::float32 ? as_halves(data) : std::nullopt;
    if (!halves) return model_.constant(shape, type, name, data);
    const std::int32_t half = model_.constant(shape, {element::float16}, name + "/half", *halves);
    const std::int32_t all = model_.tensor(shape, type, name);
    model_.add(kind("DEQUANTIZE"), {half}, all, {});
    return all;
  }
  /// Of one real number, or of a stored integer.
  template <class Number>
  std::int32_t scalar(Number x, const value_type& type) {
    std::vector<std::byte> data(sizeof x);
    std::memcpy(data.data(), &x, sizeof x);
    return model_.constant({}, type, "number", std::move(data));
  }

  static constexpr std::ptrdiff_t most_joined = 10;  ///< by an operator of TensorFlow Lite Micro

  model_writer model_;
  tensor_id result_ = none;  ///< the operator's, whose type its nodes have

 private:
  static list shape_of(std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i, layout how) {
    const auto all = [](std::initializer_list<std::int64_t> sizes) {
      list l;
      for (const std::int64_t n : sizes) l.push_back(static_cast<std::int32_t>(n));
      return l;
    };
    switch (how) {
      case layout::depthwise: return all({1, r, c, o});
      case layout::matrix: return all({o, r * c * i});
      case layout::vector: return all({o});
      case layout::slopes: return all({1, 1, o});
      case layout::image: return all({1, r, c, i});
      case layout::kernel: break;
    }
    return all({o, r, c, i});
  }
  static value_type type_of(const blob& b, interval outputs, layout how) {
    value_type t{b.element};
    if (b.scales.empty()) return t;
    const bool one = b.scales.size() == 1;
    for (coordinate k = one ? 0 : outputs.first; k < (one ? 1 : outputs.last); ++k) {
      const auto at = static_cast<std::size_t>(k);
      t.scales.push_back(b.scales[at]);
      t.zero_points.push_back(b.zero_points.empty() ? 0 : b.zero_points[b.zero_points.size() == 1 ? 0 : at]);
    }
    t.dimension = how == layout::depthwise ? 3 : how == layout::slopes ? 2 : 0;
    if (one) t.dimension = 0;
    return t;
  }

  static std::optional<std::vector<std::byte>> as_halves(std::span<const std::byte> data) {
    std::vector<std::byte> halves(data.size() / 2);
    for (std::size_t i = 0; 4 * i < data.size(); ++i) {
      const auto h = to_half(little_float(data.subspan(4 * i, 4)));
      if (!h) return {};
      std::memcpy(halves.data() + 2 * i, &*h, 2);
    }
    return halves;
  }
  bool of_halves() const {
    for (const operation& op : net_.operations) {
      if (!op.weights || op.reads[0].parts.empty()) continue;
      const op_kind k = op.does.what;
      if (k != op_kind::convolution && k != op_kind::depthwise && k != op_kind::dense &&
          k != op_kind::transposed_convolution)
        continue;
      const blob& b = net_.blobs[op.weights.of];
      if (b.element != element::float32 || !as_halves(b.data)) return false;
    }
    return true;
  }

  std::map<std::vector<std::int64_t>, std::int32_t> constants_;
  std::map<std::int32_t, file_value> images_;  ///< of values of other shapes
  std::optional<bool> half_model_;
  std::deque<std::vector<std::byte>> made_;
  std::size_t count_ = 0;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
