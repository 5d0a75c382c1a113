// The check of a joint proof, which shares no code with planners and schedulers.
#pragma once

#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/proof/joint_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Checks that a joint proof shows that no order of p has an arena of less than `proof.arena` bytes with offsets that are
/// multiples of `alignment`. Returns the reason if it does not, else an empty string.
MEMSCHED_FUNCTION std::string check_joint(const problem& p, const joint_proof& proof, memory_model model = {},
                                          bytes alignment = 1);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/arena_pieces.hpp>
#include <memsched/proof/check_certificate.hpp>
#include <memsched/proof/check_packing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class joint_checker {
 public:
  joint_checker(const problem& p, memory_model model, bytes alignment) : p_(p), model_(model), alignment_(alignment) {}

  std::string run(const joint_proof& proof) {
    if (proof.arena == 0) return proof.refutations.empty() ? "" : "has refutations, but nothing to prove";
    if (proof.refutations.empty() || !proof.refutations.back().edges.empty())
      return "refutations: the last must be one without edges";
    for (std::size_t i = 0; i < proof.refutations.size(); ++i) {
      const proof::joint_refutation& r = proof.refutations[i];
      const std::string place = "refutations[" + std::to_string(i) + "]: ";
      edge_set edges;
      for (const precedence& e : r.edges) {
        if (e.before >= p_.ops().size() || e.after >= p_.ops().size() || e.before == e.after)
          return place + "an edge must lead from an operator to another";
        if (!edges.insert(e).second) return place + "an edge is given twice";
      }
      const std::string why = r.peak ? peak(r, proof.arena) : conflict(r, edges, proof.arena);
      if (!why.empty()) return place + why;
      refuted_.insert(std::move(edges));
    }
    return {};
  }

 private:
  using edge_set = std::set<precedence>;

  std::string peak(const proof::joint_refutation& r, bytes arena) const {
    schedule_graph g = make_schedule_graph(p_, model_);
    std::vector<std::pair<index_t, node_id>> all;
    for (node_id v = 0; v < g.size(); ++v)
      for (const node_id u : g.preds[v]) all.emplace_back(v, u);
    for (const precedence& e : r.edges)
      if (std::find(all.begin(), all.end(), std::pair(e.after, e.before)) == all.end()) all.emplace_back(e.after, e.before);
    g.preds = adjacency::from_pairs(g.size(), all);
    g.succs = base::transpose(g.preds, g.size());
    if (base::topological_order(g.preds, g.succs).size() != g.size()) return "the edges make a cycle";
    if (std::string why = check_certificate(g, *r.peak); !why.empty()) return "peak: " + why;
    return r.peak->bound >= arena ? "" : "peak: its bound is below the arena";
  }

  std::string conflict(const proof::joint_refutation& r, const edge_set& edges, bytes arena) const {
    arena_pieces held(p_, model_);
    if (!held.play(r.order)) return "order: is no order of the graph";
    bytes left = base::max_total;
    for (buffer& b : held.buffers) {
      b.alignment = alignment_;
      if (b.size > left || alignment_ == 0 || alignment_ > left - b.size) return "alignment: is 0, or too large";
      left -= b.size + alignment_;
    }
    if (r.packing.arena != arena) return "packing: is about another arena";
    if (std::string why = check_packing(held.buffers, r.packing); !why.empty()) return "packing: " + why;
    std::vector<bool> named(held.buffers.size(), false);
    for (const index_t b : r.packing.buffers) named[b] = true;
    // Of two buffers without drops, one pair of pieces that meets will do; of others, all pairs are needed.
    std::map<std::pair<index_t, index_t>, bool> settled;
    const auto& list = held.pieces;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::size_t j = i + 1; j < list.size(); ++j) {
        const arena_piece &a = list[i], &b = list[j];
        if (!named[a.buffer] || !named[b.buffer]) continue;
        if (a.buffer == b.buffer) {
          if (!stays_tied(a, b, i, edges) || !stays_tied(b, a, j, edges)) return between(a, b) + " may part";
          continue;
        }
        if (std::max(a.lower, b.lower) >= std::min(a.upper, b.upper)) continue;
        const bool whole = is_whole(a, held) && is_whole(b, held);
        const bool meets = stays_met(a, b, held, edges);
        const auto key = std::minmax(a.buffer, b.buffer);
        if (!held.buffers[a.buffer].drops.empty() || !held.buffers[b.buffer].drops.empty()) {
          if (!meets) return between(a, b) + " may part";
        } else {
          bool& one = settled[key];
          one |= whole && meets;
        }
      }
    for (const auto& [pair, one] : settled)
      if (!one) return "buffers " + std::to_string(pair.first) + " and " + std::to_string(pair.second) + " may part";
    return {};
  }

  static bool is_whole(const arena_piece& a, const arena_pieces& held) { return a.size == held.buffers[a.buffer].size; }
  static std::string between(const arena_piece& a, const arena_piece& b) {
    return "what operators " + std::to_string(a.writer) + " and " + std::to_string(b.writer) + " write";
  }

  /// Whether no order fits that keeps the edges and those of a way out.
  bool refuted(const edge_set& edges, const edge_set& way) const {
    edge_set both = edges;
    both.insert(way.begin(), way.end());
    return refuted_.count(both) > 0 || makes_cycle(both);
  }

  bool makes_cycle(const edge_set& edges) const {
    std::vector<std::pair<index_t, op_id>> all;
    for (const op_id op : p_.ops())
      for (const op_id u : p_.predecessors(op)) all.emplace_back(op, u);
    for (const precedence& e : edges) all.emplace_back(e.after, e.before);
    const adjacency preds = adjacency::from_pairs(p_.ops().size(), all);
    return base::topological_order(preds, base::transpose(preds, p_.ops().size())).size() != p_.ops().size();
  }

  /// Whether two pieces of different buffers must meet, and lie apart.
  bool stays_met(const arena_piece& a, const arena_piece& b, const arena_pieces& held, const edge_set& edges) const {
    return stays_behind(a, b, edges) && stays_behind(b, a, edges) && stays_untied(a, b, held, edges) &&
           stays_untied(b, a, held, edges);
  }

  /// Whether a cannot be over before b begins.
  bool stays_behind(const arena_piece& a, const arena_piece& b, const edge_set& edges) const {
    if (b.writer == none || a.writer == b.writer || (a.storage != none && p_.stays(a.storage))) return true;
    edge_set way;
    if (a.writer != none) way.insert({a.writer, b.writer});
    if (a.storage != none)
      for (const op_id r : p_.readers(a.storage)) {
        if (r != b.writer) way.insert({r, b.writer});
        else if (arena_pieces(p_, model_).rule(r) != firing::cbp) return true;
      }
    return refuted(edges, way);
  }

  /// Whether b's writer cannot take the place of a.
  bool stays_untied(const arena_piece& a, const arena_piece& b, const arena_pieces& held, const edge_set& edges) const {
    if (a.storage == none || b.storage == none || b.writer == none) return true;
    for (const problem::storage_reuse& r : p_.reuses(b.writer)) {
      if (r.input != a.storage || r.output != b.storage || !held.may_take_place(b.writer, r)) continue;
      edge_set way;
      for (const op_id o : p_.readers(a.storage))
        if (o != b.writer) way.insert({o, b.writer});
      if (!refuted(edges, way)) return false;
    }
    return true;
  }

  /// Whether b, if its writer took the place of a, the i-th piece, must do so.
  bool stays_tied(const arena_piece& a, const arena_piece& b, std::size_t i, const edge_set& edges) const {
    if (b.in_place_of != i) return true;
    const auto readers = p_.readers(a.storage);
    return std::all_of(readers.begin(), readers.end(), [&](op_id r) {
      return r == b.writer || refuted(edges, {{b.writer, r}});
    });
  }

  const problem& p_;
  memory_model model_;
  bytes alignment_;
  std::set<edge_set> refuted_;
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_joint(const problem& p, const joint_proof& proof, memory_model model, bytes alignment) {
  return detail::joint_checker(p, model, alignment).run(proof);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
