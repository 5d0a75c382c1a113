// Any text through the SDF3 reader and the checks; a graph that it accepts must be compressed, scheduled and replayed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <memsched/formats/sdf3.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/sdf/schedule.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto g = memsched::read_sdf3({reinterpret_cast<const char*>(data), size}, {.token_size = size % 2});
  if (!g) return g.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const auto r = memsched::sdf::schedule(g->graph, memsched::as_given{}, {.most_firings = 1000});
  // Some graphs allow no such schedule, or cost more than can be counted; none makes one that the referee refuses.
  if (r.error && r.error->code == memsched::error_code::bad_order) std::abort();
  if (!r.error && r.lower_bound > r.peak) std::abort();
  return 0;
}
