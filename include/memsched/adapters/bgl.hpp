// Boost.Graph: any directed VertexListGraph and EdgeListGraph as operators (its vertices) and tensors. Needs Boost.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/graph/graph_traits.hpp>
#include <boost/property_map/property_map.hpp>

#include <memsched/base/adjacency.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bgl {

namespace detail {

/// The vertices of a graph and their positions: descriptors may be anything that std::hash takes.
template <class Vertex>
class numbered_vertices {
 public:
  template <class Graph>
  explicit numbered_vertices(const Graph& g) {
    for (auto [v, end] = vertices(g); v != end; ++v) {
      position_.emplace(*v, static_cast<index_t>(list_.size()));
      list_.push_back(*v);
    }
  }
  const std::vector<Vertex>& list() const { return list_; }
  index_t operator[](const Vertex& v) const { return position_.at(v); }

 private:
  std::vector<Vertex> list_;
  std::unordered_map<Vertex, index_t> position_;
};

template <class Map>
using value_t = typename boost::property_traits<Map>::value_type;

template <class Map, class Key>
value_t<Map> value(const Map& map, const Key& key) {
  using boost::get;
  if constexpr (std::is_pointer_v<Map>) return map[key];  // boost::get would make the key signed
  else return get(map, key);
}

}  // namespace detail

/// Every vertex writes one tensor, which all its successors read. A tensor's handle is the vertex that writes it.
/// The tensor of a vertex without successors is freed right after it; `with_live_out` of graph/overlay.hpp makes it a
/// graph output. Refers to nothing: the graph and its maps may change or go.
template <class Vertex, class Size>
class vertex_tensors {
 public:
  std::span<const Vertex> ops() const { return vertices_.list(); }
  std::span<const Vertex> inputs(const Vertex& v) const { return inputs_[vertices_[v]]; }
  std::array<Vertex, 1> outputs(const Vertex& v) const { return {v}; }
  Size size(const Vertex& v) const { return sizes_[vertices_[v]]; }

  template <class Graph, class SizeMap>
  vertex_tensors(const Graph& g, const SizeMap& size) : vertices_(g) {
    for (const Vertex& v : vertices_.list()) sizes_.push_back(detail::value(size, v));
    std::vector<std::pair<index_t, Vertex>> reads;
    for (auto [e, end] = edges(g); e != end; ++e) reads.emplace_back(vertices_[target(*e, g)], source(*e, g));
    inputs_ = list_of<Vertex>::from_pairs(vertices_.list().size(), reads);
  }

 private:
  detail::numbered_vertices<Vertex> vertices_;
  std::vector<Size> sizes_;
  list_of<Vertex> inputs_;
};

/// Every edge carries a tensor of its own, from its source to its target; parallel edges are several tensors. A tensor's
/// handle is the position of its edge in `edges(g)`. Refers to nothing: the graph and its maps may change or go.
template <class Vertex, class Size>
class edge_tensors {
 public:
  std::span<const Vertex> ops() const { return vertices_.list(); }
  std::span<const std::size_t> inputs(const Vertex& v) const { return inputs_[vertices_[v]]; }
  std::span<const std::size_t> outputs(const Vertex& v) const { return outputs_[vertices_[v]]; }
  Size size(std::size_t edge) const { return sizes_[edge]; }

  template <class Graph, class SizeMap>
  edge_tensors(const Graph& g, const SizeMap& size) : vertices_(g) {
    std::vector<std::pair<index_t, std::size_t>> reads, writes;
    for (auto [e, end] = edges(g); e != end; ++e) {
      writes.emplace_back(vertices_[source(*e, g)], sizes_.size());
      reads.emplace_back(vertices_[target(*e, g)], sizes_.size());
      sizes_.push_back(detail::value(size, *e));
    }
    inputs_ = list_of<std::size_t>::from_pairs(vertices_.list().size(), reads);
    outputs_ = list_of<std::size_t>::from_pairs(vertices_.list().size(), writes);
  }

 private:
  detail::numbered_vertices<Vertex> vertices_;
  std::vector<Size> sizes_;
  list_of<std::size_t> inputs_, outputs_;
};

namespace detail {

template <class Graph>
using vertex_t = typename boost::graph_traits<Graph>::vertex_descriptor;

/// Rejects graphs that cannot be read as operators and tensors; returns false for them.
template <class Graph, class SizeMap>
constexpr bool suits() {
  using traits = boost::graph_traits<Graph>;
  constexpr bool directed = std::is_convertible_v<typename traits::directed_category, boost::directed_tag>;
  constexpr bool lists = std::is_convertible_v<typename traits::traversal_category, boost::vertex_list_graph_tag> &&
                         std::is_convertible_v<typename traits::traversal_category, boost::edge_list_graph_tag>;
  static_assert(directed, "memsched: the Boost graph is undirected: an edge must say who writes and who reads");
  static_assert(lists,
                "memsched: the Boost graph is no VertexListGraph and EdgeListGraph: it lacks vertices(g) or edges(g)");
  static_assert(std::integral<value_t<SizeMap>>, "memsched: the size map's values are no integers: sizes are bytes");
  return directed && lists && std::integral<value_t<SizeMap>>;
}

}  // namespace detail

/// g with size[v] bytes for the one tensor that vertex v writes and all its successors read; `size` is any readable
/// property map. Schedules come back as vertex descriptors. O(vertices + edges), no vertex_index needed.
template <class Graph, class SizeMap>
auto tensor_per_vertex(const Graph& g, const SizeMap& size) {
  if constexpr (detail::suits<Graph, SizeMap>())
    return vertex_tensors<detail::vertex_t<Graph>, detail::value_t<SizeMap>>(g, size);
}

/// g with size[e] bytes for the tensor (the tokens) of each edge e, likewise.
template <class Graph, class SizeMap>
auto tensor_per_edge(const Graph& g, const SizeMap& size) {
  if constexpr (detail::suits<Graph, SizeMap>())
    return edge_tensors<detail::vertex_t<Graph>, detail::value_t<SizeMap>>(g, size);
}

}  // namespace bgl
}  // namespace MEMSCHED_ABI
}  // namespace memsched
