// MLIR: a block as a graph of operators and tensors, and its operations in an order with a small peak. Needs MLIR 19 to 22.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <mlir/IR/Block.h>
#include <mlir/IR/Operation.h>

#include <memsched/adapters/mlir/options.hpp>
#include <memsched/adapters/mlir/spaces.hpp>
#include <memsched/passes/stay_close.hpp>
#include <memsched/schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The operations of one MLIR block, but for its terminator, as operators; values as tensors. It refers to the block, which
/// must not change meanwhile. `examples/mlir` has the pass.
///
/// * A tensor has the bytes of its type; a memref those of its allocation; scalars and vectors none. A view names the
///   storage of its source: by ViewLikeOpInterface, or on tensors by bufferization's interface, if the operation does not
///   write the operand and the result is definitely an alias of it.
/// * A destination operand (bufferization: written, and definitely an alias of a result) may be overwritten in place, unless
///   it is a part of a larger storage: the result would keep the whole alive. `tensor.empty` takes nothing: its writer does.
/// * Constants and globals take nothing. Arguments of a function count as the options say; those of a loop's body count in
///   the body. Values of other blocks, and arguments that no operation uses, are not counted.
/// * Values that the terminator or another block uses live to the end. An allocation that no operation frees in the block dies
///   with its last reader, unless an operation that is no view makes another memref of it; one on the stack lives to the
///   end.
/// * An operation reads the values that its regions use from above. Its workspace is the largest peak of its blocks, in the
///   order in which they stand, less the values that the block yields (or those of the loop's arguments): results are
///   counted outside.
/// * Handles (tokens, streams, descriptors: types without a shape) have no bytes. An operation with effects that gives a
///   handle, or uses memory and takes one, may run on after its place: its memory lives until an operation that takes the
///   handle, or one that follows from it, and gives none; without such a one to the end. Its workspace lives as long.
/// * Effects order operations as `detail::mlir_effect_order` says; operations that it does not understand are barriers.
class mlir_block_graph {
 public:
  /// The graph of a block, or an error if a size is unknown, with a remark at the place of that value.
  /// O(operations + uses), those in regions included, times the depth of regions; if the block has tensors, also
  /// O(operations of the function).
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

/// `lower` for MLIR blocks, compiled once.
MEMSCHED_FUNCTION result<lowered<::mlir::Operation*>> lower(const mlir_block_graph& g);

/// Whether `reorder` may find something to move: the block makes tensors or buffers, in itself or in regions, and its region
/// leaves the order of operations open as far as they do not use each other.
MEMSCHED_FUNCTION bool may_reorder(::mlir::Block& block);

/// The peak of an order of all operations of a block but its terminator, in bytes, of one memory space or of all in total, as
/// the options say.
MEMSCHED_FUNCTION result<bytes> peak_of(::mlir::Block& block, std::span<::mlir::Operation* const> order,
                                        const mlir_options& m);

/// Puts all operations of a block, but for its terminator, into an order that holds each once.
MEMSCHED_FUNCTION void put_in_order(::mlir::Block& block, std::span<::mlir::Operation* const> order);

/// Moves the operations of a block into an order with a smaller peak, if the policy finds one; else nothing moves.
/// The default stays as close to the given order as that peak allows. The result is that of `schedule`: peaks before
/// (`given_peak`) and after, bound, order; its error, if the graph has a fault or a size is unknown, leaves the block as
/// it is. Limit it by `state_limit`: a time limit is not reproducible.
template <class S>
schedule_result<::mlir::Operation*> reorder(::mlir::Block& block, const mlir_options& m, const S& policy,
                                            const options& o = {}) {
  const auto g = mlir_block_graph::of(block, m);
  schedule_result<::mlir::Operation*> r;
  if (!g) return r.error = g.error(), r;
  r = schedule(*g, policy, o);
  if (!r.error && r.peak < r.given_peak) put_in_order(block, r.order);
  return r;
}

MEMSCHED_FUNCTION schedule_result<::mlir::Operation*> reorder(::mlir::Block& block, const mlir_options& m = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE
#include <memsched/adapters/mlir/definitions.hpp>
#endif
