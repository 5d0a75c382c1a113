// Bit rows, plain vectors, queues, chunks and references to callables, against what the standard library has.
#include <algorithm>
#include <bitset>
#include <catch2/catch.hpp>
#include <map>
#include <memsched/base/bitset.hpp>
#include <memsched/base/bucket_queue.hpp>
#include <memsched/base/chunked.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

struct three_words {
  std::uint32_t a = 0, b = 0, c = 0;
  bool operator==(const three_words&) const = default;
};

/// Any two elements with different numbers below 128 differ.
template <class T>
T element(std::uint32_t i) {
  if constexpr (std::is_same_v<T, three_words>) return {i, 2 * i, 3 * i};
  else if constexpr (std::is_same_v<T, std::pair<char, std::uint64_t>>) return {static_cast<char>(i), i};
  else if constexpr (std::is_same_v<T, bool>) return i % 2 == 1;
  else return static_cast<T>(i);
}

template <class T>
void change_alike(base::plain_vector<T>& v, std::vector<T>& model, support::random& r) {
  const auto draw = [&](std::size_t n) { return r.below(static_cast<std::uint32_t>(n)); };
  const T fresh = element<T>(draw(128));
  const std::size_t size = model.size(), at = draw(size + 1), other = draw(size + 1);
  const auto first = static_cast<std::ptrdiff_t>(std::min(at, other)),
             last = static_cast<std::ptrdiff_t>(std::max(at, other));
  switch (draw(13)) {
    case 0: v.push_back(fresh), model.push_back(fresh); break;
    case 1: v.resize(at), model.resize(at); break;
    case 2: v.resize(size + 5, fresh), model.resize(size + 5, fresh); break;
    case 3: v.insert(v.begin() + at, {fresh}), model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), fresh); break;
    case 4: v.erase(v.begin() + first, v.begin() + last), model.erase(model.begin() + first, model.begin() + last); break;
    case 5: {
      const std::vector<T> more(draw(4), fresh);
      const auto* const added = v.insert(v.begin() + at, more.begin(), more.end());
      REQUIRE(added == v.begin() + at);
      model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
      break;
    }
    case 6: v.reserve(size + draw(20)); break;
    case 7: v = base::plain_vector<T>(v.begin() + first, v.end()), model.erase(model.begin(), model.begin() + first); break;
    case 8: v.erase(std::remove(v.begin(), v.end(), fresh), v.end()), std::erase(model, fresh); break;
    default:  // arguments that lie in the vector itself
      if (size == 0) break;
      const std::size_t i = at % size;
      switch (draw(3)) {
        case 0: v.push_back(v[i]), model.push_back(T(model[i])); break;
        case 1: v.resize(2 * size, v[i]), model.resize(2 * size, T(model[i])); break;
        default: v.assign(3, v[i]), model.assign(3, T(model[i]));
      }
  }
}

template <class T>
void behaves_as_a_vector(std::uint64_t seed) {
  support::random r(seed);
  base::plain_vector<T> v;
  std::vector<T> model;
  for (int i = 0; i < 400; ++i) {
    change_alike(v, model, r);
    if (model.size() > 500) v.clear(), model.clear();
    REQUIRE(std::equal(v.begin(), v.end(), model.begin(), model.end()));
    REQUIRE((v.size() == model.size() && v.empty() == model.empty() && v.capacity() >= v.size()));
    base::plain_vector<T> copy = v, moved = std::move(copy);
    REQUIRE((moved == v && copy.empty()));  // NOLINT(bugprone-use-after-move): a vector that was moved from is empty
    copy = moved, moved = std::move(copy), std::swap(moved, v);
    REQUIRE(moved == v);
  }
}

}  // namespace

TEST_CASE("plain vectors do what std::vector does") {
  for (std::uint64_t seed = 1; seed <= support::seeds(20); ++seed) {
    behaves_as_a_vector<bool>(seed);
    behaves_as_a_vector<std::uint32_t>(seed);
    behaves_as_a_vector<std::uint64_t>(seed);
    behaves_as_a_vector<three_words>(seed);
    behaves_as_a_vector<std::pair<char, std::uint64_t>>(seed);
  }
}

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
