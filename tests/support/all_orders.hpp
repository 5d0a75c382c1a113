// All orders of a small problem.
#pragma once

#include <algorithm>
#include <memsched/graph/problem.hpp>
#include <vector>

namespace support {

using memsched::op_id;
using memsched::problem;

/// Calls f with every order of p.
template <class F>
void for_each_order(const problem& p, std::vector<op_id>& prefix, F& f) {
  if (prefix.size() == p.ops().size()) return f(prefix);
  for (op_id op : p.ops()) {
    const auto ran = [&](op_id x) { return std::find(prefix.begin(), prefix.end(), x) != prefix.end(); };
    const auto preds = p.predecessors(op);
    if (ran(op) || !std::all_of(preds.begin(), preds.end(), ran)) continue;
    prefix.push_back(op);
    for_each_order(p, prefix, f);
    prefix.pop_back();
  }
}

}  // namespace support
