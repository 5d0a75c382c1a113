// An estimate of the work that a search by rising peaks will take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The work that a search by rising peaks will take. It grows exponentially with the peak.
class work_growth {
 public:
  /// Adds `work`, after which the search has got up to the peak `level`.
  void add(double work, bytes level) {
    work_ += work, level_ = level;
    if (first_work_ == 0) first_work_ = work, first_level_ = level;
  }
  double work() const { return work_; }
  /// The work up to `peak`, in units of that up to now: if it goes on to grow as since the first of it. Peaks are multiples of
  /// `unit`, so that the true rise may be almost one unit more. Infinite at first.
  double expected(bytes peak, bytes unit) const {
    if (work_ == first_work_) return std::numeric_limits<double>::infinity();
    const bytes rise = level_ - std::min(level_, first_level_) + unit;
    return std::pow(work_ / first_work_, static_cast<double>(peak - std::min(level_, peak)) / static_cast<double>(rise));
  }

 private:
  double work_ = 0, first_work_ = 0;
  bytes level_ = 0, first_level_ = 0;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
