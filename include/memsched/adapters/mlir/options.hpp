// Options of the MLIR adapter. Needs MLIR.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mlir/IR/Value.h>

#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The time during which the arguments of a function count.
enum class mlir_arguments : unsigned char {
  callers,  ///< not at all: their memory is the caller's
  held,     ///< from the start to the end
  donated,  ///< from the start to their last reader
};

/// The treatment of tokens, streams and other values without a shape.
enum class mlir_handles : unsigned char {
  no_bytes,
  refused,  ///< as values of unknown size
};

/// Facts that the operations of a block do not state themselves. A name in a list is that of an operation ("func.call") or
/// of a dialect ("func").
struct mlir_options {
  std::vector<std::string> pure{};        ///< operations without effects, and that run wherever their operands are there
  std::vector<std::string> views{};       ///< operations whose first result names the storage of the first operand
  std::vector<std::string> overwrites{};  ///< operations whose first result may take the storage of the first operand
  mlir_arguments arguments = mlir_arguments::callers;
  bool fold_constants = false;  ///< values computed from constants alone, and never overwritten, take no memory
  std::optional<std::string>
      space{};  ///< the one memory space that counts, as `memory_space` names it; all in total without
  /// Operations that keep no pointer to their memrefs once they have ended; "func.call" means functions without a body.
  std::vector<std::string> borrows{};
  /// Memory spaces, as `memory_space` names them, whose allocations one thread has alone. The default space is one.
  std::vector<std::string> private_spaces{};
  /// The size in bytes of a value if its type does not give it: a dynamic shape, an element type of another dialect.
  std::function<std::optional<bytes>(::mlir::Value)> size{};
  mlir_handles handles = mlir_handles::no_bytes;
  std::optional<std::uint64_t> dynamic_dim{};  ///< size of a dynamic dimension if `size` gives none
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
