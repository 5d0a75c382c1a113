// Rows and gaps of a recompute_proof, found from the problem alone. For the checker: shares no code with the search for bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/graph/runs_again.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/proof/recompute_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The gaps and excesses of a proof's rows: see `check_recompute`.
class proof_rows {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  struct gap {
    tensor_id storage = none;
    std::size_t first = nowhere, last = nowhere;  // rows, both included
    std::uint64_t cost = 0;
    bool closed = true;
    std::uint64_t load_more = never;  ///< that a load costs beyond a rerun; 0: no less
  };

  proof_rows(const problem& p, memory_model model, const recompute_proof& proof, const offload& moves)
      : p_(p), model_(model), proof_(proof), moves_(moves), again_(runs_again(p)), leaves_(may_leave(p)) {}

  /// Checks the rows, and finds gaps and excesses. Returns the reason if a proof may not rest on these rows, else an empty
  /// string.
  std::string run(bytes budget) {
    std::string fault = check_rows();
    if (fault.empty()) find_gaps(), find_excess(budget);
    return fault.empty() ? check_writes() : fault;
  }

  firing rule(op_id op) const { return p_.firing(op).value_or(model_.default_firing); }

  /// Whether an operator may run again.
  bool again(op_id op) const { return op != none && again_[op]; }

  /// Bytes of an operator while it runs; if inputs are consumed first, without its reads.
  int128 bytes_of(op_id op) const {
    auto sum = static_cast<int128>(p_.workspace(op));
    for (tensor_id t : p_.creates(op)) sum += static_cast<int128>(p_.size(t));
    if (rule(op) == firing::cbp) return sum;
    for (tensor_id t : p_.reads(op)) sum += static_cast<int128>(p_.size(t));
    if (model_.in_place)
      for (const problem::storage_reuse& r : p_.reuses(op)) sum -= static_cast<int128>(r.spared);
    return sum;
  }

  std::vector<gap> gaps;
  std::vector<gap> tails;      ///< per storage, the rows after all its uses; first `nowhere` if it stays
  std::vector<int128> excess;  ///< per row, over the budget, rounded up
  std::vector<int128> room;    ///< per row: bytes of the budget beside those of the operator

 private:
  std::string check_writes() const {
    if (shares_ == proof_.writes.size()) return {};
    return "writes[" + std::to_string(shares_) + "] is for no gap that a load fills, or more than is left of the write";
  }
  std::string check_rows() {
    row_.assign(p_.ops().size(), nowhere);
    for (std::size_t k = 0; k < proof_.rows.size(); ++k) {
      const op_id op = proof_.rows[k];
      if (op >= row_.size() || row_[op] != nowhere) return "row " + std::to_string(k) + " is no operator, or stands twice";
      row_[op] = k;
      const auto before = p_.predecessors(op);
      if (proof_.any_order) {
        if (k > 0 && std::find(before.begin(), before.end(), proof_.rows[k - 1]) == before.end())
          return "row " + std::to_string(k) + " does not come right after the row before it in every order";
      } else {
        for (op_id u : before)
          if (row_[u] == nowhere) return "row " + std::to_string(k) + " runs before an operator that it needs";
      }
    }
    if (!proof_.any_order && proof_.rows.size() != row_.size()) return "the rows are no order of all operators";
    return {};
  }

  /// For each operator, the number of rows that certainly run before it.
  std::vector<std::size_t> rows_before() const {
    std::vector<std::size_t> before(p_.ops().size(), 0);
    bool changes = true;
    const auto raise = [&](op_id op, std::size_t to) {
      if (before[op] < to) before[op] = to, changes = true;
    };
    if (!proof_.any_order) return row_;
    while (std::exchange(changes, false))
      for (op_id op : p_.ops())
        for (op_id u : p_.predecessors(op)) raise(op, row_[u] == nowhere ? before[u] : row_[u] + 1);
    return before;
  }
  /// The first row that certainly runs after each operator, or is its own; the number of rows if there is none.
  std::vector<std::size_t> first_behind() const {
    if (!proof_.any_order) return row_;
    std::vector<std::size_t> behind(p_.ops().size(), proof_.rows.size());
    std::vector<op_id> open;
    for (std::size_t k = 0; k < proof_.rows.size(); ++k) {
      open.push_back(proof_.rows[k]);
      while (!open.empty()) {
        const op_id op = open.back();
        open.pop_back();
        if (behind[op] <= k) continue;
        behind[op] = k;
        for (op_id u : p_.predecessors(op)) open.push_back(u);
      }
    }
    return behind;
  }

  void find_gaps() {
    const auto before = rows_before(), behind = first_behind();
    tails.resize(p_.tensors().size());
    for (tensor_id t : p_.tensors()) {
      if (p_.storage(t) != t || !p_.kept(t)) continue;
      const op_id made_by = p_.producer(t);
      std::vector<bool> used(proof_.rows.size(), false), needed(proof_.rows.size() + 1, false);
      std::size_t end = p_.stays(t) ? proof_.rows.size() : 0;
      for (op_id reader : p_.readers(t)) {
        end = std::max(end, before[reader]);
        if (row_[reader] != nowhere) used[row_[reader]] = true;
      }
      std::size_t start = 0;
      if (made_by != none) start = row_[made_by] == nowhere ? behind[made_by] : row_[made_by] + 1;
      const bool closed = !again(made_by);
      const std::uint64_t cost = closed || proof_.charged[made_by] != t ? 0 : p_.cost(made_by);
      tails[t] = {t, first_row_behind(t, behind), proof_.rows.size() - 1, cost, closed};
      // Stretches of rows without a use, up to the last one that is before a use; a row that consumes its inputs first may
      // itself be without its reads.
      const std::size_t gaps_before = gaps.size();
      std::size_t first = start;
      for (std::size_t k = start; k <= std::max(end, proof_.rows.size()); ++k) {
        const bool use = k < proof_.rows.size() && used[k];
        if (!use && k != end) continue;
        if (k == end && !use && first < end) gaps.push_back({t, first, end - 1, cost, closed});
        if (use && first < k) gaps.push_back({t, first, k - 1, cost, closed});
        if (k == end && !use) break;
        first = rule(proof_.rows[k]) == firing::cbp ? k : k + 1;
        if (k >= end) break;
      }
      if (!moves_ || !leaves_[t]) continue;
      fill_with_loads(t, gaps_before);
      compare_with_load(tails[t], moves_.read_cost(p_.size(t)));
    }
  }
  /// Lets loads fill the gaps of storage t, which begin at a place among all, if they cost less or nothing else does. Each
  /// bears its share of the write.
  void fill_with_loads(tensor_id t, std::size_t begin) {
    const auto& writes = proof_.writes;
    std::uint64_t unpaid = moves_.write_cost(p_.size(t));
    for (std::size_t i = begin; i < gaps.size(); ++i) {
      std::uint64_t share = 0;
      if (shares_ < writes.size() && writes[shares_].storage == t && writes[shares_].first == gaps[i].first) {
        share = writes[shares_].amount;
        if (share > unpaid) return;
        unpaid -= share, ++shares_;
      }
      const bool ends_outside = moves_.ends_outside && p_.stays(t) && gaps[i].last + 1 == proof_.rows.size();
      compare_with_load(gaps[i], share + (ends_outside ? 0 : moves_.read_cost(p_.size(t))));
    }
  }
  static void compare_with_load(gap& g, std::uint64_t cost) {
    g.load_more = g.closed || cost < g.cost ? 0 : cost - g.cost;
    if (g.load_more == 0) g.cost = cost;
    g.closed = false;
  }

  /// The first row after all uses of a storage; nowhere if it stays.
  std::size_t first_row_behind(tensor_id t, const std::vector<std::size_t>& behind) const {
    if (p_.stays(t)) return nowhere;
    std::size_t first = 0;
    for (op_id reader : p_.readers(t)) {
      const bool row_itself = row_[reader] == nowhere || rule(reader) == firing::cbp;
      first = std::max(first, behind[reader] + (row_itself ? 0 : 1));
    }
    return first;
  }
  void find_excess(bytes budget) {
    for (op_id op : proof_.rows) {
      const int128 sum = bytes_of(op) - static_cast<int128>(std::min(budget, base::max_total));
      excess.push_back(sum);
      room.push_back(-sum);
    }
    for (const gap& g : gaps)
      for (std::size_t k = g.first; k <= g.last; ++k) excess[k] += static_cast<int128>(p_.size(g.storage));
    round_excess_up();
  }
  /// The bytes of absent storages are a multiple of the common divisor of their sizes, and no less than the smallest.
  void round_excess_up() {
    std::vector<bytes> divisor(excess.size(), 0), smallest(excess.size(), never);
    for (const gap& g : gaps) {
      const bytes size = p_.size(g.storage);
      for (std::size_t k = g.first; k <= g.last && !g.closed && size > 0; ++k) {
        divisor[k] = std::gcd(divisor[k], size);
        smallest[k] = std::min(smallest[k], size);
      }
    }
    for (std::size_t k = 0; k < excess.size(); ++k) {
      if (excess[k] <= 0 || divisor[k] == 0) continue;
      const auto d = static_cast<int128>(divisor[k]);
      excess[k] = std::max(static_cast<int128>(smallest[k]), (excess[k] + d - 1) / d * d);
    }
  }

  const problem& p_;
  memory_model model_;
  const recompute_proof& proof_;
  offload moves_;
  std::vector<bool> again_, leaves_;
  std::vector<std::size_t> row_;
  std::size_t shares_ = 0;  // of writes, that gaps so far have
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
