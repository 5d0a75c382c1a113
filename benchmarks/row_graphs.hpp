// Networks with every tensor in blocks of rows: grids of rows by layers, which nobody drew by hand.
#pragma once

#include <string>
#include <vector>

#include <memsched/graph/lower.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <networks/typed.hpp>

struct row_graph {
  std::string name;
  memsched::network net;
  memsched::coordinate blocks;  ///< at most
  bool streamed = false;        ///< inputs come block by block
};

inline std::vector<row_graph> row_graphs() {
  constexpr memsched::coordinate single = 100'000;
  return {{"rows:mcunet-v2:single", networks::mcunet_v2_chain(), single, true},
          {"rows:mobilenet-v2:single", networks::mobilenet_v2_chain(), single, true},
          {"rows:swiftnet-cell:single", networks::swiftnet_cell_a_typed(), single},
          {"rows:nasnet-cifar:4", networks::nasnet_cifar_typed(), 4},
          {"rows:amoebanet-cifar:8", networks::amoebanet_cifar_typed(), 8},
          {"rows:nasnet-cifar:single", networks::nasnet_cifar_typed(), single},
          {"rows:nasnet-imagenet:28", networks::nasnet_imagenet_typed(), 28}};
}

inline memsched::problem problem_of(const row_graph& r) {
  memsched::network parts = memsched::cut(r.net, memsched::row_cuts(r.net, r.blocks)).value();
  if (r.streamed) parts = memsched::stream_inputs(std::move(parts));
  return memsched::lower(parts).value().problem;
}
