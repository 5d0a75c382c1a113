// Any bytes through the TensorFlow Lite importer and the checks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <memsched/formats/tflite.hpp>
#include <memsched/graph/check.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graphs = memsched::read_tflite({reinterpret_cast<const char*>(data), size});
  if (graphs)
    for (const auto& g : *graphs) (void)memsched::check(g.draft);
  else if (graphs.error().message.find('\n') != std::string::npos) std::abort();
  return 0;
}
