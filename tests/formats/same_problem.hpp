// Checks that a typed network is the draft of the same file, operator for operator.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/formats/model.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/network/check.hpp>

/// Names, sizes, uses, aliases, what may be overwritten, and the peak of the order of the file.
inline void check_same_problem(const memsched::network& net, const memsched::problem_draft& d) {
  using namespace memsched;
  const auto sound = check_network(net);
  INFO(sound.message);
  REQUIRE(sound.message.empty());
  REQUIRE(net.operations.size() == d.operators.size());
  REQUIRE(net.tensors.size() >= d.tensors.size());
  std::set<tensor_id> inputs(d.graph_inputs.begin(), d.graph_inputs.end());
  std::set<tensor_id> outputs(d.graph_outputs.begin(), d.graph_outputs.end());
  for (tensor_id t = 0; t < d.tensors.size(); ++t) {
    INFO(d.tensor_names[t]);
    CHECK(net.tensors[t].name == d.tensor_names[t]);
    CHECK(net.tensors[t].bytes() == d.tensors[t].size);
    CHECK((net.tensors[t].alias_of == d.tensors[t].alias_of || net.tensors[t].alias_of == none));
    CHECK(net.tensors[t].input == inputs.contains(t));
    CHECK(net.tensors[t].output == outputs.contains(t));
  }
  for (tensor_id t = static_cast<tensor_id>(d.tensors.size()); t < net.tensors.size(); ++t)
    CHECK(net.tensors[t].role == tensor_role::token);
  const auto set = [](const auto& list) { return std::set<tensor_id>(list.begin(), list.end()); };
  for (op_id i = 0; i < d.operators.size(); ++i) {
    INFO(d.operator_names[i]);
    CHECK(net.operator_name(i) == d.operator_names[i]);
    CHECK(set(net.inputs(i)) == set(d.reads[i]));
    if (d.writes[i].empty()) CHECK(net.outputs(i).size() == 1);
    else CHECK(net.outputs(i) == std::vector<tensor_id>(d.writes[i].begin(), d.writes[i].end()));
    CHECK(set(net.after(i)) == set(d.after[i]));
    CHECK(net.operations[i].overwrites == d.operators[i].overwrites);
  }
  const auto as_read = make_problem(d);
  const auto as_network = lower(net);
  REQUIRE(as_read);
  INFO(as_network.error().message);
  REQUIRE(as_network);
  std::vector<op_id> order(d.operators.size());
  for (op_id i = 0; i < order.size(); ++i) order[i] = i;
  const auto first = evaluate(*as_read, order), second = evaluate(as_network->problem, order);
  REQUIRE(bool(first) == bool(second));
  if (first) CHECK(first->peak == second->peak);
}
