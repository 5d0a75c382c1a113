// Any bytes as an ONNX file: an error value or a draft, nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <memsched/formats/onnx.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graphs = memsched::read_onnx({reinterpret_cast<const char*>(data), size});
  if (graphs)
    for (const auto& g : *graphs) static_cast<void>(memsched::make_problem(g.draft));
  return 0;
}
