// Types, extents and contents of the tensors of an ONNX graph, for a typed network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/layers.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// The model that the weights of a network point into.
struct held_model {
  onnx::ModelProto proto{};
  detail::made_bytes made{};
  std::string opaque{};  ///< the parts of operators that no typed network knows: see foreign.hpp
};

inline std::optional<element> element_of(int type) {
  using proto = onnx::TensorProto;
  switch (type) {
    case proto::FLOAT: return element::float32;
    case proto::FLOAT16: return element::float16;
    case proto::DOUBLE: return element::float64;
    case proto::INT8: return element::int8;
    case proto::UINT8: return element::uint8;
    case proto::INT16: return element::int16;
    case proto::INT32: return element::int32;
    case proto::INT64: return element::int64;
    case proto::BOOL: return element::boolean;
    default: return {};
  }
}

/// The image that a shape with the channels second is: batch, channels, rows and columns; batch, channels, columns; batch
/// and channels; channels. None if the batch is not 1.
inline std::optional<extents> image_of(const dimensions& shape) {
  if (shape.size() > 4 || (shape.size() > 1 && shape[0] != 1)) return {};
  switch (shape.size()) {
    case 0: return extents{};
    case 1: return extents{1, 1, shape[0]};
    case 2: return extents{1, 1, shape[1]};
    case 3: return extents{1, shape[2], shape[1]};
    default: return extents{shape[2], shape[3], shape[1]};
  }
}
/// The axis of the image (0 rows, 1 columns, 2 channels) that a dimension of a shape of such a rank is; none for the batch.
inline std::optional<int> axis_in_image(std::int64_t dimension, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  if (dimension < -n || dimension >= n || rank > 4) return {};
  if (dimension < 0) dimension += n;
  if (rank == 1) return 2;
  if (dimension == 0) return {};
  if (dimension == 1) return 2;
  return rank == 3 || dimension == 3 ? 1 : 0;
}

/// Constants of the model's own graph, with the bytes of those that are small enough to have been followed, are in the file,
/// or come from a Constant.
class weight_reader {
 public:
  explicit weight_reader(std::shared_ptr<held_model> model) : model_(std::move(model)) {
    for (const auto& t : model_->proto.graph().initializer()) tensors_.emplace(t.name(), &t);
    for (const auto& node : model_->proto.graph().node()) {
      if (node.op_type() != "Constant" || node.output_size() != 1) continue;
      if (const auto* a = attribute(node, "value"); a && a->has_t()) tensors_.emplace(node.output(0), &a->t());
    }
  }

  /// The float32 elements of a constant of floats or halves; none if they are not known.
  std::span<const std::byte> floats(const std::string& name, const value& v) {
    const auto [at, fresh] = made_.try_emplace(name);
    if (fresh) at->second = read(name, v);
    return at->second;
  }

  /// These numbers as float32 elements, kept with the model.
  template <class List>
  std::span<const std::byte> store(const List& values) {
    std::vector<std::byte>& made = model_->made.add(4 * static_cast<std::size_t>(values.size()));
    std::size_t at = 0;
    for (const auto x : values) {
      const auto f = static_cast<float>(x);
      std::memcpy(made.data() + at, &f, 4);
      at += 4;
    }
    return made;
  }

 private:
  std::span<const std::byte> read(const std::string& name, const value& v) {
    if (const auto found = tensors_.find(name); found != tensors_.end()) {
      const onnx::TensorProto& t = *found->second;
      if (t.data_location() == onnx::TensorProto::EXTERNAL) return {};
      if (t.data_type() == onnx::TensorProto::FLOAT16) return from_halves(t);
      if (t.data_type() != onnx::TensorProto::FLOAT) return {};
      if (t.has_raw_data()) return std::as_bytes(std::span(t.raw_data()));
      return store(t.float_data());
    }
    if (v.content && v.content->type == onnx::TensorProto::FLOAT) return store(v.content->values);
    return {};
  }

  std::span<const std::byte> from_halves(const onnx::TensorProto& t) {
    std::vector<float> values;
    const std::string& raw = t.raw_data();
    for (std::size_t i = 0; i + 1 < raw.size(); i += 2) {
      std::uint16_t h = 0;
      std::memcpy(&h, raw.data() + i, 2);
      values.push_back(detail::from_half(h));
    }
    if (raw.empty())
      for (const std::int32_t h : t.int32_data()) values.push_back(detail::from_half(static_cast<std::uint16_t>(h)));
    return store(values);
  }
  std::shared_ptr<held_model> model_;
  std::unordered_map<std::string, const onnx::TensorProto*> tensors_;
  std::unordered_map<std::string, std::span<const std::byte>> made_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
