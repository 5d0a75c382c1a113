// Memory spaces of MLIR values. Needs MLIR.
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Operation.h>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The memory space of a value: that of a memref as MLIR prints it ("3", "#gpu.address_space<workgroup>"); "0" if it has none.
inline std::string memory_space(::mlir::Value v) {
  const auto memref = llvm::dyn_cast<::mlir::BaseMemRefType>(v.getType());
  const ::mlir::Attribute space = memref ? memref.getMemorySpace() : ::mlir::Attribute{};
  if (!space) return "0";
  if (const auto number = llvm::dyn_cast<::mlir::IntegerAttr>(space)) return std::to_string(number.getInt());
  std::string name;
  llvm::raw_string_ostream(name) << space;
  return name;
}

/// The spaces of the memrefs that an operation and those inside of it make, and of tensors ("0"), each once.
/// O(operations * spaces)
inline std::vector<std::string> memory_spaces(::mlir::Operation* within) {
  std::vector<std::string> spaces;
  within->walk([&](::mlir::Operation* op) {
    for (const ::mlir::Value v : op->getResults())
      if (llvm::isa<::mlir::BaseMemRefType, ::mlir::TensorType>(v.getType()))
        if (std::string space = memory_space(v); !llvm::is_contained(spaces, space)) spaces.push_back(std::move(space));
  });
  return spaces;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
