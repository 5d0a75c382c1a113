// A chain of lowest sets along a graph, and the blocks between them.
#pragma once

#include <cstddef>
#include <vector>

#include <memsched/base/backbone.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The distance between valleys, and the range in which each is looked for, in positions.
struct valley_shape {
  std::size_t every = 32, reach = 300, old = 4000;
};

/// Blocks between valleys, in an order in which they can run one after the other: the sets before nodes of the backbone, one
/// each `every` positions, each a lowest one that holds the one before. If a node must run between two neighbouring
/// valleys, no order lowers it by leaving out part of the first or running more than the second. With several strands
/// side by side see `slice_blocks`. One minimum cut of about `reach` nodes each; asks `go_on` before each, and leaves the
/// rest in one block if that says no.
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> valley_blocks(const structure::order_line& l, const base::backbone& bone,
                                                                  base::function_ref<bool()> go_on,
                                                                  const valley_shape& shape = {});

/// The same with lowest sets between the nodes `half` positions before and after each 64th position, so that strands
/// that the line keeps in step stay so.
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> slice_blocks(const structure::order_line& l,
                                                                 base::function_ref<bool()> go_on, std::size_t half = 200);

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/bounds/lowest_set.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Builds a chain of sets that can have run, each a lowest one among those between the forced nodes and the allowed ones.
class lowest_chain {
 public:
  explicit lowest_chain(const order_line& l)
      : line_(&l), g_(&l.graph()), lowest_(*g_), mark_(g_->size(), 0), in_(g_->size(), false) {}

  /// The set before c is to run: it holds all of c's ancestors and neither c nor a descendant. It is looked for up to
  /// `reach` positions after c; nodes more than `old` positions in front of c are in it.
  void before(node_id c, std::size_t reach, std::size_t old) {
    ++now_;
    admit(line_->position(c) + reach);
    force({c}, g_->preds, [&](node_id u) { return !in_[u]; });
    const std::size_t frontier = frontier_;
    exclude(c, frontier);
    cut([&](node_id u) { return line_->position(u) + old < line_->position(c); });
  }
  /// A set between those that stand before two legal positions.
  void between(std::size_t first, std::size_t last) {
    ++now_;
    admit(last);
    cut([&](node_id u) { return line_->position(u) < first; });
  }
  void finish() {
    ++now_;
    admit(line_->size());
    cut([](node_id) { return true; });
  }

  /// The nodes that each set adds to the one before, in the line's order. Releases are in the block that completes their
  /// readers.
  std::vector<std::vector<node_id>> take() { return std::move(blocks_); }

 private:
  static constexpr unsigned kinds = 2;
  enum kind : unsigned { forced = 0, excluded = 1 };
  bool is(node_id u, kind k) const { return mark_[u] == kinds * now_ + k; }
  void make(node_id u, kind k) { mark_[u] = kinds * now_ + k; }

  void admit(std::size_t frontier) {
    frontier = line_->legal_from(std::min(std::max(frontier, frontier_), line_->size()));
    for (; frontier_ < frontier; ++frontier_) pending_.push_back(line_->at(frontier_));
  }
  template <class May>
  void force(std::vector<node_id> stack, const adjacency& preds, May may) {
    while (!stack.empty()) {
      const node_id v = stack.back();
      stack.pop_back();
      for (node_id u : preds[v])
        if (may(u) && !is(u, forced)) make(u, forced), stack.push_back(u);
    }
  }
  void exclude(node_id c, std::size_t frontier) {
    std::vector<node_id> stack{c};
    make(c, excluded);
    while (!stack.empty()) {
      const node_id v = stack.back();
      stack.pop_back();
      for (node_id s : g_->succs[v])
        if (line_->position(s) < frontier && !is(s, excluded)) make(s, excluded), stack.push_back(s);
    }
  }
  /// Adds the lowest set of the pending nodes; forced nodes and those that `must` names are in it.
  template <class Must>
  void cut(Must must) {
    lowest_.clear();
    for (node_id u : pending_) {
      if (is(u, excluded)) continue;
      if (must(u)) make(u, forced);
      if (!is(u, forced)) lowest_.add(u);
    }
    lowest_.solve(g_->preds);
    std::vector<node_id> block;
    std::erase_if(pending_, [&](node_id u) {
      if (!is(u, forced) && !lowest_.holds(u)) return false;
      in_[u] = true;
      block.push_back(u);
      return true;
    });
    if (!block.empty()) blocks_.push_back(std::move(block));
  }

  const order_line* line_;
  const schedule_graph* g_;
  lowest_set lowest_;
  std::vector<index_t> mark_;
  index_t now_ = 1;
  plain_vector<bool> in_;
  std::vector<node_id> pending_;  // in front of the frontier and not in the last set
  std::size_t frontier_ = 0;
  std::vector<std::vector<node_id>> blocks_;
};

MEMSCHED_FUNCTION std::vector<std::vector<node_id>> valley_blocks(const structure::order_line& l, const base::backbone& bone,
                                                                  base::function_ref<bool()> go_on,
                                                                  const valley_shape& shape) {
  detail::lowest_chain chain(l);
  std::size_t next = shape.every;
  for (node_id c : bone.path()) {
    if (l.position(c) < next || l.graph().is_release(c)) continue;
    if (!go_on()) break;
    chain.before(c, shape.reach, shape.old);
    next = l.position(c) + shape.every;
  }
  chain.finish();
  return chain.take();
}

MEMSCHED_FUNCTION std::vector<std::vector<node_id>> slice_blocks(const structure::order_line& l,
                                                                 base::function_ref<bool()> go_on, std::size_t half) {
  detail::lowest_chain chain(l);
  constexpr std::size_t every = 64;
  for (std::size_t p = every; p < l.size() && go_on(); p += every)
    chain.between(p - std::min(p, half), l.legal_from(std::min(l.size(), p + half)));
  chain.finish();
  return chain.take();
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
