// Options of an emitted program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Kernels that a program calls.
enum class kernel_library : unsigned char {
  plain,     ///< its own
  cmsis_nn,  ///< those of CMSIS-NN if it has one for an operator of int8 and the rows lie so that it can, else its own
};

/// The order in which a program runs a network's operators, and where it keeps their results.
struct emission {
  std::vector<op_id> order{};   ///< its operators, each once, in an order that can run
  std::vector<bytes> offset{};  ///< of each tensor in the arena, in bytes; of tokens nothing is asked
  bytes arena = 0;              ///< its size
  std::string name{"network"};  ///< of the function and the files: an identifier of C
  kernel_library kernels = kernel_library::plain;
  /// The bytes of the model's file, which stand beside the program: it reads the constants there that kernels use as they
  /// are. Empty: all constants are in the program.
  std::string_view model{};
  std::vector<std::string> input_names{}, output_names{};  ///< for the header; missing ones: those of tensors
};

/// Bytes of a library's constants, on a machine of 32 bits. The size of its functions depends on the compiler.
struct c_flash {
  bytes tables = 0;    ///< of operators, parts, activations, factors and shifts
  bytes weights = 0;   ///< and biases, in the program
  bytes in_model = 0;  ///< weights and biases that it reads from the model's file
  bytes total() const { return tables + weights; }
};

/// A library in C, file by file: NAME.h, NAME.c, a program that runs it, NAME_main.c, and, if it reads the model's file,
/// NAME_model.c with its bytes.
struct c_library {
  std::string header, source, program, model;
  c_flash flash;
  bytes scratch = 0, helium_scratch = 0;  ///< after the tensors, for CMSIS-NN: on a core without vectors, and with (Helium)
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
