// C programs of networks.
#pragma once

#include <memsched/network/network.hpp>
#include <string>
#include <vector>

namespace cli {

/// A file of a library: its name and what it holds.
struct library_file {
  std::string name, text;
};
struct library {
  std::vector<library_file> files;
  memsched::bytes arena = 0;  ///< in bytes
};

/// An identifier of C for a model's file: its name's letters and digits, in lower case.
std::string identifier_of(const std::string& path);

/// The library in C that runs a network, rewritten from `first`, its tensors in the smallest arena found in 10 s for this
/// order, or in 20 more for another one: NAME.h, NAME.c, NAME_main.c, and what CMake, ESP-IDF and Arduino need to build it; or why there is none.
memsched::result<library> library_of(const memsched::network& first, const memsched::network&,
                                     const std::vector<memsched::op_id>& order, const std::string& name);

}  // namespace cli
