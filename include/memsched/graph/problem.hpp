// The problem: operators, tensors, and which reads and writes which; dense, checked, immutable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

using op_id = index_t;
using tensor_id = index_t;

/// A problem as it is described, before any check; `make_problem` makes a problem of it.
struct problem_draft {
  /// The facts of one tensor.
  struct tensor_data {
    bytes size = 0;
    tensor_id alias_of = none;  ///< the tensor whose storage this one names
  };
  /// The facts of one operator beside its reads and writes.
  struct operator_data {
    bytes workspace = 0;
    tensor_id overwrites = none;   ///< an input whose storage the first output may take
    std::optional<firing> rule{};  ///< absent: the graph's default
    index_t scope = none;          ///< the caller's cell or block
    std::uint64_t cost = 1;        ///< of one run, in any unit
    bool pure = true;              ///< whether another run has the same results and no other effect
  };
  /// An output that may take the storage of an input.
  struct overwrite {
    tensor_id output = none, input = none;
  };

  std::string name;
  std::vector<tensor_data> tensors;
  std::vector<operator_data> operators;
  std::vector<tensor_id> graph_inputs, graph_outputs;
  list_of<tensor_id> reads;       ///< per operator, in the caller's order; repetitions allowed
  list_of<tensor_id> writes;      ///< per operator
  list_of<op_id> after;           ///< control predecessors, per operator
  list_of<overwrite> overwrites;  ///< of further outputs, per operator; empty, or a list for each
  list_of<tensor_id> updates;     ///< of `reads`, those with values that an operator changes; empty, or a list for each
  std::vector<std::string> operator_names, tensor_names;  ///< empty, or one for each
};

namespace detail {
class checker;
}

/// Operators x tensors, free of every fault that `error_code` lists. Models `memory_graph` itself.
class problem {
 public:
  /// A storage that an output takes if its operator is the last reader, and the bytes that this spares.
  struct storage_reuse {
    tensor_id input = none, output = none;  ///< storages
    bytes spared = 0;
  };

  // The graph as its caller described it (see graph_traits).
  base::index_range ops() const { return base::index_range(draft_.operators.size()); }
  base::index_range tensors() const { return base::index_range(draft_.tensors.size()); }
  std::span<const tensor_id> inputs(op_id op) const { return draft_.reads[op]; }
  std::span<const tensor_id> outputs(op_id op) const { return draft_.writes[op]; }
  std::span<const op_id> after(op_id op) const { return draft_.after[op]; }
  bytes size(tensor_id t) const { return draft_.tensors[t].size; }
  bytes workspace(op_id op) const { return draft_.operators[op].workspace; }
  std::optional<memsched::firing> firing(op_id op) const { return draft_.operators[op].rule; }
  bool live_out(tensor_id t) const { return live_out_[t]; }
  tensor_id alias_of(tensor_id t) const {
    const tensor_id of = draft_.tensors[t].alias_of;
    return of == none ? t : of;
  }
  index_t scope(op_id op) const { return draft_.operators[op].scope; }
  /// The cost of one run of an operator, in the caller's unit; all of them sum to at most 2^61.
  std::uint64_t cost(op_id op) const { return draft_.operators[op].cost; }
  /// Whether an operator's results depend on its inputs alone, and it has no other effect.
  bool pure(op_id op) const { return draft_.operators[op].pure; }
  /// Position in `inputs` of the input that the first output may overwrite; -1 for none.
  int overwrites(op_id op) const { return position(op, draft_.operators[op].overwrites); }
  /// Pairs of a further output and an input that it may overwrite.
  std::span<const problem_draft::overwrite> further_overwrites(op_id op) const { return list(draft_.overwrites, op); }
  /// Inputs that an operator changes in place.
  std::span<const tensor_id> updates(op_id op) const { return list(draft_.updates, op); }
  /// The name of an operator or a tensor for messages; without one "operator 3", "tensor 5".
  std::string operator_name(op_id op) const { return name(draft_.operator_names, op, "operator "); }
  std::string tensor_name(tensor_id t) const { return name(draft_.tensor_names, t, "tensor "); }

  // The graph as memory sees it: storages, each named by its first tensor; aliases resolved.
  /// The tensor whose storage t names; t itself if it is no alias.
  tensor_id storage(tensor_id t) const { return storage_[t]; }
  /// Storages that an operator reads, each once, in the order of `inputs`.
  std::span<const tensor_id> reads(op_id op) const { return reads_[op]; }
  /// Storages that an operator creates.
  std::span<const tensor_id> creates(op_id op) const { return creates_[op]; }
  /// Operators that read a storage, ascending.
  std::span<const op_id> readers(tensor_id storage) const { return readers_[storage]; }
  /// The operator that writes a tensor, alias or not; none for graph inputs.
  op_id writer(tensor_id t) const { return writer_[t]; }
  /// The operator that creates a storage; none for graph inputs.
  op_id producer(tensor_id storage) const { return producer_[storage]; }
  /// Whether a storage stays to the end.
  bool stays(tensor_id storage) const { return stays_[storage]; }
  /// Whether a storage is needed after its producer.
  bool kept(tensor_id storage) const { return stays_[storage] || !readers_[storage].empty(); }
  /// Storages that an operator's outputs may take, each once.
  std::span<const storage_reuse> reuses(op_id op) const { return list(reuses_, op); }
  /// Operators that must run before an operator: producers of its reads in that order, then control, then those that use
  /// the old values of its updated inputs; each once.
  std::span<const op_id> predecessors(op_id op) const { return predecessors_[op]; }
  const adjacency& predecessors() const { return predecessors_; }
  /// Bytes of the graph inputs that are read or kept: all that is live at the start.
  bytes live_at_start() const { return live_at_start_; }
  /// The draft that was checked.
  const problem_draft& draft() const { return draft_; }
  /// Graph outputs, in the caller's order if the caller has one.
  std::span<const tensor_id> graph_outputs() const { return draft_.graph_outputs; }

 private:
  friend class detail::checker;
  explicit problem(problem_draft draft) : draft_(std::move(draft)) {}

  template <class T>
  static std::span<const T> list(const list_of<T>& lists, op_id op) {
    return op < lists.size() ? lists[op] : std::span<const T>{};
  }
  int position(op_id op, tensor_id input) const {
    const auto in = inputs(op);
    return input == none ? -1 : static_cast<int>(std::find(in.begin(), in.end(), input) - in.begin());
  }
  static std::string name(const std::vector<std::string>& names, index_t i, const char* kind) {
    return i < names.size() && !names[i].empty() ? names[i] : kind + std::to_string(i);
  }

  problem_draft draft_;
  std::vector<tensor_id> storage_;
  std::vector<op_id> writer_, producer_;
  std::vector<bool> live_out_, stays_;
  list_of<tensor_id> reads_, creates_;
  list_of<storage_reuse> reuses_;
  adjacency readers_, predecessors_;
  bytes live_at_start_ = 0;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
