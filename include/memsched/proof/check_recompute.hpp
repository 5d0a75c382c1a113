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

/// Checks that `proof` shows that executions of p within the budget, with loads at the prices of `moves`, cost at least its
/// bound beyond one run of each operator. Returns the reason if it does not, else an empty string. A proof with a price for all
/// bytes is one of orders (`weighed_problem`). A bound of 2^64 - 1 says that there are no such executions. O(cases * (rows +
/// gaps + needs)).
///
/// The rows are first runs: of all operators in a given order, or of a path of predecessors, which every order keeps. A gap
/// is a stretch of rows in which a storage is certainly needed later and could be absent; then its producer runs again, or
/// it is loaded, between that row and the use that ends the gap. A load costs its read and, of the storage's write, a
/// share; the shares of all gaps of a storage sum up to no more than its write. If a storage that stays may end outside,
/// its gap to the end costs no read. So the extra cost is at least that of all gaps with absent storages, and the absent
/// storages of a row have at least the bytes by which everything together exceeds the budget, rounded up to a multiple of
/// the common divisor of the sizes of gaps there, and to the smallest of these. A case decides whether a storage is needed
/// and absent at some of the rows from `first` to `last`, of one gap or of the tail. In a leaf, for prices p of rows:
/// cost >= sum_k p_k excess_k + sum over parts of gaps of (cost - size * (p over its rows)) if the storage is absent or
/// made again, of 0 if it is present, and of the smaller if that is open (Lagrangian relaxation). A gap is one part,
/// unless decisions cut it. Without loads, costs are multiples of the greatest common divisor of all costs, to which a
/// leaf's value is rounded up; with loads, of 1.
///
/// At a row with needs, the storage of a gap is in memory, or it is absent and its producer runs again after the row; then
/// the producer's inputs are needed, too. Each needed storage takes p times its bytes if it is in memory; if absent, its
/// gap pays, or after all its uses its tail. So a storage with a gap saves p times its bytes by its absence only if all
/// that its absence asks for is paid. Shares of these payments, of which none gives more than it has, bound the savings
/// from above (weak duality of minimum cut and maximum flow): the part that no share covers is taken off the value. A
/// storage that is loaded needs no inputs, but costs more than its stretch counts if a rerun is cheaper: shares of
/// inputs are valid up to that difference, over all rows of the stretch. Such a row counts bytes in whole units: the needs
/// in memory fit the room that the operator leaves of the budget, so that the sum of sizes rounded down is at most the room
/// rounded down.
///
/// Parts. A row at which the storage of a gap is in memory cuts the gap: absent on either side, it is made again on that
/// side. Let a case decide of a single row k with needs that t is needed and absent. Then its producer runs again after k,
/// and its reads are needed at k. If a row b after k uses t, or t is decided to be in memory there, that run is before b.
/// If one of its reads is decided to be needed and absent at k, too, then that one is made again between k and b, and
/// absent from b on, it is made again once more: b cuts its gap or tail, and those of its own producer's reads likewise.
/// Two cuts are not at the cost of one run: the second one's k must not be before the first one's b. If storages can be
/// loaded, cases decide whole gaps and tails, and nothing is cut.
///
/// Reruns. Let t be decided to be needed and absent at row k, and let row b end its gap by a use. While its producer runs
/// again between k and b, the storage of each other gap is in memory that begins at row k or right after its use by row k,
/// and ends after row b or by a use of row b: but if it is made again in that gap. So storages that are made again have
/// the bytes by which all of this exceeds the budget, and a price for these bytes counts like that of a row. A case with
/// `again` decides whether a storage is made again in a gap; if it is not, the storage is in memory at all rows. If
/// other decisions say that it is in memory at rows of a gap, it may still be made again between these, so that reruns
/// leave it out.
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
#include <memsched/proof/proof_needs.hpp>
#include <memsched/proof/proof_rows.hpp>
#include <memsched/proof/weighed_problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class recompute_checker {
 public:
  recompute_checker(const problem& p, memory_model model, bytes budget, const recompute_proof& proof, const offload& moves)
      : p_(p),
        model_(model),
        budget_(budget),
        proof_(proof),
        moves_(moves),
        rows_(p, model, proof, moves),
        needs_(p, proof, static_cast<bool>(moves), rows_) {}

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
    if (fault = needs_.run(); !fault.empty()) return fault;
    return check_case(0);
  }

 private:
  using gap = proof_rows::gap;
  using member = proof_needs::member;
  using need_row = proof_needs::need_row;
  using part = proof_needs::part;
  static constexpr std::size_t nowhere = proof_rows::nowhere;

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
    const int128 paid = static_cast<int128>(proof_.weighed->price) * static_cast<int128>(std::min(budget_, base::max_total));
    return exceeds(static_cast<int128>(proof_.weighed->orders.bound) - paid) ? "" : "the price does not reach the bound";
  }

  /// Whether a scaled value shows the bound: costs are multiples of a unit, so that one above the last multiple below the bound
  /// reaches it. Shifts the value and not that multiple, which may have bits up to any height: v > b * 2^s if
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
        if (row >= proof_.rows.size() + proof_.reruns.size()) return "a price is for no row";
        if (price > left) return "prices are too large";
        left -= price;
      }
    }
    return {};
  }

  /// The bytes that a storage has at a row with needs.
  int128 size(const need_row& n, tensor_id t) const {
    const bytes whole_units = p_.size(t) / n.unit * n.unit;
    return static_cast<int128>(whole_units);
  }

  std::string check_case(index_t root) {
    struct visit {
      index_t at;
      std::size_t depth;  // the number of decisions that lead to the one before this case
      proof_needs::decision last;
    };
    std::vector<proof_needs::decision> path;
    std::vector<visit> open{{root, nowhere, {}}};
    while (!open.empty()) {
      const visit v = open.back();
      open.pop_back();
      if (v.depth != nowhere) path.resize(v.depth), path.push_back(v.last);
      const proof::recompute_case& c = proof_.cases[v.at];
      const std::string name = "case " + std::to_string(v.at);
      if (c.row != none) {
        needs_.decide(path);
        if (!uncovered(c.row)) return name + " names a row that open gaps cover";
      } else if (c.prices != proof::recompute_case::inner) {
        if (c.prices >= proof_.prices.size()) return name + " has no prices";
        needs_.decide(path);
        if (const std::string fault = check_leaf(c.prices); !fault.empty()) return name + fault;
      } else {
        const std::size_t stretch = needs_.find_stretch(c.storage, c.first, c.last);
        if (stretch == nowhere) return name + " decides rows of no open gap or tail";
        const gap& g = needs_.stretch(stretch);
        if (moves_ && (c.first != g.first || c.last != g.last)) return name + " decides a part of what can be loaded";
        for (index_t next : {c.absent, c.present})
          if (next <= v.at || next >= proof_.cases.size()) return name + " lacks one of its cases";
        if (c.again && (needs_.is_tail(stretch) || c.first != g.first || c.last != g.last))
          return name + " decides whether a storage is made again, but not of a whole gap";
        open.push_back({c.present, path.size(), {stretch, c.first, c.last, false, c.again}});
        open.push_back({c.absent, path.size(), {stretch, c.first, c.last, true, c.again}});
      }
    }
    return {};
  }

  /// Whether the parts of gaps that are not present cannot cover a row.
  bool uncovered(std::size_t row) const {
    if (row >= rows_.excess.size()) return false;
    int128 reach = 0;
    for (const part& q : needs_.parts)
      if (!needs_.is_tail(q.stretch) && q.is != proof_needs::present && q.first <= row && row <= q.last)
        reach += static_cast<int128>(p_.size(needs_.stretch(q.stretch).storage));
    return reach < rows_.excess[row];
  }

  std::string check_leaf(std::size_t list) const {
    if (proof_.bound == 0) return {};
    if (proof_.bound == ~std::uint64_t{0}) return " rules nothing out";
    std::vector<int128> price(proof_.rows.size() + proof_.reruns.size(), 0), sum(proof_.rows.size() + 1, 0);
    for (const auto& [row, p] : proof_.prices[list]) price[row] += static_cast<int128>(p);
    int128 value = 0;
    for (std::size_t k = 0; k < proof_.rows.size(); ++k) {
      const int128 priced = needs_.has_needs[k] ? 0 : price[k];
      value += priced * rows_.excess[k];
      sum[k + 1] = sum[k] + priced;
    }
    for (const need_row& n : needs_.rows) {
      int128 excess = -n.room;
      for (const member& m : n.members)
        if (m.certain && m.is != proof_needs::absent) excess += size(n, m.storage);
      value += price[n.row] * excess;
    }
    std::vector<int128> by_reruns(rows_.gaps.size(), 0);  // prices of a gap's bytes
    for (std::size_t i = 0; i < needs_.reruns.size(); ++i) {
      const int128 p = price[proof_.rows.size() + i];
      if (p == 0 || !needs_.is_certain(needs_.reruns[i])) continue;
      int128 excess = needs_.reruns[i].bytes - static_cast<int128>(std::min(budget_, base::max_total));
      for (std::size_t g : needs_.reruns[i].lasting) {
        if (needs_.is_decided_at_rows(g)) continue;
        excess += static_cast<int128>(p_.size(rows_.gaps[g].storage));
        by_reruns[g] += p;
      }
      value += p * excess;
    }
    std::vector<int128> left;  // that parts can still pay
    for (const part& q : needs_.parts) {
      const gap& g = needs_.stretch(q.stretch);
      const int128 saved = needs_.is_tail(q.stretch) ? 0
                                                     : static_cast<int128>(p_.size(g.storage)) *
                                                           (sum[q.last + 1] - sum[q.first] + by_reruns[q.stretch]);
      const int128 paid = (static_cast<int128>(g.cost) << proof_.scale) - saved;
      const bool is_open = q.is == proof_needs::open;
      if (q.is == proof_needs::absent || (is_open && paid < 0)) value += paid;
      left.push_back(is_open ? std::max<int128>(paid, 0) : 0);
    }
    if (std::string fault = take_savings(list, price, std::move(left), value); !fault.empty()) return fault;
    return exceeds(value) ? "" : " does not reach the bound";
  }

  /// Takes the savings of absent storages at rows with needs off the value.
  std::string take_savings(std::size_t list, const std::vector<int128>& price, std::vector<int128> left,
                           int128& value) const {
    if (needs_.rows.empty()) return {};
    std::vector<int128> more;  // savings that may rest on inputs of storages with loads, per part
    for (const part& q : needs_.parts) {
      const std::uint64_t load_more = needs_.stretch(q.stretch).load_more;
      more.push_back(load_more == proof_rows::never ? 0 : static_cast<int128>(load_more) << proof_.scale);
    }
    for (const need_row& n : needs_.rows) {
      std::vector<int128> saved(n.members.size(), 0), present(n.members.size(), 0);
      for (std::size_t i = 0; i < n.members.size(); ++i) {
        const member& m = n.members[i];
        const int128 worth = price[n.row] * size(n, m.storage);
        if (!m.closed() && m.is == proof_needs::open) saved[i] = worth;
        if (!m.certain) present[i] = worth;
      }
      for (const proof::recompute_share& share : proof_.shares[list]) {
        if (share.row != n.row) continue;
        const std::size_t i = share.absent < n.place.size() ? n.place[share.absent] : nowhere;
        if (i == nowhere || n.members[i].closed()) return " has a share of no need";
        const member& m = n.members[i];
        if (m.is != proof_needs::open) continue;  // it saves nothing
        const int128 amount = static_cast<int128>(share.amount);
        int128* from = nullptr;
        if (share.pays != none) {
          const std::size_t payer = share.pays < n.place.size() ? n.place[share.pays] : nowhere;
          if (payer == nowhere || (payer != i && !reads_again(m, share.pays))) return " has a share that nothing can pay";
          if (n.members[payer].certain) continue;  // its bytes count already
          from = &present[payer];
          if (payer != i && m.loads) {
            int128 nothing = 0, &rest = m.part != nowhere ? more[m.part] : nothing;
            if (amount > rest) return " lets savings rest on inputs more than a load costs";
            rest -= amount;
          }
        } else if (m.part != nowhere) {
          if (needs_.parts[m.part].is == proof_needs::absent) continue;  // paid for already
          from = &left[m.part];
        }
        if (from == nullptr || amount > *from || amount > saved[i]) return " has a share that nothing can pay";
        *from -= amount;
        saved[i] -= amount;
      }
      for (int128 rest : saved) value -= rest;
    }
    for (const proof::recompute_share& share : proof_.shares[list])
      if (share.row >= needs_.has_needs.size() || !needs_.has_needs[share.row]) return " has a share at a row without needs";
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
  proof_needs needs_;
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_recompute(const problem& p, memory_model model, bytes budget,
                                              const recompute_proof& proof, const offload& moves) {
  return detail::recompute_checker(p, model, budget, proof, moves).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
