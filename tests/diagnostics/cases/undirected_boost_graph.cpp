// expect: memsched: the Boost graph is undirected
// lines: 20
// needs: boost/graph/adjacency_list.hpp
#include <boost/graph/adjacency_list.hpp>
#include <memsched/adapters/bgl.hpp>
using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
int main() { memsched::bgl::tensor_per_vertex(graph{}, static_cast<int*>(nullptr)); }
