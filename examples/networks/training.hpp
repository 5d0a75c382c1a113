// A training step of a transformer, a graph for `recompute`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/builder.hpp>

namespace networks {

using memsched::bytes;
using memsched::problem_builder;
using memsched::problem_draft;
using memsched::tensor_id;

/// Builds one training step of GPT-2's decoder (Radford et al., 2019): the forward pass, the backward pass and the gradients
/// of all weights, which stay. Four sequences of 1,024 tokens, heads of 64 channels, 2 bytes a number; each head has operators
/// of its own. Weights and the optimizer are outside of the graph. Costs are microseconds at 100 Tflop/s or 1 TB/s, whichever
/// takes longer.
class transformer_step {
 public:
  transformer_step(std::uint64_t layers, std::uint64_t heads) : layers_(layers), heads_(heads), width_(64 * heads) {}

  problem_draft build() {
    tensor_id x = run("embed", {}, tokens * width_);
    for (std::uint64_t l = 0; l < layers_; ++l) x = forward(x);
    const tensor_id logits = multiply("head", {x}, tokens * words, width_);
    const tensor_id d_logits = run("d_loss", {logits}, tokens * words);
    weight("w_head", {d_logits, x}, words * width_);
    tensor_id d = multiply("d_head", {d_logits}, tokens * width_, words);
    for (std::uint64_t l = layers_; l-- > 0;) d = backward(saved_[l], d);
    weight("w_embed", {d}, words * width_);
    return graph_.draft();
  }

 private:
  static constexpr std::uint64_t length = 1024, tokens = 4 * length, words = 50'304, per_head = 64, number = 2;

  /// Tensors of a layer that its backward pass reads.
  struct saved {
    tensor_id in, normed, qkv, middle, normed_middle, wide, bent;
    std::vector<tensor_id> weights, heads;
  };

  tensor_id forward(tensor_id x) {
    saved s;
    s.in = x;
    s.normed = run("norm1", {x}, tokens * width_);
    s.qkv = multiply("qkv", {s.normed}, 3 * tokens * width_, width_);
    for (std::uint64_t h = 0; h < heads_; ++h) {
      const tensor_id scores = multiply("scores", {s.qkv}, tokens * length, per_head);
      s.weights.push_back(run("softmax", {scores}, tokens * length));
      s.heads.push_back(multiply("attend", {s.weights.back(), s.qkv}, tokens * per_head, length));
    }
    s.middle = run("add1", {multiply("project", s.heads, tokens * width_, width_), x}, tokens * width_);
    s.normed_middle = run("norm2", {s.middle}, tokens * width_);
    s.wide = multiply("widen", {s.normed_middle}, 4 * tokens * width_, width_);
    s.bent = run("gelu", {s.wide}, 4 * tokens * width_);
    const tensor_id narrow = multiply("narrow", {s.bent}, tokens * width_, 4 * width_);
    saved_.push_back(s);
    return run("add2", {narrow, s.middle}, tokens * width_);
  }

  /// Returns the gradient of the layer's input, given that of its output.
  tensor_id backward(const saved& s, tensor_id d) {
    weight("w_narrow", {d, s.bent}, 4 * width_ * width_);
    const tensor_id d_bent = multiply("d_narrow", {d}, 4 * tokens * width_, width_);
    const tensor_id d_wide = run("d_gelu", {d_bent, s.wide}, 4 * tokens * width_);
    weight("w_widen", {d_wide, s.normed_middle}, 4 * width_ * width_);
    const tensor_id d_normed_middle = multiply("d_widen", {d_wide}, tokens * width_, 4 * width_);
    const tensor_id d_middle = run("d_norm2", {d_normed_middle, s.middle, d}, tokens * width_);

    std::vector<tensor_id> projected = s.heads;
    projected.push_back(d_middle);
    weight("w_project", projected, width_ * width_);
    const tensor_id d_heads = multiply("d_project", {d_middle}, tokens * width_, width_);
    std::vector<tensor_id> d_parts;
    for (std::uint64_t h = 0; h < heads_; ++h) {
      const tensor_id d_weights = multiply("d_attend", {d_heads, s.qkv}, tokens * length, per_head);
      const tensor_id d_scores = run("d_softmax", {d_weights, s.weights[h]}, tokens * length);
      d_parts.push_back(multiply("d_scores", {d_scores, s.weights[h], d_heads, s.qkv}, 3 * tokens * per_head, length));
    }
    const tensor_id d_qkv = run("join", d_parts, 3 * tokens * width_);
    weight("w_qkv", {d_qkv, s.normed}, 3 * width_ * width_);
    const tensor_id d_normed = multiply("d_qkv", {d_qkv}, tokens * width_, 3 * width_);
    return run("d_norm1", {d_normed, s.in, d_middle}, tokens * width_);
  }

  /// An operator that makes `numbers` numbers, each from `terms` products (0: it only moves bytes).
  tensor_id multiply(const char* name, std::vector<tensor_id> reads, std::uint64_t numbers, std::uint64_t terms) {
    constexpr std::uint64_t products_per_microsecond = 50'000'000, bytes_per_microsecond = 1'000'000;
    bytes moved = number * numbers;
    for (tensor_id t : reads) moved += graph_.draft().tensors[t].size;
    const tensor_id made = graph_.tensor(number * numbers);
    graph_.op({.reads = std::move(reads),
               .writes = {made},
               .name = name + std::string(".") + std::to_string(graph_.draft().operators.size()),
               .cost = std::max(numbers * terms / products_per_microsecond, moved / bytes_per_microsecond) + 1});
    return made;
  }

  tensor_id run(const char* name, std::vector<tensor_id> reads, std::uint64_t numbers) {
    return multiply(name, std::move(reads), numbers, 0);
  }

  void weight(const char* name, std::vector<tensor_id> reads, std::uint64_t numbers) {
    graph_.output(multiply(name, std::move(reads), numbers, tokens));
  }

  std::uint64_t layers_, heads_, width_;
  problem_builder graph_;
  std::vector<saved> saved_;
};

}  // namespace networks
