// Any bytes as an ONNX file, written again in another order: an error, or a file that holds the same graphs so, and of whose
// bytes none is lost.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <memsched/formats/onnx.hpp>
#include <memsched/formats/onnx_write.hpp>

#include "orders.hpp"

namespace {

using fuzz::require;

/// The same model with all operators sorted by their bytes: equal for files that differ in order alone.
std::string sorted(std::string_view file) {
  onnx::ModelProto model;
  require(model.ParseFromArray(file.data(), static_cast<int>(file.size())));
  const auto sort = [](auto&& self, onnx::GraphProto& graph) -> void {
    for (auto& node : *graph.mutable_node())
      for (auto& a : *node.mutable_attribute()) {
        if (a.has_g()) self(self, *a.mutable_g());
        for (auto& g : *a.mutable_graphs()) self(self, g);
      }
    std::sort(graph.mutable_node()->begin(), graph.mutable_node()->end(),
              [](const auto& a, const auto& b) { return a.SerializeAsString() < b.SerializeAsString(); });
  };
  sort(sort, *model.mutable_graph());
  return model.SerializeAsString();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memsched;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto graphs = read_onnx(file);
  if (!graphs) return 0;
  fuzz::numbers random(file);
  const auto orders = fuzz::orders_of(*graphs, random);
  const auto out = write_onnx(file, *graphs, orders);
  if (!out) {
    require(!out.error().message.empty());
    return 0;
  }
  require(out->size() == file.size());
  const auto again = read_onnx(*out);
  require(static_cast<bool>(again) && fuzz::permuted(*graphs, *again, orders));
  require(sorted(file) == sorted(*out));
  return 0;
}
