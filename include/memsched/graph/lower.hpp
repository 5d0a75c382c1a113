// The one door: from the caller's graph to a checked problem. Only this template sees the caller's types.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/graph/numbering.hpp>
#include <memsched/graph/traits.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A problem and the caller's handles of its operators: operator i of the problem is `ops[i]`.
template <class Op>
struct lowered {
  memsched::problem problem;
  std::vector<Op> ops;
};

namespace detail {

/// The parts of a lowering that do not depend on the caller's types.
class lowered_draft {
 protected:
  /// Makes room for `operators` operators, of which most read and write one tensor.
  void expect(std::size_t operators);
  /// Makes room for a tensor that was not met before.
  void add_tensor();
  /// Keeps the first fault.
  void fault(error_code code, std::string message, op_id op, tensor_id t);
  /// The problem that was gathered, or the first fault. Nothing else is asked after it.
  result<problem> finish();

  plain_vector<bool> written_;
  problem_draft draft_;
  graph_error error_;
};

template <memory_graph G>
class lowering : lowered_draft {
  using traits = graph_traits<G>;
  using op_handle = op_t<G>;
  using tensor_handle = tensor_t<G>;

 public:
  explicit lowering(const G& g) : g_(g) {}

  result<lowered<op_handle>> run() {
    describe();
    auto checked = finish();
    if (!checked) return checked.error();
    return lowered<op_handle>{std::move(*checked), std::move(ops_)};
  }

  /// The tensors in the order of their numbers.
  std::vector<tensor_handle> tensors() {
    describe();
    return std::move(tensors_);
  }

 private:
  void describe() {
    number_operators();
    for (op_id i = 0; i < ops_.size(); ++i) add_operator(i);
    if constexpr (hooks<G>.tensors)
      for (const auto& t : traits::tensors(g_)) tensor(t);
    describe_tensors();
  }

  void number_operators() {
    auto&& ops = traits::ops(g_);
    if constexpr (requires { ops.size(); }) {
      const auto count = static_cast<std::size_t>(ops.size());
      expect(count);
      ops_.reserve(count), tensors_.reserve(count);
      op_numbers_.expect(count), tensor_numbers_.expect(count);
    }
    for (const auto& op : ops) {
      const auto [number, fresh] = op_numbers_.insert(op);
      if (!fresh)
        return fault(
            error_code::unknown_operator,
            op_label(number) + " is listed twice, the second time after " + std::to_string(ops_.size()) + " operators",
            number, none);
      ops_.push_back(op);
    }
  }

  void add_operator(op_id i) {
    const op_handle& op = ops_[i];
    problem_draft::operator_data data;
    for (const auto& t : traits::inputs(g_, op)) draft_.reads.push(tensor(t));
    for (const auto& t : traits::outputs(g_, op)) {
      const tensor_id id = tensor(t);
      draft_.writes.push(id);
      written_[id] = true;
    }
    if constexpr (hooks<G>.after)
      for (const auto& before : traits::after(g_, op)) add_after(i, before);
    if constexpr (hooks<G>.workspace) data.workspace = amount(traits::workspace(g_, op), "the workspace of ", i, none);
    if constexpr (hooks<G>.firing) data.rule = traits::firing(g_, op);
    if constexpr (hooks<G>.scope) data.scope = scope(traits::scope(g_, op));
    if constexpr (hooks<G>.cost) data.cost = amount(traits::cost(g_, op), "the cost of ", i, none);
    if constexpr (hooks<G>.pure) data.pure = traits::pure(g_, op);
    if constexpr (hooks<G>.overwrites) add_overwrites(i, data, traits::overwrites(g_, op));
    if constexpr (hooks<G>.updates) {
      for (const auto& t : traits::updates(g_, op)) draft_.updates.push(tensor(t));
      draft_.updates.close();
    }
    if constexpr (hooks<G>.operator_name) draft_.operator_names.push_back(traits::operator_name(g_, op));
    draft_.reads.close();
    draft_.writes.close();
    draft_.after.close();
    draft_.operators.push_back(data);
  }

  void add_after(op_id i, const op_handle& before) {
    if (const index_t number = op_numbers_.find(before); number != none) return draft_.after.push(number);
    fault(error_code::unknown_operator, op_label(i) + " runs after an operator that is not in the graph", i, none);
  }

  template <class Overwrites>
  void add_overwrites(op_id i, problem_draft::operator_data& data, const Overwrites& overwrites) {
    if constexpr (integer<Overwrites>) {
      if (overwrites >= 0)
        data.overwrites = listed(draft_.reads.open(), overwrites, i, " overwrites input ", ", but reads only ");
    } else {
      for (const overwrite_at& o : overwrites)
        draft_.overwrites.push({listed(draft_.writes.open(), o.output, i, " overwrites with output ", ", but writes only "),
                                listed(draft_.reads.open(), o.input, i, " overwrites input ", ", but reads only ")});
      draft_.overwrites.close();
    }
  }
  template <class N>
  tensor_id listed(std::span<const tensor_id> list, N position, op_id i, const char* does, const char* has) {
    if (std::in_range<std::size_t>(position) && static_cast<std::size_t>(position) < list.size())
      return list[static_cast<std::size_t>(position)];
    fault(error_code::bad_overwrite, op_label(i) + does + std::to_string(position) + has + std::to_string(list.size()), i,
          none);
    return list.empty() ? none : list[0];
  }

  /// Cells by order of first appearance, so that no value is cut.
  template <class Scope>
  index_t scope(const Scope& s) {
    if constexpr (is_optional<Scope>) {
      return s ? scope(*s) : none;
    } else {
      if constexpr (std::signed_integral<Scope>)
        if (s < 0) return none;
      return scope_numbers_.insert(static_cast<std::uint64_t>(s)).first;
    }
  }

  tensor_id tensor(const tensor_handle& handle) {
    const auto [id, fresh] = tensor_numbers_.insert(handle);
    if (!fresh) return id;
    tensors_.push_back(handle);
    add_tensor();
    if constexpr (hooks<G>.tensor_name) draft_.tensor_names.push_back(traits::tensor_name(g_, handle));
    if constexpr (hooks<G>.live_out)
      if (traits::live_out(g_, handle)) draft_.graph_outputs.push_back(id);
    return id;
  }
  /// Aliases and sizes last: following an alias may meet a tensor that no operator names.
  void describe_tensors() {
    for (tensor_id t = 0; t < tensors_.size(); ++t) {
      const tensor_handle handle = tensors_[t];
      if constexpr (hooks<G>.alias_of) {
        const tensor_id of = alias(traits::alias_of(g_, handle), t);
        draft_.tensors[t].alias_of = of;
        if (of != t) continue;
      }
      draft_.tensors[t].size = amount(traits::size(g_, handle), "the size of ", none, t);
    }
  }
  template <class Alias>
  tensor_id alias(const Alias& of, tensor_id self) {
    if constexpr (is_optional<Alias>) return of ? alias(*of, self) : self;
    else if (is_null(of)) return self;
    else return tensor(of);
  }

  template <class N>
  bytes amount(const N& n, const char* what, op_id op, tensor_id t) {
    if constexpr (is_optional<N>) {
      if (n) return amount(*n, what, op, t);
      return fault(error_code::unknown_size, what + label(op, t) + " is unknown", op, t), 0;
    } else {
      if constexpr (std::signed_integral<N>)
        if (n < 0) return fault(error_code::bad_size, what + label(op, t) + " is negative: " + std::to_string(n), op, t), 0;
      return static_cast<bytes>(n);
    }
  }

  std::string label(op_id op, tensor_id t) const { return t == none ? op_label(op) : tensor_label(t); }
  std::string op_label(op_id op) const {
    std::string name;
    if constexpr (hooks<G>.operator_name) name = traits::operator_name(g_, ops_[op]);
    return labelled("operator ", op, name);
  }
  std::string tensor_label(tensor_id t) const {
    std::string name;
    if constexpr (hooks<G>.tensor_name) name = traits::tensor_name(g_, tensors_[t]);
    return labelled("tensor ", t, name);
  }

  const G& g_;
  std::vector<op_handle> ops_;
  std::vector<tensor_handle> tensors_;
  handle_numbers<op_handle> op_numbers_;
  handle_numbers<tensor_handle> tensor_numbers_;
  integer_numbers scope_numbers_;
};

/// Converts to anything: an argument that stands for any other.
struct any_argument {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is what it is for
};

/// Whether a graph type names a hook, rightly or not: by a function, a template or overloads, in its traits or by members.
template <hook H, class G, class Handle>
inline constexpr bool names = false;
template <class G>
concept names_tensors =  // own types may have a list of this name, or tensors(op)
    requires {
  &graph_traits<G>::tensors;
}
|| requires(G& g) { graph_traits<G>::tensors(g); }
|| requires(G& g) { g.tensors(); };
template <class G, class Handle>
inline constexpr bool names<hook::tensors, G, Handle> = names_tensors<G>;
// A concept, so that code behind an existing way is not instantiated.
#define MEMSCHED_NAMES(hook_name)                                           \
  template <class G, class Handle>                                          \
  concept names_##hook_name = requires {                                    \
    &graph_traits<G>::hook_name;                                            \
  }                                                                         \
  || requires { &G::hook_name; }                                            \
  || requires(G & g, Handle & x) { graph_traits<G>::hook_name(g, x); }      \
  || requires(G & g, Handle & x) { g.hook_name(x); }                        \
  || requires(G & g) { g.hook_name(); }                                     \
  || requires(any_argument any) { graph_traits<G>::hook_name(any); }        \
  || requires(G & g, Handle & x, any_argument any) { g.hook_name(x, any); } \
  || requires(G & g, any_argument any) { g.hook_name(any); };               \
  template <class G, class Handle>                                          \
  inline constexpr bool names<hook::hook_name, G, Handle> = names_##hook_name<G, Handle>
MEMSCHED_NAMES(after);
MEMSCHED_NAMES(workspace);
MEMSCHED_NAMES(firing);
MEMSCHED_NAMES(overwrites);
MEMSCHED_NAMES(updates);
MEMSCHED_NAMES(live_out);
MEMSCHED_NAMES(alias_of);
MEMSCHED_NAMES(scope);
MEMSCHED_NAMES(cost);
MEMSCHED_NAMES(pure);
MEMSCHED_NAMES(operator_name);
MEMSCHED_NAMES(tensor_name);
#undef MEMSCHED_NAMES

/// Whether a view or a graph beneath it names a hook: a view passes on only the answers of its base.
template <hook H, class G, class Handle>
constexpr bool names_beneath() {
  if constexpr (std::is_void_v<G>) return false;
  else if constexpr (names<H, G, Handle>) return true;
  else return names_beneath<H, typename base_of_view<G>::type, Handle>();
}

template <hook H, memory_graph G, class Handle>
constexpr bool refuse_unheard() {
  if constexpr (hears<H, G>) return true;
  else return demand_hook<H, !names_beneath<H, G, Handle>()>();
}

/// Refuses a hook's name if no hook of the right signature was found.
template <memory_graph G>
constexpr bool refuse_wrong_hooks() {
  using op = op_t<G>;
  using tensor = tensor_t<G>;
  return refuse_unheard<hook::tensors, G, tensor>() && refuse_unheard<hook::after, G, op>() &&
         refuse_unheard<hook::workspace, G, op>() && refuse_unheard<hook::firing, G, op>() &&
         refuse_unheard<hook::overwrites, G, op>() && refuse_unheard<hook::updates, G, op>() &&
         refuse_unheard<hook::live_out, G, tensor>() && refuse_unheard<hook::alias_of, G, tensor>() &&
         refuse_unheard<hook::scope, G, op>() && refuse_unheard<hook::cost, G, op>() &&
         refuse_unheard<hook::pure, G, op>() && refuse_unheard<hook::operator_name, G, op>() &&
         refuse_unheard<hook::tensor_name, G, tensor>();
}

}  // namespace detail

/// The problem that g describes, as result<lowered<op_t<G>>>. Faults name operators and tensors by the graph's own names,
/// and number them: operators by position in ops(g), tensors by position in `tensors_of(g)`. O(operators + uses) look-ups
/// of handles: hashed, or direct if they are small integers.
template <class G>
auto lower(const G& g) {
  static_assert(detail::demand_graph<G>());
  if constexpr (memory_graph<G>) {
    static_assert(detail::refuse_wrong_hooks<G>());
    return detail::lowering<G>(g).run();
  } else {
    return result<lowered<int>>(graph_error{});  // so that the caller's uses of it are no errors
  }
}

/// The tensors of g, each at the position by which an error of `lower` and `schedule` names it. O(operators + uses).
template <memory_graph G>
std::vector<tensor_t<G>> tensors_of(const G& g) {
  return detail::lowering<G>(g).tensors();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

MEMSCHED_FUNCTION void lowered_draft::expect(std::size_t operators) {
  draft_.operators.reserve(operators), draft_.tensors.reserve(operators);
  draft_.reads.reserve(operators, operators), draft_.writes.reserve(operators, operators);
  draft_.after.reserve(operators, 0);
}

MEMSCHED_FUNCTION void lowered_draft::add_tensor() {
  written_.push_back(false);
  draft_.tensors.emplace_back();
}

MEMSCHED_FUNCTION void lowered_draft::fault(error_code code, std::string message, op_id op, tensor_id t) {
  const auto list = [](index_t i) { return i == none ? std::vector<index_t>{} : std::vector<index_t>{i}; };
  if (error_.message.empty()) error_ = {code, std::move(message), list(op), list(t)};
}

MEMSCHED_FUNCTION result<problem> lowered_draft::finish() {
  for (tensor_id t = 0; t < written_.size(); ++t)
    if (!written_[t]) draft_.graph_inputs.push_back(t);
  if (!error_.message.empty()) return std::move(error_);
  return make_problem(std::move(draft_));
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
