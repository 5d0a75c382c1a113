// Feeds every file of a directory to one fuzz target: its corpus as an ordinary test. usage: replay TARGET DIRECTORY
// All targets are one unit, which takes a third of the time: most of it goes into what all of them include.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#define LLVMFuzzerTestOneInput fuzz_json
#include "json_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_nodes
#include "nodes_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_certificate
#include "certificate_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_recompute_proof
#include "recompute_proof_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_tflite
#include "tflite_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_tflite_write
#include "tflite_write_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_sdf3
#include "sdf3_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#ifdef MEMSCHED_HAS_ONNX
#define LLVMFuzzerTestOneInput fuzz_onnx
#include "onnx_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_onnx_write
#include "onnx_write_fuzz.cpp"
#undef LLVMFuzzerTestOneInput
#endif

namespace {

struct fuzz_target {
  std::string_view name;
  int (*run)(const std::uint8_t*, std::size_t);
};

constexpr fuzz_target targets[] = {
    {"json", fuzz_json},
    {"nodes", fuzz_nodes},
    {"certificate", fuzz_certificate},
    {"recompute_proof", fuzz_recompute_proof},
    {"tflite", fuzz_tflite},
    {"tflite_write", fuzz_tflite_write},
    {"sdf3", fuzz_sdf3},
#ifdef MEMSCHED_HAS_ONNX
    {"onnx", fuzz_onnx},
    {"onnx_write", fuzz_onnx_write},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  const auto target = std::find_if(std::begin(targets), std::end(targets),
                                   [&](const fuzz_target& t) { return argc == 3 && t.name == argv[1]; });
  if (target == std::end(targets)) {
    std::fputs("usage: replay TARGET DIRECTORY\n", stderr);
    return 2;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[2])) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    target->run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  std::printf("%zu files\n", files);
  return files == 0 ? 1 : 0;
}
