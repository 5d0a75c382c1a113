// Graphs of synchronous dataflow as files, and proofs of their bounds.
#pragma once

#include <memsched/sdf/schedule.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "sdf.hpp"

namespace cli {

struct loaded_sdf {
  std::string name;
  memsched::sdf::graph graph;
  const char* unit;  ///< of sizes: bytes or tokens
};

memsched::result<loaded_sdf> load_sdf(const std::string& path, const request&);

/// A certificate of the best bound that can be certified of the firings as operators, up to `bound`, with its fingerprint;
/// an error where they are too many. Limits are those of the request.
memsched::result<nlohmann::ordered_json> certified(const loaded_sdf&, const memsched::sdf::loops&, memsched::bytes bound,
                                                   const request&);

}  // namespace cli
