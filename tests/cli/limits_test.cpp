// Limits of time of whole commands, under a clock that is a second later each time that it is read.
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "timed_program.hpp"

TEST_CASE("rewrite says that a network is verified only where the runs came to their end within the time limit") {
  timed_program p;
  const std::string rewrite = "rewrite builtin:mcunet-v2-chain --time-limit ";
  REQUIRE(p.timed(rewrite + "50 --format json -o \"" + p.path("o.json") + "\"") == 3);
  const auto late = nlohmann::json::parse(p.out);
  CHECK(late["verified"] == false);
  CHECK(late["verify_stopped"] == "time_limit");
  CHECK(p.err.find("not verified: ") != std::string::npos);
  CHECK(!p.content("o.json").empty());
  CHECK(p.timed(rewrite + "50") == 3);
  CHECK(p.out.find("verified     no: the runs of both networks met the time limit") != std::string::npos);
  CHECK(p.timed(rewrite + "50 --verify 0") == 0);
  CHECK(p.out.find("verified     no\n") != std::string::npos);
  for (const char* enough : {"100000000 --state-limit 300", "none --state-limit 300"}) {
    CHECK(p.timed(rewrite + enough + " --format json") == 0);
    const auto whole = nlohmann::json::parse(p.out);
    CHECK(whole["verified"] == true);
    CHECK(!whole.contains("verify_stopped"));
  }
}

TEST_CASE("traffic has one limit of time for the order, its spills and the bound of all orders") {
  timed_program p;
  for (const char* model : {"paged", "resident"}) {
    CAPTURE(model);
    const std::string kind = std::string(" --model ") + model;
    REQUIRE(p.timed("traffic builtin:layered:60:6 --capacity 300 --tries 100000 --time-limit 2000" + kind) == 0);
    CHECK(p.went() >= 1000);  // it is used
    CHECK(p.went() <= 2500);  // and each search looks at the clock a few times more
  }
}

TEST_CASE("plan has one limit of time for the order and the arena") {
  timed_program p;
  REQUIRE(p.timed("plan builtin:layered:60:6 --time-limit 2000") == 0);
  CHECK(p.went() >= 500);
  CHECK(p.went() <= 2500);
}

TEST_CASE("a picture of a rewrite takes no search of its own") {
  timed_program p;
  const std::string rewrite = "rewrite builtin:mcunet-v2-chain --verify 0 --time-limit 2000";
  REQUIRE(p.timed(rewrite + " --svg \"" + p.path("o.svg") + "\"") == 0);
  CHECK(p.content("o.svg").find("</svg>") != std::string::npos);
  CHECK(p.went() <= 2500);
}

TEST_CASE("all that a report searches for beside the order takes the time limit once more") {
  timed_program p;
  REQUIRE(p.timed("report builtin:layered:60:6 --offsets --time-limit 2000 -o \"" + p.path("o.html") + "\"") == 0);
  CHECK(p.went() >= 2000);
  CHECK(p.went() <= 4500);
}
