// Small steps of a search, counted as its work.
#pragma once

#include <cstddef>
#include <utility>

#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Counts small steps as work of a search: `unit` steps are one unit of it.
class step_counter {
 public:
  explicit step_counter(search& context) : context_(context) {}

  void count(std::size_t steps) {
    constexpr std::size_t unit = 4096;
    steps_ += steps;
    if (steps_ >= unit) context_.control().spend(std::exchange(steps_, steps_ % unit) / unit);
  }

 private:
  search& context_;
  std::size_t steps_ = 0;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
