// Functions that mutated headers call: the environment says which mutant is on. Included before everything else, with
// MUTANTS, one more than the largest number of a mutant.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace mutants {

/// The mutant that is on; 0: none.
inline const int current = [] {
  const char* text = std::getenv("MUTANT");
  return text != nullptr ? std::atoi(text) : 0;
}();

/// The mutants that the run has reached, and those that do not exist since types lack the other operation. Written at the end
/// of the run if the environment names a file for them.
inline std::atomic<bool> reached[MUTANTS];
inline bool lacking[MUTANTS];
template <int N>
inline const bool is_lacking = lacking[N] = true;

struct reached_at_exit {
  ~reached_at_exit() {
    const char* path = std::getenv("MUTANTS_REACHED");
    std::FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    for (int n = 0; n < MUTANTS; ++n)
      if (reached[n] || lacking[n]) std::fprintf(file, "%d\n", lacking[n] ? -n : n);
    std::fclose(file);
  }
};
inline const reached_at_exit writer;

/// Whether mutant n is on. Constant expressions are never mutated.
constexpr bool on(int n) {
  if (std::is_constant_evaluated()) return false;
  reached[n].store(true, std::memory_order_relaxed);
  return current == n;
}

/// a OP tag OP b is a OP b, or another operation where the mutant is on: a tag of the same precedence.
#define MUTANTS_TAG(name, op, instead)                                                               \
  template <int N>                                                                                   \
  struct name {};                                                                                    \
  template <int N, class A>                                                                          \
  struct name##_left {                                                                               \
    A a;                                                                                             \
  };                                                                                                 \
  template <int N, class A>                                                                          \
  constexpr name##_left<N, A&&> operator op(A&& a, name<N>) {                                        \
    return {std::forward<A>(a)};                                                                     \
  }                                                                                                  \
  template <int N, class A, class B>                                                                 \
  constexpr auto operator op(name##_left<N, A>&& l, B&& b) {                                         \
    using same = decltype(std::forward<A>(l.a) op std::forward<B>(b));                               \
    if constexpr (requires { static_cast<same>(std::forward<A>(l.a) instead std::forward<B>(b)); })  \
      if (on(N)) return static_cast<same>(std::forward<A>(l.a) instead std::forward<B>(b));          \
    if constexpr (!requires { static_cast<same>(std::forward<A>(l.a) instead std::forward<B>(b)); }) \
      if (!std::is_constant_evaluated()) static_cast<void>(&is_lacking<N>);                          \
    return static_cast<same>(std::forward<A>(l.a) op std::forward<B>(b));                            \
  }
MUTANTS_TAG(less, <, <=)
MUTANTS_TAG(less_equal, <=, <)
MUTANTS_TAG(greater, >, >=)
MUTANTS_TAG(greater_equal, >=, >)
MUTANTS_TAG(equal, ==, !=)
MUTANTS_TAG(unequal, !=, ==)
MUTANTS_TAG(plus, +, -)
MUTANTS_TAG(minus, -, +)
#undef MUTANTS_TAG

/// The smaller where the larger is asked for, and the reverse.
template <int N>
struct largest {
  template <class T>
  static constexpr T of(const T& a, const T& b) {
    return (a < b) != on(N) ? b : a;
  }
  template <class T>
  static constexpr T of(std::initializer_list<T> list) {
    T best = *list.begin();
    for (const T& x : list)
      if (on(N) ? x < best : best < x) best = x;
    return best;
  }
};
template <int N>
struct smallest {
  template <class T>
  static constexpr T of(const T& a, const T& b) {
    return (b < a) != on(N) ? b : a;
  }
  template <class T>
  static constexpr T of(std::initializer_list<T> list) {
    T best = *list.begin();
    for (const T& x : list)
      if (on(N) ? best < x : x < best) best = x;
    return best;
  }
};

}  // namespace mutants
