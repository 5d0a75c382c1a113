// Schedules within a budget by running operators again: repair, prune, destroy and repair.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/random.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/recompute/stages.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Finds reruns for a fixed order of first runs. Deterministic by seed and counted work; a schedule that is played counts
/// as a state.
class rerun_search {
 public:
  rerun_search(const problem& p, memory_model model, bytes budget, search& context, std::uint64_t seed);

  /// Adds reruns until the peak is within the budget. False where no candidate helps, a limit is met or the extra cost
  /// passes `most`; then `s` is left with the reruns so far. `noise` spreads the ranks of candidates by up to 1 + noise.
  /// O(executions + uses) for each candidate that is tried.
  bool repair(rerun_stages& s, std::uint64_t most, std::uint64_t noise_percent);
  /// Takes out reruns that the budget does not need, the dearest first.
  void prune(rerun_stages& s);
  /// Makes the storages of `absent` gaps again where these end, as far as that is possible.
  void open_gaps(rerun_stages& s, const rerun_rows& r, const std::vector<bool>& absent);
  /// Destroys a part of the reruns, repairs and prunes, and keeps the result if it costs no more, or now and then a little
  /// more. Ends behind `idle` rounds without gain, at `enough` extra cost, or at a limit. `s` must be within the budget.
  void improve(rerun_stages& s, std::uint64_t idle, std::uint64_t enough);

  /// The peak of stages; bytes.
  bytes peak(const rerun_stages& s) { return play_.play(s, budget_).peak; }

 private:
  /// Reruns that free a storage around an execution: a set of operators for one stage.
  struct candidate {
    index_t stage = 0;
    std::vector<op_id> ops;
    std::uint64_t cost = 0;
    double rank = 0;
  };
  /// One use or creation of a storage in the sequence.
  struct event {
    index_t at = 0;
    bool creates = false;
  };
  /// Storage `s` is to be absent in [from, to).
  struct hole {
    tensor_id storage = none;
    index_t from = 0, to = 0;
    bytes gain = 0;
  };

  void index();
  bytes highest(index_t from, index_t to) const;
  void find_candidates(index_t at, std::uint64_t noise_percent, std::vector<candidate>& found);
  void add_candidate(const hole& h, bool keep_inputs, std::uint64_t noise_percent, std::vector<candidate>& found);
  bool collect(const hole& h, bool keep_inputs, candidate& c);
  bool alive(tensor_id t, index_t at) const;
  bool fits(tensor_id t, const hole& h) const;
  std::vector<op_id> insert(rerun_stages& s, const candidate& c) const;
  void erase(rerun_stages& s, index_t stage, const std::vector<op_id>& ops) const;
  bool views_hold(const rerun_stages& s) const;
  void destroy(rerun_stages& s);

  const problem& p_;
  bytes budget_;
  search& context_;
  base::random_source random_;
  stage_player play_;
  std::vector<bool> again_;
  std::vector<index_t> place_;  // in the order
  list_of<op_id> views_;        // per storage, other operators than its producer that name it
  bool has_views_ = false;
  double average_cost_ = 1;
  std::vector<op_id> run_;                 // that the tables are of
  std::vector<index_t> stage_;             // likewise
  list_of<event> events_;                  // per storage
  std::vector<std::vector<bytes>> table_;  // highest of 2^i executions from each on
  std::vector<double> over_, count_;       // prefix sums: bytes over the budget, executions over it
  std::vector<unsigned char> member_;      // of the candidate that is made
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <bit>

#include <memsched/graph/runs_again.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION rerun_search::rerun_search(const problem& p, memory_model model, bytes budget, search& context,
                                             std::uint64_t seed)
    : p_(p),
      budget_(budget),
      context_(context),
      random_(seed),
      play_(p, model),
      again_(runs_again(p)),
      place_(p.ops().size()),
      member_(p.ops().size(), 0) {
  std::vector<std::pair<index_t, op_id>> views;
  double sum = 0;
  for (op_id op : p.ops()) {
    sum += static_cast<double>(p.cost(op));
    for (tensor_id t : p.outputs(op))
      if (p.storage(t) != t && p.producer(p.storage(t)) != op) views.emplace_back(p.storage(t), op);
  }
  has_views_ = !views.empty();
  views_ = list_of<op_id>::from_pairs(p.tensors().size(), views);
  average_cost_ = std::max(sum / std::max<double>(1, static_cast<double>(p.ops().size())), 1e-9);
}

/// Tables of the schedule that was played last.
MEMSCHED_FUNCTION void rerun_search::index() {
  run_ = play_.run(), stage_ = play_.stage();  // candidates are tried between two uses of the tables
  const auto& run = run_;
  const auto& during = play_.during();
  const std::size_t n = run.size();
  events_ = list_of<event>::from(p_.tensors().size(), [&](auto&& put) {
    for (index_t i = 0; i < n; ++i) {
      for (tensor_id t : p_.reads(run[i])) put(t, event{i, false});
      for (tensor_id t : p_.creates(run[i])) put(t, event{i, true});
    }
  });
  over_.assign(n + 1, 0), count_.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const bool over = during[i] > budget_;
    over_[i + 1] = over_[i] + (over ? static_cast<double>(during[i] - budget_) : 0);
    count_[i + 1] = count_[i] + (over ? 1 : 0);
  }
  table_.resize(std::bit_width(n) + 1);
  table_[0].assign(during.begin(), during.end());
  for (std::size_t level = 1; (std::size_t{1} << level) <= n; ++level) {
    const std::size_t half = std::size_t{1} << (level - 1);
    table_[level].resize(n + 1 - 2 * half);
    for (std::size_t i = 0; i + 2 * half <= n; ++i)
      table_[level][i] = std::max(table_[level - 1][i], table_[level - 1][i + half]);
  }
}

/// The highest bytes while executions in [from, to) run; 0 where there are none.
MEMSCHED_FUNCTION bytes rerun_search::highest(index_t from, index_t to) const {
  if (from >= to) return 0;
  const auto level = static_cast<std::size_t>(std::bit_width(to - from) - 1);
  return std::max(table_[level][from], table_[level][to - (index_t{1} << level)]);
}

MEMSCHED_FUNCTION bool rerun_search::alive(tensor_id t, index_t at) const {
  const auto list = events_[t];
  const auto next = std::lower_bound(list.begin(), list.end(), at, [](const event& e, index_t i) { return e.at < i; });
  return next == list.end() ? p_.stays(t) : !next->creates;
}

/// Whether t may stay from its last use to the end of the hole, within the budget where that is kept now.
MEMSCHED_FUNCTION bool rerun_search::fits(tensor_id t, const hole& h) const {
  const auto list = events_[t];
  const auto next = std::lower_bound(list.begin(), list.end(), h.to, [](const event& e, index_t i) { return e.at < i; });
  if (next == list.begin()) return true;
  const index_t from = std::prev(next)->at + 1;
  const bytes size = p_.size(t);
  const auto within = [&](index_t a, index_t b, bytes freed) {
    const bytes high = highest(a, b);
    return high + size <= budget_ + freed || (freed > size && high > budget_);
  };
  return (from >= h.from || within(from, h.from, 0)) && within(std::max(from, h.from), h.to, h.gain);
}

/// Gathers the reruns by which the storage of h is there at the end of the hole. False where something needed cannot be
/// made again.
MEMSCHED_FUNCTION bool rerun_search::collect(const hole& h, bool keep_inputs, candidate& c) {
  constexpr std::size_t most = 256;
  c.ops.assign(1, p_.producer(h.storage));
  member_[c.ops[0]] = 1;
  bool good = true;
  const auto add = [&](op_id op) {
    if (member_[op]) return;
    member_[op] = 1;
    c.ops.push_back(op);
  };
  for (std::size_t i = 0; i < c.ops.size() && good; ++i) {
    const op_id op = c.ops[i];
    for (tensor_id t : p_.reads(op)) {
      const op_id producer = p_.producer(t);
      if (producer == none || !again_[producer] || member_[producer]) continue;
      if (alive(t, h.to) || (keep_inputs && fits(t, h))) continue;
      add(producer);
    }
    if (has_views_) {
      for (tensor_id t : p_.creates(op))
        for (op_id view : views_[t])
          if (again_[view] && place_[view] < c.stage) add(view);
      for (tensor_id t : p_.inputs(op))  // a view that is older than its storage's copy is made again with it
        if (const op_id view = p_.writer(t); view != none && p_.storage(t) != t && p_.producer(p_.storage(t)) != none)
          if (member_[p_.producer(p_.storage(t))]) add(view);
    }
    good = c.ops.size() <= most;
  }
  for (op_id op : c.ops) member_[op] = 0;
  for (op_id op : c.ops) good = good && again_[op];
  std::sort(c.ops.begin(), c.ops.end(), [&](op_id a, op_id b) { return place_[a] < place_[b]; });
  return good;
}

MEMSCHED_FUNCTION void rerun_search::add_candidate(const hole& h, bool keep_inputs, std::uint64_t noise_percent,
                                                   std::vector<candidate>& found) {
  candidate c;
  c.stage = h.to < stage_.size() ? stage_[h.to] : static_cast<index_t>(place_.size());
  if (!collect(h, keep_inputs, c)) return;
  for (op_id op : c.ops) c.cost += p_.cost(op);
  const double gain = std::min(over_[h.to] - over_[h.from], (count_[h.to] - count_[h.from]) * static_cast<double>(h.gain));
  if (gain <= 0) return;
  c.rank = (static_cast<double>(c.cost) + 1e-4 * average_cost_ * static_cast<double>(c.ops.size())) / gain;
  if (noise_percent > 0) c.rank *= 1 + 0.01 * static_cast<double>(random_.below(noise_percent + 1));
  if (!found.empty() && found.back().stage == c.stage && found.back().ops == c.ops) return;
  found.push_back(std::move(c));
}

/// Sets of operators that could run again so that less is live while the execution at `at` runs.
MEMSCHED_FUNCTION void rerun_search::find_candidates(index_t at, std::uint64_t noise_percent,
                                                     std::vector<candidate>& found) {
  found.clear();
  const op_id running = run_[at];
  const auto end = static_cast<index_t>(run_.size());
  for (tensor_id t = 0; t < events_.size(); ++t) {
    const auto list = events_[t];
    if (list.empty() || p_.size(t) == 0) continue;
    const op_id producer = p_.producer(t);
    if (producer == none || !again_[producer]) continue;
    auto next = std::lower_bound(list.begin(), list.end(), at, [](const event& e, index_t i) { return e.at < i; });
    bytes gain = p_.size(t);
    index_t from = next == list.begin() ? none : std::prev(next)->at + 1;
    if (next != list.end() && next->at == at) {
      if (next->creates) continue;
      if (play_.rule(running) != firing::cbp) {
        gain = 0;
        for (const storage_reuse& r : p_.reuses(running))
          if (r.input == t) gain = r.spared;
        if (gain == 0) continue;
      }
      from = at;
      ++next;
    }
    if (from == none || (next == list.end() ? !p_.stays(t) : next->creates)) continue;
    const hole h{t, from, next == list.end() ? end : next->at, gain};
    add_candidate(h, true, noise_percent, found);
    add_candidate(h, false, noise_percent, found);
  }
}

/// Adds the operators of c to its stage; returns those that were not there.
MEMSCHED_FUNCTION std::vector<op_id> rerun_search::insert(rerun_stages& s, const candidate& c) const {
  std::vector<op_id>& stage = s.again[c.stage];
  std::vector<op_id> fresh;
  const auto before = [&](op_id a, op_id b) { return place_[a] < place_[b]; };
  for (op_id op : c.ops) {
    const auto at = std::lower_bound(stage.begin(), stage.end(), op, before);
    if (at != stage.end() && *at == op) continue;
    stage.insert(at, op);
    fresh.push_back(op);
  }
  return fresh;
}

MEMSCHED_FUNCTION void rerun_search::erase(rerun_stages& s, index_t stage, const std::vector<op_id>& ops) const {
  std::erase_if(s.again[stage], [&](op_id op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); });
}

/// Whether views are read only since they were made from the latest copy of their storage.
MEMSCHED_FUNCTION bool rerun_search::views_hold(const rerun_stages& s) const {
  if (!has_views_) return true;
  std::vector<index_t> last(p_.ops().size(), 0);
  index_t step = 0;
  for (op_id op : s.executions()) {
    for (tensor_id t : p_.inputs(op)) {
      const op_id view = p_.writer(t), creator = p_.producer(p_.storage(t));
      if (view != creator && creator != none && last[view] < last[creator]) return false;
    }
    last[op] = ++step;
  }
  return true;
}

MEMSCHED_FUNCTION bool rerun_search::repair(rerun_stages& s, std::uint64_t most, std::uint64_t noise_percent) {
  constexpr std::size_t tried = 4, attempts = 12;
  for (index_t k = 0; k < s.order.size(); ++k) place_[s.order[k]] = k;
  std::vector<candidate> found;
  std::vector<index_t> high;
  std::uint64_t cost = extra_cost(p_, s);
  for (;;) {
    const stage_player::level now = play_.play(s, budget_);
    if (!context_.count_state() || cost > most) return false;
    if (now.peak <= budget_) return true;
    high.clear();
    index_t worst = 0;
    for (index_t i = 0; i < play_.run().size(); ++i) {
      if (play_.during()[i] > budget_) high.push_back(i);
      if (play_.during()[i] > play_.during()[worst]) worst = i;
    }
    if (high.empty()) return false;  // the start itself
    index();
    bool helped = false;
    for (std::size_t attempt = 0; attempt < attempts && !helped; ++attempt) {
      const bool at_worst = attempt == 0 && (noise_percent == 0 || random_.chance(1, 2));
      find_candidates(at_worst ? worst : high[random_.below(high.size())], noise_percent, found);
      const auto cheaper = [](const candidate& a, const candidate& b) { return a.rank < b.rank; };
      const std::size_t count = std::min(tried, found.size());
      std::stable_sort(found.begin(), found.end(), cheaper);
      double best_rank = 0;
      std::size_t best = found.size();
      for (std::size_t i = 0, good = 0; i < found.size() && i < 24 && good < count; ++i) {
        const std::vector<op_id> fresh = insert(s, found[i]);
        const stage_player::level then = play_.play(s, budget_);
        context_.count_state();
        const bool holds = views_hold(s);
        erase(s, found[i].stage, fresh);
        if (fresh.empty() || !holds || then.over >= now.over) continue;
        ++good;
        double price = 1e-4 * average_cost_ * static_cast<double>(fresh.size());
        for (op_id op : fresh) price += static_cast<double>(p_.cost(op));
        double rank = price / (now.over - then.over);
        if (noise_percent > 0) rank *= 1 + 0.01 * static_cast<double>(random_.below(noise_percent + 1));
        if (best == found.size() || rank < best_rank) best = i, best_rank = rank;
      }
      if (best == found.size()) continue;
      for (op_id op : insert(s, found[best])) cost += p_.cost(op);
      helped = true;
    }
    if (!helped) return false;
  }
}

MEMSCHED_FUNCTION void rerun_search::prune(rerun_stages& s) {
  for (index_t k = 0; k < s.order.size(); ++k) place_[s.order[k]] = k;
  struct rerun {
    std::uint64_t cost;
    index_t stage;
    op_id op;
  };
  std::vector<rerun> all;
  for (index_t k = 0; k < s.again.size(); ++k)
    for (op_id op : s.again[k]) all.push_back({p_.cost(op), k, op});
  std::stable_sort(all.begin(), all.end(), [](const rerun& a, const rerun& b) { return a.cost > b.cost; });
  for (const rerun& r : all) {
    std::vector<op_id>& stage = s.again[r.stage];
    const auto at = std::find(stage.begin(), stage.end(), r.op);
    const auto place = at - stage.begin();
    stage.erase(at);
    const bool fine = play_.play(s, budget_).peak <= budget_ && views_hold(s);
    if (!fine) stage.insert(stage.begin() + place, r.op);
    if (!context_.count_state()) return;
  }
}

MEMSCHED_FUNCTION void rerun_search::open_gaps(rerun_stages& s, const rerun_rows& r, const std::vector<bool>& absent) {
  for (index_t k = 0; k < s.order.size(); ++k) place_[s.order[k]] = k;
  for (std::size_t i = 0; i < r.gaps.size(); ++i) {
    if (!absent[i] || !context_.count_state()) continue;
    const rerun_gap& g = r.gaps[i];
    play_.play(s, budget_);
    index();
    const auto& run = run_;
    const auto& stage = stage_;
    const op_id row = r.rows[g.last];
    index_t at = 0;
    while (run[at] != row || stage[at] != place_[row]) ++at;
    const auto list = events_[g.storage];
    const auto next = std::upper_bound(list.begin(), list.end(), at, [](index_t x, const event& e) { return x < e.at; });
    if (next == list.begin() || (next == list.end() ? !p_.stays(g.storage) : next->creates)) continue;
    const hole h{g.storage, std::prev(next)->at + 1, next == list.end() ? static_cast<index_t>(run.size()) : next->at,
                 g.size};
    candidate c;
    c.stage = h.to < stage.size() ? stage[h.to] : static_cast<index_t>(place_.size());
    if (!collect(h, true, c)) continue;
    const std::vector<op_id> fresh = insert(s, c);
    if (!views_hold(s)) erase(s, c.stage, fresh);
  }
}

/// Takes out reruns: some at random, those of a window of stages, or those of operators whose places are near each other.
MEMSCHED_FUNCTION void rerun_search::destroy(rerun_stages& s) {
  const std::uint64_t kind = random_.below(3), n = s.order.size() + 1;
  const std::uint64_t share = 5 + random_.below(46);
  const std::uint64_t width = std::max<std::uint64_t>(1, n * (2 + random_.below(24)) / 100), from = random_.below(n);
  for (index_t k = 0; k < s.again.size(); ++k) {
    const std::vector<op_id> before = s.again[k];
    std::erase_if(s.again[k], [&](op_id op) {
      const std::uint64_t place = kind == 1 ? k : place_[op];
      return kind == 0 ? random_.chance(share, 100) : place >= from && place < from + width;
    });
    if (s.again[k] != before && !views_hold(s)) s.again[k] = before;
  }
}

MEMSCHED_FUNCTION void rerun_search::improve(rerun_stages& s, std::uint64_t idle, std::uint64_t enough) {
  for (index_t k = 0; k < s.order.size(); ++k) place_[s.order[k]] = k;
  std::uint64_t best = extra_cost(p_, s), now = best;
  rerun_stages at = s;
  for (std::uint64_t round = 0; round < idle && best > enough && !context_.stopped(); ++round) {
    if (round % 64 == 63) at = s, now = best;
    rerun_stages other = at;
    destroy(other);
    const std::uint64_t noise = 20 * random_.below(8);
    if (!repair(other, best * 2, noise)) continue;
    prune(other);
    const std::uint64_t cost = extra_cost(p_, other);
    const bool little_worse = random_.chance(1, 8) && cost <= now + now / 50;
    if ((cost > now && !little_worse) || peak(other) > budget_) continue;
    at = std::move(other), now = cost;
    if (cost > best) continue;
    if (cost < best) round = 0;
    best = cost, s = at;
  }
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
