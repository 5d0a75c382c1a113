// The reader of graphs as JSON text. Opt-in: needs nlohmann-json.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/formats/json/scan.hpp>
#include <memsched/formats/model.hpp>
#include <memsched/formats/nearest.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A JSON value as far as graphs care; of a list or an object only that it opens here.
struct json_value {
  enum class kind : unsigned char { null, boolean, whole, fraction, too_large, string, list, object };
  kind type = kind::null;
  bool negative = false;        ///< of a number
  bool pointed = false;         ///< of a whole number: it is written with a point or an exponent
  bool truth = false;           ///< of a boolean
  std::uint64_t magnitude = 0;  ///< of a whole number
  std::string_view text{};      ///< of a string

  bool opens() const { return type == kind::list || type == kind::object; }
  bool minus_one() const { return type == kind::whole && negative && magnitude == 1; }

  std::string describe() const {
    switch (type) {
      case kind::null: return "null";
      case kind::boolean: return "a boolean";
      case kind::whole: return (negative ? "-" : "") + std::to_string(magnitude);
      case kind::fraction: return negative ? "a negative fraction" : "a fraction";
      case kind::too_large: return negative ? "a number too small" : "a number too large";
      case kind::string: return "a string";
      case kind::list: return "a list";
      case kind::object: return "an object";
    }
    return {};
  }
};

/// Takes the events of a JSON text and builds a draft: no tree in between, so depth and notes cost nothing.
class json_graph_reader {
  using library = nlohmann::json;
  using kind = json_value::kind;

 public:
  bool null() { return take({}); }
  bool boolean(bool b) { return take({.type = kind::boolean, .truth = b}); }
  bool number_integer(library::number_integer_t n) {
    const auto bits = static_cast<std::uint64_t>(n);
    return take({.type = kind::whole, .negative = n < 0, .magnitude = n < 0 ? 0 - bits : bits});
  }
  bool number_unsigned(library::number_unsigned_t n) { return take({.type = kind::whole, .magnitude = n}); }
  bool number_float(library::number_float_t x, const std::string&) {
    constexpr double exact = 9007199254740992.0;  // 2^53: below, a double holds every whole number
    const double size = std::fabs(x);
    if (size != std::floor(size)) return take({.type = kind::fraction, .negative = x < 0});
    if (size >= exact) return take({.type = kind::too_large, .negative = x < 0});
    return take({.type = kind::whole, .negative = x < 0, .pointed = true, .magnitude = static_cast<std::uint64_t>(size)});
  }
  bool string(std::string_view text) { return take({.type = kind::string, .text = text}); }
  bool binary(library::binary_t&) { return false; }  // no JSON text holds one

  bool start_object(std::size_t) { return take({.type = kind::object}); }
  bool start_array(std::size_t) { return take({.type = kind::list}); }

  bool key(std::string_view name) {
    if (skipped_ > 0) return true;
    key_ = position(name, keys_here());
    if (key_ == no_key) return take_other_key(name);
    met_keys& met = met_here();
    const unsigned bit = 1U << key_;
    if ((met.known & bit) != 0) return fault(error_code::bad_input, "given twice");
    met.known |= bit;
    return true;
  }

  bool end_object() {
    if (skipped_ > 0) return --skipped_, true;
    key_ = no_key;
    if (!keys_hold()) return false;
    switch (at_) {
      case at::op: return at_ = at::ops, finish_operator();
      case at::tensor: return at_ = at::tensors, finish_tensor();
      default: return at_ = at::outside, true;
    }
  }

  bool end_array() {
    if (skipped_ > 0) return --skipped_, true;
    switch (at_) {
      case at::op_list:
      case at::pairs: return at_ = at::op, true;
      case at::pair: return at_ = at::pairs, finish_pair();
      case at::shape: return at_ = at::tensor, true;
      default: return at_ = at::graph, true;
    }
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
    error_ = {
        error_code::bad_input,
        "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + std::string(reason.substr(0, shown)),
        {},
        {}};
    return false;
  }

  /// The graph, and the forms of its tensors if they are asked for. A text that the scan refuses is read anew by
  /// nlohmann-json, which words the error.
  static result<problem_draft> read(std::string_view text, std::vector<tensor_form>* forms) {
    json_graph_reader reader(text, forms != nullptr);
    scan_end end = json_scan(text, reader).run();
    if (end == scan_end::refused) {
      reader = json_graph_reader(text, forms != nullptr);
      end = library::sax_parse(text.begin(), text.end(), &reader) ? scan_end::complete : scan_end::stopped;
    }
    if (end == scan_end::stopped || !reader.finish()) return std::move(reader.error_);
    if (forms != nullptr) *forms = std::move(reader.forms_);
    return std::move(reader.draft_);
  }

 private:
  json_graph_reader(std::string_view text, bool with_forms) : text_(text), with_forms_(with_forms) {
    constexpr std::size_t letters = 64;  // about those of an operator and a tensor
    reserve(text.size() / letters);
  }

  /// Room for n operators and n tensors: lists that grow are copied.
  void reserve(std::size_t n) {
    draft_.operators.reserve(n), draft_.operator_names.reserve(n);
    draft_.tensors.reserve(n), draft_.tensor_names.reserve(n);
    draft_.reads.reserve(n, 2 * n), draft_.writes.reserve(n, n), draft_.after.reserve(n, 0);
    if (with_forms_) forms_.reserve(n);
  }

  bool finish() {
    if (!ranges_hold()) return false;
    const auto unnamed = [](const std::vector<std::string>& names) {
      return std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); });
    };
    if (unnamed(draft_.operator_names)) draft_.operator_names.clear();
    if (unnamed(draft_.tensor_names)) draft_.tensor_names.clear();
    return true;
  }

  enum class at : unsigned char { outside, graph, ops, op, op_list, pairs, pair, tensors, tensor, shape, graph_list };

  // Those that must be there come first, see `keys_hold`.
  static constexpr std::string_view graph_keys[] = {"ops", "tensors", "graph_inputs", "graph_outputs", "name"};
  static constexpr std::string_view op_keys[] = {"inputs",     "outputs", "name",   "op",       "workspace",
                                                 "inplace",    "after",   "firing", "scope",    "updates",
                                                 "overwrites", "cost",    "pure",   "duration", "async"};
  static constexpr std::string_view tensor_keys[] = {"bytes", "name", "alias_of", "shape", "type", "producer"};

  static constexpr unsigned no_key = ~0U;
  static constexpr unsigned position(std::string_view name, std::span<const std::string_view> keys) {
    for (unsigned i = 0; i < keys.size(); ++i)
      if (keys[i].size() == name.size() && keys[i].front() == name.front() && keys[i] == name) return i;
    return no_key;
  }
  /// The same for a key that is there: anything else reads beyond the keys, and does not compile.
  static consteval unsigned known(std::string_view name, std::span<const std::string_view> keys) {
    unsigned i = 0;
    while (keys[i] != name) ++i;
    return i;
  }
  static consteval unsigned graph_key(std::string_view name) { return known(name, graph_keys); }
  static consteval unsigned op_key(std::string_view name) { return known(name, op_keys); }
  static consteval unsigned tensor_key(std::string_view name) { return known(name, tensor_keys); }

  std::span<const std::string_view> keys_here() const {
    switch (at_) {
      case at::op:
      case at::op_list:
      case at::pairs:
      case at::pair: return op_keys;
      case at::tensor:
      case at::shape: return tensor_keys;
      default: return graph_keys;
    }
  }

  /// Keys that an object has had so far.
  struct met_keys {
    unsigned known = 0;  ///< by position in their list
    std::unordered_set<std::string> others;
    std::string wrong;  ///< the first that is neither known nor free
    bool is_wrong = false;

    void clear() {
      known = 0, is_wrong = false;
      if (!others.empty()) others.clear();
    }
  };
  met_keys& met_here() { return at_ == at::graph ? met_in_graph_ : met_; }

  /// Notes are free in the graph, where no key is likely to be meant; elsewhere they begin with "x-".
  bool take_other_key(std::string_view name) {
    met_keys& met = met_here();
    if (!met.others.emplace(name).second)
      return fault(error_code::bad_input, "the key \"" + base::one_line(name, 60) + "\" is given twice");
    if (met.is_wrong || is_free_key(name) || (at_ == at::graph && !is_misspelt(name, graph_keys))) return true;
    met.wrong = name;
    return met.is_wrong = true;
  }

  /// Judged when an object ends: its name, which the message tells, may come last.
  bool keys_hold() {
    if (met_here().is_wrong) {
      const std::string& name = at_ == at::op ? op_.name : at_ == at::tensor ? tensor_.name : draft_.name;
      const std::string who = name.empty() ? "" : " '" + base::one_line(name, 120) + "'";
      return fault(error_code::bad_input, who, unknown_key(met_here().wrong, keys_here()));
    }
    const unsigned required = at_ == at::graph ? 0b1111 : at_ == at::op ? 0b11 : 0b1;  // bits of the first keys
    const unsigned missing = required & ~met_here().known;
    if (missing == 0) return true;
    const auto first = static_cast<std::size_t>(std::countr_zero(missing));
    return fault(error_code::bad_input, "lacks \"" + std::string(keys_here()[first]) + "\"");
  }

  /// Every value passes here; its meaning depends on the position in the text.
  bool take(const json_value& v) {
    if (skipped_ > 0) return skipped_ += v.opens(), true;
    switch (at_) {
      case at::outside: return enter(v, kind::object, at::graph);
      case at::graph: return take_graph_value(v);
      case at::ops: return met_.clear(), op_.clear(), enter(v, kind::object, at::op);
      case at::op: return take_operator_value(v);
      case at::tensors: return met_.clear(), tensor_.clear(), enter(v, kind::object, at::tensor);
      case at::tensor: return take_tensor_value(v);
      case at::pairs: return pair_.clear(), enter_list(v, pair_, at::pair);
      case at::shape: return take_dimension(v);
      case at::op_list:
      case at::pair:
      case at::graph_list: break;
    }
    index_t i = none;
    if (!take_index(v, i)) return false;
    list_->push_back(i);
    return true;
  }

  bool take_graph_value(const json_value& v) {
    switch (key_) {
      case graph_key("name"): return take_text(v, draft_.name);
      case graph_key("ops"): return enter(v, kind::list, at::ops);
      case graph_key("tensors"): return enter(v, kind::list, at::tensors);
      case graph_key("graph_inputs"): return enter_list(v, draft_.graph_inputs, at::graph_list);
      case graph_key("graph_outputs"): return enter_list(v, draft_.graph_outputs, at::graph_list);
      default: return skip(v);
    }
  }

  bool take_operator_value(const json_value& v) {
    switch (key_) {
      case op_key("inputs"): return enter_list(v, op_.inputs, at::op_list);
      case op_key("outputs"): return enter_list(v, op_.outputs, at::op_list);
      case op_key("after"): return enter_list(v, op_.after, at::op_list);
      case op_key("name"): return take_text(v, op_.name);
      case op_key("op"): return take_text(v, op_.kind);
      case op_key("workspace"): return take_size(v, op_.data.workspace);
      case op_key("inplace"): return v.minus_one() || take_index(v, op_.inplace, "a position in \"inputs\" or -1");
      case op_key("firing"): return take_firing(v);
      case op_key("updates"): return enter_list(v, op_.updates, at::op_list);
      case op_key("overwrites"): return enter(v, kind::list, at::pairs);
      case op_key("scope"): return take_scope(v);
      case op_key("cost"): return take_cost(v);
      case op_key("pure"): return op_.data.pure = v.truth, v.type == kind::boolean || wrong(v, "true or false");
      default: return skip(v);  // for later versions
    }
  }

  bool take_tensor_value(const json_value& v) {
    switch (key_) {
      case tensor_key("name"): return take_text(v, tensor_.name);
      case tensor_key("bytes"): return take_size(v, tensor_.data.size);
      case tensor_key("alias_of"): return take_alias(v);
      case tensor_key("type"): return with_forms_ && v.type == kind::string ? take_text(v, tensor_.form.type) : skip(v);
      case tensor_key("shape"): return with_forms_ && v.type == kind::list ? enter_shape() : skip(v);
      default: return skip(v);
    }
  }
  bool take_alias(const json_value& v) {
    if (v.type == kind::null || v.minus_one()) return true;
    return take_index(v, tensor_.data.alias_of, "the index of a tensor, null or -1");
  }

  /// A shape may be anything; one that is a list of whole numbers is kept.
  bool enter_shape() {
    tensor_.form.shape.emplace();
    at_ = at::shape;
    return true;
  }
  bool take_dimension(const json_value& v) {
    auto& shape = tensor_.form.shape;
    if (v.type != kind::whole || v.pointed) shape.reset();
    if (shape) shape->push_back(static_cast<std::int64_t>(v.negative ? 0 - v.magnitude : v.magnitude));
    return skip(v);
  }

  bool finish_operator() {
    const std::size_t ins = op_.inputs.size(), outs = op_.outputs.size();
    if (op_.inplace != none) {
      if (!is_position(op_.inplace, ins, ".inplace", "inputs")) return false;
      op_.data.overwrites = op_.inputs[op_.inplace];
    }
    for (std::size_t i = 0; i < op_.updates.size(); ++i) {
      const std::string place = ".updates[" + std::to_string(i) + "]";
      if (!is_position(op_.updates[i], ins, place, "inputs", error_code::bad_update)) return false;
      const tensor_id t = op_.inputs[op_.updates[i]];
      if (std::find(op_.updated.begin(), op_.updated.end(), t) != op_.updated.end())
        return fault(error_code::bad_update, place, "updates tensor " + std::to_string(t) + " twice");
      op_.updated.push_back(t);
    }
    return find_overwrites(ins, outs) && add_operator();
  }

  bool find_overwrites(std::size_t ins, std::size_t outs) {
    const auto taken = [&](const problem_draft::overwrite& o) {
      const bool by_inplace = op_.data.overwrites == o.input || (op_.inplace != none && o.output == op_.outputs[0]);
      return by_inplace || std::any_of(op_.overwritten.begin(), op_.overwritten.end(), [&](const auto& other) {
               return other.output == o.output || other.input == o.input;
             });
    };
    for (std::size_t i = 0; i < op_.pairs.size(); ++i) {
      const std::string place = ".overwrites[" + std::to_string(i) + "]";
      const auto [output, input] = op_.pairs[i];
      if (!is_position(output, outs, place + "[0]", "outputs") || !is_position(input, ins, place + "[1]", "inputs"))
        return false;
      const problem_draft::overwrite o{op_.outputs[output], op_.inputs[input]};
      if (taken(o)) return fault(error_code::bad_overwrite, place, "names an output or an input that is taken already");
      op_.overwritten.push_back(o);
    }
    return true;
  }

  bool is_position(index_t i, std::size_t count, const std::string& place, const char* what,
                   error_code code = error_code::bad_overwrite) {
    if (i < count) return true;
    return fault(code, place, "is " + std::to_string(i) + ", but there are " + std::to_string(count) + " " + what);
  }

  bool add_operator() {
    const auto append = [](auto& lists, const auto& items) {
      for (const auto& i : items) lists.push(i);
      lists.close();
    };
    append(draft_.reads, op_.inputs);
    append(draft_.writes, op_.outputs);
    append(draft_.after, op_.after);
    append_rare(draft_.overwrites, op_.overwritten);
    append_rare(draft_.updates, op_.updated);
    draft_.operators.push_back(op_.data);
    draft_.operator_names.push_back(std::move(op_.name.empty() ? op_.kind : op_.name));
    return true;
  }

  /// There are no lists before one has an item.
  template <class T>
  void append_rare(list_of<T>& lists, const std::vector<T>& items) {
    if (items.empty() && lists.size() == 0) return;
    while (lists.size() < draft_.operators.size()) lists.close();
    for (const T& i : items) lists.push(i);
    lists.close();
  }

  bool finish_tensor() {
    draft_.tensors.push_back(tensor_.data);
    draft_.tensor_names.push_back(std::move(tensor_.name));
    if (with_forms_) forms_.push_back(std::move(tensor_.form));
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
    text = v.text;
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
    if (v.type != kind::string || (v.text != "pbc" && v.text != "cbp")) return wrong(v, "\"pbc\" or \"cbp\"");
    op_.data.rule = v.text == "pbc" ? firing::pbc : firing::cbp;
    return true;
  }

  bool take_scope(const json_value& v) {
    std::string scope;
    if (!take_text(v, scope)) return false;
    op_.data.scope = scopes_.try_emplace(std::move(scope), static_cast<index_t>(scopes_.size())).first->second;
    return true;
  }
  bool take_cost(const json_value& v) {
    op_.data.cost = v.magnitude;
    return (v.type == kind::whole && !v.negative) || wrong(v, "a whole number, 0 or more and below 2^64");
  }
  bool finish_pair() {
    if (pair_.size() != 2)
      return fault(error_code::bad_input, "must be [output, input], but has " + std::to_string(pair_.size()) + " numbers");
    op_.pairs.emplace_back(pair_[0], pair_[1]);
    return true;
  }

  /// Indices can be judged only when both arrays are known.
  bool ranges_hold() {
    const std::size_t ops = draft_.operators.size(), tensors = draft_.tensors.size();
    for (std::size_t i = 0; i < ops; ++i) {
      const std::string_view op = "ops";
      if (!exist(draft_.reads[i], tensors, {op, i, "inputs"}) || !exist(draft_.writes[i], tensors, {op, i, "outputs"}) ||
          !exist(draft_.after[i], ops, {op, i, "after"}, error_code::unknown_operator))
        return false;
    }
    for (std::size_t i = 0; i < tensors; ++i)
      if (const tensor_id a = draft_.tensors[i].alias_of; a != none && a >= tensors)
        return unknown("tensors[" + std::to_string(i) + "].alias_of", a, tensors, error_code::unknown_tensor);
    return exist(draft_.graph_inputs, tensors, {"graph_inputs"}) && exist(draft_.graph_outputs, tensors, {"graph_outputs"});
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
    return bad == list.end() || unknown(where.text() + "[" + std::to_string(bad - list.begin()) + "]", *bad, count, code);
  }
  bool unknown(std::string place, index_t i, std::size_t count, error_code code) {
    const char* what = code == error_code::unknown_operator ? "operator" : "tensor";
    place += std::string(": there is no ") + what + " " + std::to_string(i) + " among " + std::to_string(count);
    error_ = {code, std::move(place), {}, {}};
    return false;
  }

  /// Where the text stands: "ops[3].inputs[1]".
  std::string place() const {
    const std::string key(key_ == no_key ? std::string_view() : keys_here()[key_]);
    const std::string dot_key = key.empty() ? key : "." + key;
    const std::string op = "ops[" + std::to_string(draft_.operators.size()) + "]";
    const std::string pair = "[" + std::to_string(op_.pairs.size()) + "]";
    const std::string tensor = "tensors[" + std::to_string(draft_.tensors.size()) + "]";
    switch (at_) {
      case at::outside: break;
      case at::graph: return key.empty() ? "the graph" : key;
      case at::ops: return op;
      case at::op: return op + dot_key;
      case at::pairs: return op + dot_key + pair;
      case at::pair: return op + dot_key + pair + "[" + std::to_string(list_->size()) + "]";
      case at::op_list: return op + dot_key + "[" + std::to_string(list_->size()) + "]";
      case at::tensors: return tensor;
      case at::tensor:
      case at::shape: return tensor + dot_key;
      case at::graph_list: return key + "[" + std::to_string(list_->size()) + "]";
    }
    return "the graph";
  }
  bool wrong(const json_value& v, const std::string& wanted, error_code code = error_code::bad_input) {
    return fault(code, "must be " + wanted + ", but is " + v.describe());
  }
  bool fault(error_code code, const std::string& reason) { return fault(code, "", reason); }
  bool fault(error_code code, const std::string& suffix, const std::string& reason) {
    error_ = {code, place() + suffix + ": " + reason, {}, {}};
    return false;
  }

  struct operator_values {
    problem_draft::operator_data data;
    std::vector<index_t> inputs, outputs, after, updates;  // updates: positions
    std::vector<std::pair<index_t, index_t>> pairs;        // of positions
    std::vector<tensor_id> updated;
    std::vector<problem_draft::overwrite> overwritten;
    index_t inplace = none;
    std::string name, kind;

    void clear() {  // keeps the memory of the lists
      for (std::vector<index_t>* list : {&inputs, &outputs, &after, &updates, &updated}) list->clear();
      pairs.clear(), overwritten.clear(), name.clear(), kind.clear();
      data = {}, inplace = none;
    }
  };
  struct tensor_values {
    problem_draft::tensor_data data;
    std::string name;
    tensor_form form;

    void clear() {
      data = {}, name.clear();
      if (!form.type.empty() || form.shape) form = {};
    }
  };

  std::string_view text_;
  bool with_forms_;
  at at_ = at::outside;
  unsigned key_ = no_key;    ///< of the value that comes: its place in `keys_here`
  std::size_t skipped_ = 0;  ///< open lists and objects below a key with an unread value
  met_keys met_in_graph_, met_;
  std::vector<index_t>* list_ = nullptr;
  std::vector<index_t> pair_;
  operator_values op_;
  tensor_values tensor_;
  std::unordered_map<std::string, index_t> scopes_;
  problem_draft draft_;
  std::vector<tensor_form> forms_;
  graph_error error_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
