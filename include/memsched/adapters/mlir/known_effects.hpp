// Views, allocations and effects of operations, as MLIR's interfaces tell them. Needs MLIR.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>
#include <mlir/Interfaces/ViewLikeInterface.h>

#include <memsched/adapters/mlir/sizes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The result of a view; its first one in MLIR 19, which does not name it.
template <class View>
::mlir::Value view_dest(View view) {
  if constexpr (requires { view.getViewDest(); }) return view.getViewDest();
  else return view->getResult(0);
}

/// The value that owns the storage of a result, if the operation is a view by interface or by the options; null otherwise.
/// Views of tensors are known by other means (`mlir_block_graph`).
inline ::mlir::Value view_source(::mlir::OpResult result, const mlir_options& o) {
  ::mlir::Operation* op = result.getOwner();
  if (result.getResultNumber() == 0 && op->getNumOperands() > 0) {
    const llvm::StringRef name = op->getName().getStringRef();
    const bool changes_level = name == "bufferization.to_tensor" || name == "bufferization.to_buffer" ||
                               name == "bufferization.to_memref";  // as MLIR 19 names it
    if (changes_level || lists(o.views, op)) return op->getOperand(0);
  }
  if (!is_memref(result)) return {};
  auto view = llvm::dyn_cast<::mlir::ViewLikeOpInterface>(op);
  return view && view_dest(view) == result ? view.getViewSource() : ::mlir::Value{};
}

inline bool is_allocated(::mlir::Value v) {
  ::mlir::Operation* op = v.getDefiningOp();
  return op && ::mlir::hasEffect<::mlir::MemoryEffects::Allocate>(op, v);
}

/// Whether an effect is that of an allocation on the stack.
inline bool is_on_stack(const ::mlir::MemoryEffects::EffectInstance& effect) {
  return llvm::isa<::mlir::MemoryEffects::Allocate>(effect.getEffect()) &&
         effect.getResource()->getName() == "AutomaticAllocationScope";
}

inline bool is_on_stack(::mlir::OpResult r) {
  auto effects = llvm::dyn_cast<::mlir::MemoryEffectOpInterface>(r.getOwner());
  llvm::SmallVector<::mlir::MemoryEffects::EffectInstance> found;
  if (effects) effects.getEffectsOnValue(r, found);
  return llvm::any_of(found, [](const auto& e) { return is_on_stack(e); });
}

/// Calls visit for each effect of an operation, those of its regions included; false if they are not known.
inline bool for_each_effect(::mlir::Operation* op, const mlir_options& o,
                            llvm::function_ref<void(const ::mlir::MemoryEffects::EffectInstance&)> visit) {
  if (lists(o.pure, op)) return true;
  const bool recursive = op->hasTrait<::mlir::OpTrait::HasRecursiveMemoryEffects>();
  auto told = llvm::dyn_cast<::mlir::MemoryEffectOpInterface>(op);
  if (!told && !recursive) return false;
  if (told) {
    llvm::SmallVector<::mlir::MemoryEffects::EffectInstance> effects;
    told.getEffects(effects);
    for (const auto& effect : effects) visit(effect);
  }
  if (recursive)
    for (::mlir::Region& region : op->getRegions())
      for (::mlir::Block& block : region)
        for (::mlir::Operation& inner : block)
          if (!for_each_effect(&inner, o, visit)) return false;
  return true;
}

/// Whether an operation is known to have no effects.
inline bool is_effect_free(::mlir::Operation* op, const mlir_options& o) {
  bool none_seen = true;
  const bool known = for_each_effect(op, o, [&](const auto&) { none_seen = false; });
  return known && none_seen;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
