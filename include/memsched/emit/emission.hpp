// Options of an emitted program.
#pragma once

#include <string>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The order in which a program runs a network's operators, and where it keeps their results.
struct emission {
  std::vector<op_id> order{};   ///< its operators, each once, in an order that can run
  std::vector<bytes> offset{};  ///< of each tensor in the arena, in bytes; of tokens nothing is asked
  bytes arena = 0;              ///< its size
  std::string name{"network"};  ///< of the function and the files: an identifier of C
  std::vector<std::string> input_names{}, output_names{};  ///< for the header; missing ones: those of tensors
};

/// A library in C, file by file: NAME.h, NAME.c, and a program that runs it, NAME_main.c.
struct c_library {
  std::string header, source, program;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
