// The checker of recompute_proof. Shares no code with the search for bounds.
#pragma once

#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/proof/recompute_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Why `proof` does not show that executions of p within the budget, with loads at the prices of `moves`, cost at least its
/// bound beyond one run of each operator; empty where it does. A proof with a price for all bytes is one of orders (`weighed_problem`). A bound of 2^64 - 1 says
/// that there are none. O(cases * (rows + gaps + needs)).
///
/// The rows are first runs: of all operators in a given order, or of a path of predecessors, which every order keeps. A gap
/// is a stretch of rows in which a storage is certainly needed later and could be absent; then its producer runs again, or it
/// is loaded, between that row and the use that ends the gap. A load costs its read and, of the storage's write, a share: as
/// the rows of the gap among those of all its gaps. So the extra cost is at least that of all gaps with absent storages, and
/// the absent storages of a row have at least the bytes by which everything together exceeds the budget. A case decides
/// whether a gap is absent. In a leaf, for prices p of rows: cost >= sum_k p_k excess_k + sum over gaps of (cost - size * (p
/// over its rows)) where it is absent, of 0 where it is present, and of the smaller where that is open (Lagrangian
/// relaxation). Without loads, costs are multiples of the greatest common divisor of all costs, to which a leaf's value is
/// rounded up; with loads, of 1.
///
/// At a row with needs, the storage of a gap is in memory, or it is absent and its producer runs again behind the row; then
/// the producer's inputs are needed, too. Each needed storage takes p times its bytes if it is in memory; if absent, its gap
/// pays, or behind all its uses its tail. So a storage with a gap saves p times its bytes by its absence only where all that
/// its absence asks for is paid. Shares of these payments, of which none gives more than it has, bound the savings from above
/// (weak duality of minimum cut and maximum flow): the part that no share covers is taken off the value. A storage that is
/// loaded needs no inputs, but costs more than its stretch counts where a rerun is cheaper: shares of inputs are valid up to
/// that difference, over all rows of the stretch. Such a row counts bytes in whole units: the needs in memory fit the room that
/// the operator leaves of the budget, so that the sum of sizes rounded down is at most the room rounded down. A case may also decide
/// whether a storage is made again or loaded in its tail.
MEMSCHED_FUNCTION std::string check_recompute(const problem& p, memory_model model, bytes budget,
                                              const recompute_proof& proof, const offload& moves = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/check_certificate.hpp>
#include <memsched/proof/proof_rows.hpp>
#include <memsched/proof/weighed_problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class recompute_checker {
 public:
  recompute_checker(const problem& p, memory_model model, bytes budget, const recompute_proof& proof, const offload& moves)
      : p_(p), model_(model), budget_(budget), proof_(proof), moves_(moves), rows_(p, model, proof, moves) {}

  std::string run() {
    std::string fault = check_charges();
    if (fault.empty() && proof_.weighed) return check_weighed();
    if (fault.empty()) fault = rows_.run(budget_);
    if (fault.empty()) fault = check_prices();
    if (!fault.empty()) return fault;
    std::uint64_t most = 0;
    for (op_id op : p_.ops()) most = std::max(most, p_.cost(op));
    for (const auto* stretches : {&rows_.gaps, &rows_.tails})
      for (const gap& g : *stretches) most = std::max({most, g.cost, g.load_more == proof_rows::never ? 0 : g.load_more});
    if (std::bit_width(most) + std::min(proof_.scale, 111U) > 110) return "the scale is too large";
    if (proof_.cases.empty()) return "there are no cases";
    if (fault = find_needs(); !fault.empty()) return fault;
    answer_.assign(rows_.gaps.size() + rows_.tails.size(), 0);
    return check_case(0);
  }

 private:
  using gap = proof_rows::gap;
  static constexpr std::size_t nowhere = proof_rows::nowhere;
  struct member {
    tensor_id storage;
    std::size_t from;  // the gap that says that it is needed; nowhere: an absent one's producer reads it
    bool again, loads, paid_by_tail;
    bool closed() const { return !again && !loads; }
  };
  struct need_row {
    std::size_t row;
    bytes unit;
    int128 excess;
    std::vector<member> members;
    std::vector<std::size_t> place;  // per storage
  };

  std::string check_charges() const {
    if (proof_.charged.size() != p_.ops().size()) return "there is not one charged output for each operator";
    for (op_id op : p_.ops()) {
      const auto made = p_.creates(op);
      const tensor_id t = proof_.charged[op];
      if (t != none && std::find(made.begin(), made.end(), t) == made.end())
        return "operator " + std::to_string(op) + " charges what it does not make";
    }
    return {};
  }

  std::string check_weighed() const {
    if (!proof_.any_order || proof_.scale > 64)
      return "a price for all bytes is for any order, and of a scale of 64 at most";
    const auto weighed = weighed_problem(p_, model_, proof_.charged, proof_.weighed->price, proof_.scale, moves_);
    if (!weighed) return weighed.error().message;
    const schedule_graph g = make_schedule_graph(*weighed, model_);
    if (std::string fault = check_certificate(g, proof_.weighed->orders); !fault.empty()) return "orders: " + fault;
    const int128 paid = static_cast<int128>(proof_.weighed->price) * static_cast<int128>(std::min(budget_, max_total));
    return exceeds(static_cast<int128>(proof_.weighed->orders.bound) - paid) ? "" : "the price does not reach the bound";
  }

  /// Whether a scaled value shows the bound: costs are multiples of a unit, so that one above the last multiple below the bound
  /// reaches it. Shifts the value and not that multiple, which may have bits up to any height: v > b * 2^s where
  /// v - 1 >= b * 2^s.
  bool exceeds(int128 value) const {
    if (proof_.bound == 0) return true;
    if (proof_.bound == ~std::uint64_t{0}) return false;
    std::uint64_t unit = 0;
    for (op_id op : p_.ops()) unit = std::gcd(unit, p_.cost(op));
    unit = moves_ ? 1 : std::max<std::uint64_t>(unit, 1);
    const std::uint64_t below = (proof_.bound - 1) / unit * unit;
    return (value - 1) >> proof_.scale >= static_cast<int128>(below);
  }

  std::string check_prices() const {
    for (const auto& list : proof_.prices) {
      std::uint64_t left = std::uint64_t{1} << 63;
      for (const auto& [row, price] : list) {
        if (row >= proof_.rows.size()) return "a price is for no row";
        if (price > left) return "prices are too large";
        left -= price;
      }
    }
    return {};
  }

  std::string find_needs() {
    if (!proof_.needs.empty() && proof_.shares.size() != proof_.prices.size()) return "there are not shares for all prices";
    if (proof_.units.size() != proof_.needs.size()) return "there is not one unit for each row with needs";
    has_needs_.assign(proof_.rows.size(), false);
    const std::vector<bool> leaves = may_leave(p_);
    for (std::size_t at = 0; at < proof_.needs.size(); ++at) {
      const index_t k = proof_.needs[at];
      if (k >= proof_.rows.size() || has_needs_[k]) return "needs are of no row, or stand twice";
      if (proof_.units[at] == 0) return "a unit has no bytes";
      has_needs_[k] = true;
      need_rows_.push_back({k, proof_.units[at], 0, {}, std::vector<std::size_t>(p_.tensors().size(), nowhere)});
      need_row& n = need_rows_.back();
      const op_id op = proof_.rows[k];
      std::vector<bool> in_memory(p_.tensors().size(), false);
      for (tensor_id t : p_.creates(op)) in_memory[t] = true;
      for (tensor_id t : p_.reads(op)) in_memory[t] = in_memory[t] || rows_.rule(op) == firing::pbc;
      const auto add = [&](tensor_id t, std::size_t from) {
        if (in_memory[t] || n.place[t] != nowhere) return;
        n.place[t] = n.members.size();
        const bool again = rows_.again(p_.producer(t)), loads = moves_ && leaves[t];
        n.members.push_back({t, from, again, loads, from == nowhere && rows_.tails[t].first <= k});
      };
      for (std::size_t i = 0; i < rows_.gaps.size(); ++i)
        if (rows_.gaps[i].first <= k && k <= rows_.gaps[i].last) add(rows_.gaps[i].storage, i);
      for (std::size_t i = 0; i < n.members.size(); ++i)
        if (n.members[i].again)
          for (tensor_id t : p_.reads(p_.producer(n.members[i].storage))) add(t, nowhere);
      const auto unit = static_cast<int128>(n.unit);
      const int128 cut = rows_.room[k] % unit;
      n.excess = -(rows_.room[k] - cut - (cut < 0 ? unit : 0));
      for (const member& m : n.members)
        if (m.from != nowhere) n.excess += size(n, m.storage);
    }
    return {};
  }
  /// The bytes that a storage has at a row with needs.
  int128 size(const need_row& n, tensor_id t) const {
    const bytes whole_units = p_.size(t) / n.unit * n.unit;
    return static_cast<int128>(whole_units);
  }

  /// A gap, or behind all of them the tail of a storage.
  const gap& stretch(std::size_t i) const {
    return i < rows_.gaps.size() ? rows_.gaps[i] : rows_.tails[i - rows_.gaps.size()];
  }
  /// The stretch that bears the cost of an absent storage; nowhere where none does.
  std::size_t stretch_of(const member& m) const {
    return m.from != nowhere || !m.paid_by_tail ? m.from : rows_.gaps.size() + m.storage;
  }

  std::string check_case(index_t root) {
    struct visit {
      index_t at;
      index_t gap;
      signed char answer;  // that leads here: 1 absent, -1 present; 0 takes the gap's answer back
    };
    std::vector<visit> open{{root, none, 0}};
    while (!open.empty()) {
      const visit v = open.back();
      open.pop_back();
      if (v.gap != none) answer_[v.gap] = v.answer;
      if (v.at == none) continue;
      const proof::recompute_case& c = proof_.cases[v.at];
      const std::string name = "case " + std::to_string(v.at);
      if (c.row != none) {
        if (!uncovered(c.row)) return name + " names a row that open gaps cover";
      } else if (c.prices != proof::recompute_case::inner) {
        if (c.prices >= proof_.prices.size()) return name + " has no prices";
        if (const std::string fault = check_leaf(c.prices); !fault.empty()) return name + fault;
      } else {
        if (c.gap >= answer_.size() || stretch(c.gap).closed || stretch(c.gap).first == nowhere || answer_[c.gap] != 0)
          return name + " decides no open gap or tail";
        for (index_t next : {c.absent, c.present})
          if (next <= v.at || next >= proof_.cases.size()) return name + " lacks one of its cases";
        open.push_back({none, c.gap, 0});
        open.push_back({c.present, c.gap, -1});
        open.push_back({c.absent, c.gap, 1});
      }
    }
    return {};
  }

  /// Whether the gaps that are not present cannot cover a row.
  bool uncovered(std::size_t row) const {
    if (row >= rows_.excess.size()) return false;
    int128 reach = 0;
    for (std::size_t i = 0; i < rows_.gaps.size(); ++i)
      if (!rows_.gaps[i].closed && answer_[i] >= 0 && rows_.gaps[i].first <= row && row <= rows_.gaps[i].last)
        reach += static_cast<int128>(p_.size(rows_.gaps[i].storage));
    return reach < rows_.excess[row];
  }

  std::string check_leaf(std::size_t list) const {
    if (proof_.bound == 0) return {};
    if (proof_.bound == ~std::uint64_t{0}) return " rules nothing out";
    std::vector<int128> price(proof_.rows.size(), 0), sum(proof_.rows.size() + 1, 0);
    for (const auto& [row, p] : proof_.prices[list]) price[row] += static_cast<int128>(p);
    int128 value = 0;
    for (std::size_t k = 0; k < price.size(); ++k) {
      const int128 priced = has_needs_[k] ? 0 : price[k];
      value += priced * rows_.excess[k];
      sum[k + 1] = sum[k] + priced;
    }
    for (const need_row& n : need_rows_) value += price[n.row] * n.excess;
    std::vector<int128> left(answer_.size(), 0);  // that stretches can still pay
    for (std::size_t i = 0; i < answer_.size(); ++i) {
      const gap& g = stretch(i);
      if (g.closed || g.first == nowhere || answer_[i] < 0) continue;
      const bool is_tail = i >= rows_.gaps.size();
      const int128 saved = is_tail ? 0 : static_cast<int128>(p_.size(g.storage)) * (sum[g.last + 1] - sum[g.first]);
      const int128 paid = (static_cast<int128>(g.cost) << proof_.scale) - saved;
      if (answer_[i] > 0 || paid < 0) value += paid;
      else left[i] = paid;
    }
    if (std::string fault = take_savings(list, price, std::move(left), value); !fault.empty()) return fault;
    return exceeds(value) ? "" : " does not reach the bound";
  }

  /// Takes the savings of absent storages at rows with needs off the value.
  std::string take_savings(std::size_t list, const std::vector<int128>& price, std::vector<int128> left,
                           int128& value) const {
    if (need_rows_.empty()) return {};
    const auto scaled = [&](std::uint64_t cost) { return static_cast<int128>(cost) << proof_.scale; };
    std::vector<int128> more;  // savings that may rest on inputs of storages with loads
    for (std::size_t i = 0; i < answer_.size(); ++i)
      more.push_back(stretch(i).load_more == proof_rows::never ? 0 : scaled(stretch(i).load_more));
    for (const need_row& n : need_rows_) {
      std::vector<int128> saved(n.members.size(), 0), present(n.members.size(), 0);
      for (std::size_t i = 0; i < n.members.size(); ++i) {
        const member& m = n.members[i];
        const int128 worth = price[n.row] * size(n, m.storage);
        if (!m.closed() && (stretch_of(m) == nowhere || answer_[stretch_of(m)] >= 0)) saved[i] = worth;
        if (m.from == nowhere) present[i] = worth;
      }
      for (const proof::recompute_share& share : proof_.shares[list]) {
        if (share.row != n.row) continue;
        const std::size_t i = share.absent < n.place.size() ? n.place[share.absent] : nowhere;
        if (i == nowhere || n.members[i].closed()) return " has a share of no need";
        const member& m = n.members[i];
        const std::size_t bears = stretch_of(m);
        if (bears != nowhere && answer_[bears] < 0) continue;  // it is present
        const int128 amount = static_cast<int128>(share.amount);
        int128* from = nullptr;
        if (share.pays != none && share.pays != m.storage) {
          if (share.pays < n.place.size() && n.place[share.pays] != nowhere && reads_again(m, share.pays))
            from = &present[n.place[share.pays]];
          if (from != nullptr && m.loads) {
            int128 nothing = 0, &rest = bears != nowhere ? more[bears] : nothing;
            if (amount > rest) return " lets savings rest on inputs more than a load costs";
            rest -= amount;
          }
        } else if (share.pays == m.storage) {
          from = &present[i];
        } else if (bears != nowhere) {
          if (answer_[bears] > 0) continue;  // paid for already
          from = &left[bears];
        }
        if (from == nullptr || amount > *from || amount > saved[i]) return " has a share that nobody can pay";
        *from -= amount;
        saved[i] -= amount;
      }
      for (int128 rest : saved) value -= rest;
    }
    for (const proof::recompute_share& share : proof_.shares[list])
      if (share.row >= has_needs_.size() || !has_needs_[share.row]) return " has a share at a row without needs";
    return {};
  }

  /// Whether an operator that runs again for a storage reads another.
  bool reads_again(const member& m, tensor_id other) const {
    if (!m.again) return false;
    const auto reads = p_.reads(p_.producer(m.storage));
    return std::find(reads.begin(), reads.end(), other) != reads.end();
  }

  const problem& p_;
  memory_model model_;
  bytes budget_;
  const recompute_proof& proof_;
  offload moves_;
  proof_rows rows_;
  std::vector<signed char> answer_;  // per gap, and per storage for tails: absent 1, present -1, open 0
  std::vector<bool> has_needs_;      // per row
  std::vector<need_row> need_rows_;
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_recompute(const problem& p, memory_model model, bytes budget,
                                              const recompute_proof& proof, const offload& moves) {
  return detail::recompute_checker(p, model, budget, proof, moves).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
