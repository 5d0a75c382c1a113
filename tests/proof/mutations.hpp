// Changes of a certificate's text, whatever it is made of: a number, a node, something left out, two swapped.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <nlohmann/json.hpp>

#include "support/random_problem.hpp"

/// Each change is made at a place drawn at random; false where there is none.
namespace mutations {

using json = nlohmann::ordered_json;
using support::random;

namespace detail {

/// Whether a number in a list under this key is a node, and not an amount, a set or a place.
inline bool is_node(std::string_view key, std::size_t depth, std::size_t index) {
  if (key == "flow") return depth == 2 && index < 2;
  if (key == "sets") return depth == 2 && index == 1;
  return key != "bound" && key != "level" && key != "lift" && key != "slack" && key != "light" && key != "k" &&
         key != "price";
}

struct places {
  std::vector<json*> numbers, nodes, words;
  std::vector<json*> lists;                           // with an item
  std::vector<std::pair<json*, std::string>> fields;  // of objects, beside those that each has
};

inline void find(json& j, places& found, const std::string& key = "", std::size_t depth = 0, std::size_t index = 0) {
  if (j.is_object()) {
    for (auto& [name, value] : j.items()) {
      if (name != "bound" && name != "level") found.fields.emplace_back(&j, name);
      find(value, found, name);
    }
  } else if (j.is_array()) {
    if (!j.empty()) found.lists.push_back(&j);
    for (std::size_t i = 0; i < j.size(); ++i) find(j[i], found, key, depth + 1, i);
  } else if (j.is_number()) {
    (is_node(key, depth, index) ? found.nodes : found.numbers).push_back(&j);
  } else if (j.is_string()) {
    found.words.push_back(&j);
  }
}

inline places found_in(json& j) {
  places found;
  find(j, found);
  return found;
}

template <class T>
T& any(std::vector<T>& list, random& r) {
  return list[r.below(static_cast<std::uint32_t>(list.size()))];
}

}  // namespace detail

/// A level, a bound, an amount, the number of a set, a window's lift or slack, how light nodes are, a position, a price.
inline bool change_number(json& j, random& r, std::size_t) {
  auto [numbers, nodes, words, lists, fields] = detail::found_in(j);
  if (numbers.empty()) return false;
  json& n = *detail::any(numbers, r);
  const auto value = n.get<std::int64_t>(), change = static_cast<std::int64_t>(1 + r.below(r.chance(70) ? 5 : 200));
  n = r.chance(5) ? 0 : r.chance(50) ? value + change : value - change;
  if (n.get<std::int64_t>() >= 0) n = static_cast<memsched::bytes>(n.get<std::int64_t>());
  return true;
}
/// A node, or a rule, or which of two comes first.
inline bool change_node(json& j, random& r, std::size_t size) {
  auto [numbers, nodes, words, lists, fields] = detail::found_in(j);
  if (nodes.empty()) return false;
  if (!words.empty() && r.chance(10)) {
    static constexpr std::array rules{"c1", "c2", "s1", "s2"};
    *detail::any(words, r) = rules[r.below(4)];
    return true;
  }
  json& n = *detail::any(nodes, r);
  if (r.chance(1)) n = -1;
  else n = r.below(static_cast<std::uint32_t>(size + 1));
  return true;
}
/// An item of a list: a step, a reduction, an arc, a set, a node; or what a step or the whole may lack.
inline bool leave_out(json& j, random& r, std::size_t) {
  auto [numbers, nodes, words, lists, fields] = detail::found_in(j);
  if (!fields.empty() && (lists.empty() || r.chance(20))) {
    const auto& [object, name] = detail::any(fields, r);
    object->erase(name);
    return true;
  }
  if (lists.empty()) return false;
  json& list = *detail::any(lists, r);
  list.erase(r.below(static_cast<std::uint32_t>(list.size())));
  return true;
}
/// Two items of a list, or what stands under two keys of a step.
inline bool swap_two(json& j, random& r, std::size_t) {
  static constexpr std::array<std::pair<const char*, const char*>, 7> keys{{{"before", "after"},
                                                                            {"in", "out"},
                                                                            {"first", "last"},
                                                                            {"then", "else"},
                                                                            {"behind", "ahead"},
                                                                            {"v", "before"},
                                                                            {"v", "after"}}};
  auto [numbers, nodes, words, lists, fields] = detail::found_in(j);
  if (!fields.empty() && r.chance(20)) {
    json& object = *detail::any(fields, r).first;
    const auto& [a, b] = keys[r.below(keys.size())];
    const json at_a = object.value(a, json()), at_b = object.value(b, json());
    for (const auto& [key, value] : {std::pair(a, at_b), std::pair(b, at_a)}) {
      object.erase(key);
      if (!value.is_null()) object[key] = value;
    }
    return true;
  }
  std::erase_if(lists, [](const json* list) { return list->size() < 2; });
  if (lists.empty()) return false;
  json& list = *detail::any(lists, r);
  const auto count = static_cast<std::uint32_t>(list.size());
  const std::uint32_t i = r.below(count);
  std::swap(list[i], list[(i + 1 + r.below(count - 1)) % count]);
  return true;
}

/// A layer: one of its nodes with its flow left out, twice there, or one more without a flow, or two whose flows are
/// swapped; or the last of them is in question in place of the first, or the other way round.
inline bool change_layer(json& j, random& r, std::size_t size) {
  auto [numbers, nodes, words, lists, fields] = detail::found_in(j);
  std::erase_if(fields, [](const auto& field) { return field.second != "first" && field.second != "last"; });
  if (fields.empty()) return false;
  const auto& [step, name] = detail::any(fields, r);
  json layer = (*step)[name];
  if (!layer.is_array() || layer.empty()) return false;
  const auto any = [&] { return r.below(static_cast<std::uint32_t>(layer.size())); };
  switch (r.below(5)) {
    case 0: layer.erase(any()); break;
    case 1: layer.push_back(json(layer[any()])); break;
    case 2: layer.push_back({{"v", r.below(static_cast<std::uint32_t>(size + 1))}, {"flow", json::array()}}); break;
    case 3: std::swap(layer[any()]["flow"], layer[any()]["flow"]); break;
    default:
      step->erase(name);
      (*step)[name == "first" ? "last" : "first"] = layer;
      return true;
  }
  std::sort(layer.begin(), layer.end(), [](const json& a, const json& b) { return a["v"] < b["v"]; });
  (*step)[name] = layer;
  return true;
}

/// Adds to the bound and to all levels.
inline void add_to_levels(json& j, std::int64_t more) {
  const auto add = [more](json& n) {
    const std::int64_t sum = n.get<std::int64_t>() + more;
    n = static_cast<memsched::bytes>(sum > 0 ? sum : 0);
  };
  if (j.is_object())
    for (auto& [name, value] : j.items()) name == "bound" || name == "level" ? add(value) : add_to_levels(value, more);
  if (j.is_array())
    for (json& item : j) add_to_levels(item, more);
}

struct mutation {
  const char* name;
  bool (*change)(json&, random&, std::size_t nodes);
};
inline constexpr std::array<mutation, 5> all{{{"a number changed", change_number},
                                              {"a node changed", change_node},
                                              {"something left out", leave_out},
                                              {"two swapped", swap_two},
                                              {"a layer changed", change_layer}}};

}  // namespace mutations
