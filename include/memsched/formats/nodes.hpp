// Graphs of other compilers as JSON text: nodes by name, as torch.fx and XLA's HLO have them. Opt-in: needs nlohmann-json.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/formats/json/document.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/graph/traits.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Nodes with their results, each of one or several values. Operators are the nodes but for inputs and outputs of the graph,
/// by position in the text; tensors are values. It models `memory_graph`: see `read_nodes`.
class node_graph {
 public:
  const std::string& name() const { return name_; }
  std::span<const index_t> ops() const { return operators_; }
  std::span<const index_t> inputs(index_t node) const { return nodes_[node].inputs; }
  std::span<const index_t> outputs(index_t node) const { return nodes_[node].values; }
  /// The tensors that outputs read, inputs of the graph among them that no operator reads.
  std::span<const index_t> tensors() const { return kept_; }
  std::optional<bytes> size(index_t value) const { return values_[value].size; }
  std::span<const index_t> after(index_t node) const { return nodes_[node].after; }
  bytes workspace(index_t node) const { return nodes_[node].workspace; }
  std::span<const overwrite_at> overwrites(index_t node) const { return nodes_[node].overwrites; }
  std::span<const index_t> updates(index_t node) const { return nodes_[node].updates; }
  bool live_out(index_t value) const { return values_[value].kept; }
  std::optional<index_t> alias_of(index_t value) const { return values_[value].alias_of; }
  const std::string& operator_name(index_t node) const { return nodes_[node].name; }
  const std::string& tensor_name(index_t value) const { return nodes_[values_[value].node].name; }

 private:
  enum class node_kind : unsigned char { operation, input, output };
  struct node_data {
    std::string name;
    node_kind kind = node_kind::operation;
    bytes workspace = 0;
    std::vector<index_t> values, inputs, after, updates;
    std::vector<overwrite_at> overwrites;
  };
  struct value_data {
    index_t node;
    std::optional<bytes> size{};
    std::optional<index_t> alias_of{};
    bool kept = false;
  };

  friend class node_reader;
  std::string name_;
  std::vector<node_data> nodes_;
  std::vector<value_data> values_;
  std::vector<index_t> operators_, kept_;
};

/// Reads one text; use it through `read_nodes`.
class node_reader {
  using json = nlohmann::json;
  using node = node_graph::node_data;
  using kind = node_graph::node_kind;

 public:
  result<node_graph> run(std::string_view text) {
    const auto parsed = parse_json(text);
    if (!parsed) return parsed.error();
    const json& file = *parsed;
    if (!file.is_object() || !file.contains("nodes") || !file["nodes"].is_array())
      return graph_error{error_code::bad_input, "is no JSON object with a list \"nodes\"", {}, {}};
    if (file.contains("name") && file["name"].is_string()) g_.name_ = file["name"].get<std::string>();
    if (const std::string why = wrong_key(file, graph_keys, notes::unlike); !why.empty())
      return graph_error{error_code::bad_input, why, {}, {}};
    const json& nodes = file["nodes"];
    if (nodes.size() >= none) return graph_error{error_code::too_large, "more than 2^32 nodes", {}, {}};
    for (const json& n : nodes) add_node(n);
    for (at_ = 0; at_ < g_.nodes_.size() && good(); ++at_) add_values(nodes[at_]);
    for (at_ = 0; at_ < g_.nodes_.size() && good(); ++at_) add_view(nodes[at_]);
    for (at_ = 0; at_ < g_.nodes_.size() && good(); ++at_) connect(nodes[at_]);
    if (!good()) return std::move(error_);
    return std::move(g_);
  }

 private:
  static constexpr std::string_view graph_keys[] = {"name", "nodes"};
  static constexpr std::string_view node_keys[] = {"name",      "kind",    "op",      "inputs",     "bytes",
                                                   "view_of",   "element", "updates", "overwrites", "after",
                                                   "workspace", "shape",   "type"};

  bool good() const { return error_.message.empty(); }

  void add_node(const json& n) {
    if (!good()) return;
    at_ = static_cast<index_t>(g_.nodes_.size());
    g_.nodes_.emplace_back();
    if (!n.is_object()) return fault("", "must be an object");
    node& made = g_.nodes_.back();
    if (!n.contains("name") || !n["name"].is_string()) return fault("name", "must be a string");
    made.name = n["name"].get<std::string>();
    if (!numbers_.emplace(made.name, at_).second) return fault("name", "is given twice");
    if (const std::string why = wrong_key(n, node_keys, notes::marked); !why.empty()) return fault("", why);
    if (n.contains("kind")) {
      if (n["kind"] == "input") made.kind = kind::input;
      else if (n["kind"] == "output") made.kind = kind::output;
      else if (n["kind"] != "operator") return fault("kind", "must be \"input\", \"output\" or \"operator\"");
    }
    if (made.kind == kind::operation) g_.operators_.push_back(at_);
  }

  /// The values of a node: as many as it has sizes, or as it is a view of.
  void add_values(const json& n) {
    if (g_.nodes_[at_].kind == kind::output) return;
    if (n.contains("view_of")) return;  // once all others have theirs
    const auto add = [&](const json& size) {
      if (size.is_null()) return add_value(std::nullopt);
      if (!size.is_number_unsigned()) return fault("bytes", "must be a whole number of bytes, null, or a list of these");
      add_value(size.get<bytes>());
    };
    if (!n.contains("bytes")) return add_value(std::nullopt);
    if (!n["bytes"].is_array()) return add(n["bytes"]);
    for (const json& size : n["bytes"]) add(size);
  }
  void add_value(std::optional<bytes> size, std::optional<index_t> alias_of = {}) {
    g_.nodes_[at_].values.push_back(static_cast<index_t>(g_.values_.size()));
    g_.values_.push_back({at_, size, alias_of});
  }

  void add_view(const json& n) {
    if (g_.nodes_[at_].kind == kind::output || !n.contains("view_of")) return;
    std::vector<index_t> sources;
    for (const index_t other : names(n, "view_of")) {
      if (g_.nodes_[other].values.empty()) return fault("view_of", "names itself, or a view that comes after it");
      take(n, other, sources);
    }
    for (const index_t source : sources) add_value(std::nullopt, source);
  }

  void connect(const json& n) {
    node& made = g_.nodes_[at_];
    for (const index_t other : names(n, "inputs")) take(n, other, made.inputs);
    for (const index_t other : names(n, "updates")) {
      const auto& values = g_.nodes_[other].values;
      made.updates.insert(made.updates.end(), values.begin(), values.end());
    }
    for (const index_t other : names(n, "after")) {
      if (g_.nodes_[other].kind != kind::operation) return fault("after", "names an input, which does not run");
      made.after.push_back(other);
    }
    for (const index_t other : names(n, "overwrites")) {
      const auto& in = made.inputs;
      const auto& values = g_.nodes_[other].values;
      const auto found = values.empty() ? in.end() : std::find(in.begin(), in.end(), values[0]);
      if (found == in.end()) return fault("overwrites", "names a node that is none of the inputs");
      made.overwrites.push_back({static_cast<int>(made.overwrites.size()), static_cast<int>(found - in.begin())});
    }
    if (n.contains("workspace")) {
      if (!n["workspace"].is_number_unsigned()) return fault("workspace", "must be a whole number of bytes");
      made.workspace = n["workspace"].get<bytes>();
    }
    if (made.kind != kind::output) return;
    for (const index_t value : made.inputs) g_.values_[value].kept = true;
    g_.kept_.insert(g_.kept_.end(), made.inputs.begin(), made.inputs.end());
  }

  /// Appends the values of another node, or the one that the node at hand takes as its element.
  void take(const json& n, index_t other, std::vector<index_t>& into) {
    const auto& values = g_.nodes_[other].values;
    if (!n.contains("element")) return void(into.insert(into.end(), values.begin(), values.end()));
    if (!n["element"].is_number_unsigned()) return fault("element", "must be a position, 0 or more");
    const auto element = n["element"].get<std::size_t>();
    if (element >= values.size())
      return fault("element",
                   "is " + std::to_string(element) + ", but there are " + std::to_string(values.size()) + " values");
    into.push_back(values[element]);
  }

  /// The nodes that a key names: a name or a list of names; none if it is absent.
  std::vector<index_t> names(const json& n, const char* key) {
    std::vector<index_t> found;
    const auto add = [&](const json& name) {
      if (!name.is_string()) return fault(key, "must be a name or a list of names");
      const std::string& text = name.get_ref<const std::string&>();
      const auto at = numbers_.find(text);
      if (at == numbers_.end()) return fault(key, "there is no node '" + base::one_line(text, 120) + "'");
      if (g_.nodes_[at->second].kind == kind::output) return fault(key, "names an output, which has no value");
      found.push_back(at->second);
    };
    if (!good() || !n.contains(key)) return found;
    if (!n[key].is_array()) return add(n[key]), found;
    for (const json& name : n[key]) add(name);
    return found;
  }

  void fault(const char* key, const std::string& reason) {
    if (!good()) return;
    std::string place = "nodes[" + std::to_string(at_) + "]";
    if (const std::string& name = g_.nodes_[at_].name; !name.empty()) place += " '" + base::one_line(name, 120) + "'";
    if (*key) place += std::string(".") + key;
    error_ = {error_code::bad_input, place + ": " + reason, {}, {}};
  }

  node_graph g_;
  std::unordered_map<std::string, index_t> numbers_;
  index_t at_ = 0;  // the node at hand
  graph_error error_;
};

/// The graph that a JSON text of nodes describes. O(text).
///
///   {"name": "...",
///    "nodes": [{"name": "x", "kind": "input", "bytes": 64},
///              {"name": "conv", "inputs": ["x"], "bytes": 4096, "workspace": 128},
///              {"name": "relu", "inputs": ["conv"], "bytes": 4096, "overwrites": "conv"},
///              {"name": "split", "inputs": ["relu"], "bytes": [1024, 3072]},
///              {"name": "item", "inputs": ["split"], "view_of": "split", "element": 1},
///              {"name": "add_", "inputs": ["item", "x"], "view_of": "item", "updates": "item", "after": ["conv"]},
///              {"name": "output", "kind": "output", "inputs": ["add_"]}]}
///
/// * A node without kind is an operator, and its result one value of `bytes`, or one for each in a list. An input lives from
///   the start to its last reader. Values that an output reads live to the end; it does not run.
/// * `inputs` names nodes, all of whose values are read; with `element` the one at that position. Names may point forward.
/// * A node with `view_of` names the storages that it is a view of (a name or a list of names, which must be inputs and
///   stand before it), and has no bytes.
/// * `updates` names inputs that the node changes in place (see graph_traits); `overwrites` those whose
///   storage its results may take, in their order; `after` operators that run before.
/// * Bytes that are null or absent are unknown, which is an error if they matter.
/// * `op`, `shape` and `type` are notes, as are keys that begin with "x-". Any other key of a node is an error that names
///   the nearest known one; beside `nodes`, a key that is one or two letters away from it or from `name`. A key given twice
///   is an error.
/// An error names the node, as in "nodes[3] 'split'.inputs: there is no node 'rely'".
inline result<node_graph> read_nodes(std::string_view text) { return node_reader().run(text); }

namespace detail {

/// Stops at the first key of the outermost object that says which kind of graph a text holds.
struct node_text_scan : nlohmann::json_sax<nlohmann::json> {
  bool is_nodes = false;
  std::size_t depth = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return ++depth, true; }
  bool end_object() override { return --depth, true; }
  bool start_array(std::size_t) override { return ++depth, true; }
  bool end_array() override { return --depth, true; }
  bool key(string_t& name) override {
    is_nodes = depth == 1 && name == "nodes";
    return !is_nodes && !(depth == 1 && (name == "ops" || name == "tensors"));
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }
};

}  // namespace detail

/// Whether a JSON text is for `read_nodes` rather than for `read_json`: it has "nodes", and neither "ops" nor "tensors"
/// before it.
inline bool is_node_text(std::string_view text) {
  detail::node_text_scan scan;
  nlohmann::json::sax_parse(text.begin(), text.end(), &scan);
  return scan.is_nodes;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
