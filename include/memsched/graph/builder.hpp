// A problem written down by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// One operator for `problem_builder::op`. Every member may be left out.
struct operator_spec {
  std::vector<tensor_id> reads{}, writes{};
  std::vector<op_id> after{};    ///< operators that must run before, beside the producers of `reads`
  bytes workspace = 0;           ///< held while it runs
  tensor_id overwrites = none;   ///< one of `reads`, whose storage the first of `writes` may take
  std::optional<firing> rule{};  ///< absent: the default of the options
  index_t scope = none;          ///< its cell or block
  std::string name{};
  std::uint64_t cost = 1;  ///< of one run, in any unit
  bool pure = true;        ///< whether another run has the same results and no other effect
};

/// Collects tensors and operators; `build` checks them. Ids are handed out from 0.
class problem_builder {
 public:
  /// A tensor that some operator writes.
  tensor_id tensor(bytes size, std::string name = {}) {
    draft_.tensors.push_back({.size = size});
    draft_.tensor_names.push_back(std::move(name));
    return static_cast<tensor_id>(draft_.tensors.size() - 1);
  }
  /// A graph input: live from the start.
  tensor_id input(bytes size, std::string name = {}) {
    const tensor_id t = tensor(size, std::move(name));
    draft_.graph_inputs.push_back(t);
    return t;
  }
  /// Another name for the storage of `of`: a reshape, a view.
  tensor_id alias(tensor_id of, std::string name = {}) {
    const tensor_id t = tensor(0, std::move(name));
    draft_.tensors[t].alias_of = of;
    return t;
  }
  /// Makes t a graph output: live to the end.
  void output(tensor_id t) { draft_.graph_outputs.push_back(t); }

  op_id op(const operator_spec& spec) {
    for (tensor_id t : spec.reads) draft_.reads.push(t);
    for (tensor_id t : spec.writes) draft_.writes.push(t);
    for (op_id before : spec.after) draft_.after.push(before);
    draft_.reads.close();
    draft_.writes.close();
    draft_.after.close();
    draft_.operators.push_back({.workspace = spec.workspace,
                                .overwrites = spec.overwrites,
                                .rule = spec.rule,
                                .scope = spec.scope,
                                .cost = spec.cost,
                                .pure = spec.pure});
    draft_.operator_names.push_back(spec.name);
    return static_cast<op_id>(draft_.operators.size() - 1);
  }

  result<problem> build() const { return make_problem(draft_); }
  const problem_draft& draft() const { return draft_; }

 private:
  problem_draft draft_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
