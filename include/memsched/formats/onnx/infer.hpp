// The type, shape and, if small and constant, the value of each tensor of an ONNX graph, operator after operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <memsched/formats/onnx/call.hpp>
#include <memsched/formats/onnx/draft.hpp>
#include <memsched/formats/onnx/fold.hpp>
#include <memsched/formats/onnx/guard.hpp>
#include <memsched/formats/onnx/newer.hpp>
#include <memsched/formats/onnx/operator_rules.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Infers one model's graphs. Failures leave as import_failure.
class inference {
 public:
  /// `graphs` gets the graphs that operators hold, each after the one that holds it.
  inference(const onnx::ModelProto& model, model_graphs& graphs) : graphs_(graphs) {
    for (const auto& o : model.opset_import()) {
      constexpr std::int64_t newest = 1 << 20, newest_of_onnx = 26;
      if (domain_of(o.domain()).empty() && o.version() > newest_of_onnx)
        refuse("the file is for operator set " + std::to_string(o.version()) + " of ONNX; known are those up to " +
               std::to_string(newest_of_onnx));
      if (o.version() < 1 || o.version() > newest)
        refuse("the version of operator set " + in_quotes(o.domain()) + " is " + std::to_string(o.version()));
      opsets_[domain_of(o.domain())] = static_cast<int>(o.version());
    }
    for (const auto& f : model.functions()) functions_.insert(domain_of(f.domain()) + ":" + f.name());
  }

  /// Defines the initializers of a graph, and notes its declarations of other tensors.
  void open(const onnx::GraphProto& graph, scope& here) const {
    for (const auto& t : graph.initializer()) add_weight(t.name(), t, {t.dims().begin(), t.dims().end()}, here);
    for (const auto& t : graph.sparse_initializer())
      add_weight(t.values().name(), t.values(), {t.dims().begin(), t.dims().end()}, here);
    for (const auto* list : {&graph.value_info(), &graph.output()})
      for (const auto& x : *list)
        if (!x.name().empty()) here.declared.emplace(x.name(), &x.type());
  }

  /// Defines the outputs of an operator all of whose inputs are defined.
  outcome infer(const onnx::NodeProto& node, int position, scope& here, const location& around) {
    const std::string who = label(node, position);
    call c{node, who, here, {}, {}, {}, around};
    c.where.place += (c.where.place.empty() ? "" : ".") + who;
    c.where.path.push_back(static_cast<index_t>(position));
    const std::size_t graphs_before = graphs_.size();
    for (const auto& name : node.input()) c.inputs.push_back(name.empty() ? nullptr : lookup(name, who, here));

    outcome result;
    name_list captured;
    const onnx::GraphProto* branch = chosen_branch(c);
    if (branch) add_captured(*branch, captured);
    else for_each_graph(node, [&](const auto& graph) { add_captured(graph, captured); });
    result.captured = captured.names();

    std::vector<value> outputs;
    if (branch) {
      body taken = infer_body(*branch, c, {});
      result.runs = {taken.graph};
      outputs = std::move(taken.outputs);
      if (outputs.size() != static_cast<std::size_t>(node.output_size()))
        refuse(who + " has " + std::to_string(node.output_size()) + " outputs, its branch " +
               std::to_string(outputs.size()));
    } else {
      outputs = infer_outputs(c, result);
    }
    for (int i = 0; i < node.output_size(); ++i) {
      value& v = outputs[static_cast<std::size_t>(i)];
      v.id = none;
      v.producer = position;
      v.after.clear();
      if (!node.output(i).empty()) define(node.output(i), v, who, here);
    }
    result.alias = is_alias(c);
    if (std::all_of(outputs.begin(), outputs.end(), [](const value& v) { return v.constant; }) && !outputs.empty()) {
      graphs_.resize(graphs_before);  // makes weights
      result.runs.clear();
    }
    return result;
  }

  /// The value of a name; refuses one that is not defined.
  static const value* lookup(const std::string& name, const std::string& who, const scope& here) {
    const value* v = here.find(name);
    if (!v)
      refuse(who + " reads " + in_quotes(name) + ", which is no operator's output, no graph input and no initializer",
             error_code::no_producer);
    return v;
  }

  static void define(const std::string& name, value v, const std::string& who, scope& here) {
    const auto [at, fresh] = here.values.try_emplace(name, std::move(v));
    if (fresh) return;
    const value& old = at->second;
    if (old.producer >= 0)
      refuse(who + " writes " + in_quotes(name) + ", which operator " + std::to_string(old.producer) + " writes too",
             error_code::two_producers);
    if (old.constant) refuse(who + " defines " + in_quotes(name) + ", which is an initializer too");
    refuse(who + " defines " + in_quotes(name) + ", which is a graph input too", error_code::produced_input);
  }

  /// Completes v by a shape that must be fixed, as an activation's.
  static void make_activation(value& v, const partial& p, const std::string& who) {
    v.size = size_of(p, who);
    v.type = p.type;
    v.shape = p.dims;
  }

 private:
  static void add_weight(const std::string& name, const onnx::TensorProto& t, dimensions dims, scope& here) {
    if (name.empty()) refuse("an initializer has no name");
    if (dims.size() > max_rank) refuse("initializer " + in_quotes(name) + " has more than 64 dimensions");
    if (std::any_of(dims.begin(), dims.end(), [](auto d) { return d < 0 || d > max_dimension; }))
      refuse("initializer " + in_quotes(name) + " has the shape " + to_string(partial{t.data_type(), true, dims}));
    value v{.type = t.data_type(), .constant = true};
    v.content = read_literal(t);
    if (v.content && v.content->dims != dims) v.content.reset();  // the values of a sparse one
    v.shape = std::move(dims);
    if (!here.values.try_emplace(name, std::move(v)).second) refuse("two initializers are named " + in_quotes(name));
  }

  /// Types, values and workspace of an operator's outputs.
  std::vector<value> infer_outputs(call& c, outcome& result) {
    const auto count = static_cast<std::size_t>(c.node.output_size());
    const bool constant = is_constant(c, result.captured);
    c.types.resize(count);
    const bool known = infer_types(c);
    result.runs = runs(c);

    std::vector<std::optional<dimensions>> shapes(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& name = c.node.output(static_cast<int>(i));
      for (auto [at, end] = c.here.declared.equal_range(name); at != end; ++at)
        merge(c.types[i], facts(*at->second, tensor_label(name, c)), tensor_label(name, c), "the file declares");
      if (c.types[i].fixed()) shapes[i] = c.types[i].dims;
    }
    check_element_counts(c);

    std::vector<value> outputs(count);
    if (constant) {
      std::vector<literal> contents = fold(c, shapes);
      for (std::size_t i = 0; i < count; ++i) {
        outputs[i] = {.type = c.types[i].type, .shape = shapes[i], .constant = true};
        if (shapes[i] && (!element_count(*shapes[i], static_cast<std::int64_t>(base::max_total)) ||
                          std::any_of(shapes[i]->begin(), shapes[i]->end(), [](auto d) { return d > max_dimension; })))
          refuse(tensor_label(c.node.output(static_cast<int>(i)), c) + " " + to_string(c.types[i]) +
                     " has a dimension of more than 2^40, or more than 2^61 elements",
                 error_code::overflow);
        if (i >= contents.size()) continue;
        outputs[i].type = contents[i].type;
        outputs[i].shape = contents[i].dims;
        outputs[i].content = std::move(contents[i]);
      }
      return outputs;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& name = c.node.output(static_cast<int>(i));
      if (name.empty()) continue;
      if (!c.types[i].fixed()) refuse_open_shape(c, tensor_label(name, c), c.types[i], known);
      make_activation(outputs[i], c.types[i], tensor_label(name, c));
    }
    return outputs;
  }

  [[noreturn]] static void refuse_open_shape(const call& c, const std::string& who, const partial& p, bool known) {
    if (known) refuse(who + " has no static shape: it is " + to_string(p));
    refuse(who +
           " has no known shape: " + in_quotes(c.node.domain() + (c.node.domain().empty() ? "" : ".") + c.node.op_type()) +
           " is no operator that this ONNX library knows, and the file declares no static shape");
  }

  /// Whether an operator makes weights of weights. Shapes are static, so an operator that reads only a shape makes a
  /// constant too.
  static bool is_constant(const call& c, const std::vector<std::string>& captured) {
    static const std::unordered_set<std::string> random{"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                                        "RandomUniformLike", "Multinomial",   "Bernoulli"};
    const std::string& op = c.node.op_type();
    if (op == "Shape" || op == "Size") return true;
    if (one_of(op, random) || holds_random(c.node, random)) return false;
    const auto constant = [](const value* v) { return !v || v->constant; };
    return std::all_of(c.inputs.begin(), c.inputs.end(), constant) &&
           std::all_of(captured.begin(), captured.end(),
                       [&](const auto& name) { return lookup(name, c.who, c.here)->constant; });
  }

  /// Fills `c.types` as far as the operator's definition says; false if it has none here.
  bool infer_types(call& c) {
    const std::string domain = domain_of(c.node.domain());
    if (functions_.count(domain + ":" + c.node.op_type()))
      refuse(c.who + " calls " + in_quotes(c.node.op_type()) + ", a function of the file; those are not supported");
    if (domain == "com.microsoft") {
      if (c.node.op_type() == "FusedConv") return infer_fused_convolution(c);
      if (newer_operator(c.node, c.inputs, c.types, c.who).infer_contributed()) return true;
    }
    const auto opset = opsets_.find(domain);
    if (opset == opsets_.end() && domain.empty())
      refuse("the file imports no operator set of ONNX, which " + c.who + " needs");
    if (opset == opsets_.end()) return false;
    onnx::NodeProto adapted;
    const onnx::NodeProto* node = &c.node;
    std::string op = c.node.op_type();
    if (domain.empty() && opset->second > newest_opset) {
      if (newer_operator(c.node, c.inputs, c.types, c.who).infer_standard()) return true;
      adapted = adapt(c.node);
      node = &adapted;
      op = adapted.op_type();
    }
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op, opset->second, domain);
    if (!schema) return false;
    run_inference(c, *schema, *node, opset->second);
    if (op == "Einsum") infer_einsum(c);
    if (op == "Dropout") complete_dropout(c);
    if (op == "Loop") fix_loop_shapes(c);
    return true;
  }

  void run_inference(call& c, const onnx::OpSchema& schema, const onnx::NodeProto& node, int opset) {
    const infer_graph infer = [this](const auto& graph, const call& owner, const auto& formals) {
      return infer_body(graph, owner, formals);
    };
    context ctx(infer, c, node);
    try {
      schema.Verify(node);
      guard(node, c.inputs, c.who).run();
      if (schema.has_type_and_shape_inference_function()) schema.GetTypeAndShapeInferenceFunction()(ctx);
      else if (schema.HasFunction())
        onnx::shape_inference::InferShapeForFunctionNode(*schema.GetFunction(), onnx::OpSchemaRegistry::Instance(), ctx);
    } catch (const std::exception& e) {
      const std::string newer = opset > newest_opset && domain_of(node.domain()).empty()
                                    ? " (opset " + std::to_string(opset) + "; known here up to 17)"
                                    : "";
      refuse(c.who + ": " + base::one_line(e.what()) + newer);
    }
    for (std::size_t i = 0; i < c.types.size(); ++i)
      c.types[i] = facts(*ctx.getOutputType(i), tensor_label(node.output(static_cast<int>(i)), c));
  }

  /// A convolution with an activation and a summand, as a convolution.
  bool infer_fused_convolution(call& c) {
    onnx::NodeProto plain = c.node;
    plain.set_op_type("Conv");
    plain.clear_domain();
    if (plain.input_size() > 3) plain.mutable_input()->DeleteSubrange(3, plain.input_size() - 3);
    auto& list = *plain.mutable_attribute();
    list.erase(std::remove_if(list.begin(), list.end(), [](const auto& a) { return a.name().starts_with("activation"); }),
               list.end());
    constexpr int opset = 11;
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema("Conv", opset, "");
    if (schema) run_inference(c, *schema, plain, opset);
    return schema != nullptr;
  }

  /// The graphs that an operator holds.
  static std::vector<std::size_t> runs(const call& c) {
    std::size_t graphs = 0;
    for_each_graph(c.node, [&](const auto&) { ++graphs; });
    if (graphs != c.bodies.size()) refuse(c.who + " holds a graph whose memory is not known");
    std::vector<std::size_t> found;
    for (const body& b : c.bodies) found.push_back(b.graph);
    return found;
  }

  /// Infers a graph that an operator holds, given its inputs.
  body infer_body(const onnx::GraphProto& graph, const call& c, const std::vector<partial>& formals) {
    body result;
    result.graph = graphs_.size();
    graphs_.emplace_back();
    try {
      scope here{&c.here};
      open(graph, here);
      draft_maker maker(graph, here, inside(c, graph));
      add_formals(graph, here, formals, maker);
      const auto order = execution_order(graph);
      if (!order) refuse("its operators wait for each other", error_code::cycle);
      for (int position : *order)
        maker.add_operator(graph.node(position), position, infer(graph.node(position), position, here, maker.where));
      for (const auto& x : graph.output()) result.outputs.push_back(*lookup(x.name(), "its output", here));
      graphs_[result.graph] = maker.finish();
      return result;
    } catch (import_failure& f) {
      f.error.message = "in a graph of " + c.who + ": " + f.error.message;
      throw;
    }
  }

  /// Where a graph that an operator holds stands.
  static location inside(const call& c, const onnx::GraphProto& graph) {
    location found = c.where;
    index_t ordinal = 0;
    for (const auto& a : c.node.attribute()) {
      const auto here = [&](const onnx::GraphProto& g) {
        if (&g == &graph) {
          found.place += "." + base::one_line(a.name(), 60);
          found.path.push_back(ordinal);
        }
        ++ordinal;
      };
      if (a.has_g()) here(a.g());
      for (const auto& g : a.graphs()) here(g);
    }
    return found;
  }

  static void add_formals(const onnx::GraphProto& graph, scope& here, const std::vector<partial>& formals,
                          draft_maker& maker) {
    std::size_t at = 0;
    for (const auto& x : graph.input()) {
      if (const auto found = here.values.find(x.name()); found != here.values.end() && found->second.constant) continue;
      const std::string who = "graph input " + in_quotes(x.name());
      if (at == formals.size()) refuse("it has more inputs than the operator gives");
      partial p = formals[at++];
      merge(p, facts(x.type(), who), who, "declared as");
      if (!p.fixed()) refuse(who + " has no static shape: it is " + to_string(p));
      value v;
      make_activation(v, p, who);
      maker.add_input(x.name(), v);
      define(x.name(), std::move(v), who, here);
    }
    if (at != formals.size()) refuse("it has fewer inputs than the operator gives");
  }

  /// The outputs' values, as far as constants are followed; at most `fold_budget` elements in one model.
  std::vector<literal> fold(const call& c, const std::vector<std::optional<dimensions>>& shapes) {
    if (!domain_of(c.node.domain()).empty() || fold_budget_ <= 0) return {};
    std::vector<literal> contents = shape_as_literal(c);
    if (contents.empty()) {
      std::vector<const literal*> inputs;
      for (const value* v : c.inputs) inputs.push_back(v && v->content ? &*v->content : nullptr);
      contents = folder(c.node, inputs, shapes).run();
    }
    for (const literal& l : contents) fold_budget_ -= static_cast<std::int64_t>(l.values.size()) + 1;
    return contents;
  }

  static constexpr int newest_opset = 17;  // of ONNX 1.12

  model_graphs& graphs_;
  std::unordered_map<std::string, int> opsets_;
  std::unordered_set<std::string> functions_;
  std::int64_t fold_budget_ = std::int64_t{1} << 22;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
