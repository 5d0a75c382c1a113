// Faults of a graph, as values.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/one_line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

enum class error_code : unsigned char {
  cycle,               ///< operators that wait for each other
  two_producers,       ///< a tensor written twice
  unknown_operator,    ///< a handle or index of no operator
  unknown_tensor,      ///< an index of no tensor
  no_producer,         ///< read or output, but neither produced nor a graph input
  produced_input,      ///< a graph input that an operator writes
  reads_own_output,    ///< an operator that reads a tensor which it writes
  bad_size,            ///< a negative size or cost
  unknown_size,        ///< a size that the graph cannot tell
  overflow,            ///< sizes that sum to more than `max_total`, or costs to more than 2^61
  bad_alias,           ///< an alias of itself in a circle, or of a tensor that its producer does not read
  bad_overwrite,       ///< an overwritten input that is not an input, or overwritten twice
  bad_update,          ///< an updated input that is not an input, or whose old value is a graph output
  too_large,           ///< more operators or tensors than a scheduler takes
  bad_order,           ///< no order of the operators that respects their dependences
  bad_policy,          ///< a scheduler that answers with no valid order, or with a bound above the peak of an order
  bad_input,           ///< a file that cannot be read or is not in its format
  solver_failed,       ///< a solver from outside that is missing, or gave no answer
  inconsistent_rates,  ///< synchronous dataflow with rates that balance for no numbers of firings
  deadlock,            ///< actors on a cycle with too few tokens
};

struct graph_error {
  error_code code{};
  std::string message;             ///< one line that names the culprit
  std::vector<index_t> operators;  ///< the culprits, by position in the caller's graph
  std::vector<index_t> tensors;    ///< likewise, in order of first appearance
};

namespace detail {

/// "operator 3 'conv'": the position always, the name if there is one. `kind` is "operator " or "tensor ".
inline std::string labelled(const char* kind, index_t i, std::string_view name) {
  std::string text = kind + std::to_string(i);
  return name.empty() ? text : text + " '" + base::one_line(name, 120) + "'";
}

}  // namespace detail

/// Thrown by `value()` of a result that holds an error.
struct MEMSCHED_EXCEPTION bad_graph : std::runtime_error {
  explicit bad_graph(graph_error e) : std::runtime_error(e.message), error(std::move(e)) {}
  graph_error error;
};

namespace detail {

/// Ends a call that has no value to give: throws bad_graph; if exceptions are off, prints the message and aborts.
[[noreturn]] inline void abort_with(const graph_error& error) {
#if defined(__cpp_exceptions)
  throw bad_graph(error);
#else
  std::fprintf(stderr, "memsched: %s\n", error.message.c_str());
  std::abort();
#endif
}

}  // namespace detail

/// A T or a graph_error.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : value_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  result(graph_error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const noexcept { return value_.has_value(); }
  const graph_error& error() const noexcept { return error_; }

  /// The T; throws bad_graph if there is none (aborts without exceptions).
  T& value() & { return demand(), *value_; }
  const T& value() const& { return demand(), *value_; }
  T value() && { return demand(), std::move(*value_); }  // by value: a range-for over a member of it is safe

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  void demand() const {
    if (!value_) detail::abort_with(error_);
  }
  std::optional<T> value_;
  graph_error error_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
