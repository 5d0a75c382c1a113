// Buffers of an MLIR block that no operation reaches but through the values of its function. Needs MLIR.
#pragma once

#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <mlir/IR/SymbolTable.h>
#include <mlir/Interfaces/ControlFlowInterfaces.h>
#include <mlir/Interfaces/FunctionInterfaces.h>
#include <mlir/Interfaces/ShapedOpInterfaces.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

#include <memsched/adapters/mlir/known_effects.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Use of a buffer by an operation of a block, in itself or in its regions.
struct mlir_local_access {
  ::mlir::Operation* op;
  bool writes;  ///< or frees
};

/// A buffer whose pointer stays among the values of its function.
struct mlir_local_buffer {
  llvm::SmallVector<mlir_local_access, 8> accesses;  ///< in no particular order; one operation may be there several times
  ::mlir::Operation* freed_by = nullptr;  ///< the only operation that frees it, if it is in the block of the allocation and
                                          ///< does nothing else; null otherwise
};

/// Finds allocations whose pointers stay among the values of their function: calls and operations with unknown effects
/// cannot reach them, and need not keep their place among their accesses.
///
/// Lemma. Let A be allocated on the heap by an operation of block B, in the default memory space or in one whose allocations
/// one thread has alone (`private_spaces`). Call A, and each value that (1) or (2) makes, a name. Let each use of a name be
/// one of these:
///   (1) a view by interface;
///   (2) an operand that a loop, branch or selection passes on: all memrefs among its results, the arguments of its blocks and
///       those of its successors are names;
///   (3) an operand of an operation whose effects are all known by value, one of them on each such operand, and whose results
///       are numbers or vectors;
///   (4) an operand of a call of a function with a body, if the argument and what (1) or (2) makes of it have no other uses
///       than these, but for (5); or of an operation that the options list (`borrows`), whose results are numbers or vectors;
///   (5) an operand of the function's return, or of an operation that asks for a dimension.
/// Let the operations that hold a use of (3) or (4) in their regions have ended when the next one runs (`ends_in_turn`).
/// Then an operation X of B that holds no use of (3) or (4) neither reads, writes nor frees A, nor waits for code that does.
/// Proof: code that accesses A has a pointer to it, from a name, from memory, or from a number. No use writes a pointer
/// to memory or makes a number of it: (3) has an effect on what the operand points to, and its results hold no pointer; the
/// callee of (4) does neither, by induction over the calls that a run makes, and does not return it; (5) ends the activation.
/// So neither X, nor its callee, nor another thread has a pointer to A. If B runs again, its next allocation is another
/// buffer: a name that may hold both counts as a use of A.
/// Conclusion: to swap X with a neighbour that has no other effect than on A changes nothing that the program shows, unless
/// the neighbour goes before X and is undefined if X does not return. An access therefore stays after what may stop. A
/// deallocation may go before it if it is the only one, names A for certain and is in B: it is defined wherever A is there.
class mlir_local_buffers {
 public:
  explicit mlir_local_buffers(const mlir_options& o) : o_(o) {}

  /// Nothing if the result is no such allocation. O(uses of its names * depth of regions), and O(uses of its names) for each
  /// argument of a called function, again for those that rested on one that is not borrowed.
  std::optional<mlir_local_buffer> find(::mlir::OpResult allocated) {
    const auto type = llvm::dyn_cast<::mlir::MemRefType>(allocated.getType());
    if (!type || !is_private(type, allocated) || !is_allocated(allocated) || is_on_stack(allocated)) return std::nullopt;
    walk w(allocated, allocated.getOwner()->getBlock(), true);
    if (!stays(w)) return std::nullopt;
    if (w.frees != 1) w.found.freed_by = nullptr;
    return std::move(w.found);
  }

 private:
  /// From name to name.
  struct walk {
    walk(::mlir::Value root, ::mlir::Block* within, bool may_return) : block(within), returns(may_return) {
      add(root), certain.insert(root);
    }
    void add(::mlir::Value v) {
      if (is_memref(v) && names.insert(v).second) pending.push_back(v);
    }

    ::mlir::Block* block;                          // accesses to be found, or null
    bool returns;                                  // the function may return it
    llvm::DenseSet<::mlir::Value> names, certain;  // `certain` name the buffer alone: the root and its views
    llvm::SmallVector<::mlir::Value, 8> pending;
    mlir_local_buffer found{};
    int frees = 0;
  };

  bool stays(walk& w) {
    while (!w.pending.empty()) {
      const ::mlir::Value v = w.pending.pop_back_val();
      for (::mlir::Operation* user : v.getUsers())
        if (!stays(w, v, user)) return false;
    }
    return true;
  }
  bool stays(walk& w, ::mlir::Value v, ::mlir::Operation* user) {
    if (llvm::isa<::mlir::ShapedDimOpInterface>(user) || (w.returns && returns_from_function(user))) return true;
    if (const auto view = view_of(v, user)) {
      if (w.certain.contains(v)) w.certain.insert(view);
      return w.add(view), true;
    }
    if (hands_on(w, user)) return true;
    return is_borrowed(v, user) ? add_access(w, user, true) : accesses_by_value(w, v, user);
  }

  bool accesses_by_value(walk& w, ::mlir::Value v, ::mlir::Operation* user) const {
    bool by_value = true, writes = false, frees = false;
    auto untold = llvm::count(user->getOperands(), v);
    const bool known = for_each_effect(user, o_, [&](const auto& effect) {
      by_value &= effect.getValue() != nullptr;
      if (effect.getValue() != v) return;
      --untold;
      writes |= !llvm::isa<::mlir::MemoryEffects::Read>(effect.getEffect());
      frees |= llvm::isa<::mlir::MemoryEffects::Free>(effect.getEffect());
    });
    if (!known || !by_value || untold > 0 || !llvm::all_of(user->getResultTypes(), is_number)) return false;
    if (frees) {
      const bool alone = user->getBlock() == w.block && w.certain.contains(v) && user->getNumOperands() == 1 &&
                         user->getNumResults() == 0 && user->getNumRegions() == 0;
      ++w.frees, w.found.freed_by = alone ? user : nullptr;
    }
    return add_access(w, user, writes);
  }
  /// Returns false if an operation around the user may still run when the next one does.
  static bool add_access(walk& w, ::mlir::Operation* user, bool writes) {
    ::mlir::Operation* here = user;
    while (here->getBlock() != w.block) {
      here = here->getParentOp();
      if (!here || llvm::isa<::mlir::FunctionOpInterface>(here)) return true;  // of another block
      if (!ends_in_turn(here)) return false;
    }
    w.found.accesses.push_back({here, writes});
    return true;
  }

  /// The view that an operation makes of a value, which it uses once and for nothing else; null otherwise.
  ::mlir::Value view_of(::mlir::Value v, ::mlir::Operation* user) const {
    if (llvm::count(user->getOperands(), v) != 1 || !is_effect_free(user, o_)) return {};
    ::mlir::Value view;
    for (const ::mlir::OpResult r : user->getResults()) {
      if (is_memref(r) && !view && view_source(r, o_) == v) view = r;
      else if (!is_number(r.getType())) return {};
    }
    return view;
  }

  /// Whether a loop, a branch, what ends one of their blocks, or a selection hands its operands on; then adds their receivers.
  bool hands_on(walk& w, ::mlir::Operation* user) const {
    const auto add_arguments = [&](::mlir::Block* block) {
      for (const ::mlir::Value v : block->getArguments()) w.add(v);
    };
    if (user->getNumSuccessors() > 0) {
      if (!llvm::isa<::mlir::BranchOpInterface>(user) || !is_effect_free(user, o_)) return false;
      llvm::for_each(user->getSuccessors(), add_arguments);
      return true;
    }
    ::mlir::Operation* on = user->hasTrait<::mlir::OpTrait::IsTerminator>() ? user->getParentOp() : user;
    const bool is_selection = on->getName().getStringRef() == "arith.select";
    if (!is_selection && !(llvm::isa<::mlir::RegionBranchOpInterface>(on) && ends_in_turn(on))) return false;
    for (const ::mlir::Value v : on->getResults()) w.add(v);
    for (::mlir::Region& region : on->getRegions())
      for (::mlir::Block& block : region) add_arguments(&block);
    return true;
  }

  /// Whether an operation keeps no pointer to this operand: by its body if it calls a function that has one, else by the
  /// options.
  bool is_borrowed(::mlir::Value v, ::mlir::Operation* user) {
    const bool is_call = user->getName().getStringRef() == "func.call";
    const auto name = is_call ? user->getAttrOfType<::mlir::SymbolRefAttr>("callee") : ::mlir::SymbolRefAttr{};
    auto callee =
        llvm::dyn_cast_or_null<::mlir::FunctionOpInterface>(name ? symbols_.lookupNearestSymbolFrom(user, name) : nullptr);
    if (!callee || callee.isExternal())
      return lists(o_.borrows, user) && user->getNumRegions() == 0 && llvm::all_of(user->getResultTypes(), is_number);
    if (callee.getNumArguments() != user->getNumOperands()) return false;
    for (::mlir::OpOperand& operand : user->getOpOperands())
      if (operand.get() == v && !is_borrowed(callee.getArgument(operand.getOperandNumber()))) return false;
    return true;
  }
  /// While its uses are asked about, an argument counts as borrowed. If it is not, all answers that rested on it are
  /// asked for again.
  bool is_borrowed(::mlir::BlockArgument argument) {
    const auto [known, is_new] = borrowed_.try_emplace(argument, true);
    if (!is_new) return known->second;
    const std::size_t first = assumed_.size();
    assumed_.push_back(argument);
    walk w(argument, nullptr, false);
    const bool stays_there = assumed_.size() <= most_calls && stays(w);
    if (!stays_there) {
      for (std::size_t i = first + 1; i < assumed_.size(); ++i) borrowed_.erase(assumed_[i]);
      borrowed_[argument] = false;
    }
    if (!stays_there || first == 0) assumed_.resize(first);
    return stays_there;
  }

  /// Whether one thread alone has what it allocates.
  bool is_private(::mlir::MemRefType type, ::mlir::Value allocated) const {
    return !type.getMemorySpace() || llvm::is_contained(o_.private_spaces, memory_space(allocated));
  }
  static bool returns_from_function(::mlir::Operation* op) {
    return op->hasTrait<::mlir::OpTrait::ReturnLike>() && llvm::isa<::mlir::FunctionOpInterface>(op->getParentOp());
  }
  static bool is_number(::mlir::Type type) {
    return type.isIntOrIndexOrFloat() || llvm::isa<::mlir::VectorType, ::mlir::ComplexType>(type);
  }
  /// Whether an operation with regions is done with all of them before the next one runs: those that run tasks are not.
  static bool ends_in_turn(::mlir::Operation* op) {
    const llvm::StringRef dialect = op->getName().getDialectNamespace();
    return dialect == "scf" || dialect == "affine" || dialect == "linalg" || dialect == "memref";
  }

  static constexpr std::size_t most_calls = 256;  // asked about at once
  const mlir_options& o_;
  ::mlir::SymbolTableCollection symbols_;
  llvm::DenseMap<::mlir::Value, bool> borrowed_;
  llvm::SmallVector<::mlir::Value> assumed_;  // borrowed, unless one of those being asked about is not
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
