// Random problems with everything in them, for laws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/graph/builder.hpp>

namespace support {

/// Small numbers and percentages.
struct random : memsched::base::random_source {
  using memsched::base::random_source::random_source;
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(memsched::base::random_source::below(n)); }
  bool chance(std::uint32_t percent) { return memsched::base::random_source::chance(percent, 100); }
};

/// Where each of `n` items goes, seven times of ten to a place drawn at random: rules that look at numbers, by accident or
/// to break ties, see others than those of a topological order.
inline std::vector<std::uint32_t> random_places(std::uint64_t seed, std::uint32_t n) {
  std::vector<std::uint32_t> place(n);
  std::iota(place.begin(), place.end(), 0U);
  random r(~seed);
  if (r.chance(70))
    for (std::uint32_t i = n; i > 1; --i) std::swap(place[i - 1], place[r.below(i)]);
  return place;
}

/// The same graph with its operators in other places, by `random_places`.
inline memsched::problem_draft renumbered(const memsched::problem_draft& d, std::uint64_t seed) {
  using namespace memsched;
  const auto n = static_cast<std::uint32_t>(d.operators.size());
  const std::vector<std::uint32_t> place = random_places(seed, n);
  std::vector<op_id> at(n);
  for (op_id op = 0; op < n; ++op) at[place[op]] = op;
  problem_draft other = d;
  other.operators.clear(), other.operator_names.clear();
  other.reads = {}, other.writes = {}, other.after = {}, other.overwrites = {}, other.updates = {};
  for (op_id op : at) {
    other.operators.push_back(d.operators[op]);
    if (!d.operator_names.empty()) other.operator_names.push_back(d.operator_names[op]);
    for (tensor_id t : d.reads[op]) other.reads.push(t);
    for (tensor_id t : d.writes[op]) other.writes.push(t);
    for (op_id before : d.after[op]) other.after.push(place[before]);
    other.reads.close(), other.writes.close(), other.after.close();
    if (d.overwrites.size() > 0) {
      for (const auto& o : d.overwrites[op]) other.overwrites.push(o);
      other.overwrites.close();
    }
    if (d.updates.size() > 0) {
      for (tensor_id t : d.updates[op]) other.updates.push(t);
      other.updates.close();
    }
  }
  return other;
}

/// The same graph with its tensors in other places.
inline memsched::problem_draft tensors_renumbered(const memsched::problem_draft& d, std::uint64_t seed) {
  using namespace memsched;
  const auto place = random_places(seed, static_cast<std::uint32_t>(d.tensors.size()));
  const auto moved = [&](tensor_id t) { return t == none ? none : place[t]; };
  const auto moved_lists = [&](const list_of<tensor_id>& lists) {
    list_of<tensor_id> other;
    for (op_id op = 0; op < lists.size(); ++op) {
      for (tensor_id t : lists[op]) other.push(moved(t));
      other.close();
    }
    return other;
  };
  problem_draft other = d;
  for (tensor_id t = 0; t < d.tensors.size(); ++t)
    other.tensors[place[t]] = {d.tensors[t].size, moved(d.tensors[t].alias_of)};
  for (problem_draft::operator_data& op : other.operators) op.overwrites = moved(op.overwrites);
  for (auto* list : {&other.graph_inputs, &other.graph_outputs})
    for (tensor_id& t : *list) t = moved(t);
  other.reads = moved_lists(d.reads), other.writes = moved_lists(d.writes), other.updates = moved_lists(d.updates);
  other.overwrites = {};
  for (op_id op = 0; op < d.overwrites.size(); ++op) {
    for (const auto& o : d.overwrites[op]) other.overwrites.push({moved(o.output), moved(o.input)});
    other.overwrites.close();
  }
  return other;
}

struct shape {
  std::uint32_t operators = 8;
  std::uint32_t max_size = 30;
  std::uint32_t percent_inplace = 40, percent_alias = 10, percent_control = 15, percent_rule = 20;
  std::uint32_t max_inputs = 3;
  memsched::bytes unit = 1;                                   ///< of which all sizes are multiples
  std::uint32_t percent_updates = 0, percent_overwrites = 0;  ///< of operators that update inputs, overwrite several
};

/// Pairs of outputs and inputs beside those that operators have; each output and each input at most once.
inline void add_overwrites(memsched::problem_draft& d, std::uint32_t percent, random& r) {
  for (memsched::op_id op = 0; op < d.operators.size(); ++op) {
    std::vector<memsched::tensor_id> inputs;
    for (const memsched::tensor_id t : d.reads[op])
      if (t != d.operators[op].overwrites && std::find(inputs.begin(), inputs.end(), t) == inputs.end()) inputs.push_back(t);
    const bool first_is_taken = d.operators[op].overwrites != memsched::none;
    for (std::size_t i = first_is_taken ? 1 : 0; i < d.writes[op].size() && !inputs.empty(); ++i) {
      if (!r.chance(percent)) continue;
      const auto at = inputs.begin() + r.below(static_cast<std::uint32_t>(inputs.size()));
      d.overwrites.push({d.writes[op][i], *at});
      inputs.erase(at);
    }
    d.overwrites.close();
  }
}

/// Inputs that operators change where they are, each once.
inline void add_updates(memsched::problem_draft& d, std::uint32_t percent, random& r) {
  for (memsched::op_id op = 0; op < d.operators.size(); ++op) {
    for (const memsched::tensor_id t : d.reads[op]) {
      const auto so_far = d.updates.open();
      if (r.chance(percent) && std::find(so_far.begin(), so_far.end(), t) == so_far.end()) d.updates.push(t);
    }
    d.updates.close();
  }
}

/// Operators with shared tensors, several outputs, workspaces, aliases, control edges, overwritten inputs, own firing
/// rules, graph inputs and outputs, tensors of size zero and tensors that no operator reads; most are renumbered. If updates
/// ask for a cycle, `make_problem` refuses the draft.
inline memsched::problem_draft random_draft(std::uint64_t seed, const shape& s = {}) {
  using namespace memsched;
  random r(seed);
  problem_builder b;
  std::vector<tensor_id> tensors;
  const auto size = [&] { return s.unit * (r.chance(10) ? 0 : r.below(s.max_size) + 1); };
  for (std::uint32_t i = r.below(3); i > 0; --i) tensors.push_back(b.input(size()));
  for (op_id op = 0; op < s.operators; ++op) {
    operator_spec spec;
    for (std::uint32_t i = r.below(s.max_inputs + 1); i > 0 && !tensors.empty(); --i)
      spec.reads.push_back(tensors[r.below(static_cast<std::uint32_t>(tensors.size()))]);
    if (op > 0 && r.chance(s.percent_control)) spec.after.push_back(r.below(op));
    if (!spec.reads.empty() && r.chance(s.percent_inplace))
      spec.overwrites = spec.reads[r.below(static_cast<std::uint32_t>(spec.reads.size()))];
    if (r.chance(s.percent_rule)) spec.rule = r.chance(50) ? firing::cbp : firing::pbc;
    if (r.chance(30)) spec.workspace = s.unit * r.below(s.max_size);
    if (!spec.reads.empty() && r.chance(s.percent_alias)) spec.writes.push_back(b.alias(spec.reads[0]));
    for (std::uint32_t i = r.chance(5) ? 0 : r.chance(25) ? 2 : 1; i > 0; --i) spec.writes.push_back(b.tensor(size()));
    b.op(spec);
    tensors.insert(tensors.end(), spec.writes.begin(), spec.writes.end());
  }
  for (tensor_id t : tensors)
    if (r.chance(15)) b.output(t);
  problem_draft d = b.draft();
  if (s.percent_overwrites > 0) add_overwrites(d, s.percent_overwrites, r);
  if (s.percent_updates > 0) add_updates(d, s.percent_updates, r);
  return renumbered(d, seed);
}

inline memsched::problem random_problem(std::uint64_t seed, const shape& s = {}) {
  return memsched::make_problem(random_draft(seed, s)).value();
}

}  // namespace support
