// Any text through the reader of proofs of extra costs and their checker; what is read must survive being written and read
// again, and what is accepted must be no more than the least extra cost.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <memsched/formats/recompute_proof.hpp>
#include <memsched/proof/check_recompute.hpp>
#include <memsched/recompute/exact.hpp>

#include "priced_problems.hpp"

namespace {

/// Whether no executions of the proof's scope cost less than it says.
bool holds(const fuzz::priced_problem& g, const memsched::recompute_proof& proof) {
  memsched::search context{memsched::options{}};
  const auto order = proof.any_order ? std::vector<memsched::op_id>{} : proof.rows;
  const auto least =
      memsched::cheapest_executions(memsched::execution_table(g.graph, g.moves), {}, g.budget, order, context);
  return !least.found || proof.bound <= least.extra_cost;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<fuzz::priced_problem> all = fuzz::priced_problems();
  const auto j = nlohmann::json::parse(data, data + size, nullptr, false);
  const auto proof = memsched::read_recompute_proof(j);
  if (!proof) return proof.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const auto written = memsched::write_recompute_proof(*proof);
  const auto again = memsched::read_recompute_proof(nlohmann::json::parse(written.dump()));
  if (!again || memsched::write_recompute_proof(*again) != written) std::abort();
  for (const fuzz::priced_problem& g : all)
    if (memsched::check_recompute(g.graph, {}, g.budget, *proof, g.moves).empty() && !holds(g, *proof)) std::abort();
  return 0;
}
