// Nodes of an ONNX graph, and parts of images among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/network/check.hpp>
#include <memsched/network/numbers.hpp>
#include <memsched/network/windows.hpp>

namespace memsched::inline MEMSCHED_ABI::onnx_detail {

/// Adds nodes and initializers to the graph of a network, and keeps which value each tensor is.
class image_writer {
 protected:
  explicit image_writer(const network& net) : net_(net), names_(net.tensors.size()) {
    for (tensor_id t = 0; t < net.tensors.size(); ++t) names_[t] = "t" + std::to_string(t);
  }

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
    auto* t = graph_->add_initializer();
    t->set_name(fresh("integers"));
    t->set_data_type(onnx::TensorProto::INT64);
    t->add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t v : values) t->add_int64_data(v);
    return t->name();
  }
  std::string scalar(float value) {
    auto* t = graph_->add_initializer();
    t->set_name(fresh("number"));
    t->set_data_type(onnx::TensorProto::FLOAT);
    t->add_float_data(value);
    return t->name();
  }
  /// A part of a blob in this shape, whose elements `at(i)` gives in order.
  template <class F>
  std::string weights(const integers& shape, F at) {
    auto* t = graph_->add_initializer();
    t->set_name(fresh("weights"));
    t->set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t n = 1;
    for (const std::int64_t d : shape) t->add_dims(d), n *= d;
    for (std::int64_t i = 0; i < n; ++i) t->add_float_data(at(i));
    return t->name();
  }
  float weight(index_t id, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) const {
    return float_numbers{.random_weights = false}.weight(id, net_.blobs[id], o, r, c, i);
  }

  // Images -----------------------------------------------------------------------------------------------------------

  struct piece {
    box where;
    std::string name;
  };
  static constexpr axis axes[] = {axis::rows, axis::columns, axis::channels};
  static std::int64_t dimension(axis a) { return a == axis::rows ? 2 : a == axis::columns ? 3 : 1; }
  static interval& along(box& b, axis a) { return a == axis::rows ? b.rows : a == axis::columns ? b.columns : b.channels; }
  static const interval& along(const box& b, axis a) { return along(const_cast<box&>(b), a); }

  /// The part `b` of what stands at `from`.
  std::string cut(const std::string& name, const box& from, const box& b) {
    if (b == from) return name;
    integers starts, ends, dims;
    for (const axis a : axes) {
      if (along(b, a) == along(from, a)) continue;
      starts.push_back(along(b, a).first - along(from, a).first);
      ends.push_back(along(b, a).last - along(from, a).first);
      dims.push_back(dimension(a));
    }
    const std::string y = fresh("part");
    node("Slice", {name, list(starts), list(ends), list(dims)}, y);
    return y;
  }

  /// The box `want` of an image as one value: slices of its parts, put together.
  std::string assemble(const image& x, const box& want) {
    std::vector<piece> pieces;
    for (const placed& p : x.parts) {
      const box b = box_of(net_, p), shared = common(b, want);
      if (net_.tensors[p.tensor].role == tensor_role::token || shared.empty()) continue;
      const bool known = std::any_of(pieces.begin(), pieces.end(), [&](const piece& q) { return q.where.contains(shared); });
      if (!known) pieces.push_back({shared, cut(names_[p.tensor], b, shared)});
    }
    return together(std::move(pieces), want);
  }
  std::string together(std::vector<piece> pieces, const box& want) {
    if (pieces.size() == 1 && pieces[0].where == want) return pieces[0].name;
    for (const axis a : axes) {
      std::set<coordinate> starts;
      for (const piece& p : pieces) starts.insert(along(p.where, a).first);
      for (const piece& p : pieces)  // a piece that reaches over a start spoils it
        for (coordinate c = along(p.where, a).first + 1; c < along(p.where, a).last; ++c) starts.erase(c);
      if (starts.size() < 2 || *starts.begin() != along(want, a).first) continue;
      std::vector<std::string> names;
      for (auto at = starts.begin(); at != starts.end(); ++at) {
        box slab = want;
        along(slab, a) = {*at, std::next(at) == starts.end() ? along(want, a).last : *std::next(at)};
        std::vector<piece> inside;
        for (const piece& p : pieces)
          if (slab.contains(p.where)) inside.push_back(p);
        names.push_back(together(std::move(inside), slab));
        if (names.back().empty()) return {};
      }
      const std::string y = fresh("whole");
      set(node("Concat", names, y), "axis", dimension(a));
      return y;
    }
    fault("reads " + to_string(want) + ", which its parts do not hold side by side");
    return {};
  }
  /// What the operator reads of operand k to compute `out`.
  std::string operand(std::size_t k, const box& out) {
    const box b = needed(*op_, k, out);
    if (b.empty()) fault("reads nothing but pad");
    return error_.message.empty() ? assemble(op_->reads[k], b) : std::string();
  }

  void fault(const std::string& what) {
    if (!error_.message.empty()) return;
    const std::string who = op_ == nullptr ? std::string("the network ") : labelled("operator ", number_, op_->name) + " ";
    error_ = {error_code::bad_input, who + what, {}, {}};
  }

  const network& net_;
  std::vector<std::string> names_;  ///< of values in the file, per tensor
  onnx::ModelProto model_;
  onnx::GraphProto* graph_ = nullptr;
  const operation* op_ = nullptr;
  op_id number_ = 0;
  std::size_t count_ = 0;
  graph_error error_;
};

}  // namespace memsched::onnx_detail
