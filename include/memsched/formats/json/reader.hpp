// The reader of graphs as JSON text. Opt-in: needs nlohmann-json.
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

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// A JSON value as far as graphs care; of a list or an object only that it opens here.
struct json_value {
  enum class kind : unsigned char { null, boolean, whole, fraction, huge, string, list, object };
  kind type = kind::null;
  bool negative = false;           ///< of a number
  std::uint64_t magnitude = 0;     ///< of a whole number
  std::string* text = nullptr;     ///< of a string; may be moved from

  bool opens() const { return type == kind::list || type == kind::object; }
  bool minus_one() const { return type == kind::whole && negative && magnitude == 1; }

  std::string describe() const {
    switch (type) {
      case kind::null: return "null";
      case kind::boolean: return "a boolean";
      case kind::whole: return (negative ? "-" : "") + std::to_string(magnitude);
      case kind::fraction: return "a fraction";
      case kind::huge: return "a number too large";
      case kind::string: return "a string";
      case kind::list: return "a list";
      case kind::object: return "an object";
    }
    return {};
  }
};

struct json_key {
  std::string_view name;
  bool required = false;
};

/// Takes the events of a JSON text and builds a draft: no tree in between, so depth and unknown keys cost nothing.
class json_graph_reader {
  using library = nlohmann::json;
  using kind = json_value::kind;

 public:
  bool null() { return take({}); }
  bool boolean(bool) { return take({.type = kind::boolean}); }
  bool number_integer(library::number_integer_t n) {
    const auto bits = static_cast<std::uint64_t>(n);
    return take({.type = kind::whole, .negative = n < 0, .magnitude = n < 0 ? 0 - bits : bits});
  }
  bool number_unsigned(library::number_unsigned_t n) { return take({.type = kind::whole, .magnitude = n}); }
  bool number_float(library::number_float_t x, const std::string&) {
    constexpr double exact = 9007199254740992.0;  // 2^53: below, a double holds every whole number
    const double size = std::fabs(x);
    if (size != std::floor(size)) return take({.type = kind::fraction, .negative = x < 0});
    if (size >= exact) return take({.type = kind::huge, .negative = x < 0});
    return take({.type = kind::whole, .negative = x < 0, .magnitude = static_cast<std::uint64_t>(size)});
  }
  bool string(std::string& text) { return take({.type = kind::string, .text = &text}); }
  bool binary(library::binary_t&) { return false; }  // no JSON text holds one

  bool start_object(std::size_t) { return take({.type = kind::object}); }
  bool start_array(std::size_t) { return take({.type = kind::list}); }

  bool key(const std::string& name) {
    if (skipped_ > 0) return true;
    const auto keys = keys_here();
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const json_key& k) { return k.name == name; });
    key_ = found == keys.end() ? nullptr : &*found;
    if (key_ == nullptr) return true;
    const unsigned bit = 1U << (found - keys.begin());
    if ((seen_here() & bit) != 0) return fault(error_code::bad_input, "given twice");
    seen_here() |= bit;
    return true;
  }

  bool end_object() {
    if (skipped_ > 0) return --skipped_, true;
    key_ = nullptr;
    if (!nothing_missing()) return false;
    switch (at_) {
      case at::op: return at_ = at::ops, finish_operator();
      case at::tensor: return at_ = at::tensors, finish_tensor();
      default: return at_ = at::outside, true;
    }
  }

  bool end_array() {
    if (skipped_ > 0) return --skipped_, true;
    at_ = at_ == at::op_list ? at::op : at::graph;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) {
    std::string_view reason = e.what();  // "[json.exception...] parse error at line 1, column 2: reason"
    if (const auto tag = reason.find("] "); tag != reason.npos) reason.remove_prefix(tag + 2);
    if (const auto column = reason.find(", column "); column != reason.npos)
      if (const auto colon = reason.find(": ", column); colon != reason.npos) reason.remove_prefix(colon + 2);
    constexpr std::size_t shown = 200;  // the reason quotes the last token, however long it is
    const std::string_view before = text_.substr(0, position == 0 ? 0 : std::min(position, text_.size() + 1) - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    error_ = {error_code::bad_input,
              "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                  std::string(reason.substr(0, shown)), {}, {}};
    return false;
  }

  explicit json_graph_reader(std::string_view text) : text_(text) {}

  result<problem_draft> run() {
    if (!library::sax_parse(text_.begin(), text_.end(), this) || !ranges_hold()) return std::move(error_);
    const auto unnamed = [](const std::vector<std::string>& names) {
      return std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); });
    };
    if (unnamed(draft_.operator_names)) draft_.operator_names.clear();
    if (unnamed(draft_.tensor_names)) draft_.tensor_names.clear();
    return std::move(draft_);
  }

 private:
  enum class at : unsigned char { outside, graph, ops, op, op_list, tensors, tensor, graph_list };

  static constexpr json_key graph_keys[] = {
      {"name"}, {"ops", true}, {"tensors", true}, {"graph_inputs", true}, {"graph_outputs", true}};
  static constexpr json_key op_keys[] = {{"name"},    {"op"},    {"inputs", true}, {"outputs", true}, {"workspace"},
                                         {"inplace"}, {"after"}, {"firing"},       {"scope"}};
  static constexpr json_key tensor_keys[] = {{"name"}, {"bytes", true}, {"alias_of"}};

  std::span<const json_key> keys_here() const {
    if (at_ == at::op) return op_keys;
    if (at_ == at::tensor) return tensor_keys;
    return graph_keys;
  }
  unsigned& seen_here() { return at_ == at::graph ? seen_in_graph_ : seen_; }

  bool nothing_missing() {
    const auto keys = keys_here();
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i].required && (seen_here() >> i & 1) == 0)
        return fault(error_code::bad_input, "lacks \"" + std::string(keys[i].name) + "\"");
    return true;
  }

  /// Every value passes here; what it means depends on where the text stands.
  bool take(const json_value& v) {
    if (skipped_ > 0) return skipped_ += v.opens(), true;
    switch (at_) {
      case at::outside: return enter(v, kind::object, at::graph);
      case at::graph: return take_graph_value(v);
      case at::ops: return seen_ = 0, op_ = {}, enter(v, kind::object, at::op);
      case at::op: return take_operator_value(v);
      case at::tensors: return seen_ = 0, tensor_ = {}, enter(v, kind::object, at::tensor);
      case at::tensor: return take_tensor_value(v);
      case at::op_list:
      case at::graph_list: break;
    }
    index_t i = none;
    if (!take_index(v, i)) return false;
    list_->push_back(i);
    return true;
  }

  bool take_graph_value(const json_value& v) {
    if (key_ == nullptr) return skip(v);
    if (key_->name == "name") return take_text(v, draft_.name);
    if (key_->name == "ops") return enter(v, kind::list, at::ops);
    if (key_->name == "tensors") return enter(v, kind::list, at::tensors);
    return enter_list(v, key_->name == "graph_inputs" ? draft_.graph_inputs : draft_.graph_outputs, at::graph_list);
  }

  bool take_operator_value(const json_value& v) {
    if (key_ == nullptr) return skip(v);
    if (key_->name == "inputs") return enter_list(v, op_.inputs, at::op_list);
    if (key_->name == "outputs") return enter_list(v, op_.outputs, at::op_list);
    if (key_->name == "after") return enter_list(v, op_.after, at::op_list);
    if (key_->name == "name") return take_text(v, op_.name);
    if (key_->name == "op") return take_text(v, op_.kind);
    if (key_->name == "workspace") return take_size(v, op_.data.workspace);
    if (key_->name == "inplace") return v.minus_one() || take_index(v, op_.inplace, "a position in \"inputs\" or -1");
    if (key_->name == "firing") return take_firing(v);
    std::string scope;
    if (!take_text(v, scope)) return false;
    op_.data.scope = scopes_.try_emplace(std::move(scope), static_cast<index_t>(scopes_.size())).first->second;
    return true;
  }

  bool take_tensor_value(const json_value& v) {
    if (key_ == nullptr) return skip(v);
    if (key_->name == "name") return take_text(v, tensor_.name);
    if (key_->name == "bytes") return take_size(v, tensor_.data.size);
    if (v.type == kind::null || v.minus_one()) return true;
    return take_index(v, tensor_.data.alias_of, "the index of a tensor, null or -1");
  }

  bool finish_operator() {
    if (op_.inplace != none) {
      if (op_.inplace >= op_.inputs.size())
        return fault(error_code::bad_overwrite, ".inplace", "is " + std::to_string(op_.inplace) + ", but there are " +
                                                                std::to_string(op_.inputs.size()) + " inputs");
      op_.data.overwrites = op_.inputs[op_.inplace];
    }
    const auto append = [](adjacency& lists, const std::vector<index_t>& items) {
      for (index_t i : items) lists.push(i);
      lists.close();
    };
    append(draft_.reads, op_.inputs);
    append(draft_.writes, op_.outputs);
    append(draft_.after, op_.after);
    draft_.operators.push_back(op_.data);
    draft_.operator_names.push_back(std::move(op_.name.empty() ? op_.kind : op_.name));
    return true;
  }

  bool finish_tensor() {
    draft_.tensors.push_back(tensor_.data);
    draft_.tensor_names.push_back(std::move(tensor_.name));
    return true;
  }

  /// Opens a list or an object that holds part of the graph.
  bool enter(const json_value& v, kind wanted, at inside) {
    if (v.type != wanted) return wrong(v, wanted == kind::list ? "a list" : "an object");
    at_ = inside;
    return true;
  }
  bool enter_list(const json_value& v, std::vector<index_t>& list, at inside) {
    list_ = &list;
    return enter(v, kind::list, inside);
  }
  bool skip(const json_value& v) {
    skipped_ = v.opens() ? 1 : 0;
    return true;
  }

  bool take_text(const json_value& v, std::string& text) {
    if (v.type != kind::string) return wrong(v, "a string");
    text = std::move(*v.text);
    return true;
  }
  bool take_size(const json_value& v, bytes& size) {
    if (v.type != kind::whole || v.negative)
      return wrong(v, "a whole number of bytes, 0 or more and below 2^64",
                   v.negative ? error_code::bad_size : error_code::bad_input);
    size = v.magnitude;
    return true;
  }
  bool take_index(const json_value& v, index_t& i, const char* wanted = "an index, 0 or more") {
    if (v.type != kind::whole || v.negative || v.magnitude >= none) return wrong(v, wanted);
    i = static_cast<index_t>(v.magnitude);
    return true;
  }
  bool take_firing(const json_value& v) {
    if (v.type != kind::string || (*v.text != "pbc" && *v.text != "cbp")) return wrong(v, "\"pbc\" or \"cbp\"");
    op_.data.rule = *v.text == "pbc" ? firing::pbc : firing::cbp;
    return true;
  }

  /// Indices can be judged only when both arrays are known.
  bool ranges_hold() {
    const std::size_t ops = draft_.operators.size(), tensors = draft_.tensors.size();
    for (std::size_t i = 0; i < ops; ++i) {
      const std::string_view op = "ops";
      if (!exist(draft_.reads[i], tensors, {op, i, "inputs"}) ||
          !exist(draft_.writes[i], tensors, {op, i, "outputs"}) ||
          !exist(draft_.after[i], ops, {op, i, "after"}, error_code::unknown_operator))
        return false;
    }
    for (std::size_t i = 0; i < tensors; ++i)
      if (const tensor_id a = draft_.tensors[i].alias_of; a != none && a >= tensors)
        return unknown("tensors[" + std::to_string(i) + "].alias_of", a, tensors, error_code::unknown_tensor);
    return exist(draft_.graph_inputs, tensors, {"graph_inputs"}) &&
           exist(draft_.graph_outputs, tensors, {"graph_outputs"});
  }

  struct list_place {
    std::string_view array;
    std::size_t at = 0;
    std::string_view list{};
    std::string text() const {
      return std::string(array) + (list.empty() ? "" : "[" + std::to_string(at) + "]." + std::string(list));
    }
  };
  bool exist(std::span<const index_t> list, std::size_t count, const list_place& where,
             error_code code = error_code::unknown_tensor) {
    const auto bad = std::find_if(list.begin(), list.end(), [&](index_t i) { return i >= count; });
    return bad == list.end() ||
           unknown(where.text() + "[" + std::to_string(bad - list.begin()) + "]", *bad, count, code);
  }
  bool unknown(std::string place, index_t i, std::size_t count, error_code code) {
    const char* what = code == error_code::unknown_operator ? "operator" : "tensor";
    place += std::string(": there is no ") + what + " " + std::to_string(i) + " among " + std::to_string(count);
    error_ = {code, std::move(place), {}, {}};
    return false;
  }

  /// Where the text stands: "ops[3].inputs[1]".
  std::string place() const {
    const std::string key = key_ == nullptr ? std::string() : std::string(key_->name);
    const std::string dot_key = key.empty() ? key : "." + key;
    const std::string op = "ops[" + std::to_string(draft_.operators.size()) + "]";
    const std::string tensor = "tensors[" + std::to_string(draft_.tensors.size()) + "]";
    switch (at_) {
      case at::outside: break;
      case at::graph: return key.empty() ? "the graph" : key;
      case at::ops: return op;
      case at::op: return op + dot_key;
      case at::op_list: return op + dot_key + "[" + std::to_string(list_->size()) + "]";
      case at::tensors: return tensor;
      case at::tensor: return tensor + dot_key;
      case at::graph_list: return key + "[" + std::to_string(list_->size()) + "]";
    }
    return "the graph";
  }
  bool wrong(const json_value& v, const std::string& wanted, error_code code = error_code::bad_input) {
    return fault(code, "must be " + wanted + ", but is " + v.describe());
  }
  bool fault(error_code code, const std::string& reason) { return fault(code, "", reason); }
  bool fault(error_code code, const char* suffix, const std::string& reason) {
    error_ = {code, place() + suffix + ": " + reason, {}, {}};
    return false;
  }

  struct operator_values {
    operator_data data;
    std::vector<index_t> inputs, outputs, after;
    index_t inplace = none;
    std::string name, kind;
  };
  struct tensor_values {
    tensor_data data;
    std::string name;
  };

  std::string_view text_;
  at at_ = at::outside;
  const json_key* key_ = nullptr;          ///< of the value that comes; null: unknown
  std::size_t skipped_ = 0;                ///< open lists and objects below an unknown key
  unsigned seen_in_graph_ = 0, seen_ = 0;  ///< keys met so far, by position in their table
  std::vector<index_t>* list_ = nullptr;
  operator_values op_;
  tensor_values tensor_;
  std::unordered_map<std::string, index_t> scopes_;
  problem_draft draft_;
  graph_error error_;
};

}  // namespace detail

}  // namespace memsched
