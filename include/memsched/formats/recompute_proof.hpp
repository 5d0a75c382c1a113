// Proofs of extra costs as JSON, both ways. Opt-in: needs nlohmann-json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/formats/certificate.hpp>
#include <memsched/formats/json/value_reader.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/proof/recompute_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Takes a proof of an extra cost out of a JSON value; says of the first thing that is wrong where it is.
class json_recompute_reader : json_value_reader<json_recompute_reader> {
 public:
  result<recompute_proof> run(const json& j) {
    recompute_proof p;
    if (!j.is_object()) return graph_error{error_code::bad_input, "must be an object", {}, {}};
    if (!number(member(j, "bound"), "bound", p.bound) || !read_scope(member(j, "scope"), p.any_order) ||
        !read_indices(member(j, "rows"), "rows", p.rows) || !read_all(member(j, "charged"), "charged", p.charged) ||
        (j.contains("writes") && !read_all(j["writes"], "writes", p.writes)) ||
        !number(member(j, "scale"), "scale", p.scale) || !read_all(member(j, "prices"), "prices", p.prices) ||
        (j.contains("needs") && !read_indices(j["needs"], "needs", p.needs)) ||
        (j.contains("reruns") && !read_all(j["reruns"], "reruns", p.reruns)) ||
        (j.contains("units") && !read_all(j["units"], "units", p.units)) ||
        (j.contains("shares") && !read_all(j["shares"], "shares", p.shares)) ||
        (j.contains("weighed") && !read_weighed(j["weighed"], p.weighed.emplace())) ||
        !read_all(member(j, "cases"), "cases", p.cases))
      return std::move(error_);
    return p;
  }

 private:
  friend json_value_reader<json_recompute_reader>;

  template <class T>
  bool read(const json& j, const std::string& place, std::vector<T>& list) {
    return read_all(j, place, list);
  }
  bool read(const json& j, const std::string& place, std::uint64_t& n) { return number(j, place, n); }
  /// An index, or -1 for none.
  bool read(const json& j, const std::string& place, index_t& i) {
    if (j == json(-1)) return i = none, true;
    return index(j, place, i);
  }
  /// A row with a price, or with a storage.
  template <class T>
  bool read(const json& j, const std::string& place, std::pair<index_t, T>& pair) {
    constexpr bool priced = std::is_same_v<T, std::uint64_t>;
    if (!j.is_array() || j.size() != 2) return wrong(place, priced ? "a row and a price" : "a row and a storage");
    if (!index(j[0], place + "[0]", pair.first)) return false;
    if constexpr (priced) return number(j[1], place + "[1]", pair.second);
    else return index(j[1], place + "[1]", pair.second);
  }
  bool read(const json& j, const std::string& place, proof::recompute_share& s) {
    if (!j.is_array() || j.size() != 4) return wrong(place, "a row, a storage, a payer and an amount");
    return index(j[0], place + "[0]", s.row) && index(j[1], place + "[1]", s.absent) && read(j[2], place + "[2]", s.pays) &&
           number(j[3], place + "[3]", s.amount);
  }
  bool read(const json& j, const std::string& place, proof::write_share& s) {
    if (!j.is_array() || j.size() != 3) return wrong(place, "a storage, a row and an amount");
    return index(j[0], place + "[0]", s.storage) && index(j[1], place + "[1]", s.first) &&
           number(j[2], place + "[2]", s.amount);
  }
  bool read(const json& j, const std::string& place, proof::recompute_case& c) {
    if (!j.is_object()) return wrong(place, "an object");
    if (j.contains("row")) return index(j["row"], place + ".row", c.row);
    if (j.contains("prices")) return index(j["prices"], place + ".prices", c.prices);
    c.prices = proof::recompute_case::inner;
    if (j.contains("again") && !j["again"].is_boolean()) return wrong(place + ".again", "true or false");
    c.again = j.value("again", false);
    return index(member(j, "storage"), place + ".storage", c.storage) &&
           index(member(j, "first"), place + ".first", c.first) && index(member(j, "last"), place + ".last", c.last) &&
           index(member(j, "absent"), place + ".absent", c.absent) &&
           index(member(j, "present"), place + ".present", c.present);
  }
  /// A list without -1.
  bool read_indices(const json& j, const std::string& place, std::vector<index_t>& list) {
    if (!read_all(j, place, list)) return false;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i] == none) return wrong(place + "[" + std::to_string(i) + "]", "an index");
    return true;
  }
  bool read_scope(const json& j, bool& any_order) {
    any_order = j == json("any order");
    return any_order || j == json("given order") || wrong("scope", "\"any order\" or \"given order\"");
  }
  bool read_weighed(const json& j, proof::weighed_proof& w) {
    if (!j.is_object()) return wrong("weighed", "an object");
    if (!number(member(j, "price"), "weighed.price", w.price)) return false;
    auto orders = read_certificate(member(j, "orders"));
    if (!orders) return error_ = {error_code::bad_input, "weighed.orders: " + orders.error().message, {}, {}}, false;
    w.orders = std::move(*orders);
    return true;
  }

  bool index(const json& j, const std::string& place, index_t& i) {
    if (!j.is_number_unsigned() || j.get<std::uint64_t>() >= proof::recompute_case::inner) return wrong(place, "an index");
    i = j.get<index_t>();
    return true;
  }
  bool number(const json& j, const std::string& place, std::uint64_t& n) {
    if (!j.is_number_unsigned()) return wrong(place, "a whole number, 0 or more");
    n = j.get<std::uint64_t>();
    return true;
  }
  bool number(const json& j, const std::string& place, unsigned& n) {
    if (!j.is_number_unsigned() || j.get<std::uint64_t>() > 128) return wrong(place, "a whole number from 0 to 128");
    n = j.get<unsigned>();
    return true;
  }
};

}  // namespace detail

/// Reads a proof from a JSON value; docs/recompute.md describes it. An error names the fault and its place. Unknown keys are
/// ignored. `check_recompute` says whether the proof holds.
inline result<recompute_proof> read_recompute_proof(const nlohmann::json& j) {
  return detail::json_recompute_reader().run(j);
}

/// The inverse of read_recompute_proof. O(size of the proof).
inline nlohmann::ordered_json write_recompute_proof(const recompute_proof& proof) {
  using json = nlohmann::ordered_json;
  json j;
  j["bound"] = proof.bound;
  j["scope"] = proof.any_order ? "any order" : "given order";
  j["rows"] = proof.rows;
  j["charged"] = json::array();
  for (tensor_id t : proof.charged) j["charged"].push_back(t == none ? json(-1) : json(t));
  for (const proof::write_share& w : proof.writes) j["writes"].push_back(json::array({w.storage, w.first, w.amount}));
  j["scale"] = proof.scale;
  j["prices"] = json::array();
  for (const auto& list : proof.prices) {
    json prices = json::array();
    for (const auto& [row, price] : list) prices.push_back(json::array({row, price}));
    j["prices"].push_back(std::move(prices));
  }
  if (!proof.needs.empty()) {
    j["needs"] = proof.needs;
    j["units"] = proof.units;
    if (!proof.reruns.empty()) j["reruns"] = proof.reruns;
    j["shares"] = json::array();
    for (const auto& list : proof.shares) {
      json shares = json::array();
      for (const proof::recompute_share& s : list)
        shares.push_back(
            json::array({json(s.row), json(s.absent), s.pays == none ? json(-1) : json(s.pays), json(s.amount)}));
      j["shares"].push_back(std::move(shares));
    }
  }
  if (proof.weighed) j["weighed"] = {{"price", proof.weighed->price}, {"orders", write_certificate(proof.weighed->orders)}};
  j["cases"] = json::array();
  for (const proof::recompute_case& c : proof.cases) {
    if (c.row != none) j["cases"].push_back({{"row", c.row}});
    else if (c.prices != proof::recompute_case::inner) j["cases"].push_back({{"prices", c.prices}});
    else {
      j["cases"].push_back(
          {{"storage", c.storage}, {"first", c.first}, {"last", c.last}, {"absent", c.absent}, {"present", c.present}});
      if (c.again) j["cases"].back()["again"] = true;
    }
  }
  return j;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
