// Kinds and sizes of MLIR values. Needs MLIR.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llvm/Support/MathExtras.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Operation.h>
#include <mlir/Interfaces/DataLayoutInterfaces.h>

#include <memsched/adapters/mlir/options.hpp>
#include <memsched/adapters/mlir/spaces.hpp>
#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

inline bool lists(const std::vector<std::string>& names, ::mlir::Operation* op) {
  if (names.empty()) return false;
  const llvm::StringRef name = op->getName().getStringRef(), dialect = op->getName().getDialectNamespace();
  for (const std::string& listed : names)
    if (name == listed || dialect == listed) return true;
  return false;
}

inline bool is_tensor(::mlir::Value v) { return llvm::isa<::mlir::TensorType>(v.getType()); }
inline bool is_memref(::mlir::Value v) { return llvm::isa<::mlir::BaseMemRefType>(v.getType()); }

/// Scalars and vectors, and whatever LLVM's dialect has.
inline bool is_register(::mlir::Type type) {
  using namespace ::mlir;
  return type.isIntOrIndexOrFloat() || type.getDialect().getNamespace() == "llvm" ||
         llvm::isa<VectorType, ComplexType, NoneType, FunctionType>(type);
}

/// A token, stream, descriptor or the like: a type that neither is a register nor has a shape in it.
inline bool is_handle(::mlir::Value v) {
  const auto has_shape = [](::mlir::Type part) {
    return llvm::isa<::mlir::ShapedType>(part) ? ::mlir::WalkResult::interrupt() : ::mlir::WalkResult::advance();
  };
  return !is_register(v.getType()) && !v.getType().walk(has_shape).wasInterrupted();
}

/// Bytes of values. Registers have none, and handles none unless the options refuse them.
class mlir_sizes {
 public:
  mlir_sizes(::mlir::Operation* within, const mlir_options& o) : layout_(::mlir::DataLayout::closest(within)), o_(o) {}

  /// Nothing if neither the type nor the options tell.
  std::optional<bytes> operator()(::mlir::Value v) const {
    if (o_.space && memory_space(v) != *o_.space) return bytes{0};
    if (const auto size = of(v.getType(), std::nullopt)) return size;
    if (o_.size)
      if (const auto size = o_.size(v)) return size;
    if (o_.handles == mlir_handles::no_bytes && is_handle(v)) return bytes{0};
    return o_.dynamic_dim ? of(v.getType(), o_.dynamic_dim) : std::nullopt;
  }

 private:
  std::optional<bytes> of(::mlir::Type type, std::optional<std::uint64_t> dynamic) const {
    if (const auto tensor = llvm::dyn_cast<::mlir::RankedTensorType>(type)) {
      const auto encoding = tensor.getEncoding();
      if (encoding && encoding.getDialect().getNamespace() == "sparse_tensor") return std::nullopt;
      return of(tensor.getShape(), tensor.getElementType(), dynamic);
    }
    if (const auto memref = llvm::dyn_cast<::mlir::MemRefType>(type)) {
      if (!memref.getLayout().isIdentity() && !llvm::isa<::mlir::StridedLayoutAttr>(memref.getLayout())) return std::nullopt;
      return of(memref.getShape(), memref.getElementType(), dynamic);
    }
    if (is_register(type)) return bytes{0};
    return std::nullopt;
  }

  std::optional<bytes> of(llvm::ArrayRef<std::int64_t> shape, ::mlir::Type element,
                          std::optional<std::uint64_t> dynamic) const {
    if (!is_sized(element)) return std::nullopt;
    const llvm::TypeSize each = layout_.getTypeSize(element);
    if (each.isScalable()) return std::nullopt;
    bytes size = each.getFixedValue();
    for (const std::int64_t d : shape) {
      if (::mlir::ShapedType::isDynamic(d) && !dynamic) return std::nullopt;
      size = llvm::SaturatingMultiply(size, ::mlir::ShapedType::isDynamic(d) ? *dynamic : static_cast<std::uint64_t>(d));
    }
    return size;
  }

  /// Whether the data layout knows the type; it ends the program on others.
  static bool is_sized(::mlir::Type type) {
    if (const auto complex = llvm::dyn_cast<::mlir::ComplexType>(type)) return is_sized(complex.getElementType());
    if (const auto vector = llvm::dyn_cast<::mlir::VectorType>(type)) return is_sized(vector.getElementType());
    return type.isIntOrIndexOrFloat() || llvm::isa<::mlir::DataLayoutTypeInterface>(type);
  }

  ::mlir::DataLayout layout_;
  const mlir_options& o_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
