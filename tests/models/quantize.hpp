// A float32 network as one of eight bits: real layers and weights for what works on integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memsched/network/check.hpp>
#include <memsched/network/run.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

/// Ranges come from runs on random inputs, [0, 1) as the models' scripts give them; weights are symmetric, by output channel
/// for convolutions; sums have 32 bits. Operators that only move elements, or take their maximum, keep the scale of
/// their operands.
class quantizer {
 public:
  explicit quantizer(const memsched::network& net) : net_(net), groups_(net.tensors.size()) {
    std::iota(groups_.begin(), groups_.end(), std::size_t{0});
  }

  /// All tensors are int8. With `float_ends`, inputs and outputs are float32, and operators at the ends convert.
  memsched::result<memsched::network> run(bool float_ends) {
    using namespace memsched;
    for (const operation& op : net_.operations)
      if (op.does.what == op_kind::opaque || !op.after.empty()) return fault(op.name + " is opaque");
    for (const typed_tensor& t : net_.tensors)
      if (t.element != element::float32) return fault(t.name + " is not of float32");
    if (std::string e = measure(); !e.empty()) return fault(e);
    made_ = net_;
    bytes_ = std::make_shared<std::vector<std::vector<std::byte>>>();
    bytes_->reserve(net_.blobs.size());  // spans point into them
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
      made_.tensors[t].element = element::int8;
      made_.tensors[t].quant = scales_[find(t)];
    }
    for (operation& op : made_.operations) quantize_weights(op);
    made_.holder = bytes_;
    if (float_ends) add_ends();
    if (graph_error e = check_network(made_); !e.message.empty()) return e;
    return made_;
  }

 private:
  static memsched::graph_error fault(const std::string& what) {
    return {memsched::error_code::bad_input, "cannot be quantized: " + what, {}, {}};
  }
  std::size_t find(std::size_t t) {
    while (groups_[t] != t) t = groups_[t] = groups_[groups_[t]];
    return t;
  }

  /// Joins tensors that have one scale, and finds the range of each group.
  std::string measure() {
    using namespace memsched;
    for (const operation& op : net_.operations) {
      switch (op.does.what) {
        case op_kind::copy:
        case op_kind::max_pooling:
        case op_kind::average_pooling:
        case op_kind::pad:
        case op_kind::reshape:
        case op_kind::resize_bilinear:
        case op_kind::resize_nearest:
        case op_kind::depth_to_space: break;
        default: continue;
      }
      for (const auto* images : {&op.reads, &op.writes})
        for (const image& x : *images)
          for (const placed& p : x.parts) groups_[find(p.tensor)] = find(op.reads[0].parts[0].tensor);
    }
    std::vector<std::pair<float, float>> ranges(net_.tensors.size(), {0.0F, 0.0F});
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const auto values = memsched::run(net_, float_numbers{.seed = seed, .random_weights = false});
      if (!values) return values.error().message;
      for (tensor_id t = 0; t < net_.tensors.size(); ++t)
        for (const float x : (*values)[t]) {
          auto& [low, high] = ranges[find(t)];
          low = std::min(low, x), high = std::max(high, x);
        }
    }
    scales_.resize(net_.tensors.size());
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
      const auto [low, high] = ranges[t];
      const float scale = std::max(high - low, 1e-6F) / 255;
      scales_[t] = {scale, static_cast<std::int32_t>(std::lround(-128 - low / scale))};
    }
    for (const operation& op : net_.operations) {  // of these, runtimes prescribe the scale
      const bool unary = op.does.what == op_kind::unary;
      const tensor_id y = op.writes[0].parts[0].tensor;
      if (op.does.what == op_kind::softmax || (unary && op.does.act == activation::logistic))
        scales_[find(y)] = {1.0F / 256, -128};
      if (unary && op.does.act == activation::tanh) scales_[find(y)] = {1.0F / 128, 0};
    }
    return {};
  }

  static float stored(const memsched::blob& b, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) {
    return static_cast<float>(memsched::detail::stored(b, o, r, c, i));
  }

  template <class Number>
  void replace(memsched::blob& b, const std::vector<Number>& values, memsched::element e,
               const memsched::blob::axes& stride) {
    std::vector<std::byte> data(values.size() * sizeof(Number));
    std::memcpy(data.data(), values.data(), data.size());
    bytes_->push_back(std::move(data));
    b.element = e, b.stride = stride, b.data = bytes_->back();
  }

  void quantize_weights(memsched::operation& op) {
    using namespace memsched;
    if (!op.weights) return;
    const blob& from = net_.blobs[op.weights.of];
    blob& to = made_.blobs[op.weights.of];
    const bool window = op.does.what == op_kind::convolution || op.does.what == op_kind::depthwise ||
                        op.does.what == op_kind::transposed_convolution;
    const bool layer = window || op.does.what == op_kind::dense;
    const std::int64_t outputs = from.size.outputs, rows = from.size.rows, columns = from.size.columns,
                       inputs = from.size.inputs;
    const auto each = [&](std::int64_t o, auto&& f) {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
          for (std::int64_t i = 0; i < inputs; ++i) f(stored(from, o, r, c, i));
    };
    std::vector<float> most(static_cast<std::size_t>(outputs), 1e-6F);
    for (std::int64_t o = 0; o < outputs; ++o)
      each(o,
           [&](float x) { most[static_cast<std::size_t>(o)] = std::max(most[static_cast<std::size_t>(o)], std::abs(x)); });
    if (!window) most = {*std::max_element(most.begin(), most.end())};
    to.scales.clear();
    for (const float m : most) to.scales.push_back(m / 127);
    const auto scale = [&](std::int64_t o) { return to.scales[window ? static_cast<std::size_t>(o) : 0]; };
    std::vector<std::int8_t> values;
    for (std::int64_t o = 0; o < outputs; ++o)
      each(o, [&](float x) { values.push_back(static_cast<std::int8_t>(std::lround(x / scale(o)))); });
    replace(to, values, element::int8, packed(to.size));
    if (!op.bias || !layer) return;
    const blob& bias = net_.blobs[op.bias.of];
    const float in = scales_[find(op.reads[0].parts[0].tensor)].scale;
    std::vector<std::int32_t> sums;
    made_.blobs[op.bias.of].scales.clear();
    for (std::int64_t o = 0; o < bias.size.outputs; ++o)
      sums.push_back(static_cast<std::int32_t>(std::lround(stored(bias, o, 0, 0, 0) / (in * scale(o)))));
    replace(made_.blobs[op.bias.of], sums, element::int32, {1, 1, 1, 1});
  }

  void add_ends() {
    using namespace memsched;
    const auto convert = [&](tensor_id t, bool input) {
      const auto end = static_cast<tensor_id>(made_.tensors.size());
      typed_tensor x = made_.tensors[t];
      x.element = element::float32, x.quant = {}, x.alias_of = none, x.origin = end;
      made_.tensors[t].input = made_.tensors[t].output = false;
      made_.tensors[t].name += "/int8";
      made_.tensors.push_back(x);
      operation op;
      op.name = x.name + "/end";
      op.does.what = op_kind::copy;
      op.reads = {{x.size, {{input ? end : t, 0, 0, 0}}}};
      op.writes = {{x.size, {{input ? t : end, 0, 0, 0}}}};
      made_.operations.insert(input ? made_.operations.begin() : made_.operations.end(), std::move(op));
    };
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
      if (net_.tensors[t].input) convert(t, true);
      if (net_.tensors[t].output) convert(t, false);
    }
    for (op_id i = 0; i < made_.operations.size(); ++i) made_.operations[i].origin = i;
  }

  const memsched::network& net_;
  memsched::network made_;
  std::vector<std::size_t> groups_;
  std::vector<memsched::quantization> scales_;
  std::shared_ptr<std::vector<std::vector<std::byte>>> bytes_;
};
