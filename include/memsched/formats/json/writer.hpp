// The writer of graphs as JSON text. Opt-in: needs nlohmann-json.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class json_graph_writer {
 public:
  explicit json_graph_writer(const problem_draft& draft) : d_(draft) {}

  std::string run() {
    out_ = "{";
    if (!d_.name.empty()) out_ += "\"name\": " + quoted(d_.name) + ",\n ";
    out_ += "\"ops\": [";
    for (op_id op = 0; op < d_.operators.size(); ++op) add_operator(op);
    out_ += "\n ],\n \"tensors\": [";
    for (tensor_id t = 0; t < d_.tensors.size(); ++t) add_tensor(t);
    out_ += "\n ],\n \"graph_inputs\": ";
    add_list(d_.graph_inputs);
    out_ += ", \"graph_outputs\": ";
    add_list(d_.graph_outputs);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void add_operator(op_id op) {
    const problem_draft::operator_data& data = d_.operators[op];
    open_line(op);
    add_name(d_.operator_names, op);
    out_ += "\"inputs\": ";
    add_list(d_.reads[op]);
    out_ += ", \"outputs\": ";
    add_list(d_.writes[op]);
    if (data.workspace != 0) out_ += ", \"workspace\": " + std::to_string(data.workspace);
    if (data.overwrites != none) {
      out_ += ", \"inplace\": " + std::to_string(position(d_.reads[op], data.overwrites));
    }
    add_overwrites(op);
    add_updates(op);
    if (!d_.after[op].empty()) {
      out_ += ", \"after\": ";
      add_list(d_.after[op]);
    }
    if (data.rule) out_ += *data.rule == firing::pbc ? ", \"firing\": \"pbc\"" : ", \"firing\": \"cbp\"";
    if (data.scope != none) out_ += ", \"scope\": \"" + std::to_string(data.scope) + "\"";
    if (data.cost != 1) out_ += ", \"cost\": " + std::to_string(data.cost);
    if (!data.pure) out_ += ", \"pure\": false";
    out_ += "}";
  }

  static std::ptrdiff_t position(std::span<const tensor_id> list, tensor_id t) {
    return std::find(list.begin(), list.end(), t) - list.begin();
  }
  void add_overwrites(op_id op) {
    if (op >= d_.overwrites.size() || d_.overwrites[op].empty()) return;
    out_ += ", \"overwrites\": ";
    add_items(d_.overwrites[op], [&](const auto& o) {
      const auto output = position(d_.writes[op], o.output), input = position(d_.reads[op], o.input);
      return "[" + std::to_string(output) + ", " + std::to_string(input) + "]";
    });
  }
  void add_updates(op_id op) {
    if (op >= d_.updates.size() || d_.updates[op].empty()) return;
    out_ += ", \"updates\": ";
    add_items(d_.updates[op], [&](tensor_id t) { return std::to_string(position(d_.reads[op], t)); });
  }

  void add_tensor(tensor_id t) {
    open_line(t);
    add_name(d_.tensor_names, t);
    out_ += "\"bytes\": " + std::to_string(d_.tensors[t].size);
    if (d_.tensors[t].alias_of != none) out_ += ", \"alias_of\": " + std::to_string(d_.tensors[t].alias_of);
    out_ += "}";
  }

  void open_line(index_t i) { out_ += i == 0 ? "\n  {" : ",\n  {"; }

  void add_name(const std::vector<std::string>& names, index_t i) {
    if (i < names.size() && !names[i].empty()) out_ += "\"name\": " + quoted(names[i]) + ", ";
  }

  void add_list(std::span<const index_t> list) {
    add_items(list, [](index_t i) { return std::to_string(i); });
  }
  template <class T, class Text>
  void add_items(std::span<const T> list, Text&& text) {
    out_ += "[";
    for (std::size_t i = 0; i < list.size(); ++i) out_ += (i == 0 ? "" : ", ") + text(list[i]);
    out_ += "]";
  }

  /// Bytes that are no UTF-8 become U+FFFD.
  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  const problem_draft& d_;
  std::string out_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
