// MLIR: a block as a graph of operators and tensors, and its operations in an order with a small peak. Needs MLIR 22.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/RegionKindInterface.h>
#include <mlir/Transforms/RegionUtils.h>

#include <memsched/adapters/mlir/effects.hpp>
#include <memsched/adapters/mlir/options.hpp>
#include <memsched/passes/stay_close.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The operations of one MLIR block, but for its terminator, as operators; values as tensors. It refers to the block, which
/// must not change meanwhile. `examples/mlir` has the pass.
///
/// * A tensor has the bytes of its type; a memref those of its allocation; scalars and vectors none. A view names the
///   storage of its source: by ViewLikeOpInterface, or on tensors by bufferization's interface, where the operation does not
///   write the operand and the result is definitely an alias of it.
/// * A destination operand (bufferization: written, and definitely an alias of a result) may be overwritten in place, unless
///   it is a part of a larger storage: the result would keep the whole alive. `tensor.empty` takes nothing: who writes it
///   does.
/// * Constants and globals take nothing. Arguments of a function count as the options say; those of a loop's body count in
///   the body. Values of other blocks, and arguments that no operation uses, are not counted.
/// * What the terminator or another block uses lives to the end. An allocation that nobody frees in the block dies with its
///   last reader, unless an operation that is no view makes another memref of it; one on the stack lives to the end.
/// * An operation reads what its regions use from above. Its workspace is the largest peak of its blocks, in the order in
///   which they stand, less what the block yields (or what the loop's arguments hold): results are counted outside.
/// * Effects order operations as `detail::mlir_effect_order` says; what is not understood is a barrier.
class mlir_block_graph {
 public:
  /// The graph of a block, or an error where a size is unknown, with a remark at the place of that value.
  /// O(operations + uses), those in regions included, times the depth of regions.
  static result<mlir_block_graph> of(::mlir::Block& block, const mlir_options& o = {});

  std::span<::mlir::Operation* const> ops() const { return ops_; }
  std::span<const ::mlir::Value> inputs(::mlir::Operation* op) const { return inputs_[at(op)]; }
  ::mlir::ResultRange outputs(::mlir::Operation* op) const { return op->getResults(); }
  std::span<::mlir::Operation* const> after(::mlir::Operation* op) const { return after_[at(op)]; }
  bytes workspace(::mlir::Operation* op) const { return workspace_[at(op)]; }
  std::span<const overwrite_at> overwrites(::mlir::Operation* op) const { return overwrites_[at(op)]; }
  bytes size(::mlir::Value v) const { return facts(v).size; }
  bool live_out(::mlir::Value v) const { return facts(v).live_out; }
  ::mlir::Value alias_of(::mlir::Value v) const { return facts(v).alias_of; }  ///< null for no alias
  std::string operator_name(::mlir::Operation* op) const { return op->getName().getStringRef().str(); }

  /// Bytes of the storages that the terminator returns from the block, each once, as far as operators name them.
  bytes yielded() const;
  /// Bytes of the arguments of the block, likewise.
  bytes arguments() const;

 private:
  struct value_facts {
    bytes size = 0;
    bool live_out = false;
    bool named = false;  // by an operator; the peak knows no others
    ::mlir::Value alias_of{};
  };

  explicit mlir_block_graph(::mlir::Block& block) : block_(&block) {}

  std::size_t at(::mlir::Operation* op) const { return position_.at(op); }
  const value_facts& facts(::mlir::Value v) const { return facts_.find(v)->second; }
  ::mlir::Value storage(::mlir::Value v) const {
    while (const ::mlir::Value of = facts(v).alias_of) v = of;
    return v;
  }

  class builder;
  ::mlir::Block* block_;
  std::vector<::mlir::Operation*> ops_;
  llvm::DenseMap<::mlir::Operation*, std::size_t> position_;
  llvm::DenseMap<::mlir::Value, value_facts> facts_;
  list_of<::mlir::Value> inputs_;
  list_of<::mlir::Operation*> after_;
  list_of<overwrite_at> overwrites_;
  std::vector<bytes> workspace_;
};

namespace detail {

/// The terminator of a block, or what may be one; null where it has none.
inline ::mlir::Operation* terminator_of(::mlir::Block& block) {
  return block.mightHaveTerminator() ? &block.back() : nullptr;
}

/// Whether the operations of a block may be put into another order, as far as its region says.
inline bool has_order(::mlir::Block& block) {
  ::mlir::Operation* parent = block.getParentOp();
  return parent && parent->isRegistered() && ::mlir::mayHaveSSADominance(*block.getParent());
}

/// Whether a block makes tensors or buffers, in itself or in regions.
inline bool makes_memory(::mlir::Block& block) {
  const auto is_memory = [](::mlir::Value v) { return llvm::isa<::mlir::ShapedType>(v.getType()) &&
                                                      !llvm::isa<::mlir::VectorType>(v.getType()); };
  return llvm::any_of(block.getArguments(), is_memory) || llvm::any_of(block, [&](::mlir::Operation& op) {
    return llvm::any_of(op.getResults(), is_memory) || llvm::any_of(op.getRegions(), [](::mlir::Region& region) {
      return llvm::any_of(region, makes_memory);
    });
  });
}

}  // namespace detail

/// Builds one graph, in the order of the block.
class mlir_block_graph::builder {
 public:
  builder(::mlir::Block& block, const mlir_options& o)
      : g_(block), o_(o), size_(block.getParentOp(), o), order_(o), end_(detail::terminator_of(block)) {}

  result<mlir_block_graph> run() {
    for (::mlir::Operation& op : *g_.block_)
      if (&op != end_) g_.position_[&op] = g_.ops_.size(), g_.ops_.push_back(&op);
    if (o_.fold_constants)
      for (::mlir::Operation* op : g_.ops_) find_folded(op);
    for (const ::mlir::BlockArgument argument : g_.block_->getArguments()) add_argument(argument);
    for (::mlir::Operation* op : g_.ops_) {
      add_inputs(op);
      add_results(op);
      add_workspace(op);
      order_.place(op, [&](::mlir::Operation* before) { g_.after_.push(before); });
      g_.after_.close();
      if (!error_.message.empty()) return std::move(error_);
    }
    if (end_)
      for (const ::mlir::Value v : end_->getOperands()) g_.facts_.try_emplace(v);
    return std::move(g_);
  }

 private:
  using value_facts = mlir_block_graph::value_facts;

  void add_argument(::mlir::BlockArgument v) {
    value_facts f;
    ::mlir::Operation* parent = g_.block_->getParentOp();
    const bool entry = g_.block_->isEntryBlock();
    if (entry && llvm::isa<::mlir::FunctionOpInterface>(parent)) {
      if (o_.arguments != mlir_arguments::callers) f.size = size_of(v);
      f.live_out = o_.arguments == mlir_arguments::held || lives_on(v);
    } else if (!entry || (llvm::isa<::mlir::LoopLikeOpInterface>(parent) && !detail::is_memref(v))) {
      f.size = size_of(v);
      f.live_out = lives_on(v);
    }
    g_.facts_.try_emplace(v, f);
  }

  void add_inputs(::mlir::Operation* op) {
    const auto add = [&](::mlir::Value v) {
      g_.inputs_.push(v);
      g_.facts_[v].named = true;  // of another block: no bytes
    };
    for (const ::mlir::Value v : op->getOperands()) add(v);
    if (op->getNumRegions() > 0) {
      llvm::SetVector<::mlir::Value> captured;
      ::mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (const ::mlir::Value v : captured) add(v);
    }
    g_.inputs_.close();
  }

  void add_results(::mlir::Operation* op) {
    for (const ::mlir::OpResult r : op->getResults()) g_.facts_[r] = {.live_out = lives_on(r), .named = true};
    if (const bool nothing = is_constant(op) || is_folded(op); !nothing) {
      if (has_tensors(op)) find_tensor_aliases(op);
      for (const ::mlir::OpResult r : op->getResults()) add_result(op, r);
      if (op->getNumResults() > 0 && op->getNumOperands() > 0 && detail::lists(o_.overwrites, op))
        destinations_.push_back({0, 0});
      add_overwrites(op);
    }
    g_.overwrites_.close();
    destinations_.clear();
  }

  /// Aliases and destinations among the tensors of an operation, as bufferization's interface has them.
  void find_tensor_aliases(::mlir::Operation* op) {
    auto bufferizable = bufferization_.dynCastBufferizableOp(op);
    if (!bufferizable) return;
    const bool carries = llvm::isa<::mlir::LoopLikeOpInterface>(op);  // what a loop carries on has one storage at a time
    for (::mlir::OpOperand& operand : op->getOpOperands()) {
      if (!detail::is_tensor(operand.get())) continue;
      const bool written = bufferizable.bufferizesToMemoryWrite(operand, state_);
      for (const auto& alias : state_.getAliasingValues(operand)) {
        const auto result = llvm::dyn_cast<::mlir::OpResult>(alias.value);
        if (!result || result.getOwner() != op || !(alias.isDefinite || (written && carries))) continue;
        if (written) destinations_.push_back({static_cast<int>(result.getResultNumber()),
                                              static_cast<int>(operand.getOperandNumber())});
        else g_.facts_[result].alias_of = operand.get();
      }
    }
  }

  void add_result(::mlir::Operation* op, ::mlir::OpResult r) {
    value_facts& f = g_.facts_[r];
    if (const ::mlir::Value source = detail::view_source(r, o_)) f.alias_of = source;
    if (f.alias_of) return;
    if (detail::is_memref(r)) {
      const bool allocated = detail::is_allocated(r);
      const bool chooses = op->getNumRegions() == 0 && detail::is_effect_free(op, o_);
      if (!allocated && chooses) return;  // among storages of others
      if (allocated) f.live_out |= is_on_stack(r) || (!is_freed(r) && escapes(r));
    } else if (detail::is_tensor(r) && op->getNumRegions() == 0 && !has_tensor_operand(op) &&
               !state_.bufferizesToMemoryWrite(r)) {
      return;  // tensor.empty
    }
    f.size = size_of(r);
  }

  void add_overwrites(::mlir::Operation* op) {
    llvm::SmallVector<::mlir::Value, 4> taken;
    for (const overwrite_at o : destinations_) {
      const ::mlir::Value result = op->getResult(static_cast<unsigned>(o.output));
      const ::mlir::Value storage = g_.storage(op->getOperand(static_cast<unsigned>(o.input)));
      if (g_.facts(storage).size != g_.facts(result).size || llvm::is_contained(taken, storage) ||
          llvm::is_contained(taken, result) || g_.facts(result).alias_of)
        continue;
      taken.append({storage, result});
      g_.overwrites_.push(o);
    }
  }

  void add_workspace(::mlir::Operation* op) {
    bytes workspace = 0, results = 0;
    for (const ::mlir::Value r : op->getResults()) results += g_.facts(r).size;
    for (::mlir::Region& region : op->getRegions())
      for (::mlir::Block& block : region)
        if (detail::makes_memory(block)) workspace = std::max(workspace, inside(block, results));
    g_.workspace_.push_back(workspace);
  }
  /// What a block needs beside `results`, which are counted outside.
  bytes inside(::mlir::Block& block, bytes results) {
    const auto g = of(block, o_);
    if (!g) return error_ = g.error(), 0;
    const auto r = schedule(*g, as_given{});
    if (r.error) return error_ = *r.error, 0;
    return r.peak - std::min({r.peak, results, std::max(g->yielded(), g->arguments())});
  }

  bytes size_of(::mlir::Value v) {
    const auto size = size_(v);
    if (size) return *size;
    if (error_.message.empty()) {
      llvm::raw_string_ostream(error_.message) << "the size of a value of type " << v.getType() << " is unknown";
      error_.code = error_code::unknown_size;
      ::mlir::emitRemark(v.getLoc()) << error_.message;
    }
    return 0;
  }

  /// Whether the terminator or another block uses a value.
  bool lives_on(::mlir::Value v) const {
    return llvm::any_of(v.getUsers(), [&](::mlir::Operation* user) {
      ::mlir::Operation* here = ancestor(user);
      return !here || here == end_;
    });
  }
  ::mlir::Operation* ancestor(::mlir::Operation* op) const {
    return op->getBlock() == g_.block_ ? op : g_.block_->findAncestorOpInBlock(*op);
  }

  static bool is_on_stack(::mlir::OpResult r) {
    auto effects = llvm::dyn_cast<::mlir::MemoryEffectOpInterface>(r.getOwner());
    llvm::SmallVector<::mlir::MemoryEffects::EffectInstance> found;
    if (effects) effects.getEffectsOnValue(r, found);
    return llvm::any_of(found, [](const auto& e) {
      return e.getResource()->getName() == "AutomaticAllocationScope";
    });
  }
  static bool is_freed(::mlir::Value v) {
    return llvm::any_of(v.getUsers(), [&](::mlir::Operation* user) {
      return ::mlir::hasEffect<::mlir::MemoryEffects::Free>(user, v);
    });
  }
  /// Whether an operation that is no view makes another memref of a buffer or of a view of it.
  bool escapes(::mlir::Value v) const {
    return llvm::any_of(v.getUsers(), [&](::mlir::Operation* user) {
      ::mlir::Operation* here = ancestor(user);
      return here && here != end_ && llvm::any_of(here->getResults(), [&](::mlir::OpResult r) {
        return detail::is_memref(r) && (detail::view_source(r, o_) ? escapes(r) : !detail::is_allocated(r));
      });
    });
  }

  static bool has_tensor_operand(::mlir::Operation* op) { return llvm::any_of(op->getOperands(), detail::is_tensor); }
  static bool has_tensors(::mlir::Operation* op) {
    return llvm::any_of(op->getResults(), detail::is_tensor) && has_tensor_operand(op);
  }

  /// A constant: by its trait, of memref, or an operation without operands that holds the result's elements.
  static bool is_constant(::mlir::Operation* op) {
    if (op->hasTrait<::mlir::OpTrait::ConstantLike>() || op->getName().getStringRef() == "memref.get_global") return true;
    return op->getNumOperands() == 0 && op->getNumResults() == 1 && llvm::any_of(op->getAttrs(), [&](const auto& named) {
      const auto elements = llvm::dyn_cast<::mlir::ElementsAttr>(named.getValue());
      return elements && elements.getShapedType() == op->getResult(0).getType();
    });
  }

  /// Finds what is computed from constants alone. `tensor.empty` is neither here nor there.
  void find_folded(::mlir::Operation* op) {
    if (op->getNumOperands() == 0 || op->getNumResults() == 0 || !detail::is_effect_free(op, o_)) return;
    const auto known = [&](::mlir::Value v) {
      ::mlir::Operation* from = v.getDefiningOp();
      return from && (is_constant(from) || folded_.contains(from) || is_empty(from));
    };
    if (!llvm::all_of(op->getOperands(), known)) return;
    if (op->getNumRegions() > 0) {
      llvm::SetVector<::mlir::Value> captured;
      ::mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
      if (!llvm::all_of(captured, known)) return;
    }
    folded_.insert(op);
  }
  bool is_empty(::mlir::Operation* op) {
    return op->getNumResults() == 1 && op->getNumRegions() == 0 && detail::is_tensor(op->getResult(0)) &&
           !has_tensor_operand(op) && !state_.bufferizesToMemoryWrite(op->getResult(0));
  }
  /// Whether nobody but others of these writes over the results of one.
  bool is_folded(::mlir::Operation* op) {
    return folded_.contains(op) && llvm::none_of(op->getUses(), [&](::mlir::OpOperand& use) {
      return detail::is_tensor(use.get()) && !folded_.contains(use.getOwner()) &&
             bufferization_.dynCastBufferizableOp(use.getOwner()) && state_.bufferizesToMemoryWrite(use);
    });
  }

  mlir_block_graph g_;
  const mlir_options& o_;
  detail::mlir_sizes size_;
  detail::mlir_effect_order order_;
  ::mlir::Operation* end_;
  ::mlir::bufferization::BufferizationOptions bufferization_;
  ::mlir::bufferization::AnalysisState state_{bufferization_};
  llvm::DenseSet<::mlir::Operation*> folded_;
  llvm::SmallVector<overwrite_at, 4> destinations_;  // of the operation at hand
  graph_error error_;
};

inline result<mlir_block_graph> mlir_block_graph::of(::mlir::Block& block, const mlir_options& o) {
  return builder(block, o).run();
}

inline bytes mlir_block_graph::yielded() const {
  ::mlir::Operation* end = detail::terminator_of(*block_);
  if (!end || end->getNumSuccessors() > 0) return 0;
  llvm::SetVector<::mlir::Value> storages;
  for (const ::mlir::Value v : end->getOperands()) storages.insert(storage(v));
  bytes sum = 0;
  for (const ::mlir::Value v : storages)
    if (facts(v).named) sum += facts(v).size;
  return sum;
}

inline bytes mlir_block_graph::arguments() const {
  bytes sum = 0;
  for (const ::mlir::Value v : block_->getArguments())
    if (facts(v).named) sum += facts(v).size;
  return sum;
}

/// Moves the operations of a block into an order with a smaller peak, where the policy finds one; else nothing moves.
/// The default stays as close to the given order as that peak allows. The result is that of `schedule`: peaks before
/// (`given_peak`) and after, bound, order; its error, where the graph has a fault or a size is unknown, leaves the block as
/// it is. Limit it by `state_limit`: a time limit is not reproducible.
template <class S>
schedule_result<::mlir::Operation*> reorder(::mlir::Block& block, const mlir_options& m, const S& policy,
                                            const options& o = {}) {
  const auto g = mlir_block_graph::of(block, m);
  schedule_result<::mlir::Operation*> r;
  if (!g) return r.error = g.error(), r;
  r = schedule(*g, policy, o);
  if (r.error || r.peak >= r.given_peak) return r;
  ::mlir::Operation* end = detail::terminator_of(block);
  for (::mlir::Operation* op : r.order) op->moveBefore(&block, end ? end->getIterator() : block.end());
  return r;
}

inline schedule_result<::mlir::Operation*> reorder(::mlir::Block& block, const mlir_options& m = {}) {
  return reorder(block, m, stay_close{} | automatic);
}

}  // namespace memsched
