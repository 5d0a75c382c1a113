// For fuzz targets of writers: an order of each graph of a model that can run, chosen by the bytes of its file, and a check.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/model.hpp>

namespace fuzz {

/// Ends the program where a condition does not hold, as libFuzzer wants it.
inline void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d: does not hold\n", line);
  std::abort();
}

/// Numbers that depend on some bytes.
class numbers {
 public:
  explicit numbers(std::string_view bytes) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % n;
  }

 private:
  std::uint64_t state_ = 14695981039346656037u;
};

/// One order a graph; empty where the graph cannot be scheduled.
inline std::vector<std::vector<memsched::op_id>> orders_of(const memsched::model_graphs& graphs, numbers& random) {
  using memsched::op_id;
  std::vector<std::vector<op_id>> orders(graphs.size());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const auto p = memsched::make_problem(graphs[g].draft);
    if (!p) continue;
    std::vector<std::size_t> waits(p->ops().size());
    std::vector<std::vector<op_id>> next(waits.size());
    std::vector<op_id> ready;
    for (const op_id op : p->ops()) {
      waits[op] = p->predecessors(op).size();
      for (const op_id before : p->predecessors(op)) next[before].push_back(op);
      if (waits[op] == 0) ready.push_back(op);
    }
    while (!ready.empty()) {
      std::swap(ready[random.below(ready.size())], ready.back());
      const op_id op = ready.back();
      ready.pop_back();
      orders[g].push_back(op);
      for (const op_id later : next[op])
        if (--waits[later] == 0) ready.push_back(later);
    }
  }
  return orders;
}

/// Whether `after` holds the graphs of `before` with their operators in these orders.
inline bool permuted(const memsched::model_graphs& before, const memsched::model_graphs& after,
                     const std::vector<std::vector<memsched::op_id>>& orders) {
  if (before.size() != after.size()) return false;
  // Graphs inside may be listed in another order, since their callers are: each is found by what it holds.
  std::vector<bool> taken(after.size(), false);
  for (std::size_t g = 0; g < before.size(); ++g) {
    const auto holds = [&](const memsched::problem_draft& a, const memsched::problem_draft& b) {
      if (a.operators.size() != b.operators.size() || a.tensors.size() != b.tensors.size()) return false;
      for (std::size_t i = 0; i < a.operators.size(); ++i) {
        const std::size_t old = orders[g].empty() ? i : orders[g][i];
        if (a.reads[old].size() != b.reads[i].size() || a.writes[old].size() != b.writes[i].size()) return false;
        for (std::size_t k = 0; k < a.reads[old].size(); ++k)
          if (a.tensors[a.reads[old][k]].size != b.tensors[b.reads[i][k]].size) return false;
        for (std::size_t k = 0; k < a.writes[old].size(); ++k)
          if (a.tensors[a.writes[old][k]].size != b.tensors[b.writes[i][k]].size) return false;
      }
      return true;
    };
    std::size_t found = 0;
    while (found < after.size() && (taken[found] || !holds(before[g].draft, after[found].draft))) ++found;
    if (found == after.size()) return false;
    taken[found] = true;
  }
  return true;
}

}  // namespace fuzz
