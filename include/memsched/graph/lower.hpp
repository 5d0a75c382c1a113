// The one door: from the caller's graph to a checked problem. Only this template sees the caller's types.
#pragma once

#include <concepts>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/graph/check.hpp>
#include <memsched/graph/traits.hpp>

namespace memsched {

/// A problem and the caller's handles of its operators: operator i of the problem is `ops[i]`.
template <class Op>
struct lowered {
  memsched::problem problem;
  std::vector<Op> ops;
};

namespace detail {

template <memory_graph G>
class lowering {
  using traits = graph_traits<G>;
  using op_handle = op_t<G>;
  using tensor_handle = tensor_t<G>;

 public:
  explicit lowering(const G& g) : g_(g) {}

  result<lowered<op_handle>> run() {
    for (const auto& op : traits::ops(g_)) {
      const auto [at, fresh] = op_index_.try_emplace(op, static_cast<op_id>(ops_.size()));
      if (!fresh)
        return graph_error{error_code::unknown_operator,
                           "operator " + std::to_string(ops_.size()) + " is listed twice: it is operator " +
                               std::to_string(at->second),
                           {at->second}, {}};
      ops_.push_back(op);
    }
    for (op_id i = 0; i < ops_.size(); ++i) add_operator(i);
    add_aliases();
    for (tensor_id t = 0; t < tensors_.size(); ++t)
      if (!written_[t]) draft_.graph_inputs.push_back(t);
    if (!error_.message.empty()) return std::move(error_);
    auto checked = check(std::move(draft_));
    if (!checked) return checked.error();
    return lowered<op_handle>{std::move(*checked), std::move(ops_)};
  }

 private:
  void add_operator(op_id i) {
    const op_handle& op = ops_[i];
    operator_data data;
    for (const auto& t : traits::inputs(g_, op)) draft_.reads.push(tensor(t));
    for (const auto& t : traits::outputs(g_, op)) {
      const tensor_id id = tensor(t);
      draft_.writes.push(id);
      written_[id] = true;
    }
    if constexpr (hooks<G>.after)
      for (const auto& before : traits::after(g_, op)) add_after(i, before);
    if constexpr (hooks<G>.workspace)
      data.workspace = amount(traits::workspace(g_, op), {i}, {}, "the workspace of operator ", i);
    if constexpr (hooks<G>.firing) data.rule = traits::firing(g_, op);
    if constexpr (hooks<G>.scope) data.scope = static_cast<index>(traits::scope(g_, op));
    if constexpr (hooks<G>.overwrites) data.overwrites = input_at(i, traits::overwrites(g_, op));
    if constexpr (hooks<G>.operator_name) draft_.operator_names.push_back(traits::operator_name(g_, op));
    draft_.reads.close();
    draft_.writes.close();
    draft_.after.close();
    draft_.operators.push_back(data);
  }

  void add_after(op_id i, const op_handle& before) {
    const auto found = op_index_.find(before);
    if (found != op_index_.end()) return draft_.after.push(found->second);
    fault(error_code::unknown_operator, "operator " + std::to_string(i) + " runs after an operator that is not in the graph",
          {i}, {});
  }

  tensor_id input_at(op_id i, int position) {
    if (position < 0) return none;
    const auto in = draft_.reads.open();
    if (static_cast<std::size_t>(position) < in.size()) return in[static_cast<std::size_t>(position)];
    fault(error_code::bad_overwrite, "operator " + std::to_string(i) + " overwrites input " + std::to_string(position) +
                                         ", but reads only " + std::to_string(in.size()), {i}, {});
    return none;
  }

  tensor_id tensor(const tensor_handle& handle) {
    const auto [at, fresh] = tensor_index_.try_emplace(handle, static_cast<tensor_id>(tensors_.size()));
    if (!fresh) return at->second;
    const tensor_id id = at->second;
    tensors_.push_back(handle);
    written_.push_back(false);
    draft_.tensors.push_back({.size = amount(traits::size(g_, handle), {}, {id}, "the size of tensor ", id)});
    if constexpr (hooks<G>.live_out)
      if (traits::live_out(g_, handle)) draft_.graph_outputs.push_back(id);
    if constexpr (hooks<G>.tensor_name) draft_.tensor_names.push_back(traits::tensor_name(g_, handle));
    return id;
  }

  /// Aliases last: following one may meet a tensor that no operator names.
  void add_aliases() {
    if constexpr (hooks<G>.alias_of)
      for (tensor_id t = 0; t < tensors_.size(); ++t) {
        const tensor_id of = tensor(traits::alias_of(g_, tensor_handle(tensors_[t])));
        draft_.tensors[t].alias_of = of;
      }
  }

  template <std::integral N>
  bytes amount(N n, std::vector<index> ops, std::vector<index> ts, const char* what, index i) {
    if constexpr (std::signed_integral<N>)
      if (n < 0) {
        fault(error_code::bad_size, what + std::to_string(i) + " is negative: " + std::to_string(n), std::move(ops),
              std::move(ts));
        return 0;
      }
    return static_cast<bytes>(n);
  }

  /// Keeps the first fault.
  void fault(error_code code, std::string message, std::vector<index> ops, std::vector<index> ts) {
    if (error_.message.empty()) error_ = {code, std::move(message), std::move(ops), std::move(ts)};
  }

  const G& g_;
  std::vector<op_handle> ops_;
  std::vector<tensor_handle> tensors_;
  std::vector<bool> written_;
  std::unordered_map<op_handle, op_id> op_index_;
  std::unordered_map<tensor_handle, tensor_id> tensor_index_;
  problem_draft draft_;
  graph_error error_;
};

}  // namespace detail

/// The problem that g describes, as result<lowered<op_t<G>>>. O(operators + uses) hash look-ups.
template <class G>
auto lower(const G& g) {
  static_assert(has_ops<G>, "memsched: the graph lacks ops(): a range of operator handles (see memsched/graph/traits.hpp)");
  static_assert(!has_ops<G> || has_inputs<G>, "memsched: the graph lacks inputs(op): a range of tensor handles");
  static_assert(!has_ops<G> || has_outputs<G>, "memsched: the graph lacks outputs(op): a range of tensor handles");
  static_assert(!has_outputs<G> || has_size<G>, "memsched: the graph lacks size(tensor): bytes as an integer");
  static_assert(!has_ops<G> || hashable_ops<G>, "memsched: the graph's operator handles lack std::hash or ==");
  static_assert(!has_outputs<G> || hashable_tensors<G>, "memsched: the graph's tensor handles lack std::hash or ==");
  if constexpr (memory_graph<G>) return detail::lowering<G>(g).run();
}

}  // namespace memsched
