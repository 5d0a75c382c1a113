// Graphs of compilers' own types: their ranges, hashes, handles and hooks.
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <memsched/adapters/bgl.hpp>
#include <memsched/base/random.hpp>
#include <memsched/graph/overlay.hpp>
#include <memsched/schedule.hpp>

#include <boost/graph/adjacency_list.hpp>

#include "support/seeds.hpp"

using namespace memsched;

namespace ir {

/// A handle without std::hash: hash_value is found by argument-dependent lookup. Null where it is made from nothing.
class value {
 public:
  value() = default;
  explicit value(const int* p) : p_(p) {}
  bool operator==(const value& other) const { return p_ == other.p_; }
  explicit operator bool() const { return p_ != nullptr; }
  int id() const { return *p_; }
  friend std::size_t hash_value(const value& v) { return std::hash<const int*>{}(v.p_); }

 private:
  const int* p_ = nullptr;
};
/// The result of an operator: it is a value, but not every value is one.
class op_result : public value {
  using value::value;
};

/// A range as some compilers have them: its iterator is no std::input_iterator.
template <class T>
struct range {
  struct iterator {
    explicit iterator(const T* at) : p(at) {}
    bool operator!=(const iterator& other) const { return p != other.p; }
    iterator& operator++() { return ++p, *this; }
    T operator*() const { return *p; }
    const T* p;
  };
  std::vector<T> items;
  iterator begin() const { return iterator(items.data()); }
  iterator end() const { return iterator(items.data() + items.size()); }
};
static_assert(!std::ranges::input_range<range<int>>);

struct block {
  struct op {
    std::vector<int> in, out;
    std::vector<int> updates{};
    std::vector<memsched::overwrite_at> over{};
  };
  std::vector<op> ops;
  std::vector<std::optional<std::int64_t>> size;
  std::map<int, int> view_of{};
  std::vector<int> ids = std::vector<int>(64);
  block(std::vector<op> o, std::vector<std::optional<std::int64_t>> s, std::map<int, int> views = {})
      : ops(std::move(o)), size(std::move(s)), view_of(std::move(views)) {
    for (int i = 0; i < 64; ++i) ids[static_cast<std::size_t>(i)] = i;
  }
  const int* id(int i) const { return &ids[static_cast<std::size_t>(i)]; }
};

}  // namespace ir

template <>
struct memsched::graph_traits<ir::block> {
  using block = ir::block;
  static ir::range<int> ops(const block& b) {
    ir::range<int> r;
    for (int i = 0; i < static_cast<int>(b.ops.size()); ++i) r.items.push_back(i);
    return r;
  }
  template <class V>
  static ir::range<V> values(const block& b, const std::vector<int>& list) {
    ir::range<V> r;
    for (int i : list) r.items.push_back(V(b.id(i)));
    return r;
  }
  static const block::op& at(const block& b, int op) { return b.ops[static_cast<std::size_t>(op)]; }
  static auto inputs(const block& b, int op) { return values<ir::value>(b, at(b, op).in); }
  static auto outputs(const block& b, int op) { return values<ir::op_result>(b, at(b, op).out); }
  static auto updates(const block& b, int op) { return values<ir::value>(b, at(b, op).updates); }
  static auto overwrites(const block& b, int op) { return at(b, op).over; }
  static std::optional<std::int64_t> size(const block& b, const ir::value& v) {
    return b.size[static_cast<std::size_t>(v.id())];
  }
  static ir::value alias_of(const block& b, const ir::value& v) {
    const auto at = b.view_of.find(v.id());
    return at == b.view_of.end() ? ir::value{} : ir::value(b.id(at->second));
  }
  static std::string operator_name(const block&, int op) { return "op" + std::to_string(op); }
  static std::string tensor_name(const block&, const ir::value& v) { return "%" + std::to_string(v.id()); }
};

namespace {

graph_error fault_of(const ir::block& b) {
  const auto r = lower(b);
  REQUIRE_FALSE(r);
  return r.error();
}

bool comes_before(const problem& p, op_id a, op_id b) {
  std::vector<bool> before(p.ops().size(), false);
  std::vector<op_id> todo{b};
  while (!todo.empty()) {
    const op_id at = todo.back();
    todo.pop_back();
    for (op_id u : p.predecessors(at))
      if (!before[u]) before[u] = true, todo.push_back(u);
  }
  return before[a];
}

}  // namespace

TEST_CASE("ranges without std's concepts, hash_value, and a base and a derived tensor handle") {
  static_assert(memory_graph<ir::block>);
  static_assert(std::same_as<tensor_t<ir::block>, ir::value>);
  const ir::block b({{{0}, {1}}, {{1}, {2}}}, {3, 4, 5});
  const auto r = schedule(b);
  REQUIRE(r.order == std::vector<int>{0, 1});
  REQUIRE(r.peak == 9);
}

TEST_CASE("a size that is unknown is an error of its own, by the caller's name; aliases are not asked") {
  const ir::block unknown({{{0}, {1}}}, {3, std::nullopt});
  REQUIRE(fault_of(unknown).code == error_code::unknown_size);
  REQUIRE(fault_of(unknown).message == "the size of tensor 1 '%1' is unknown");
  REQUIRE(tensors_of(unknown)[fault_of(unknown).tensors[0]].id() == 1);
  const ir::block view({{{0}, {1}}, {{1}, {2}}}, {3, std::nullopt, 1}, {{1, 0}});
  REQUIRE(schedule(view).value().peak == 4);
  const ir::block cycle({{{1}, {0}}, {{0}, {1}}}, {1, 1});
  REQUIRE(fault_of(cycle).message.find("'op0'") != std::string::npos);
}

TEST_CASE("several outputs overwrite") {
  // Op 0 reads 0 (10 bytes) and 1 (20) and writes 2 (10) and 3 (20), each in place of one: nothing is counted twice.
  ir::block b({{{0, 1}, {2, 3}, {}, {{0, 0}, {1, 1}}}, {{2, 3}, {4}}}, {10, 20, 10, 20, 1});
  REQUIRE(schedule(b).value().peak == 31);
  REQUIRE(schedule(b, {.in_place = false}).value().peak == 60);
  b.ops[0].over = {{0, 1}, {1, 1}};
  REQUIRE(fault_of(b).code == error_code::bad_overwrite);
  b.ops[0].over = {{2, 0}};
  REQUIRE(fault_of(b).message == "operator 0 'op0' overwrites with output 2, but writes only 2");
}

TEST_CASE("an update whose result has a name runs after all users of the old value, and before those of the new one") {
  // 1 is an update of 0 by op 0, listed first; op 1 reads the old value 0, op 2 a view 4 of it that op 3 makes, op 4 the new
  // one.
  const ir::block b({{{0}, {1}, {0}}, {{0}, {2}}, {{4}, {3}}, {{0}, {4}}, {{1}, {5}}}, {8, {}, 1, 1, {}, 1},
                    {{1, 0}, {4, 0}});
  const auto low = lower(b).value();
  for (op_id reader : {1U, 2U, 3U}) REQUIRE(comes_before(low.problem, reader, 0));
  REQUIRE(comes_before(low.problem, 0, 4));
  REQUIRE(schedule(b).value().peak == 8 + 1);  // the new value takes no room of its own
}

TEST_CASE("updates without a name of the result keep the listed order of uses, by as many edges as uses") {
  // A buffer 0: op 0 reads, 1 and 2 update, 3 and 4 read, 5 updates.
  const std::vector<ir::block::op> ops{{{0}, {1}}, {{0}, {}, {0}}, {{0}, {}, {0}}, {{0}, {2}}, {{0}, {3}}, {{0}, {}, {0}}};
  const auto low = lower(ir::block(ops, {8, 1, 1, 1})).value();
  for (const auto& [a, b] : std::vector<std::pair<op_id, op_id>>{{0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 5}})
    REQUIRE(comes_before(low.problem, a, b));
  REQUIRE_FALSE(comes_before(low.problem, 3, 4));
  REQUIRE(low.problem.predecessors().items() <= 2 * ops.size());
}

TEST_CASE("updates that cannot be ordered name those that are in each other's way") {
  const ir::block twice({{{0}, {1}, {0}}, {{0}, {2}, {0}}}, {8, {}, {}}, {{1, 0}, {2, 0}});
  REQUIRE(fault_of(twice).message.find("operator 0 'op0' and operator 1 'op1' both update tensor 0 '%0'") == 0);
  // Op 1 reads the old value and also the new one.
  const ir::block both({{{0}, {1}, {0}}, {{0, 1}, {2}}}, {8, {}, 1}, {{1, 0}});
  REQUIRE(fault_of(both).code == error_code::cycle);
  const ir::block none_of_its_inputs({{{0}, {1}, {2}}, {{}, {2}}}, {8, 1, 1});
  REQUIRE(fault_of(none_of_its_inputs).code == error_code::bad_update);
}

TEST_CASE("random updates: no order of the result puts a user of the old value after the update") {
  std::size_t updates = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed) {
    base::random_source r(seed);
    const int n = 3 + static_cast<int>(r.below(7));
    std::vector<ir::block::op> ops;
    std::vector<std::optional<std::int64_t>> sizes{4};
    std::map<int, int> views;
    int newest = 0;                         // the last value of the storage of tensor 0
    std::vector<std::pair<int, int>> must;  // (reader, update)
    std::vector<std::vector<int>> readers(1);
    for (int i = 0; i < n; ++i) {
      const int out = static_cast<int>(sizes.size());
      if (r.chance(40, 100)) {  // a named update of the newest value
        for (int reader : readers.back()) must.emplace_back(reader, i);
        ops.push_back({{newest}, {out}, {newest}});
        views[out] = newest;
        newest = out;
        readers.emplace_back();
        ++updates;
      } else {
        ops.push_back({{newest}, {out}});
        readers.back().push_back(i);
      }
      sizes.emplace_back(1 + static_cast<std::int64_t>(r.below(9)));
    }
    // Renumber the operators.
    std::vector<int> place(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) place[static_cast<std::size_t>(i)] = i;
    for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[r.below(i)]);
    std::vector<ir::block::op> listed(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) listed[static_cast<std::size_t>(place[i])] = ops[i];
    const ir::block b(listed, sizes, views);
    const auto result = schedule(b).value();
    std::vector<std::size_t> step(ops.size());
    for (std::size_t i = 0; i < result.order.size(); ++i) step[static_cast<std::size_t>(result.order[i])] = i;
    const auto at = [&](int op) { return step[static_cast<std::size_t>(place[static_cast<std::size_t>(op)])]; };
    for (const auto& [reader, update] : must) REQUIRE(at(reader) < at(update));
  }
  REQUIRE(updates > 100);
}

namespace {

struct cells {
  std::vector<int> ops() const { return {0, 1, 2}; }
  std::vector<int> inputs(int) const { return {}; }
  std::vector<int> outputs(int op) const { return {op}; }
  int size(int) const { return 1; }
  std::uint64_t scope(int op) const { return op == 1 ? (std::uint64_t{1} << 32) + 5 : 5; }
};

struct far_apart {  // handles far apart, negative ones among them
  std::vector<std::int64_t> handles{std::numeric_limits<std::int64_t>::min(), -1, 0, 70000, std::int64_t{1} << 60};
  std::vector<std::int64_t> ops() const { return handles; }
  std::vector<std::int64_t> inputs(std::int64_t op) const {
    return op == handles[0] ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{handles[0]};
  }
  std::vector<std::int64_t> outputs(std::int64_t op) const { return {op}; }
  int size(std::int64_t) const { return 1; }
};

}  // namespace

TEST_CASE("cells are told apart beyond 32 bits, and integer handles may be any") {
  const auto low = lower(cells{}).value();
  REQUIRE(low.problem.scope(0) == low.problem.scope(2));
  REQUIRE(low.problem.scope(0) != low.problem.scope(1));
  const auto far = lower(far_apart{}).value();
  REQUIRE(far.ops == far_apart{}.handles);
  REQUIRE(far.problem.predecessors(4)[0] == 0);
}

TEST_CASE("overlays answer any hook, one upon the other; a Boost graph gets names and control edges") {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> g(3);
  add_edge(0, 2, g);
  const std::vector<int> sizes{4, 5, 6};
  const auto tensors = bgl::tensor_per_vertex(g, sizes.data());
  const auto named = with_operator_names(tensors, [](std::size_t v) { return "v" + std::to_string(v); });
  const auto ordered =
      with_after(named, [](std::size_t v) { return v == 0 ? std::vector<std::size_t>{1} : std::vector<std::size_t>{}; });
  static_assert(hooks<decltype(ordered)>.after && hooks<decltype(ordered)>.operator_name);
  REQUIRE(schedule(ordered).value().order[0] == 1);
  const auto circle = with_after(named, [](std::size_t v) { return std::vector<std::size_t>{v == 0 ? 2U : 0U}; });
  REQUIRE(schedule(circle).error->message.find("'v0'") != std::string::npos);
  const auto over = with_overwrites(
      with_scopes(with_live_out(tensors, [](std::size_t v) { return v == 2; }), [](std::size_t) { return 7; }),
      [](std::size_t v) { return v == 2 ? 0 : -1; });
  static_assert(hooks<decltype(over)>.scope && hooks<decltype(over)>.live_out && hooks<decltype(over)>.overwrites);
  const auto low = lower(over).value();
  REQUIRE(low.problem.live_out(low.problem.outputs(2)[0]));
  REQUIRE(low.problem.overwrites(2) == 0);
  const auto more = with_tensor_names(with_updates(with_aliases(tensors, [](std::size_t v) { return v; }),
                                                   [](std::size_t) { return std::vector<std::size_t>{}; }),
                                      [](std::size_t) { return "t"; });
  REQUIRE(schedule(more).value().peak == schedule(tensors).value().peak);
}

TEST_CASE("a Boost graph with an argument that no edge carries") {
  using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  graph g(2);
  add_edge(0, 1, g);
  using edge = boost::graph_traits<graph>::edge_descriptor;
  const auto edges = bgl::tensor_per_edge(g, boost::make_static_property_map<edge>(6));
  const auto sized = with_sizes(edges, [&](std::size_t t) { return t == 0 ? edges.size(0) : 1000; });
  const auto kept = with_live_out(with_tensors(sized, std::vector<std::size_t>{1}), [](std::size_t t) { return t == 1; });
  REQUIRE(schedule(edges).value().peak == 6);
  REQUIRE(schedule(kept).value().peak == 1006);
}

namespace {

struct many_ways {
  static std::vector<int> ops() { return {0, 1}; }
  static std::vector<int> inputs(int op) { return std::vector<int>(op == 1 ? 1 : 0, 0); }
  static std::vector<int> outputs(int op) { return {op}; }
  static int size(int) { return 8; }
  static std::vector<int> tensors() { return {7}; }
  std::vector<int> after(auto op) const { return std::vector<int>(op == 1 ? 1 : 0, 0); }
  static int workspace(int op) { return op; }
  memsched::firing firing(int) const { return memsched::firing::cbp; }
  memsched::firing firing(double) const { return memsched::firing::pbc; }
  template <class T>
  static bool live_out(T t) {
    return t == 7;
  }
};

}  // namespace

TEST_CASE("static hooks, overloads and templates of the right types are heard") {
  constexpr auto heard = hooks<many_ways>;
  static_assert(heard.tensors && heard.after && heard.workspace && heard.firing && heard.live_out && !heard.scope);
  REQUIRE(schedule(many_ways{}).value().peak == 8 + 8 + 1);  // cbp: 7 stays, 0 is freed before 1 is made
}
