// Any text through the JSON reader and the checks; what it accepts must survive being written and read again. The library's
// scan and nlohmann-json agree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <memsched/formats/json.hpp>
#include <memsched/graph/check.hpp>

#include "../support/json_difference.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  if (!support::json_difference(given).empty()) std::abort();
  const auto draft = memsched::read_json(given);
  if (!draft) return draft.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const std::string text = memsched::write_json(*draft);
  const auto again = memsched::read_json(text);
  if (!again || memsched::write_json(*again) != text) std::abort();
  (void)memsched::make_problem(*draft);
  return 0;
}
