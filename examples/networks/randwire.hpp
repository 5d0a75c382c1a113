// RandWire (Xie et al.: Exploring randomly wired neural networks, 2019) over Watts-Strogatz graphs, small regime:
// 224x224 image, float32, three stages at 28, 14 and 7 pixels with 78, 156 and 312 channels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/base/random.hpp>
#include <networks/layers.hpp>

namespace networks {

using memsched::base::random_source;

/// For each node of a random graph, the lower nodes that it is joined to, ascending.
using wiring = std::vector<std::vector<index_t>>;

/// WS(n, 4, 0.75), n >= 6: a ring where each node is joined to the two next ones; then each of these edges moves its
/// far end to a random node with probability 3/4: first all edges to the next node, then those to the one after. The
/// new end is redrawn while it is the node itself or a neighbour. Drawn again until connected.
class watts_strogatz {
 public:
  watts_strogatz(index_t nodes, random_source& random) : nodes_(nodes), random_(random) {
    do {
      join_ring();
      rewire();
    } while (!connected());
  }

  wiring lower() const {
    wiring result(nodes_);
    for (index_t u = 0; u < nodes_; ++u) {
      for (index_t v : neighbours_[u])
        if (v < u) result[u].push_back(v);
      std::sort(result[u].begin(), result[u].end());
    }
    return result;
  }

 private:
  static constexpr index_t reach = 2;

  void join_ring() {
    neighbours_.assign(nodes_, {});
    for (index_t distance = 1; distance <= reach; ++distance)
      for (index_t u = 0; u < nodes_; ++u) join(u, (u + distance) % nodes_);
  }

  void rewire() {
    for (index_t distance = 1; distance <= reach; ++distance)
      for (index_t u = 0; u < nodes_; ++u) {
        if (!random_.chance(3, 4) || neighbours_[u].size() + 1 >= nodes_) continue;
        index_t to = draw();
        while (to == u || joined(u, to)) to = draw();
        part(u, (u + distance) % nodes_);
        join(u, to);
      }
  }

  index_t draw() { return static_cast<index_t>(random_.below(nodes_)); }
  bool joined(index_t u, index_t v) const {
    return std::find(neighbours_[u].begin(), neighbours_[u].end(), v) != neighbours_[u].end();
  }
  void join(index_t u, index_t v) {
    neighbours_[u].push_back(v);
    neighbours_[v].push_back(u);
  }
  void part(index_t u, index_t v) {
    std::erase(neighbours_[u], v);
    std::erase(neighbours_[v], u);
  }

  bool connected() const {
    std::vector<bool> seen(nodes_, false);
    std::vector<index_t> open{0};
    seen[0] = true;
    std::size_t reached = 0;
    while (!open.empty()) {
      const index_t u = open.back();
      open.pop_back();
      ++reached;
      for (index_t v : neighbours_[u])
        if (!seen[v]) {
          seen[v] = true;
          open.push_back(v);
        }
    }
    return reached == nodes_;
  }

  index_t nodes_;
  random_source& random_;
  std::vector<std::vector<index_t>> neighbours_;
};

/// The parts of a node that are operators of their own. A node sums its inputs with weights, then applies relu, a separable
/// convolution and a normalization.
enum class node_style : unsigned char {
  fused,    ///< the whole node
  summed,   ///< the sum of several inputs, and the rest
  unfused,  ///< every layer
  stacked,  ///< every layer but the normalization; the sum as Unsqueeze per input, Concat, MatMul, Squeeze, which is
            ///< how HMCOS's program exports it
};

/// Edges run from lower to higher nodes; a node without a lower one reads the stage's input at stride 2; the outputs of
/// nodes without a higher one are averaged. An operator's scope is its stage.
class randwire {
 public:
  randwire(node_style style, index_t nodes, std::uint64_t seed) : style_(style), nodes_(nodes), random_(seed) {}

  problem_draft build() {
    constexpr bytes width = 78;
    feature x = stem(net_.input(3, 224), width);
    for (index_t s = 0; s < 3; ++s) {
      net_.begin_scope(s);
      x = stage(x, width << s);
    }
    net_.end_scope();
    net_.output(head(x));
    return net_.draft();
  }

 private:
  feature stem(const feature& image, bytes width) {
    feature x = normalized(net_.conv(image, width / 2, 2));
    if (style_ == node_style::unfused || style_ == node_style::stacked) x = net_.same("relu", {x});
    return normalized(net_.conv(x, width, 2));
  }

  feature stage(const feature& x, bytes channels) {
    const wiring lower = watts_strogatz(nodes_, random_).lower();
    std::vector<feature> outputs;
    std::vector<bool> is_read(nodes_, false);
    for (const std::vector<index_t>& from : lower) {
      std::vector<feature> inputs;
      for (index_t u : from) {
        inputs.push_back(outputs[u]);
        is_read[u] = true;
      }
      outputs.push_back(inputs.empty() ? node({x}, channels, 2) : node(inputs, channels, 1));
    }
    std::vector<feature> sinks;
    for (index_t u = 0; u < nodes_; ++u)
      if (!is_read[u]) sinks.push_back(outputs[u]);
    return net_.same("mean", sinks);
  }

  feature node(const std::vector<feature>& inputs, bytes channels, bytes stride) {
    const bytes side = strided(inputs.front().side, stride);
    if (style_ == node_style::fused) return net_.apply("node", inputs, channels, side);
    const feature x = inputs.size() == 1 ? inputs.front() : sum(inputs);
    if (style_ == node_style::summed) return net_.apply("node", {x}, channels, side);
    return normalized(net_.apply("pwconv", {net_.depthwise(net_.same("relu", {x}), stride)}, channels, side));
  }

  feature sum(const std::vector<feature>& inputs) {
    if (style_ != node_style::stacked) return net_.same("wsum", inputs);
    std::vector<feature> columns;
    for (const feature& x : inputs) columns.push_back(net_.same("unsqueeze", {x}));
    const feature product = net_.apply("matmul", {net_.concat(columns)}, inputs.front().channels, inputs.front().side);
    return net_.same("squeeze", {product});
  }

  feature normalized(const feature& x) { return style_ == node_style::unfused ? net_.same("bn", {x}) : x; }

  feature head(const feature& x) {
    const feature wide = normalized(net_.conv(x, 1280));
    return net_.apply("fc", {net_.apply("gap", {wide}, wide.channels, 1)}, 1000, 1);
  }

  node_style style_;
  index_t nodes_;
  random_source random_;
  layers net_{float32_size};
};

}  // namespace networks
