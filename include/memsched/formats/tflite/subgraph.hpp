// The subgraphs of a TensorFlow Lite model: their lists, the subgraphs that they run, and their constants.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/formats/tflite/kinds.hpp>
#include <memsched/formats/tflite/metadata.hpp>
#include <memsched/formats/tflite/tables.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// An operator that runs subgraphs, and where its options name them.
struct call_rule {
  kind_id kind;
  bool second_union;  ///< its options are in builtin_options_2
  std::uint8_t tag;   ///< their number in the union
  field first;
  std::optional<field> second{};
  bool loop = false;          ///< the first decides whether the second runs once more on its results
  std::size_t arguments = 0;  ///< the input of the operator with which those of the subgraph start
  bool hands_on = true;       ///< whether the subgraph gets inputs at all
};

inline constexpr call_rule call_rules[] = {
    {kind("CALL"), false, 16, {0, "subgraph"}},
    {kind("IF"), false, 92, {0, "then_subgraph_index"}, field{1, "else_subgraph_index"}, false, 1},
    {kind("WHILE"), false, 93, {0, "cond_subgraph_index"}, field{1, "body_subgraph_index"}, true},
    {kind("CALL_ONCE"), false, 103, {0, "init_subgraph_index"}, {}, false, 0, false},
    {kind("STABLEHLO_WHILE"), true, 15, {0, "cond_subgraph_index"}, field{1, "body_subgraph_index"}, true},
    {kind("STABLEHLO_COMPOSITE"), true, 21, {1, "decomposition_subgraph_index"}}};

/// Where the contents of a tensor come from.
enum class origin : unsigned char { nowhere, constant, input, variable, produced };

struct operator_info {
  table data;
  kind_id kind = 0;
  std::uint32_t code = 0;                ///< position in operator_codes
  std::vector<index_t> inputs, outputs;  ///< tensors of the subgraph, absent ones left out
  const call_rule* rule = nullptr;       ///< of an operator that runs subgraphs
  std::vector<std::size_t> runs;         ///< these, in the order of the rule
  bool folded = false;                   ///< computed from constants alone
};

/// One subgraph, its indices checked.
struct subgraph_info {
  table data;
  std::vector<table> tensors;
  std::vector<origin> origins;
  std::vector<operator_info> operators;
  std::vector<index_t> inputs, outputs;
  std::vector<control_edge> edges;    ///< of the metadata model_control_dependencies
  std::vector<bool> given_constants;  ///< per input: whether each operator that runs the subgraph hands a constant on
  bool loop_condition = false;        ///< decides about another turn: its inputs are needed after it

  bool constant(index_t t) const { return origins[t] == origin::constant; }
};

/// The subgraphs that subgraph 0 runs, directly or not, and itself.
class model_file {
 public:
  explicit model_file(std::string_view bytes) : file(bytes) {}

  /// Reads everything; false if the file has a fault.
  bool read() {
    const table model = root = file.root();
    if (const auto v = file.number<std::uint32_t>(model, model_fields::version); v != 3)
      file.fault(error_code::bad_input, "version: is " + std::to_string(v) + ", but only 3 is known");
    codes = file.children(model, model_fields::operator_codes);
    tables_ = file.children(model, model_fields::subgraphs);
    buffers = file.children(model, model_fields::buffers);
    if (!file.failed() && tables_.empty()) file.fault(error_code::bad_input, "subgraphs: the model has none");
    subgraphs.resize(tables_.size());
    state_.resize(tables_.size());
    if (!file.failed()) read_metadata();
    if (!file.failed()) visit(0);
    std::reverse(callers_first.begin(), callers_first.end());
    for (const std::size_t s : callers_first)
      if (!file.failed()) find_constants(s);
    return !file.failed();
  }

  /// A tensor in a message: its name without characters that might break the line.
  std::string label(const table& t) {
    std::string name = file.text(t, tensor_fields::name).substr(0, 100);
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    return "tensor '" + name + "'";
  }

  /// The kind of an operator in words: that of a custom one is its own.
  std::string kind_of(const operator_info& op) {
    const std::string own = op.kind == custom ? file.text(codes[op.code], code_fields::custom_code) : std::string();
    return own.empty() ? kind_name(op.kind) : own;
  }

  /// Control dependencies of a subgraph, from the metadata.
  std::vector<control_edge> control_edges(std::size_t s) const {
    return s < edges_.size() ? edges_[s] : std::vector<control_edge>();
  }
  /// All subgraphs of the file, also those that do not run.
  const std::vector<table>& listed() const { return tables_; }

  /// Whether a tensor's contents are in the file, or in an external one.
  bool holds_data(const table& t) {
    if (file.number<std::uint32_t>(t, tensor_fields::external_buffer) != 0) return true;
    const auto b = file.number<std::uint32_t>(t, tensor_fields::buffer);
    if (b == 0) return false;  // the empty one, by convention
    if (b >= buffers.size())
      return file.lacks(error_code::bad_input, t.where.text(tensor_fields::buffer), "buffer", b, buffers.size());
    const table& buffer = buffers[b];
    if (file.length(buffer, buffer_fields::data) > 0) return true;
    const auto from = file.number<std::uint64_t>(buffer, buffer_fields::offset);
    const auto count = file.number<std::uint64_t>(buffer, buffer_fields::size);
    if (from <= 1 || count == 0) return false;
    if (from > file.size() || count > file.size() - from)
      return file.fault(error_code::bad_input, buffer.where.text() + ": its data lies past the end of the file");
    return true;
  }

  /// The data of a buffer, in the tables or after them.
  std::string_view content(const table& buffer) {
    const std::string_view inside = file.content(buffer, buffer_fields::data);
    const auto from = file.number<std::uint64_t>(buffer, buffer_fields::offset);
    const auto count = file.number<std::uint64_t>(buffer, buffer_fields::size);
    if (!inside.empty() || from <= 1 || from > file.size() || count > file.size() - from) return inside;
    return file.bytes().substr(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
  }

  untrusted_file file;
  table root;
  std::vector<table> codes, buffers;
  std::vector<metadata_entry> metadata;
  std::vector<subgraph_info> subgraphs;    ///< by index; empty if it does not run
  std::vector<std::size_t> callers_first;  ///< the subgraphs that run, 0 first

 private:
  enum class visit_state : unsigned char { unseen, open, done };

  // Metadata -------------------------------------------------------------------------------------------------------

  void read_metadata() {
    for (const table& t : file.children(root, model_fields::metadata)) {
      metadata_entry entry{t, file.text(t, metadata_fields::name), file.number<std::uint32_t>(t, metadata_fields::buffer)};
      if (entry.buffer >= buffers.size()) {
        file.lacks(error_code::bad_input, t.where.text(metadata_fields::buffer), "buffer", entry.buffer, buffers.size());
        return;
      }
      entry.content = content(buffers[entry.buffer]);
      metadata.push_back(std::move(entry));
    }
    // Runtimes take the last entry of a name.
    for (const metadata_entry& entry : metadata)
      if (entry.name == control_dependencies) {
        auto edges = read_control_edges(entry.content);
        if (!edges || edges->size() != tables_.size())
          file.fault(error_code::bad_input, entry.where.where.text() + ": its control dependencies are damaged");
        else edges_ = std::move(*edges);
      }
  }

  // Lists ----------------------------------------------------------------------------------------------------------

  /// Loads a subgraph and, before it enters the list, those that it runs.
  void visit(std::size_t s) {
    state_[s] = visit_state::open;
    load(s);
    ++depth_;
    for (std::size_t i = 0; i < subgraphs[s].operators.size() && !file.failed(); ++i) {
      operator_info& op = subgraphs[s].operators[i];
      find_runs(op);
      for (std::size_t r = 0; r < op.runs.size() && !file.failed(); ++r) enter(op, r);
    }
    --depth_;
    state_[s] = visit_state::done;
    callers_first.push_back(s);
  }

  void enter(const operator_info& op, std::size_t r) {
    constexpr std::size_t deepest = 64;
    const std::size_t s = op.runs[r];
    const auto refuse = [&](const std::string& reason) {
      file.fault(error_code::bad_input, op.data.where.text(r == 0 ? op.rule->first : *op.rule->second) + ": " + reason);
    };
    if (state_[s] == visit_state::open) return refuse("subgraph " + std::to_string(s) + " runs itself");
    if (state_[s] == visit_state::done) return;
    if (depth_ == deepest) return refuse("subgraphs run each other more than " + std::to_string(deepest) + " deep");
    visit(s);
  }

  void load(std::size_t s) {
    using namespace subgraph_fields;
    subgraph_info& g = subgraphs[s];
    g.data = tables_[s];
    g.tensors = file.children(g.data, tensors);
    g.inputs = indices(g, g.data, inputs);
    g.outputs = indices(g, g.data, outputs);
    g.given_constants.assign(g.inputs.size(), true);
    for (const table& data : file.children(g.data, operators)) g.operators.push_back(read_operator(g, data));
    if (s >= edges_.size()) return;
    g.edges = edges_[s];
    for (const auto& [from, to] : g.edges)
      if (from >= to || to >= g.operators.size())
        file.fault(error_code::bad_input, g.data.where.text() + ": the control dependency of operator " +
                                              std::to_string(to) + " on operator " + std::to_string(from) +
                                              " does not lead to a later operator");
  }

  operator_info read_operator(const subgraph_info& g, const table& data) {
    using namespace operator_fields;
    operator_info op;
    op.data = data;
    op.code = file.number<std::uint32_t>(data, opcode_index);
    if (op.code >= codes.size()) {
      file.lacks(error_code::bad_input, data.where.text(opcode_index), "operator code", op.code, codes.size());
      return op;
    }
    const table& code = codes[op.code];
    // Numbers beyond 127 did not fit the old field, which then holds a placeholder.
    op.kind = std::max<kind_id>(file.number<std::int8_t>(code, code_fields::old_builtin),
                                file.number<kind_id>(code, code_fields::builtin));
    op.inputs = indices(g, data, inputs, true);
    op.outputs = indices(g, data, outputs);
    return op;
  }

  /// Tensors that a field lists. If they may be absent, -1 is left out.
  std::vector<index_t> indices(const subgraph_info& g, const table& owner, field f, bool optional = false) {
    std::vector<index_t> found;
    const std::vector<std::int32_t> listed = file.numbers(owner, f);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (optional && listed[i] == -1) continue;
      if (listed[i] < 0 || static_cast<std::size_t>(listed[i]) >= g.tensors.size()) {
        file.lacks(error_code::unknown_tensor, owner.where.text(f) + "[" + std::to_string(i) + "]", "tensor", listed[i],
                   g.tensors.size());
        return {};
      }
      found.push_back(static_cast<index_t>(listed[i]));
    }
    return found;
  }

  /// Reads which subgraphs an operator runs, if any.
  void find_runs(operator_info& op) {
    if (op.kind == kind("STABLEHLO_CASE"))
      file.fault(error_code::bad_input, op.data.where.text() + ": STABLEHLO_CASE is not supported");
    const auto rule =
        std::find_if(std::begin(call_rules), std::end(call_rules), [&](const call_rule& r) { return r.kind == op.kind; });
    if (rule == std::end(call_rules)) return;
    using namespace operator_fields;
    op.rule = rule;
    const field holder = rule->second_union ? options_2 : options;
    const table call_options = file.child(op.data, holder);
    const auto tag = file.number<std::uint8_t>(op.data, rule->second_union ? options_2_type : options_type);
    if (call_options.data == nullptr || tag != rule->tag) {
      file.fault(error_code::bad_input,
                 op.data.where.text(holder) + ": " + kind_name(op.kind) + " has no options of its kind");
      return;
    }
    add_run(op, call_options, rule->first);
    if (rule->second) add_run(op, call_options, *rule->second);
  }

  void add_run(operator_info& op, const table& call_options, field f) {
    const auto s = file.number<std::int32_t>(call_options, f);
    if (file.failed()) return;
    if (s < 0 || static_cast<std::size_t>(s) >= tables_.size())
      file.lacks(error_code::bad_input, op.data.where.text(f), "subgraph", s, tables_.size());
    else op.runs.push_back(static_cast<std::size_t>(s));
  }

  // Constants ------------------------------------------------------------------------------------------------------

  /// Marks the constants of a subgraph all of whose callers are done, and tells those that it runs.
  void find_constants(std::size_t s) {
    subgraph_info& g = subgraphs[s];
    find_origins(g, s > 0);
    for (const operator_info& op : g.operators)
      for (index_t t : op.outputs) mark_produced(g, op, t);
    for (index_t t = 0; t < g.tensors.size(); ++t)
      if (g.origins[t] == origin::nowhere) {
        const auto dims = file.numbers(g.tensors[t], tensor_fields::shape);
        if (std::find(dims.begin(), dims.end(), 0) != dims.end()) g.origins[t] = origin::constant;
      }
    if (file.failed()) return;
    std::vector<bool> controlled(g.operators.size(), false);
    for (const auto& [from, to] : g.edges) controlled[from] = controlled[to] = true;
    for (std::size_t i = 0; i < g.operators.size(); ++i) {
      operator_info& op = g.operators[i];
      if (op.rule != nullptr) {
        hand_on(g, op);
        continue;
      }
      op.folded = !controlled[i] && !op.inputs.empty() && !among(unfoldable, op.kind) && !among(stateful, op.kind) &&
                  !among(random, op.kind) &&
                  std::all_of(op.inputs.begin(), op.inputs.end(), [&](index_t t) { return g.constant(t); });
      if (op.folded)
        for (index_t t : op.outputs) g.origins[t] = origin::constant;
    }
  }

  void find_origins(subgraph_info& g, bool called) {
    for (const table& t : g.tensors) {
      const bool variable = file.number<std::uint8_t>(t, tensor_fields::is_variable) != 0;
      g.origins.push_back(variable ? origin::variable : holds_data(t) ? origin::constant : origin::nowhere);
    }
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      if (origin& o = g.origins[g.inputs[i]]; o == origin::nowhere)
        o = called && g.given_constants[i] ? origin::constant : origin::input;
  }

  void mark_produced(subgraph_info& g, const operator_info& op, index_t t) {
    const auto refuse = [&](error_code code, const char* reason) {
      file.fault(code, op.data.where.text(operator_fields::outputs) + ": " + label(g.tensors[t]) + " " + reason);
    };
    switch (std::exchange(g.origins[t], origin::produced)) {
      case origin::nowhere: return;
      case origin::constant: return refuse(error_code::produced_input, "is a constant");
      case origin::variable: return refuse(error_code::produced_input, "is a variable");
      case origin::input: return refuse(error_code::produced_input, "is an input of the subgraph");
      case origin::produced: return refuse(error_code::two_producers, "is written twice");
    }
  }

  /// An input of a subgraph is constant if all that run it hand a constant on. In a loop the second subgraph must return
  /// it as it came; then the loop's result for it is constant too.
  void hand_on(subgraph_info& g, const operator_info& op) {
    for (std::size_t r = 0; r < op.runs.size(); ++r) {
      subgraph_info& inner = subgraphs[op.runs[r]];
      inner.loop_condition |= op.rule->loop && r == 0;
      for (std::size_t i = 0; i < inner.inputs.size(); ++i)
        if (!hands_constant(g, op, i, inner.inputs.size())) inner.given_constants[i] = false;
    }
    if (!op.rule->loop || op.runs.size() != 2) return;
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      if (hands_constant(g, op, i, subgraphs[op.runs[1]].inputs.size())) g.origins[op.outputs[i]] = origin::constant;
  }

  /// Whether an operator hands a constant on as input i of a subgraph with `count` inputs.
  bool hands_constant(const subgraph_info& g, const operator_info& op, std::size_t i, std::size_t count) const {
    const std::size_t from = op.rule->arguments;
    if (!op.rule->hands_on || op.inputs.size() != count + from || !g.constant(op.inputs[from + i])) return false;
    if (!op.rule->loop || op.runs.size() != 2) return true;
    const subgraph_info& body = subgraphs[op.runs[1]];
    return i < body.inputs.size() && i < body.outputs.size() && body.inputs[i] == body.outputs[i];
  }

  std::vector<table> tables_;
  std::vector<std::vector<control_edge>> edges_;
  std::vector<visit_state> state_;
  std::size_t depth_ = 0;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
