// C programs of networks.
#pragma once

#include <memsched/emit/emission.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/fit.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"

namespace cli {

/// A file of a library: its name and what it holds.
struct library_file {
  std::string name, text;
};
struct library {
  std::vector<library_file> files;
  memsched::bytes arena = 0;    ///< in bytes, of tensors alone
  memsched::bytes scratch = 0;  ///< of CMSIS-NN on a core without vectors, after them
  memsched::c_flash flash;
  memsched::bytes ram() const { return arena + scratch; }
};

/// An identifier of C for a model's file: its name's letters and digits, in lower case.
std::string identifier_of(const std::string& path);

/// Options for writing a library.
struct library_form {
  std::string name;  ///< an identifier
  memsched::kernel_library kernels = memsched::kernel_library::plain;
  std::string_view model{};  ///< the bytes of the file that it reads its weights from; empty: from itself
};

/// The library in C that runs a network, rewritten from `first`, its tensors in the smallest arena found for this order, or
/// for another one where this one leaves holes: NAME.h, NAME.c, NAME_main.c, and what CMake, ESP-IDF and Arduino need to build
/// it; or why there is none. The search for the arena counts nodes, so that without a limit on time it is the same everywhere.
memsched::result<library> library_of(const memsched::network& first, const memsched::network&,
                                     const std::vector<memsched::op_id>& order, const library_form&,
                                     const memsched::options& limits);

/// A network and its library.
struct chosen_library {
  memsched::fitted found;
  library made;
};

/// Searches as `advise` does, and again with ever fewer multiply-accumulates to spend, and looks among all networks found, and
/// the given one, for the one with the smallest peak whose library keeps within `flash` bytes; where none does, for the one
/// with the least flash.
memsched::result<chosen_library> find_library(const memsched::network&, const memsched::fit_options&,
                                              const memsched::options& limits, memsched::bytes flash, const library_form&);

}  // namespace cli
