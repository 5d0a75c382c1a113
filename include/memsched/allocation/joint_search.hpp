// The exact search for an order and offsets within a capacity; its rule with its proof.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/allocation/conflict.hpp>
#include <memsched/allocation/draft_of.hpp>
#include <memsched/allocation/plan.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

using order_edge = std::pair<op_id, op_id>;  ///< the first runs before the second
using order_edges = std::set<order_edge>;

/// The problem with more edges between its operators; an error if that makes a cycle.
inline result<problem> with_edges(const problem& p, const order_edges& edges) {
  problem_draft d = draft_of(p);
  list_of<op_id> after;
  for (op_id op : p.ops()) {
    for (op_id before : p.after(op)) after.push(before);
    for (const auto& [first, second] : edges)
      if (second == op) after.push(first);
    after.close();
  }
  d.after = std::move(after);
  return make_problem(std::move(d));
}

/// The reason why no order with some edges fits: the bound of its peak, or buffers of an order that do not fit; all ways out of
/// that were refuted before.
struct joint_no {
  order_edges edges;
  std::vector<op_id> order;       ///< of a small peak
  std::vector<index_t> conflict;  ///< of the buffers of the order; empty if it is the peak
};

/// Order and offsets within a capacity, or a proof that there are none.
///
/// **J1.** Think of storages and workspaces as rectangles of time and offsets, where one that takes the place of another in
/// place has the same offset. Whether a set of them fits into a capacity depends on which pairs meet in time and on which
/// pairs are so tied, and gets harder with more of either. Let S not fit under the order o, as its conflict says. Then under
/// every order o' that fits (a) some a and b of S that meet under o and are not tied are apart: every operator that reads or
/// writes a comes before the writer of b (which may be the last
///     reader if it fires `cbp`), or the other way round; or
/// (b) they meet and are tied, as b's writer takes the storage of a (or the other way round): all other readers of a come
/// before it; or (c) some a and b of S that are tied under o, b's writer having taken the storage of a, are not: the writer
/// comes before another reader of a. Each is a set of edges between operators that o violates. So the orders that fit are
/// among those of the problems with one of these sets added; there are finitely many sets of edges. Two rectangles that meet
/// and are in one chain of ties are tied directly, since in a chain each ends where the next but one has not begun. If
/// two buffers of S have no drops, they meet as long as any of their parts do, and one pair of parts that meets stands for
/// all.
class joint_search {
 public:
  /// `name`: of the scheduler, for errors.
  joint_search(const problem& p, inner_scheduler scheduler, any_planner how, bytes alignment, search& context,
               std::string_view name = "handed in")
      : p_(p), scheduler_(scheduler), how_(how), alignment_(alignment), context_(context), name_(name) {}

  enum class answer : unsigned char { fits, no, open };

  /// The buffers of an order, aligned.
  order_buffers buffers(const problem& p, std::span<const op_id> order) const {
    order_buffers held = buffers_of(p, order, context_.opts().model()).value();
    for (buffer& b : held.buffers) b.alignment = alignment_;
    return held;
  }

  solution ask_scheduler(const problem& p, bytes budget) const {
    options o = context_.opts();
    o.budget = budget;
    o.on_progress = {};
    o.state_limit = context_.control().states_left();
    o.time_limit = context_.control().time_left();
    search inner(o);
    const schedule_graph g = make_schedule_graph(p, o.model());
    solution s = checked(scheduler_(g, inner), name_, g);
    context_.control().stats.states += inner.control().stats.states;
    context_.control().stats.cuts += inner.control().stats.cuts;
    if (s.error) return s;
    if (const bytes known = std::min(peak_of(g, s.order), peak_of(g, given_order(g))); s.lower_bound > known)
      s.error = contradiction("the scheduler " + std::string(name_), "order has a peak", s.lower_bound, known);
    return s;
  }

  /// Whether some order fits into `capacity`; each plan may take `nodes`. `why` takes the refutations made on the way, each
  /// after those that it rests on.
  answer decide(bytes capacity, std::uint64_t nodes, std::vector<joint_no>* why = nullptr) {
    seen_.clear();
    why_ = why;
    nodes_ = nodes;
    return decide(capacity, order_edges{});
  }

  const std::vector<op_id>& order() const { return order_; }
  const arena_plan& plan() const { return plan_; }
  /// The scheduler's error, or that it contradicted itself.
  const std::optional<graph_error>& error() const { return error_; }

 private:
  answer decide(bytes capacity, const order_edges& edges) {
    if (!seen_.insert(edges).second) return answer::no;  // being decided, or decided: the answer counts there
    if (!context_.count_state()) return answer::open;
    const auto extended = with_edges(p_, edges);
    if (!extended) return answer::no;  // a cycle: no order has these edges
    solution s = ask_scheduler(*extended, capacity);
    if (s.error) return error_ = std::move(s.error), answer::open;
    if (s.lower_bound > capacity) return refuted({edges, s.order, {}});
    const order_buffers held = buffers(p_, s.order);
    if (evaluate(p_, s.order, context_.opts().model())->peak > capacity) return answer::open;
    arena_plan plan = context_.control().with_states(nodes_, [&] { return how_(held.buffers, capacity, context_); });
    if (plan.size <= capacity) return order_ = s.order, plan_ = std::move(plan), answer::fits;
    if (context_.stopped() || plan.lower_bound <= capacity) return answer::open;
    const buffer_conflict conflict = find_conflict(held.buffers, capacity, context_, nodes_);
    if (conflict.buffers.empty()) return answer::open;
    answer all = answer::no;
    for (const order_edges& more : ways_out(held, conflict.buffers, s.order)) {
      order_edges child = edges;
      child.insert(more.begin(), more.end());
      const answer a = decide(capacity, child);
      if (a == answer::fits) return a;
      if (a == answer::open) all = a;
      if (context_.stopped() || error_) return answer::open;
    }
    return all == answer::no ? refuted({edges, s.order, conflict.buffers}) : all;
  }

  answer refuted(joint_no why) {
    if (why_ != nullptr) why_->push_back(std::move(why));
    return answer::no;
  }

  /// A storage or a workspace, and its lifetime.
  struct piece {
    index_t buffer;
    tensor_id storage;  ///< none for a workspace
    op_id writer;       ///< none for a graph input
    std::int64_t lower, upper;
  };

  firing rule(op_id op) const { return p_.firing(op).value_or(context_.opts().default_firing); }
  std::span<const op_id> readers(const piece& a) const {
    return a.storage == none ? std::span<const op_id>{} : p_.readers(a.storage);
  }

  /// The storages and workspaces of some buffers, each with its own lifetime.
  std::vector<piece> pieces(const order_buffers& held, const std::vector<index_t>& chosen,
                            std::span<const op_id> order) const {
    memory_model apart = context_.opts().model();
    apart.in_place = false;  // the same lifetimes, nothing merged
    const order_buffers single = buffers_of(p_, order, apart).value();
    std::vector<bool> in(held.buffers.size(), false);
    for (const index_t b : chosen) in[b] = true;
    std::vector<piece> list;
    for (tensor_id t : p_.tensors()) {
      if (p_.storage(t) != t || held.of_tensor[t] == none || !in[held.of_tensor[t]]) continue;
      const buffer& life = single.buffers[single.of_tensor[t]];
      list.push_back({held.of_tensor[t], t, p_.producer(t), life.lower, life.upper});
    }
    for (const index_t b : chosen)
      if (const op_id op = held.workspace_of[b]; op != none)
        list.push_back({b, none, op, held.buffers[b].lower, held.buffers[b].upper});
    return list;
  }

  /// Adds the edges that put all of a before b; false if no order does.
  bool before(const piece& a, const piece& b, order_edges& edges) const {
    if (b.writer == none || a.writer == b.writer) return false;
    if (a.storage != none && p_.stays(a.storage)) return false;
    if (a.writer != none) edges.emplace(a.writer, b.writer);
    for (const op_id r : readers(a)) {
      if (r != b.writer) edges.emplace(r, b.writer);
      else if (rule(r) != firing::cbp) return false;
    }
    return true;
  }

  /// Whether b's writer may take the storage of a.
  bool may_tie(const piece& a, const piece& b) const {
    if (!context_.opts().in_place || a.storage == none || b.storage == none || b.writer == none) return false;
    const auto reuses = p_.reuses(b.writer);
    return rule(b.writer) == firing::pbc && std::any_of(reuses.begin(), reuses.end(), [&](const problem::storage_reuse& r) {
             return r.spared > 0 && r.input == a.storage && r.output == b.storage;
           });
  }

  std::vector<order_edges> ways_out(const order_buffers& held, const std::vector<index_t>& chosen,
                                    std::span<const op_id> order) const {
    const auto list = pieces(held, chosen, order);
    std::set<order_edges> ways;
    std::set<std::pair<index_t, index_t>> done;
    const auto add = [&](order_edges edges) {
      if (!edges.empty()) ways.insert(std::move(edges));
    };
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::size_t j = i + 1; j < list.size(); ++j) {
        const piece &a = list[i], &b = list[j];
        const auto tie = [&](const piece& old, const piece& fresh) {
          if (!may_tie(old, fresh)) return;
          if (old.buffer == fresh.buffer) {  // (c)
            for (const op_id r : p_.readers(old.storage))
              if (r != fresh.writer) add({{fresh.writer, r}});
          } else {  // (b)
            order_edges edges;
            for (const op_id r : p_.readers(old.storage))
              if (r != fresh.writer) edges.emplace(r, fresh.writer);
            add(std::move(edges));
          }
        };
        if (a.buffer == b.buffer) {
          tie(a, b), tie(b, a);
          continue;
        }
        if (std::max(a.lower, b.lower) >= std::min(a.upper, b.upper)) continue;
        const bool rectangles = held.buffers[a.buffer].drops.empty() && held.buffers[b.buffer].drops.empty();
        if (rectangles && !done.insert(std::minmax(a.buffer, b.buffer)).second) continue;
        tie(a, b), tie(b, a);
        if (order_edges edges; before(a, b, edges)) add(std::move(edges));
        if (order_edges edges; before(b, a, edges)) add(std::move(edges));
      }
    return {ways.begin(), ways.end()};
  }

  const problem& p_;
  inner_scheduler scheduler_;
  any_planner how_;
  bytes alignment_;
  search& context_;
  std::string_view name_;
  std::optional<graph_error> error_;
  std::uint64_t nodes_ = 0;
  std::set<order_edges> seen_;
  std::vector<joint_no>* why_ = nullptr;
  std::vector<op_id> order_;
  arena_plan plan_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
