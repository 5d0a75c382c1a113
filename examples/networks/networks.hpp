// The networks that examples, tests, benchmarks and the program know by name.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/nearest.hpp>
#include <memsched/graph/builder.hpp>
#include <networks/cells.hpp>
#include <networks/hrnet.hpp>
#include <networks/randwire.hpp>
#include <networks/swiftnet.hpp>
#include <networks/synthetic.hpp>
#include <networks/training.hpp>

namespace networks {

/// The known facts about a network. If it has parameters, they are about the default ones.
struct network {
  std::string name;
  std::string source;                          ///< one line: where it is from, what its sizes mean
  std::string published{};                     ///< published peaks with their citation, or empty
  std::optional<bytes> optimum{};              ///< proven smallest peak where known; pbc, in place
  std::optional<bytes> optimum_not_inplace{};  ///< likewise where no operator works in place
  std::string pattern{};                       ///< the name with its parameters and their defaults: "chain:OPS=1000:SEED=1"
};

namespace detail {

using arguments = std::vector<std::uint64_t>;

struct parameter {
  const char* name;
  std::uint64_t standard, least, most;
};

inline constexpr std::uint64_t max_operators = 1'000'000;
inline constexpr std::uint64_t max_draws = 100'000'000;  ///< random numbers for one graph: it bounds the time
inline constexpr parameter seed{"SEED", 1, 0, UINT64_MAX};

struct entry {
  network about;
  std::vector<parameter> parameters{};
  problem_draft (*make)(const arguments&) = nullptr;
  std::size_t factors = 0;  ///< the first `factors` parameters have a product of at most max_product
  std::uint64_t max_product = 0;
};

// clang-format off
inline std::vector<entry> networks_of_papers() {
  const std::string hrnet_source = "HRNet classifier, 256x256 float32, conv+bn+relu one operator, layer1 of 32 planes";
  const std::string swiftnet_source = "SwiftNet for human presence (SERENITY), 224x224 uint8, ";
  const std::string cells_source = "HMCOS's network, float32, conv+bn one operator, relu and add in place; ";
  const std::string randwire_source = "RandWire, three WS(32,4,0.75) stages of 28/14/7 pixels and 78/156/312 channels, "
                                      "float32; the published seeds are lost; ";
  return {
      {.about = {.name = "hrnet-w18-small-v1", .source = hrnet_source,
                 .published = "RPO, SERENITY, HMCOS 7936, ILP 6368 KiB (Zhong et al., Table II)",
                 .optimum = 6520832, .optimum_not_inplace = 6520832},
       .make = [](const arguments&) { return hrnet(hrnet_w18_small_v1).build(); }},
      {.about = {.name = "hrnet-w18-small-v2", .source = hrnet_source,
                 .published = "RPO, SERENITY 7936, HMCOS 7752, ILP 6432 KiB (Zhong et al., Table II)",
                 .optimum = 6549504, .optimum_not_inplace = 6549504},
       .make = [](const arguments&) { return hrnet(hrnet_w18_small_v2).build(); }},
      {.about = {.name = "hrnet-w32", .source = hrnet_source,
                 .published = "RPO, SERENITY 7936, HMCOS 7808, ILP 7296 KiB (Zhong et al., Table II)",
                 .optimum = 6750208, .optimum_not_inplace = 6750208},
       .make = [](const arguments&) { return hrnet(hrnet_w32).build(); }},

      {.about = {.name = "swiftnet-cell-a", .source = swiftnet_source + "cell A, separable convolutions fused",
                 .published = "250.9 kB, between operators 200.7 kB (SERENITY, Figure 12)",
                 .optimum = 250880, .optimum_not_inplace = 250880},
       .make = [](const arguments&) { return swiftnet(swiftnet_cell_a).build(); }},
      {.about = {.name = "swiftnet-cell-b", .source = swiftnet_source + "core of cell B, separable convolutions fused",
                 .optimum = 122304, .optimum_not_inplace = 122304},
       .make = [](const arguments&) { return swiftnet(swiftnet_cell_b).build(); }},
      {.about = {.name = "swiftnet-cell-c", .source = swiftnet_source + "core of cell C, separable convolutions fused",
                 .optimum = 53900, .optimum_not_inplace = 53900},
       .make = [](const arguments&) { return swiftnet(swiftnet_cell_c).build(); }},
      {.about = {.name = "swiftnet-cells-abc", .source = swiftnet_source + "cells A to C, separable convolutions fused",
                 .optimum = 275968, .optimum_not_inplace = 275968},
       .make = [](const arguments&) { return swiftnet(swiftnet_cells_abc).build(); }},
      {.about = {.name = "swiftnet", .source = swiftnet_source + "whole, every layer an operator",
                 .optimum = 301056, .optimum_not_inplace = 301056},
       .make = [](const arguments&) { return swiftnet(swiftnet_whole).build(); }},

      {.about = {.name = "nasnet-cifar", .source = cells_source + "NASNet-A, 32x32, 20 cells from 32 filters on",
                 .published = "RPO 2.25, SERENITY 2.25, HMCOS 1.70 MiB (HMCOS, Table 1)",
                 .optimum = 1786624, .optimum_not_inplace = 1786624},
       .make = [](const arguments&) { return cell_network(nasnet_a()).build(cifar_stack, 32); }},
      {.about = {.name = "nasnet-imagenet", .source = cells_source + "NASNet-A, 224x224, 16 cells from 22 filters on",
                 .published = "RPO 5.06, SERENITY 4.40, HMCOS 4.13 MiB (HMCOS, Table 1)",
                 .optimum = 4336096, .optimum_not_inplace = 4365312},
       .make = [](const arguments&) { return cell_network(nasnet_a()).build(imagenet_stack, 22); }},
      {.about = {.name = "amoebanet-cifar", .source = cells_source + "AmoebaNet-A, 32x32, 20 cells from 36 filters on",
                 .published = "RPO 1.75, SERENITY 1.27, HMCOS 1.13 MiB (HMCOS, Table 1)",
                 .optimum = 1179648, .optimum_not_inplace = 1327104},
       .make = [](const arguments&) { return cell_network(amoebanet_a()).build(cifar_stack, 36); }},
      {.about = {.name = "amoebanet-imagenet",
                 .source = cells_source + "AmoebaNet-A, 224x224, 16 cells from 25 filters on",
                 .published = "RPO 4.92, SERENITY 4.29, HMCOS 4.22 MiB (HMCOS, Table 1)",
                 .optimum = 4428032, .optimum_not_inplace = 4741632},
       .make = [](const arguments&) { return cell_network(amoebanet_a()).build(imagenet_stack, 25); }},
      {.about = {.name = "darts-cifar", .source = cells_source + "DARTS, 32x32, 20 cells from 36 filters on",
                 .published = "RPO 2.32, SERENITY 1.69, HMCOS 1.34 MiB (HMCOS, Table 1)",
                 .optimum = 1401408, .optimum_not_inplace = 1401408},
       .make = [](const arguments&) { return cell_network(darts()).build(cifar_stack, 36); }},
      {.about = {.name = "darts-imagenet", .source = cells_source + "DARTS, 224x224, 16 cells from 24 filters on",
                 .published = "RPO 4.91, SERENITY 4.53, HMCOS 3.66 MiB (HMCOS, Table 1)",
                 .optimum = 3842176, .optimum_not_inplace = 3842176},
       .make = [](const arguments&) { return cell_network(darts()).build(imagenet_stack, 24); }},

      {.about = {.name = "nasnet-space",
                 .source = cells_source + "random cells of NASNet's search space, 32x32, 20 cells from 32 filters on"},
       .parameters = {seed},
       .make = [](const arguments& a) { return cell_network(random_genotype(a[0])).build(cifar_stack, 32); }},
      {.about = {.name = "randwire", .source = randwire_source + "a node is one operator"},
       .parameters = {seed},
       .make = [](const arguments& a) { return randwire(node_style::fused, 32, a[0]).build(); }},
      {.about = {.name = "randwire-unfused", .source = randwire_source + "every layer is an operator"},
       .parameters = {seed},
       .make = [](const arguments& a) { return randwire(node_style::unfused, 32, a[0]).build(); }},
      {.about = {.name = "randwire-stack",
                 .source = randwire_source + "sums as Unsqueeze, Concat, MatMul, Squeeze (HMCOS)"},
       .parameters = {seed},
       .make = [](const arguments& a) { return randwire(node_style::stacked, 32, a[0]).build(); }},

      {.about = {.name = "task-figure1",
                 .source = "Fradet et al., Figure 1, in tokens; some rates derived from its peaks",
                 .published = "10 tokens, with cbp 8 (Fradet et al., section 2.1)",
                 .optimum = 10, .optimum_not_inplace = 10},
       .make = [](const arguments&) { return task_figure1(); }},
      {.about = {.name = "satellite",
                 .source = "SDF3's satellite receiver, in tokens: one task for all firings of an actor",
                 .published = "1680 tokens (Fradet et al., Table 1, flat single-appearance schedule)",
                 .optimum = 1680, .optimum_not_inplace = 1680},
       .make = [](const arguments&) { return satellite(); }},
  };
}

inline std::vector<entry> synthetic_families() {
  const std::string random_sizes = "; 1 to 100 bytes at random";
  return {
      {.about = {.name = "watts_strogatz",
                 .source = "RandWire with stages of NODES nodes; sums of inputs are operators"},
       .parameters = {{"NODES", 100, 6, 100'000}, seed},
       .make = [](const arguments& a) { return randwire(node_style::summed, static_cast<index_t>(a[0]), a[1]).build(); }},
      {.about = {.name = "windowed",
                 .source = "reads each of the WINDOW before with probability 2/WINDOW, at least one" + random_sizes},
       .parameters = {{"OPS", 300, 1, max_operators}, {"WINDOW", 30, 1, max_operators}, seed},
       .make = [](const arguments& a) { return windowed(a[0], a[1], a[2]); },
       .factors = 2, .max_product = max_draws},
      {.about = {.name = "layered", .source = "each operator reads two of the layer before" + random_sizes},
       .parameters = {{"LAYERS", 20, 1, max_operators}, {"WIDTH", 10, 1, max_operators}, seed},
       .make = [](const arguments& a) { return layered(a[0], a[1], a[2]); },
       .factors = 2, .max_product = max_operators},
      {.about = {.name = "series_parallel", .source = "task graph, each edge a tensor" + random_sizes},
       .parameters = {{"OPS", 1000, 2, max_operators}, seed},
       .make = [](const arguments& a) { return series_parallel(a[0], a[1]); }},
      {.about = {.name = "chain", .source = "each operator reads the one before" + random_sizes},
       .parameters = {{"OPS", 1000, 1, max_operators}, seed},
       .make = [](const arguments& a) { return chain(a[0], a[1]); }},
      {.about = {.name = "star",
                 .source = "source, OPS-2 parallel operators, sink (SERENITY, appendix D)" + random_sizes},
       .parameters = {{"OPS", 20, 3, max_operators}, seed},
       .make = [](const arguments& a) { return star(a[0], a[1]); }},
      {.about = {.name = "transformer_step",
                 .source = "training step of GPT-2's decoder, 4 sequences of 1024 tokens, bfloat16; costs are microseconds"},
       .parameters = {{"LAYERS", 12, 1, 10'000}, {"HEADS", 12, 1, 1000}},
       .make = [](const arguments& a) { return transformer_step(a[0], a[1]).build(); },
       .factors = 2, .max_product = 100'000},
  };
}
// clang-format on

inline const std::vector<entry>& entries() {
  static const std::vector<entry> list = [] {
    std::vector<entry> all = networks_of_papers();
    for (entry& e : synthetic_families()) all.push_back(std::move(e));
    for (entry& e : all) {
      e.about.pattern = e.about.name;
      for (const parameter& p : e.parameters)
        e.about.pattern += std::string(":") + p.name + "=" + std::to_string(p.standard);
    }
    return all;
  }();
  return list;
}

inline memsched::graph_error bad_name(std::string message) {
  return {memsched::error_code::bad_input, std::move(message), {}, {}};
}

/// Names come from users: messages repeat no more than a line's worth of them.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t shown = 60;
  std::string out = "'";
  for (char c : text.substr(0, shown)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > shown ? "...'" : "'");
}

inline memsched::graph_error unknown(std::string_view name) {
  std::string message = "there is no network " + quoted(name);
  std::vector<std::string_view> names;
  for (const entry& e : entries()) names.push_back(e.about.name);
  constexpr std::size_t close = 3;  // letters
  if (const auto meant = memsched::nearest(name, names); meant.distance <= close)
    message += "; did you mean '" + std::string(meant.word) + "'?";
  return bad_name(message + " ('memsched networks' lists them)");
}

inline std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(':', from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

/// The arguments in `given`, the defaults of those left out at the end.
inline memsched::result<arguments> read_arguments(const entry& e, const std::vector<std::string_view>& given) {
  const std::string of = "network " + e.about.pattern + ": ";
  if (given.size() > e.parameters.size())
    return bad_name(of + std::to_string(given.size()) + " parameters given, at most " + std::to_string(e.parameters.size()) +
                    " known");
  arguments read;
  for (std::size_t i = 0; i < e.parameters.size(); ++i) {
    const parameter& p = e.parameters[i];
    std::uint64_t value = p.standard;
    if (i < given.size()) {
      const char* end = given[i].data() + given[i].size();
      const auto [stop, error] = std::from_chars(given[i].data(), end, value);
      if (error != std::errc{} || stop != end || value < p.least || value > p.most)
        return bad_name(of + p.name + " is " + quoted(given[i]) + ", not a number from " + std::to_string(p.least) + " to " +
                        std::to_string(p.most));
    }
    read.push_back(value);
  }
  std::uint64_t product = 1;
  std::string factors;
  for (std::size_t i = 0; i < e.factors; ++i) {
    product *= read[i];
    factors += (i > 0 ? " x " : "") + std::string(e.parameters[i].name);
  }
  if (e.factors > 0 && product > e.max_product)
    return bad_name(of + factors + " is " + std::to_string(product) + ", more than " + std::to_string(e.max_product));
  return read;
}

}  // namespace detail

/// All networks, in a stable order: those of papers, then the families.
inline const std::vector<network>& all() {
  static const std::vector<network> list = [] {
    std::vector<network> about;
    for (const detail::entry& e : detail::entries()) about.push_back(e.about);
    return about;
  }();
  return list;
}

/// The network of this name. Parameters follow the name, each after a colon; those left out at the end have their
/// defaults: "windowed", "windowed:500", "windowed:500:40:7". Error bad_input: unknown name, bad parameter, or too
/// large.
inline memsched::result<memsched::problem_draft> make(std::string_view name) {
  std::vector<std::string_view> parts = detail::split(name);
  const auto& list = detail::entries();
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.about.name == parts.front(); });
  if (found == list.end()) return detail::unknown(parts.front());
  parts.erase(parts.begin());
  const auto arguments = detail::read_arguments(*found, parts);
  if (!arguments) return arguments.error();
  problem_draft draft = found->make(*arguments);
  draft.name = name;
  return draft;
}

}  // namespace networks
