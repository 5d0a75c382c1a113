// A Boost.Graph graph: vertices are operators, and each writes one tensor that all its successors read.
#include <iostream>
#include <string>

#include <boost/graph/adjacency_list.hpp>
#include <memsched/adapters/bgl.hpp>
#include <memsched/graph/overlay.hpp>
#include <memsched/schedule.hpp>

struct layer {
  std::string name;
  unsigned bytes;  // of its output
};

// Vertices in a list: descriptors are no integers, and there is no vertex_index. vecS works the same.
using network = boost::adjacency_list<boost::vecS, boost::listS, boost::directedS, layer>;

int main() {
  network g;
  const auto input = add_vertex(layer{"input", 100}, g);
  const auto conv = add_vertex(layer{"conv", 800}, g), pool = add_vertex(layer{"pool", 200}, g);
  const auto conv2 = add_vertex(layer{"conv2", 900}, g), pool2 = add_vertex(layer{"pool2", 100}, g);
  const auto concat = add_vertex(layer{"concat", 300}, g);
  for (const auto& [from, to] :
       {std::pair(input, conv), {input, conv2}, {conv, pool}, {conv2, pool2}, {pool, concat}, {pool2, concat}})
    add_edge(from, to, g);

  // The size map is any property map. A vertex without successors frees its tensor unless that is an output.
  const auto tensors = memsched::bgl::tensor_per_vertex(g, get(&layer::bytes, g));
  const auto graph = memsched::with_live_out(tensors, [&](auto v) { return out_degree(v, g) == 0; });

  const auto best = memsched::schedule(graph).value();            // throws on a cycle, naming it
  for (const auto v : best.order) std::cout << g[v].name << ' ';  // the order holds vertex descriptors
  std::cout << "\npeak " << best.peak << " bytes, " << to_string(best.verdict()) << '\n';
}
