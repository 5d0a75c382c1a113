// A non-owning reference to a callable, as a parameter type: two words, no allocation.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

template <class Signature>
class function_ref;

template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  function_ref() = default;

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
      function_ref(F&& f)  // NOLINT(google-explicit-constructor): a parameter type converts
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))), call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  void* object_ = nullptr;
  R (*call_)(void*, Args...) = nullptr;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
