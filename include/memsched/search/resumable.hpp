// Searches that go on from turn to turn.
#pragma once

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
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
