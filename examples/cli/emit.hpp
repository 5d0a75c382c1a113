// C programs of networks.
#pragma once

#include <memsched/network/network.hpp>
#include <string>
#include <vector>

namespace cli {

struct program_text {
  std::string text;
  memsched::bytes arena = 0;  ///< of the program, in bytes
};

/// The C program that runs a network in this order, its tensors in the smallest arena found in 10 s; or why there is none.
memsched::result<program_text> program_of(const memsched::network& net, const std::vector<memsched::op_id>& order);

}  // namespace cli
