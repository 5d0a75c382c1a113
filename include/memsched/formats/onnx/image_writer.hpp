// Nodes of an ONNX graph, and parts of images among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/image_parts.hpp>
#include <memsched/network/numbers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Adds nodes and initializers to the graph of a network.
class image_writer : protected detail::image_parts<std::string> {
 protected:
  using detail::image_parts<std::string>::image_parts;

  using integers = std::vector<std::int64_t>;

  std::string fresh(const std::string& what) { return what + "_" + std::to_string(count_++); }

  onnx::NodeProto& node(const char* kind, const std::vector<std::string>& inputs, const std::string& output) {
    auto* n = graph_->add_node();
    n->set_op_type(kind);
    n->set_name(op_ == nullptr ? fresh(kind) : op_->name + "/" + fresh(kind));
    for (const std::string& x : inputs) n->add_input(x);
    n->add_output(output);
    return *n;
  }
  static onnx::AttributeProto& attribute(onnx::NodeProto& n, const char* name, onnx::AttributeProto::AttributeType type) {
    auto* a = n.add_attribute();
    a->set_name(name);
    a->set_type(type);
    return *a;
  }
  static void set(onnx::NodeProto& n, const char* name, std::int64_t value) {
    attribute(n, name, onnx::AttributeProto::INT).set_i(value);
  }
  static void set(onnx::NodeProto& n, const char* name, const integers& values) {
    auto& a = attribute(n, name, onnx::AttributeProto::INTS);
    for (const std::int64_t v : values) a.add_ints(v);
  }
  static void set(onnx::NodeProto& n, const char* name, float value) {
    attribute(n, name, onnx::AttributeProto::FLOAT).set_f(value);
  }
  static void set(onnx::NodeProto& n, const char* name, const char* value) {
    attribute(n, name, onnx::AttributeProto::STRING).set_s(value);
  }

  std::string list(const integers& values) {
    onnx::TensorProto t;
    t.set_data_type(onnx::TensorProto::INT64);
    t.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t v : values) t.add_int64_data(v);
    return constant("integers", std::move(t));
  }
  std::string scalar(float value) {
    onnx::TensorProto t;
    t.set_data_type(onnx::TensorProto::FLOAT);
    t.add_float_data(value);
    return constant("number", std::move(t));
  }
  /// An initializer with these contents: blocks share the weights of their origin.
  std::string constant(const char* what, onnx::TensorProto t) {
    const auto [at, is_new] = constants_.try_emplace(t.SerializeAsString());
    if (!is_new) return at->second;
    at->second = fresh(what);
    t.set_name(at->second);
    *graph_->add_initializer() = std::move(t);
    return at->second;
  }
  /// A part of a blob in this shape, whose elements `at(i)` gives in order.
  template <class F>
  std::string weights(const integers& shape, F at) {
    onnx::TensorProto t;
    t.set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t n = 1;
    for (const std::int64_t d : shape) t.add_dims(d), n *= d;
    for (std::int64_t i = 0; i < n; ++i) t.add_float_data(at(i));
    return constant("weights", std::move(t));
  }
  float weight(index_t id, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) const {
    return float_numbers{.random_weights = false}.weight(id, net_.blobs[id], o, r, c, i);
  }

  std::string slice_of(const std::string& x, const box& from, const box& b) override {
    integers starts, ends, dims;
    for (const axis a : axes) {
      if (along(b, a) == along(from, a)) continue;
      starts.push_back(along(b, a).first - along(from, a).first);
      ends.push_back(along(b, a).last - along(from, a).first);
      dims.push_back(dimension(a));
    }
    const std::string y = fresh("part");
    node("Slice", {x, list(starts), list(ends), list(dims)}, y);
    return y;
  }
  std::string joined(const std::vector<std::string>& values, axis a) override {
    const std::string y = fresh("whole");
    set(node("Concat", values, y), "axis", dimension(a));
    return y;
  }
  static std::int64_t dimension(axis a) { return a == axis::rows ? 2 : a == axis::columns ? 3 : 1; }

  onnx::ModelProto model_;
  onnx::GraphProto* graph_ = nullptr;
  std::size_t count_ = 0;

 private:
  std::unordered_map<std::string, std::string> constants_;  ///< names, by contents
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
