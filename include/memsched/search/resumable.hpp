// Searches that go on from turn to turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A search of one graph that goes on from turn to turn.
class resumable_search {
 public:
  virtual ~resumable_search() = default;

  /// Searches on. Returns false if the query is answered, or nothing is left to try, or a limit was hit.
  virtual bool round(const query& q) = 0;
  /// The best order, and its peak. Bytes.
  virtual std::vector<node_id> order() const = 0;
  virtual bytes peak() const = 0;
  /// No order has a smaller peak, except one within the target of a round. Bytes.
  virtual bytes bound() const = 0;

  /// Whether nothing better is of use.
  bool closed(const query& q) const { return peak() <= std::max(bound(), q.target) || bound() >= q.cutoff; }
  /// Rounds until that returns false.
  void run(const query& q) {
    while (round(q)) {
    }
  }
  /// Likewise. Gives up if that leaves a gap before any limit.
  void run_or_give_up(const query& q, search& context) {
    run(q);
    if (!closed(q) && !context.stopped()) context.control().give_up();
  }
};

/// Calls two functions in turns, the one that has done less work, the first if neither has, while `open` says so; neither
/// again after it returned false.
template <class Open, class First, class Second>
void in_turns(const search& context, Open open, First first, Second second) {
  std::uint64_t by_first = 0, by_second = 0;
  for (bool more_of_first = true, more_of_second = true; (more_of_first || more_of_second) && open();) {
    const std::uint64_t before = context.control().work();
    if (more_of_first && (by_first <= by_second || !more_of_second))
      more_of_first = first(), by_first += context.control().work() - before;
    else more_of_second = second(), by_second += context.control().work() - before;
  }
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
