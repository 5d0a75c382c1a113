// One operator under inference, and the view of it for ONNX's own inference functions.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/draft.hpp>
#include <memsched/formats/onnx/literal.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// The values of a graph's outputs, and its place in the list of graphs.
struct body {
  std::vector<value> outputs;
  std::size_t graph = 0;
};

/// One operator under inference.
struct call {
  const onnx::NodeProto& node;
  const std::string& who;
  const scope& here;
  std::vector<const value*> inputs;
  std::vector<partial> types;  // of the outputs
  std::vector<body> bodies;    // of the graphs that were inferred
  location where;              // the operator, in the model
};

/// Infers a graph that an operator holds, given facts about its inputs.
using infer_graph = std::function<body(const onnx::GraphProto&, const call&, const std::vector<partial>&)>;

/// The domain of an operator; empty for that of ONNX.
inline std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

/// The known facts about a value, in the words of ONNX.
inline onnx::TypeProto type_of(const value& v) {
  onnx::TypeProto type;
  auto* tensor = type.mutable_tensor_type();
  tensor->set_elem_type(v.type);
  if (!v.shape) return type;
  auto* shape = tensor->mutable_shape();
  for (std::int64_t d : *v.shape) shape->add_dim()->set_dim_value(d);
  return type;
}

inline std::string tensor_label(const std::string& name, const call& c) {
  return "tensor " + in_quotes(name) + " of " + c.who;
}

/// Infers a graph of an operator when the operator's own inference function asks for it.
class body_inferencer final : public onnx::GraphInferencer {
 public:
  body_inferencer(const infer_graph& infer, call& c, const onnx::GraphProto& graph)
      : infer_(infer), call_(c), graph_(graph) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& types,
                                                    const std::vector<const onnx::TensorProto*>&) override {
    std::vector<partial> formals;
    for (const auto* type : types) formals.push_back(type ? facts(*type, call_.who) : partial{});
    if (call_.node.op_type() == "Loop") add_loop_shapes(formals);
    call_.bodies.push_back(infer_(graph_, call_, formals));
    types_.clear();
    for (const value& v : call_.bodies.back().outputs) types_.push_back(type_of(v));
    std::vector<const onnx::TypeProto*> result;
    for (const auto& type : types_) result.push_back(&type);
    return result;
  }

 private:
  /// The counter and the condition are scalars. A carried value enters with the shape of its initial value; that
  /// it leaves with the same is checked later, so that the shape holds for each turn.
  void add_loop_shapes(std::vector<partial>& formals) const {
    for (std::size_t i = 0; i < formals.size(); ++i) {
      const value* initial = i < call_.inputs.size() ? call_.inputs[i] : nullptr;
      if (i < 2) formals[i] = {i == 0 ? onnx::TensorProto::INT64 : onnx::TensorProto::BOOL, true, {}};
      else if (initial && initial->shape) formals[i] = {initial->type, true, *initial->shape};
    }
  }

  const infer_graph& infer_;
  call& call_;
  const onnx::GraphProto& graph_;
  std::vector<onnx::TypeProto> types_;
};

/// The view of an operator for an inference function of ONNX.
class context final : public onnx::InferenceContext {
 public:
  context(const infer_graph& infer, call& c, const onnx::NodeProto& node)
      : infer_(infer), call_(c), node_(node), outputs_(static_cast<std::size_t>(node.output_size())) {
    for (const value* v : c.inputs) {
      types_.push_back(v && v->type != onnx::TensorProto::UNDEFINED ? std::optional(type_of(*v)) : std::nullopt);
      data_.push_back(v && v->content ? std::optional(to_tensor(*v->content)) : std::nullopt);
    }
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return attribute(node_, name); }
  std::size_t getNumInputs() const override { return types_.size(); }
  const onnx::TypeProto* getInputType(std::size_t i) const override { return pointer(types_.at(i)); }
  const onnx::TensorProto* getInputData(std::size_t i) const override { return pointer(data_.at(i)); }
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(std::size_t i) override { return &outputs_.at(i); }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    const auto* a = attribute(node_, name);
    if (!a || !a->has_g()) refuse(call_.who + " has no graph " + in_quotes(name));
    bodies_.push_back(std::make_unique<body_inferencer>(infer_, call_, a->g()));
    return bodies_.back().get();
  }

 private:
  template <class T>
  static const T* pointer(const std::optional<T>& o) {
    return o ? &*o : nullptr;
  }

  const infer_graph& infer_;
  call& call_;
  const onnx::NodeProto& node_;
  std::vector<std::optional<onnx::TypeProto>> types_;
  std::vector<std::optional<onnx::TensorProto>> data_;
  std::vector<onnx::TypeProto> outputs_;
  std::vector<std::unique_ptr<body_inferencer>> bodies_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
