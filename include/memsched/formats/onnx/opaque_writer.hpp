// Opaque operators in an ONNX graph that is written for a network.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/formats/onnx/foreign.hpp>
#include <memsched/formats/onnx/image_writer.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Writes a network whose origins are those of `first`.
class opaque_writer : protected image_writer {
 public:
  opaque_writer(const network& first, const network& net) : image_writer(net), first_(first) {}

 protected:
  /// An operator as it stands in the model that the first network was read from, of whole tensors, in their shapes there.
  void copy_operator() {
    if (op_->place == none || first_.file.empty()) return fault("is opaque, and no file says what it is");
    if (!foreign_) foreign_ = std::make_unique<opaque_nodes>(first_.file);
    std::string why;
    const onnx::NodeProto* from = foreign_->find(op_->place, why);
    if (from == nullptr) return fault("is opaque, and " + why);
    onnx::NodeProto copy = *from;
    copy.clear_input(), copy.clear_output();
    const auto part_named = [&](const std::vector<image>& images, const std::string& name) -> const image* {
      for (const image& x : images)
        for (const placed& p : x.parts)
          if (const tensor_id o = net_.tensors[p.tensor].origin; o < first_.tensors.size() && first_.tensors[o].name == name)
            return &x;
      return nullptr;
    };
    for (const std::string& name : from->input()) {
      if (name.empty()) {
        copy.add_input("");
      } else if (const onnx::TensorProto* t = foreign_->constant(name)) {
        onnx::TensorProto own = *t;
        own.clear_name();
        copy.add_input(constant("constant", std::move(own)));
      } else {
        const image* x = part_named(op_->reads, name);
        const auto* shape = foreign_->shape(name);
        if (x == nullptr || shape == nullptr) return fault("is opaque, and reads what cannot be copied");
        copy.add_input(in_shape(*x, *shape));
      }
      if (failed()) return;
    }
    std::vector<std::pair<tensor_id, std::pair<std::string, integers>>> results;
    for (const std::string& name : from->output()) {
      const image* y = name.empty() ? nullptr : part_named(op_->writes, name);
      const auto* shape = foreign_->shape(name);
      copy.add_output(name.empty() ? "" : fresh("value"));
      if (y == nullptr) continue;  // no operator reads it
      if (y->parts.size() != 1 || shape == nullptr) return fault("is opaque, and writes what cannot be copied");
      results.push_back({y->parts[0].tensor, {copy.output(copy.output_size() - 1), *shape}});
    }
    copy.set_name(op_->name + "/" + fresh("copy"));
    if (!opaque_nodes::is_standard(*from)) import(from->domain());
    *graph_->add_node() = std::move(copy);
    for (auto& [t, made] : results) {
      auto& [name, shape] = made;
      shapes_[name] = shape;  // of no image: a row of bytes here, which opaque operators alone read
      hold(t, name);
    }
  }
  std::string as_image(const std::string& x, const extents& e) override {
    const integers to{1, e.channels, e.rows, e.columns};
    if (shape_of(x, e) == to) return x;
    const auto [at, is_new] = images_.try_emplace(x);
    if (is_new) at->second = shaped(x, to);
    return at->second;
  }
  /// A whole image in a shape of the file.
  std::string in_shape(const image& x, const integers& to) {
    if (const std::string* held = held_alone(x); held != nullptr && shape_of(*held, x.size) == to) return *held;
    const std::string y = assemble(x, whole(x.size));
    return failed() || shape_of(y, x.size) == to ? y : shaped(y, to);
  }
  std::string shaped(const std::string& x, const integers& shape) {
    const std::string y = fresh("value");
    node("Reshape", {x, list(shape)}, y);
    return y;
  }

  const network& first_;
  std::unordered_map<std::string, integers> shapes_;  ///< of inputs, and of values that copied operators write

 private:
  void import(const std::string& domain) {
    for (const auto& x : model_.opset_import())
      if (x.domain() == domain) return;
    auto* x = model_.add_opset_import();
    x->set_domain(domain);
    x->set_version(foreign_->version_of(domain));
  }
  integers shape_of(const std::string& x, const extents& e) const {
    const auto known = shapes_.find(x);
    return known != shapes_.end() ? known->second : integers{1, e.channels, e.rows, e.columns};
  }

  std::unique_ptr<opaque_nodes> foreign_;                ///< once an opaque operator is met
  std::unordered_map<std::string, std::string> images_;  ///< values of other shapes as images
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
