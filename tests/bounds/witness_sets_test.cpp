// Witness sets: what they say is what a plain list of the sets says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/bounds/witness_sets.hpp>
#include <optional>
#include <vector>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

struct listed_witness {
  std::vector<bool> nodes;
  delta height;
};

}  // namespace

TEST_CASE("witness sets answer as a list of them does, also where slots are used again") {
  int dropped = 0, found = 0, missed = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    support::random r(seed);
    const std::uint32_t nodes = 1 + r.below(150), percent = 1 + r.below(99);
    detail::witness_sets sets(nodes);
    std::vector<listed_witness> list;
    std::uint32_t most = 0;
    const auto drop_if = [&](auto&& drops) { dropped += std::erase_if(list, drops) > 0; };
    for (int step = 0; step < 300; ++step) {
      INFO("seed " << seed << " step " << step);
      const std::uint32_t kind = r.below(20);
      if (kind == 0) {
        const delta bound = r.below(100);
        sets.keep_below(bound);
        drop_if([&](const listed_witness& s) { return s.height > bound; });
      } else if (kind == 1) {
        const precedence e{r.below(nodes), r.below(nodes)};
        const bool all = r.chance(20);
        sets.keep_legal(e, all);
        drop_if([&](const listed_witness& s) { return (all || s.nodes[e.after]) && !s.nodes[e.before]; });
      } else {
        listed_witness s{std::vector<bool>(nodes), r.below(100)};
        base::bit_set bits(nodes);
        for (node_id u = 0; u < nodes; ++u)
          if (r.chance(percent)) s.nodes[u] = true, bits.insert(u);
        sets.add(bits, s.height);
        list.push_back(std::move(s));
      }
      most = std::max(most, static_cast<std::uint32_t>(list.size()));
      REQUIRE(sets.size() == list.size());
      REQUIRE(sets.bytes_held() <= (most + 63) / 64 * nodes * sizeof(base::bit_word));
      const node_id u = r.below(nodes);
      for (const bool inside : {true, false}) {
        std::optional<delta> least;
        for (const listed_witness& s : list)
          if (s.nodes[u] == inside) least = std::min(least.value_or(s.height), s.height);
        REQUIRE(sets.lowest(u, inside) == least);
        REQUIRE(sets.has(u, inside) == least.has_value());
        ++(least ? found : missed);
      }
    }
  }
  REQUIRE(dropped > 0);
  REQUIRE(found > 0);
  REQUIRE(missed > 0);
}
