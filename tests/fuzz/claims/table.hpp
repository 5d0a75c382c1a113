// Small graphs as tables: made at random, checked and shrunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/check.hpp>

#include "support/random_problem.hpp"
#include "support/random_sums.hpp"

namespace claims {

using memsched::bytes;
using support::random;

/// A graph as rows that can be changed one by one; names are places in the two lists.
struct table {
  struct tensor {
    bytes size = 0;
    int alias_of = -1;
    bool output = false;
  };
  struct op {
    std::vector<unsigned> reads{}, writes{}, after{};
    bytes workspace = 0;
    int overwrites = -1;  // a tensor
    int rule = -1;        // 0: pbc, 1: cbp
    int scope = -1;
  };
  std::vector<tensor> tensors;
  std::vector<op> ops;
};

/// The graph as a draft, with its scopes numbered by first appearance, as readers of files number them.
inline memsched::problem_draft draft_of(const table& t) {
  memsched::problem_draft d;
  d.name = "claims";
  std::vector<bool> written(t.tensors.size(), false);
  for (const auto& o : t.ops)
    for (unsigned w : o.writes) written[w] = true;
  for (unsigned i = 0; i < t.tensors.size(); ++i) {
    memsched::problem_draft::tensor_data data{.size = t.tensors[i].size};
    if (t.tensors[i].alias_of >= 0) data.alias_of = static_cast<memsched::tensor_id>(t.tensors[i].alias_of);
    d.tensors.push_back(data);
    if (!written[i]) d.graph_inputs.push_back(i);
    if (t.tensors[i].output) d.graph_outputs.push_back(i);
  }
  std::map<int, memsched::index_t> scopes;
  for (const auto& o : t.ops) {
    memsched::problem_draft::operator_data data{.workspace = o.workspace};
    if (o.overwrites >= 0) data.overwrites = static_cast<memsched::tensor_id>(o.overwrites);
    if (o.rule >= 0) data.rule = o.rule == 1 ? memsched::firing::cbp : memsched::firing::pbc;
    if (o.scope >= 0) data.scope = scopes.try_emplace(o.scope, static_cast<memsched::index_t>(scopes.size())).first->second;
    for (unsigned r : o.reads) d.reads.push(r);
    for (unsigned w : o.writes) d.writes.push(w);
    for (unsigned a : o.after) d.after.push(a);
    d.reads.close(), d.writes.close(), d.after.close();
    d.operators.push_back(data);
  }
  return d;
}

inline std::optional<memsched::problem> problem_of(const table& t) {
  auto p = memsched::make_problem(draft_of(t));
  return p ? std::optional(std::move(p).value()) : std::nullopt;
}

/// Two copies side by side: first operators, then second ones, and so on.
inline table two_of(const table& t) {
  const auto tensors = static_cast<unsigned>(t.tensors.size());
  table both;
  for (const unsigned copy : {0U, 1U})
    for (table::tensor x : t.tensors) {
      if (x.alias_of >= 0) x.alias_of += static_cast<int>(copy * tensors);
      both.tensors.push_back(x);
    }
  for (const table::op& one : t.ops)
    for (const unsigned copy : {0U, 1U}) {
      table::op o = one;
      for (auto* list : {&o.reads, &o.writes})
        for (unsigned& x : *list) x += copy * tensors;
      for (unsigned& a : o.after) a = 2 * a + copy;
      if (o.overwrites >= 0) o.overwrites += static_cast<int>(copy * tensors);
      both.ops.push_back(std::move(o));
    }
  return both;
}

/// Sums of products with 4 to 16 operators.
inline table random_table_of_sums(random& r) {
  memsched::problem_draft d;
  do {
    const std::uint32_t values = 1 + r.below(4), sums = 1 + r.below(3), percent = 30 + r.below(60);
    d = support::random_sums(r.below(1U << 31), {values, sums, percent, 1 + r.below(3), r.below(40)});
  } while (d.operators.size() < 4 || d.operators.size() > 16);
  table t;
  for (const memsched::problem_draft::tensor_data& x : d.tensors) t.tensors.push_back({.size = x.size});
  for (const memsched::tensor_id x : d.graph_outputs) t.tensors[x].output = true;
  for (memsched::op_id i = 0; i < d.operators.size(); ++i) {
    table::op o{.workspace = d.operators[i].workspace};
    o.reads.assign(d.reads[i].begin(), d.reads[i].end()), o.writes.assign(d.writes[i].begin(), d.writes[i].end());
    if (d.operators[i].overwrites != memsched::none) o.overwrites = static_cast<int>(d.operators[i].overwrites);
    if (d.operators[i].rule) o.rule = *d.operators[i].rule == memsched::firing::cbp ? 1 : 0;
    t.ops.push_back(std::move(o));
  }
  return t;
}

/// 6 to 16 operators, or two copies of 3 to 7, of some density, sizes, fan-in and locality; shared tensors, aliases, control
/// edges, several outputs, workspaces, overwritten inputs, rules of their own, sizes of zero and sizes with a common divisor;
/// or sums of products. Most are renumbered.
inline table random_table(random& r) {
  if (r.chance(20)) return random_table_of_sums(r);
  const bool copied = r.chance(15);
  const std::uint32_t n = copied ? 3 + r.below(5) : 6 + (r.chance(70) ? r.below(6) : r.below(11)), fan = 1 + r.below(4);
  const std::uint32_t sizes[] = {2, 3, 8, 60, 1000}, units[] = {1, 1, 1, 2, 6, 10};
  const std::uint32_t most = sizes[r.below(5)], unit = units[r.below(6)];
  const std::uint32_t overwrites = r.below(3) * 30, outputs = r.below(20), workspaces = r.below(3) * 25,
                      twice = r.below(3) * 20, control = r.below(3) * 12, aliases = r.chance(30) ? 12 : 0,
                      rules = r.chance(25) ? 30 : 0, zero = r.below(3) * 8, sink = r.below(3) * 6,
                      near = r.chance(50) ? 2 + r.below(7) : 1000, hubs = r.chance(40) ? 2 + r.below(4) : 0,
                      scopes = r.chance(20) ? 1 + r.below(4) : 0;
  table t;
  const auto add = [&](int alias) {
    t.tensors.push_back({alias >= 0 || r.chance(zero) ? 0 : bytes{unit} * (1 + r.below(most)), alias, false});
    return static_cast<unsigned>(t.tensors.size() - 1);
  };
  for (std::uint32_t i = r.below(3); i > 0; --i) add(-1);
  const auto inputs = static_cast<unsigned>(t.tensors.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    table::op o;
    const auto made = static_cast<std::uint32_t>(t.tensors.size()), from = made > near ? made - near : 0;
    for (std::uint32_t k = made == 0 ? 0 : r.below(fan + 1); k > 0; --k)
      o.reads.push_back(hubs > 0 && r.chance(50) ? r.below(std::min(hubs, made)) : from + r.below(made - from));
    if (i > 0 && r.chance(control)) o.after.push_back(r.below(i));
    if (r.chance(workspaces)) o.workspace = bytes{unit} * r.below(most + 1);
    if (!o.reads.empty() && r.chance(overwrites))
      o.overwrites = static_cast<int>(o.reads[r.below(static_cast<std::uint32_t>(o.reads.size()))]);
    if (r.chance(rules)) o.rule = static_cast<int>(r.below(2));
    if (scopes > 0) o.scope = static_cast<int>(i * scopes / n);
    if (!o.reads.empty() && r.chance(aliases)) o.writes.push_back(add(static_cast<int>(o.reads[0])));
    for (std::uint32_t k = r.chance(sink) ? 0 : r.chance(twice) ? 2 : 1; k > 0; --k) o.writes.push_back(add(-1));
    t.ops.push_back(std::move(o));
  }
  for (unsigned i = inputs; i < t.tensors.size(); ++i) t.tensors[i].output = r.chance(outputs);
  if (copied) t = two_of(t);
  if (r.chance(30)) return t;
  const auto all = static_cast<std::uint32_t>(t.ops.size());
  std::vector<unsigned> place(all);
  std::iota(place.begin(), place.end(), 0U);
  for (std::uint32_t i = all; i > 1; --i) std::swap(place[i - 1], place[r.below(i)]);
  table renumbered = t;
  for (std::uint32_t i = 0; i < all; ++i) {
    for (unsigned& a : t.ops[i].after) a = place[a];
    renumbered.ops[place[i]] = std::move(t.ops[i]);
  }
  return renumbered;
}

namespace detail {

inline void erase_op(table& t, unsigned i) {
  t.ops.erase(t.ops.begin() + i);
  for (auto& o : t.ops) {
    std::erase(o.after, i);
    for (unsigned& a : o.after) a -= a > i;
  }
}
inline void erase_tensor(table& t, unsigned i) {
  t.tensors.erase(t.tensors.begin() + i);
  const auto less = [i](int& at) { at = at == static_cast<int>(i) ? -1 : at > static_cast<int>(i) ? at - 1 : at; };
  for (auto& x : t.tensors) less(x.alias_of);
  for (auto& o : t.ops) {
    less(o.overwrites);
    for (auto* list : {&o.reads, &o.writes}) {
      std::erase(*list, i);
      for (unsigned& x : *list) x -= x > i;
    }
  }
}

}  // namespace detail

/// A smaller graph that still has the fault: rows and entries go, and sizes fall, as long as any of that keeps it.
inline table shrunk(table t, const std::function<bool(const table&)>& faulty) {
  const auto attempt = [&](auto&& change) {
    table smaller = t;
    change(smaller);
    if (!faulty(smaller)) return false;
    t = std::move(smaller);
    return true;
  };
  for (bool any = true; any;) {
    any = false;
    for (unsigned i = 0; i < t.ops.size();)
      if (attempt([&](table& x) { detail::erase_op(x, i); })) any = true;
      else ++i;
    for (unsigned i = 0; i < t.tensors.size();)
      if (attempt([&](table& x) { detail::erase_tensor(x, i); })) any = true;
      else ++i;
    for (unsigned i = 0; i < t.ops.size(); ++i) {
      for (auto list : {&table::op::reads, &table::op::after})
        for (unsigned k = 0; k < (t.ops[i].*list).size();)
          if (attempt([&](table& x) { (x.ops[i].*list).erase((x.ops[i].*list).begin() + k); })) any = true;
          else ++k;
      for (auto field : {&table::op::overwrites, &table::op::rule, &table::op::scope})
        if (t.ops[i].*field >= 0) any |= attempt([&](table& x) { x.ops[i].*field = -1; });
      for (const bytes less : {t.ops[i].workspace, t.ops[i].workspace / 2, std::min<bytes>(t.ops[i].workspace, 1)})
        if (less > 0) any |= attempt([&](table& x) { x.ops[i].workspace -= less; });
    }
    for (unsigned i = 0; i < t.tensors.size(); ++i) {
      if (t.tensors[i].output) any |= attempt([&](table& x) { x.tensors[i].output = false; });
      for (const bytes less : {t.tensors[i].size, t.tensors[i].size / 2, std::min<bytes>(t.tensors[i].size, 1)})
        if (less > 0 && less <= t.tensors[i].size) any |= attempt([&](table& x) { x.tensors[i].size -= less; });
    }
  }
  return t;
}

}  // namespace claims
