// A graph with other answers to one question, without copying it.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <memsched/graph/traits.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// `base` seen with other answers to one hook.
template <hook H, class Base, class F>
struct overlaid {
  Base base;
  F answer;
};

template <hook H, class Base, class F>
struct base_of_view<overlaid<H, Base, F>> {
  using type = std::remove_cvref_t<Base>;
};

/// A graph given by name is referred to, a temporary one is moved in.
template <class G>
using held = std::conditional_t<std::is_lvalue_reference_v<G>, const std::remove_reference_t<G>&, std::remove_cvref_t<G>>;

/// Fails to compile if no answer of f fits the hook: an overlay that has no effect is an error.
template <hook H, class G, class F>
auto overlay(G&& g, F f) {
  using view = overlaid<H, held<G>, F>;
  if constexpr (has_tensors<std::remove_cvref_t<G>>) demand_hook<H, hears<H, view>>();  // else `lower` names what is missing
  return view{std::forward<G>(g), std::move(f)};
}
}  // namespace detail

/// g with size(tensor) = f(tensor), for a graph that has no sizes of its own or other ones.
template <class G, class F>
auto with_sizes(G&& g, F f) {
  return detail::overlay<hook::size>(std::forward<G>(g), std::move(f));
}

/// g with tensors() = list, a range of tensor handles, or list(): those that no operator may list.
template <class G, class List>
auto with_tensors(G&& g, List list) {
  if constexpr (handles<const List&>) {
    const auto same = [list = std::move(list)]() -> const List& { return list; };
    return detail::overlay<hook::tensors>(std::forward<G>(g), same);
  } else {
    return detail::overlay<hook::tensors>(std::forward<G>(g), std::move(list));
  }
}

/// g with after(op) = f(op): control edges.
template <class G, class F>
auto with_after(G&& g, F f) {
  return detail::overlay<hook::after>(std::forward<G>(g), std::move(f));
}

/// g with workspace(op) = f(op), in bytes.
template <class G, class F>
auto with_workspace(G&& g, F f) {
  return detail::overlay<hook::workspace>(std::forward<G>(g), std::move(f));
}

/// g with overwrites(op) = f(op).
template <class G, class F>
auto with_overwrites(G&& g, F f) {
  return detail::overlay<hook::overwrites>(std::forward<G>(g), std::move(f));
}

/// g with updates(op) = f(op).
template <class G, class F>
auto with_updates(G&& g, F f) {
  return detail::overlay<hook::updates>(std::forward<G>(g), std::move(f));
}

/// g with outputs that are the tensors with f(tensor): they stay to the end.
template <class G, class F>
auto with_live_out(G&& g, F f) {
  return detail::overlay<hook::live_out>(std::forward<G>(g), std::move(f));
}

/// g with alias_of(tensor) = f(tensor).
template <class G, class F>
auto with_aliases(G&& g, F f) {
  return detail::overlay<hook::alias_of>(std::forward<G>(g), std::move(f));
}

/// g with scope(op) = f(op).
template <class G, class F>
auto with_scopes(G&& g, F f) {
  return detail::overlay<hook::scope>(std::forward<G>(g), std::move(f));
}

/// g with cost(op) = f(op).
template <class G, class F>
auto with_cost(G&& g, F f) {
  return detail::overlay<hook::cost>(std::forward<G>(g), std::move(f));
}

/// g with pure(op) = f(op).
template <class G, class F>
auto with_pure(G&& g, F f) {
  return detail::overlay<hook::pure>(std::forward<G>(g), std::move(f));
}

/// g with operator_name(op) = f(op).
template <class G, class F>
auto with_operator_names(G&& g, F f) {
  return detail::overlay<hook::operator_name>(std::forward<G>(g), std::move(f));
}

/// g with tensor_name(tensor) = f(tensor).
template <class G, class F>
auto with_tensor_names(G&& g, F f) {
  return detail::overlay<hook::tensor_name>(std::forward<G>(g), std::move(f));
}

/// g with every operator under `rule`, or under rule(op).
template <class G, class F>
auto with_firing(G&& g, F rule) {
  if constexpr (std::same_as<F, firing>) {
    const auto always = [rule](const auto&) { return rule; };
    return detail::overlay<hook::firing>(std::forward<G>(g), always);
  } else {
    return detail::overlay<hook::firing>(std::forward<G>(g), std::move(rule));
  }
}

/// Hands every question but one on to the base.
template <hook H, class Base, class F>
struct graph_traits<detail::overlaid<H, Base, F>> {
  using view = detail::overlaid<H, Base, F>;
  using graph = std::remove_cvref_t<Base>;
  using base = graph_traits<graph>;

  static decltype(auto) ops(const view& v) requires detail::has_ops<graph> { return base::ops(v.base); }
  template <class Op>
  static decltype(auto) inputs(const view& v, const Op& op) requires detail::has_inputs<graph> {
    return base::inputs(v.base, op);
  }
  template <class Op>
  static decltype(auto) outputs(const view& v, const Op& op) requires detail::has_outputs<graph> {
    return base::outputs(v.base, op);
  }

  static decltype(auto) tensors(const view& v) requires(H == hook::tensors && std::invocable<const F&>) {
    return v.answer();
  }
  static decltype(auto) tensors(const view& v) requires(H != hook::tensors && requires { base::tensors(v.base); }) {
    return base::tensors(v.base);
  }

  template <class T>
  static decltype(auto) size(const view& v, const T& t) requires(H == hook::size && std::invocable<const F&, const T&>) {
    return v.answer(t);
  }
  template <class T>
  static decltype(auto) size(const view& v, const T& t) requires(H != hook::size && requires { base::size(v.base, t); }) {
    return base::size(v.base, t);
  }

  template <class Op>
  static decltype(auto) after(const view& v,
                              const Op& op) requires(H == hook::after && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) after(const view& v,
                              const Op& op) requires(H != hook::after && requires { base::after(v.base, op); }) {
    return base::after(v.base, op);
  }

  template <class Op>
  static decltype(auto) workspace(const view& v,
                                  const Op& op) requires(H == hook::workspace && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) workspace(const view& v,
                                  const Op& op) requires(H != hook::workspace && requires { base::workspace(v.base, op); }) {
    return base::workspace(v.base, op);
  }

  template <class Op>
  static decltype(auto) firing(const view& v,
                               const Op& op) requires(H == hook::firing && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) firing(const view& v,
                               const Op& op) requires(H != hook::firing && requires { base::firing(v.base, op); }) {
    return base::firing(v.base, op);
  }

  template <class Op>
  static decltype(auto) overwrites(const view& v,
                                   const Op& op) requires(H == hook::overwrites && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) overwrites(const view& v, const Op& op) requires(H != hook::overwrites &&
                                                                         requires { base::overwrites(v.base, op); }) {
    return base::overwrites(v.base, op);
  }

  template <class Op>
  static decltype(auto) updates(const view& v,
                                const Op& op) requires(H == hook::updates && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) updates(const view& v,
                                const Op& op) requires(H != hook::updates && requires { base::updates(v.base, op); }) {
    return base::updates(v.base, op);
  }

  template <class T>
  static decltype(auto) live_out(const view& v,
                                 const T& t) requires(H == hook::live_out && std::invocable<const F&, const T&>) {
    return v.answer(t);
  }
  template <class T>
  static decltype(auto) live_out(const view& v,
                                 const T& t) requires(H != hook::live_out && requires { base::live_out(v.base, t); }) {
    return base::live_out(v.base, t);
  }

  template <class T>
  static decltype(auto) alias_of(const view& v,
                                 const T& t) requires(H == hook::alias_of && std::invocable<const F&, const T&>) {
    return v.answer(t);
  }
  template <class T>
  static decltype(auto) alias_of(const view& v,
                                 const T& t) requires(H != hook::alias_of && requires { base::alias_of(v.base, t); }) {
    return base::alias_of(v.base, t);
  }

  template <class Op>
  static decltype(auto) scope(const view& v,
                              const Op& op) requires(H == hook::scope && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) scope(const view& v,
                              const Op& op) requires(H != hook::scope && requires { base::scope(v.base, op); }) {
    return base::scope(v.base, op);
  }

  template <class Op>
  static decltype(auto) cost(const view& v, const Op& op) requires(H == hook::cost && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) cost(const view& v, const Op& op) requires(H != hook::cost && requires { base::cost(v.base, op); }) {
    return base::cost(v.base, op);
  }

  template <class Op>
  static decltype(auto) pure(const view& v, const Op& op) requires(H == hook::pure && std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) pure(const view& v, const Op& op) requires(H != hook::pure && requires { base::pure(v.base, op); }) {
    return base::pure(v.base, op);
  }

  template <class Op>
  static decltype(auto) operator_name(const view& v, const Op& op) requires(H == hook::operator_name &&
                                                                            std::invocable<const F&, const Op&>) {
    return v.answer(op);
  }
  template <class Op>
  static decltype(auto) operator_name(const view& v, const Op& op) requires(H != hook::operator_name &&
                                                                            requires { base::operator_name(v.base, op); }) {
    return base::operator_name(v.base, op);
  }

  template <class T>
  static decltype(auto) tensor_name(const view& v,
                                    const T& t) requires(H == hook::tensor_name && std::invocable<const F&, const T&>) {
    return v.answer(t);
  }
  template <class T>
  static decltype(auto) tensor_name(const view& v, const T& t) requires(H != hook::tensor_name &&
                                                                        requires { base::tensor_name(v.base, t); }) {
    return base::tensor_name(v.base, t);
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
