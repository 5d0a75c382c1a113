// Restarts of the exact search for offsets, and the quick plans that it starts from.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <memsched/allocation/first_fit.hpp>
#include <memsched/allocation/fit_search.hpp>
#include <memsched/allocation/flatten.hpp>
#include <memsched/allocation/valley_fit.hpp>
#include <memsched/base/random.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// 2^16 times the binary logarithm of n, to within 1%; 0 for 0. The same on every platform.
constexpr std::int64_t log_of(std::uint64_t n) {
  if (n == 0) return 0;
  const int width = static_cast<int>(std::bit_width(n)) - 1;
  const auto f = static_cast<std::int64_t>(width >= 16 ? n >> (width - 16) : n << (16 - width)) - 65536;
  return (std::int64_t{width} << 16) + f + ((f * (65536 - f) >> 16) * 22098 >> 16);
}

/// 1 1 2 1 1 2 4 ... (Luby, Sinclair, Zuckerman, 1993), from i = 1.
constexpr std::uint64_t luby(std::uint64_t i) {
  while (!std::has_single_bit(i + 1)) i -= std::bit_floor(i + 1) - 1;
  return (i + 1) / 2;
}

/// Restarts of the search for one packing and one capacity, in slices; failed states are kept from one to the next.
class fit_restarts {
 public:
  fit_restarts(const packing& p, bytes capacity, fit_rules rules, std::uint64_t seed)
      : p_(p), capacity_(capacity), search_(p, capacity, rules), random_(seed) {
    const std::size_t n = p.items.size();
    for (auto* list : {&life_, &sections_, &size_, &load_}) list->resize(n);
    std::vector<units> live(p.sections, 0);
    for (index_t i = 0; i < n; ++i)
      for (index_t s = p.items[i].first; s < p.items[i].last; ++s) live[s] += p.size_in(i, s);
    for (index_t i = 0; i < n; ++i) {
      const auto& item = p.items[i];
      life_[i] = log_of(p.lifetime(i));
      sections_[i] = log_of(item.last - item.first);
      size_[i] = log_of(static_cast<std::uint64_t>(item.size));
      load_[i] = *std::max_element(live.begin() + item.first, live.begin() + item.last);
    }
  }

  bytes capacity() const { return capacity_; }
  bool too_deep() const { return search_.too_deep(); }
  /// Offsets in units, after `fits`.
  const std::vector<units>& offsets() const { return search_.offsets(); }

  /// Looks at about `nodes`. `best`: offsets of a plan of any height, in units; empty if there is none.
  fit_answer run(std::uint64_t nodes, std::span<const units> best, search& context) {
    const std::uint64_t& states = context.control().stats.states;  // so far
    const std::uint64_t until = states + std::min(nodes, no_limit - states);
    while (states < until) {
      std::uint64_t limit = 0;
      const valley_choice choice = next_round(best, limit);
      const std::uint64_t before = states;
      const fit_answer answer = search_.run(rank_, choice, limit, context);
      (patient_ ? patient_nodes_ : hasty_nodes_) += states - before;
      if (answer != fit_answer::stopped) return answer;
      if (context.stopped() || search_.too_deep() || states == before) break;
    }
    return fit_answer::stopped;
  }

 private:
  using key = std::array<std::int64_t, 3>;
  /// Six orders by three choices of valleys. After these come orders with noise; half of the nodes go to restarts with one
  /// of the six and 64 times the patience, twice that in the next turn, and so on. These find plans without slack; hasty
  /// restarts find plans that have some.
  static constexpr std::uint64_t fixed_rounds = 18;

  /// Ranks items by descending key.
  template <class Key>
  void rank_by(Key key_of) {
    std::vector<std::pair<key, index_t>> list;
    for (index_t i = 0; i < p_.items.size(); ++i) list.emplace_back(key_of(i), i);
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    rank_.resize(list.size());
    for (index_t r = 0; r < list.size(); ++r) rank_[list[r].second] = r;
  }

  valley_choice next_round(std::span<const units> best, std::uint64_t& limit) {
    constexpr std::array choices{valley_choice::options_then_slack, valley_choice::options_then_lowest,
                                 valley_choice::lowest};
    const std::uint64_t round = round_++, twice = 2 * p_.items.size() + 2;
    patient_ = round >= fixed_rounds && patient_nodes_ < hasty_nodes_;
    if (round < fixed_rounds || patient_) {
      const std::uint64_t which = patient_ ? ++patient_rounds_ : round;
      limit = patient_ ? twice << std::min<std::uint64_t>(6 + which / fixed_rounds, 32) : twice;
      rank_fixed(which % 6, 0);
      return choices[(which + which / 6) % 3];
    }
    limit = twice * luby(round - fixed_rounds + 1);
    if (!best.empty() && random_.below(4) != 0) rank_guided(best);
    else if (random_.below(2) == 0) rank_fixed(random_.below(6), draw(6) + 1);
    else rank_random();
    return choices[static_cast<std::size_t>(random_.below(3))];
  }

  /// One of six orders, with noise of 2^(noise - 4) octaves on lifetimes and sizes; 0: none.
  void rank_fixed(std::uint64_t which, std::int64_t noise) {
    rank_by([&](index_t i) -> key {
      const std::int64_t life = life_[i] + blur(noise), sections = sections_[i] + blur(noise), size = size_[i] + blur(noise);
      switch (which) {
        case 0: return {life, life + size, load_[i]};
        case 1: return {load_[i], life + size, life};
        case 2: return {load_[i], life, life + size};
        case 3: return {life + size, load_[i], life};
        case 4: return {sections, life + size, load_[i]};
        default: return {sections + size, life, load_[i]};
      }
    });
  }

  std::int64_t draw(std::int64_t below) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(below)));
  }
  /// About normal with variance 1, times 2^16.
  std::int64_t normal() {
    std::int64_t sum = -6 * std::int64_t{65536};
    for (int k = 0; k < 12; ++k) sum += draw(65536);
    return sum;
  }

  std::int64_t blur(std::int64_t noise) { return noise == 0 ? 0 : normal() * (std::int64_t{1} << noise) >> 4; }

  /// Random weights of lifetime, size, load, and how often the sections failed; and noise.
  void rank_random() {
    const std::array<std::int64_t, 5> weight{draw(65), draw(65), draw(65) * 4, draw(65) / (1 + draw(4)), draw(33)};
    rank_by([&](index_t i) -> key {
      std::uint64_t failed = 0;
      for (index_t s = p_.items[i].first; s < p_.items[i].last; ++s) failed = std::max(failed, search_.failures()[s]);
      return {weight[0] * life_[i] + weight[1] * size_[i] + weight[2] * log_of(static_cast<std::uint64_t>(load_[i])) +
                  weight[3] * log_of(failed + 1) + weight[4] * normal(),
              0, 0};
    });
  }

  /// The order of offsets in a plan, upside down half of the time, with noise on some items of a window of time.
  void rank_guided(std::span<const units> best) {
    units height = 1;
    for (index_t i = 0; i < p_.items.size(); ++i) height = std::max(height, best[i] + p_.items[i].size);
    const int shift = 36 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(height)));  // heights of 36 bits
    const auto scaled = [&](units h) { return shift >= 0 ? h << shift : h >> -shift; };
    const bool flipped = random_.below(2) == 0;
    // Noise from 10^-2.5 to 10^-0.5 of the height: 2^-8.3 to 2^-1.7, with eight steps to the octave.
    const std::int64_t octave = draw(54) + 13;
    const std::int64_t noise = (scaled(height) >> (octave / 8 + 1)) * (16 - octave % 8) / 8;
    const std::int64_t share = draw(100) + 1, sections = std::max<std::int64_t>(p_.sections, 1);
    const std::int64_t width = draw(sections) + 1, from = draw(sections + width) - width;
    rank_by([&](index_t i) -> key {
      const auto& item = p_.items[i];
      std::int64_t at = scaled(flipped ? height - best[i] - item.size : best[i]);
      const bool inside = std::int64_t{item.last} > from && std::int64_t{item.first} < from + width;
      if (inside && draw(100) < share) at += normal() * (noise >> 4) >> 12;
      return {-at, life_[i], 0};
    });
  }

  const packing& p_;
  bytes capacity_;
  fit_search search_;
  random_source random_;
  std::vector<std::int64_t> life_, sections_, size_, load_;  ///< per item: logarithms, and the largest load it is part of
  std::vector<index_t> rank_;
  std::uint64_t round_ = 0, patient_rounds_ = 0;
  std::uint64_t patient_nodes_ = 0, hasty_nodes_ = 0;
  bool patient_ = false;  ///< the restart at hand
};

/// The best of the planners that take no search; valley fit if there are very many buffers, lowered where it sticks out.
inline arena_plan quick_plan(std::span<const buffer> buffers, bytes capacity, search& context) {
  arena_plan best = valley_fit{}(buffers, capacity, context);
  constexpr std::size_t many = 20'000;
  if (best.size == best.lower_bound) return best;
  if (buffers.size() > many) return peak_flattener(buffers).run(best, context), best;
  const auto take = [&](arena_plan other) {
    if (other.size < best.size) best = std::move(other);
  };
  take(by_size{}(buffers, capacity, context));
  if (best.size > best.lower_bound) take(by_birth{}(buffers, capacity, context));
  return best;
}

inline std::vector<units> in_items(const packing& p, std::span<const bytes> offset) {
  std::vector<units> all;
  for (const auto& item : p.items) all.push_back(static_cast<units>(offset[item.buffer] / p.unit));
  return all;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
