// Inputs that arrive part by part, as the lines of a camera do.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The network with an operator for each tensor that is a graph input: it makes the tensor when it is wanted, the parts of
/// one input in the order in which they are listed. Inputs that are cut first need room for the parts in use only.
MEMSCHED_FUNCTION network stream_inputs(network net);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>
#include <vector>

#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION network stream_inputs(network net) {
  const uses use(net);
  std::vector<operation> operations;
  std::vector<op_id> number(net.operations.size(), none);
  std::vector<op_id> last(net.tensors.size(), none);  // per origin: the reader of its latest part
  const auto read = [&](tensor_id t) {
    typed_tensor& x = net.tensors[t];
    if (!x.input) return;
    x.input = false;
    operation op;
    op.name = "read " + x.name;
    op.does.what = op_kind::read;
    image whole_input{{x.part.rows.last, x.part.columns.last, x.part.channels.last},
                      {{t, x.part.rows.first, x.part.columns.first, x.part.channels.first}}};
    op.writes = {std::move(whole_input)};
    op_id& before = last[x.origin == none ? t : x.origin];
    if (before != none) op.after = {before};
    before = static_cast<op_id>(operations.size());
    operations.push_back(std::move(op));
  };
  const auto read_until = [&](tensor_id t) {  // the parts before it come first
    for (tensor_id part = 0; part <= t; ++part)
      if (net.tensors[part].input && net.tensors[part].origin == net.tensors[t].origin) read(part);
  };
  for (op_id i = 0; i < net.operations.size(); ++i) {
    operation& op = net.operations[i];
    for (const image& x : op.reads)
      for (const placed& p : x.parts)
        if (net.tensors[p.tensor].input) read_until(p.tensor);
    for (op_id& before : op.after) before = number[before];
    number[i] = static_cast<op_id>(operations.size());
    operations.push_back(std::move(op));
  }
  for (tensor_id t = 0; t < net.tensors.size(); ++t) read(t);
  net.operations = std::move(operations);
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
