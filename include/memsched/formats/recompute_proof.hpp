// Proofs of extra costs as JSON. Opt-in: needs nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>

#include <memsched/formats/certificate.hpp>
#include <memsched/proof/recompute_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The JSON of a proof; docs/recompute.md describes it. O(size of the proof).
inline nlohmann::ordered_json write_recompute_proof(const recompute_proof& proof) {
  using json = nlohmann::ordered_json;
  json j;
  j["bound"] = proof.bound;
  j["scope"] = proof.any_order ? "any order" : "given order";
  j["rows"] = proof.rows;
  j["charged"] = json::array();
  for (tensor_id t : proof.charged) j["charged"].push_back(t == none ? json(-1) : json(t));
  j["scale"] = proof.scale;
  j["prices"] = json::array();
  for (const auto& list : proof.prices) {
    json prices = json::array();
    for (const auto& [row, price] : list) prices.push_back(json::array({row, price}));
    j["prices"].push_back(std::move(prices));
  }
  if (!proof.needs.empty()) {
    j["needs"] = proof.needs;
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
    else if (c.prices == proof::recompute_case::inner)
      j["cases"].push_back({{"gap", c.gap}, {"absent", c.absent}, {"present", c.present}});
    else j["cases"].push_back({{"prices", c.prices}});
  }
  return j;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
