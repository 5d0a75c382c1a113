// The order in which operations of an MLIR block must stay for their effects. Needs MLIR.
#pragma once

#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <mlir/IR/SymbolTable.h>
#include <mlir/IR/Visitors.h>
#include <mlir/Interfaces/FunctionInterfaces.h>
#include <mlir/Interfaces/LoopLikeInterface.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

#include <memsched/adapters/mlir/known_effects.hpp>
#include <memsched/adapters/mlir/local_buffers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether a predicate holds for an operation or one inside of it.
inline bool holds_within(::mlir::Operation* op, llvm::function_ref<bool(::mlir::Operation*)> predicate) {
  const auto visit = [&](::mlir::Operation* inner) {
    return predicate(inner) ? ::mlir::WalkResult::interrupt() : ::mlir::WalkResult::advance();
  };
  return op->walk<::mlir::WalkOrder::PreOrder>(visit).wasInterrupted();
}

/// Whether an operation uses tensors: as operands, captured, or inside of it.
inline bool uses_tensors(::mlir::Operation* op) {
  return holds_within(op, [](::mlir::Operation* inner) { return llvm::any_of(inner->getOperands(), is_tensor); });
}
inline bool makes_tensors(::mlir::Operation* op) {
  return holds_within(op, [](::mlir::Operation* inner) { return llvm::any_of(inner->getResults(), is_tensor); });
}

inline bool is_global(::mlir::Operation* op) { return op && op->getName().getStringRef() == "memref.get_global"; }

/// Tensors of a function that may name memory which its memrefs reach as well. In a function without memrefs there are none:
/// a tensor that goes into or comes out of a call is a value there, and nothing else changes it.
struct mlir_shared_tensors {
  bool made = false;       ///< an operation makes one: it takes a memref and gives a tensor (`bufferization.to_tensor`, a
                           ///< call), or it gives a tensor and its effects are not known
  bool handed_in = false;  ///< an argument may be one: the function takes tensors, and reaches other memory of its caller
  ::mlir::Operation* first = nullptr;  ///< the first operation of the entry block that makes one, in itself or in regions

  /// O(operations of the function)
  static mlir_shared_tensors of(::mlir::Operation* function, const mlir_options& o) {
    auto signature = llvm::dyn_cast<::mlir::FunctionOpInterface>(function);
    const auto takes = [&](auto&& is) { return signature && llvm::any_of(signature.getArguments(), is); };
    bool has_memrefs = takes(is_memref), reaches_caller = has_memrefs;
    llvm::SmallVector<::mlir::Operation*> makers;
    function->walk<::mlir::WalkOrder::PreOrder>([&](::mlir::Operation* op) {
      has_memrefs |= llvm::any_of(op->getResults(), is_memref);
      reaches_caller |= is_global(op);
      if (!llvm::any_of(op->getResults(), is_tensor)) return;
      const bool unknown = op->getNumRegions() == 0 && !for_each_effect(op, o, [](const auto&) {});
      if (unknown || llvm::any_of(op->getOperands(), is_memref)) makers.push_back(op);
    });
    mlir_shared_tensors r;
    if (!has_memrefs) return r;
    r.made = !makers.empty();
    r.handed_in = reaches_caller && takes(is_tensor);
    for (::mlir::Operation* op : makers)
      if (!r.first) r.first = function->getRegion(0).front().findAncestorOpInBlock(*op);
    return r;
  }
};

/// Control edges of a block, no more than one for each access, one for each operation that has to wait for one that may
/// stop, and one from each operation with effects to the next barrier.
///
/// Memory is told apart by object: each allocation; memory that the caller may hold (the arguments of the function, and
/// globals that may change); constant globals, which are not ordered. A write of an object runs after the last write and the
/// reads since; a read after the last write. An access to anything else, or an operation with unknown effects, is a barrier
/// for all operations with effects, but for accesses to allocations of this block that it cannot reach
/// (`mlir_local_buffers`): these have their own turns and no others. Allocations on the heap are not ordered; those on the
/// stack stay between two barriers, since one may save or restore the stack.
///
/// Tensors are values, unless they may name a buffer (`mlir_shared_tensors`). After an operation of the entry block
/// that makes such a tensor, and in all other blocks of its function, each operation that uses tensors is a barrier; if
/// only arguments may be such, it reads the caller's memory.
///
/// An operation without effects that may be undefined for some operands (a division) runs after the last one that may stop
/// before it: a barrier, or a loop that may not end.
class mlir_effect_order {
 public:
  mlir_effect_order(::mlir::Block& block, const mlir_options& o) : block_(block), o_(o), locals_(o) {}

  /// Calls before(other) for operations of the block that must run before op. To be called in the order of the block.
  void place(::mlir::Operation* op, llvm::function_ref<void(::mlir::Operation*)> before) {
    accesses_.clear();
    const bool known = for_each_effect(op, o_, [&](const auto& effect) { add(op, effect); });
    add_tensors(op);
    const bool anything = llvm::any_of(accesses_, [](const access& a) { return a.object == nullptr; });
    const bool everything = !known || anything;
    const bool anywhere = lists(o_.pure, op) || frees_.contains(op) || ::mlir::isSpeculatable(op);
    find_locals(op);
    if (const auto found = local_accesses_.find(op); found != local_accesses_.end())
      for (const access& a : found->second) take_turn(op, a, local_turns_[a.object], nullptr, before);
    if (everything) {
      if (since_.empty() && barrier_) before(barrier_);
      for (::mlir::Operation* earlier : since_) before(earlier);
      since_.clear();
      turns_.clear();
      barrier_ = op;
    } else {
      for (const access& a : accesses_) take_turn(op, a, turns_[a.object], barrier_, before);
      if (!accesses_.empty()) since_.push_back(op);
    }
    if (!anywhere && may_stop_ && may_stop_ != barrier_) before(may_stop_);
    if (!anywhere && !everything && barrier_) before(barrier_);
    if (everything || (!anywhere && llvm::isa<::mlir::LoopLikeOpInterface>(op))) may_stop_ = op;
  }

 private:
  struct access {
    const void* object;  ///< null for any
    bool writes;
  };
  struct turn {
    ::mlir::Operation* writer = nullptr;
    llvm::SmallVector<::mlir::Operation*, 4> readers{};  // since
  };

  void add(::mlir::Operation* op, const ::mlir::MemoryEffects::EffectInstance& effect) {
    const bool allocates = llvm::isa<::mlir::MemoryEffects::Allocate>(effect.getEffect());
    const ::mlir::Value value = effect.getValue();
    if (!value) return add(nullptr, true);
    if (allocates) {
      if (is_on_stack(effect) && !ends_within(op, value)) add(value.getAsOpaquePointer(), true);
      return;
    }
    const ::mlir::Value root = root_of(value);
    if (local_turns_.contains(root.getAsOpaquePointer())) return;
    if (is_allocated(root)) {
      if (op->isProperAncestor(root.getDefiningOp())) return;  // its own, inside
      return add(root.getAsOpaquePointer(), !llvm::isa<::mlir::MemoryEffects::Read>(effect.getEffect()));
    }
    if (is_constant_global(root)) {
      if (!llvm::isa<::mlir::MemoryEffects::Read>(effect.getEffect())) add(nullptr, true);
      return;
    }
    add(is_callers(root) ? &callers_ : nullptr, !llvm::isa<::mlir::MemoryEffects::Read>(effect.getEffect()));
  }
  void add(const void* object, bool writes) { add(accesses_, object, writes); }
  static void add(llvm::SmallVectorImpl<access>& accesses, const void* object, bool writes) {
    for (access& a : accesses)
      if (a.object == object) return void(a.writes |= writes);
    accesses.push_back({object, writes});
  }

  /// Finds the local buffers that an operation allocates, and who uses them later in the block.
  void find_locals(::mlir::Operation* op) {
    for (const ::mlir::OpResult r : op->getResults()) {
      const auto local = locals_.find(r);
      if (!local) continue;
      const void* object = r.getAsOpaquePointer();
      local_turns_[object] = {};
      for (const auto& [user, writes] : local->accesses) add(local_accesses_[user], object, writes);
      if (local->freed_by) frees_.insert(local->freed_by);
    }
  }

  void add_tensors(::mlir::Operation* op) {
    if (!shared_) {
      if (!uses_tensors(op) && !makes_tensors(op)) return;
      shared_ = mlir_shared_tensors::of(function(), o_);
      made_before_ = !(block_.isEntryBlock() && block_.getParentOp() == function());
    }
    made_before_ |= op == shared_->first;
    const bool anything = shared_->made && made_before_;
    if ((anything || shared_->handed_in) && uses_tensors(op)) add(anything ? nullptr : &callers_, anything);
  }
  /// The function of the block, or else its outermost operation.
  ::mlir::Operation* function() const {
    ::mlir::Operation* op = block_.getParentOp();
    while (!llvm::isa<::mlir::FunctionOpInterface>(op) && op->getParentOp()) op = op->getParentOp();
    return op;
  }
  /// Whether memory that an operation allocates on the stack ends with the operation itself.
  static bool ends_within(::mlir::Operation* op, ::mlir::Value allocated) {
    ::mlir::Operation* by = allocated.getDefiningOp();
    ::mlir::Operation* scope = by ? by->getParentWithTrait<::mlir::OpTrait::AutomaticAllocationScope>() : nullptr;
    return scope && op->isAncestor(scope);
  }

  /// The first access runs after `start`, if that is not null.
  static void take_turn(::mlir::Operation* op, const access& a, turn& t, ::mlir::Operation* start,
                        llvm::function_ref<void(::mlir::Operation*)> before) {
    if (!a.writes || t.readers.empty()) {
      if (::mlir::Operation* last = t.writer ? t.writer : start) before(last);
    } else {
      for (::mlir::Operation* reader : t.readers) before(reader);
    }
    if (a.writes) t = {op, {}};
    else t.readers.push_back(op);
  }

  ::mlir::Value root_of(::mlir::Value v) const {
    for (;;) {
      const auto result = llvm::dyn_cast<::mlir::OpResult>(v);
      const ::mlir::Value source = result ? view_source(result, o_) : ::mlir::Value{};
      if (!source) return v;
      v = source;
    }
  }
  static bool is_callers(::mlir::Value root) {
    if (const auto argument = llvm::dyn_cast<::mlir::BlockArgument>(root))
      return argument.getOwner()->isEntryBlock() &&
             llvm::isa_and_nonnull<::mlir::FunctionOpInterface>(argument.getOwner()->getParentOp());
    return is_global(root.getDefiningOp());
  }
  bool is_constant_global(::mlir::Value root) {
    ::mlir::Operation* op = root.getDefiningOp();
    if (!is_global(op)) return false;
    const auto name = op->getAttrOfType<::mlir::SymbolRefAttr>("name");
    ::mlir::Operation* global = name ? symbols_.lookupNearestSymbolFrom(op, name) : nullptr;
    return global && global->getInherentAttr("constant").value_or(::mlir::Attribute{});
  }

  ::mlir::Block& block_;
  const mlir_options& o_;
  mlir_local_buffers locals_;
  ::mlir::SymbolTableCollection symbols_;
  std::optional<mlir_shared_tensors> shared_;  // once the block has tensors
  llvm::DenseMap<const void*, turn> turns_, local_turns_;
  llvm::DenseMap<::mlir::Operation*, llvm::SmallVector<access, 2>> local_accesses_;
  llvm::DenseSet<::mlir::Operation*> frees_;  // a local buffer, each the only one
  llvm::SmallVector<access, 4> accesses_;
  llvm::SmallVector<::mlir::Operation*> since_;  // with effects, after the barrier
  ::mlir::Operation* barrier_ = nullptr;
  ::mlir::Operation* may_stop_ = nullptr;
  bool made_before_ = false;  // tensors that an operation made of buffers may be at hand
  char callers_ = 0;          // its address stands for all memory that the caller may hold
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
