// Rewritten networks as JSON: parts, operators and where they come from, without the weights, which the model has. Opt-in:
// needs nlohmann-json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/base/linkage.hpp>
#include <memsched/formats/json/document.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace provenance_detail {

using json = nlohmann::ordered_json;

inline constexpr std::array<const char*, 10> elements{"float32", "int8",    "uint8",   "int16",   "int32",
                                                      "int64",   "float16", "float64", "boolean", "token"};
inline constexpr std::array<const char*, 3> roles{"value", "sum", "token"};
inline constexpr std::array<const char*, 5> sums{"complete", "partial", "onto", "into", "last"};

/// Calls f(name, member) for each attribute. Enumerations other than the kind stand as their numbers.
template <class A, class F>
void each_attribute(A& a, F&& f) {
  f("kernel_rows", a.win.kernel_rows), f("kernel_columns", a.win.kernel_columns);
  f("stride_rows", a.win.stride_rows), f("stride_columns", a.win.stride_columns);
  f("dilation_rows", a.win.dilation_rows), f("dilation_columns", a.win.dilation_columns);
  f("pad_rows", a.win.pad_rows), f("pad_columns", a.win.pad_columns), f("pad_channels", a.win.pad_channels);
  f("activation", a.act), f("alpha", a.alpha), f("beta", a.beta), f("groups", a.groups), f("block", a.block);
  f("depth_first", a.depth_first), f("count_pad", a.count_pad), f("pad_value", a.pad_value);
  f("coordinates", a.coordinates), f("rounding", a.rounding), f("function", a.function);
}

class writer {
 public:
  explicit writer(const network& net) : net_(net) {}

  json run() const {
    json j{{"name", net_.name}, {"tensors", json::array()}, {"operators", json::array()}};
    for (const typed_tensor& t : net_.tensors) j["tensors"].push_back(tensor(t));
    for (const operation& op : net_.operations) j["operators"].push_back(operator_json(op));
    return j;
  }

 private:
  static json number(index_t i) { return i == none ? json(-1) : json(i); }
  static json pair(const interval& i) { return {i.first, i.last}; }

  static json tensor(const typed_tensor& t) {
    const box& b = t.part;
    json j{{"name", t.name},
           {"size", {t.size.rows, t.size.columns, t.size.channels}},
           {"element", elements[static_cast<std::size_t>(t.element)]},
           {"origin", number(t.origin)},
           {"part", {b.rows.first, b.rows.last, b.columns.first, b.columns.last, b.channels.first, b.channels.last}}};
    if (t.quant.scale != 0 || t.quant.zero_point != 0) j["scale"] = t.quant.scale, j["zero_point"] = t.quant.zero_point;
    if (t.role != tensor_role::value) j["role"] = roles[static_cast<std::size_t>(t.role)];
    if (t.input) j["input"] = true;
    if (t.output) j["output"] = true;
    if (t.alias_of != none) j["alias_of"] = t.alias_of;
    return j;
  }
  static json images(const std::vector<image>& list) {
    json j = json::array();
    for (const image& x : list) {
      json parts = json::array();
      for (const placed& p : x.parts) parts.push_back({p.tensor, p.row, p.column, p.channel});
      j.push_back({{"size", {x.size.rows, x.size.columns, x.size.channels}}, {"parts", std::move(parts)}});
    }
    return j;
  }
  static json slice_json(const slice& s) { return {s.of, s.outputs.first, s.outputs.last, s.inputs.first, s.inputs.last}; }
  static json operator_json(const operation& op) {
    json j{{"name", op.name}, {"origin", number(op.origin)}, {"kind", to_string(op.does.what)}};
    const attributes plain;
    std::vector<json> defaults;
    each_attribute(plain, [&](const char*, const auto& x) { defaults.push_back(value(x)); });
    std::size_t i = 0;
    each_attribute(op.does, [&](const char* name, const auto& x) {
      if (json v = value(x); v != defaults[i++]) j[name] = std::move(v);
    });
    j["reads"] = images(op.reads), j["writes"] = images(op.writes);
    if (op.weights) j["weights"] = slice_json(op.weights);
    if (op.bias) j["bias"] = slice_json(op.bias);
    if (op.sum != summation::complete) j["sum"] = sums[static_cast<std::size_t>(op.sum)], j["reduces"] = pair(op.reduces);
    if (op.overwrites != none) j["overwrites"] = op.overwrites;
    if (!op.after.empty()) j["after"] = op.after;
    if (op.workspace != 0) j["workspace"] = op.workspace;
    return j;
  }
  template <class T>
  static json value(const T& x) {
    if constexpr (std::is_enum_v<T>) return static_cast<unsigned>(x);
    else return x;
  }

  const network& net_;
};

class reader {
 public:
  reader(const json& j, const network& first) : j_(j), first_(first) {}

  result<network> run() {
    network net = emptied(first_);
    net.name.clear();
    place_ = "network";
    if (!j_.is_object() || !list(j_, "tensors") || !list(j_, "operators")) return error("must have tensors and operators");
    if (j_.contains("name") && j_["name"].is_string()) net.name = j_["name"].template get<std::string>();
    for (const json& t : j_["tensors"]) {
      place_ = "network.tensors[" + std::to_string(net.tensors.size()) + "]";
      net.tensors.push_back(tensor(t));
      if (!wrong_.empty()) return error(wrong_);
    }
    for (const json& op : j_["operators"]) {
      place_ = "network.operators[" + std::to_string(net.operations.size()) + "]";
      net.operations.push_back(operation_of(op));
      if (!wrong_.empty()) return error(wrong_);
    }
    place_ = "network";
    if (const graph_error e = check_network(net); !e.message.empty()) return error(e.message);
    return net;
  }

 private:
  graph_error error(const std::string& what) const { return {error_code::bad_input, place_ + ": " + what, {}, {}}; }
  void complain(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  static bool list(const json& j, const char* key) { return j.contains(key) && j[key].is_array(); }

  /// A whole number of at most 2^53 in absolute value; 0 and a complaint if it is none.
  std::int64_t whole_number(const json& j, const char* key) {
    constexpr std::int64_t most = std::int64_t{1} << 53;
    if (j.is_number_unsigned() ? j.get<std::uint64_t>() <= static_cast<std::uint64_t>(most) : j.is_number_integer())
      if (const auto n = j.get<std::int64_t>(); n >= -most) return n;
    complain(std::string(key) + " must be a whole number");
    return 0;
  }
  std::vector<std::int64_t> numbers(const json& j, const char* key, std::size_t count) {
    std::vector<std::int64_t> out(count, 0);
    if (!j.is_array() || j.size() != count)
      return complain(std::string(key) + " must be " + std::to_string(count) + " numbers"), out;
    for (std::size_t i = 0; i < count; ++i) out[i] = whole_number(j[i], key);
    return out;
  }
  std::vector<std::int64_t> numbers_at(const json& j, const char* key, std::size_t count) {
    if (!j.contains(key)) return complain(std::string("has no ") + key), std::vector<std::int64_t>(count, 0);
    return numbers(j[key], key, count);
  }
  /// An index, or `none` for -1 and if there is none.
  index_t index(const json& j, const char* key) {
    if (!j.contains(key)) return none;
    const std::int64_t n = whole_number(j[key], key);
    if (n < -1 || n >= static_cast<std::int64_t>(none)) complain(std::string(key) + " must be an index");
    return n < 0 ? none : static_cast<index_t>(n);
  }
  std::string text(const json& j, const char* key) {
    if (!j.contains(key) || !j[key].is_string()) return {};
    return j[key].template get<std::string>();
  }
  bool flag(const json& j, const char* key) { return j.contains(key) && j[key].is_boolean() && j[key].template get<bool>(); }
  template <class E, std::size_t N>
  E named(const json& j, const char* key, const std::array<const char*, N>& names) {
    if (!j.contains(key)) return E{};
    const std::string name = text(j, key);
    for (std::size_t i = 0; i < N; ++i)
      if (name == names[i]) return static_cast<E>(i);
    complain(std::string(key) + " is unknown");
    return E{};
  }

  static constexpr std::string_view tensor_keys[] = {"name",     "size",  "part",       "element", "role",  "origin",
                                                     "alias_of", "scale", "zero_point", "input",   "output"};
  static const std::vector<std::string_view>& operator_keys() {
    static const std::vector<std::string_view> keys = [] {
      std::vector<std::string_view> all{"name", "origin", "kind",    "reads",      "writes", "weights",
                                        "bias", "sum",    "reduces", "overwrites", "after",  "workspace"};
      attributes any;
      each_attribute(any, [&](const char* name, const auto&) { all.push_back(name); });
      return all;
    }();
    return keys;
  }
  void refuse_unknown_keys(const json& j, std::span<const std::string_view> known) {
    if (const std::string why = wrong_key(j, known, notes::marked); !why.empty()) complain(why);
  }

  typed_tensor tensor(const json& j) {
    typed_tensor t;
    if (!j.is_object()) return complain("must be an object"), t;
    refuse_unknown_keys(j, tensor_keys);
    t.name = text(j, "name");
    const auto size = numbers_at(j, "size", 3), part = numbers_at(j, "part", 6);
    t.size = {size[0], size[1], size[2]};
    t.part = {{part[0], part[1]}, {part[2], part[3]}, {part[4], part[5]}};
    t.element = named<element>(j, "element", elements);
    t.role = named<tensor_role>(j, "role", roles);
    t.origin = index(j, "origin"), t.alias_of = index(j, "alias_of");
    t.input = flag(j, "input"), t.output = flag(j, "output");
    if (j.contains("scale") && j["scale"].is_number()) t.quant.scale = j["scale"].template get<float>();
    if (j.contains("zero_point"))
      t.quant.zero_point = static_cast<std::int32_t>(whole_number(j["zero_point"], "zero_point"));
    return t;
  }

  std::vector<image> images(const json& j, const char* key) {
    std::vector<image> out;
    if (!list(j, key)) return complain(std::string("has no ") + key), out;
    for (const json& x : j[key]) {
      if (!x.is_object() || !list(x, "parts")) return complain(std::string(key) + " must be images of parts"), out;
      const auto size = numbers_at(x, "size", 3);
      out.push_back({{size[0], size[1], size[2]}, {}});
      for (const json& p : x["parts"]) {
        const auto at = numbers(p, "parts", 4);
        if (at[0] < 0 || at[0] >= static_cast<std::int64_t>(none)) complain("parts: must begin with a tensor's index");
        out.back().parts.push_back({static_cast<tensor_id>(at[0]), at[1], at[2], at[3]});
      }
    }
    return out;
  }
  slice slice_of(const json& j, const char* key) {
    if (!j.contains(key)) return {};
    const auto at = numbers(j[key], key, 5);
    if (at[0] < 0 || at[0] >= static_cast<std::int64_t>(first_.blobs.size()))
      complain(std::string(key) + " are not in the model");
    return {static_cast<index_t>(at[0]), {at[1], at[2]}, {at[3], at[4]}};
  }
  op_kind kind(const std::string& name) {
    for (unsigned k = 0; k <= static_cast<unsigned>(op_kind::opaque); ++k)
      if (name == to_string(static_cast<op_kind>(k))) return static_cast<op_kind>(k);
    complain("kind is unknown: " + name);
    return op_kind::opaque;
  }

  operation operation_of(const json& j) {
    operation op;
    if (!j.is_object()) return complain("must be an object"), op;
    refuse_unknown_keys(j, operator_keys());
    op.name = text(j, "name");
    op.origin = index(j, "origin");
    op.does.what = kind(text(j, "kind"));
    each_attribute(op.does, [&](const char* name, auto& x) {
      if (j.contains(name)) take(j[name], name, x);
    });
    op.reads = images(j, "reads"), op.writes = images(j, "writes");
    op.weights = slice_of(j, "weights"), op.bias = slice_of(j, "bias");
    op.sum = named<summation>(j, "sum", sums);
    if (j.contains("reduces")) {
      const auto i = numbers(j["reduces"], "reduces", 2);
      op.reduces = {i[0], i[1]};
    }
    op.overwrites = index(j, "overwrites");
    if (list(j, "after"))
      for (const json& before : j["after"]) {
        const std::int64_t n = whole_number(before, "after");
        if (n < 0 || n >= static_cast<std::int64_t>(none)) complain("after must be indices");
        op.after.push_back(static_cast<op_id>(n));
      }
    if (j.contains("workspace")) {
      const std::int64_t n = whole_number(j["workspace"], "workspace");
      if (n < 0) complain("workspace must not be negative");
      op.workspace = static_cast<memsched::bytes>(n);
    }
    return op;
  }
  /// The last value of an enumeration.
  template <class T>
  static constexpr std::int64_t most_of() {
    if constexpr (std::is_same_v<T, activation>) return static_cast<std::int64_t>(activation::other);
    else if constexpr (std::is_same_v<T, resize_coordinates>) return 2;
    else return 3;
  }
  template <class T>
  void take(const json& j, const char* key, T& x) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (j.is_string()) x = j.template get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (j.is_boolean()) x = j.template get<bool>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (j.is_number()) x = j.template get<T>();
    } else {
      const std::int64_t n = whole_number(j, key);
      if (std::is_enum_v<T> && (n < 0 || n > most_of<T>())) return complain(std::string(key) + " is unknown");
      x = static_cast<T>(n);
    }
  }

  const json& j_;
  const network& first_;
  std::string place_, wrong_;
};

}  // namespace provenance_detail

/// A rewritten network as a JSON object: tensors with the part of a tensor of the first network that they hold, operators
/// with the operator that they are a part of, their operands and results, and the weights they use. Indices are
/// positions; -1 is none. Attributes that are left out have the values of a plain `attributes`.
inline nlohmann::ordered_json write_provenance(const network& net) { return provenance_detail::writer(net).run(); }

/// The network that such an object says, with the weights of the first network; or the place where it is none.
/// `check_rewrite` judges whether it computes the same as the first one.
inline result<network> read_provenance(const nlohmann::ordered_json& j, const network& first) {
  return provenance_detail::reader(j, first).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
