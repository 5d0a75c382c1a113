// The typed network as a graph, its builder and its check.
#include <catch2/catch.hpp>

#include <memsched/network/builder.hpp>
#include <memsched/network/opaque.hpp>
#include <memsched/network/windows.hpp>
#include <memsched/schedule.hpp>

using namespace memsched;

static_assert(memory_graph<network>);
static_assert(hooks<network>.overwrites && hooks<network>.alias_of && hooks<network>.live_out && hooks<network>.after &&
              hooks<network>.workspace && hooks<network>.operator_name && hooks<network>.tensor_name);

namespace {

network two_layers() {
  network_builder b("two");
  const tensor_id x = b.input({8, 8, 2});
  b.output(b.unary(b.convolution(x, {.channels = 4, .kernel = 3}), activation::relu, true));
  return b.build().value();
}

/// The message of check_network on a network after a change.
template <class F>
std::string fault_after(F&& change) {
  network net = two_layers();
  change(net);
  return check_network(net).message;
}

}  // namespace

TEST_CASE("a network is scheduled as it is") {
  const network net = two_layers();
  const auto r = schedule(net).value();
  CHECK(r.peak == 4 * (8 * 8 * 2 + 8 * 8 * 4));  // relu works in place
  options no_reuse;
  no_reuse.in_place = false;
  CHECK(schedule(net, no_reuse).value().peak == 4 * (8 * 8 * 4 + 8 * 8 * 4));
}

TEST_CASE("a view takes no memory") {
  network_builder b("view");
  const tensor_id x = b.input({4, 4, 2});
  b.output(b.reshape(b.convolution(x, {.channels = 2}), {1, 16, 2}));
  CHECK(schedule(b.build().value()).value().peak == 2 * 4 * 4 * 2 * 4);
}

TEST_CASE("the builder names the first fault") {
  const auto message = [](auto&& f) {
    network_builder b("net");
    f(b, b.input({4, 4, 2}));
    return b.build().error().message;
  };
  CHECK(message([](network_builder& b, tensor_id) { b.output(7); }) == "net: a output reads a tensor that does not exist");
  CHECK(message([](network_builder& b, tensor_id x) { b.reshape(x, {1, 1, 5}); }) == "net: a reshape of 4x4x2 to 1x1x5");
  CHECK(message([](network_builder& b, tensor_id x) {
          b.concat({x, b.max_pooling(x, {.stride = 2})});
        }) == "net: a concatenation has parts of 4x4x2 and 2x2x2");
  CHECK(message([](network_builder& b, tensor_id x) { b.convolution(x, {.kernel = 7, .pad = padding::valid}); }) ==
        "net: a window of 7 does not fit 4x4x2");
  CHECK(message([](network_builder& b, tensor_id x) { b.depth_to_space(x, 2); }) ==
        "net: depth to space by 2 of 2 channels");
}

TEST_CASE("the check names the operator or tensor at fault") {
  CHECK(fault_after([](network&) {}) == "");
  CHECK(fault_after([](network& n) { n.operations[1].reads[0].parts[0].tensor = 9; }) ==
        "operator 1 'unary_1' reads a tensor that does not exist");
  CHECK(fault_after([](network& n) { std::swap(n.operations[0], n.operations[1]); }) ==
        "operator 0 'unary_1' reads tensor 1 'convolution_0:0' before it is there");
  CHECK(fault_after([](network& n) { n.operations[1].writes[0].parts[0].tensor = 1; }) ==
        "operator 1 'unary_1' writes tensor 1 'convolution_0:0', which is there already");
  CHECK(fault_after([](network& n) { n.operations[0].reads[0].parts[0].row = 1; }) ==
        "operator 0 'convolution_0' reads tensor 0 'input' at rows [1, 9) columns [0, 8) channels [0, 2) of an image of "
        "8x8x2");
  CHECK(fault_after([](network& n) { n.operations[0].does.win.stride_rows = 0; }) ==
        "operator 0 'convolution_0' has a window, stride or dilation below 1");
  CHECK(fault_after([](network& n) { n.operations[0].does.win.pad_rows = -9; }) ==
        "operator 0 'convolution_0' has windows outside the image");
  CHECK(fault_after([](network& n) { n.operations[0].does.groups = 3; }) ==
        "operator 0 'convolution_0' has 3 groups, which do not divide its channels");
  CHECK(fault_after([](network& n) { n.operations[0].weights = {}; }) ==
        "operator 0 'convolution_0' is a convolution without weights");
  CHECK(fault_after([](network& n) { n.operations[0].weights.outputs.last = 5; }) ==
        "operator 0 'convolution_0' uses weights that lie outside weights 0 'convolution_0/weights'");
  CHECK(fault_after([](network& n) { n.operations[1].overwrites = 0; }) ==
        "operator 1 'unary_1' overwrites what it does not read");
  CHECK(fault_after([](network& n) { n.tensors[1].size.rows = coordinate{1} << 60; }) ==
        "tensor 1 'convolution_0:0' is too large: 1152921504606846976x8x4");
  CHECK(fault_after([](network& n) { n.tensors[0].size.rows = -1; }) == "tensor 0 'input' has a negative extent");
  CHECK(fault_after([](network& n) {
          n.blobs[0].data = std::span<const std::byte>(reinterpret_cast<const std::byte*>("abc"), 3);
        }) == "weights 0 'convolution_0/weights' reach past their bytes");
  CHECK(fault_after([](network& n) {
          n.operations[0].sum = summation::partial, n.operations[1].sum = summation::partial;
        }) == "operator 1 'unary_1' is part of a sum, and no unary can be");
}

TEST_CASE("windows along rows") {
  network_builder b("windows");
  const tensor_id x = b.input({8, 8, 2});
  b.output(b.convolution(x, {.channels = 1, .kernel = 3, .stride = 2}));  // SAME: pad at the end only
  b.output(b.convolution(x, {.channels = 1, .kernel = 3, .dilation = 2}));
  b.output(b.transposed_convolution(x, {.channels = 1, .kernel = 4, .stride = 2}));
  b.output(b.resize_bilinear(x, 16, 16));
  b.output(b.pad(x, {2, 2, 0, 0}));
  const network net = b.build().value();
  const auto rows = [&](op_id i, coordinate first, coordinate last) {
    const operation& op = net.operations[i];
    return needed(op, 0, {{first, last}, {0, 1}, {0, 1}}).rows;
  };
  CHECK(rows(0, 0, 1) == interval{0, 3});
  CHECK(rows(0, 3, 4) == interval{6, 8});
  CHECK(rows(1, 0, 1) == interval{0, 3});
  CHECK(rows(1, 4, 5) == interval{2, 7});
  CHECK(rows(2, 0, 1) == interval{0, 1});
  CHECK(rows(2, 1, 3) == interval{0, 2});
  CHECK(rows(3, 0, 1) == interval{0, 2});
  CHECK(rows(3, 5, 7) == interval{2, 4});
  CHECK(rows(4, 0, 2).empty());
  CHECK(rows(4, 1, 4) == interval{0, 2});
}

TEST_CASE("ends of a network come in the order of its file, then by number") {
  network_builder b("ends");
  const tensor_id x = b.input({4, 4, 2}), y = b.input({4, 4, 2});
  const tensor_id left = b.unary(x, activation::relu), right = b.unary(y, activation::tanh);
  b.output(left), b.output(right);
  network net = b.build().value();
  using list = std::vector<network_end>;
  CHECK(ends_of(net, &typed_tensor::input) == list{{x, {}}, {y, {}}});
  net.listed_outputs = {{right, std::vector<std::int64_t>{1, 32}}, {none, {}}, {right, {}}};
  CHECK(ends_of(net, &typed_tensor::output) == list{net.listed_outputs[0], {none, {}}, {right, {}}, {left, {}}});
  net.listed_inputs = {{y, {}}, {left, {}}};  // what is no input (any more) is not listed
  CHECK(ends_of(net, &typed_tensor::input) == list{{y, {}}, {x, {}}});
  CHECK(ends_of(emptied(net), &typed_tensor::input).empty());
  CHECK(emptied(net).listed_inputs == net.listed_inputs);
}

TEST_CASE("what is not understood of a network is told by kind and reason, the largest group first") {
  network_builder b("opaque");
  tensor_id t = b.input({4, 4, 2});
  for (int i = 0; i < 8; ++i) t = b.unary(t, activation::relu);
  b.output(t);
  network net = b.build().value();
  CHECK(opaque_text(opaque_groups(net), 8) == "");
  const auto spoil = [&](op_id i, std::string kind, std::string why) {
    net.operations[i].does.what = op_kind::opaque;
    net.operations[i].kind = std::move(kind), net.operations[i].not_understood = std::move(why);
  };
  spoil(0, "TRANSPOSE", "");
  CHECK(opaque_text(opaque_groups(net), 8) == "1 of 8 operators are not understood: 1 TRANSPOSE");
  spoil(2, "CONV_2D", "its bias"), spoil(3, "CONV_2D", "its bias"), spoil(4, "CONV_2D", "its weights");
  using groups = std::vector<opaque_group>;
  CHECK(opaque_groups(net) == groups{{"CONV_2D", "its bias", 2}, {"TRANSPOSE", "", 1}, {"CONV_2D", "its weights", 1}});
  spoil(5, "A", ""), spoil(6, "B", ""), spoil(7, "", "");
  CHECK(opaque_text(opaque_groups(net), 8) ==
        "7 of 8 operators are not understood: 2 CONV_2D (its bias), 1 TRANSPOSE, 1 CONV_2D (its weights), 1 A, 2 others");
}
