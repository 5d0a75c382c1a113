// The context of one call of `schedule`: limits, counters, and the query.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <utility>

#include <memsched/base/linkage.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/search_control.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The context of one call of `schedule`, as a policy sees it. Not thread-safe.
class search : detail::search_control {
 public:
  explicit search(options o) : search_control(std::move(o)) {}

  const options& opts() const { return search_control::opts(); }
  /// The orders that are of use.
  const query& asked() const { return search_control::asked(); }
  /// Runs f under another query: for a pass that asks about another graph, or for better orders only.
  template <class F>
  auto ask(query q, F&& f) {
    return search_control::ask(q, f);
  }

  /// Counts a state. Returns false once a limit is hit, and keeps returning false.
  bool count_state() { return search_control::count_state(); }
  /// For work that is no state but takes time; looks at the clock. Returns false once a limit is hit.
  bool keep_going() { return search_control::keep_going(); }
  /// Reports the bytes that a search's tables hold. Returns false if that is more than the limit, which ends the search.
  bool fits(std::uint64_t table_bytes) { return search_control::fits(table_bytes); }
  /// Whether a limit was hit, or the caller's question is answered.
  bool stopped() const { return search_control::stopped(); }

  /// Reports the peak of an order (`no_limit` for none) and a lower bound; `on_progress` gets the best so far. Ends the
  /// search if that answers the caller's question. Bytes.
  void report(bytes peak, bytes lower_bound) { search_control::report(peak, lower_bound); }

  /// For the library's own policies; no part of what is promised.
  detail::search_control& control() { return *this; }
  const detail::search_control& control() const { return *this; }

 private:
  friend class detail::search_control;
};

namespace detail {

/// Names the source of what is reported until the end of the scope, such as a stage. The name must outlive the search.
class named_source {
 public:
  named_source(search& context, std::string_view name)
      : context_(context.control()), before_(std::exchange(context_.source_, name)) {}
  ~named_source() { context_.source_ = before_; }
  named_source(const named_source&) = delete;
  named_source& operator=(const named_source&) = delete;

 private:
  search_control& context_;
  std::string_view before_;
};

inline search search_control::branch(std::stop_token stop) const {
  search whole = static_cast<const search&>(*this);
  search_control& other = whole.control();
  other.stats = {};
  other.crew_ = nullptr;
  other.work_ = 0;
  other.options_.on_progress = {};
  other.options_.stop = std::move(stop);
  other.options_.threads = 1;
  other.options_.state_limit = states_left();
  other.slice_end_ = no_limit;
  other.work_end_ = work_left();
  other.aside_ = true;
  return whole;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/base/crew.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

MEMSCHED_FUNCTION base::crew* search_control::team() {
  constexpr unsigned most = 16;
  const unsigned size = std::min(options_.threads, most);
  if (size < 2) return nullptr;
  if (crew_ == nullptr || crew_size_ != size) crew_ = std::make_shared<base::crew>(size), crew_size_ = size;
  return crew_->size() < 2 ? nullptr : crew_.get();
}

MEMSCHED_FUNCTION bool search_control::beside(base::function_ref<bool(search&)> here,
                                              base::function_ref<void(search&)> there) {
  std::stop_source end;
  const std::stop_callback pass_on(options_.stop, [&] { end.request_stop(); });
  search other = branch(end.get_token());
  bool alone = true;
  const auto first = [&] {
    base::caught_exception exception;
    exception.watch([&] { alone = here(static_cast<search&>(*this)) || stopped(); });
    if (alone) end.request_stop();
    exception.rethrow();
    return !alone;
  };
  base::run_beside(team(), first, [&] { there(other); });
  if (alone) return false;
  const search_control& their = other.control();
  if (their.stats.states >= states_left() || their.work_ >= work_left()) {
    other = branch(options_.stop);
    there(other);
  }
  absorb(other.control());
  if (their.reason_ == stop_reason::memory_limit) out_of_memory();
  keep_going();
  return true;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
