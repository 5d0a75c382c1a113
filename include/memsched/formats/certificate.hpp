// Certificates as JSON, both ways. Opt-in: needs nlohmann-json.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/graph/error.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

inline constexpr std::array rule_names{"c1", "c2", "s1", "s2"};

/// Takes a certificate out of a JSON value; says of the first thing that is wrong where it is.
class json_certificate_reader {
  using json = nlohmann::json;

 public:
  result<certificate> run(const json& j) {
    certificate c;
    if (!j.is_object()) return graph_error{error_code::bad_input, "must be an object", {}, {}};
    if (!number(member(j, "bound"), "bound", c.bound) || !read_all(member(j, "steps"), "steps", c.steps))
      return std::move(error_);
    if (j.contains("family") && !read(j["family"], "family", c.family.emplace())) return std::move(error_);
    return c;
  }

 private:
  template <class T>
  bool read_all(const json& j, const std::string& place, std::vector<T>& list) {
    if (!j.is_array()) return wrong(place, "a list");
    for (const json& item : j) {
      const std::string at = place + "[" + std::to_string(list.size()) + "]";
      if (!read(item, at, list.emplace_back())) return false;
    }
    return true;
  }

  bool read(const json& j, const std::string& place, reduction& r) {
    if (!j.is_array() || j.size() != 3) return wrong(place, "a rule and two nodes");
    const auto by = std::find(rule_names.begin(), rule_names.end(), j[0]);
    if (by == rule_names.end()) return wrong(place + "[0]", "a rule: \"c1\", \"c2\", \"s1\" or \"s2\"");
    r.by = static_cast<reduction::rule>(by - rule_names.begin());
    return number(j[1], place + "[1]", r.first) && number(j[2], place + "[2]", r.second);
  }

  bool read(const json& j, const std::string& place, cut_step& s) {
    if (!j.is_object()) return wrong(place, "an object");
    const bool before = j.contains("before"), after = j.contains("after");
    if (before && after) return wrong(place, "without \"before\" or without \"after\"");
    s.v_first = before;
    const char* order = before ? "before" : "after";
    return number(member(j, "v"), place + ".v", s.v) &&
           (!(before || after) || number(j[order], place + "." + order, s.other)) &&
           number(member(j, "level"), place + ".level", s.level) && read_all(member(j, "flow"), place + ".flow", s.flow) &&
           (!j.contains("reductions") || read_all(j["reductions"], place + ".reductions", s.reductions));
  }

  bool read(const json& j, const std::string& place, set_family& f) {
    if (!j.is_object()) return wrong(place, "an object");
    return number(member(j, "level"), place + ".level", f.level) && read_all(member(j, "sets"), place + ".sets", f.sets) &&
           (!j.contains("reductions") || read_all(j["reductions"], place + ".reductions", f.reductions));
  }

  bool read(const json& j, const std::string& place, set_family::grown_set& s) {
    if (!j.is_array() || j.size() != 2) return wrong(place, "a set and a node");
    return number(j[0], place + "[0]", s.from) && number(j[1], place + "[1]", s.by);
  }

  bool read(const json& j, const std::string& place, flow_arc& a) {
    if (!j.is_array() || j.size() != 3) return wrong(place, "two nodes and an amount");
    bytes amount = 0;
    if (!number(j[0], place + "[0]", a.from) || !number(j[1], place + "[1]", a.to) || !number(j[2], place + "[2]", amount))
      return false;
    a.amount = static_cast<delta>(amount);
    return true;
  }

  /// The value of a key; null where there is none.
  static const json& member(const json& j, const char* key) {
    static const json nothing;
    const auto at = j.find(key);
    return at == j.end() ? nothing : *at;
  }
  bool number(const json& j, const std::string& place, node_id& n) {
    if (!j.is_number_unsigned() || j.get<bytes>() >= none) return wrong(place, "a node");
    n = j.get<node_id>();
    return true;
  }
  bool number(const json& j, const std::string& place, bytes& n) {
    if (!j.is_number_unsigned() || j.get<bytes>() > max_total) return wrong(place, "a whole number from 0 to 2^61");
    n = j.get<bytes>();
    return true;
  }
  bool wrong(const std::string& place, const std::string& wanted) {
    error_ = {error_code::bad_input, place + ": must be " + wanted, {}, {}};
    return false;
  }

  graph_error error_;
};

}  // namespace detail

/// A certificate in a JSON value, or what is wrong with the value and where. Nodes are those of the schedule graph.
///
///   {"bound": 1024,
///    "steps": [{"reductions": [["c1", first, second]], "v": 5, "before": 7, "level": 1030, "flow": [[from, to, amount]]},
///              {"v": 5, "after": 2, "level": 1024, "flow": []},
///              {"v": 6, "level": 1024, "flow": []}]}
///
/// "before" gives the node that v must run before, "after" the one that it must run after; a step without either ends the
/// proof. So does a family of sets, "family": {"level": 1024, "reductions": [], "sets": [[0, 4], [1, 7]]}, each the number
/// of a set and the node that it grows by. "reductions" may be absent. Unknown keys are ignored.
inline result<certificate> read_certificate(const nlohmann::json& j) { return detail::json_certificate_reader().run(j); }

/// The inverse of read_certificate.
inline nlohmann::ordered_json write_certificate(const certificate& c) {
  using json = nlohmann::ordered_json;
  json j{{"bound", c.bound}, {"steps", json::array()}};
  const auto write_reductions = [](json& to, const std::vector<reduction>& list) {
    for (const auto& [by, first, second] : list)
      to["reductions"].push_back(json::array({detail::rule_names[static_cast<std::size_t>(by)], first, second}));
  };
  for (const cut_step& s : c.steps) {
    json step = json::object();
    write_reductions(step, s.reductions);
    step["v"] = s.v;
    if (s.other != none) step[s.v_first ? "before" : "after"] = s.other;
    step["level"] = s.level;
    step["flow"] = json::array();
    for (const flow_arc& a : s.flow) step["flow"].push_back(json::array({a.from, a.to, a.amount}));
    j["steps"].push_back(std::move(step));
  }
  if (c.family) {
    json& family = j["family"] = json{{"level", c.family->level}};
    write_reductions(family, c.family->reductions);
    family["sets"] = json::array();
    for (const auto& [from, by] : c.family->sets) family["sets"].push_back(json::array({from, by}));
  }
  return j;
}

/// A number that belongs to a graph, an order of it, a bound that is claimed, and a certificate: it tells of damage, and
/// of a certificate for another graph. Proofs do not rest on it. FNV-1a over 64-bit words.
inline std::uint64_t fingerprint(const schedule_graph& g, std::span<const node_id> order, bytes claimed,
                                 const certificate& c) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](auto... values) {
    for (const std::uint64_t n : {static_cast<std::uint64_t>(values)...})
      for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (n >> shift & 0xff)) * 0x100000001b3;
  };
  add(g.size(), g.active, g.base);
  for (node_id v = 0; v < g.size(); ++v) {
    add(g.cost[v].peak, g.cost[v].impact, g.preds[v].size(), g.credits[v].size());
    for (node_id u : g.preds[v]) add(u);
    for (const credit& k : g.credits[v]) add(k.release, k.amount);
  }
  add(order.size(), claimed, c.bound, c.steps.size());
  for (node_id v : order) add(v);
  for (const cut_step& s : c.steps) {
    add(s.v, s.other, s.v_first, s.level, s.reductions.size(), s.flow.size());
    for (const reduction& r : s.reductions) add(r.by, r.first, r.second);
    for (const flow_arc& a : s.flow) add(a.from, a.to, a.amount);
  }
  if (c.family) {
    add(c.family->level, c.family->reductions.size(), c.family->sets.size());
    for (const reduction& r : c.family->reductions) add(r.by, r.first, r.second);
    for (const auto& [from, by] : c.family->sets) add(from, by);
  }
  return hash;
}

}  // namespace memsched
