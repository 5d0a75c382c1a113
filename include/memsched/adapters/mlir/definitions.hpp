// The functions of adapters/mlir.hpp. A program that defines MEMSCHED_SEPARATE_COMPILATION includes this in one unit, which
// is then the only one that compiles them; in others mlir.hpp does by itself. Needs MLIR 19 to 22.
#pragma once

#include <algorithm>
#include <utility>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/RegionKindInterface.h>
#include <mlir/Transforms/RegionUtils.h>

#include <memsched/adapters/mlir.hpp>
#include <memsched/adapters/mlir/effects.hpp>
#include <memsched/adapters/mlir/sizes.hpp>
#include <memsched/schedulers/as_given.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The last operation of a block if it is, or may be, a terminator; null otherwise.
inline ::mlir::Operation* terminator_of(::mlir::Block& block) {
  return block.mightHaveTerminator() ? &block.back() : nullptr;
}

/// Whether a block makes tensors or buffers, in itself or in regions.
inline bool makes_memory(::mlir::Block& block) {
  const auto is_memory = [](::mlir::Value v) {
    return llvm::isa<::mlir::ShapedType>(v.getType()) && !llvm::isa<::mlir::VectorType>(v.getType());
  };
  return llvm::any_of(block.getArguments(), is_memory) || llvm::any_of(block, [&](::mlir::Operation& op) {
           return llvm::any_of(op.getResults(), is_memory) ||
                  llvm::any_of(op.getRegions(), [](::mlir::Region& region) { return llvm::any_of(region, makes_memory); });
         });
}

}  // namespace detail

/// Builds one graph, in the order of the block.
class mlir_block_graph::builder {
 public:
  builder(::mlir::Block& block, const mlir_options& o)
      : g_(block), o_(o), size_(block.getParentOp(), o), order_(block, o), end_(detail::terminator_of(block)) {}

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
    keep_issued();
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
    llvm::SmallVector<::mlir::Value> inputs(op->getOperands());
    if (op->getNumRegions() > 0) {
      llvm::SetVector<::mlir::Value> captured;
      ::mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
      inputs.append(captured.begin(), captured.end());
    }
    if (has_handles(op, inputs)) add_handles(op, inputs);
    for (const ::mlir::Value v : inputs) {
      g_.inputs_.push(v);
      g_.facts_[v].named = true;  // of another block: no bytes
    }
    g_.inputs_.close();
  }

  static bool has_handles(::mlir::Operation* op, llvm::ArrayRef<::mlir::Value> inputs) {
    return llvm::any_of(inputs, detail::is_handle) || llvm::any_of(op->getResults(), detail::is_handle);
  }
  /// An operation that gives a handle, or puts memory behind one, may run on after it: `issued_`. Another that takes a handle
  /// reads the memory of those behind it; if it has effects, it waits for them.
  void add_handles(::mlir::Operation* op, llvm::SmallVectorImpl<::mlir::Value>& inputs) {
    const bool has_effects = op->getNumRegions() > 0 || !detail::is_effect_free(op, o_);
    const bool gives = llvm::any_of(op->getResults(), detail::is_handle);
    const bool waits_for_some = op->hasAttr("numGroups");  // nvgpu.device_async_wait: the newest go on
    const bool feeds = has_effects && (op->getNumRegions() > 0 || llvm::any_of(inputs, is_memory) || waits_for_some ||
                                       op->getName().getStringRef() == "async.add_to_group");
    if (feeds && (!gives || op->getNumRegions() > 0))
      for (const ::mlir::Value v : inputs)
        if (detail::is_handle(v)) feeders_[v].push_back(op);
    if (has_effects && (gives || feeds)) issued_.push_back(op);
    if (!gives && !feeds) add_awaited(inputs, has_effects);
  }
  /// Adds the memory of all operations behind the handles among the inputs, but for those that an earlier wait has awaited.
  void add_awaited(llvm::SmallVectorImpl<::mlir::Value>& inputs, bool waits) {
    llvm::SetVector<::mlir::Value> found(inputs.begin(), inputs.end());
    llvm::SmallPtrSet<::mlir::Operation*, 8> seen;
    const auto add_memory_of = [&](::mlir::Operation* from) {
      if (!g_.position_.contains(from) || awaited_.contains(from) || !seen.insert(from).second) return;
      for (const ::mlir::Value v : g_.inputs(from))
        if (is_memory(v) || detail::is_handle(v)) found.insert(v);
      for (const ::mlir::Value v : from->getResults())
        if (is_memory(v) || detail::is_handle(v)) found.insert(v);
    };
    for (std::size_t i = 0; i < found.size(); ++i) {
      const ::mlir::Value handle = found[i];
      if (!detail::is_handle(handle)) continue;
      if (::mlir::Operation* from = handle.getDefiningOp()) add_memory_of(from);
      if (const auto fed = feeders_.find(handle); fed != feeders_.end())
        for (::mlir::Operation* from : fed->second) add_memory_of(from);
    }
    if (waits)
      for (::mlir::Operation* from : issued_)
        if (seen.contains(from)) awaited_.insert(from);
    inputs.assign(found.begin(), found.end());
  }
  /// Keeps the memory of operations that nothing in the block awaits to its end.
  void keep_issued() {
    for (::mlir::Operation* op : issued_) {
      if (awaited_.contains(op)) continue;
      const auto keep = [&](::mlir::Value v) {
        if (!is_memory(v) && !detail::is_handle(v)) return;
        const ::mlir::Value storage = g_.storage(v);
        if (!is_freed(storage)) g_.facts_[storage].live_out = true;
      };
      for (const ::mlir::Value v : g_.inputs(op)) keep(v);
      for (const ::mlir::Value v : op->getResults()) keep(v);
    }
  }
  static bool is_memory(::mlir::Value v) { return detail::is_memref(v) || detail::is_tensor(v); }

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
    const bool carries = llvm::isa<::mlir::LoopLikeOpInterface>(op);  // a value carried on has one storage at a time
    for (::mlir::OpOperand& operand : op->getOpOperands()) {
      if (!detail::is_tensor(operand.get())) continue;
      const bool written = bufferizable.bufferizesToMemoryWrite(operand, state_);
      for (const auto& alias : state_.getAliasingValues(operand)) {
        const auto result = llvm::dyn_cast<::mlir::OpResult>(alias.value);
        if (!result || result.getOwner() != op || !(alias.isDefinite || (written && carries))) continue;
        if (written)
          destinations_.push_back(
              {static_cast<int>(result.getResultNumber()), static_cast<int>(operand.getOperandNumber())});
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
      if (!allocated && !makes_buffers(op)) return;  // it names one of others
      if (allocated) f.live_out |= detail::is_on_stack(r) || (!is_freed(r) && escapes(r));
    } else if (detail::is_tensor(r) && op->getNumRegions() == 0 && !has_tensor_operand(op) &&
               !state_.bufferizesToMemoryWrite(r)) {
      return;  // tensor.empty
    }
    f.size = size_of(r);
  }

  /// Whether an operation, or one inside of it, allocates a memref or may have it from elsewhere.
  bool makes_buffers(::mlir::Operation* op) const {
    return detail::holds_within(op, [&](::mlir::Operation* inner) {
      return inner->getNumRegions() == 0 && llvm::any_of(inner->getResults(), detail::is_memref) &&
             !detail::is_effect_free(inner, o_);
    });
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
    const auto handle = llvm::find_if(op->getResults(), detail::is_handle);
    if (handle != op->getResults().end())
      g_.facts_[*handle].size += std::exchange(workspace, 0);  // it may run until the wait
    g_.workspace_.push_back(workspace);
  }
  /// The peak of a block less `results`, which are counted outside.
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

  static bool is_freed(::mlir::Value v) {
    return llvm::any_of(v.getUsers(),
                        [&](::mlir::Operation* user) { return ::mlir::hasEffect<::mlir::MemoryEffects::Free>(user, v); });
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
    if (op->hasTrait<::mlir::OpTrait::ConstantLike>() || detail::is_global(op)) return true;
    return op->getNumOperands() == 0 && op->getNumResults() == 1 && llvm::any_of(op->getAttrs(), [&](const auto& named) {
             const auto elements = llvm::dyn_cast<::mlir::ElementsAttr>(named.getValue());
             return elements && elements.getShapedType() == op->getResult(0).getType();
           });
  }

  /// Finds values that are computed from constants alone. `tensor.empty` does not count either way.
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
  /// Whether no operation but others of these writes over the results of one.
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
  llvm::DenseSet<::mlir::Operation*> folded_, awaited_;
  llvm::DenseMap<::mlir::Value, llvm::SmallVector<::mlir::Operation*, 2>> feeders_;  // of handles that they do not give
  llvm::SmallVector<::mlir::Operation*> issued_;                                     // may run on after their place
  llvm::SmallVector<overwrite_at, 4> destinations_;                                  // of the operation at hand
  graph_error error_;
};

MEMSCHED_FUNCTION result<mlir_block_graph> mlir_block_graph::of(::mlir::Block& block, const mlir_options& o) {
  return builder(block, o).run();
}

MEMSCHED_FUNCTION bytes mlir_block_graph::yielded() const {
  ::mlir::Operation* end = detail::terminator_of(*block_);
  if (!end || end->getNumSuccessors() > 0) return 0;
  llvm::SetVector<::mlir::Value> storages;
  for (const ::mlir::Value v : end->getOperands()) storages.insert(storage(v));
  bytes sum = 0;
  for (const ::mlir::Value v : storages)
    if (facts(v).named) sum += facts(v).size;
  return sum;
}

MEMSCHED_FUNCTION bytes mlir_block_graph::arguments() const {
  bytes sum = 0;
  for (const ::mlir::Value v : block_->getArguments())
    if (facts(v).named) sum += facts(v).size;
  return sum;
}

MEMSCHED_FUNCTION result<lowered<::mlir::Operation*>> lower(const mlir_block_graph& g) {
  return detail::lowering<mlir_block_graph>(g).run();
}

MEMSCHED_FUNCTION bool may_reorder(::mlir::Block& block) {
  ::mlir::Operation* parent = block.getParentOp();
  return parent && parent->isRegistered() && ::mlir::mayHaveSSADominance(*block.getParent()) && detail::makes_memory(block);
}

MEMSCHED_FUNCTION result<bytes> peak_of(::mlir::Block& block, std::span<::mlir::Operation* const> order,
                                        const mlir_options& m) {
  const auto g = mlir_block_graph::of(block, m);
  if (!g) return graph_error(g.error());
  const auto p = lower(*g);
  if (!p) return graph_error(p.error());
  llvm::DenseMap<::mlir::Operation*, op_id> ids;
  for (const op_id op : p->problem.ops()) ids[p->ops[op]] = op;
  std::vector<op_id> found;
  for (::mlir::Operation* op : order) found.push_back(ids.at(op));
  const auto cost = evaluate(p->problem, found, options{}.model());
  if (!cost) return graph_error(cost.error());
  return cost->peak;
}

MEMSCHED_FUNCTION void put_in_order(::mlir::Block& block, std::span<::mlir::Operation* const> order) {
  ::mlir::Operation* end = detail::terminator_of(block);
  for (::mlir::Operation* op : order) op->moveBefore(&block, end ? end->getIterator() : block.end());
}

MEMSCHED_FUNCTION schedule_result<::mlir::Operation*> reorder(::mlir::Block& block, const mlir_options& m) {
  return reorder(block, m, stay_close{} | automatic);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
