// Finds the known word nearest to a misspelt one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/graph/error.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Insertions, deletions and replacements of letters that turn a into b. O(|a| * |b|).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

/// A known word, and how many letters a given one is away from it.
struct near_word {
  std::string_view word;
  std::size_t distance = 0;
};

/// The known word that is most like `word`; of equals the first. The beginning of a known word, of two letters or more,
/// counts as one letter away. Not more than 60 letters of `word` are looked at. `known` holds one word or more.
inline near_word nearest(std::string_view word, std::span<const std::string_view> known) {
  word = word.substr(0, 60);
  near_word best{known.front(), static_cast<std::size_t>(-1)};
  for (const std::string_view k : known) {
    const bool begins = word.size() >= 2 && k.size() > word.size() && k.starts_with(word);
    const std::size_t distance = begins ? 1 : edit_distance(word, k);
    if (distance < best.distance) best = {k, distance};
  }
  return best;
}

/// Keys that begin with "x-" mean nothing to any reader: authors of files may use them freely.
inline bool is_free_key(std::string_view key) { return key.starts_with("x-"); }

/// Whether a key that is not known is a known one with one or two wrong letters, rather than a note.
inline bool is_misspelt(std::string_view key, std::span<const std::string_view> known) {
  return std::any_of(known.begin(), known.end(),
                     [key](std::string_view k) { return key.size() <= k.size() + 2 && edit_distance(key, k) <= 2; });
}

/// The message about an unknown key: the nearest known one, and if none is near, all of them.
inline std::string unknown_key(std::string_view key, std::span<const std::string_view> known) {
  const near_word meant = nearest(key, known);
  std::string text = "unknown key \"" + base::one_line(key, 60) + "\"; ";
  if (meant.distance <= 2) return text + "did you mean \"" + std::string(meant.word) + "\"?";
  text += "the nearest known one is \"" + std::string(meant.word) + "\"; known are";
  for (const std::string_view k : known) text += (k == known.front() ? " " : ", ") + std::string(k);
  return text;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
