// Rows and gaps: the memory that first runs need, and the stretches between them where a storage could be absent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Of which schedules a bound of the extra cost holds.
enum class bound_scope : unsigned char {
  given_order,  ///< those in which operators first run in the given order
  any_order,    ///< all
};

constexpr const char* to_string(bound_scope s) noexcept { return s == bound_scope::any_order ? "any order" : "given order"; }

/// A stretch of rows in which a storage could be absent, between two uses of it.
struct rerun_gap {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  tensor_id storage = none;
  index_t first = 0, last = 0;  ///< rows, both included
  bytes size = 0;
  index_t since = none;  ///< the row that makes or uses the storage at the begin of the gap; none: it begins otherwise
  index_t back = none;   ///< the row after the gap, which uses the storage; none: a use that is no row ends the gap
  std::uint64_t rerun = never;  ///< the cost that the gap bears of a rerun; never: the storage is not made again
  std::uint64_t load = never;   ///< the cost to read the storage back; never: it does not leave memory
  std::uint64_t write = 0;      ///< the gap's share of the cost to write the storage, which a load bears, too

  /// Whether the storage cannot be absent.
  bool closed() const { return rerun == never && load == never; }
  /// The cost of a schedule in which the storage is absent at some row of the gap; 0 if it cannot be.
  std::uint64_t cost() const { return closed() ? 0 : std::min(rerun, cost_of_load()); }
  /// The extra cost of a load over a rerun, 0 if a load costs no more; never: the storage cannot be loaded.
  std::uint64_t load_more() const { return load == never ? never : cost_of_load() - cost(); }

 private:
  std::uint64_t cost_of_load() const { return load == never ? never : load + write; }
};

/// Whether a storage is needed and absent at some of the rows from first to last, all of one stretch: a gap or a tail. The
/// storage of a gap is needed; others are needed if the producer of an absent needed one reads them (`find_needs`).
///
/// Decisions cut stretches into pieces, which pay for different reruns. Lemma. Let the decisions hold of a schedule that loads
/// nothing.
/// 1. At a row where the storage of a gap is in memory, the gap is cut in two.
/// 2. Let t be needed and absent at row k, and used or in memory at row b, the first such row after k. Let the producer of t
///    read i, and let i be needed and absent at k, too. Then the stretch of i is cut before row b. The same holds for reads of
///    the producer of i that are needed and absent at k, and so on.
/// Each piece in which its storage is needed and absent at some row has a rerun of its own.
/// Proof. 1. A storage that is absent at a row before the cut is made again before the cut. One that is absent after it is
/// made again after that row.
/// 2. t is made again between rows k and b. Its producer reads i then, and i is absent at k. So i is made again between k and
/// b, and that is the rerun of the piece before the cut. If i is needed and absent at a row from b on, it is made again after
/// that. If two cuts of a stretch rest on the same rerun, since the second one's k is before the first one's b, only the
/// first is made.
struct rerun_decision {
  index_t stretch = none;       ///< a gap's position; after all gaps, a tail's
  index_t first = 0, last = 0;  ///< rows, both included
  bool absent = false;
  bool again = false;  ///< of a whole gap, instead: whether its storage is made again in it, between the uses around the gap
};

/// The first executions of some operators, in the order in which every schedule of the scope runs them.
struct rerun_rows {
  std::vector<op_id> rows;
  std::vector<bytes> fixed;  ///< bytes while each row runs, without those of gaps
  std::vector<rerun_gap> gaps;
  std::vector<rerun_gap> tails;   ///< per storage that does not stay, at most one: the rows after all its uses
  std::vector<op_id> charged_to;  ///< per storage, the operator with the cost that its gaps bear; none: they bear nothing
};

/// Where the operators of a problem are among the rows of a path, of which each is after the one before it in every order.
struct path_places {
  std::vector<index_t> row;     ///< per operator, its own; none: not on the path
  std::vector<index_t> before;  ///< how many rows certainly run before the operator first does
  std::vector<index_t> made;    ///< the first row that certainly runs after it, or is its own; the number of rows: none
};

/// O(operators + edges).
MEMSCHED_FUNCTION path_places places_of_path(const problem& p, std::span<const op_id> path);

/// Bytes of an operator's reads, outputs and workspace, less the most that outputs in place spare. If inputs are consumed
/// first, without reads: one with a use to come is part of its next gap. O(reads + outputs).
MEMSCHED_FUNCTION bytes bytes_of_run(const execution_table& table, memory_model model, op_id op);

/// The rows of `order`, which runs every operator once: the scope is `given_order`. O(operators + uses).
///
/// Lemma. Consider a schedule in which operators first run in this order. A storage that is absent at a row of one of its
/// gaps is made again, or loaded, after that row and before the use that ends the gap.
/// Proof. A gap lies after the first creation of the storage and before a use at the first run of a reader (or the end,
/// if it stays). That reader reads the latest copy, and the copies made before the row are gone.
/// Hence the extra cost is at least the sum of the costs of all gaps in which storages are absent: gaps of one storage do
/// not overlap in time, so that they need different executions, and each operator's cost is borne by one of its outputs. A
/// gap costs a rerun or a load, whichever is less. A load costs its read and the gap's share of the storage's write, of which
/// all gaps together have no more than the whole; a storage with any load is written. Shares are as the rows of gaps
/// (`share_writes` finds better ones); tails have none. Of a storage that may end outside, a gap to the end costs no read.
MEMSCHED_FUNCTION rerun_rows rows_of_order(const execution_table& table, memory_model model, std::span<const op_id> order);

/// The rows of `path`, of which each operator is after the one before it in every order: the scope is `any_order`. A
/// storage is certainly made at a row that is after its producer, and certainly needed later if the row is before one
/// of its readers; the lemma of `rows_of_order` holds as it stands. O(operators + uses).
MEMSCHED_FUNCTION rerun_rows rows_of_path(const execution_table& table, memory_model model, std::span<const op_id> path);

/// The path of `predecessors` with the largest sum of excesses over the budget, in `order`. O(operators + uses).
MEMSCHED_FUNCTION std::vector<op_id> find_path(const problem& p, memory_model model, std::span<const op_id> order,
                                               bytes budget);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/base/int128.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Builds rows from the places of operators among them.
class row_builder {
 public:
  row_builder(const execution_table& table, memory_model model, std::span<const op_id> rows)
      : p_(table.graph()), table_(table), model_(model), row_(p_.ops().size(), none) {
    out_.rows.assign(rows.begin(), rows.end());
    for (index_t k = 0; k < rows.size(); ++k) row_[rows[k]] = k;
  }

  /// `before` and `made`: as in `path_places`.
  rerun_rows run(std::span<const index_t> before, std::span<const index_t> made) {
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.kept(t)) add_gaps(t, before, made);
    charge();
    for (op_id op : out_.rows) out_.fixed.push_back(bytes_of_run(table_, model_, op));
    return std::move(out_);
  }

 private:
  bool frees_first(op_id op) const { return table_.rule(op, model_) == firing::cbp; }

  /// Gaps of a storage: stretches between uses by rows, up to the last row that is certainly before a use.
  void add_gaps(tensor_id t, std::span<const index_t> before, std::span<const index_t> made) {
    const op_id producer = p_.producer(t);
    index_t end = p_.stays(t) ? static_cast<index_t>(out_.rows.size()) : 0;  // after the last row with a use still to come
    uses_.clear();
    for (op_id reader : p_.readers(t)) {
      end = std::max(end, before[reader]);
      if (row_[reader] != none) uses_.push_back(row_[reader]);
    }
    std::sort(uses_.begin(), uses_.end());
    index_t first = producer == none ? 0 : made[producer] + (row_[producer] == none ? 0 : 1);
    index_t since = producer == none ? none : row_[producer];
    const auto add = [&](index_t behind, index_t back) {
      if (first < behind) out_.gaps.push_back({t, first, behind - 1, p_.size(t), since, back});
    };
    for (index_t use : uses_) {
      add(use, use);
      first = use + (frees_first(out_.rows[use]) ? 0 : 1);
      since = use;
    }
    add(end, none);
    if (!p_.stays(t)) add_tail(t, made);
  }
  void add_tail(tensor_id t, std::span<const index_t> made) {
    index_t first = 0;
    for (op_id reader : p_.readers(t)) {
      const bool during = row_[reader] == none || frees_first(reader);
      first = std::max(first, made[reader] + (during ? 0 : 1));
    }
    const auto rows = static_cast<index_t>(out_.rows.size());
    if (first < rows) out_.tails.push_back({t, first, rows - 1, p_.size(t)});
  }

  /// The output with the most bytes in gaps bears the cost of its operator.
  void charge() {
    out_.charged_to.assign(p_.tensors().size(), none);
    std::vector<long double> weight(p_.tensors().size(), 0);
    for (const rerun_gap& g : out_.gaps)
      weight[g.storage] += static_cast<long double>(g.size) * static_cast<long double>(g.last - g.first + 1);
    for (op_id op : p_.ops()) {
      tensor_id best = none;
      for (tensor_id t : p_.creates(op))
        if (best == none || weight[t] > weight[best]) best = t;
      if (best != none) out_.charged_to[best] = op;
    }
    for (auto* stretches : {&out_.gaps, &out_.tails})
      for (rerun_gap& g : *stretches) {
        const op_id producer = p_.producer(g.storage), load = table_.load_of(g.storage);
        if (producer != none && table_.may_repeat(producer))
          g.rerun = out_.charged_to[g.storage] == none ? 0 : p_.cost(producer);
        if (load != none) g.load = ends_outside(g) ? 0 : table_.cost(load);
      }
    if (table_.prices()) share_writes();
  }
  /// Whether a gap reaches the end, where its storage need not come back.
  bool ends_outside(const rerun_gap& g) const {
    return table_.departure_of(g.storage) != none && g.last + 1 == out_.rows.size();
  }
  /// Shares of writes as the rows of gaps.
  void share_writes() {
    std::vector<std::uint64_t> rows(p_.tensors().size(), 0);
    for (const rerun_gap& g : out_.gaps) rows[g.storage] += g.last - g.first + 1;
    for (rerun_gap& g : out_.gaps) {
      const op_id load = table_.load_of(g.storage);
      if (load == none) continue;
      const int128 share = static_cast<int128>(table_.write_cost(load)) * (g.last - g.first + 1) / rows[g.storage];
      g.write = static_cast<std::uint64_t>(share);
    }
  }

  const problem& p_;
  const execution_table& table_;
  memory_model model_;
  std::vector<index_t> row_, uses_;
  rerun_rows out_;
};

}  // namespace detail

MEMSCHED_FUNCTION bytes bytes_of_run(const execution_table& table, memory_model model, op_id op) {
  const problem& p = table.graph();
  bytes sum = p.workspace(op), spared = 0;
  for (tensor_id t : p.creates(op)) sum += p.size(t);
  if (table.rule(op, model) == firing::cbp) return sum;
  for (tensor_id t : p.reads(op)) sum += p.size(t);
  if (model.in_place)
    for (const problem::storage_reuse& r : p.reuses(op)) spared += r.spared;
  return sum - spared;
}

MEMSCHED_FUNCTION rerun_rows rows_of_order(const execution_table& table, memory_model model, std::span<const op_id> order) {
  std::vector<index_t> place(table.graph().ops().size());
  for (index_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  return detail::row_builder(table, model, order).run(place, place);
}

MEMSCHED_FUNCTION path_places places_of_path(const problem& p, std::span<const op_id> path) {
  const std::size_t n = p.ops().size();
  const auto rows = static_cast<index_t>(path.size());
  path_places places{std::vector<index_t>(n, none), std::vector<index_t>(n, 0), std::vector<index_t>(n, rows)};
  auto& [row, before, made] = places;
  for (index_t k = 0; k < rows; ++k) row[path[k]] = k;
  const adjacency successors = base::transpose(p.predecessors(), n);
  const std::vector<op_id> order = base::topological_order(p.predecessors(), successors);
  for (op_id op : order)
    for (op_id u : p.predecessors(op)) before[op] = std::max(before[op], row[u] == none ? before[u] : row[u] + 1);
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    if (row[*op] != none) made[*op] = row[*op];
    else
      for (op_id next : successors[*op]) made[*op] = std::min(made[*op], made[next]);
  }
  return places;
}

MEMSCHED_FUNCTION rerun_rows rows_of_path(const execution_table& table, memory_model model, std::span<const op_id> path) {
  const path_places places = places_of_path(table.graph(), path);
  return detail::row_builder(table, model, path).run(places.before, places.made);
}

MEMSCHED_FUNCTION std::vector<op_id> find_path(const problem& p, memory_model model, std::span<const op_id> order,
                                               bytes budget) {
  const std::vector<bytes> during = evaluate(p, order, model).value().during;
  std::vector<double> best(p.ops().size(), 0);
  std::vector<op_id> from(p.ops().size(), none);
  op_id last = none;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const op_id op = order[i];
    for (op_id u : p.predecessors(op))
      if (from[op] == none || best[u] > best[from[op]]) from[op] = u;
    const double excess = during[i] > budget ? static_cast<double>(during[i] - budget) : 0;
    best[op] = 1 + excess + (from[op] == none ? 0 : best[from[op]]);
    if (last == none || best[op] > best[last]) last = op;
  }
  std::vector<op_id> path;
  for (op_id op = last; op != none; op = from[op]) path.push_back(op);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
