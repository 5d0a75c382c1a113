// Small graphs that an exhaustive search over all sequences solved: `oracle.jsonl`, one object a line. They are no part of
// the repository; where they are not beside it, nothing is compared.
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/recompute.hpp>
#include <memsched/recompute/cover.hpp>
#include <memsched/recompute/exact.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <nlohmann/json.hpp>

using namespace memsched;

namespace {

using ids = std::vector<op_id>;

std::string path() {
  const char* folder = std::getenv("MEMSCHED_RECOMPUTE_GRAPHS");
  return std::string(folder != nullptr ? folder : "../../../shared/graphs/recompute") + "/oracle.jsonl";
}

void compare(const nlohmann::json& known) {
  const problem p = make_problem(read_json(known["graph"].dump()).value()).value();
  ids order(p.ops().size());
  std::iota(order.begin(), order.end(), op_id{0});
  search context{options{}};
  REQUIRE(evaluate(p, order).value().peak == known["peak_given_order"]);
  REQUIRE(schedule(p).peak == known["peak_any_order"]);
  const bytes least = known["least_peak_with_reruns"];
  REQUIRE(lowest_executions(execution_table(p), {}, {}, context).peak == least);
  REQUIRE(lowest_executions(execution_table(p), {}, order, context).peak == known["least_peak_with_reruns_given_order"]);
  REQUIRE(least_peak_with_reruns(p) <= least);
  for (const auto& row : known["budgets"]) {
    options o;
    o.budget = row["budget"];
    for (const bool any : {true, false}) {
      const auto& extra = row[any ? "extra" : "extra_given_order"];
      INFO(p.draft().name << ", budget " << o.budget);
      const auto r = any ? recompute(p, o) : recompute(p, keep_order{order}, o);
      REQUIRE(r.verdict() == (extra.is_null() ? verdict::infeasible : verdict::optimal));
      if (extra.is_null()) continue;
      REQUIRE(r.extra_cost == extra);
      REQUIRE(evaluate_executions(p, r.executions).value().peak <= o.budget);
      REQUIRE(r.proof.bound <= r.extra_cost);
    }
  }
}

}  // namespace

TEST_CASE("schedules with reruns of the oracle graphs") {
  std::ifstream file(path());
  if (!file) {
    WARN("no " << path() << ": nothing to compare");
    return;
  }
  std::size_t graphs = 0;
  for (std::string line; std::getline(file, line); ++graphs) compare(nlohmann::json::parse(line));
  REQUIRE(graphs == 243);
}
