// From a problem as described to a problem without fault: every check of a graph, in one place.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The problem that `draft` describes; an error if it has a fault. O(operators + tensors + uses).
MEMSCHED_FUNCTION result<problem> make_problem(problem_draft draft);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/topology.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Checks one draft; use it through `make_problem`.
class checker {
 public:
  explicit checker(problem_draft draft) : p_(std::move(draft)) {}

  result<problem> run() {
    const bool good = check_counts() && check_indices() && check_sizes() && find_producers() && find_storages() &&
                      find_reads() && find_reuses() && find_versions() && find_predecessors() && check_acyclic();
    if (!good) return std::move(error_);
    return std::move(p_);
  }

 private:
  problem_draft& draft() { return p_.draft_; }
  std::size_t operators() const { return p_.draft_.operators.size(); }
  std::size_t tensors() const { return p_.draft_.tensors.size(); }

  static std::string label(const char* kind, const std::vector<std::string>& names, index_t i) {
    return labelled(kind, i, i < names.size() ? std::string_view(names[i]) : std::string_view());
  }
  std::string op_label(op_id op) const { return label("operator ", p_.draft_.operator_names, op); }
  std::string tensor_label(tensor_id t) const { return label("tensor ", p_.draft_.tensor_names, t); }

  bool fault(error_code code, std::string message, std::vector<index_t> ops, std::vector<index_t> ts) {
    error_ = {code, std::move(message), std::move(ops), std::move(ts)};
    return false;
  }

  bool check_counts() {
    constexpr std::size_t limit = std::size_t{1} << 31;
    if (operators() < limit && tensors() < limit) return true;
    return fault(error_code::too_large, "more than 2^31 operators or tensors", {}, {});
  }

  bool check_indices() {
    for (op_id op = 0; op < operators(); ++op) {
      for (const auto* list : {&draft().reads, &draft().writes})
        for (tensor_id t : (*list)[op])
          if (t >= tensors()) return unknown_tensor(op_label(op) + " names", t, op);
      for (op_id before : draft().after[op])
        if (before >= operators())
          return fault(error_code::unknown_operator,
                       op_label(op) + " runs after operator " + std::to_string(before) + ", which does not exist", {op}, {});
      if (const tensor_id old = draft().operators[op].overwrites; old != none && !is_input(op, old))
        return fault(error_code::bad_overwrite, op_label(op) + " overwrites a tensor that is none of its inputs", {op}, {});
      for (const auto& o : p_.further_overwrites(op)) {
        const auto out = draft().writes[op];
        if (!is_input(op, o.input) || std::find(out.begin(), out.end(), o.output) == out.end())
          return fault(error_code::bad_overwrite,
                       op_label(op) + " overwrites with a tensor that is none of its outputs one that is none of its inputs",
                       {op}, {});
      }
      for (tensor_id t : p_.updates(op))
        if (!is_input(op, t))
          return fault(error_code::bad_update, op_label(op) + " updates a tensor that is none of its inputs", {op}, {});
    }
    for (const auto* list : {&draft().graph_inputs, &draft().graph_outputs})
      for (tensor_id t : *list)
        if (t >= tensors()) return unknown_tensor("the graph's inputs or outputs name", t, none);
    for (tensor_id t = 0; t < tensors(); ++t)
      if (const tensor_id a = draft().tensors[t].alias_of; a != none && a >= tensors())
        return unknown_tensor(tensor_label(t) + " is an alias of", a, none);
    return true;
  }

  bool is_input(op_id op, tensor_id t) const {
    const auto in = p_.draft_.reads[op];
    return std::find(in.begin(), in.end(), t) != in.end();
  }

  bool unknown_tensor(const std::string& who, tensor_id t, op_id op) {
    return fault(error_code::unknown_tensor, who + " tensor " + std::to_string(t) + ", which does not exist",
                 op == none ? std::vector<index_t>{} : std::vector<index_t>{op}, {});
  }

  bool check_sizes() {
    bytes left = base::max_total;
    const auto take = [&left](bytes size) { return size <= left ? (left -= size, true) : false; };
    for (tensor_id t = 0; t < tensors(); ++t)
      if (!take(draft().tensors[t].size))
        return fault(error_code::overflow, "the sizes up to " + tensor_label(t) + " sum to more than 2^61 bytes", {}, {t});
    for (op_id op = 0; op < operators(); ++op)
      if (!take(draft().operators[op].workspace))
        return fault(error_code::overflow,
                     "the sizes up to the workspace of " + op_label(op) + " sum to more than 2^61 bytes", {op}, {});
    return check_costs();
  }

  bool check_costs() {
    std::uint64_t left = base::max_total;
    for (op_id op = 0; op < operators(); ++op) {
      const std::uint64_t cost = draft().operators[op].cost;
      if (cost > left)
        return fault(error_code::overflow, "the costs up to " + op_label(op) + " sum to more than 2^61", {op}, {});
      left -= cost;
    }
    return true;
  }

  bool find_producers() {
    p_.writer_.assign(tensors(), none);
    p_.live_out_.assign(tensors(), false);
    plain_vector<bool> input(tensors(), false);
    for (tensor_id t : draft().graph_inputs) input[t] = true;
    for (tensor_id t : draft().graph_outputs) p_.live_out_[t] = true;
    for (op_id op = 0; op < operators(); ++op)
      for (tensor_id t : draft().writes[op]) {
        if (input[t])
          return fault(error_code::produced_input, tensor_label(t) + " is a graph input, but " + op_label(op) + " writes it",
                       {op}, {t});
        if (p_.writer_[t] != none)
          return fault(error_code::two_producers,
                       tensor_label(t) + " is written twice, by " + op_label(p_.writer_[t]) + " and by " + op_label(op),
                       {p_.writer_[t], op}, {t});
        p_.writer_[t] = op;
      }
    for (op_id op = 0; op < operators(); ++op)
      for (tensor_id t : draft().reads[op]) {
        if (p_.writer_[t] == op)
          return fault(error_code::reads_own_output, op_label(op) + " reads its own output, " + tensor_label(t), {op}, {t});
        if (p_.writer_[t] == none && !input[t])
          return fault(error_code::no_producer,
                       op_label(op) + " reads " + tensor_label(t) + ", which is no operator's output and no graph input",
                       {op}, {t});
      }
    for (tensor_id t : draft().graph_outputs)
      if (p_.writer_[t] == none && !input[t])
        return fault(error_code::no_producer,
                     tensor_label(t) + " is a graph output, but no operator's output and no graph input", {}, {t});
    return true;
  }

  bool find_storages() {
    p_.storage_.resize(tensors());
    std::iota(p_.storage_.begin(), p_.storage_.end(), tensor_id{0});
    p_.stays_ = p_.live_out_;
    p_.producer_ = p_.writer_;
    const auto is_alias = [&](tensor_id t) { return p_.alias_of(t) != t; };
    const auto all = p_.tensors();
    return std::none_of(all.begin(), all.end(), is_alias) || resolve_aliases();
  }

  /// Follows aliases to their storage. An alias comes from an operator that already holds the storage.
  bool resolve_aliases() {
    auto& root = p_.storage_;
    root.assign(tensors(), none);
    std::vector<tensor_id> path, last_walk(tensors(), none);
    for (tensor_id t = 0; t < tensors(); ++t) {
      tensor_id at = t;
      for (path.clear(); root[at] == none;) {
        if (last_walk[at] == t)
          return fault(error_code::bad_alias, tensor_label(at) + " is an alias of itself, in a circle", {}, {at});
        last_walk[at] = t;
        path.push_back(at);
        const tensor_id next = p_.alias_of(at);
        if (next == at) root[at] = at;
        else at = next;
      }
      for (tensor_id u : path) root[u] = root[at];
    }
    for (tensor_id t = 0; t < tensors(); ++t)
      if (root[t] != t && !alias_is_held(t))
        return fault(error_code::bad_alias,
                     tensor_label(t) + " is an alias of " + tensor_label(root[t]) +
                         (p_.writer_[t] == none ? ", but no operator writes it" : ", which its producer does not read"),
                     {}, {t});
    p_.stays_.assign(tensors(), false);
    for (tensor_id t : draft().graph_outputs) p_.stays_[root[t]] = true;
    for (tensor_id t = 0; t < tensors(); ++t)
      if (root[t] != t) p_.producer_[t] = none;
    return true;
  }

  bool alias_is_held(tensor_id t) {
    const tensor_id root = p_.storage_[t];
    if (p_.writer_[t] == none) return p_.writer_[root] == none;
    if (p_.writer_[root] == p_.writer_[t]) return true;
    const auto in = draft().reads[p_.writer_[t]];
    return std::any_of(in.begin(), in.end(), [&](tensor_id u) { return p_.storage_[u] == root; });
  }

  bool find_reads() {
    p_.reads_.reserve(operators(), draft().reads.items());
    p_.creates_.reserve(operators(), draft().writes.items());
    std::vector<op_id> last_reader(tensors(), none);
    for (op_id op = 0; op < operators(); ++op) {
      for (tensor_id t : draft().reads[op]) {
        const tensor_id s = p_.storage_[t];
        if (std::exchange(last_reader[s], op) == op) continue;
        p_.reads_.push(s);
      }
      p_.reads_.close();
      for (tensor_id t : draft().writes[op])
        if (p_.storage_[t] == t) p_.creates_.push(t);
      p_.creates_.close();
    }
    p_.readers_ = base::transpose(p_.reads_, tensors());
    for (tensor_id t = 0; t < tensors(); ++t)
      if (p_.storage_[t] == t && p_.writer_[t] == none && p_.kept(t)) p_.live_at_start_ += p_.size(t);
    return true;
  }

  bool find_reuses() {
    const auto overwrites = [](const problem_draft::operator_data& data) { return data.overwrites != none; };
    if (draft().overwrites.items() == 0 && std::none_of(draft().operators.begin(), draft().operators.end(), overwrites))
      return true;
    std::vector<op_id> taken_by(tensors(), none);
    for (op_id op = 0; op < operators(); ++op) {
      const auto add = [&](tensor_id output, tensor_id input) {
        const tensor_id old = p_.storage_[input];
        if (p_.storage_[output] != output || p_.stays_[old] || p_.size(output) > p_.size(old)) return true;
        for (tensor_id t : {output, old})
          if (std::exchange(taken_by[t], op) == op)
            return fault(error_code::bad_overwrite, op_label(op) + " overwrites with or in " + tensor_label(t) + " twice",
                         {op}, {t});
        p_.reuses_.push({old, output, p_.size(output)});
        return true;
      };
      const auto out = draft().writes[op];
      if (const tensor_id input = draft().operators[op].overwrites; input != none && !out.empty()) add(out[0], input);
      for (const auto& o : p_.further_overwrites(op))
        if (!add(o.output, o.input)) return false;
      p_.reuses_.close();
    }
    return true;
  }

  /// Numbers the values that storages hold one after the other. A name holds the value of the tensor it is an alias of, but
  /// for an output of an operator that updates that value: it begins the next. `version_[t]` is the name that the value of t
  /// began with.
  bool find_versions() {
    version_.assign(tensors(), none);
    if (draft().updates.items() == 0) return true;
    std::vector<tensor_id> path;
    for (tensor_id t = 0; t < tensors(); ++t) {
      tensor_id at = t;
      for (path.clear(); version_[at] == none;) {
        path.push_back(at);
        if (p_.storage_[at] == at) version_[at] = at;
        else if (updates_storage_of(p_.writer_[at], at)) version_[at] = first_name(p_.writer_[at], p_.storage_[at]);
        else at = draft().tensors[at].alias_of;
      }
      for (tensor_id u : path) version_[u] = version_[at];
    }
    return true;
  }
  bool updates_storage_of(op_id op, tensor_id t) const {
    if (op == none) return false;
    const auto updated = p_.updates(op);
    return std::any_of(updated.begin(), updated.end(), [&](tensor_id u) { return p_.storage_[u] == p_.storage_[t]; });
  }
  /// The first output of op that names the storage; none if none does.
  tensor_id first_name(op_id op, tensor_id storage) const {
    for (tensor_id t : p_.draft_.writes[op])
      if (p_.storage_[t] == storage) return t;
    return none;
  }

  /// The order that updates ask for, as pairs (operator, one before it): at most one a use and one an update.
  /// An update whose result has a name runs after all users of the value that it changes; others take their turn in the
  /// order in which operators are listed: after the last update of that value and the users since, before those that
  /// follow.
  bool order_updates(plain_vector<std::pair<op_id, op_id>>& edges) {
    struct turn {
      op_id update = none;
      std::vector<op_id> since{};  // users after it, or after the start
    };
    std::vector<turn> turns(tensors());
    plain_vector<std::pair<op_id, tensor_id>> named;  // updates with a named result, and the value they change
    for (op_id op = 0; op < operators(); ++op) {
      for (tensor_id t : draft().reads[op]) {
        const auto updated = p_.updates(op);
        const tensor_id value = version_[t];
        turn& now = turns[value];
        if (std::find(updated.begin(), updated.end(), t) == updated.end()) {
          if (now.update != none && now.update != op) edges.emplace_back(op, now.update);
          now.since.push_back(op);
        } else if (first_name(op, p_.storage_[t]) != none) {
          named.emplace_back(op, value);
        } else {
          for (op_id user : now.since)
            if (user != op) edges.emplace_back(op, user);
          if (now.update != none && now.update != op) edges.emplace_back(op, now.update);
          now = {op, {}};
        }
      }
    }
    for (const auto& [op, value] : named) {
      for (op_id user : turns[value].since)
        if (user != op) edges.emplace_back(op, user);
      if (const op_id last = turns[value].update; last != none && last != op) edges.emplace_back(op, last);
    }
    return check_named_updates(named);
  }
  /// Two operators that both change one value and name the result would each have to run after the other; nor may an output
  /// of the graph be changed.
  bool check_named_updates(const plain_vector<std::pair<op_id, tensor_id>>& named) {
    std::vector<op_id> changed_by(tensors(), none);
    for (const auto& [op, value] : named)
      if (const op_id other = std::exchange(changed_by[value], op); other != none && other != op)
        return fault(error_code::cycle,
                     op_label(other) + " and " + op_label(op) + " both update " + tensor_label(value) +
                         ": each would have to run before the other",
                     {other, op}, {value});
    for (tensor_id t : draft().graph_outputs)
      if (const op_id op = changed_by[version_[t]]; op != none)
        return fault(error_code::bad_update,
                     tensor_label(t) + " is a graph output, but " + op_label(op) + " changes its value", {op}, {t});
    return true;
  }

  bool find_predecessors() {
    plain_vector<std::pair<op_id, op_id>> updates;
    if (draft().updates.items() > 0 && !order_updates(updates)) return false;
    const adjacency behind = adjacency::from_pairs(updates.empty() ? 0 : operators(), updates);
    p_.predecessors_.reserve(operators(), draft().reads.items() + draft().after.items() + updates.size());
    std::vector<op_id> last_successor(operators(), none);
    for (op_id op = 0; op < operators(); ++op) {
      const auto add = [&](op_id before) {
        if (std::exchange(last_successor[before], op) != op) p_.predecessors_.push(before);
      };
      for (tensor_id t : draft().reads[op])
        if (p_.writer_[t] != none) add(p_.writer_[t]);
      for (op_id before : draft().after[op]) add(before);
      if (!updates.empty())
        for (op_id before : behind[op]) add(before);
      p_.predecessors_.close();
    }
    return true;
  }

  bool check_acyclic() {
    const auto is_listed_behind = [&](op_id op) {
      const auto before = p_.predecessors_[op];
      return std::all_of(before.begin(), before.end(), [op](op_id b) { return b < op; });
    };
    const auto all = p_.ops();
    if (std::all_of(all.begin(), all.end(), is_listed_behind)) return true;
    const auto order = base::topological_order(p_.predecessors_, base::transpose(p_.predecessors_, operators()));
    if (order.size() == operators()) return true;
    plain_vector<bool> waits(operators(), true);
    for (op_id op : order) waits[op] = false;
    return cycle(waits);
  }

  /// Reports one circle among the operators that wait for ever: each of them waits for another.
  bool cycle(const plain_vector<bool>& waits) {
    op_id at = static_cast<op_id>(std::find(waits.begin(), waits.end(), true) - waits.begin());
    std::vector<op_id> path;
    plain_vector<bool> seen(operators(), false);
    while (!seen[at]) {
      seen[at] = true;
      path.push_back(at);
      const auto before = p_.predecessors_[at];
      at = *std::find_if(before.begin(), before.end(), [&](op_id b) { return waits[b]; });
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    std::reverse(path.begin(), path.end());
    std::string message = "a cycle: ";
    constexpr std::size_t shown = 8;
    for (std::size_t i = 0; i < std::min(path.size(), shown); ++i) message += op_label(path[i]) + " -> ";
    message += path.size() > shown ? "... (" + std::to_string(path.size()) + " operators)" : op_label(path[0]);
    return fault(error_code::cycle, std::move(message), path, {});
  }

  problem p_;
  std::vector<tensor_id> version_;
  graph_error error_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<problem> make_problem(problem_draft draft) { return detail::checker(std::move(draft)).run(); }

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
