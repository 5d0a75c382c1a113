// The least that one writes to schedule MLIR without the adapter: handles, ranges and hashes are MLIR's own. It has to
// compile.
#include <optional>

#include <mlir/IR/Block.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Operation.h>
#include <memsched/schedule.hpp>

template <>
struct memsched::graph_traits<mlir::Block> {
  static auto ops(const mlir::Block& b) {
    return llvm::make_pointer_range(const_cast<mlir::Block&>(b).without_terminator());
  }
  static auto inputs(const mlir::Block&, mlir::Operation* op) { return op->getOperands(); }
  static auto outputs(const mlir::Block&, mlir::Operation* op) { return op->getResults(); }
  static std::optional<std::int64_t> size(const mlir::Block&, mlir::Value v) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(v.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat()) return std::nullopt;
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }
};

static_assert(memsched::memory_graph<mlir::Block>);
static_assert(std::same_as<memsched::op_t<mlir::Block>, mlir::Operation*>);
static_assert(std::same_as<memsched::tensor_t<mlir::Block>, mlir::Value>);

memsched::schedule_result<mlir::Operation*> order_of(const mlir::Block& b) { return memsched::schedule(b); }
