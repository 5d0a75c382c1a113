// Boost.Graph graphs as operators and tensors.
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/adjacency_matrix.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <catch2/catch.hpp>
#include <memsched/adapters/bgl.hpp>
#include <memsched/graph/overlay.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>

using namespace memsched;
using boost::listS;
using boost::vecS;

namespace {

struct vertex_facts {
  int bytes = 0;
};
struct edge_facts {
  unsigned tokens = 0;
};

template <class Vertices, class Direction>
using graph_of = boost::adjacency_list<vecS, Vertices, Direction, vertex_facts, edge_facts>;

/// Two branches from one tensor of 1: 8 -> 3 and 9 -> 2; a join of 3. Only the second branch first is optimal.
template <class Graph>
std::vector<typename boost::graph_traits<Graph>::vertex_descriptor> two_branches(Graph& g) {
  std::vector<typename boost::graph_traits<Graph>::vertex_descriptor> v;
  for (int size : {1, 8, 3, 9, 2, 3}) v.push_back(add_vertex(vertex_facts{size}, g));
  for (auto [from, to] : {std::pair(0, 1), {1, 2}, {0, 3}, {3, 4}, {2, 5}, {4, 5}})
    add_edge(v[static_cast<std::size_t>(from)], v[static_cast<std::size_t>(to)], g);
  return v;
}

template <class Order, class Graph>
void require_topological(const Order& order, const Graph& g) {
  std::map<typename boost::graph_traits<Graph>::vertex_descriptor, std::size_t> at;
  for (std::size_t i = 0; i < order.size(); ++i) at[order[i]] = i;
  REQUIRE(at.size() == num_vertices(g));
  const auto [first, last] = edges(g);
  for (auto e = first; e != last; ++e) REQUIRE(at.at(source(*e, g)) < at.at(target(*e, g)));
}

}  // namespace

TEMPLATE_TEST_CASE("one tensor per vertex: dense and list descriptors, directed and bidirectional", "",
                   (graph_of<vecS, boost::directedS>), (graph_of<vecS, boost::bidirectionalS>),
                   (graph_of<listS, boost::directedS>), (graph_of<listS, boost::bidirectionalS>)) {
  TestType g;
  const auto v = two_branches(g);
  const auto r = schedule(bgl::tensor_per_vertex(g, get(&vertex_facts::bytes, g))).value();
  require_topological(r.order, g);
  // 1; 1 + 9; 1 + 9 + 2; 1 + 2 + 8; 2 + 8 + 3; 2 + 3 + 3. The first branch first takes 3 + 9 + 2 at its fifth step.
  REQUIRE(r.order == std::vector{v[0], v[3], v[4], v[1], v[2], v[5]});
  REQUIRE(r.profile == std::vector<bytes>{1, 10, 12, 11, 13, 8});
  REQUIRE(r.peak == 13);
  REQUIRE(r.verdict() == verdict::optimal);
}

TEST_CASE("all successors read the one tensor of a vertex; parallel edges read it once") {
  graph_of<vecS, boost::directedS> g;
  for (int size : {10, 1, 1}) add_vertex(vertex_facts{size}, g);
  add_edge(0, 1, g);
  add_edge(0, 1, g);
  add_edge(0, 2, g);
  const auto r = schedule(bgl::tensor_per_vertex(g, get(&vertex_facts::bytes, g))).value();
  REQUIRE(r.profile == std::vector<bytes>{10, 11, 11});
}

TEST_CASE("a vertex without successors frees its tensor, or keeps it as a graph output") {
  graph_of<listS, boost::directedS> g;
  const auto a = add_vertex(vertex_facts{5}, g), b = add_vertex(vertex_facts{7}, g);
  const auto graph = bgl::tensor_per_vertex(g, get(&vertex_facts::bytes, g));
  REQUIRE(schedule(graph).value().peak == 7);
  const auto sink = [&](auto v) { return out_degree(v, g) == 0; };
  REQUIRE(schedule(with_live_out(graph, sink)).value().peak == 12);
  const auto room = [&](auto v) { return v == a ? 100 : 0; };
  REQUIRE(schedule(with_workspace(graph, room)).value().peak == 105);
  REQUIRE(schedule(graph).value().order == std::vector{a, b});
}

TEMPLATE_TEST_CASE("one tensor per edge, parallel edges included", "", (graph_of<vecS, boost::directedS>),
                   (graph_of<listS, boost::directedS>), (graph_of<listS, boost::bidirectionalS>)) {
  TestType g;
  const auto a = add_vertex(g), b = add_vertex(g), c = add_vertex(g);
  add_edge(a, b, edge_facts{2}, g);
  add_edge(a, b, edge_facts{3}, g);
  add_edge(b, c, edge_facts{4}, g);
  add_edge(a, c, edge_facts{1}, g);
  const auto graph = bgl::tensor_per_edge(g, get(&edge_facts::tokens, g));
  const auto r = schedule(graph).value();
  REQUIRE(r.order == std::vector{a, b, c});
  REQUIRE(r.profile == std::vector<bytes>{6, 10, 5});
  const auto consumed_first = schedule(graph, automatic, {.default_firing = firing::cbp}).value();
  REQUIRE(consumed_first.profile == std::vector<bytes>{6, 5, 0});
}

TEST_CASE("the adapted graph outlives the Boost graph") {
  std::optional<bgl::vertex_tensors<void*, int>> graph;
  {
    graph_of<listS, boost::directedS> g;
    two_branches(g);
    graph = bgl::tensor_per_vertex(g, get(&vertex_facts::bytes, g));
  }
  REQUIRE(schedule(*graph).value().peak == 13);
}

TEST_CASE("other kinds of graphs and of property maps") {
  SECTION("compressed sparse rows and a pointer") {
    const std::vector<std::pair<int, int>> pairs{{0, 1}, {1, 2}};
    const boost::compressed_sparse_row_graph<boost::directedS> g(boost::edges_are_unsorted, pairs.begin(), pairs.end(), 3);
    const std::uint64_t sizes[] = {3, 4, 5};
    REQUIRE(schedule(bgl::tensor_per_vertex(g, &sizes[0])).value().profile == std::vector<bytes>{3, 7, 9});
  }
  SECTION("an adjacency matrix and a constant") {
    boost::adjacency_matrix<boost::directedS> g(3);
    add_edge(2, 0, g);
    add_edge(0, 1, g);
    const auto r = schedule(bgl::tensor_per_edge(g, boost::static_property_map<int>(6))).value();
    REQUIRE(r.order == std::vector<std::size_t>{2, 0, 1});
    REQUIRE(r.peak == 12);
  }
  SECTION("a filtered graph, whose descriptors have gaps, and a function") {
    graph_of<vecS, boost::directedS> g;
    const auto v = two_branches(g);
    const auto is_kept = [&](auto u) { return u != v[1]; };
    const boost::filtered_graph<decltype(g), boost::keep_all, std::function<bool(std::size_t)>> part(g, {}, is_kept);
    const auto size = boost::make_function_property_map<std::size_t>([](std::size_t u) { return static_cast<long>(u); });
    const auto r = schedule(bgl::tensor_per_vertex(part, size)).value();
    REQUIRE(r.order.size() == 5);
    REQUIRE(std::find(r.order.begin(), r.order.end(), v[1]) == r.order.end());
  }
  SECTION("no vertices") {
    const graph_of<vecS, boost::directedS> g;
    const auto r = schedule(bgl::tensor_per_vertex(g, get(&vertex_facts::bytes, g))).value();
    REQUIRE(r.order.empty());
    REQUIRE(r.peak == 0);
  }
}

TEST_CASE("faults of a Boost graph are error values") {
  graph_of<listS, boost::directedS> g;
  const auto a = add_vertex(vertex_facts{1}, g), b = add_vertex(vertex_facts{2}, g);
  const auto error = [&] { return schedule(bgl::tensor_per_vertex(g, get(&vertex_facts::bytes, g))).error.value(); };
  SECTION("a cycle") {
    add_edge(a, b, g);
    add_edge(b, a, g);
    REQUIRE(error().code == error_code::cycle);
    REQUIRE(error().operators == std::vector<op_id>{1, 0});
    const auto per_edge = schedule(bgl::tensor_per_edge(g, get(&edge_facts::tokens, g)));
    REQUIRE(per_edge.error.value().code == error_code::cycle);
    REQUIRE(per_edge.order.empty());
  }
  SECTION("a loop") {
    add_edge(b, b, g);
    REQUIRE(error().code == error_code::reads_own_output);
    REQUIRE(error().message == "operator 1 reads its own output, tensor 1");
  }
  SECTION("a negative size") {
    g[b].bytes = -4;
    REQUIRE(error().code == error_code::bad_size);
    REQUIRE(error().message == "the size of tensor 1 is negative: -4");
  }
}
