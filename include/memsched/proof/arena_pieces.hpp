// The pieces in the arena of an order: storages and workspaces, and those that share one place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A storage or a workspace under an order.
struct arena_piece {
  tensor_id storage = none;  ///< none for a workspace
  op_id writer = none;       ///< none for a graph input
  std::int64_t lower = 0, upper = 0;
  bytes size = 0;
  index_t in_place_of = none;  ///< the piece that gave its place to this one's writer
  index_t buffer = none;
};

/// Plays an order of a problem, for proofs: shares no code with `buffers_of`, and must find the same buffers.
class arena_pieces {
 public:
  arena_pieces(const problem& p, memory_model model) : p_(p), model_(model) {}

  firing rule(op_id op) const { return p_.firing(op).value_or(model_.default_firing); }

  /// False if that is not an order.
  bool play(std::span<const op_id> order) {
    constexpr auto never = static_cast<std::int64_t>(-1);
    const auto n = static_cast<std::int64_t>(order.size());
    std::vector<std::int64_t> at(p_.ops().size(), never);
    for (std::int64_t k = 0; k < n; ++k) {
      const op_id op = order[static_cast<std::size_t>(k)];
      if (op >= at.size() || at[op] != never) return false;
      for (const op_id before : p_.predecessors(op))
        if (at[before] == never) return false;
      at[op] = k;
    }
    if (order.size() != at.size()) return false;
    pieces.clear(), buffers.clear();
    std::vector<index_t> of_storage(p_.tensors().size(), none);
    for (const tensor_id t : p_.tensors()) {
      if (p_.storage(t) != t || p_.size(t) == 0) continue;
      const op_id writer = p_.producer(t);
      if (writer == none && !p_.kept(t)) continue;
      arena_piece a{.storage = t, .writer = writer, .size = p_.size(t)};
      a.lower = writer == none ? 0 : 2 * at[writer] + 1;
      a.upper = a.lower + 1;
      for (const op_id r : p_.readers(t)) a.upper = std::max(a.upper, 2 * at[r] + (rule(r) == firing::cbp ? 1 : 2));
      if (p_.stays(t)) a.upper = 2 * n + 1;
      of_storage[t] = static_cast<index_t>(pieces.size());
      pieces.push_back(a);
    }
    for (const op_id op : order)
      for (const problem::storage_reuse& r : p_.reuses(op)) {
        if (!may_take_place(op, r)) continue;
        const auto readers = p_.readers(r.input);
        const bool last = std::all_of(readers.begin(), readers.end(), [&](op_id o) { return at[o] <= at[op]; });
        if (last) pieces[of_storage[r.output]].in_place_of = of_storage[r.input];
      }
    for (const op_id op : order)
      if (p_.workspace(op) > 0)
        pieces.push_back({.writer = op, .lower = 2 * at[op] + 1, .upper = 2 * at[op] + 2, .size = p_.workspace(op)});
    return make_buffers();
  }

  /// Whether an operator may write an output in place of an input, if it is the last that reads it.
  bool may_take_place(op_id op, const problem::storage_reuse& r) const {
    return model_.in_place && r.spared > 0 && rule(op) == firing::pbc && !p_.stays(r.input);
  }

  std::vector<arena_piece> pieces;  ///< storages, ascending, then workspaces in order of running
  std::vector<buffer> buffers;      ///< the same, those that lie in one place as one, numbered by the first

 private:
  bool make_buffers() {
    std::vector<index_t> next(pieces.size(), none);
    for (index_t i = 0; i < pieces.size(); ++i)
      if (const index_t old = pieces[i].in_place_of; old != none && std::exchange(next[old], i) != none) return false;
    for (index_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].in_place_of != none) continue;
      buffer b{.lower = pieces[i].lower, .upper = pieces[i].upper, .size = pieces[i].size};
      bytes size = b.size;
      for (index_t k = i; k != none; k = next[k]) {
        arena_piece& a = pieces[k];
        a.buffer = static_cast<index_t>(buffers.size());
        if (a.upper <= b.upper) continue;
        if (a.size > size) return false;
        if (a.size < size) b.drops.push_back({b.upper, size = a.size});
        b.upper = a.upper;
      }
      buffers.push_back(std::move(b));
    }
    return true;
  }

  const problem& p_;
  memory_model model_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
