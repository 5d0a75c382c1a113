#include <memsched/formats/nodes.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>

using namespace memsched;

namespace {

static_assert(hooks<node_graph>.after && hooks<node_graph>.workspace && hooks<node_graph>.overwrites);
static_assert(hooks<node_graph>.updates && hooks<node_graph>.live_out && hooks<node_graph>.alias_of);
static_assert(hooks<node_graph>.tensors && hooks<node_graph>.operator_name && hooks<node_graph>.tensor_name);

/// A text of the given nodes, one a string.
std::string text(const std::vector<std::string>& nodes) {
  std::string list;
  for (const std::string& n : nodes) list += (list.empty() ? "" : ",\n ") + n;
  return "{\"name\": \"net\", \"nodes\": [" + list + "]}";
}

const std::string input_x = R"({"name": "x", "kind": "input", "bytes": 10})";

std::string refusal(const std::vector<std::string>& nodes) {
  const auto g = read_nodes(text(nodes));
  if (!g) return g.error().message;
  const auto r = schedule(*g);
  return r.error ? r.error->message : "accepted";
}

struct answer {
  bytes given, peak;
  std::string order;
};

answer ask(const std::vector<std::string>& nodes) {
  const auto g = read_nodes(text(nodes)).value();
  const auto r = schedule(g).value();
  std::string order;
  for (const index_t op : r.order) order += (order.empty() ? "" : " ") + g.operator_name(op);
  return {r.given_peak, r.peak, order};
}

}  // namespace

TEST_CASE("nodes are operators, named by their order", "[nodes]") {
  const answer a =
      ask({input_x, R"({"name": "wide", "op": "call_function", "inputs": ["x"], "bytes": 200})",
           R"({"name": "widest", "inputs": "x", "bytes": 400})", R"({"name": "n1", "inputs": ["wide"], "bytes": 4})",
           R"({"name": "n2", "inputs": ["widest"], "bytes": 8})", R"({"name": "sum", "inputs": ["n1", "n2"], "bytes": 4})",
           R"({"name": "out", "kind": "output", "inputs": ["sum"]})"});
  CHECK(a.given == 610);
  CHECK(a.peak == 414);  // n1, the input and widest; the input is gone before n2
  CHECK(a.order == "wide n1 widest n2 sum");
}

TEST_CASE("several values, elements and views", "[nodes]") {
  // split makes 100 and 300; the first is freed with its reader, and item is no storage of its own.
  const answer a = ask({input_x, R"({"name": "split", "inputs": ["x"], "bytes": [100, 300]})",
                        R"({"name": "first", "inputs": ["split"], "element": 0, "bytes": 1})",
                        R"({"name": "item", "inputs": ["split"], "view_of": "split", "element": 1})",
                        R"({"name": "next", "inputs": ["item", "first"], "bytes": 250})",
                        R"({"name": "out", "kind": "output", "inputs": ["next"]})"});
  CHECK(a.peak == 551);
  CHECK(a.given == 551);
  // A view of all values, as HLO's tuple.
  const answer t =
      ask({input_x, R"({"name": "a", "inputs": "x", "bytes": 5})", R"({"name": "b", "inputs": "x", "bytes": 6})",
           R"({"name": "tuple", "inputs": ["a", "b"], "view_of": ["a", "b"]})",
           R"({"name": "out", "kind": "output", "inputs": ["tuple"]})"});
  CHECK(t.peak == 21);
}

TEST_CASE("updates order, overwrites spare, after orders", "[nodes]") {
  // read must see the value before add_ changes it, although it stands after it.
  const answer u = ask({input_x, R"({"name": "cache", "inputs": "x", "bytes": 50})",
                        R"({"name": "add_", "inputs": ["cache", "x"], "updates": "cache", "view_of": "cache"})",
                        R"({"name": "read", "inputs": "cache", "bytes": 1})",
                        R"({"name": "out", "kind": "output", "inputs": ["add_", "read"]})"});
  CHECK(u.order == "cache read add_");
  const std::vector<std::string> relu = {R"({"name": "x", "kind": "input", "bytes": 64})",
                                         R"({"name": "relu", "inputs": ["x"], "bytes": 64, "overwrites": "x"})",
                                         R"({"name": "out", "kind": "output", "inputs": ["relu"]})"};
  CHECK(ask(relu).peak == 64);
  const answer f = ask({input_x, R"({"name": "late", "inputs": "x", "bytes": 1, "after": ["early"]})",
                        R"({"name": "early", "inputs": "x", "bytes": 1, "workspace": 7})"});
  CHECK(f.order == "early late");
  CHECK(f.peak == 18);
}

TEST_CASE("faults name the node", "[nodes]") {
  CHECK(refusal({"3"}) == "nodes[0]: must be an object");
  CHECK(refusal({R"({"kind": "input"})"}) == "nodes[0].name: must be a string");
  CHECK(refusal({input_x, input_x}) == "nodes[1] 'x'.name: is given twice");
  CHECK(refusal({R"({"name": "y", "kind": "thing"})"}) ==
        "nodes[0] 'y'.kind: must be \"input\", \"output\" or \"operator\"");
  CHECK(refusal({R"({"name": "y", "inputs": ["rely"], "bytes": 1})"}) == "nodes[0] 'y'.inputs: there is no node 'rely'");
  CHECK(refusal({R"({"name": "y", "inputs": [3], "bytes": 1})"}) ==
        "nodes[0] 'y'.inputs: must be a name or a list of names");
  CHECK(refusal({R"({"name": "y", "bytes": -1})"}) ==
        "nodes[0] 'y'.bytes: must be a whole number of bytes, null, or a list of these");
  CHECK(refusal({input_x, R"({"name": "y", "inputs": ["x"], "element": 1, "bytes": 1})"}) ==
        "nodes[1] 'y'.element: is 1, but there are 1 values");
  CHECK(refusal({R"({"name": "y", "view_of": "y"})"}) ==
        "nodes[0] 'y'.view_of: names itself, or a view that comes after it");
  CHECK(refusal({input_x, R"({"name": "y", "inputs": "x", "bytes": 1, "after": "x"})"}) ==
        "nodes[1] 'y'.after: names an input, which does not run");
  CHECK(refusal({input_x, R"({"name": "y", "bytes": 1, "overwrites": "x"})"}) ==
        "nodes[1] 'y'.overwrites: names a node that is none of the inputs");
  CHECK(refusal({R"({"name": "o", "kind": "output", "inputs": []})", R"({"name": "y", "inputs": "o", "bytes": 1})"}) ==
        "nodes[1] 'y'.inputs: names an output, which has no value");
  CHECK(refusal({input_x, R"({"name": "y", "inputs": "x"})"}) == "the size of tensor 1 'y' is unknown");
  const std::string circle =
      refusal({input_x, R"({"name": "y", "inputs": "z", "bytes": 1})", R"({"name": "z", "inputs": "y", "bytes": 1})"});
  CHECK(circle.find("cycle") != std::string::npos);
  CHECK(refusal({input_x, R"({"name": "y", "inputs": [], "view_of": "x"})"}).find("alias") != std::string::npos);
  CHECK(read_nodes("[]").error().message == "is no JSON object with a list \"nodes\"");
  CHECK(read_nodes("{\"nodes\": [").error().message == "is no JSON");
}

TEST_CASE("nodes are told from indexed graphs", "[nodes]") {
  CHECK(is_node_text(text({input_x})));
  CHECK(is_node_text(R"({"more": {"ops": []}, "nodes": []})"));
  CHECK(!is_node_text(R"({"ops": [], "nodes": []})"));
  CHECK(!is_node_text(R"({"more": {"nodes": []}})"));
  CHECK(!is_node_text("nodes"));
}

TEST_CASE("an input that an output reads stays to the end, also where no operator reads it", "[nodes]") {
  const std::string made = R"({"name": "made", "bytes": 4})", unused = R"({"name": "unused", "kind": "input"})";
  const std::string out = R"({"name": "out", "kind": "output", "inputs": ["made", "x"]})";
  CHECK(ask({input_x, unused, made, out}).peak == 14);
  const std::string unknown = R"({"name": "x", "kind": "input"})";
  CHECK(refusal({unknown, made, out}) == "the size of tensor 1 'x' is unknown");
}

TEST_CASE("a key that no node has is an error that names the nearest known one", "[nodes]") {
  const auto with = [](const std::string& keys) {
    return refusal({input_x, R"({"name": "y", "inputs": "x", "bytes": 4, )" + keys + "}"});
  };
  CHECK(with(R"("op": "relu", "shape": [1, 4], "type": "s8", "x-note": {}, "workspace": 1)") == "accepted");
  CHECK(with(R"("worskpace": 1)") == "nodes[1] 'y': unknown key \"worskpace\"; did you mean \"workspace\"?");
  CHECK(with(R"("overwrite": "x")") == "nodes[1] 'y': unknown key \"overwrite\"; did you mean \"overwrites\"?");
  CHECK(with(R"("update": "x")") == "nodes[1] 'y': unknown key \"update\"; did you mean \"updates\"?");
  CHECK(with(R"("firing": "cbp")").find("nodes[1] 'y': unknown key \"firing\"; the nearest known one is \"") == 0);
  CHECK(with(R"("bytes": 4)") == "the key \"bytes\" is given twice in an object");
  const auto beside = [](const std::string& keys) {
    const auto g = read_nodes(R"({"nodes": [], )" + keys + "}");
    return g ? "accepted" : g.error().message;
  };
  CHECK(beside(R"("source": [], "name": "net", "x-node": 1)") == "accepted");
  CHECK(beside(R"("nam": "net")") == "unknown key \"nam\"; did you mean \"name\"?");
  CHECK(beside(R"("node": [])") == "unknown key \"node\"; did you mean \"nodes\"?");
}
