// Tests that a model file that `rewrite` writes is what the program says of it: `schedule` of the file is the judge.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <memsched/formats/onnx_network_write.hpp>
#include <memsched/formats/tflite_network_write.hpp>
#include <memsched/formats/tflite_write.hpp>
#include <memsched/schedule.hpp>

#include "formats/tflite_model.hpp"
#include "residuals.hpp"
#include "support/file_content.hpp"
#include "support/seeds.hpp"
#include "timed_program.hpp"

using namespace memsched;
namespace fs = std::filesystem;

TEST_CASE("rewrite -o F says of F what schedule says of it: peak, operators, bound, budget and exit status") {
  program p;
  std::size_t met = 0, missed = 0, kept = 0;
  const std::array models{std::tuple{".tflite", element::int8, 24, 1}, std::tuple{".onnx", element::float32, 24, 2},
                          std::tuple{".tflite", element::int8, 26, 3}, std::tuple{".tflite", element::float32, 21, 5}};
  for (const auto& [kind, e, side, seed] : std::span(models).first(MEMSCHED_MODELS_WRITTEN)) {
    const network net = residuals(e, side, static_cast<std::uint64_t>(seed));
    const bool onnx = kind == std::string(".onnx");
    const auto file = onnx ? write_onnx_network(net, net, listed(net)) : write_tflite_network(net, net, listed(net));
    INFO(file.error().message);
    REQUIRE(file);
    const std::string model = p.path(std::string("model") + kind), written = p.path(std::string("written") + kind);
    std::ofstream(model, std::ios::binary) << *file;
    REQUIRE(p.run("schedule \"" + model + "\" --format json") == 0);
    const bytes given = nlohmann::json::parse(p.out)["peak"];
    for (const char* flags : {"", " --max-extra-macs 20%", " --runtime parts"})
      for (const bytes percent : {45U, 70U, 85U, 99U, 100U}) {
        if (support::few_seeds && (percent == 70 || percent == 100)) continue;
        const bytes budget = given * percent / 100;
        const std::string within = " --budget " + std::to_string(budget);
        INFO(kind << " of " << given << " bytes" << flags << within);
        fs::remove(written);
        const int status =
            p.run("rewrite \"" + model + "\" -o \"" + written + "\"" + within + flags + " --state-limit 2000 --format json");
        INFO(p.err);
        REQUIRE((status == 0 || status == 3));
        const auto said = nlohmann::json::parse(p.out);
        REQUIRE(said["written"] == fs::exists(written));
        CHECK(said["runtime"] == (flags == std::string(" --runtime parts") ? "parts" : "whole"));
        if (!fs::exists(written)) {
          CHECK(said["peak"].get<bytes>() >= given);
          CHECK(status == 3);
          CHECK(p.err.find("was not written: it would need") != std::string::npos);
          ++kept;
          continue;
        }
        CHECK(said["peak"].get<bytes>() < given);
        CHECK((status == 0) == (said["peak"].get<bytes>() <= budget));
        CHECK((status == 3) == (p.err.find("was written, but needs") != std::string::npos));
        (status == 0 ? met : missed) += 1;
        CHECK(p.run("schedule \"" + written + "\" --format json" + within) == status);
        const auto found = nlohmann::json::parse(p.out);
        CHECK(found["given_peak"] == said["peak"]);  // of the file's order
        CHECK(found["order"].size() == said["operators"]);
        CHECK(said["lower_bound"].get<bytes>() <= found["peak"].get<bytes>());
      }
  }
  CHECK(met >= support::seeds(5));
  CHECK(missed >= support::seeds(5));
  CHECK(kept >= support::seeds(5));
}

TEST_CASE("rewrite --offsets places the tensors of the file, and its budget is that of the head") {
  program p;
  const network net = residuals(element::int8, 24, 1);
  std::ofstream(p.path("model.tflite"), std::ios::binary) << write_tflite_network(net, net, listed(net)).value();
  const std::string model = "\"" + p.path("model.tflite") + "\"", written = p.path("o.tflite");
  REQUIRE(p.run("schedule " + model + " --format json") == 0);
  const bytes given = nlohmann::json::parse(p.out)["peak"];
  std::size_t met = 0;
  for (const bytes percent : {60U, 75U, 85U, 95U}) {
    const std::string within = " --budget " + std::to_string(given * percent / 100);
    INFO(within);
    fs::remove(written);
    const int status = p.run("rewrite " + model + " -o \"" + written +
                             "\" --offsets --max-extra-macs 20% --state-limit 2000" + within + " --format json");
    if (!fs::exists(written)) continue;
    const auto said = nlohmann::json::parse(p.out);
    const auto head = micro_arena_of(support::file_content(written));
    REQUIRE(head);
    CHECK(head->has_plan);
    CHECK(said["tflm_head"] == head->planned);
    CHECK(head->planned <= head->greedy);
    CHECK((status == 0) == (std::max<bytes>(head->planned, said["peak"]) <= given * percent / 100));
    if (status == 0) CHECK(p.run("schedule \"" + written + "\"" + within) == 0);
    met += status == 0;
  }
  CHECK(met > 0);
  CHECK(p.run("rewrite " + model + " --offsets") == 1);
  CHECK(p.err.find("--offsets: is for -o FILE.tflite") != std::string::npos);
}

TEST_CASE("a result that is about a model file is verified, and what no file can hold is refused before the search") {
  program p;
  const network net = residuals(element::int8, 24, 1);
  std::ofstream(p.path("model.tflite"), std::ios::binary) << write_tflite_network(net, net, listed(net)).value();
  const std::string model = "\"" + p.path("model.tflite") + "\"";
  REQUIRE(p.run("rewrite " + model + " -o \"" + p.path("o.tflite") +
                "\" --max-extra-macs 20% --state-limit 2000 --format json") == 0);
  std::ofstream(p.path("result.json")) << p.out;
  CHECK(p.run("verify " + model + " \"" + p.path("result.json") + "\"") == 0);
  INFO(p.err);
  CHECK(p.out.find("rewritten with a peak of") != std::string::npos);
  CHECK(p.run("rewrite " + model + " -o \"" + p.path("o.onnx") + "\"") == 1);
  CHECK(p.err.find("o.onnx: cannot be written: ") != std::string::npos);
  CHECK(!fs::exists(p.path("o.onnx")));
  CHECK(p.run("rewrite " + model + " --keep-inputs") == 1);
  CHECK(p.err.find("--keep-inputs: is not for rewriting") != std::string::npos);
}

TEST_CASE("rewrite, schedule --rewrite and report say which operators are not understood, and why") {
  tflite_model::subgraph g;
  for (int t = 0; t < 3; ++t) g.tensors.push_back({.shape = {1, 4, 4, 8}, .name = "t" + std::to_string(t)});
  g.tensors.push_back({.shape = {8, 1, 1, 8}, .name = "computed"});
  constexpr int l2_normalization = 11, conv = 3;
  g.ops = {{.kind = l2_normalization, .inputs = {0}, .outputs = {1}},
           {.kind = conv, .inputs = {1, 3}, .outputs = {2}, .call = {1, {0, 1, 1}}}};
  g.inputs = {0, 3}, g.outputs = {2};
  program p;
  std::ofstream(p.path("m.tflite"), std::ios::binary) << tflite_model::write(g);
  const std::string model = "\"" + p.path("m.tflite") + "\" --time-limit 2";
  const std::string said =
      "2 of 2 operators are not understood: 1 L2_NORMALIZATION, 1 CONV_2D (weights that an operator computes)";
  const auto list = nlohmann::json::parse(R"([
      {"kind": "L2_NORMALIZATION", "reason": "", "operators": 1},
      {"kind": "CONV_2D", "reason": "weights that an operator computes", "operators": 1}])");
  for (const char* command : {"rewrite ", "schedule --rewrite "}) {
    INFO(command);
    REQUIRE(p.run(command + model) == 0);
    CHECK(p.out.find("no rewrite   " + said) != std::string::npos);
    REQUIRE(p.run(command + model + " --format json") == 0);
    CHECK(nlohmann::json::parse(p.out)["not_understood"] == list);
  }
  REQUIRE(p.run("report " + model + " -o \"" + p.path("page.html") + "\"") == 0);
  CHECK(p.content("page.html").find(said) != std::string::npos);
  REQUIRE(p.run("schedule " + model) == 0);
  CHECK(p.out.find("understood") == std::string::npos);  // which order is best, it knows
  CHECK(p.run("rewrite " + model + " --emit-c \"" + p.path("c") + "\"") == 1);
  CHECK(p.err.find("no C program: operator 0") != std::string::npos);
  CHECK(!fs::exists(p.path("c")));
}

#if !defined(MEMSCHED_FEW_SEEDS)  // searches by the clock find nothing where all runs several times as long
TEST_CASE("rewrite --emit-c keeps within budgets of RAM and flash, and says what the library takes") {
  program p;
  const network net = residuals(element::int8, 24, 1);
  const std::string model = "\"" + p.path("m.tflite") + "\"", folder = " --emit-c \"" + p.path("c") + "\"";
  std::ofstream(p.path("m.tflite"), std::ios::binary) << write_tflite_network(net, net, listed(net)).value();
  const std::string limits = " --state-limit 2000 --format json";
  const auto result = [&] { return nlohmann::json::parse(p.out); };
  const auto flash = [&] {
    return result()["library"]["tables"].get<bytes>() + result()["library"]["weights"].get<bytes>();
  };
  REQUIRE(p.run("rewrite " + model + folder + limits) == 0);
  const bytes peak = result()["peak"], all = flash();
  CHECK(result()["library"]["arena"].get<bytes>() >= peak);
  CHECK(result()["library"]["scratch"] == 0);
  CHECK(result()["library"]["weights_in_model"] == 0);
  REQUIRE(peak < result()["peak_before"]);

  // Less flash: fewer blocks, and a higher peak; never more than there is.
  REQUIRE(p.run("rewrite " + model + folder + limits + " --flash-budget 1") == 3);
  const bytes least = flash();
  REQUIRE(least < all);
  for (const bytes budget : {least, (least + all) / 2, all}) {
    REQUIRE(p.run("rewrite " + model + folder + limits + " --flash-budget " + std::to_string(budget)) == 0);
    CHECK(flash() <= budget);
    CHECK(result()["flash_budget"] == budget);
    const bytes ram = result()["library"]["arena"];
    CHECK(p.run("rewrite " + model + folder + limits + " --flash-budget " + std::to_string(budget) + " --budget " +
                std::to_string(ram / 2)) == 3);
  }

  REQUIRE(p.run("rewrite " + model + folder + limits + " --kernels cmsis-nn --constants model") == 0);
  CHECK(result()["library"]["scratch"] > 0);
  CHECK(result()["library"]["weights_in_model"] > 0);
  CHECK(flash() < all);
  CHECK(fs::exists(p.path("c/m_model.c")));

  CHECK(p.run("rewrite " + model + folder + " --flash-budget 1M -o \"" + p.path("o.tflite") + "\"") == 1);
  CHECK(p.err.find("--flash-budget: is for --emit-c alone, without -o") != std::string::npos);
  CHECK(p.run("rewrite builtin:mcunet-v2-chain --constants model" + folder) == 1);
  const network real = residuals(element::float32, 16, 1);
  std::ofstream(p.path("r.tflite"), std::ios::binary) << write_tflite_network(real, real, listed(real)).value();
  CHECK(p.run("rewrite \"" + p.path("r.tflite") + "\" --kernels cmsis-nn" + folder) == 1);
  CHECK(p.err.find("CMSIS-NN is for int8, and no tensor is of that type") != std::string::npos);
}

TEST_CASE("rewrite --emit-c counts what it does: with a limit of states its arena does not depend on the clock") {
  timed_program p;
  const network net = residuals(element::int8, 32, 2);
  const std::string model = p.put("m.tflite", write_tflite_network(net, net, listed(net)).value());
  const auto arena_and_code = [&](const std::string& limit, bool timed = false) {
    const std::string rewrite = "rewrite " + model + " --emit-c \"" + p.path("c") + "\" --verify 0 --format json " + limit;
    REQUIRE((timed ? p.timed(rewrite) : p.run(rewrite)) == 0);
    const auto result = nlohmann::json::parse(p.out);
    return std::tuple(result["library"]["arena"].get<bytes>(), p.content("c/m.c"), result["seconds"].get<double>());
  };
  const auto [arena, code, took] = arena_and_code("--state-limit 3000");
  CHECK(arena > std::get<0>(arena_and_code("--state-limit 50000")));  // cut by the limit
  const auto [late_arena, late_code, late_took] = arena_and_code("--state-limit 3000", true);
  CHECK(late_took > took + 100);  // that clock is read
  CHECK(late_arena == arena);
  CHECK(late_code == code);
}
#endif
