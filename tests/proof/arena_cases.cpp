// Proofs of arenas, written, changed and forged: none that the library's checkers accept may prove more than what trying
// everything finds; every smallest arena must have one. Prints them for a second checker, one JSON object a line. usage:
// arena_cases COUNT [SEED]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/arena_proof.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/proof/check_joint.hpp>
#include <memsched/proof/check_packing.hpp>

#include "support/arena_proofs.hpp"

using namespace memsched;
using json = nlohmann::ordered_json;

namespace {

json as_json(const std::vector<buffer>& buffers) {
  json list = json::array();
  for (const buffer& b : buffers) {
    json drops = json::array();
    for (const size_drop& d : b.drops) drops.push_back(json::array({d.at, d.size}));
    list.push_back(
        json::array({b.lower, b.upper, b.size, b.alignment, b.offset == no_offset ? json() : json(b.offset), drops}));
  }
  return list;
}

/// Notes whether a proof is accepted, which it may be only if it is true and is read as it was written; and prints it.
struct printing_judge {
  std::uint64_t seed = 0;
  int faults = 0;

  void fault(const char* kind, const char* what) {
    std::fprintf(stderr, "%s, seed %llu: %s\n", kind, static_cast<unsigned long long>(seed), what);
    ++faults;
  }
  void packing(const char* kind, const std::vector<buffer>& buffers, bytes truth, const packing_proof& p) {
    const json written = write_packing_proof(p);
    const bool accepted = check_packing(buffers, p).empty();
    if (accepted && read_packing_proof(json::parse(written.dump())).value() != p) fault(kind, "is read otherwise");
    print(kind, accepted, p.arena, truth, {{"buffers", as_json(buffers)}, {"certificate", written}});
  }
  void joint(const char* kind, const support::joint_case& c, const joint_proof& p) {
    const json written = write_joint_proof(p);
    const bool accepted = check_joint(c.p, p, c.o.model(), c.alignment).empty();
    if (accepted && read_joint_proof(json::parse(written.dump())).value() != p) fault(kind, "is read otherwise");
    print(kind, accepted, p.arena, c.truth,
          {{"graph", json::parse(write_json(c.p.draft()))},
           {"firing", c.o.default_firing == firing::cbp ? "cbp" : "pbc"},
           {"inplace", c.o.in_place},
           {"alignment", c.alignment},
           {"certificate", written}});
  }
  void print(const char* kind, bool accepted, bytes arena, bytes truth, json j) {
    if (accepted && arena > truth) fault(kind, "what is not so is accepted");
    j["kind"] = kind, j["optimum"] = truth, j["accepted"] = accepted;
    std::cout << j.dump() << '\n';
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  printing_judge judge;
  for (judge.seed = first; judge.seed < first + count; ++judge.seed) {
    support::packing_proofs(judge.seed, judge);
    if (judge.seed % 4 == 0) support::joint_proofs(judge.seed, judge);
  }
  for (const std::uint64_t seed : {662U, 978U}) {  // where what is in place must part
    judge.seed = seed;
    support::aligned_joint_proofs(seed, judge);
  }
  return judge.faults == 0 ? 0 : 1;
}
