// Looped schedules (Bhattacharyya, Murthy, Lee: Software Synthesis from Dataflow Graphs, 1996).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// A schedule of firings as nested loops: a list of items, each an actor's firings in a row or a list that is repeated. One
/// flat array: an item that repeats a list stands in front of it.
class loops {
 public:
  struct item {
    bytes count = 1;           ///< how often the actor fires or the list runs, 1 or more
    index_t actor = none;      ///< none: a list
    std::uint32_t length = 1;  ///< of the item and the list after it, in items
  };

  const std::vector<item>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  /// Places where an actor's name stands: the size of the code.
  std::size_t appearances() const {
    std::size_t n = 0;
    for (const item& i : items_) n += i.actor != none ? 1 : 0;
    return n;
  }

  /// Appends firings of one actor.
  void fire(index_t actor, bytes count = 1) { items_.push_back({count, actor, 1}); }
  /// Starts a list that runs so often; everything appended until `close` is its body.
  void open(bytes count) {
    open_.push_back(items_.size());
    items_.push_back({count, none, 1});
  }
  /// Ends the list. One that runs once, or has a single item, or none, becomes that.
  void close() {
    const std::size_t at = open_.back();
    open_.pop_back();
    const bytes count = items_[at].count;
    const std::size_t length = items_.size() - at;
    const bool single = length > 1 && items_[at + 1].length == length - 1;
    if (length > 1 && count > 1 && !single) {
      items_[at].length = static_cast<std::uint32_t>(length);
      return;
    }
    if (length > 1 && count > 1) items_[at + 1].count *= count;
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// Appends another schedule, `count` times in a row.
  void append(const loops& other, bytes count = 1) {
    open(count);
    items_.insert(items_.end(), other.items_.begin(), other.items_.end());
    close();
  }

  /// Calls enter(item), fire(item) and leave() in the order in which they stand.
  template <class Enter, class Fire, class Leave>
  void walk(Enter&& enter, Fire&& fire, Leave&& leave) const {
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; at < items_.size(); ++at) {
      for (; !ends.empty() && ends.back() == at; ends.pop_back()) leave();
      if (items_[at].actor != none) {
        fire(items_[at]);
      } else {
        enter(items_[at]);
        ends.push_back(at + items_[at].length);
      }
    }
    for (; !ends.empty(); ends.pop_back()) leave();
  }

  /// Calls f(actor) for each firing in order, while it returns true.
  template <class F>
  void each_firing(F&& f) const {
    struct frame {
      std::size_t begin, end;
      bytes left;
    };
    std::vector<frame> frames;
    for (std::size_t at = 0;;) {
      if (!frames.empty() && at == frames.back().end) {
        if (--frames.back().left > 0) at = frames.back().begin;
        else frames.pop_back();
        continue;
      }
      if (at == items_.size()) return;
      const item& i = items_[at];
      if (i.actor == none) frames.push_back({at + 1, at + i.length, i.count});
      else
        for (bytes k = 0; k < i.count; ++k)
          if (!f(i.actor)) return;
      ++at;
    }
  }

  /// The field's notation, such as "(24 g h (10 n r)) v", where name(actor) is an actor's name.
  template <class Name>
  std::string text(Name&& name) const {
    std::string t;
    const auto space = [&] {
      if (!t.empty()) t += ' ';
    };
    walk(
        [&](const item& i) {
          space();
          t += '(' + std::to_string(i.count);
        },
        [&](const item& i) {
          space();
          t += i.count == 1 ? std::string(name(i.actor))
                            : '(' + std::to_string(i.count) + ' ' + std::string(name(i.actor)) + ')';
        },
        [&] { t += ')'; });
    return t;
  }

 private:
  std::vector<item> items_;
  std::vector<std::size_t> open_;
};

/// The order of the actors' first appearances. O(items).
inline std::vector<index_t> first_appearances(const loops& l, std::size_t actors) {
  std::vector<index_t> order;
  std::vector<bool> seen(actors, false);
  for (const loops::item& i : l.items())
    if (i.actor != none && !seen[i.actor]) seen[i.actor] = true, order.push_back(i.actor);
  return order;
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched
