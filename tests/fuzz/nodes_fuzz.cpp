// Any text through the reader of nodes and the checks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <memsched/formats/nodes.hpp>
#include <memsched/graph/lower.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)memsched::is_node_text(text);
  const auto g = memsched::read_nodes(text);
  if (!g && g.error().message.find('\n') != std::string::npos) std::abort();
  if (g) (void)memsched::lower(*g);
  return 0;
}
