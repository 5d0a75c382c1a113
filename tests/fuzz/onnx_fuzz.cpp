// Any bytes as an ONNX file: an error value or a draft, nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <memsched/formats/onnx.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto draft = memsched::read_onnx({reinterpret_cast<const char*>(data), size});
  if (draft) static_cast<void>(memsched::check(std::move(*draft)));
  return 0;
}
