// How any graph type is seen as operators and tensors: the one customization point.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include <memsched/base/bytes.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {

/// Own type: write members of these names. Foreign type: specialize with static functions of these names.
///
/// required  ops(g)               range of operator handles, each once; any hashable value
///           inputs(g, op)        range of tensor handles that op reads; any hashable value
///           outputs(g, op)       range of tensor handles that op writes
///           size(g, tensor)      bytes; any integer, negative is an error
/// optional  after(g, op)         range of operators that must run before op
///           workspace(g, op)     bytes that op needs while it runs
///           firing(g, op)        memsched::firing, or an optional one
///           overwrites(g, op)    position in inputs of the input that the first output may overwrite; -1 for none
///           live_out(g, tensor)  whether tensor lives to the end
///           alias_of(g, tensor)  the tensor whose storage this one names; itself where it is no alias
///           scope(g, op)         the op's cell or block: an unsigned integer
///           operator_name(g, op), tensor_name(g, tensor)   for messages
/// A tensor that no operator writes is a graph input.
template <class G>
struct graph_traits {
  static decltype(auto) ops(const G& g) requires requires { g.ops(); } { return g.ops(); }
  template <class Op>
  static decltype(auto) inputs(const G& g, const Op& op) requires requires { g.inputs(op); } { return g.inputs(op); }
  template <class Op>
  static decltype(auto) outputs(const G& g, const Op& op) requires requires { g.outputs(op); } { return g.outputs(op); }
  template <class T>
  static auto size(const G& g, const T& t) requires requires { g.size(t); } { return g.size(t); }

  template <class Op>
  static decltype(auto) after(const G& g, const Op& op) requires requires { g.after(op); } { return g.after(op); }
  template <class Op>
  static auto workspace(const G& g, const Op& op) requires requires { g.workspace(op); } { return g.workspace(op); }
  template <class Op>
  static auto firing(const G& g, const Op& op) requires requires { g.firing(op); } { return g.firing(op); }
  template <class Op>
  static int overwrites(const G& g, const Op& op) requires requires { g.overwrites(op); } { return g.overwrites(op); }
  template <class T>
  static bool live_out(const G& g, const T& t) requires requires { g.live_out(t); } { return g.live_out(t); }
  template <class T>
  static auto alias_of(const G& g, const T& t) requires requires { g.alias_of(t); } { return g.alias_of(t); }
  template <class Op>
  static auto scope(const G& g, const Op& op) requires requires { g.scope(op); } { return g.scope(op); }
  template <class Op>
  static std::string operator_name(const G& g, const Op& op) requires requires { g.operator_name(op); } {
    return g.operator_name(op);
  }
  template <class T>
  static std::string tensor_name(const G& g, const T& t) requires requires { g.tensor_name(t); } {
    return g.tensor_name(t);
  }
};

template <class G>
struct graph_traits<const G> : graph_traits<G> {};

/// What a hook may return to list handles: anything that a range-for accepts, by value or by reference.
template <class R>
concept handles = std::ranges::input_range<std::remove_reference_t<R>>;

template <class R>
using handle_t = std::remove_cvref_t<std::ranges::range_reference_t<std::remove_reference_t<R>>>;

template <class G>
concept has_ops = requires(const G& g) { { graph_traits<G>::ops(g) } -> handles; };

/// The handle of an operator.
template <has_ops G>
using op_t = handle_t<decltype(graph_traits<G>::ops(std::declval<const G&>()))>;

template <class G>
concept has_inputs = has_ops<G> && requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::inputs(g, op) } -> handles;
};
template <class G>
concept has_outputs = has_ops<G> && requires(const G& g, const op_t<G>& op) {
  { graph_traits<G>::outputs(g, op) } -> handles;
};

/// The handle of a tensor.
template <has_outputs G>
using tensor_t = handle_t<decltype(graph_traits<G>::outputs(std::declval<const G&>(), std::declval<const op_t<G>&>()))>;

template <class G>
concept has_size = has_outputs<G> && requires(const G& g, const tensor_t<G>& t) {
  { graph_traits<G>::size(g, t) } -> std::integral;
};

/// What may be a handle.
template <class T>
concept hashable = std::equality_comparable<T> && requires(const T& x) {
  { std::hash<T>{}(x) } -> std::convertible_to<std::size_t>;
};
template <class G>
concept hashable_ops = has_ops<G> && hashable<op_t<G>>;
template <class G>
concept hashable_tensors = has_outputs<G> && hashable<tensor_t<G>>;

/// A type that the library schedules.
template <class G>
concept memory_graph =
    has_ops<G> && has_inputs<G> && has_outputs<G> && has_size<G> && hashable_ops<G> && hashable_tensors<G>;

/// Which optional hooks a graph type has; static_assert on it to catch a misspelt one.
template <memory_graph G>
struct hooks_of {
  using t = graph_traits<G>;
  static constexpr bool after = requires(const G& g, const op_t<G>& op) { { t::after(g, op) } -> handles; };
  static constexpr bool workspace = requires(const G& g, const op_t<G>& op) { t::workspace(g, op); };
  static constexpr bool firing = requires(const G& g, const op_t<G>& op) { t::firing(g, op); };
  static constexpr bool overwrites = requires(const G& g, const op_t<G>& op) { t::overwrites(g, op); };
  static constexpr bool live_out = requires(const G& g, const tensor_t<G>& x) { t::live_out(g, x); };
  static constexpr bool alias_of = requires(const G& g, const tensor_t<G>& x) { t::alias_of(g, x); };
  static constexpr bool scope = requires(const G& g, const op_t<G>& op) { t::scope(g, op); };
  static constexpr bool operator_name = requires(const G& g, const op_t<G>& op) { t::operator_name(g, op); };
  static constexpr bool tensor_name = requires(const G& g, const tensor_t<G>& x) { t::tensor_name(g, x); };
};

template <memory_graph G>
inline constexpr hooks_of<G> hooks{};

}  // namespace memsched
