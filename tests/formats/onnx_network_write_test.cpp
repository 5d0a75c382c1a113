#include <memsched/formats/onnx/network.hpp>
#include <memsched/formats/onnx_network_write.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/network/builder.hpp>
#include <memsched/network/run.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>

#include "network_files.hpp"
#include "onnx_model.hpp"

using namespace memsched;
using network_files::check_near;
using network_files::check_same;
using network_files::dense_layer;
using network_files::listed;
using network_files::mixed;

namespace {

/// As ONNX has it: elsewhere a reshape is a Transpose too.
network in_its_order(network net) {
  net.order = element_order::channels_rows_columns;
  return net;
}

void check_written(const network& first, const network& net) {
  const auto file = write_onnx_network(first, net, listed(net));
  INFO(file.error().message);
  REQUIRE(file);
  const auto back = read_onnx_network(*file);
  INFO(back.error().message);
  REQUIRE(back);
  check_same<float_numbers>(first, *back);
}

/// Blocks of resizes are read as opaque operators.
network in_blocks(const network& net, coordinate n) {
  return network_files::in_blocks(net, n, {op_kind::resize_bilinear, op_kind::resize_nearest});
}

}  // namespace

TEST_CASE("a written ONNX file computes what the network does, to the bit: whole, folded, gathered, and in row blocks") {
  const network net = in_its_order(mixed());
  check_written(net, net);
  const network gathered = gather_all(fold_pads(net));
  check_written(net, gathered);
  for (const coordinate n : {2, 3, 64}) check_written(net, in_blocks(gathered, n));
  check_written(net, in_blocks(net, 3));  // with blocks of pads
}

TEST_CASE("sums in parts are written as additions") {
  network_builder b("parts");
  const tensor_id x = b.input({6, 5, 4});
  const tensor_id left = b.convolution(x, {.channels = 3, .act = activation::relu}), right = b.max_pooling(x, {.kernel = 3});
  b.output(left);
  b.output(b.convolution(b.concat({left, right}), {.channels = 5, .bias = false}));
  const auto built = b.build();
  REQUIRE(built);
  const network net = weighed(*built), gathered = gather_all(net);
  for (op_id i = 0; i < gathered.operations.size(); ++i) {
    if (gathered.operations[i].reads[0].parts.size() < 2) continue;
    REQUIRE(may_split_sum(gathered, i));
    const network split = split_sum(gathered, i, sum_form::together);
    const auto file = write_onnx_network(net, split, listed(split));
    INFO(file.error().message);
    REQUIRE(file);
    const auto back = read_onnx_network(*file);
    REQUIRE(back);
    check_near(net, *back, 1e-6);
  }
}

TEST_CASE("what no standard operator of ONNX is, is an error that names the operator") {
  const network net = in_its_order(mixed());
  const auto message = [&](const network& n) { return write_onnx_network(net, n, listed(n)).error().message; };
  const auto blocks = cut(net, row_cuts(net, 64));
  REQUIRE(blocks);
  CHECK(message(*blocks).find("reads nothing but pad") != std::string::npos);
  network lacking = net;
  lacking.blobs[0].data = {};
  CHECK(message(lacking) == "operator 0 'convolution_0' has weights that the model does not hold");
  network unknown = net;
  unknown.operations[1].does.act = activation::gelu;
  CHECK(message(unknown).find("applies a function that no standard operator of this version has") != std::string::npos);
  network opaque = net;
  opaque.operations[4].does.what = op_kind::opaque;
  CHECK(message(opaque).find("is opaque, and no file says what it is") != std::string::npos);
  const auto order = write_onnx_network(net, net, std::vector<op_id>{0, 0});
  CHECK(order.error().message == "the order lists no operator, or one twice");
  const auto short_order = write_onnx_network(net, net, std::vector<op_id>{0});
  CHECK(short_order.error().message == "the order does not list each operator");
}

TEST_CASE("opaque operators are copied from the model that the network was read from") {
  using onnx_detail::opaque_nodes;
  const auto made = [](std::int64_t set) {
    onnx_model::model m(set);
    m.input("x", {1, 4, 6, 5}).floats("scale", {4}).floats("shift", {4});
    m.op("Relu", {"x"}, {"y"});
    onnx_model::set(m.op("Transpose", {"y"}, {"turned"}), "perm", onnx_model::dims{0, 2, 1, 3});
    onnx_model::set_number(m.op("InstanceNormalization", {"turned", "", ""}, {"n"}), "epsilon", 0.5F);
    m.proto.mutable_graph()->mutable_node(2)->set_input(0, "y");
    m.proto.mutable_graph()->mutable_node(2)->set_input(1, "scale");
    m.proto.mutable_graph()->mutable_node(2)->set_input(2, "shift");
    onnx_model::set(m.op("ArgMax", {"turned"}, {"most"}), "axis", std::int64_t{3});
    onnx_model::set(m.op("Cast", {"most"}, {"number"}), "to", std::int64_t{onnx::TensorProto::FLOAT});
    m.op("Hardmax", {"turned"}, {"hard"});
    m.op("Mine", {"n", "y"}, {"own"}).set_domain("org.example");
    auto* other = m.proto.add_opset_import();
    other->set_domain("org.example"), other->set_version(3);
    m.declare("own", {1, 2, 3});
    m.output("number").output("own").output("n").output("hard");
    return m.file();
  };
  const std::string file = made(13);
  const auto first = read_onnx_network(file);
  INFO(first.error().message);
  REQUIRE(first);
  const auto opaque = [](const network& net) {
    std::size_t n = 0;
    for (const operation& op : net.operations) n += op.does.what == op_kind::opaque ? 1 : 0;
    return n;
  };
  REQUIRE(opaque(*first) == 6);
  for (const coordinate blocks : {1, 3}) {
    const network net = cut(*first, row_cuts(*first, blocks)).value();
    const auto written = write_onnx_network(*first, net, listed(net));
    INFO(written.error().message);
    REQUIRE(written);
    onnx::ModelProto parsed;
    REQUIRE(parsed.ParseFromString(*written));
    CHECK(parsed.opset_import_size() == 2);
    const opaque_nodes was(first->file);
    std::size_t found = 0;
    std::string fault;
    for (index_t k = 0; k < 6; ++k)
      for (const auto& node : parsed.graph().node()) {
        const auto* from = was.find(k, fault);
        REQUIRE(from != nullptr);
        if (node.op_type() != from->op_type() || node.domain() != from->domain()) continue;
        ++found;
        REQUIRE(node.attribute_size() == from->attribute_size());
        for (int a = 0; a < node.attribute_size(); ++a)
          CHECK(node.attribute(a).SerializeAsString() == from->attribute(a).SerializeAsString());
        CHECK(node.input_size() == from->input_size());
      }
    CHECK(found == 6);
  }
  network other = *first;
  const auto message = [](const network& net) { return write_onnx_network(net, net, listed(net)).error().message; };
  other.file = {};
  CHECK(message(other).find("is opaque, and no file says what it is") != std::string::npos);
  const auto older = read_onnx_network(made(11));  // Hardmax of set 11 is over axis 1; ArgMax and Transpose are the same
  REQUIRE(older);
  CHECK(message(*older).find("is opaque, and means something else in operator set 15") != std::string::npos);
}

TEST_CASE("a dense layer of blocks is written as layers of them, added") {
  network net = dense_layer();
  net.order = element_order::channels_rows_columns;
  std::vector<cut_points> cuts(net.tensors.size());
  cuts[1].channels = {1, 3};
  const network parts = split_reductions(cut(net, cuts).value(), sum_form::chain);
  REQUIRE(parts.operations.size() == 6);
  const auto file = write_onnx_network(net, parts, listed(parts));
  INFO(file.error().message);
  REQUIRE(file);
  const auto back = read_onnx_network(*file);
  REQUIRE(back);
  check_near(net, *back, 1e-5);
}

TEST_CASE("inputs and outputs of a written ONNX file are those of the given one: order, names and shapes") {
  onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(13);
  onnx_model::graph g(*m.mutable_graph());
  g.input("vector", {1, 6}).input("image", {1, 3, 8, 4});
  const auto node = [&](const char* kind, const std::string& x, const std::string& y) {
    auto* n = m.mutable_graph()->add_node();
    n->set_op_type(kind), n->add_input(x), n->add_output(y);
  };
  node("Relu", "image", "map");
  node("GlobalAveragePool", "map", "means");
  node("Flatten", "means", "flat");
  node("Softmax", "flat", "likely");
  node("CumSum", "vector", "unknown");  // the library does not know it
  m.mutable_graph()->mutable_node(4)->add_input("axis");
  auto* axis = m.mutable_graph()->add_initializer();
  axis->set_name("axis"), axis->set_data_type(onnx::TensorProto::INT64), axis->add_int64_data(1);
  for (const char* name : {"unknown", "likely", "map"}) g.output(name);
  const network net = read_onnx_network(m.SerializeAsString()).value();
  CHECK(net.operations[4].does.what == op_kind::opaque);
  CHECK(net.operations[4].kind == "CumSum");
  using ends = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
  const auto list = [](const auto& infos) {
    ends found;
    for (const auto& x : infos) {
      found.push_back({x.name(), {}});
      for (const auto& d : x.type().tensor_type().shape().dim()) found.back().second.push_back(d.dim_value());
    }
    return found;
  };
  for (const network& n : {net, in_blocks(net, 2)}) {
    const auto file = write_onnx_network(net, n, listed(n));
    INFO(file.error().message);
    REQUIRE(file);
    onnx::ModelProto back;
    REQUIRE(back.ParseFromString(*file));
    CHECK(list(back.graph().input()) == ends{{"vector", {1, 6}}, {"image", {1, 3, 8, 4}}});
    CHECK(list(back.graph().output()) == ends{{"unknown", {1, 6}}, {"likely", {1, 3}}, {"map", {1, 3, 8, 4}}});
  }
}
