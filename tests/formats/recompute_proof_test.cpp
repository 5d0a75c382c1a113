// Proofs of extra costs as JSON: what is wrong is named with its place.
#include <catch2/catch.hpp>
#include <string>

#include <memsched/formats/recompute_proof.hpp>
#include <nlohmann/json.hpp>

using namespace memsched;

TEST_CASE("a proof of an extra cost names the first value that is none, and takes rows with prices and rows with storages") {
  const auto proof = nlohmann::json::parse(
      R"({"bound": 1, "scope": "given order", "rows": [0], "charged": [-1], "scale": 0, "prices": [], "cases": []})");
  const auto with = [&](const char* key, const char* value) {
    nlohmann::json j = proof;
    j[key] = nlohmann::json::parse(value);
    return read_recompute_proof(j);
  };
  REQUIRE(read_recompute_proof(proof));
  constexpr index_t row = 7;
  CHECK(with("prices", "[[[7, 18446744073709551615]]]")->prices[0][0] == std::pair(row, ~std::uint64_t{0}));
  CHECK(with("reruns", "[[7, 4]]")->reruns[0] == std::pair(row, tensor_id{4}));
  const auto fault = [&](const char* key, const char* value) { return with(key, value).error().message; };
  for (const char* other : {"7", "[]", "[7]", "[7, 1, 1]", "{}"}) {
    const std::string pair = other;
    CHECK(fault("prices", ("[[" + pair + "]]").c_str()) == "prices[0][0]: must be a row and a price");
    CHECK(fault("reruns", ("[" + pair + "]").c_str()) == "reruns[0]: must be a row and a storage");
  }
  CHECK(fault("prices", "[[[-1, 1]]]") == "prices[0][0][0]: must be an index");
  CHECK(fault("prices", "[[[1, -1]]]") == "prices[0][0][1]: must be a whole number, 0 or more");
  CHECK(fault("reruns", "[[1, 2], [4294967295, 1]]") == "reruns[1][0]: must be an index");
  CHECK(fault("reruns", "[[1, -1]]") == "reruns[0][1]: must be an index");
}
