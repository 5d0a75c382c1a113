// Downsets, the sets of nodes that can have run: how to step from one to the next, and how to remember them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/search/release_watch.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Runs nodes on a set that is a row of bits.
class downset_stepper {
 public:
  explicit downset_stepper(const schedule_graph& g) : g_(g), ran_(g) {}

  void start(const_bit_row ran, delta level) {
    ran_.start(ran);
    level_ = peak_ = level;
    released_ = false;
  }
  const_bit_row set() const { return ran_.set(); }
  delta level() const { return level_; }
  delta peak() const { return peak_; }
  /// Whether f(r) holds for each release r that freed memory while `path` ran: all that has run since `start`.
  template <class F>
  bool all_released(const std::vector<node_id>& path, F&& f) const {
    const auto holds = [&](node_id s, node_id v) {
      return !g_.is_release(s) || g_.cost[s].impact == 0 || !last_for(s, v) || f(s);
    };
    return !released_ || std::all_of(path.begin(), path.end(), [&](node_id v) {
      return std::all_of(g_.succs[v].begin(), g_.succs[v].end(), [&](node_id s) { return holds(s, v); });
    });
  }

  void run(node_id v) {
    delta released = 0;
    ran_.run(v, [&](node_id release) { released += g_.cost[release].impact; });
    const node_cost c = effect_of(g_, v, released, [this, v](node_id release) { return last_for(release, v); });
    peak_ = std::max(peak_, level_ + c.peak);
    level_ += c.impact;
    released_ |= released < 0;
  }

 private:
  bool last_for(node_id release, node_id v) const {
    for (node_id u : g_.preds[release])
      if (u != v && !test_bit(set(), u)) return false;
    return true;
  }

  const schedule_graph& g_;
  release_watch ran_;
  delta level_ = 0, peak_ = 0;
  bool released_ = false;  // whether a release freed memory since `start`
};

/// An open-addressing table from downsets to their places in an arena.
class downset_table {
 public:
  explicit downset_table(std::size_t bits) : width_(words_for(bits)), slots_(1024, none) {}

  std::size_t size() const { return count_; }
  const_bit_row operator[](index_t i) const { return {words_.data() + i * width_, width_}; }
  std::uint64_t bytes_held() const { return words_.capacity() * sizeof(bit_word) + slots_.capacity() * sizeof(index_t); }

  /// The place of `row`, and whether it is new.
  std::pair<index_t, bool> insert(const_bit_row row) {
    if (2 * count_ >= slots_.size()) grow();
    for (std::size_t at = hash(row) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == none) {
        slots_[at] = static_cast<index_t>(count_);
        words_.insert(words_.end(), row.begin(), row.end());
        return {static_cast<index_t>(count_++), true};
      }
      if (std::equal(row.begin(), row.end(), (*this)[slots_[at]].begin())) return {slots_[at], false};
    }
  }

 private:
  static std::uint64_t hash(const_bit_row row) {
    std::uint64_t h = 0x9e3779b97f4a7c15;
    for (bit_word w : row) {
      h = (h ^ w) * 0xff51afd7ed558ccd;
      h ^= h >> 32;
    }
    return h;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), none);
    for (index_t i = 0; i < count_; ++i) {
      std::size_t at = hash((*this)[i]) & (slots_.size() - 1);
      while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  std::size_t width_, count_ = 0;
  plain_vector<bit_word> words_;
  std::vector<index_t> slots_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
