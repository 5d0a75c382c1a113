// Bit rows, queues, chunks and references to callables, against what the standard library has.
#include <algorithm>
#include <bitset>
#include <catch2/catch.hpp>
#include <map>
#include <memsched/base/bitset.hpp>
#include <memsched/base/bucket_queue.hpp>
#include <memsched/base/chunked.hpp>
#include <memsched/base/function_ref.hpp>
#include <set>
#include <string>

#include "support/random_problem.hpp"

using namespace memsched;

TEST_CASE("bit rows do what std::set does, over word borders") {
  support::random r(1);
  for (std::size_t columns : {1u, 63u, 64u, 65u, 130u}) {
    base::bit_set row(columns), other(columns);
    std::set<std::size_t> members, others;
    for (int i = 0; i < 300; ++i) {
      const std::size_t at = r.below(static_cast<std::uint32_t>(columns));
      switch (r.below(4)) {
        case 0: row.erase(at), members.erase(at); break;
        case 1: other.insert(at), others.insert(at); break;
        default: row.insert(at), members.insert(at);
      }
      REQUIRE(base::count_bits(row) == members.size());
      REQUIRE(row[at] == (members.count(at) == 1));
      REQUIRE(base::is_subset(row, other) == std::includes(others.begin(), others.end(), members.begin(), members.end()));
      std::set<std::size_t> listed;
      std::size_t last = 0;
      base::for_each_bit(base::const_bit_row(row), [&](std::size_t b) {
        REQUIRE((listed.empty() || b > last));
        listed.insert(last = b);
      });
      REQUIRE(listed == members);
    }
    base::unite_bits(row, other);
    members.insert(others.begin(), others.end());
    REQUIRE(base::count_bits(row) == members.size());
    REQUIRE(base::is_subset(other, row));
  }
}

TEST_CASE("a bucket queue hands out the lowest key, and of one key what came last") {
  support::random r(2);
  base::bucket_queue<int> queue;
  std::map<delta, std::vector<int>> model;
  for (int i = 0; i < 2000; ++i) {
    if (model.empty() || r.chance(60)) {
      const delta key = static_cast<delta>(r.below(9)) - 4;
      queue.push(key, i);
      model[key].push_back(i);
    } else {
      REQUIRE(queue.key() == model.begin()->first);
      REQUIRE(queue.pop() == model.begin()->second.back());
      model.begin()->second.pop_back();
      if (model.begin()->second.empty()) model.erase(model.begin());
    }
    REQUIRE(queue.empty() == model.empty());
    std::size_t items = 0;
    for (const auto& [key, list] : model) items += list.size();
    REQUIRE(queue.bytes_held() == items * sizeof(int));
  }
}

TEST_CASE("a chunked array keeps its items where they are, and gives memory back") {
  memsched::detail::chunked<std::uint64_t> list;
  list.push(7);
  const std::uint64_t* first = &list[0];
  for (std::uint64_t i = 1; i < 20000; ++i) list.push(i);
  REQUIRE(&list[0] == first);
  REQUIRE(list.size() == 20000);
  for (std::uint64_t i = 1; i < 20000; ++i) REQUIRE(list[i] == i);
  const std::uint64_t held = list.bytes_held();
  REQUIRE(held >= 20000 * sizeof(std::uint64_t));
  list.clear(10000);
  REQUIRE(list.size() == 0);
  REQUIRE(list.bytes_held() < held);
}

TEST_CASE("a function_ref calls what it refers to: state, results, arguments that move, and nothing") {
  int calls = 0;
  const auto count = [&](int n) { return calls += n; };
  const base::function_ref<int(int)> f = count;
  CHECK(f(2) == 2);
  CHECK(f(3) == 5);
  const base::function_ref<int(int)> copy = f;
  CHECK(copy(1) == 6);
  CHECK(calls == 6);
  const auto length = [](std::string s) { return s.size(); };
  CHECK(base::function_ref<std::size_t(std::string)>(length)(std::string("four")) == 4);
  CHECK(!base::function_ref<void()>());
  CHECK(f);
}
