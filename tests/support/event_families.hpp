// Families of events for tests of checkers: of any nodes that the checker lets be folded or light, grown as it asks for it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <memsched/certify/derive_rounds.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/proof/check_certificate.hpp>

#include "support/random_problem.hpp"

namespace support {

/// A product of a small sparse matrix and a vector: rows add up products of entries that several rows share. Some operators
/// need more while they run, and some entries stand in a row beside its products.
inline memsched::problem_draft sparse_product(random& r) {
  using namespace memsched;
  problem_builder b;
  std::vector<tensor_id> entries;
  for (std::uint32_t i = 2 + r.below(3); i > 0; --i) {
    entries.push_back(b.tensor(1 + r.below(3)));
    b.op({.writes = {entries.back()}});
  }
  for (std::uint32_t row = 2 + r.below(2); row > 0; --row) {
    std::vector<tensor_id> products;
    for (tensor_id x : entries) {
      if (r.chance(35)) continue;
      products.push_back(b.tensor(1 + r.below(4)));
      b.op({.reads = {x}, .writes = {products.back()}, .workspace = r.chance(40) ? r.below(4) : 0});
    }
    if (r.chance(20)) products.push_back(entries[r.below(static_cast<std::uint32_t>(entries.size()))]);
    if (products.empty()) continue;
    const tensor_id sum = b.tensor(r.chance(70) ? 0 : 1 + r.below(2));
    b.op({.reads = products, .writes = {sum}, .workspace = r.chance(30) ? r.below(4) : 0});
    if (r.chance(30)) b.output(sum);
  }
  return renumbered(b.draft(), r.next());
}

/// Pairs of nodes of g of which the first may be folded into the second after c's reductions, drawn at random.
inline std::vector<memsched::precedence> any_folds(const memsched::schedule_graph& g, memsched::certificate c, random& r) {
  auto& folded = c.family->events->folded;
  for (memsched::node_id v = 0; v < g.active; ++v)
    for (memsched::node_id w : g.succs[v]) {
      if (!r.chance(80)) continue;
      folded.push_back({v, w});
      const std::string why = check_certificate(g, c);
      if (why.find("need not run") != std::string::npos || why.find("that is folded") != std::string::npos)
        folded.pop_back();
    }
  return folded;
}

/// A family of events for this level with the first set alone, of g or of what compression makes of it; which nodes are folded
/// and light is drawn at random.
inline memsched::certificate any_events(const memsched::schedule_graph& g, memsched::bytes level, random& r) {
  using namespace memsched;
  certificate c{.bound = level, .family = proof::set_family{.level = level, .events = proof::event_model{}}};
  c.family->mirrored = r.chance(20);
  if (r.chance(50)) c.family->reductions = memsched::detail::compressed_for_proof(g).reductions;
  if (r.chance(70)) c.family->events->folded = any_folds(g, c, r);
  if (r.chance(70)) c.family->events->most_light = r.below(r.chance(50) ? 4 : 20);
  return c;
}

/// Adds the sets that the checker finds missing. Returns false where it finds another fault, or after `most` sets.
inline bool add_missing_sets(const memsched::schedule_graph& g, memsched::certificate& c, std::size_t most) {
  while (c.family->sets.size() < most) {
    const std::string why = check_certificate(g, c);
    if (why.empty()) return true;
    unsigned set = 0, event = 0;
    if (std::sscanf(why.c_str(), "family: set %u: event %u leads out", &set, &event) != 2) return false;
    c.family->sets.push_back({set, event});
  }
  return false;
}

}  // namespace support
