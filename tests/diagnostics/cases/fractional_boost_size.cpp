// expect: memsched: the size map's values are no integers
// lines: 20
// needs: boost/graph/adjacency_list.hpp
#include <boost/graph/adjacency_list.hpp>
#include <memsched/adapters/bgl.hpp>
using graph = boost::adjacency_list<>;
int main() { memsched::bgl::tensor_per_vertex(graph{}, static_cast<double*>(nullptr)); }
