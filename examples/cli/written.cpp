#include "written.hpp"

#include <algorithm>
#include <filesystem>
#include <memsched/formats/onnx.hpp>
#include <memsched/formats/onnx_network_write.hpp>
#include <memsched/formats/onnx_write.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/formats/tflite_network_write.hpp>
#include <memsched/formats/tflite_write.hpp>
#include <numeric>
#include <utility>

namespace cli {

namespace {

using memsched::network;
using memsched::op_id;
using memsched::result;

bool is_onnx(const std::string& path) { return std::filesystem::path(path).extension() == ".onnx"; }

/// A file of standard operators has no shapes and values left open.
result<memsched::model_graphs> read_again(const std::string& path, const std::string& file, const reading& how) {
  const memsched::read_options options{.shapes = {}, .values = {}, .pure_custom = how.pure_custom};
  return is_onnx(path) ? memsched::read_onnx(file, options) : memsched::read_tflite(file, options);
}

result<std::string> bytes_of(const std::string& path, const network& first, const network& net, std::span<const op_id> order,
                             std::vector<std::size_t>* ends = nullptr) {
  return is_onnx(path) ? memsched::write_onnx_network(first, net, order, ends)
                       : memsched::write_tflite_network(first, net, order, ends);
}

}  // namespace

result<written_model> measured(std::string bytes, const memsched::model_graphs& graphs,
                               std::optional<memsched::micro_arena> head, memsched::memory_model model) {
  auto graph = memsched::make_problem(graphs.front().draft);
  if (!graph) return graph.error();
  std::vector<op_id> listed(graph->ops().size());
  std::iota(listed.begin(), listed.end(), op_id{0});
  auto cost = memsched::evaluate(*graph, listed, model);
  if (!cost) return cost.error();
  return written_model{std::move(bytes), std::move(*graph), std::move(*cost), head};
}

bool names_model(const std::string& path) { return is_onnx(path) || std::filesystem::path(path).extension() == ".tflite"; }

memsched::network_form form_of(const std::string& path, const network& first, const reading& how) {
  return [path, &first, how](const network& net, std::span<const op_id> order) -> result<memsched::written_network> {
    std::vector<std::size_t> ends;
    const auto bytes = bytes_of(path, first, net, order, &ends);
    if (!bytes) return bytes.error();
    const auto graphs = read_again(path, *bytes, how);
    if (!graphs) return graphs.error();
    auto graph = memsched::make_problem(graphs->front().draft);
    if (!graph) return graph.error();
    memsched::written_network w{std::move(*graph), {}};
    for (const auto at : graphs->front().positions) {  // what stands after the last one makes the outputs
      const auto part = std::upper_bound(ends.begin(), ends.end(), static_cast<std::size_t>(at)) - ends.begin();
      w.part_of.push_back(std::min(static_cast<std::size_t>(part), std::max<std::size_t>(ends.size(), 1) - 1));
    }
    return w;
  };
}

result<written_model> write_model(const std::string& path, const network& first, const memsched::fitted& found,
                                  const reading& how, memsched::memory_model model, bool offsets) {
  auto bytes = bytes_of(path, first, found.net, found.order);
  if (!bytes) return bytes.error();
  auto graphs = read_again(path, *bytes, how);
  if (!graphs) return graphs.error();
  if (!std::is_sorted(found.form_order.begin(), found.form_order.end())) {
    bytes = is_onnx(path) ? memsched::write_onnx(*bytes, *graphs, {found.form_order})
                          : memsched::write_tflite(*bytes, *graphs, {found.form_order});
    if (!bytes) return bytes.error();
    graphs = read_again(path, *bytes, how);
    if (!graphs) return graphs.error();
  }
  std::optional<memsched::micro_arena> head;
  if (!is_onnx(path)) {
    if (offsets) {
      memsched::options limits;
      limits.state_limit = 2'000'000;
      auto plan = memsched::plan_micro(*bytes, {}, false, memsched::minimize{}, limits);
      if (!plan) return plan.error();
      bytes = memsched::write_tflite(*bytes, *graphs, {}, std::move(plan->offsets));
      if (!bytes) return bytes.error();
    }
    auto found_head = memsched::micro_arena_of(*bytes);
    if (!found_head) return found_head.error();
    head = *found_head;
  }
  return measured(std::move(*bytes), *graphs, head, model);
}

}  // namespace cli
