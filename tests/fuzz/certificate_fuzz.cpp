// Any text through the certificate reader and the checker; what is read must survive being written and read again, and
// what is accepted must be below the smallest peak of the graph.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <memsched/certify/certify.hpp>
#include <memsched/formats/certificate.hpp>
#include <memsched/proof/check_certificate.hpp>

#include "../support/optimum.hpp"
#include "../support/random_problem.hpp"

namespace {

struct checked_graph {
  memsched::schedule_graph graph;
  memsched::bytes optimum;
};

std::vector<checked_graph> graphs() {
  std::vector<checked_graph> all;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const memsched::schedule_graph g = memsched::make_schedule_graph(support::random_problem(seed));
    all.push_back({g, support::optimum(g)});
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<checked_graph> all = graphs();
  const auto j = nlohmann::json::parse(data, data + size, nullptr, false);
  const auto c = memsched::read_certificate(j);
  if (!c) return c.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const auto again = memsched::read_certificate(nlohmann::json::parse(memsched::write_certificate(*c).dump()));
  if (!again || *again != *c) std::abort();
  for (const auto& [graph, optimum] : all)
    if (memsched::check_certificate(graph, *c).empty() && c->bound > optimum) std::abort();
  return 0;
}
