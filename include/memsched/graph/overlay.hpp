// A graph with other sizes, firing rules, workspaces or outputs, without copying it.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <memsched/graph/traits.hpp>

namespace memsched {

namespace detail {
/// A graph given by name is referred to, a temporary one is moved in.
template <class G>
using held = std::conditional_t<std::is_lvalue_reference_v<G>, const std::remove_reference_t<G>&, std::remove_cvref_t<G>>;
}  // namespace detail

/// `base` seen with other sizes.
template <class Base, class F>
struct sized_graph {
  Base base;
  F size;
};
/// `base` seen with other firing rules.
template <class Base, class F>
struct fired_graph {
  Base base;
  F rule;
};
/// `base` seen with other workspaces.
template <class Base, class F>
struct workspace_graph {
  Base base;
  F workspace;
};
/// `base` seen with other graph outputs.
template <class Base, class F>
struct live_out_graph {
  Base base;
  F stays;
};

/// g with size(tensor) = f(tensor), for a graph that has no sizes of its own or other ones.
template <class G, class F>
auto with_sizes(G&& g, F f) {
  return sized_graph<detail::held<G>, F>{std::forward<G>(g), std::move(f)};
}

/// g with every operator under `rule`, or under rule(op).
template <class G, class F>
auto with_firing(G&& g, F rule) {
  return fired_graph<detail::held<G>, F>{std::forward<G>(g), std::move(rule)};
}

/// g with workspace(op) = f(op), in bytes.
template <class G, class F>
auto with_workspace(G&& g, F f) {
  return workspace_graph<detail::held<G>, F>{std::forward<G>(g), std::move(f)};
}

/// g whose outputs are the tensors with f(tensor): they stay to the end.
template <class G, class F>
auto with_live_out(G&& g, F f) {
  return live_out_graph<detail::held<G>, F>{std::forward<G>(g), std::move(f)};
}

namespace detail {

/// Traits of V, a view with a member `base` of type Base, that hand every question on to Base.
template <class V, class Base>
struct forwarded_traits {
  using G = std::remove_cvref_t<Base>;
  using t = graph_traits<G>;
  static decltype(auto) ops(const V& v) requires has_ops<G> { return t::ops(v.base); }
  template <class Op>
  static decltype(auto) inputs(const V& v, const Op& op) requires has_inputs<G> { return t::inputs(v.base, op); }
  template <class Op>
  static decltype(auto) outputs(const V& v, const Op& op) requires has_outputs<G> { return t::outputs(v.base, op); }
  template <class T>
  static auto size(const V& v, const T& x) requires has_size<G> { return t::size(v.base, x); }
  template <class Op>
  static decltype(auto) after(const V& v, const Op& op) requires requires { t::after(v.base, op); } {
    return t::after(v.base, op);
  }
  template <class Op>
  static auto workspace(const V& v, const Op& op) requires requires { t::workspace(v.base, op); } {
    return t::workspace(v.base, op);
  }
  template <class Op>
  static auto firing(const V& v, const Op& op) requires requires { t::firing(v.base, op); } { return t::firing(v.base, op); }
  template <class Op>
  static int overwrites(const V& v, const Op& op) requires requires { t::overwrites(v.base, op); } {
    return t::overwrites(v.base, op);
  }
  template <class T>
  static bool live_out(const V& v, const T& x) requires requires { t::live_out(v.base, x); } {
    return t::live_out(v.base, x);
  }
  template <class T>
  static auto alias_of(const V& v, const T& x) requires requires { t::alias_of(v.base, x); } {
    return t::alias_of(v.base, x);
  }
  template <class Op>
  static auto scope(const V& v, const Op& op) requires requires { t::scope(v.base, op); } { return t::scope(v.base, op); }
  template <class Op>
  static auto operator_name(const V& v, const Op& op) requires requires { t::operator_name(v.base, op); } {
    return t::operator_name(v.base, op);
  }
  template <class T>
  static auto tensor_name(const V& v, const T& x) requires requires { t::tensor_name(v.base, x); } {
    return t::tensor_name(v.base, x);
  }
};

}  // namespace detail

template <class G, class F>
struct graph_traits<sized_graph<G, F>> : detail::forwarded_traits<sized_graph<G, F>, G> {
  template <class T>
  static auto size(const sized_graph<G, F>& v, const T& x) { return v.size(x); }
};

template <class G, class F>
struct graph_traits<fired_graph<G, F>> : detail::forwarded_traits<fired_graph<G, F>, G> {
  template <class Op>
  static memsched::firing firing(const fired_graph<G, F>& v, const Op& op) {
    if constexpr (std::same_as<F, memsched::firing>) return v.rule;
    else return v.rule(op);
  }
};

template <class G, class F>
struct graph_traits<workspace_graph<G, F>> : detail::forwarded_traits<workspace_graph<G, F>, G> {
  template <class Op>
  static auto workspace(const workspace_graph<G, F>& v, const Op& op) { return v.workspace(op); }
};

template <class G, class F>
struct graph_traits<live_out_graph<G, F>> : detail::forwarded_traits<live_out_graph<G, F>, G> {
  template <class T>
  static bool live_out(const live_out_graph<G, F>& v, const T& x) { return v.stays(x); }
};

}  // namespace memsched
