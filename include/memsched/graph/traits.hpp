// The one customization point: views any graph type as operators and tensors.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memsched/base/bytes.hpp>
#include <memsched/graph/handles.hpp>
#include <memsched/model/firing.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Own type: write members of these names. Foreign type: specialize with static functions of these names.
///
/// required  ops(g)               operator handles, each once
///           inputs(g, op)        tensor handles that op reads
///           outputs(g, op)       tensor handles that op writes
///           size(g, tensor)      bytes: any integer, or a std::optional of one; negative and absent are errors. An
///                                alias has none: it is not asked
/// optional  after(g, op)         operators that must run before op
///           workspace(g, op)     bytes that op needs while it runs
///           firing(g, op)        memsched::firing, or an optional one
///           overwrites(g, op)    position in inputs of the one that the first output may overwrite, -1 for none; or a range
///                                of `overwrite_at`, one for each output that may overwrite an input
///           updates(g, op)       tensor handles among inputs that op changes in place (see below)
///           live_out(g, tensor)  whether tensor lives to the end. Without this hook no tensor does: results are freed
///                                after their last reader, and one that no operator reads right after its producer
///           tensors(g)           tensor handles that no operator may list: arguments that are passed through or unused.
///                                Those that operators list may be among them
///           alias_of(g, tensor)  the tensor whose storage this one names. If it is no alias: itself, an empty
///                                optional or a null handle (a null pointer, or a handle that converts to false)
///           scope(g, op)         the op's cell or block: an integer, negative for none
///           cost(g, op)          cost of one run of op, an integer in any unit; without this hook 1. Of use to `recompute`
///           pure(g, op)          whether a second run of op gives the same results and does nothing else; without this
///                                hook every operator is. False for random numbers, collectives, asserts, state
///           operator_name(g, op), tensor_name(g, tensor)   for messages
///
/// A list of handles is anything that a range-for accepts, by value or by reference. A handle is any value with == and
/// either std::hash or a hash_value(handle) found by argument-dependent lookup. A tensor's handle type is the common type
/// of the elements of inputs and outputs. A tensor that no operator writes is a graph input. It counts from the start to its
/// last reader, to the end if it is live_out, and not at all if no operator reads it and it is not live_out. Without `tensors`,
/// one that no operator lists is unknown and does not count, even if it is live_out.
///
/// An update of a tensor t has an order: if an output of op is an alias of t, that names the new value, and all other
/// users of the old one run before op. If none is, the order in which ops(g) lists operators decides: users of t that
/// come before op run before it, those that come after op run after it. The library adds these edges, no more than one for
/// each use.
template <class G>
struct graph_traits {
  static decltype(auto) ops(const G& g) requires requires { g.ops(); }
  { return g.ops(); }
  template <class Op>
  static decltype(auto) inputs(const G& g, const Op& op) requires requires {
    g.inputs(op);
  }
  { return g.inputs(op); }
  template <class Op>
  static decltype(auto) outputs(const G& g, const Op& op) requires requires {
    g.outputs(op);
  }
  { return g.outputs(op); }
  template <class T>
  static auto size(const G& g, const T& t) requires requires {
    g.size(t);
  }
  { return g.size(t); }

  template <class Self>
  static decltype(auto) tensors(const Self& g) requires requires {
    g.tensors();
  }
  { return g.tensors(); }
  template <class Op>
  static decltype(auto) after(const G& g, const Op& op) requires requires {
    g.after(op);
  }
  { return g.after(op); }
  template <class Op>
  static auto workspace(const G& g, const Op& op) requires requires {
    g.workspace(op);
  }
  { return g.workspace(op); }
  template <class Op>
  static auto firing(const G& g, const Op& op) requires requires {
    g.firing(op);
  }
  { return g.firing(op); }
  template <class Op>
  static decltype(auto) overwrites(const G& g, const Op& op) requires requires {
    g.overwrites(op);
  }
  { return g.overwrites(op); }
  template <class Op>
  static decltype(auto) updates(const G& g, const Op& op) requires requires {
    g.updates(op);
  }
  { return g.updates(op); }
  template <class T>
  static auto live_out(const G& g, const T& t) requires requires {
    g.live_out(t);
  }
  { return g.live_out(t); }
  template <class T>
  static auto alias_of(const G& g, const T& t) requires requires {
    g.alias_of(t);
  }
  { return g.alias_of(t); }
  template <class Op>
  static auto scope(const G& g, const Op& op) requires requires {
    g.scope(op);
  }
  { return g.scope(op); }
  template <class Op>
  static auto cost(const G& g, const Op& op) requires requires {
    g.cost(op);
  }
  { return g.cost(op); }
  template <class Op>
  static auto pure(const G& g, const Op& op) requires requires {
    g.pure(op);
  }
  { return g.pure(op); }
  template <class Op>
  static std::string operator_name(const G& g, const Op& op) requires requires {
    { g.operator_name(op) } -> std::convertible_to<std::string>;
  }
  { return g.operator_name(op); }
  template <class T>
  static std::string tensor_name(const G& g, const T& t) requires requires {
    { g.tensor_name(t) } -> std::convertible_to<std::string>;
  }
  { return g.tensor_name(t); }
};

template <class G>
struct graph_traits<const G> : graph_traits<G> {};

/// Output number `output` of an operator may overwrite its input number `input`.
struct overwrite_at {
  int output = 0, input = 0;
};

namespace detail {

template <class G>
concept has_ops = requires(const G& g) {
  { graph_traits<G>::ops(g) } -> handles;
};

}  // namespace detail

/// The handle of an operator.
template <detail::has_ops G>
using op_t = detail::handle_t<decltype(graph_traits<G>::ops(std::declval<const G&>()))>;

namespace detail {

template <class G>
concept has_inputs = has_ops<G> && requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::inputs(g, op) } -> handles;
};
template <class G>
concept has_outputs = has_ops<G> && requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::outputs(g, op) } -> handles;
};

template <class G>
using input_t =
    detail::handle_t<decltype(graph_traits<G>::inputs(std::declval<const G&>(), std::declval<const op_t<G>&>()))>;
template <class G>
using output_t =
    detail::handle_t<decltype(graph_traits<G>::outputs(std::declval<const G&>(), std::declval<const op_t<G>&>()))>;

template <class G>
concept has_tensors = has_inputs<G> && has_outputs<G> && requires {
  typename std::common_type_t<input_t<G>, output_t<G>>;
};

}  // namespace detail

/// The handle of a tensor.
template <detail::has_tensors G>
using tensor_t = std::common_type_t<detail::input_t<G>, detail::output_t<G>>;

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
concept integer = std::integral<T> && !std::same_as<T, bool>;
template <class N>
concept amount = integer<std::remove_cvref_t<N>> || requires {
  requires is_optional<std::remove_cvref_t<N>> && integer<typename std::remove_cvref_t<N>::value_type>;
};
template <class P>
concept positions = integer<std::remove_cvref_t<P>> || requires {
  requires handles<P>;
  requires std::same_as<detail::handle_t<P>, overwrite_at>;
};
template <class A, class T>
concept alias = std::convertible_to<A, T> || requires {
  requires is_optional<std::remove_cvref_t<A>> && std::convertible_to<typename std::remove_cvref_t<A>::value_type, T>;
};

// Without this name in sight, hash_value could be found by argument-dependent lookup alone; with it, so it is.
void hash_value(struct no_such_handle);

/// std::hash if the type has it, else hash_value.
struct handle_hash {
  template <class T>
  std::size_t operator()(const T& x) const
      requires(std::is_default_constructible_v<std::hash<T>> || requires { static_cast<std::size_t>(hash_value(x)); }) {
    if constexpr (std::is_default_constructible_v<std::hash<T>>) return std::hash<T>{}(x);
    else return static_cast<std::size_t>(hash_value(x));
  }
};

/// Whether a handle says of itself that it names nothing: a null pointer, a class with an explicit operator bool.
template <class T>
bool is_null(const T& handle) {
  if constexpr (std::is_pointer_v<T>) return handle == nullptr;
  else if constexpr (std::is_class_v<T> && std::is_constructible_v<bool, const T&> && !std::is_convertible_v<const T&, bool>)
    return !static_cast<bool>(handle);
  else return false;
}

template <class G>
concept has_size = has_tensors<G> && requires(const G& g, const tensor_t<G>& t) {
  { graph_traits<G>::size(g, t) } -> amount;
};

/// Types that may be handles.
template <class T>
concept hashable = std::equality_comparable<T> && requires(const T& x, handle_hash hash) {
  hash(x);
};
template <class G>
concept hashable_ops = has_ops<G> && hashable<op_t<G>>;
template <class G>
concept hashable_tensors = has_tensors<G> && hashable<tensor_t<G>>;

}  // namespace detail

/// A type that the library schedules.
template <class G>
concept memory_graph = detail::has_ops<G> && detail::has_inputs<G> && detail::has_outputs<G> && detail::has_tensors<G> &&
    detail::has_size<G> && detail::hashable_ops<G> && detail::hashable_tensors<G>;

/// The questions that a graph may answer: `size`, and the optional hooks of `graph_traits`.
enum class hook : unsigned char {
  size,
  tensors,
  after,
  workspace,
  firing,
  overwrites,
  updates,
  live_out,
  alias_of,
  scope,
  cost,
  pure,
  operator_name,
  tensor_name
};

namespace detail {

/// A list of elements that may stand for a `Handle`. No number stands for one of another kind: a bool or a fraction for an
/// integer.
template <class R, class Handle>
concept list_of_handles = handles<R> && std::convertible_to<handle_t<R>, Handle> &&
    (!std::is_arithmetic_v<handle_t<R>> || integer<handle_t<R>> || std::same_as<handle_t<R>, Handle>);

/// Whether graph_traits<G> answers a question in the right way.
template <hook H, class G>
inline constexpr bool hears = false;
template <has_tensors G>
inline constexpr bool hears<hook::size, G> = has_size<G>;
template <has_tensors G>
inline constexpr bool hears<hook::tensors, G> = requires(const G& g) {
  { graph_traits<G>::tensors(g) } -> list_of_handles<tensor_t<G>>;
};
template <has_tensors G>
inline constexpr bool hears<hook::after, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::after(g, op) } -> list_of_handles<op_t<G>>;
};
template <has_tensors G>
inline constexpr bool hears<hook::workspace, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::workspace(g, op) } -> amount;
};
template <has_tensors G>
inline constexpr bool hears<hook::firing, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::firing(g, op) } -> std::convertible_to<std::optional<memsched::firing>>;
};
template <has_tensors G>
inline constexpr bool hears<hook::overwrites, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::overwrites(g, op) } -> positions;
};
template <has_tensors G>
inline constexpr bool hears<hook::updates, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::updates(g, op) } -> list_of_handles<tensor_t<G>>;
};
template <has_tensors G>
inline constexpr bool hears<hook::live_out, G> = requires(const G& g, const tensor_t<G>& t) {
  { graph_traits<G>::live_out(g, t) } -> std::convertible_to<bool>;
};
template <has_tensors G>
inline constexpr bool hears<hook::alias_of, G> = requires(const G& g, const tensor_t<G>& t) {
  { graph_traits<G>::alias_of(g, t) } -> alias<tensor_t<G>>;
};
template <has_tensors G>
inline constexpr bool hears<hook::scope, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::scope(g, op) } -> amount;
};
template <has_tensors G>
inline constexpr bool hears<hook::cost, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::cost(g, op) } -> amount;
};
template <has_tensors G>
inline constexpr bool hears<hook::pure, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::pure(g, op) } -> std::same_as<bool>;
};
template <has_tensors G>
inline constexpr bool hears<hook::operator_name, G> = requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::operator_name(g, op) } -> std::convertible_to<std::string>;
};
template <has_tensors G>
inline constexpr bool hears<hook::tensor_name, G> = requires(const G& g, const tensor_t<G>& t) {
  { graph_traits<G>::tensor_name(g, t) } -> std::convertible_to<std::string>;
};

/// The graph that a view of another one hands questions on to; a graph of its own has none.
template <class G>
struct base_of_view {
  using type = void;
};

/// Makes the compiler's error state the requirements of hook H, unless it is `fine`.
template <hook H, bool fine>
constexpr bool demand_hook() {
  static_assert(fine || H != hook::size, "memsched: the graph lacks size(tensor): bytes as an integer");
  static_assert(fine || H != hook::tensors, "memsched: tensors is no hook: tensors() must list tensor handles");
  static_assert(fine || H != hook::after, "memsched: after is no hook: after(op) must list operator handles");
  static_assert(fine || H != hook::workspace, "memsched: workspace is no hook: workspace(op) must say bytes as an integer");
  static_assert(fine || H != hook::firing, "memsched: firing is no hook: firing(op) must be a memsched::firing");
  static_assert(fine || H != hook::overwrites,
                "memsched: overwrites is no hook: overwrites(op) must be an integer, -1 for none, or list overwrite_at");
  static_assert(fine || H != hook::updates, "memsched: updates is no hook: updates(op) must list tensor handles");
  static_assert(fine || H != hook::live_out, "memsched: live_out is no hook: live_out(tensor) must be a bool");
  static_assert(fine || H != hook::alias_of, "memsched: alias_of is no hook: alias_of(tensor) must be a tensor handle");
  static_assert(fine || H != hook::scope, "memsched: scope is no hook: scope(op) must be an integer");
  static_assert(fine || H != hook::cost, "memsched: cost is no hook: cost(op) must be an integer");
  static_assert(fine || H != hook::pure, "memsched: pure is no hook: pure(op) must be a bool");
  static_assert(fine || H != hook::operator_name, "memsched: operator_name is no hook: operator_name(op) must be a string");
  static_assert(fine || H != hook::tensor_name, "memsched: tensor_name is no hook: tensor_name(tensor) must be a string");
  return true;
}

/// Makes the compiler's error name the missing parts of a memory_graph.
template <class G>
constexpr bool demand_graph() {
  static_assert(has_ops<G>, "memsched: the graph lacks ops(): a range of operator handles (see memsched/graph/traits.hpp)");
  static_assert(!has_ops<G> || has_inputs<G>,
                "memsched: the graph lacks inputs(op), or what it returns is no range of tensor handles");
  static_assert(!has_ops<G> || has_outputs<G>,
                "memsched: the graph lacks outputs(op), or what it returns is no range of tensor handles");
  static_assert(!has_inputs<G> || !has_outputs<G> || has_tensors<G>,
                "memsched: inputs(op) and outputs(op) list handles of types that have no common type");
  if constexpr (has_tensors<G>) demand_hook<hook::size, has_size<G>>();
  static_assert(!has_ops<G> || hashable_ops<G>,
                "memsched: the graph's operator handles lack == or std::hash and hash_value");
  static_assert(!has_tensors<G> || hashable_tensors<G>,
                "memsched: the graph's tensor handles lack == or std::hash and hash_value");
  return true;
}

template <class G>
struct hooks_of {
  static_assert(demand_graph<G>());
  static constexpr bool tensors = hears<hook::tensors, G>;
  static constexpr bool after = hears<hook::after, G>;
  static constexpr bool workspace = hears<hook::workspace, G>;
  static constexpr bool firing = hears<hook::firing, G>;
  static constexpr bool overwrites = hears<hook::overwrites, G>;
  static constexpr bool updates = hears<hook::updates, G>;
  static constexpr bool live_out = hears<hook::live_out, G>;
  static constexpr bool alias_of = hears<hook::alias_of, G>;
  static constexpr bool scope = hears<hook::scope, G>;
  static constexpr bool cost = hears<hook::cost, G>;
  static constexpr bool pure = hears<hook::pure, G>;
  static constexpr bool operator_name = hears<hook::operator_name, G>;
  static constexpr bool tensor_name = hears<hook::tensor_name, G>;
};

}  // namespace detail

/// The optional hooks that a graph type has; static_assert on one to catch a misspelt name. A hook of the right name with
/// another signature is an error in `lower`. A type that is no memory_graph is an error that names the missing parts.
template <class G>
inline constexpr detail::hooks_of<G> hooks{};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
