// A number for the structure of a graph, names apart: equal on every platform as long as the graph is.
#pragma once

#include <cstdint>

#include <memsched/graph/problem.hpp>

/// FNV-1a over the bytes of 64-bit numbers.
class fingerprint {
 public:
  explicit fingerprint(const memsched::problem_draft& graph) {
    for (const memsched::problem_draft::tensor_data& t : graph.tensors) add(t.size);
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
      add_all(graph.reads[op]);
      add_all(graph.writes[op]);
      add(graph.operators[op].overwrites);
      add(graph.operators[op].scope);
    }
    add_all(graph.graph_inputs);
    add_all(graph.graph_outputs);
  }
  std::uint64_t value() const { return hash_; }

 private:
  void add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte, number >>= 8) hash_ = (hash_ ^ (number & 0xff)) * 0x100000001b3u;
  }
  template <class List>
  void add_all(const List& list) {
    add(list.size());
    for (auto item : list) add(item);
  }

  std::uint64_t hash_ = 0xcbf29ce484222325u;
};
