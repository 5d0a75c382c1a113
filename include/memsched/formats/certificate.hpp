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

#include <memsched/formats/json/value_reader.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

inline constexpr std::array rule_names{"c1", "c2", "s1", "s2"};

/// Takes a certificate out of a JSON value; says of the first thing that is wrong where it is.
class json_certificate_reader : json_value_reader<json_certificate_reader> {
 public:
  result<certificate> run(const json& j) {
    certificate c;
    if (!j.is_object()) return graph_error{error_code::bad_input, "must be an object", {}, {}};
    if (!number(member(j, "bound"), "bound", c.bound) || !read_all(member(j, "steps"), "steps", c.steps))
      return std::move(error_);
    if (j.contains("family") && !read(j["family"], "family", c.family.emplace())) return std::move(error_);
    if (j.contains("window") && !read(j["window"], "window", c.window.emplace())) return std::move(error_);
    return c;
  }

 private:
  friend json_value_reader<json_certificate_reader>;

  bool read(const json& j, const std::string& place, proof::reduction& r) {
    if (!j.is_array() || j.size() != 3) return wrong(place, "a rule and two nodes");
    const auto by = std::find(rule_names.begin(), rule_names.end(), j[0]);
    if (by == rule_names.end()) return wrong(place + "[0]", "a rule: \"c1\", \"c2\", \"s1\" or \"s2\"");
    r.by = static_cast<proof::reduction::rule>(by - rule_names.begin());
    return number(j[1], place + "[1]", r.first) && number(j[2], place + "[2]", r.second);
  }

  bool read(const json& j, const std::string& place, proof::proof_step& s) {
    if (!j.is_object()) return wrong(place, "an object");
    if (j.contains("reductions") && !read_all(j["reductions"], place + ".reductions", s.reductions)) return false;
    if (j.contains("if")) return read_cases(j, place, s);
    if (j.contains("first") || j.contains("last")) return read_layer(j, place, s);
    if (j.contains("positions")) return read_positions(j, place, s);
    const bool before = j.contains("before"), after = j.contains("after");
    if (before && after) return wrong(place, "without \"before\" or without \"after\"");
    s.v_first = before;
    const char* order = before ? "before" : "after";
    return number(member(j, "v"), place + ".v", s.v) &&
           (!(before || after) || number(j[order], place + "." + order, s.other)) &&
           number(member(j, "level"), place + ".level", s.level) && read_all(member(j, "flow"), place + ".flow", s.flow);
  }

  bool read_layer(const json& j, const std::string& place, proof::proof_step& s) {
    s.v_first = j.contains("first");
    const char* key = s.v_first ? "first" : "last";
    if (s.v_first && j.contains("last")) return wrong(place, "without \"first\" or without \"last\"");
    if (!read_all(j[key], place + "." + key, s.layer)) return false;
    if (s.layer.empty()) return wrong(place + "." + key, "a list of nodes with flows");
    return number(member(j, "level"), place + ".level", s.level);
  }
  bool read(const json& j, const std::string& place, proof::layer_member& m) {
    if (!j.is_object()) return wrong(place, "an object");
    return number(member(j, "v"), place + ".v", m.v) && read_all(member(j, "flow"), place + ".flow", m.flow);
  }

  bool read_positions(const json& j, const std::string& place, proof::proof_step& s) {
    if (!read_all(j["positions"], place + ".positions", s.positions)) return false;
    if (s.positions.empty()) return wrong(place + ".positions", "a list of facts");
    return number(member(j, "level"), place + ".level", s.level) &&
           (!j.contains("edges") || read_all(j["edges"], place + ".edges", s.edges));
  }
  bool read(const json& j, const std::string& place, proof::position_fact& x) {
    if (!j.is_object()) return wrong(place, "an object");
    const bool in = j.contains("in"), out = j.contains("out");
    if (in && out) return wrong(place, "without \"in\" or without \"out\"");
    const char* key = in ? "in" : "out";
    x.inside = in;
    const json& price = member(j, "price");
    constexpr auto most = static_cast<std::int64_t>(base::max_total);
    if (!price.is_number_integer() || price > most || price < -most) return wrong(place + ".price", "a whole number");
    x.price = price.get<delta>();
    return number(member(j, "k"), place + ".k", x.k) && (!(in || out) || number(j[key], place + "." + key, x.v)) &&
           read_all(member(j, "flow"), place + ".flow", x.flow);
  }

  bool read_cases(const json& j, const std::string& place, proof::proof_step& s) {
    constexpr int deepest = 64;
    s.cases = true;
    if (++depth_ > deepest) return wrong(place, "nested less deeply");
    precedence first;
    if (!read(j["if"], place + ".if", first)) return false;
    s.v = first.before, s.other = first.after;
    for (const bool kept : {true, false}) {
      const char* key = kept ? "then" : "else";
      if (j.contains(key) && !read_all(j[key], place + "." + key, kept ? s.then : s.otherwise)) return false;
    }
    --depth_;
    return !j.contains("edges") || read_all(j["edges"], place + ".edges", s.edges);
  }

  bool read(const json& j, const std::string& place, precedence& e) {
    if (!j.is_array() || j.size() != 2) return wrong(place, "two nodes");
    return number(j[0], place + "[0]", e.before) && number(j[1], place + "[1]", e.after);
  }

  bool read(const json& j, const std::string& place, proof::proof_window& w) {
    if (!j.is_object()) return wrong(place, "an object");
    return read_all(member(j, "before"), place + ".before", w.before) &&
           read_all(member(j, "nodes"), place + ".nodes", w.nodes) &&
           read_all(member(j, "behind"), place + ".behind", w.behind) &&
           read_all(member(j, "ahead"), place + ".ahead", w.ahead) && number(member(j, "lift"), place + ".lift", w.lift) &&
           (!j.contains("slack") || number(j["slack"], place + ".slack", w.slack));
  }
  bool read(const json& j, const std::string& place, node_id& n) { return number(j, place, n); }
  bool read(const json& j, const std::string& place, proof::proof_window::range& r) {
    if (!j.is_array() || j.size() != 2) return wrong(place, "two nodes");
    return number(j[0], place + "[0]", r.first) && number(j[1], place + "[1]", r.last);
  }

  bool read(const json& j, const std::string& place, proof::set_family& f) {
    if (!j.is_object()) return wrong(place, "an object");
    f.mirrored = member(j, "mirrored") == json(true);
    return number(member(j, "level"), place + ".level", f.level) && read_all(member(j, "sets"), place + ".sets", f.sets) &&
           (!j.contains("reductions") || read_all(j["reductions"], place + ".reductions", f.reductions)) &&
           (!j.contains("events") || read(j["events"], place + ".events", f.events.emplace()));
  }
  bool read(const json& j, const std::string& place, proof::event_model& m) {
    if (!j.is_object()) return wrong(place, "an object");
    return number(member(j, "light"), place + ".light", m.most_light) &&
           (!j.contains("folded") || read_all(j["folded"], place + ".folded", m.folded));
  }

  bool read(const json& j, const std::string& place, proof::set_family::grown_set& s) {
    if (!j.is_array() || j.size() != 2) return wrong(place, "a set and a node");
    return number(j[0], place + "[0]", s.from) && number(j[1], place + "[1]", s.by);
  }

  bool read(const json& j, const std::string& place, proof::flow_arc& a) {
    if (!j.is_array() || j.size() != 3) return wrong(place, "two nodes and an amount");
    bytes amount = 0;
    if (!number(j[0], place + "[0]", a.from) || !number(j[1], place + "[1]", a.to) || !number(j[2], place + "[2]", amount))
      return false;
    a.amount = static_cast<delta>(amount);
    return true;
  }

  bool number(const json& j, const std::string& place, node_id& n) {
    if (!j.is_number_unsigned() || j.get<bytes>() >= none) return wrong(place, "a node");
    n = j.get<node_id>();
    return true;
  }
  bool number(const json& j, const std::string& place, bytes& n) {
    if (!j.is_number_unsigned() || j.get<bytes>() > base::max_total) return wrong(place, "a whole number from 0 to 2^61");
    n = j.get<bytes>();
    return true;
  }

  int depth_ = 0;  // of cases
};

}  // namespace detail

/// Reads a certificate from a JSON value. An error names the fault and its place. Nodes are those of the schedule graph.
///
///   {"bound": 1024,
///    "steps": [{"reductions": [["c1", first, second]], "v": 5, "before": 7, "level": 1030, "flow": [[from, to, amount]]},
///              {"v": 5, "after": 2, "level": 1024, "flow": []},
///              {"v": 6, "level": 1024, "flow": []}]}
///
/// or, for two cases, {"if": [5, 7], "then": [steps], "else": [steps], "edges": [[5, 8]]}: 5 runs before 7, or else 7
/// before 5. "before" gives the node that v must run before, "after" the one that it must run after; a step without either
/// ends the proof. So does a layer, {"first": [{"v": 5, "flow": []}, {"v": 6, "flow": [[4, 6, 9]]}], "level": 1024}, or
/// "last"; so do positions without edges, {"positions": [{"k": 3, "in": 5, "price": -9, "flow": []}, {"k": 4, "out": 6,
/// "price": 0, "flow": []}], "level": 1024, "edges": [[6, 5]]}; and so does a family of sets, "family": {"level": 1024,
/// "reductions": [], "sets": [[0, 4], [1, 7]]}, each the number of a set and the node that it grows by; "mirrored": true if the
/// sets are of the mirror image, "events": {"light": 8, "folded": [[3, 4]]} if they grow by events. "window":
/// {"before": [[0, 40]], "nodes": [41, 43], "behind": [0], "ahead": [1], "lift": 9, "slack": 2} says of which stretch all that
/// is; [0, 40] are the nodes 0 to 39. "reductions", "then", "else", "edges" and "slack" may be absent. Unknown keys are
/// ignored.
inline result<certificate> read_certificate(const nlohmann::json& j) { return detail::json_certificate_reader().run(j); }

namespace detail {

using certificate_json = nlohmann::ordered_json;

inline void write_reductions(certificate_json& to, const std::vector<proof::reduction>& list) {
  for (const auto& [by, first, second] : list)
    to["reductions"].push_back(certificate_json::array({rule_names[static_cast<std::size_t>(by)], first, second}));
}

inline certificate_json write_flow(const std::vector<proof::flow_arc>& flow) {
  certificate_json list = certificate_json::array();
  for (const auto& [from, to, amount] : flow) list.push_back(certificate_json::array({from, to, amount}));
  return list;
}

inline void write_edges(certificate_json& to, const std::vector<precedence>& edges) {
  for (const precedence& e : edges) to["edges"].push_back(certificate_json::array({e.before, e.after}));
}

inline certificate_json write_steps(const std::vector<proof::proof_step>& steps) {
  certificate_json list = certificate_json::array();
  for (const proof::proof_step& s : steps) {
    certificate_json step = certificate_json::object();
    write_reductions(step, s.reductions);
    if (s.cases) {
      step["if"] = {s.v, s.other};
      if (!s.then.empty()) step["then"] = write_steps(s.then);
      if (!s.otherwise.empty()) step["else"] = write_steps(s.otherwise);
      write_edges(step, s.edges);
    } else if (!s.layer.empty()) {
      for (const auto& [v, flow] : s.layer)
        step[s.v_first ? "first" : "last"].push_back(certificate_json{{"v", v}, {"flow", write_flow(flow)}});
      step["level"] = s.level;
    } else if (!s.positions.empty()) {
      for (const proof::position_fact& x : s.positions) {
        certificate_json& fact = step["positions"].emplace_back(certificate_json{{"k", x.k}});
        if (x.v != none) fact[x.inside ? "in" : "out"] = x.v;
        fact["price"] = x.price;
        fact["flow"] = write_flow(x.flow);
      }
      step["level"] = s.level;
      write_edges(step, s.edges);
    } else {
      step["v"] = s.v;
      if (s.other != none) step[s.v_first ? "before" : "after"] = s.other;
      step["level"] = s.level;
      step["flow"] = write_flow(s.flow);
    }
    list.push_back(std::move(step));
  }
  return list;
}

}  // namespace detail

/// The inverse of read_certificate.
inline nlohmann::ordered_json write_certificate(const certificate& c) {
  using json = nlohmann::ordered_json;
  json j{{"bound", c.bound}};
  if (c.window) {
    json& w = j["window"] = json{{"before", json::array()}};
    for (const auto& [first, last] : c.window->before) w["before"].push_back(json::array({first, last}));
    w["nodes"] = c.window->nodes;
    w["behind"] = c.window->behind;
    w["ahead"] = c.window->ahead;
    w["lift"] = c.window->lift;
    if (c.window->slack > 0) w["slack"] = c.window->slack;
  }
  j["steps"] = detail::write_steps(c.steps);
  if (c.family) {
    json& family = j["family"] = json{{"level", c.family->level}};
    if (c.family->mirrored) family["mirrored"] = true;
    detail::write_reductions(family, c.family->reductions);
    if (c.family->events) {
      json& events = family["events"] = json{{"light", c.family->events->most_light}};
      for (const precedence& e : c.family->events->folded) events["folded"].push_back(json::array({e.before, e.after}));
    }
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
    for (const auto& k : g.credits[v]) add(k.release, k.amount);
  }
  add(order.size(), claimed, c.bound, c.steps.size());
  for (node_id v : order) add(v);
  const auto add_flow = [&](const std::vector<proof::flow_arc>& flow) {
    for (const proof::flow_arc& a : flow) add(a.from, a.to, a.amount);
  };
  const auto add_steps = [&](const auto& self, const std::vector<proof::proof_step>& steps) -> void {
    for (const proof::proof_step& s : steps) {
      add(s.v, s.other, s.v_first, s.level, s.reductions.size(), s.flow.size(), s.cases);
      for (const proof::reduction& r : s.reductions) add(r.by, r.first, r.second);
      add_flow(s.flow);
      for (const auto* side : {&s.then, &s.otherwise}) add(side->size()), self(self, *side);
      for (const precedence& e : s.edges) add(e.before, e.after);
      for (const proof::layer_member& m : s.layer) {
        add(m.v, m.flow.size());
        add_flow(m.flow);
      }
      for (const proof::position_fact& x : s.positions) {
        add(x.k, x.v, x.inside, x.price, x.flow.size());
        add_flow(x.flow);
      }
    }
  };
  add_steps(add_steps, c.steps);
  if (c.window) {
    add(c.window->lift, c.window->before.size(), c.window->nodes.size());
    for (const auto& [first, last] : c.window->before) add(first, last);
    for (const auto* list : {&c.window->nodes, &c.window->behind, &c.window->ahead})
      for (index_t v : *list) add(v);
  }
  if (c.family) {
    add(c.family->level, c.family->mirrored, c.family->reductions.size(), c.family->sets.size());
    for (const proof::reduction& r : c.family->reductions) add(r.by, r.first, r.second);
    for (const auto& [from, by] : c.family->sets) add(from, by);
    if (c.family->events) {
      add(c.family->events->most_light, c.family->events->folded.size());
      for (const precedence& e : c.family->events->folded) add(e.before, e.after);
    }
  }
  return hash;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
