// Random sums of products of shared values, as in sparse matrix products: graphs on which nodes feed others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/graph/builder.hpp>
#include <memsched/graph/schedule_graph.hpp>

#include "support/random_problem.hpp"

namespace support {

struct sums_shape {
  std::uint32_t values = 4, sums = 3, percent = 50;  ///< of the products of a value and a sum, which are there
  std::uint32_t max_size = 2;                        ///< of sums and of most other tensors
  std::uint32_t percent_odd = 20;                    ///< of operators that differ from those of a plain product
};

/// Values; products that read one or two of them, most of which one sum reads, and some of which overwrite a value; sums, some
/// of which are values of a second layer. Renumbered.
inline memsched::problem_draft random_sums(std::uint64_t seed, const sums_shape& s = {}) {
  using namespace memsched;
  random r(seed);
  problem_builder b;
  const auto odd = [&] { return r.chance(s.percent_odd); };
  const auto size = [&] { return bytes{1} + r.below(odd() ? 4 * s.max_size : s.max_size); };
  std::vector<tensor_id> values;
  for (std::uint32_t i = 0; i < s.values; ++i) {
    values.push_back(b.tensor(size()));
    b.op({.writes = {values.back()}, .workspace = odd() ? size() : 0});
  }
  std::vector<tensor_id> products;
  for (std::uint32_t layer = r.chance(30) ? 2 : 1; layer > 0; --layer) {
    std::vector<tensor_id> sums;
    for (std::uint32_t row = 0; row < s.sums; ++row) {
      operator_spec sum;
      for (const tensor_id value : values) {
        if (!r.chance(s.percent)) continue;
        operator_spec product;
        product.reads.push_back(value);
        if (odd()) product.reads.push_back(values[r.below(static_cast<std::uint32_t>(values.size()))]);
        if (odd()) product.overwrites = value;
        if (odd() && odd()) product.rule = firing::cbp;
        product.workspace = r.chance(50) ? 0 : size();
        products.push_back(b.tensor(size()));
        product.writes.push_back(products.back());
        b.op(product);
        sum.reads.push_back(products.back());
      }
      if (odd()) sum.reads.push_back(values[r.below(static_cast<std::uint32_t>(values.size()))]);
      if (odd() && !products.empty()) sum.reads.push_back(products[r.below(static_cast<std::uint32_t>(products.size()))]);
      if (sum.reads.empty()) continue;
      sums.push_back(b.tensor(r.chance(40) ? 0 : size()));
      sum.writes.push_back(sums.back());
      if (odd()) sum.workspace = size();
      b.op(sum);
      if (r.chance(15)) b.output(sums.back());
    }
    if (!sums.empty()) values = sums;
  }
  return renumbered(b.draft(), seed);
}

/// Values, products of them, nodes and releases that wait for some products, releases that wait for some of all: with any
/// peaks, impacts and edges, as compression leaves them, and a base that no order uses up.
inline memsched::schedule_graph random_costs_of_sums(random& r) {
  using namespace memsched;
  const std::uint32_t values = 1 + r.below(3), products = 2 + r.below(4), sums = r.below(3), releases = 1 + r.below(4);
  const std::uint32_t top = 1 + r.below(3), odd = r.below(30);
  schedule_graph g;
  g.active = values + products + sums;
  std::vector<std::pair<index_t, node_id>> edges;
  const auto wait_for = [&](index_t v, std::uint32_t first, std::uint32_t last, std::uint32_t percent) {
    for (node_id u = first; u < last; ++u)
      if (r.chance(percent)) edges.emplace_back(v, u);
  };
  for (index_t v = 0; v < g.active; ++v) {
    const bool is_sum = v >= values + products, falls = is_sum ? r.chance(70) : r.chance(odd);
    const delta impact = falls ? -static_cast<delta>(r.below(2 * top)) : 1 + static_cast<delta>(r.below(top));
    g.cost.push_back({std::max<delta>(impact, 0) + r.below(r.chance(odd) ? 3 * top : 2), impact});
    if (v >= values) wait_for(v, 0, values, is_sum ? odd : 50);
    if (is_sum) wait_for(v, values, values + products, 50);
  }
  for (index_t k = 0; k < releases; ++k) {
    const bool of_sum = r.chance(40);
    g.cost.push_back({0, -static_cast<delta>(1 + r.below(of_sum ? 3 * top : top))});
    wait_for(static_cast<index_t>(g.active + k), r.chance(odd) ? 0 : values, values + products, 60);
    if (!of_sum && r.chance(odd))
      wait_for(static_cast<index_t>(g.active + k), values + products, values + products + sums, 50);
  }
  g.preds = adjacency::from_pairs(g.size(), edges);
  for (index_t k = 0; k < releases; ++k)
    if (g.preds[g.active + k].empty()) g.cost[g.active + k].impact = 0;
  g.succs = base::transpose(g.preds, g.size());
  for (const node_cost& c : g.cost) {
    g.base += static_cast<bytes>(std::max<delta>(-c.impact, 0));
    g.credits.close();
  }
  return g;
}

/// The same graph, in which some nodes have credits on releases that wait for them: of any amount, also of more than is freed.
inline memsched::schedule_graph with_any_credits(memsched::schedule_graph g, random& r) {
  using namespace memsched;
  g.credits = {};
  for (node_id v = 0; v < g.size(); ++v) {
    for (node_id s : g.succs[v])
      if (g.is_release(s) && r.chance(40)) g.credits.push({s, 1 + static_cast<delta>(r.below(4))});
    g.credits.close();
  }
  return g;
}

}  // namespace support
