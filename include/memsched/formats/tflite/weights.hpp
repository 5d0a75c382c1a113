// Types, extents and contents of the tensors of a TensorFlow Lite model, for a typed network.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/formats/layers.hpp>
#include <memsched/formats/tflite/sizes.hpp>
#include <memsched/formats/tflite/sparse.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// The file that the weights of a network point into.
struct held_file {
  std::string bytes;
  made_bytes made{};
};

/// Quantization of a tensor as the file has it: several scales belong to the positions along `dimension`.
struct scales {
  std::vector<float> scale{};
  std::vector<std::int32_t> zero_point{};  ///< as many as scales
  std::int32_t dimension = 0;
};

/// A constant: its bytes are little-endian elements in the order of its shape, none if they are not known.
struct constant {
  element type = element::float32;
  std::vector<std::int64_t> shape{};
  scales quant{};
  std::span<const std::byte> data{};
};

/// Tensors of subgraph 0.
class typed_tensors {
 public:
  using dimensions = tensor_sizes::dimensions;

  typed_tensors(model_file& m, tensor_sizes& sizes, std::shared_ptr<held_file> holder)
      : m_(m),
        sizes_(sizes),
        g_(m.subgraphs[0]),
        holder_(std::move(holder)),
        shapes_(g_.tensors.size()),
        folded_(g_.tensors.size(), none) {
    for (std::size_t i = 0; i < g_.operators.size(); ++i)
      if (g_.operators[i].folded)
        for (const index_t t : g_.operators[i].outputs) folded_[t] = static_cast<index_t>(i);
  }

  const dimensions& shape(index_t t) {
    if (!shapes_[t]) shapes_[t] = sizes_.shape(t);
    return *shapes_[t];
  }

  /// The extents that a shape has with ones before it, up to four dimensions; none if the first of four is not 1.
  static std::optional<extents> image_of(const dimensions& shape) {
    if (shape.size() > 4 || (shape.size() == 4 && shape[0] != 1)) return {};
    const auto at = [&](std::size_t from_end) -> std::int64_t {
      return from_end <= shape.size() ? shape[shape.size() - from_end] : 1;
    };
    const extents e{at(3), at(2), at(1)};
    if (e.rows < 0 || e.columns < 0 || e.channels < 0) return {};
    return e;
  }
  /// The axis of the image (0 rows, 1 columns, 2 channels) that a dimension of such a shape is; -1 for the batch.
  static int axis_of(const dimensions& shape, std::int64_t dimension) {
    return static_cast<int>(dimension) + 3 - static_cast<int>(shape.size());
  }

  tensor_facts facts(index_t t) {
    tensor_facts f{.element = type(t), .size = image_of(shape(t))};
    const scales q = quantized(t);
    f.one_scale = q.scale.size() <= 1;
    if (q.scale.size() == 1 && f.element != element::float32) f.quant = {q.scale[0], q.zero_point[0]};
    return f;
  }

  /// Scales and zero points, as many as the file gives a tensor.
  scales scales_of(index_t t) { return quantized(t); }

  /// The content of a constant: data of the file, also after a DEQUANTIZE; none if its type is not known. Without data if
  /// another operator computes it, or if it lies in another file.
  const std::optional<constant>& content(index_t t) {
    const auto [at, fresh] = contents_.try_emplace(t);
    if (fresh) at->second = read_content(t);
    return at->second;
  }

  /// A small list of integers; none if the tensor is no constant of integers with data.
  std::optional<std::vector<std::int64_t>> integers(index_t t) {
    const auto& c = content(t);
    if (!c || (c->type != element::int32 && c->type != element::int64)) return {};
    const auto width = static_cast<std::size_t>(size_of(c->type));
    std::size_t n = 1;
    for (const std::int64_t d : c->shape) {
      if (d > 64) return {};
      n *= static_cast<std::size_t>(d);
      if (n > 64) return {};
    }
    if (c->data.size() != n * width) return {};
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < n; ++i) {
      std::int32_t narrow = 0;
      std::int64_t large = 0;
      if (width == 4) std::memcpy(&narrow, c->data.data() + 4 * i, 4), large = narrow;
      else std::memcpy(&large, c->data.data() + 8 * i, 8);
      values.push_back(large);
    }
    return values;
  }

  /// Weights of these axes. `channels` is the dimension of the shape that has output channels, or -1: several scales along
  /// another are not understood, and give none. A list has but one dimension, even if the file has more: older converters
  /// gave biases that of the weights, and runtimes do not look.
  std::optional<blob> weights(const constant& c, index_t t, const blob::axes& size, const blob::axes& stride, int channels) {
    blob b;
    b.name = m_.file.text(g_.tensors[t], tensor_fields::name);
    b.element = c.type, b.size = size, b.stride = stride, b.data = c.data;
    if (c.type == element::float32 || c.quant.scale.empty()) return b;
    const bool by_channel = channels >= 0 && (c.quant.dimension == channels || c.shape.size() == 1) &&
                            c.quant.scale.size() == static_cast<std::size_t>(size.outputs);
    if (c.quant.scale.size() > 1 && !by_channel) return {};
    b.scales = c.quant.scale;
    const auto& zeros = c.quant.zero_point;
    if (std::any_of(zeros.begin(), zeros.end(), [](std::int32_t z) { return z != 0; })) b.zero_points = zeros;
    return b;
  }

 private:
  std::optional<constant> read_content(index_t t) {
    const auto known = type(t);
    if (!known || !g_.constant(t)) return {};
    constant c{*known, shape(t), quantized(t), {}};
    for (const std::int64_t n : c.shape)
      if (n < 1) return {};
    if (folded_[t] != none) {
      const operator_info& op = g_.operators[folded_[t]];
      if (op.kind == kind("DEQUANTIZE") && op.inputs.size() == 1) c.data = dequantized(c, t, op);
      if (op.kind == kind("DENSIFY")) c.data = dense(t);
      return c;
    }
    c.data = dense(t);
    return c;
  }
  /// All elements of a constant of the file, or of a result of DENSIFY.
  std::span<const std::byte> dense(index_t t) {
    if (folded_[t] != none) {
      const operator_info& op = g_.operators[folded_[t]];
      if (op.kind != kind("DENSIFY") || op.inputs.size() != 1 || folded_[op.inputs[0]] != none) return {};
      if (shape(op.inputs[0]) != shape(t) || type(op.inputs[0]) != type(t)) return {};
      return dense(op.inputs[0]);
    }
    const table how = m_.file.child(g_.tensors[t], tensor_fields::sparsity);
    if (how.data == nullptr) return stored(t);
    const auto e = type(t);
    if (!e) return {};
    auto made = sparse_reader(m_.file, how, shape(t), size_of(*e)).run(stored(t));
    if (!made) return {};
    std::vector<std::byte>& kept = holder_->made.add(0);
    kept = std::move(*made);
    return kept;
  }

  std::optional<element> type(index_t t) {
    switch (m_.file.number<std::uint8_t>(g_.tensors[t], tensor_fields::type)) {
      case 0: return element::float32;
      case 1: return element::float16;
      case 2: return element::int32;
      case 3: return element::uint8;
      case 4: return element::int64;
      case 6: return element::boolean;
      case 7: return element::int16;
      case 9: return element::int8;
      case 10: return element::float64;
      default: return {};
    }
  }

  scales quantized(index_t t) {
    const table q = m_.file.child(g_.tensors[t], tensor_fields::quantization);
    if (q.data == nullptr) return {};
    scales s;
    s.scale = m_.file.numbers<float>(q, quantization_fields::scale);
    const auto zeros = m_.file.numbers<std::int64_t>(q, quantization_fields::zero_point);
    s.dimension = m_.file.number<std::int32_t>(q, quantization_fields::dimension);
    s.zero_point.assign(s.scale.size(), 0);
    bool sound = zeros.size() == s.scale.size() || zeros.empty();
    for (std::size_t i = 0; sound && i < s.scale.size(); ++i) {
      const std::int64_t zero = zeros.empty() ? 0 : zeros[i];
      sound = s.scale[i] > 0 && s.scale[i] <= std::numeric_limits<float>::max() && zero >= -32768 && zero <= 65535;
      if (sound) s.zero_point[i] = static_cast<std::int32_t>(zero);
    }
    if (!sound && !m_.file.failed())
      m_.file.fault(error_code::bad_input, g_.tensors[t].where.text() + ": " + m_.label(g_.tensors[t]) +
                                               " has a scale that is not positive, or a zero point out of range");
    return s;
  }

  /// The bytes of a constant in the file, which the holder has too.
  std::span<const std::byte> stored(index_t t) {
    const auto b = m_.file.number<std::uint32_t>(g_.tensors[t], tensor_fields::buffer);
    if (b == 0 || b >= m_.buffers.size()) return {};
    const std::string_view view = m_.content(m_.buffers[b]);
    if (view.empty()) return {};
    const auto at = static_cast<std::size_t>(view.data() - m_.file.bytes().data());
    return std::as_bytes(std::span(holder_->bytes)).subspan(at, view.size());
  }

  /// The result of a DEQUANTIZE of stored halves or bytes.
  std::span<const std::byte> dequantized(const constant& to, index_t t, const operator_info& op) {
    const index_t from = op.inputs[0];
    const auto kept = type(from);
    const std::span<const std::byte> bytes = dense(from);
    if (to.type != element::float32 || !kept || shape(from) != shape(t)) return {};
    const bool half = kept == element::float16;
    const scales q = quantized(from);
    if (!half && ((kept != element::int8 && kept != element::uint8) || q.scale.size() != 1)) return {};
    const std::size_t width = half ? 2 : 1, n = bytes.size() / width;
    if (n == 0) return {};
    std::vector<std::byte>& made = holder_->made.add(4 * n);
    for (std::size_t i = 0; i < n; ++i) {
      float x = 0;
      if (half) {
        std::uint16_t h = 0;
        std::memcpy(&h, bytes.data() + 2 * i, 2);
        x = from_half(h);
      } else {
        const auto raw = std::to_integer<std::uint8_t>(bytes[i]);
        const std::int32_t value = kept == element::int8 ? static_cast<std::int8_t>(raw) : raw;
        x = q.scale[0] * static_cast<float>(value - q.zero_point[0]);
      }
      std::memcpy(made.data() + 4 * i, &x, 4);
    }
    return made;
  }

  model_file& m_;
  tensor_sizes& sizes_;
  const subgraph_info& g_;
  std::shared_ptr<held_file> holder_;
  std::vector<std::optional<dimensions>> shapes_;
  std::unordered_map<index_t, std::optional<constant>> contents_;
  std::vector<index_t> folded_;  ///< per tensor: the operator left out that computes it
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
