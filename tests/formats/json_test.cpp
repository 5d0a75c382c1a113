#include <memsched/formats/json.hpp>

#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/graph/check.hpp>
#include <memsched/measure/evaluate.hpp>

#include "fuzz/claims/printed.hpp"
#include "support/json_difference.hpp"
#include "support/random_problem.hpp"
#include "support/same_draft.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

const std::string good = R"({"name": "net", "ops": [
  {"name": "c1", "op": "Conv", "inputs": [0], "outputs": [1], "workspace": 7, "scope": "stem"},
  {"op": "Relu", "inputs": [1], "outputs": [2], "inplace": 0, "firing": "pbc", "scope": "cell"},
  {"name": "v", "inputs": [2], "outputs": [3], "after": [0], "firing": "cbp", "scope": "stem"}],
 "tensors": [{"name": "x", "bytes": 1024}, {"bytes": 512, "alias_of": -1}, {"bytes": 512, "alias_of": null},
             {"name": "view", "bytes": 512, "alias_of": 2}],
 "graph_inputs": [0], "graph_outputs": [3]})";

/// `good` with one part replaced by another.
std::string with(const std::string& part, const std::string& other) {
  std::string text = good;
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

std::string message(const std::string& text) {
  const auto draft = read_json(text);
  if (draft) return "accepted";
  CHECK(draft.error().message.find('\n') == std::string::npos);
  return draft.error().message;
}

error_code code(const std::string& text) {
  const auto draft = read_json(text);
  REQUIRE(!draft);
  return draft.error().code;
}

std::vector<memsched::index_t> items(std::span<const memsched::index_t> list) { return {list.begin(), list.end()}; }

}  // namespace

TEST_CASE("every key of a graph is read") {
  const auto read = read_json(good);
  REQUIRE(read);
  const problem_draft& d = *read;
  CHECK(d.name == "net");
  CHECK(d.operator_names == std::vector<std::string>{"c1", "Relu", "v"});
  CHECK(d.tensor_names == std::vector<std::string>{"x", "", "", "view"});
  CHECK(items(d.reads[1]) == std::vector<memsched::index_t>{1});
  CHECK(items(d.writes[2]) == std::vector<memsched::index_t>{3});
  CHECK(items(d.after[2]) == std::vector<memsched::index_t>{0});
  CHECK(d.after[0].empty());
  CHECK(d.operators[0].workspace == 7);
  CHECK(d.operators[0].overwrites == none);
  CHECK(d.operators[1].overwrites == 1);
  CHECK(!d.operators[0].rule);
  CHECK(d.operators[1].rule == firing::pbc);
  CHECK(d.operators[2].rule == firing::cbp);
  CHECK(d.operators[0].scope == 0);
  CHECK(d.operators[1].scope == 1);
  CHECK(d.operators[2].scope == 0);
  CHECK(d.tensors[0].size == 1024);
  CHECK(d.tensors[1].alias_of == none);
  CHECK(d.tensors[2].alias_of == none);
  CHECK(d.tensors[3].alias_of == 2);
  CHECK(d.graph_inputs == std::vector<tensor_id>{0});
  CHECK(d.graph_outputs == std::vector<tensor_id>{3});
  CHECK(make_problem(d));
}

TEST_CASE("keys may come in any order, and notes may hold anything") {
  const auto read =
      read_json(R"({"graph_outputs": [1], "published": {"ops": [{"bytes": -1}], "a": [[], {}, {"a": 1, "a": 2}]},
    "tensors": [{"shape": [1, 2.5], "bytes": 4, "type": {"bytes": 7}, "producer": -1}, {"bytes": 8, "x-ops": 1}], "x": 1e300,
    "ops": [{"inplace": 1, "x-kind": {"inputs": 3}, "outputs": [1], "inputs": [0, 0], "cost": 2e3, "pure": false,
             "duration": [3], "async": {"a": true}}], "graph_inputs": [0], "y": 2, "x-name": 1, "x-ops": []})");
  REQUIRE(read);
  CHECK(read->operators[0].overwrites == 0);
  CHECK(read->operators[0].cost == 2000);
  CHECK_FALSE(read->operators[0].pure);
  CHECK(read->operator_names.empty());
  CHECK(read->tensor_names.empty());
  CHECK(make_problem(*read));
}

TEST_CASE("a graph without operators") {
  const auto read = read_json(R"({"ops": [], "tensors": [], "graph_inputs": [], "graph_outputs": []})");
  REQUIRE(read);
  CHECK(read->operators.empty());
  CHECK(make_problem(*read));
}

TEST_CASE("what is missing is named") {
  CHECK(message("{}") == "the graph: lacks \"ops\"");
  CHECK(message(with("\"tensors\"", "\"Tensors\"")) ==
        "the graph 'net': unknown key \"Tensors\"; did you mean \"tensors\"?");
  CHECK(message(with("\"graph_inputs\"", "\"in\"")) == "the graph: lacks \"graph_inputs\"");
  CHECK(message(with("\"graph_outputs\"", "\"results\"")) == "the graph: lacks \"graph_outputs\"");
  CHECK(message(with("\"inputs\": [1]", "\"x-in\": [1]")) == "ops[1]: lacks \"inputs\"");
  CHECK(message(with("\"outputs\": [2]", "\"x-out\": [2]")) == "ops[1]: lacks \"outputs\"");
  CHECK(message(with("\"bytes\": 512, \"alias_of\": null", "\"alias_of\": null")) == "tensors[2]: lacks \"bytes\"");
}

TEST_CASE("what has the wrong type is named") {
  CHECK(message("[]") == "the graph: must be an object, but is a list");
  CHECK(message("3") == "the graph: must be an object, but is 3");
  CHECK(message(with("\"net\"", "3")) == "name: must be a string, but is 3");
  CHECK(message(R"({"ops": {}})") == "ops: must be a list, but is an object");
  CHECK(message(R"({"ops": [[]]})") == "ops[0]: must be an object, but is a list");
  CHECK(message(R"({"tensors": true})") == "tensors: must be a list, but is a boolean");
  CHECK(message(R"({"tensors": ["x"]})") == "tensors[0]: must be an object, but is a string");
  CHECK(message(R"({"graph_inputs": 0})") == "graph_inputs: must be a list, but is 0");
  CHECK(message(R"({"graph_outputs": [0, "y"]})") == "graph_outputs[1]: must be an index, 0 or more, but is a string");
  CHECK(message(with("\"inputs\": [1]", "\"inputs\": 1")) == "ops[1].inputs: must be a list, but is 1");
  CHECK(message(with("\"inputs\": [1]", "\"inputs\": [1, [2]]")) ==
        "ops[1].inputs[1]: must be an index, 0 or more, but is a list");
  CHECK(message(with("\"c1\"", "null")) == "ops[0].name: must be a string, but is null");
  CHECK(message(with("\"Conv\"", "{}")) == "ops[0].op: must be a string, but is an object");
  CHECK(message(with("\"stem\"", "0")) == "ops[0].scope: must be a string, but is 0");
  CHECK(message(with("\"after\": [0]", "\"after\": \"c1\"")) == "ops[2].after: must be a list, but is a string");
  CHECK(message(with("\"x\"", "[]")) == "tensors[0].name: must be a string, but is a list");
  CHECK(message(with("\"cbp\"", "\"CBP\"")) == "ops[2].firing: must be \"pbc\" or \"cbp\", but is a string");
  CHECK(message(with("\"cbp\"", "1")) == "ops[2].firing: must be \"pbc\" or \"cbp\", but is 1");
}

TEST_CASE("sizes are whole numbers of bytes") {
  const std::string must = ": must be a whole number of bytes, 0 or more and below 2^64, but is ";
  const auto size = [](const std::string& n) { return with("\"bytes\": 1024", "\"bytes\": " + n); };
  const auto workspace = [](const std::string& n) { return with("\"workspace\": 7", "\"workspace\": " + n); };
  CHECK(message(size("-1")) == "tensors[0].bytes" + must + "-1");
  CHECK(code(size("-1")) == error_code::bad_size);
  CHECK(code(size("1.5")) == error_code::bad_input);
  CHECK(message(size("-9223372036854775808")) == "tensors[0].bytes" + must + "-9223372036854775808");
  CHECK(message(size("1.5")) == "tensors[0].bytes" + must + "a fraction");
  CHECK(message(size("18446744073709551616")) == "tensors[0].bytes" + must + "a number too large");
  CHECK(message(size("1e16")) == "tensors[0].bytes" + must + "a number too large");
  CHECK(message(size("\"7\"")) == "tensors[0].bytes" + must + "a string");
  CHECK(message(size("null")) == "tensors[0].bytes" + must + "null");
  CHECK(message(workspace("-7")) == "ops[0].workspace" + must + "-7");
  CHECK(message(workspace("0.25")) == "ops[0].workspace" + must + "a fraction");
  CHECK(message(workspace("[]")) == "ops[0].workspace" + must + "a list");
  CHECK(message(size("1e999")).find("number overflow") != std::string::npos);

  const auto read_size = [&](const std::string& n) { return read_json(size(n)).value().tensors[0].size; };
  CHECK(read_size("18446744073709551615") == UINT64_MAX);
  CHECK(read_size("1024.0") == 1024);
  CHECK(read_size("1e3") == 1000);
  CHECK(read_size("-0") == 0);
  CHECK(read_size("0") == 0);
}

TEST_CASE("indices are in range") {
  CHECK(message(with("\"inputs\": [1]", "\"inputs\": [1, 4]")) == "ops[1].inputs[1]: there is no tensor 4 among 4");
  CHECK(message(with("\"outputs\": [2]", "\"outputs\": [9]")) == "ops[1].outputs[0]: there is no tensor 9 among 4");
  CHECK(message(with("\"after\": [0]", "\"after\": [3]")) == "ops[2].after[0]: there is no operator 3 among 3");
  CHECK(message(with("\"alias_of\": 2", "\"alias_of\": 4")) == "tensors[3].alias_of: there is no tensor 4 among 4");
  CHECK(message(with("\"graph_inputs\": [0]", "\"graph_inputs\": [0, 5]")) ==
        "graph_inputs[1]: there is no tensor 5 among 4");
  CHECK(message(with("\"graph_outputs\": [3]", "\"graph_outputs\": [4]")) ==
        "graph_outputs[0]: there is no tensor 4 among 4");
  CHECK(code(with("\"outputs\": [2]", "\"outputs\": [9]")) == error_code::unknown_tensor);
  CHECK(code(with("\"after\": [0]", "\"after\": [3]")) == error_code::unknown_operator);
  CHECK(message(with("\"inputs\": [1]", "\"inputs\": [-1]")) == "ops[1].inputs[0]: must be an index, 0 or more, but is -1");
  CHECK(message(with("\"inputs\": [1]", "\"inputs\": [0.5]")) ==
        "ops[1].inputs[0]: must be an index, 0 or more, but is a fraction");
  CHECK(message(with("\"inputs\": [1]", "\"inputs\": [4294967295]")) ==
        "ops[1].inputs[0]: must be an index, 0 or more, but is 4294967295");
  CHECK(message(with("\"alias_of\": 2", "\"alias_of\": -2")) ==
        "tensors[3].alias_of: must be the index of a tensor, null or -1, but is -2");
}

TEST_CASE("inplace is a position in inputs, or -1") {
  const auto inplace = [](const std::string& n) { return with("\"inplace\": 0", "\"inplace\": " + n); };
  CHECK(read_json(inplace("-1")).value().operators[1].overwrites == none);
  CHECK(message(inplace("1")) == "ops[1].inplace: is 1, but there are 1 inputs");
  CHECK(code(inplace("1")) == error_code::bad_overwrite);
  CHECK(message(inplace("-2")) == "ops[1].inplace: must be a position in \"inputs\" or -1, but is -2");
  CHECK(message(inplace("0.5")) == "ops[1].inplace: must be a position in \"inputs\" or -1, but is a fraction");
  CHECK(message(inplace("null")) == "ops[1].inplace: must be a position in \"inputs\" or -1, but is null");
}

TEST_CASE("an unknown key is an error that names the nearest known one") {
  CHECK(message(with("\"workspace\": 7", "\"worskpace\": 7")) ==
        "ops[0] 'c1': unknown key \"worskpace\"; did you mean \"workspace\"?");
  // The name may come after the key.
  CHECK(message(with("{\"name\": \"v\", ", "{\"input\": [2], \"name\": \"v\", ")) ==
        "ops[2] 'v': unknown key \"input\"; did you mean \"inputs\"?");
  CHECK(message(with("\"inplace\": 0", "\"Inplace\": 0")) == "ops[1]: unknown key \"Inplace\"; did you mean \"inplace\"?");
  CHECK(message(with("\"after\": [0]", "\"\": [0]")).find("ops[2] 'v': unknown key \"\"; did you mean \"op\"?") == 0);
  CHECK(message(with("\"name\": \"view\", ", "\"name\": \"view\", \"aliasof\": 2, \"byte\": 1, ")) ==
        "tensors[3] 'view': unknown key \"aliasof\"; did you mean \"alias_of\"?");
  CHECK(message(with("\"bytes\": 1024", "\"bytes\": 1024, \"alias\": 1")) ==
        "tensors[0] 'x': unknown key \"alias\"; did you mean \"alias_of\"?");
  // Where none is near, all are told.
  CHECK(message(with("\"bytes\": 1024", "\"bytes\": 1024, \"quantization\": 1")) ==
        "tensors[0] 'x': unknown key \"quantization\"; the nearest known one is \"alias_of\"; known are bytes, name, "
        "alias_of, shape, type, producer");
  CHECK(message(with("\"bytes\": 1024", "\"bytes\": 1024, \"" + std::string(100000, 'b') + "\": 1")).size() < 300);
  // Keys that another form, or another object, has.
  CHECK(message(with("\"scope\": \"cell\"", "\"rule\": \"cbp\"")).find("ops[1]: unknown key \"rule\"; ") == 0);
  CHECK(message(with("\"scope\": \"cell\"", "\"bytes\": 1")).find("ops[1]: unknown key \"bytes\"; ") == 0);
}

TEST_CASE("in the graph itself a note may have any name but a misspelt one") {
  const auto note = [](const std::string& key) {
    return with("\"name\": \"net\"", "\"" + key + "\": 1, \"name\": \"net\"");
  };
  for (const char* fine : {"source", "published", "orders", "comment", "version", "metadata", "x-name", "inputs", "x"})
    CHECK(message(note(fine)) == "accepted");
  for (const auto& [key, meant] : std::vector<std::pair<std::string, std::string>>{{"nmae", "name"},
                                                                                   {"graph_input", "graph_inputs"},
                                                                                   {"graph-outputs", "graph_outputs"},
                                                                                   {"op", "ops"},
                                                                                   {"tensor", "tensors"},
                                                                                   {"graphinput", "graph_inputs"}})
    CHECK(message(note(key)) == "the graph 'net': unknown key \"" + key + "\"; did you mean \"" + meant + "\"?");
}

TEST_CASE("cost and pure are read and checked") {
  const auto op = [](const std::string& keys) { return with("\"workspace\": 7", keys); };
  const auto data = [&](const std::string& keys) { return read_json(op(keys)).value().operators[0]; };
  CHECK(data("\"cost\": 0").cost == 0);
  CHECK(data("\"cost\": 18446744073709551615").cost == 18446744073709551615U);
  CHECK(data("\"pure\": true").pure);
  CHECK_FALSE(data("\"pure\": false").pure);
  CHECK(data("\"workspace\": 1").cost == 1);
  CHECK(data("\"workspace\": 1").pure);
  const auto must = [](const std::string& is) {
    return "ops[0].cost: must be a whole number, 0 or more and below 2^64, but is " + is;
  };
  CHECK(message(op("\"cost\": -1")) == must("-1"));
  CHECK(message(op("\"cost\": -0.5")) == must("a negative fraction"));
  CHECK(message(op("\"cost\": 0.25")) == must("a fraction"));
  CHECK(message(op("\"cost\": 1e300")) == must("a number too large"));
  CHECK(message(op("\"cost\": \"1\"")) == must("a string"));
  CHECK(message(op("\"pure\": 1")) == "ops[0].pure: must be true or false, but is 1");
  CHECK(message(op("\"pure\": null")) == "ops[0].pure: must be true or false, but is null");
}

TEST_CASE("updates are positions in inputs") {
  const auto op = [](const std::string& keys) { return with("\"inputs\": [1], ", "\"inputs\": [1, 0, 1], " + keys + ", "); };
  const problem_draft d = read_json(op("\"updates\": [1, 0]")).value();
  REQUIRE(d.updates.size() == 3);
  CHECK(items(d.updates[1]) == std::vector<memsched::index_t>{0, 1});
  CHECK(d.updates[0].empty());
  CHECK(read_json(op("\"updates\": []")).value().updates.size() == 0);
  CHECK(message(op("\"updates\": [3]")) == "ops[1].updates[0]: is 3, but there are 3 inputs");
  CHECK(code(op("\"updates\": [3]")) == error_code::bad_update);
  CHECK(message(op("\"updates\": [1, 1]")) == "ops[1].updates[1]: updates tensor 0 twice");
  CHECK(message(op("\"updates\": [0, 2]")) == "ops[1].updates[1]: updates tensor 1 twice");
  CHECK(message(op("\"updates\": 0")) == "ops[1].updates: must be a list, but is 0");
  CHECK(message(op("\"updates\": [-1]")) == "ops[1].updates[0]: must be an index, 0 or more, but is -1");
  CHECK(message(op("\"updates\": [\"x\"]")) == "ops[1].updates[0]: must be an index, 0 or more, but is a string");
}

TEST_CASE("overwrites are pairs of an output and an input") {
  // A split in two outputs; inplace is the pair [0, 0].
  const auto net = [](const std::string& keys) {
    return R"({"ops": [{"inputs": [0, 1, 0], "outputs": [2, 3], )" + keys + R"(}],
               "tensors": [{"bytes": 4}, {"bytes": 6}, {"bytes": 4}, {"bytes": 6}], "graph_inputs": [0, 1], "graph_outputs": [2, 3]})";
  };
  const auto peak = [&](const std::string& keys) {
    const auto p = make_problem(read_json(net(keys)).value()).value();
    const std::vector<op_id> order{0};
    return evaluate(p, order).value().peak;
  };
  CHECK(peak("\"after\": []") == 20);
  CHECK(peak("\"inplace\": 0") == 16);
  CHECK(peak("\"overwrites\": [[0, 0]]") == 16);
  CHECK(peak("\"overwrites\": [[1, 1]]") == 14);
  CHECK(peak("\"overwrites\": [[1, 1]], \"inplace\": 0") == 10);
  CHECK(peak("\"overwrites\": [[1, 1], [0, 2]]") == 10);
  const std::string twice = "]: names an output or an input that is taken already";
  CHECK(message(net("\"overwrites\": [[0, 1]], \"inplace\": 0")) == "ops[0].overwrites[0" + twice);
  CHECK(message(net("\"inplace\": 0, \"overwrites\": [[1, 2]]")) == "ops[0].overwrites[0" + twice);
  CHECK(message(net("\"overwrites\": [[0, 1], [0, 0]]")) == "ops[0].overwrites[1" + twice);
  CHECK(message(net("\"overwrites\": [[0, 0], [1, 2]]")) == "ops[0].overwrites[1" + twice);
  CHECK(code(net("\"overwrites\": [[0, 0], [1, 2]]")) == error_code::bad_overwrite);
  CHECK(message(net("\"overwrites\": [[2, 0]]")) == "ops[0].overwrites[0][0]: is 2, but there are 2 outputs");
  CHECK(message(net("\"overwrites\": [[1, 1], [0, 3]]")) == "ops[0].overwrites[1][1]: is 3, but there are 3 inputs");
  CHECK(message(net("\"overwrites\": [[1, 1], [0]]")) == "ops[0].overwrites[1]: must be [output, input], but has 1 numbers");
  CHECK(message(net("\"overwrites\": [[1, 1, 1]]")) == "ops[0].overwrites[0]: must be [output, input], but has 3 numbers");
  CHECK(message(net("\"overwrites\": [1, 1]")) == "ops[0].overwrites[0]: must be a list, but is 1");
  CHECK(message(net("\"overwrites\": 1")) == "ops[0].overwrites: must be a list, but is 1");
  CHECK(message(net("\"overwrites\": [[1, 1], [0, -1]]")) ==
        "ops[0].overwrites[1][1]: must be an index, 0 or more, but is -1");
}

TEST_CASE("random problems are read as they were written") {
  for (std::uint64_t seed = 1; seed <= support::seeds(1000); ++seed) {
    support::random r(seed);
    problem_draft d = support::random_draft(seed, {.percent_updates = 15, .percent_overwrites = 40});
    for (std::string& name : d.operator_names)
      if (r.chance(50)) name = "op \"" + std::to_string(r.below(5)) + "\"";
    for (std::string& name : d.tensor_names)
      if (r.chance(50)) name = "t" + std::to_string(r.below(5));
    const auto again = read_json(write_json(d));
    REQUIRE(again);
    CHECK(support::difference(d, *again) == "");
  }
}

TEST_CASE("a key given twice is an error") {
  CHECK(message(with("\"workspace\": 7", "\"x-a\": 7, \"x-a\": 8")) == "ops[0]: the key \"x-a\" is given twice");
  CHECK(message(R"({"source": [], "source": []})") == "the graph: the key \"source\" is given twice");
  CHECK(message(with("\"workspace\": 7", "\"workspace\": 7, \"workspace\": 8")) == "ops[0].workspace: given twice");
  CHECK(message(with("\"bytes\": 1024", "\"bytes\": 1024, \"bytes\": 1024")) == "tensors[0].bytes: given twice");
  CHECK(message(R"({"ops": [], "ops": []})") == "ops: given twice");
}

TEST_CASE("what is no JSON is named by line and column") {
  CHECK(message("").find("line 1, column 1: ") == 0);
  CHECK(message("{\"ops\": [\n  {]").find("line 2, column 4: ") == 0);
  CHECK(message(good + "x").find("line 7, column ") == 0);
  CHECK(message("{\"a\": \"\xff\"}").find("line 1, column 8: ") == 0);
  CHECK(message("{\"ops\": [],}").find("line 1, column 12: ") == 0);
  CHECK(message("\"" + std::string(100000, 'a')).size() < 300);
  for (std::size_t n = 0; n < good.size(); ++n) {
    const auto cut = read_json(std::string_view(good).substr(0, n));
    REQUIRE(!cut);
    REQUIRE(cut.error().code == error_code::bad_input);
    REQUIRE(cut.error().message.find("line ") == 0);
  }
}

TEST_CASE("the scan and nlohmann-json tell the same events") {
  for (const char* text :
       {"[0,-0,-1,1.5,-0.0,1e3,1E-2]", "[9223372036854775807,9223372036854775808,18446744073709551615]",
        "[-9223372036854775808,1e308,4.9e-324]", "[123456789012345678,1234567890123456789,-123456789012345678]",
        "[18446744073709551616,-9223372036854775809]", "[true,false,null,\"\"]",
        R"(["\u0041\ud83d\ude00\n\/\\", "\"", "\\"])", "[\"\xc3\xa9\x7f\", \"\xf0\x9f\x98\x80\"]", "[]", "{}",
        R"({"a":1,"a":{"b":[[],{}]},"":false,"\u00e9":{"\"":0}})", " [ 1 , 2 ] \n", "0", "\t\"a\"\r\n"}) {
    INFO(text);
    CHECK(support::scan_takes(text));
    CHECK(support::json_difference(text) == "");
  }
  for (const char* text : {"",           " ",           "-",         "01",           "-01",
                           "+1",         "1.",          ".5",        "1e",           "1-2",
                           "1e400",      "[1,]",        "[,1]",      "{,}",          "{\"a\"}",
                           "{\"a\":1,}", "{\"a\":}",    "[1] 2",     "[1],",         "[01]",
                           "[+1]",       "[1.]",        "[.5]",      "[nul]",        "[truex]",
                           "[1 2]",      "{1:2}",       "{\"a\" 1}", "[1}",          "{\"a\":1]",
                           "[[1]",       "]",           "'a'",       "nul",          "\"",
                           "\"a",        "\"\\",        "\"\\\"",    "\"\\q\"",      "\"\\u12\"",
                           "\"\t\"",     "\"\\ud800\"", "\"\xff\"",  "\"\xc0\x80\"", "\"\xed\xa0\x80\"",
                           "[NaN]",      "// a\n1"}) {
    INFO(text);
    CHECK(!support::scan_takes(text));
    CHECK(support::json_difference(text) == "");
  }
  for (const char* text : {"\xef\xbb\xbf[]", "[1]\0"}) CHECK(support::json_difference({text, 5}) == "");
}

TEST_CASE("a damaged text reads the same by the scan and by nlohmann-json") {
  std::mt19937_64 draw(1);
  std::size_t refused = 0, wrong = 0, read = 0;
  const auto compare = [&](const std::string& text) {
    INFO(text);
    REQUIRE(support::json_difference(text) == "");
    (!support::scan_takes(text) ? refused : read_json(text) ? read : wrong)++;
  };
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    const std::string text = seed % 4 == 0 ? good : write_json(support::random_problem(seed, {.operators = 6}).draft());
    compare(text);
    for (int i = 0; i < 20; ++i) {
      std::string other = text;
      const auto at = draw() % other.size();
      const char* const pieces[] = {"",  "0", "-",    ".",  "e9",   "\"",     "\\",           "[", "]", "{", "}", ",",
                                    ":", " ", "\x80", "\n", "null", "\u00e9", "\"x-a\":[{}],"};
      other.replace(at, draw() % 3, pieces[draw() % std::size(pieces)]);
      compare(other);
    }
  }
  CHECK(refused > 100);
  CHECK(wrong > 100);
  CHECK(read > 100);
}

TEST_CASE("types and shapes of tensors are read where they are asked for") {
  const auto forms_of = [](const std::string& keys) {
    std::vector<tensor_form> forms;
    const auto d = read_json(R"({"ops": [], "tensors": [{"bytes": 1, )" + keys +
                                 R"(}, {"bytes": 2}], "graph_inputs": [0], "graph_outputs": [0]})",
                             &forms);
    REQUIRE(d);
    REQUIRE(forms.size() == 2);
    CHECK(forms[1].type == "");
    CHECK(!forms[1].shape);
    return forms[0];
  };
  using shape = std::vector<std::int64_t>;
  CHECK(forms_of(R"("shape": [2, -1, 4], "type": "int8")").type == "int8");
  CHECK(forms_of(R"("shape": [2, -1, 4], "type": "int8")").shape == shape{2, -1, 4});
  CHECK(forms_of(R"("type": "\u00e9")").type == "\xc3\xa9");
  CHECK(forms_of(R"("shape": [])").shape == shape{});
  CHECK(forms_of(R"("shape": [9223372036854775807, -9223372036854775808])").shape ==
        shape{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  for (const char* no_shape : {"null", "4", "\"?\"", "{\"a\": [1]}", "[2, \"n\"]", "[[2], 4]", "[2, {\"a\": [3]}, 4]",
                               "[2.0]", "[1e2]", "[1.5]", "[null]", "[18446744073709551616]"}) {
    CAPTURE(no_shape);
    const tensor_form form = forms_of("\"type\": [\"int8\", {}], \"shape\": " + std::string(no_shape));
    CHECK(form.type == "");
    CHECK(!form.shape);
  }
  std::vector<tensor_form> kept(3);
  CHECK(!read_json("{", &kept));
  CHECK(!read_json(R"({"ops": [], "tensors": [{"bytes": 1, "shape": [1]}], "graph_inputs": [0], "graph_outputs": [1]})",
                   &kept));
  CHECK(kept.size() == 3);
}

TEST_CASE("depth is no danger") {
  constexpr std::size_t deep = 1'000'000;
  CHECK(message(std::string(deep, '[')).find("must be an object") != std::string::npos);
  CHECK(message("{\"x\": " + std::string(deep, '[')).find("line 1, column ") == 0);
  std::string objects = "{\"x\": ";
  for (std::size_t i = 0; i < deep; ++i) objects += "{\"a\":";
  CHECK(message(objects).find("line 1, column ") == 0);
  CHECK(read_json(with("\"name\": \"net\"", "\"x\": " + std::string(deep, '[') + std::string(deep, ']'))));
}

TEST_CASE("what is written reads as the same draft") {
  const problem_draft first = read_json(good).value();
  const std::string text = write_json(first);
  const auto again = read_json(text);
  REQUIRE(again);
  CHECK(support::difference(first, *again) == "");
  CHECK(write_json(*again) == text);
  CHECK(text ==
        "{\"name\": \"net\",\n"
        " \"ops\": [\n"
        "  {\"name\": \"c1\", \"inputs\": [0], \"outputs\": [1], \"workspace\": 7, \"scope\": \"0\"},\n"
        "  {\"name\": \"Relu\", \"inputs\": [1], \"outputs\": [2], \"inplace\": 0, \"firing\": \"pbc\", \"scope\": "
        "\"1\"},\n"
        "  {\"name\": \"v\", \"inputs\": [2], \"outputs\": [3], \"after\": [0], \"firing\": \"cbp\", \"scope\": \"0\"}\n"
        " ],\n"
        " \"tensors\": [\n"
        "  {\"name\": \"x\", \"bytes\": 1024},\n"
        "  {\"bytes\": 512},\n"
        "  {\"bytes\": 512},\n"
        "  {\"name\": \"view\", \"bytes\": 512, \"alias_of\": 2}\n"
        " ],\n"
        " \"graph_inputs\": [0], \"graph_outputs\": [3]}\n");
}

TEST_CASE("names survive whatever they hold; what is no UTF-8 is replaced") {
  problem_draft d = read_json(good).value();
  d.name = "a \"b\" \\ \n \x01 \xc3\xa9";
  d.tensor_names[0] = "\xff!";
  const auto again = read_json(write_json(d));
  REQUIRE(again);
  CHECK(again->name == d.name);
  CHECK(again->tensor_names[0] == "\xef\xbf\xbd!");
}

TEST_CASE("an empty draft is written and read") {
  const auto again = read_json(write_json({}));
  REQUIRE(again);
  CHECK(support::difference(problem_draft{}, *again) == "");
}

TEST_CASE("a finding of the claims fuzz is read as it was printed") {
  claims::table mixed;
  mixed.tensors = {{.size = 6}, {.size = 4}, {.size = 0, .alias_of = 1}, {.size = 2, .output = true}};
  mixed.ops = {{.reads = {2}, .writes = {3}, .rule = 0, .scope = 7},
               {.reads = {0}, .writes = {1}, .workspace = 1, .overwrites = 0, .rule = 1, .scope = 3},
               {.reads = {1}, .writes = {2}, .after = {1}}};
  const auto again = [](const claims::table& t) { return read_json(claims::to_json(t)); };
  const auto read = again(mixed);
  REQUIRE(read);
  CHECK(read->operators[0].rule == firing::pbc);
  CHECK(read->operators[1].rule == firing::cbp);
  CHECK(!read->operators[2].rule);
  CHECK(support::difference(claims::draft_of(mixed), *read) == "");
  CHECK(claims::to_json(mixed).find('\n') == std::string::npos);
  for (std::uint64_t seed = 1; seed <= support::seeds(1000); ++seed) {
    claims::random r(seed);
    const claims::table t = claims::random_table(r);
    const auto d = again(t);
    REQUIRE(d);
    CHECK(support::difference(claims::draft_of(t), *d) == "");
  }
}
