// Edits that the rules share: writers and readers of a tensor, and a network without operators that it no longer needs.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Per tensor: the operator that writes it (`none` for a graph input), and those that read it, each once, ascending.
struct uses {
  std::vector<op_id> writer;
  std::vector<std::vector<op_id>> readers;

  explicit uses(const network& net) : writer(net.tensors.size(), none), readers(net.tensors.size()) {
    for (op_id i = 0; i < net.operations.size(); ++i) {
      for (const image& x : net.operations[i].writes)
        for (const placed& p : x.parts) writer[p.tensor] = i;
      for (const image& x : net.operations[i].reads)
        for (const placed& p : x.parts)
          if (readers[p.tensor].empty() || readers[p.tensor].back() != i) readers[p.tensor].push_back(i);
    }
  }
};

/// The network with its operators in this order, which lists each once.
inline network reordered(network net, const std::vector<op_id>& order) {
  std::vector<op_id> place(order.size());
  for (op_id i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<operation> operations;
  for (const op_id i : order) {
    operations.push_back(std::move(net.operations[i]));
    for (op_id& before : operations.back().after) before = place[before];
  }
  net.operations = std::move(operations);
  return net;
}

/// The network without these operators, and without the tensors that they write. Precondition: no other operator uses those.
inline network without(const network& net, const std::vector<bool>& dropped) {
  std::vector<bool> gone(net.tensors.size(), false);
  std::vector<op_id> op_number(net.operations.size(), none);
  network out = emptied(net);
  for (op_id i = 0; i < net.operations.size(); ++i) {
    if (!dropped[i]) continue;
    for (const image& x : net.operations[i].writes)
      for (const placed& p : x.parts) gone[p.tensor] = true;
  }
  std::vector<tensor_id> number(net.tensors.size(), none);
  for (tensor_id t = 0; t < net.tensors.size(); ++t) {
    if (gone[t]) continue;
    number[t] = static_cast<tensor_id>(out.tensors.size());
    out.tensors.push_back(net.tensors[t]);
  }
  for (typed_tensor& x : out.tensors)
    if (x.alias_of != none) x.alias_of = number[x.alias_of];
  for (op_id i = 0; i < net.operations.size(); ++i) {
    if (dropped[i]) continue;
    operation op = net.operations[i];
    for (std::vector<image>* images : {&op.reads, &op.writes})
      for (image& x : *images)
        for (placed& p : x.parts) p.tensor = number[p.tensor];
    if (op.overwrites != none) op.overwrites = number[op.overwrites];
    std::vector<op_id> after;
    for (const op_id before : op.after)
      if (op_number[before] != none) after.push_back(op_number[before]);
    op.after = std::move(after);
    op_number[i] = static_cast<op_id>(out.operations.size());
    out.operations.push_back(std::move(op));
  }
  return out;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
