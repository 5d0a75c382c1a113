// SHA-256 (FIPS 180-4), for names of inputs.
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// The hash of some bytes, in 64 hexadecimal digits. O(bytes).
std::string sha256(std::string_view bytes);

}  // namespace cli
