// Any bytes through the TensorFlow Lite importer and the checks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <memsched/formats/tflite.hpp>
#include <memsched/graph/check.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto draft = memsched::read_tflite({reinterpret_cast<const char*>(data), size});
  if (draft) (void)memsched::check(*draft);
  else if (draft.error().message.find('\n') != std::string::npos) std::abort();
  return 0;
}
