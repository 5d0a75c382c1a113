// The concept of rerun policies, their composition, and shares of limits.
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/type_name.hpp>
#include <memsched/recompute/incumbent.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A function that adds executions or bounds to those found before it.
template <class P>
concept rerun_policy = requires(const P& policy, rerun_incumbent& best, search& context) {
  { policy(best, context) } -> std::same_as<void>;
};

namespace reruns {

/// The name of a policy in results: `P::name`, or that of its type.
template <class P>
constexpr std::string_view name_of() {
  if constexpr (requires { std::string_view(P::name); }) return P::name;
  else return base::type_name<P>();
}

/// Runs a policy, unless nothing is left to search. Its answers and bounds are attributed to it.
template <rerun_policy P>
void apply(const P& policy, rerun_incumbent& best, search& context) {
  if (best.done()) return;
  const detail::named_source here(context, name_of<P>());
  policy(best, context);
}

/// A policy in a share, above 0 and at most 1, of the time and the states that are left.
template <rerun_policy P>
struct within {
  double share;
  P policy;
  void operator()(rerun_incumbent& best, search& context) const {
    context.control().with_share(share, [&] { apply(policy, best, context); });
  }
};
template <rerun_policy P>
within(double, P) -> within<P>;

/// One policy after another: `a | b`.
template <rerun_policy P, rerun_policy Q>
struct sequence {
  P first;
  Q second;
  void operator()(rerun_incumbent& best, search& context) const {
    apply(first, best, context);
    apply(second, best, context);
  }
};

/// `|` is found by itself if one side is the library's; `using namespace memsched::reruns::composition` for two of one's
/// own.
inline namespace composition {

template <rerun_policy P, rerun_policy Q>
constexpr sequence<P, Q> operator|(P p, Q q) {
  return {std::move(p), std::move(q)};
}

}  // namespace composition
}  // namespace reruns

}  // namespace MEMSCHED_ABI
}  // namespace memsched
