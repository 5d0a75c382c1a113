// Any bytes through the TensorFlow Lite importers and the checks; a typed network through its writer, and back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <memsched/formats/tflite/network.hpp>
#include <memsched/formats/tflite_network_write.hpp>
#include <memsched/graph/check.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memsched;
  const std::string file(reinterpret_cast<const char*>(data), size);
  const auto graphs = read_tflite(file);
  if (graphs)
    for (const auto& g : *graphs) (void)make_problem(g.draft);
  else if (graphs.error().message.find('\n') != std::string::npos) std::abort();
  const auto net = read_tflite_network(file);
  if (!net) return 0;
  std::vector<op_id> order(net->operations.size());
  std::iota(order.begin(), order.end(), op_id{0});
  const auto written = write_tflite_network(*net, *net, order);
  if (!written) {
    if (written.error().message.empty()) std::abort();
    return 0;
  }
  const auto back = read_tflite_network(*written);
  const auto opaque = [](const network& n) {
    return std::count_if(n.operations.begin(), n.operations.end(), [](auto& op) { return op.does.what == op_kind::opaque; });
  };
  if (!back || opaque(*back) != opaque(*net)) std::abort();
  return 0;
}
