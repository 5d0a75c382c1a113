// Needs at the rows of a recompute_proof, and the parts of gaps by the decisions of a case. For the checker: shares no code
// with the search for bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/proof/proof_rows.hpp>
#include <memsched/proof/recompute_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Needs, and the parts of gaps and tails of which each pays for a rerun or load of its own: see `check_recompute`.
class proof_needs {
 public:
  static constexpr std::size_t nowhere = proof_rows::nowhere;
  enum answer : signed char { open, absent, present };

  struct decision {
    std::size_t stretch;      // a gap, or after all of them the tail of a storage
    std::size_t first, last;  // rows, both included
    bool absent;              // needed and absent at some of these rows
    bool again;               // instead, of a whole gap: whether the storage is made again in it
  };
  struct part {
    std::size_t stretch, first, last;
    answer is;
  };
  struct member {
    tensor_id storage;
    std::size_t stretch;  // that bears the cost of its absence; nowhere: none does
    bool of_gap, again, loads;
    // By decisions:
    answer is = open;
    bool certain = false;        // that it is needed
    std::size_t back = nowhere;  // the row before which an absent one is made again
    std::size_t part = nowhere;  // of the stretch
    bool closed() const { return !again && !loads; }
  };
  struct need_row {
    std::size_t row;
    bytes unit;
    int128 room;
    std::vector<member> members;
    std::vector<std::size_t> place;  // per storage
  };

  /// The producer of a member runs again after a row, before the row that uses its storage next.
  struct rerun {
    std::size_t need_row, member;
    int128 bytes;                      // of the producer
    std::vector<std::size_t> lasting;  // gaps of others that are in memory then, unless they are made again in these
  };

  proof_needs(const problem& p, const recompute_proof& proof, bool moves, const proof_rows& gaps)
      : p_(p), proof_(proof), moves_(moves), rows_(gaps), leaves_(may_leave(p)) {}

  /// Checks the rows with needs, and finds the needs. Returns the reason if a proof may not rest on these rows, else an empty
  /// string.
  std::string run() {
    if (!proof_.needs.empty() && proof_.shares.size() != proof_.prices.size()) return "there are not shares for all prices";
    if (proof_.units.size() != proof_.needs.size()) return "there is not one unit for each row with needs";
    has_needs.assign(proof_.rows.size(), false);
    for (std::size_t at = 0; at < proof_.needs.size(); ++at) {
      const index_t k = proof_.needs[at];
      if (k >= proof_.rows.size() || has_needs[k]) return "needs are of no row, or stand twice";
      if (proof_.units[at] == 0) return "a unit has no bytes";
      has_needs[k] = true;
      add_row(k, proof_.units[at]);
    }
    for (const auto& [k, t] : proof_.reruns)
      if (!add_rerun(k, t)) return "there is no rerun of " + std::to_string(t) + " after row " + std::to_string(k);
    return {};
  }

  const proof_rows::gap& stretch(std::size_t i) const {
    return i < rows_.gaps.size() ? rows_.gaps[i] : rows_.tails[i - rows_.gaps.size()];
  }
  bool is_tail(std::size_t stretch) const { return stretch >= rows_.gaps.size(); }

  /// The stretch of a storage that has all these rows, if it may be absent at them; nowhere if there is none.
  std::size_t find_stretch(tensor_id t, std::size_t first, std::size_t last) const {
    if (first > last || t >= rows_.tails.size()) return nowhere;
    const auto holds = [&](const proof_rows::gap& g) {
      return g.storage == t && !g.closed && g.first != nowhere && g.first <= first && last <= g.last;
    };
    const auto found = std::ranges::find_if(rows_.gaps, holds);
    if (found != rows_.gaps.end()) return static_cast<std::size_t>(found - rows_.gaps.begin());
    return holds(rows_.tails[t]) ? rows_.gaps.size() + t : nowhere;
  }

  /// Takes the decisions of a case. O(stretches + needs + uses).
  void decide(std::vector<decision> known) {
    known_ = std::move(known);
    std::ranges::sort(known_, [](const decision& a, const decision& b) {
      return std::tie(a.stretch, a.first, a.last) < std::tie(b.stretch, b.first, b.last);
    });
    answer_members();
    find_returns();
    cut_stretches();
  }

  /// Whether a rerun is certain by the decisions.
  bool is_certain(const rerun& r) const { return rows[r.need_row].members[r.member].is == absent; }
  /// Whether a storage is known to be in memory at rows of a gap, but not between these.
  bool is_decided_at_rows(std::size_t gap) const {
    return std::ranges::any_of(decisions_of(gap), [](const decision& d) { return !d.absent && !d.again; });
  }

  std::vector<bool> has_needs;  ///< per row
  std::vector<need_row> rows;
  std::vector<rerun> reruns;
  std::vector<part> parts;

 private:
  struct window {
    std::size_t row, back;
  };

  void add_row(std::size_t k, bytes unit) {
    need_row n{k, unit, 0, {}, std::vector<std::size_t>(p_.tensors().size(), nowhere)};
    const op_id op = proof_.rows[k];
    std::vector<bool> in_memory(p_.tensors().size(), false);
    for (tensor_id t : p_.creates(op)) in_memory[t] = true;
    for (tensor_id t : p_.reads(op)) in_memory[t] = in_memory[t] || rows_.rule(op) == firing::pbc;
    const auto add = [&](tensor_id t, std::size_t stretch, bool of_gap) {
      if (in_memory[t] || n.place[t] != nowhere) return;
      n.place[t] = n.members.size();
      n.members.push_back({t, stretch, of_gap, rows_.again(p_.producer(t)), moves_ && leaves_[t]});
    };
    for (std::size_t i = 0; i < rows_.gaps.size(); ++i)
      if (rows_.gaps[i].first <= k && k <= rows_.gaps[i].last) add(rows_.gaps[i].storage, i, true);
    for (std::size_t i = 0; i < n.members.size(); ++i)
      if (n.members[i].again)
        for (tensor_id t : p_.reads(p_.producer(n.members[i].storage)))
          add(t, rows_.tails[t].first <= k ? rows_.gaps.size() + t : nowhere, false);
    const auto whole = static_cast<int128>(unit);
    const int128 cut = rows_.room[k] % whole;
    n.room = rows_.room[k] - cut - (cut < 0 ? whole : 0);
    rows.push_back(std::move(n));
  }

  /// Adds the rerun of a storage after a row with needs. Returns false if there is none with a known use.
  bool add_rerun(std::size_t k, tensor_id t) {
    const auto n = std::ranges::find(rows, k, &need_row::row);
    if (moves_ || n == rows.end() || t >= n->place.size() || n->place[t] == nowhere) return false;
    const member& m = n->members[n->place[t]];
    if (!m.of_gap || !m.again) return false;
    const std::size_t back = use_behind(m.stretch);
    if (back == nowhere) return false;
    const op_id op = p_.producer(t);
    rerun r{static_cast<std::size_t>(n - rows.begin()), n->place[t], rows_.bytes_of(op), {}};
    for (std::size_t i = 0; i < rows_.gaps.size(); ++i) {
      const proof_rows::gap& g = rows_.gaps[i];
      const bool begins = g.first <= k || begins_behind(i, k);
      const bool ends = g.last >= back || (g.last + 1 == back && use_behind(i) == back);
      if (begins && ends && !has(p_.reads(op), g.storage) && !has(p_.creates(op), g.storage)) r.lasting.push_back(i);
    }
    reruns.push_back(std::move(r));
    return true;
  }
  /// Whether a gap begins right after a row that makes or uses its storage: not during the next one, which consumes it.
  bool begins_behind(std::size_t gap, std::size_t k) const {
    const proof_rows::gap& g = rows_.gaps[gap];
    if (g.first != k + 1) return false;
    const op_id here = proof_.rows[k], next = proof_.rows[k + 1];
    if (has(p_.reads(next), g.storage) && rows_.rule(next) == firing::cbp) return false;
    return has(p_.reads(here), g.storage) || has(p_.creates(here), g.storage);
  }
  /// The row right after a gap, if it uses the storage.
  std::size_t use_behind(std::size_t gap) const {
    const std::size_t behind = stretch(gap).last + 1;
    if (behind == proof_.rows.size()) return nowhere;
    return has(p_.reads(proof_.rows[behind]), stretch(gap).storage) ? behind : nowhere;
  }
  static bool has(std::span<const tensor_id> list, tensor_id t) { return std::ranges::find(list, t) != list.end(); }

  std::span<const decision> decisions_of(std::size_t stretch) const {
    return {std::ranges::lower_bound(known_, stretch, {}, &decision::stretch),
            std::ranges::upper_bound(known_, stretch, {}, &decision::stretch)};
  }

  void answer_members() {
    for (need_row& n : rows) {
      for (member& m : n.members) m.is = open, m.certain = m.of_gap, m.back = m.part = nowhere;
      for (member& m : n.members) {
        if (m.stretch == nowhere) continue;
        for (const decision& d : decisions_of(m.stretch)) {
          if (n.row < d.first || d.last < n.row) continue;
          if (!d.absent) m.is = present;
          else if (d.first == d.last && !d.again && m.is == open && !moves_) m.is = absent;
        }
        if (m.is != absent) continue;
        m.certain = true;
        for_inputs(n, m, [](member& input) { input.certain = true; });
      }
    }
  }
  /// The members that the producer of another one reads.
  template <class F>
  void for_inputs(need_row& n, const member& m, F f) const {
    for (tensor_id t : p_.reads(p_.producer(m.storage)))
      if (n.place[t] != nowhere) f(n.members[n.place[t]]);
  }

  /// Finds the rows before which absent members are made again: the next use of a gap's storage, or that of another absent
  /// member, if its producer reads this one and it comes first. Rows of the latter kind cut.
  void find_returns() {
    windows_.assign(rows_.gaps.size() + rows_.tails.size(), {});
    for (need_row& n : rows) {
      for (member& m : n.members)
        if (m.is == absent && !is_tail(m.stretch)) m.back = next_use(m, n.row);
      for (bool changes = true; changes;) {
        changes = false;
        for (const member& m : n.members) {
          if (m.is != absent || m.back == nowhere) continue;
          for_inputs(n, m, [&](member& input) {
            if (input.is != absent || input.back <= m.back) return;
            input.back = m.back;
            changes = true;
          });
        }
      }
      for (const member& m : n.members)
        if (m.is == absent && m.back != nowhere) windows_[m.stretch].push_back({n.row, m.back});
    }
  }
  std::size_t next_use(const member& m, std::size_t row) const {
    for (const decision& d : decisions_of(m.stretch))
      if (!d.absent && d.first > row) return d.first;
    return use_behind(m.stretch);
  }

  void cut_stretches() {
    parts.clear();
    for (std::size_t i = 0; i < rows_.gaps.size() + rows_.tails.size(); ++i) {
      const proof_rows::gap& g = stretch(i);
      if (g.closed || g.first == nowhere || g.first > g.last) continue;
      std::size_t first = g.first;
      if (!is_tail(i))
        for (const decision& d : decisions_of(i)) {
          if (d.absent) continue;
          if (first < d.first) cut_at_windows(i, first, d.first - 1);
          first = std::max(first, d.last + 1);
        }
      if (first <= g.last) cut_at_windows(i, first, g.last);
    }
    for (need_row& n : rows)
      for (member& m : n.members) m.part = part_of(m.stretch, n.row);
  }
  void cut_at_windows(std::size_t stretch, std::size_t first, std::size_t last) {
    std::ranges::sort(windows_[stretch], {}, &window::back);
    for (const window& w : windows_[stretch])
      if (first <= w.row && w.row < w.back && w.back <= last) {
        add_part(stretch, first, w.back - 1);
        first = w.back;
      }
    add_part(stretch, first, last);
  }
  void add_part(std::size_t stretch, std::size_t first, std::size_t last) {
    answer is = open;
    for (const decision& d : decisions_of(stretch)) {
      if (d.absent && first <= d.first && d.last <= last) is = absent;
      if (!d.absent && d.first <= first && last <= d.last) is = present;
    }
    parts.push_back({stretch, first, last, is});
  }
  std::size_t part_of(std::size_t stretch, std::size_t row) const {
    if (stretch == nowhere) return nowhere;
    auto found = std::ranges::lower_bound(parts, std::tuple(stretch, row), {},
                                          [](const part& q) { return std::tuple(q.stretch, q.last); });
    if (found == parts.end() || found->stretch != stretch || row < found->first) return nowhere;
    return static_cast<std::size_t>(found - parts.begin());
  }

  const problem& p_;
  const recompute_proof& proof_;
  bool moves_;
  const proof_rows& rows_;
  std::vector<bool> leaves_;
  std::vector<decision> known_;
  std::vector<std::vector<window>> windows_;  // per stretch
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
