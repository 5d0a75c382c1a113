// Repetitions in a sequence, as loops.
#pragma once

#include <cstdint>
#include <span>

#include <memsched/base/linkage.hpp>
#include <memsched/sdf/loops.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// The sequence as loops: stretches that follow each other twice or more become a loop, the shortest first and again and
/// again, until none is left. Symbol s stands for bodies[s]. Not the fewest appearances there can be (that is the smallest
/// grammar problem, which is NP-hard). O(length) for each length of a stretch; after `most_work` symbols it ends where it
/// is.
MEMSCHED_FUNCTION loops fold(std::span<const index_t> sequence, std::span<const loops> bodies,
                             std::uint64_t most_work = std::uint64_t{1} << 24);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <map>
#include <utility>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

namespace detail {

class folder {
 public:
  folder(std::span<const index_t> sequence, std::uint64_t most_work) : work_(most_work) {
    for (index_t s : sequence) text_.push_back(symbol({s, 0, {}}));
    for (std::size_t period = 1; 2 * period <= text_.size() && work_ > 0;) period = fold(period) ? 1 : period + 1;
  }

  /// Writes body(symbol) for each symbol of the sequence.
  loops result(std::span<const loops> bodies) const {
    constexpr index_t end = none;
    loops l;
    std::vector<index_t> todo(text_.rbegin(), text_.rend());
    while (!todo.empty()) {
      const index_t s = todo.back();
      todo.pop_back();
      if (s == end) {
        l.close();
      } else if (const entry& e = *entries_[s]; e.count == 0) {
        l.append(bodies[e.given]);
      } else {
        l.open(e.count);
        todo.push_back(end);
        todo.insert(todo.end(), e.body.rbegin(), e.body.rend());
      }
    }
    return l;
  }

 private:
  /// A symbol that was given (count 0), or a body that is repeated.
  struct entry {
    index_t given;
    bytes count;
    std::vector<index_t> body;
    friend auto operator<=>(const entry&, const entry&) = default;
  };

  index_t symbol(entry e) {
    const auto [it, fresh] = number_.try_emplace(std::move(e), static_cast<index_t>(entries_.size()));
    if (fresh) entries_.push_back(&it->first);
    return it->second;
  }

  /// Replaces the runs of two or more equal stretches of this length, from the left.
  bool fold(std::size_t period) {
    const std::size_t n = text_.size();
    work_ -= std::min<std::uint64_t>(work_, n);
    std::vector<index_t> folded;
    bool found = false;
    std::size_t at = 0, equal = 0;  // places [i, i + equal) equal those one period on
    for (std::size_t i = 0; i + period <= n;) {
      equal = 0;
      while (i + equal + period < n && text_[i + equal] == text_[i + equal + period]) ++equal;
      if (equal < period) {
        i += equal + 1;
        continue;
      }
      const std::size_t copies = equal / period + 1;
      folded.insert(folded.end(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                    text_.begin() + static_cast<std::ptrdiff_t>(i));
      const auto body = text_.begin() + static_cast<std::ptrdiff_t>(i);
      folded.push_back(symbol({none, copies, {body, body + static_cast<std::ptrdiff_t>(period)}}));
      at = i += copies * period;
      found = true;
    }
    if (!found) return false;
    folded.insert(folded.end(), text_.begin() + static_cast<std::ptrdiff_t>(at), text_.end());
    text_ = std::move(folded);
    return true;
  }

  std::uint64_t work_;
  std::map<entry, index_t> number_;
  std::vector<const entry*> entries_;
  std::vector<index_t> text_;
};

}  // namespace detail

MEMSCHED_FUNCTION loops fold(std::span<const index_t> sequence, std::span<const loops> bodies, std::uint64_t most_work) {
  return detail::folder(sequence, most_work).result(bodies);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
