// Any text through the JSON reader and the checks; what it accepts must survive being written and read again. Both parsers, where
// there are two, tell the same events.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <memsched/formats/json.hpp>
#include <memsched/graph/check.hpp>

#include "../support/event_log.hpp"

namespace {

void compare_parsers([[maybe_unused]] std::string_view text) {
#ifdef MEMSCHED_SIMDJSON
  support::event_log slow, fast;
  nlohmann::json::sax_parse(text.begin(), text.end(), &slow);
  if (memsched::detail::simdjson_events(text, fast) && fast.seen != slow.seen) std::abort();
#endif
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  compare_parsers(given);
  const auto draft = memsched::read_json(given);
  if (!draft) return draft.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const std::string text = memsched::write_json(*draft);
  const auto again = memsched::read_json(text);
  if (!again || memsched::write_json(*again) != text) std::abort();
  (void)memsched::make_problem(*draft);
  return 0;
}
