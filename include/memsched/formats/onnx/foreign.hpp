// Operators of which a typed network knows nothing, from the ONNX model in which they stand into another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/names.hpp>
#include <memsched/formats/onnx/value.hpp>
#include <memsched/formats/onnx/weights.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Keeps with a network the nodes that its opaque operators are, `positions` in the model, the constants that they read, and
/// types and shapes of their other operands and results, as an ONNX model of these alone: `network::file`. An operator's
/// `place` is its number there.
inline void keep_opaque(held_model& held, const std::unordered_map<std::string, value>& values,
                        const std::vector<index_t>& positions, network& net) {
  onnx::ModelProto kept;
  onnx::GraphProto& graph = *kept.mutable_graph();
  *kept.mutable_opset_import() = held.proto.opset_import();
  std::unordered_map<std::string_view, const onnx::TensorProto*> constants;
  for (const auto& t : held.proto.graph().initializer()) constants.emplace(t.name(), &t);
  for (const auto& node : held.proto.graph().node())
    if (const auto* a = node.op_type() == "Constant" ? attribute(node, "value") : nullptr; a && node.output_size() == 1)
      constants.emplace(node.output(0), &a->t());
  std::unordered_set<std::string> seen;
  const auto keep = [&](const std::string& name) {
    const auto v = values.find(name);
    if (v == values.end() || !seen.insert(name).second) return;
    if (const auto c = constants.find(name); c != constants.end()) {
      auto* t = graph.add_initializer();
      *t = *c->second;
      t->set_name(name);
    } else if (!v->second.constant && v->second.shape) {
      auto* info = graph.add_value_info();
      info->set_name(name);
      auto* type = info->mutable_type()->mutable_tensor_type();
      type->set_elem_type(v->second.type);
      for (const std::int64_t d : *v->second.shape) type->mutable_shape()->add_dim()->set_dim_value(d);
      type->mutable_shape();
    }
  };
  for (op_id i = 0; i < positions.size(); ++i) {
    if (net.operations[i].does.what != op_kind::opaque) continue;
    const onnx::NodeProto& node = held.proto.graph().node(static_cast<int>(positions[i]));
    net.operations[i].place = static_cast<index_t>(graph.node_size());
    *graph.add_node() = node;
    for (const auto* names : {&node.input(), &node.output()})
      for (const std::string& name : *names) keep(name);
  }
  held.opaque = kept.SerializeAsString();
  net.file = held.opaque;
}

/// The nodes that `keep_opaque` kept.
class opaque_nodes {
 public:
  /// The standard operator set of files that are written.
  static constexpr int written_set = 15;

  explicit opaque_nodes(std::string_view file) {
    if (!model_.ParseFromArray(file.data(), static_cast<int>(file.size()))) model_.Clear();
    for (const auto& t : model_.graph().initializer()) constants_.emplace(t.name(), &t);
    for (const auto& x : model_.graph().value_info()) {
      auto& shape = shapes_[x.name()];
      for (const auto& d : x.type().tensor_type().shape().dim()) shape.push_back(d.dim_value());
    }
  }

  /// A node by its number; null, and `fault`, if it cannot stand in another model.
  const onnx::NodeProto* find(index_t place, std::string& fault) const {
    if (place >= static_cast<index_t>(model_.graph().node_size())) return fault = "stands in no ONNX model", nullptr;
    const onnx::NodeProto& node = model_.graph().node(static_cast<int>(place));
    bool graphs = false;
    for_each_graph(node, [&](const auto&) { graphs = true; });
    if (graphs) return fault = "runs another graph", nullptr;
    if (is_standard(node) && !means_the_same(node, version_of(node.domain())))
      return fault = "means something else in operator set 15", nullptr;
    return &node;
  }
  static bool is_standard(const onnx::NodeProto& node) { return node.domain().empty() || node.domain() == "ai.onnx"; }
  /// The version of a domain that the model imports; 0: none.
  std::int64_t version_of(const std::string& domain) const {
    const auto standard = [](const std::string& d) { return d.empty() || d == "ai.onnx"; };
    for (const auto& x : model_.opset_import())
      if (x.domain() == domain || (standard(domain) && standard(x.domain()))) return x.version();
    return 0;
  }

  const onnx::TensorProto* constant(const std::string& name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : found->second;
  }
  /// The shape of an operand or result; null if it is not known.
  const std::vector<std::int64_t>* shape(const std::string& name) const {
    const auto found = shapes_.find(name);
    return found == shapes_.end() ? nullptr : &found->second;
  }

 private:
  /// Whether a standard node of this operator set is one of the written set, too: by the signatures of both. Additions of a
  /// newer version of an operator are optional, and do nothing when absent; a changed default, and an attribute that became
  /// an input or went, are other meanings. Sets that the ONNX library does not know are not looked at.
  static bool means_the_same(const onnx::NodeProto& node, std::int64_t set) {
    if (set == written_set) return true;
    constexpr std::int64_t newest_known = 17;
    if (set < 1 || set > newest_known) return false;
    const auto* was = onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(set), "");
    const auto* is = onnx::OpSchemaRegistry::Schema(node.op_type(), written_set, "");
    if (was == nullptr || is == nullptr) return false;
    if (was->since_version() == is->since_version()) return true;
    for (const auto& a : node.attribute())
      if (is->attributes().count(a.name()) == 0) return false;
    for (const auto& [name, a] : is->attributes()) {
      const auto old = was->attributes().find(name);
      const bool is_new = old == was->attributes().end();
      if (is_new && a.required) return false;
      if (!is_new && a.default_value.SerializeAsString() != old->second.default_value.SerializeAsString()) return false;
    }
    const auto same = [](const auto& olds, const auto& news, int used) {
      for (std::size_t i = 0; i < news.size(); ++i) {
        const bool optional = news[i].GetOption() == onnx::OpSchema::Optional;
        if (i < olds.size() ? news[i].GetName() != olds[i].GetName() : !optional) return false;
      }
      return static_cast<std::size_t>(used) <= news.size() ||
             (!news.empty() && news.back().GetOption() == onnx::OpSchema::Variadic);
    };
    return same(was->inputs(), is->inputs(), node.input_size()) && same(was->outputs(), is->outputs(), node.output_size());
  }

  onnx::ModelProto model_;
  std::unordered_map<std::string, const onnx::TensorProto*> constants_;
  std::unordered_map<std::string, std::vector<std::int64_t>> shapes_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
