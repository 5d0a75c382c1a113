// Proofs of arenas as JSON, both ways. Opt-in: needs nlohmann-json.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/formats/certificate.hpp>
#include <memsched/formats/json/value_reader.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/proof/joint_proof.hpp>
#include <memsched/proof/packing_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Takes proofs of arenas out of a JSON value; says of the first thing that is wrong where it is.
class json_arena_reader : json_value_reader<json_arena_reader> {
 public:
  result<packing_proof> packing(const json& j) {
    packing_proof p;
    if (!object(j, "") || !arena(j, p.arena) || !read_packing(j, "", p)) return std::move(error_);
    return p;
  }

  result<joint_proof> joint(const json& j) {
    joint_proof p;
    if (!object(j, "") || !arena(j, p.arena) || !list(member(j, "refutations"), "refutations")) return std::move(error_);
    for (const json& entry : j["refutations"]) {
      const std::string place = "refutations[" + std::to_string(p.refutations.size()) + "]";
      if (!read_refutation(entry, place, p.arena, p.refutations.emplace_back())) return std::move(error_);
    }
    return p;
  }

 private:
  friend json_value_reader<json_arena_reader>;

  bool read_refutation(const json& j, const std::string& place, bytes arena, proof::joint_refutation& r) {
    if (!object(j, place) || !list(member(j, "edges"), place + ".edges")) return false;
    for (const json& e : j["edges"]) {
      std::vector<index_t> pair;
      if (!indices(e, place + ".edges", pair)) return false;
      if (pair.size() != 2) return wrong(place + ".edges", "pairs of operators");
      r.edges.push_back({pair[0], pair[1]});
    }
    if (j.contains("peak") == j.contains("packing")) return wrong(place, "with \"peak\" or with \"packing\"");
    if (j.contains("peak")) {
      auto c = read_certificate(j["peak"]);
      if (!c) return error_ = {error_code::bad_input, place + ".peak: " + c.error().message, {}, {}}, false;
      r.peak = std::move(*c);
      return true;
    }
    r.packing.arena = arena;
    return indices(member(j, "order"), place + ".order", r.order) && object(j["packing"], place + ".packing") &&
           read_packing(j["packing"], place + ".packing.", r.packing);
  }

  bool read_packing(const json& j, const std::string& outer, packing_proof& p) {
    if (!indices(member(j, "buffers"), outer + "buffers", p.buffers)) return false;
    if (!list(member(j, "steps"), outer + "steps")) return false;
    for (const json& entry : j["steps"]) {
      const std::string place = outer + "steps[" + std::to_string(p.steps.size()) + "]";
      proof::packing_step& s = p.steps.emplace_back();
      s.is_sum = entry.is_object();
      if (s.is_sum) {
        const json& at = member(entry, "at");
        if (!at.is_number_integer() || (at.is_number_unsigned() && at.get<std::uint64_t>() > INT64_MAX))
          return wrong(place + ".at", "a moment");
        s.at = at.get<std::int64_t>();
      }
      if (!indices(s.is_sum ? member(entry, "sum") : entry, place, s.buffers)) return false;
    }
    return true;
  }

  bool arena(const json& j, bytes& n) {
    const json& value = member(j, "arena");
    if (!value.is_number_unsigned() || value.get<bytes>() > base::max_total)
      return wrong("arena", "a whole number from 0 to 2^61");
    n = value.get<bytes>();
    return true;
  }
  bool indices(const json& j, const std::string& place, std::vector<index_t>& into) {
    if (!list(j, place)) return false;
    for (const json& n : j) {
      if (!n.is_number_unsigned() || n.get<std::uint64_t>() >= none) return wrong(place, "a list of numbers from 0");
      into.push_back(n.get<index_t>());
    }
    return true;
  }
  bool list(const json& j, const std::string& place) { return j.is_array() || wrong(place, "a list"); }
  bool object(const json& j, const std::string& place) { return j.is_object() || wrong(place, "an object"); }
};

inline void write_packing(nlohmann::ordered_json& to, const packing_proof& p) {
  using json = nlohmann::ordered_json;
  to["buffers"] = p.buffers;
  to["steps"] = json::array();
  for (const proof::packing_step& s : p.steps)
    to["steps"].push_back(s.is_sum ? json{{"at", s.at}, {"sum", s.buffers}} : json(s.buffers));
}

}  // namespace detail

/// Reads a packing proof from a JSON value. An error names the fault and its place.
///
///   {"arena": 6, "buffers": [0, 1, 3, 4], "steps": [[0, 3], {"at": 7, "sum": [1, 3, 4]}, [1, 4], ...]}
///
/// A step is a pair, whose two cases follow it, or a sum.
inline result<packing_proof> read_packing_proof(const nlohmann::json& j) { return detail::json_arena_reader().packing(j); }

/// The inverse of read_packing_proof.
inline nlohmann::ordered_json write_packing_proof(const packing_proof& p) {
  nlohmann::ordered_json j{{"arena", p.arena}};
  detail::write_packing(j, p);
  return j;
}

/// Reads a joint proof from a JSON value. An error names the fault and its place.
///
///   {"arena": 62, "refutations": [{"edges": [[2, 1]], "peak": {"bound": 62, "steps": [...]}},
///                                 {"edges": [], "order": [0, 1, 2], "packing": {"buffers": [...], "steps": [...]}}]}
inline result<joint_proof> read_joint_proof(const nlohmann::json& j) { return detail::json_arena_reader().joint(j); }

/// The inverse of read_joint_proof.
inline nlohmann::ordered_json write_joint_proof(const joint_proof& p) {
  using json = nlohmann::ordered_json;
  json j{{"arena", p.arena}, {"refutations", json::array()}};
  for (const proof::joint_refutation& r : p.refutations) {
    json entry{{"edges", json::array()}};
    for (const precedence& e : r.edges) entry["edges"].push_back(json::array({e.before, e.after}));
    if (r.peak) {
      entry["peak"] = write_certificate(*r.peak);
    } else {
      entry["order"] = r.order;
      entry["packing"] = json::object();
      detail::write_packing(entry["packing"], r.packing);
    }
    j["refutations"].push_back(std::move(entry));
  }
  return j;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
