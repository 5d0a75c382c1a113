// Tests that the program finds for a graph in a file what the library finds for the same graph.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <memsched/formats/json.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>

#include "program.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

TEST_CASE("a random problem has the same peak in the program as in the library") {
  program memsched_program;
  std::vector<problem> problems;
  std::ofstream lines(memsched_program.path("in.jsonl"));
  for (std::uint64_t seed = 1; problems.size() < support::seeds(400); ++seed) {
    const problem_draft d = support::random_draft(seed, {.percent_updates = 10, .percent_overwrites = 60});
    auto p = make_problem(d);
    if (!p) continue;  // updates that ask for a cycle
    std::string text = write_json(d);
    std::replace(text.begin(), text.end(), '\n', ' ');
    lines << "{\"graph\": " << text << "}\n";
    problems.push_back(std::move(*p));
  }
  lines.close();
  const std::string answered = memsched_program.path("out.jsonl");
  REQUIRE(memsched_program.run("batch \"" + memsched_program.path("in.jsonl") + "\" -o \"" + answered + "\"") == 0);
  std::ifstream answers(answered);
  std::string line;
  for (const problem& p : problems) {
    REQUIRE(std::getline(answers, line));
    const auto j = nlohmann::json::parse(line);
    INFO(line);
    REQUIRE(!j.contains("error"));
    const auto found = schedule(p).value();
    CHECK(j["peak"] == found.peak);
    CHECK(j["lower_bound"] == found.lower_bound);
    const auto order = j["order"].get<std::vector<op_id>>();
    const auto e = evaluate(p, order);
    REQUIRE(e);  // updates order operators
    CHECK(e->peak == found.peak);
  }
}
