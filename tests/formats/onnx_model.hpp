// Writes ONNX models by hand, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace onnx_model {

using dims = std::vector<std::int64_t>;
using names = std::vector<std::string>;

inline void set_type(onnx::TypeProto& type, const dims& shape, int element) {
  type.mutable_tensor_type()->set_elem_type(element);
  auto* list = type.mutable_tensor_type()->mutable_shape();
  for (std::int64_t d : shape) {
    auto* dim = list->add_dim();
    if (d >= 0) dim->set_dim_value(d);
  }
}

/// A graph under construction. A dimension of -1 is open.
class graph {
 public:
  explicit graph(onnx::GraphProto& g) : g_(g) {}

  graph& input(const std::string& name, const dims& shape, int element = onnx::TensorProto::FLOAT) {
    auto* x = g_.add_input();
    x->set_name(name);
    set_type(*x->mutable_type(), shape, element);
    return *this;
  }
  graph& output(const std::string& name) {
    g_.add_output()->set_name(name);
    return *this;
  }
  graph& declare(const std::string& name, const dims& shape, int element = onnx::TensorProto::FLOAT) {
    auto* x = g_.add_value_info();
    x->set_name(name);
    set_type(*x->mutable_type(), shape, element);
    return *this;
  }
  /// An initializer without data, as if stored elsewhere.
  graph& weight(const std::string& name, const dims& shape) {
    auto* t = g_.add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    for (std::int64_t d : shape) t->add_dims(d);
    t->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* where = t->add_external_data();
    where->set_key("location");
    where->set_value("no_such_file.bin");
    return *this;
  }
  /// Weights in the file: element i is i % 7 - 3.
  graph& floats(const std::string& name, const dims& shape) {
    auto* t = g_.add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t n = 1;
    for (std::int64_t d : shape) t->add_dims(d), n *= d;
    for (std::int64_t i = 0; i < n; ++i) t->add_float_data(static_cast<float>(i % 7) - 3);
    return *this;
  }
  graph& integers(const std::string& name, const dims& values) {
    auto* t = g_.add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::INT64);
    t->add_dims(static_cast<std::int64_t>(values.size()));
    for (std::int64_t v : values) t->add_int64_data(v);
    return *this;
  }
  graph& scalar(const std::string& name, std::int64_t value, int element = onnx::TensorProto::INT64) {
    auto* t = g_.add_initializer();
    t->set_name(name);
    t->set_data_type(element);
    if (element == onnx::TensorProto::INT64) t->add_int64_data(value);
    else t->add_int32_data(static_cast<std::int32_t>(value));
    return *this;
  }
  onnx::NodeProto& op(const std::string& type, const names& inputs, const names& outputs, const std::string& name = {}) {
    auto* node = g_.add_node();
    node->set_op_type(type);
    for (const auto& x : inputs) node->add_input(x);
    for (const auto& x : outputs) node->add_output(x);
    if (!name.empty()) node->set_name(name);
    return *node;
  }

 private:
  onnx::GraphProto& g_;
};

inline onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name,
                                       onnx::AttributeProto::AttributeType type) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(type);
  return *a;
}
inline void set(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}
inline void set(onnx::NodeProto& node, const std::string& name, const dims& values) {
  auto& a = attribute(node, name, onnx::AttributeProto::INTS);
  for (std::int64_t v : values) a.add_ints(v);
}
inline void set_number(onnx::NodeProto& node, const std::string& name, float value) {
  attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}
inline void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
}
inline graph add_graph(onnx::NodeProto& node, const std::string& name) {
  return graph(*attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g());
}

struct model_proto {
  onnx::ModelProto proto;
};

/// A model of one graph.
struct model : model_proto, graph {
  explicit model(std::int64_t opset = 13) : graph(*proto.mutable_graph()) {
    proto.set_ir_version(8);
    proto.mutable_graph()->set_name("test");
    proto.add_opset_import()->set_version(opset);
  }
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  std::string file() const { return proto.SerializeAsString(); }
};

}  // namespace onnx_model
