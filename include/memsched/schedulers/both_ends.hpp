// Exact search from both ends of a graph: of two searches, forward and on the mirror image, one may be much smaller.
#pragma once

#include <cstdint>

#include <memsched/base/linkage.hpp>
#include <memsched/schedulers/best_first.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The search from both ends with a limit of states that is known.
struct both_ends {
  best_first policy{};
  std::uint64_t worth_a_thread = 2000;  ///< states

  /// As `best_first::between`, with half of `states` forward and half on the mirror; one after the other or, if there are two
  /// threads and enough to do, at once: that changes no answer.
  best_first::finding between(const schedule_graph& g, search& context, bytes from, bytes below, std::uint64_t states) const;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <optional>
#include <utility>

#include <memsched/search/work_growth.hpp>
#include <memsched/structure/mirror.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

MEMSCHED_FUNCTION best_first::finding both_ends::between(const schedule_graph& g, search& context, bytes from, bytes below,
                                                         std::uint64_t states) const {
  const std::uint64_t half = states / 2;
  const auto decided = [&](const best_first::finding& f) { return f.order || f.bound >= below; };
  best_first::finding forward, backward;
  const auto search_forward = [&](search& c) {
    const auto search_half = [&] {
      return c.control().with_states(half, [&] { return policy.between(g, c, from, below); });
    };
    forward = c.control().with_work(c.control().work_left() / 2, search_half);
    return decided(forward);
  };
  const auto search_backward = [&](search& c) {
    backward = c.control().with_states(half, [&] { return policy.between(mirror_image(g), c, from, below); });
  };
  if (half >= worth_a_thread) {
    if (!context.control().beside(search_forward, search_backward)) backward = {};
  } else if (!search_forward(context) && !context.stopped()) {
    search_backward(context);
  }
  if (decided(forward)) return forward;
  if (backward.order) forward.order = reflected(g, std::move(*backward.order));
  if (g.credits.items() == 0)  // else peaks are higher on the mirror
    forward.bound = std::max(forward.bound, backward.bound);
  return forward;
}

/// The search from both ends from turn to turn. Forward has the first turn; then both do equal work, until one of them is
/// behind: it ends. With credits, which have no mirror image, forward only.
class both_ends_search {
 public:
  both_ends_search(const schedule_graph& g, search& context, const best_first& policy, bytes from, bytes below)
      : g_(g), context_(context), policy_(policy), from_(from) {
    forward_.search.emplace(g, context, policy, from, below);
  }

  /// As `best_first_search::run`.
  best_first::finding run(bytes below) {
    const std::uint64_t before = context_.control().work();
    best_first::finding f = turn(below);
    growth_.add(static_cast<double>(context_.control().work() - before), f.bound);
    return f;
  }
  /// See `work_growth`.
  double expected(bytes below, bytes unit) const { return growth_.expected(below, unit); }
  bytes from() const { return from_; }
  std::uint64_t bytes_held() const { return bytes_held(forward_) + bytes_held(backward_); }

 private:
  struct end {
    std::optional<best_first_search> search{};
    std::uint64_t work = 0;
    bytes bound = 0;
  };

  best_first::finding turn(bytes below) {
    if (!forward_.search) return run_backward(below);
    if (forward_.work == 0 || !has_backward(below)) return run(forward_, below);
    const std::uint64_t left = context_.control().work_left(),
                        ahead = forward_.work - std::min(forward_.work, backward_.work);
    if (left > ahead) {
      best_first::finding f = context_.control().with_work((left - ahead) / 2, [&] { return run(forward_, below); });
      if (f.order || f.bound >= below || context_.stopped()) return f;
    }
    best_first::finding b = run_backward(below);
    if (forward_.bound > backward_.bound) backward_.search.reset();
    if (forward_.bound < backward_.bound) forward_.search.reset();
    b.bound = std::max(forward_.bound, backward_.bound);
    return b;
  }
  /// Opens the backward search the first time.
  bool has_backward(bytes below) {
    if (!image_ && g_.credits.items() == 0 && g_.size() <= policy_.max_nodes) {
      image_ = mirror_image(g_);
      backward_.search.emplace(*image_, context_, policy_, from_, below);
    }
    return backward_.search.has_value();
  }
  best_first::finding run(end& e, bytes below) {
    const std::uint64_t before = context_.control().work();
    best_first::finding f = e.search->run(below);
    e.work += context_.control().work() - before;
    e.bound = f.bound;
    return f;
  }
  best_first::finding run_backward(bytes below) {
    best_first::finding f = run(backward_, below);
    if (f.order) f.order = reflected(g_, std::move(*f.order));
    return f;
  }
  static std::uint64_t bytes_held(const end& e) { return e.search ? e.search->bytes_held() : 0; }

  const schedule_graph& g_;
  search& context_;
  best_first policy_;
  bytes from_;
  std::optional<schedule_graph> image_;
  end forward_, backward_;
  work_growth growth_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
