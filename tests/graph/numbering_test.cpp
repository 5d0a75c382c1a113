// Numbers for handles: the law is a map's, whatever the handles are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/graph/numbering.hpp>

using namespace memsched;

namespace {

template <class Handle>
void require_a_maps_numbers(const std::vector<Handle>& handles, bool expected) {
  detail::handle_numbers<Handle> numbers;
  if (expected) numbers.expect(handles.size());
  std::map<Handle, index_t> map;
  for (const Handle& h : handles) {
    const auto known = map.find(h);
    REQUIRE(numbers.find(h) == (known == map.end() ? none : known->second));
    const auto [place, fresh] = map.try_emplace(h, static_cast<index_t>(map.size()));
    REQUIRE(numbers.insert(h) == std::pair(place->second, fresh));
    REQUIRE(numbers.find(h) == place->second);
  }
}

enum class name : short {};

}  // namespace

TEST_CASE("handles are numbered in order of first appearance, small, large, negative or dense") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    base::random_source random(seed);
    std::vector<std::uint64_t> values;
    const std::uint64_t bits = 1 + random.below(64);
    for (std::size_t i = 0, n = random.below(3000); i < n; ++i)
      // Values that are too large to be looked up directly come again when there are more of them.
      values.push_back(random.chance(1, 2) ? random.next() >> (64 - bits) : random.below(20000));
    for (const bool expected : {false, true}) {
      INFO("seed " << seed << " bits " << bits << " expected " << expected);
      require_a_maps_numbers(values, expected);
      std::vector<int> ints;
      std::vector<name> names;
      std::vector<std::string> strings;
      std::vector<const char*> pointers;
      static const std::vector<char> memory(20000);
      for (const std::uint64_t v : values) {
        ints.push_back(static_cast<int>(v));
        names.push_back(static_cast<name>(v));
        strings.push_back(std::to_string(v % 500));
        pointers.push_back(memory.data() + v % memory.size());
      }
      require_a_maps_numbers(ints, expected);
      require_a_maps_numbers(names, expected);
      require_a_maps_numbers(strings, expected);
      require_a_maps_numbers(pointers, expected);
    }
  }
}
