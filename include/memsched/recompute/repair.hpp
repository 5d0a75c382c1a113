// Schedules within a budget by running operators again: repair, prune, destroy and repair.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/random.hpp>
#include <memsched/recompute/played_stages.hpp>
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
  /// O(executions + uses) for each candidate that is taken, and less for one that is tried.
  bool repair(rerun_stages& s, std::uint64_t most, std::uint64_t noise_percent);
  /// Takes out reruns that the budget does not need, the dearest first. The peak stays within it.
  void prune(rerun_stages& s);
  /// Makes the storages of `absent` gaps again where these end, as far as that is possible. Returns false once the extra cost
  /// passes `most`, or a limit is met.
  bool open_gaps(rerun_stages& s, const rerun_rows& r, const std::vector<bool>& absent, std::uint64_t most);
  /// Destroys a part of the reruns, repairs and prunes, and keeps the result if it costs no more, or now and then a little
  /// more. Ends behind `idle` rounds without gain, at `enough` extra cost, or at a limit. `s` must be within the budget.
  void improve(rerun_stages& s, std::uint64_t idle, std::uint64_t enough);

 private:
  /// Reruns that free a storage around an execution: a set of operators for one stage.
  struct candidate {
    tensor_id storage = none;
    bytes gain = 0;  ///< that it frees while the execution runs
    index_t stage = 0;
    std::vector<op_id> ops{};
    std::uint64_t cost = 0;
    double rank = 0;
  };
  /// Storage `s` is to be absent in [from, to).
  struct hole {
    tensor_id storage = none;
    index_t from = 0, to = 0;
    bytes gain = 0;
  };

  void find_candidates(index_t at, std::uint64_t noise_percent, std::vector<candidate>& found);
  void add_candidate(const hole& h, bool keep_inputs, std::uint64_t noise_percent, std::vector<candidate>& found);
  bool collect(const hole& h, bool keep_inputs, candidate& c);
  bool stays_within(tensor_id t, const hole& h) const;
  double price(const std::vector<op_id>& ops) const;
  /// Changes between two plays: more for large graphs, which take long to play.
  std::size_t several() const { return 1 + p_.ops().size() / 1000; }
  index_t stage_at(index_t at) const;
  index_t find_high(std::vector<index_t>& high) const;
  std::optional<std::uint64_t> add_best(rerun_stages& s, index_t at, std::vector<candidate>& found,
                                        std::uint64_t noise_percent);
  double over_with(const rerun_stages& s, const std::vector<op_id>& fresh, index_t stage);
  std::vector<op_id> insert(rerun_stages& s, const candidate& c) const;
  void erase(rerun_stages& s, index_t stage, const std::vector<op_id>& ops) const;
  bool views_hold(const rerun_stages& s) const;
  void destroy(rerun_stages& s);

  const problem& p_;
  bytes budget_;
  search& context_;
  base::random_source random_;
  played_stages played_;
  std::vector<bool> again_;
  list_of<op_id> views_;  // per storage, other operators than its producer that name it
  bool has_views_ = false;
  double average_cost_ = 1;
  std::vector<unsigned char> member_;  // of the candidate that is made
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

#include <memsched/graph/runs_again.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION rerun_search::rerun_search(const problem& p, memory_model model, bytes budget, search& context,
                                             std::uint64_t seed)
    : p_(p),
      budget_(budget),
      context_(context),
      random_(seed),
      played_(p, model, budget),
      again_(runs_again(p)),
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

/// Whether t may stay from its last use to the end of the hole, within the budget where that is kept now.
MEMSCHED_FUNCTION bool rerun_search::stays_within(tensor_id t, const hole& h) const {
  const auto* next = played_.next_event(t, h.to);
  if (next == played_.events(t).data()) return true;
  const index_t from = next[-1].at + 1;
  const bytes size = p_.size(t);
  const auto within = [&](index_t a, index_t b, bytes freed) {
    const bytes high = played_.highest(a, b);
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
      if (played_.alive(t, h.to) || (keep_inputs && stays_within(t, h))) continue;
      add(producer);
    }
    if (has_views_) {
      for (tensor_id t : p_.creates(op))
        for (op_id view : views_[t])
          if (again_[view] && played_.place(view) < c.stage) add(view);
      for (tensor_id t : p_.inputs(op))  // a view that is older than its storage's copy is made again with it
        if (const op_id view = p_.writer(t); view != none && p_.storage(t) != t && p_.producer(p_.storage(t)) != none)
          if (member_[p_.producer(p_.storage(t))]) add(view);
    }
    good = c.ops.size() <= most;
  }
  for (op_id op : c.ops) member_[op] = 0;
  for (op_id op : c.ops) good = good && again_[op];
  std::sort(c.ops.begin(), c.ops.end(), [&](op_id a, op_id b) { return played_.place(a) < played_.place(b); });
  return good;
}

/// The stage of an execution; of the end, the last one.
MEMSCHED_FUNCTION index_t rerun_search::stage_at(index_t at) const {
  return at < played_.stage().size() ? played_.stage()[at] : static_cast<index_t>(p_.ops().size());
}

MEMSCHED_FUNCTION void rerun_search::add_candidate(const hole& h, bool keep_inputs, std::uint64_t noise_percent,
                                                   std::vector<candidate>& found) {
  candidate c{.storage = h.storage, .gain = h.gain, .stage = stage_at(h.to)};
  if (!collect(h, keep_inputs, c)) return;
  for (op_id op : c.ops) c.cost += p_.cost(op);
  const double gain = std::min(played_.over(h.from, h.to), played_.count_over(h.from, h.to) * static_cast<double>(h.gain));
  if (gain <= 0) return;
  c.rank = price(c.ops) / gain;
  if (noise_percent > 0) c.rank *= 1 + 0.01 * static_cast<double>(random_.below(noise_percent + 1));
  if (!found.empty() && found.back().stage == c.stage && found.back().ops == c.ops) return;
  found.push_back(std::move(c));
}

/// Sets of operators that could run again so that less is live while the execution at `at` runs.
MEMSCHED_FUNCTION void rerun_search::find_candidates(index_t at, std::uint64_t noise_percent,
                                                     std::vector<candidate>& found) {
  found.clear();
  const op_id running = played_.run()[at];
  for (tensor_id t : p_.tensors()) {
    const auto list = played_.events(t);
    if (list.empty() || p_.size(t) == 0) continue;
    const op_id producer = p_.producer(t);
    if (producer == none || !again_[producer]) continue;
    const auto* next = played_.next_event(t, at);
    bytes gain = p_.size(t);
    index_t from = next == list.data() ? none : next[-1].at + 1;
    if (played_.position(t, next) == at) {
      if (next->creates) continue;
      if (played_.rule(running) != firing::cbp) {
        gain = played_.spared(running, t);
        if (gain == 0) continue;
      }
      from = at;
      ++next;
    }
    if (from == none || !played_.alive_before(t, next)) continue;
    const hole h{t, from, played_.position(t, next), gain};
    add_candidate(h, true, noise_percent, found);
    add_candidate(h, false, noise_percent, found);
  }
}

/// Adds the operators of c to its stage; returns those that were not there.
MEMSCHED_FUNCTION std::vector<op_id> rerun_search::insert(rerun_stages& s, const candidate& c) const {
  std::vector<op_id>& stage = s.again[c.stage];
  std::vector<op_id> fresh;
  const auto before = [&](op_id a, op_id b) { return played_.place(a) < played_.place(b); };
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

/// The cost of reruns, a little above 0 where they cost nothing.
MEMSCHED_FUNCTION double rerun_search::price(const std::vector<op_id>& ops) const {
  double sum = 1e-4 * average_cost_ * static_cast<double>(ops.size());
  for (op_id op : ops) sum += static_cast<double>(p_.cost(op));
  return sum;
}

/// Executions over the budget, and the worst of all.
MEMSCHED_FUNCTION index_t rerun_search::find_high(std::vector<index_t>& high) const {
  high.clear();
  const auto during = played_.during();
  index_t worst = 0;
  for (index_t i = 0; i < during.size(); ++i) {
    if (during[i] > budget_) high.push_back(i);
    if (during[i] > during[worst]) worst = i;
  }
  return worst;
}

/// Adds the candidate with the least rank of the first few that help, and `several()` while together they free less than an
/// eighth of the bytes over the budget at `at`. Returns the cost that they add; nothing if none helps.
MEMSCHED_FUNCTION std::optional<std::uint64_t> rerun_search::add_best(rerun_stages& s, index_t at,
                                                                      std::vector<candidate>& found,
                                                                      std::uint64_t noise_percent) {
  constexpr std::size_t tried = 24, compared = 4;
  const auto cheaper = [](const candidate& a, const candidate& b) { return a.rank < b.rank; };
  std::stable_sort(found.begin(), found.end(), cheaper);
  double best_rank = 0;
  std::size_t best = found.size();
  for (std::size_t i = 0, good = 0; i < std::min(found.size(), tried) && good < compared; ++i) {
    const std::vector<op_id> fresh = insert(s, found[i]);
    const double over = over_with(s, fresh, found[i].stage);
    erase(s, found[i].stage, fresh);
    if (over >= played_.over()) continue;
    ++good;
    double rank = price(fresh) / (played_.over() - over);
    if (noise_percent > 0) rank *= 1 + 0.01 * static_cast<double>(random_.below(noise_percent + 1));
    if (best == found.size() || rank < best_rank) best = i, best_rank = rank;
  }
  if (best == found.size()) return std::nullopt;
  std::swap(found[0], found[best]);
  const bytes enough = (played_.during()[at] - budget_) / 8;
  std::size_t left = several();
  std::vector<bool> freed(p_.tensors().size());
  bytes sum = 0;
  std::uint64_t cost = 0;
  for (const candidate& c : found) {
    if (freed[c.storage]) continue;
    const std::vector<op_id> fresh = insert(s, c);
    if (over_with(s, fresh, c.stage) >= played_.over()) {
      erase(s, c.stage, fresh);
      continue;
    }
    for (op_id op : fresh) cost += p_.cost(op);
    freed[c.storage] = true;
    if (--left == 0 || (sum += c.gain) >= enough) break;
  }
  return cost;
}

/// Bytes over the budget with `fresh` reruns more, which `s` has and the tables do not; the bytes of now where `fresh` is
/// empty or a view would be read from an older copy.
MEMSCHED_FUNCTION double rerun_search::over_with(const rerun_stages& s, const std::vector<op_id>& fresh, index_t stage) {
  context_.count_state();
  return fresh.empty() || !views_hold(s) ? played_.over() : played_.over_with(fresh, stage);
}

MEMSCHED_FUNCTION bool rerun_search::repair(rerun_stages& s, std::uint64_t most, std::uint64_t noise_percent) {
  constexpr std::size_t attempts = 12;
  std::vector<candidate> found;
  std::vector<index_t> high;
  std::uint64_t cost = extra_cost(p_, s);
  for (;;) {
    played_.take(s);
    if (!context_.count_state() || cost > most) return false;
    if (played_.fits()) return true;
    const index_t worst = find_high(high);
    if (high.empty()) return false;  // the start itself
    std::optional<std::uint64_t> added;
    for (std::size_t attempt = 0; attempt < attempts && !added; ++attempt) {
      const bool at_worst = attempt == 0 && (noise_percent == 0 || random_.chance(1, 2));
      const index_t at = at_worst ? worst : high[random_.below(high.size())];
      find_candidates(at, noise_percent, found);
      added = add_best(s, at, found, noise_percent);
    }
    if (!added) return false;
    cost += *added;
  }
}

MEMSCHED_FUNCTION void rerun_search::prune(rerun_stages& s) {
  struct rerun {
    std::uint64_t cost;
    index_t stage;
    op_id op;
  };
  std::vector<rerun> all;
  for (index_t k = 0; k < s.again.size(); ++k)
    for (op_id op : s.again[k]) all.push_back({p_.cost(op), k, op});
  std::stable_sort(all.begin(), all.end(), [](const rerun& a, const rerun& b) { return a.cost > b.cost; });
  played_.take(s);
  for (const rerun& r : all) {
    if (!context_.count_state()) return;
    if (played_.over_without(played_.position(r.op, r.stage)) > 0) continue;
    std::vector<op_id>& stage = s.again[r.stage];
    const auto place = std::find(stage.begin(), stage.end(), r.op) - stage.begin();
    stage.erase(stage.begin() + place);
    if (views_hold(s)) played_.take(s);
    else stage.insert(stage.begin() + place, r.op);
  }
}

MEMSCHED_FUNCTION bool rerun_search::open_gaps(rerun_stages& s, const rerun_rows& r, const std::vector<bool>& absent,
                                               std::uint64_t most) {
  std::uint64_t cost = extra_cost(p_, s);
  std::size_t opened = 0;
  for (std::size_t i = 0; i < r.gaps.size(); ++i) {
    if (!absent[i]) continue;
    if (!context_.count_state() || cost > most) return false;
    const rerun_gap& g = r.gaps[i];
    if (opened++ % several() == 0) played_.take(s);
    const index_t at = played_.first_run(r.rows[g.last]);
    const auto* next = played_.next_event(g.storage, at + 1);
    if (next == played_.events(g.storage).data() || !played_.alive_before(g.storage, next)) continue;
    const hole h{g.storage, next[-1].at + 1, played_.position(g.storage, next), g.size};
    candidate c{.storage = h.storage, .gain = h.gain, .stage = stage_at(h.to)};
    if (!collect(h, true, c)) continue;
    const std::vector<op_id> fresh = insert(s, c);
    if (!views_hold(s)) erase(s, c.stage, fresh);
    else
      for (op_id op : fresh) cost += p_.cost(op);
  }
  return true;
}

/// Takes out reruns: some at random, those of a window of stages, or those of operators whose places are near each other.
MEMSCHED_FUNCTION void rerun_search::destroy(rerun_stages& s) {
  const std::uint64_t kind = random_.below(3), n = s.order.size() + 1;
  const std::uint64_t share = 5 + random_.below(46);
  const std::uint64_t width = std::max<std::uint64_t>(1, n * (2 + random_.below(24)) / 100), from = random_.below(n);
  for (index_t k = 0; k < s.again.size(); ++k) {
    const std::vector<op_id> before = s.again[k];
    std::erase_if(s.again[k], [&](op_id op) {
      const std::uint64_t place = kind == 1 ? k : played_.place(op);
      return kind == 0 ? random_.chance(share, 100) : place >= from && place < from + width;
    });
    if (s.again[k] != before && !views_hold(s)) s.again[k] = before;
  }
}

MEMSCHED_FUNCTION void rerun_search::improve(rerun_stages& s, std::uint64_t idle, std::uint64_t enough) {
  played_.take(s);
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
    if (cost > now && !little_worse) continue;
    at = std::move(other), now = cost;
    if (cost > best) continue;
    if (cost < best) round = 0;
    best = cost, s = at;
  }
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
