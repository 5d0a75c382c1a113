// Needs under the decisions of a case: which are certain or absent, and when absent storages are made again.
#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/rows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The part of a sorted list that is about one stretch.
template <class T>
std::span<const T> of_stretch(const std::vector<T>& list, index_t stretch) {
  return {std::ranges::lower_bound(list, stretch, {}, &T::stretch),
          std::ranges::upper_bound(list, stretch, {}, &T::stretch)};
}

/// Decisions by stretches and rows.
class decision_list {
 public:
  decision_list() = default;
  explicit decision_list(std::vector<rerun_decision> all) : all_(std::move(all)) {
    std::ranges::sort(all_, [](const rerun_decision& a, const rerun_decision& b) {
      return std::tie(a.stretch, a.first, a.last, a.absent) < std::tie(b.stretch, b.first, b.last, b.absent);
    });
  }
  const std::vector<rerun_decision>& all() const { return all_; }
  std::span<const rerun_decision> of(index_t stretch) const { return of_stretch(all_, stretch); }

 private:
  std::vector<rerun_decision> all_;
};

/// The storage of a stretch is needed and absent at a row, and made again before another one.
struct rerun_window {
  index_t stretch, row, until;
};

/// An absent need is made again before row `back`; none: that row is not known. The producer of `reader`, another absent
/// need, reads it before that row.
struct rerun_return {
  index_t back = none, reader = none;
};

/// Needs under decisions (see `rerun_decision`). Refers to the rows and needs. If a storage can be loaded, decisions of
/// rows say nothing of others.
class decided_needs {
 public:
  decided_needs(const rerun_rows& r, const rerun_needs& needs)
      : rows_(r), needs_(needs.needs), inputs_(needs.inputs), needs_of_(r.gaps.size() + r.tails.size()) {
    for (index_t i = 0; i < needs_.size(); ++i) {
      if (needs_[i].stretch != none) needs_of_[needs_[i].stretch].push_back(i);
      loads_ = loads_ || needs_[i].loads;
    }
  }

  bool is_open(index_t i) const { return answer_[i] == open; }
  bool is_absent(index_t i) const { return answer_[i] == absent; }  ///< and needed
  bool is_certain(index_t i) const { return certain_[i]; }          ///< that it is needed
  const std::vector<index_t>& needs_of(index_t stretch) const { return needs_of_[stretch]; }

  /// Takes decisions, and returns windows in which storages are made again for others by these. O(needs + uses) for each step
  /// of a chain of absent storages.
  std::vector<rerun_window> decide(const decision_list& known) {
    answer_.assign(needs_.size(), open);
    for (const rerun_decision& d : known.all())
      for (index_t i : needs_of_[d.stretch]) {
        if (needs_[i].row < d.first || d.last < needs_[i].row) continue;
        if (!d.absent) answer_[i] = in_memory;
        else if (d.first == d.last && !d.again && !loads_ && answer_[i] == open) answer_[i] = absent;
      }
    certain_.resize(needs_.size());
    for (std::size_t i = 0; i < needs_.size(); ++i) certain_[i] = needs_[i].certain;
    for (index_t i = 0; i < needs_.size(); ++i)
      if (is_absent(i)) {
        certain_[i] = true;
        for (index_t input : inputs_[i]) certain_[input] = true;
      }
    const auto returns = find_returns(known, [&](index_t i) { return is_absent(i); });
    std::vector<rerun_window> windows;
    for (index_t i = 0; i < needs_.size(); ++i)
      if (returns[i].reader != none) windows.push_back({needs_[i].stretch, needs_[i].row, returns[i].back});
    return windows;
  }

  /// Per need, when it is made again, if those are absent that are `taken`.
  template <class F>
  std::vector<rerun_return> find_returns(const decision_list& known, const F& taken) const {
    std::vector<rerun_return> found(needs_.size());
    if (loads_) return found;
    for (index_t i = 0; i < needs_.size(); ++i)
      if (taken(i)) found[i].back = next_use(known, needs_[i]);
    for (bool changes = true; std::exchange(changes, false);)
      for (index_t i = 0; i < needs_.size(); ++i) {
        if (found[i].back == none) continue;
        for (index_t input : inputs_[i])
          if (taken(input) && found[i].back < found[input].back) found[input] = {found[i].back, i}, changes = true;
      }
    return found;
  }

 private:
  enum state : unsigned char { open, absent, in_memory };

  /// The first row after that of a need at which its storage is in memory; none if that is unknown.
  index_t next_use(const decision_list& known, const rerun_need& n) const {
    if (n.stretch == none || n.stretch >= rows_.gaps.size()) return none;
    for (const rerun_decision& d : known.of(n.stretch))
      if (!d.absent && d.first > n.row) return d.first;
    return rows_.gaps[n.stretch].back;
  }

  const rerun_rows& rows_;
  const std::vector<rerun_need>& needs_;
  const list_of<index_t>& inputs_;
  std::vector<std::vector<index_t>> needs_of_;  // per stretch
  bool loads_ = false;                          // something can be loaded
  std::vector<state> answer_;                   // per need
  std::vector<bool> certain_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
