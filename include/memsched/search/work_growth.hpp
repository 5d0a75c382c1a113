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
  /// The work up to `peak`, in units of that up to now: if it goes on to grow as since the first call. `work`: since the last
  /// call; `level`: the peak up to which the search has got. Peaks are multiples of `unit`, so that the true rise may be almost
  /// one unit more. Infinite at first.
  double expected(double work, bytes level, bytes peak, bytes unit) {
    work_ += work;
    if (first_work_ == 0) {
      first_work_ = work_, first_level_ = level;
      return std::numeric_limits<double>::infinity();
    }
    const bytes rise = level - std::min(level, first_level_) + unit;
    return std::pow(work_ / first_work_, static_cast<double>(peak - std::min(level, peak)) / static_cast<double>(rise));
  }

 private:
  double work_ = 0, first_work_ = 0;
  bytes first_level_ = 0;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
