// The search behind `fit`.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/windows.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>

namespace memsched::inline MEMSCHED_ABI::detail {

/// The network with its operators in this order.
inline network reordered(network net, const std::vector<op_id>& order) {
  std::vector<op_id> place(order.size());
  for (op_id i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<operation> operations;
  for (const op_id i : order) {
    operations.push_back(std::move(net.operations[i]));
    for (op_id& before : operations.back().after) before = place[before];
  }
  net.operations = std::move(operations);
  return net;
}

/// A network that was tried, with the best order found.
struct fit_trial {
  network net;
  std::vector<op_id> order;
  fit_point cost;
  std::vector<tensor_id> live_at_peak;  ///< live at any step that reaches the peak, ascending
};

/// How many blocks of rows a tensor is cut into: up to 2^level.
using levels = std::vector<unsigned>;

class fit_run {
 public:
  fit_run(const network& net, inner_scheduler policy, const fit_options& f, const options& o)
      : first_(net), policy_(policy), f_(f), o_(o), start_(search::clock::now()) {}

  fitted run() {
    if (graph_error e = check_network(first_); !e.message.empty()) return failed(std::move(e));
    const std::optional<fit_trial> given = measure(f_.streamed_input ? stream_inputs(first_) : first_);
    if (!given) return std::move(out_);
    out_.before = given->cost;
    best_ = *given;
    note(given->cost);
    base_ = first_;
    if (!met()) rewrite_whole();
    prepare();
    if (!met()) f_.budget != 0 ? cut_to_budget() : cut_evenly();
    if (out_.error) return std::move(out_);
    out_.net = std::move(best_.net);
    out_.order = std::move(best_.order);
    out_.after = best_.cost;
    front();
    return std::move(out_);
  }

 private:
  bool met() const { return out_.error || (f_.budget != 0 && best_.cost.peak <= f_.budget); }
  fitted failed(graph_error e) {
    out_.error = std::move(e);
    return std::move(out_);
  }

  // Measuring.

  double seconds_left() const {
    if (o_.time_limit == o_.time_limit.max()) return 80;  // an eighth of it for each network
    return std::chrono::duration<double>(o_.time_limit - (search::clock::now() - start_)).count();
  }
  bool out_of_time() {
    if (o_.stop.stop_requested()) out_.stopped = stop_reason::cancelled;
    else if (seconds_left() <= 0) out_.stopped = stop_reason::time_limit;
    return out_.stopped != stop_reason::finished;
  }

  /// The best order of a network under the scheduler, and its cost; nothing and `error` where it is at fault. With a budget,
  /// the search may end at it.
  std::optional<fit_trial> measure(network net, bytes budget = no_limit, double share = 0.125) {
    auto low = lower(net);
    if (!low) return out_.error = low.error(), std::nullopt;
    const problem& p = low->problem;
    const memory_model model = o_.model();
    const schedule_graph g = make_schedule_graph(p, model);
    options limits = o_;
    limits.budget = budget;
    const auto time = std::chrono::duration<double>(std::max(0.0, seconds_left()) * share);
    const bool by_work = o_.time_limit == o_.time_limit.max() && o_.state_limit != no_limit;  // then it is deterministic
    if (!by_work) limits.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    search context(std::move(limits));
    solution s = policy_(g, context);
    if (s.error) return out_.error = std::move(s.error), std::nullopt;
    std::vector<op_id> given(p.ops().size());
    std::iota(given.begin(), given.end(), op_id{0});
    evaluation e = evaluate(p, s.order, model).value(), as_given = evaluate(p, given, model).value();
    if (as_given.peak < e.peak) e = std::move(as_given), s.order = std::move(given);
    fit_trial trial{std::move(net), {}, {e.peak, std::min(s.lower_bound, e.peak), 0, p.ops().size()}, {}};
    for (const node_id v : s.order) trial.order.push_back(low->ops[v]);
    trial.cost.macs = macs(trial.net);
    const auto handles = tensors_of(trial.net);
    referee play(p, model);
    std::vector<bool> live(trial.net.tensors.size(), false);
    for (std::size_t i = 0; i < s.order.size(); ++i) {
      if (e.during[i] == e.peak)
        for (const tensor_id t : play.live_tensors(s.order[i])) live[handles[t]] = true;
      play.play(s.order[i]);
    }
    for (tensor_id t = 0; t < live.size(); ++t)
      if (live[t]) trial.live_at_peak.push_back(t);
    return trial;
  }

  void note(const fit_point& p) { out_.front.push_back(p); }

  /// Measures a network; makes it the best where its peak is smaller, or no larger and `ties`. Says whether it did.
  bool try_network(network net, std::string rule, std::string site, bool ties = false) {
    std::optional<fit_trial> trial = measure(std::move(net));
    if (!trial) return false;
    note(trial->cost);
    const bool better = trial->cost.peak < best_.cost.peak || (ties && trial->cost.peak == best_.cost.peak);
    out_.steps.push_back({std::move(rule), std::move(site), best_.cost.peak, trial->cost, better});
    if (better) best_ = std::move(*trial);
    return better;
  }

  // Rules that cost nothing.

  network streamed(network net) const { return f_.streamed_input ? stream_inputs(std::move(net)) : net; }

  /// One rule on all of its sites at once; one by one where that raises the peak.
  template <class May, class Apply>
  void free_rule(const char* name, May&& may, Apply&& apply) {
    network all = base_;
    std::size_t sites = 0;
    for (op_id i = 0; i < all.operations.size();) {
      if (may(all, uses(all), i)) all = apply(std::move(all), i), ++sites;
      else ++i;
    }
    if (sites == 0 || out_of_time()) return;
    if (try_network(streamed(all), name, std::to_string(sites) + (sites == 1 ? " place" : " places"), true)) {
      base_ = std::move(all);
      return;
    }
    for (op_id i = 0; i < base_.operations.size() && !out_of_time() && !out_.error;) {
      const std::string site = base_.operations[i].name;
      if (may(base_, uses(base_), i)) {
        network one = apply(base_, i);
        if (try_network(streamed(one), name, site, true)) {
          base_ = std::move(one);
          continue;
        }
      }
      ++i;
    }
  }
  void rewrite_whole() {
    free_rule("fold pads", may_fold_pad, [](network n, op_id i) { return fold_pad(std::move(n), i); });
    if (!met()) free_rule("gather", may_gather, [](network n, op_id i) { return gather(std::move(n), i); });
    if (!met() && (f_.exact == exactness::reals || is_quantized(base_))) split_at_peak();
  }

  /// R1 where the result of a convolution of several parts is live at the peak, where the peak falls. What comes of it
  /// competes as it is: row blocks are made of the base.
  void split_at_peak() {
    for (bool fell = true; fell && !met() && !out_of_time();) {
      fell = false;
      std::vector<bool> live(best_.net.tensors.size(), false);
      for (const tensor_id t : best_.live_at_peak) live[t] = true;
      for (op_id i = 0; i < best_.net.operations.size() && !fell; ++i) {
        const operation& op = best_.net.operations[i];
        if (op.does.what == op_kind::mean || !may_split_sum(best_.net, i) || !live[op.writes[0].parts[0].tensor]) continue;
        const std::string site = op.name;
        fell = try_network(split_sum(best_.net, i, sum_form::any_order), "partial sums", site);
      }
    }
  }

  // Row blocks.

  /// Which tensors may be cut, which must be cut alike (an operator in place), and which are neighbours.
  void prepare() {
    const std::vector<cut_points> most = row_cuts(base_, coordinate{1} << 30);
    most_.assign(base_.tensors.size(), 0);
    for (tensor_id t = 0; t < most_.size(); ++t)
      if (!most[t].rows.empty())
        most_[t] = level_for(f_.most_blocks == 0 ? base_.tensors[t].size.rows
                                                 : std::min(f_.most_blocks, base_.tensors[t].size.rows));
    for (const operation& op : base_.operations) {
      for (const image& y : op.writes)
        for (const placed& q : y.parts)
          for (const image& x : op.reads)
            for (const placed& p : x.parts)
              if (most_[p.tensor] != 0 && most_[q.tensor] != 0) near_.push_back({p.tensor, q.tensor});
      if (op.overwrites != none) alike_.push_back({op.overwrites, op.writes[0].parts[0].tensor});
    }
  }
  static unsigned level_for(coordinate rows) {
    return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::max<coordinate>(1, rows) - 1)));
  }

  /// The least levels, none below these, with pairs in place alike and neighbours at most one apart.
  void settle(levels& level) const {
    for (bool changed = true; changed;) {
      changed = false;
      const auto raise = [&](tensor_id t, unsigned to) {
        if (level[t] < std::min(to, most_[t])) level[t] = std::min(to, most_[t]), changed = true;
      };
      for (const auto& [a, b] : near_) {
        if (level[a] > 1) raise(b, level[a] - 1);
        if (level[b] > 1) raise(a, level[b] - 1);
      }
      for (const auto& [a, b] : alike_) raise(a, level[b]), raise(b, level[a]);
    }
  }

  /// The base with its tensors cut to these levels; `of` says of which tensor of the base each tensor is a part.
  network cut_to(const levels& level, std::vector<tensor_id>* of = nullptr) {
    std::vector<cut_points> cuts(base_.tensors.size());
    for (tensor_id t = 0; t < cuts.size(); ++t) {
      const coordinate rows = base_.tensors[t].size.rows;
      coordinate n = coordinate{1} << level[t];
      if (f_.most_blocks != 0) n = std::min(n, f_.most_blocks);
      if (level[t] != 0) cuts[t].rows = even_cuts(rows, n);
      if (of != nullptr) of->insert(of->end(), cuts[t].rows.size() + 1, t);
    }
    network parts = cut(base_, cuts).value();
    const bool exact = f_.exact == exactness::bits && !is_quantized(base_);
    parts = streamed(split_reductions(std::move(parts), exact ? sum_form::chain : sum_form::any_order));
    if (of != nullptr) of->resize(parts.tensors.size(), none);
    return follow_best(std::move(parts));
  }

  /// A finer cut of the base in the order of the best network so far: the parts of each of its operators one after the
  /// other. Its given order then is one that the scheduler cannot do worse than. As it is, where parts straddle those of the
  /// best.
  network follow_best(network parts) const {
    std::vector<std::vector<std::pair<box, std::size_t>>> places(first_.operations.size());  // per origin: part, position
    for (std::size_t i = 0; i < best_.order.size(); ++i)
      if (const operation& op = best_.net.operations[best_.order[i]]; op.origin < places.size())
        places[op.origin].push_back({provenance(best_.net, op), i});
    std::vector<std::pair<std::size_t, op_id>> order;
    for (op_id i = 0; i < parts.operations.size(); ++i) {
      const operation& op = parts.operations[i];
      std::size_t at = 0;
      if (op.origin >= places.size()) return parts;
      for (const auto& [b, position] : places[op.origin])
        if (!common(b, provenance(parts, op)).empty()) at = std::max(at, position);
      order.push_back({at, i});
    }
    std::sort(order.begin(), order.end());
    std::vector<op_id> list;
    for (const auto& [at, i] : order) list.push_back(i);
    network moved = reordered(parts, list);
    return check_network(moved).message.empty() ? moved : parts;
  }
  static box provenance(const network& net, const operation& op) {
    box all;
    for (const placed& p : target(op).parts) all = hull(all, net.tensors[p.tensor].part);
    return all;
  }

  void cut_evenly() {
    unsigned most = 0;
    for (const unsigned m : most_) most = std::max(most, m);
    for (unsigned n = 1; n <= most && !out_of_time() && !out_.error; ++n) {
      levels level(most_.size());
      for (tensor_id t = 0; t < level.size(); ++t) level[t] = std::min(n, most_[t]);
      try_network(cut_to(level), "rows", "every tensor in up to " + std::to_string(coordinate{1} << n) + " blocks");
    }
  }

  /// Cuts what is live at the peak finer and finer, until the budget holds or nothing is left to cut.
  void cut_to_budget() {
    levels level(most_.size(), 0);
    for (;;) {
      std::vector<tensor_id> of;
      network parts = cut_to(level, &of);
      std::optional<fit_trial> trial = measure(std::move(parts), f_.budget);
      if (!trial) return;
      note(trial->cost);
      const bool better = trial->cost.peak < best_.cost.peak;
      out_.steps.push_back({"rows", "what is live at the peak", best_.cost.peak, trial->cost, better});
      if (better) best_ = *trial;
      if (trial->cost.peak <= f_.budget) return coarsen(level);
      if (out_of_time()) return;
      std::vector<bool> live(level.size(), false);
      for (const tensor_id t : trial->live_at_peak)
        if (of[t] != none) live[of[t]] = true;
      if (!raise(level, std::move(live))) return;
      settle(level);
    }
  }
  /// Raises the levels of these tensors; where all are as fine as can be, of their neighbours, and theirs, until one is not.
  bool raise(levels& level, std::vector<bool> of) const {
    for (bool grew = true; grew;) {
      bool raised = false;
      for (tensor_id t = 0; t < level.size(); ++t)
        if (of[t] && level[t] < most_[t]) ++level[t], raised = true;
      if (raised) return true;
      grew = false;
      const std::vector<bool> before = of;
      for (const auto& [a, b] : near_)
        for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
          if (before[x] && !of[y]) of[y] = true, grew = true;
    }
    return false;
  }

  /// Cuts coarser again where the budget still holds: tensors with the most blocks first.
  void coarsen(levels level) {
    for (bool changed = true; changed && !out_of_time();) {
      changed = false;
      std::vector<tensor_id> by_size;
      for (tensor_id t = 0; t < level.size(); ++t)
        if (level[t] != 0) by_size.push_back(t);
      std::stable_sort(by_size.begin(), by_size.end(), [&](tensor_id a, tensor_id b) { return level[a] > level[b]; });
      for (const tensor_id t : by_size) {
        if (out_of_time() || out_.error) return;
        if (level[t] == 0) continue;
        levels lower_level = level;
        lower_with_pairs(lower_level, t);
        levels settled = lower_level;
        settle(settled);
        if (settled != lower_level) continue;  // a neighbour would raise it again
        std::optional<fit_trial> trial = measure(cut_to(lower_level), f_.budget, 0.02);
        if (!trial) return;
        note(trial->cost);
        if (trial->cost.peak > f_.budget || trial->cost.operators > best_.cost.operators) continue;
        out_.steps.push_back({"coarser rows", base_.tensors[t].name, best_.cost.peak, trial->cost, true});
        best_ = std::move(*trial), level = std::move(lower_level), changed = true;
      }
    }
  }
  void lower_with_pairs(levels& level, tensor_id t) const {
    const unsigned to = level[t] - 1;
    level[t] = to;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [a, b] : alike_)
        for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
          if (level[x] == to && level[y] == to + 1 && most_[y] > to) level[y] = to, changed = true;
    }
  }

  /// Leaves the points that no other beats.
  void front() {
    std::vector<fit_point> all = std::move(out_.front), kept;
    std::sort(all.begin(), all.end(), [](const fit_point& a, const fit_point& b) {
      return std::pair(a.peak, std::pair(a.macs, a.operators)) < std::pair(b.peak, std::pair(b.macs, b.operators));
    });
    for (const fit_point& p : all)
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const fit_point& q) { return q.macs <= p.macs && q.operators <= p.operators; }))
        kept.push_back(p);
    out_.front = std::move(kept);
  }

  const network& first_;
  inner_scheduler policy_;
  fit_options f_;
  options o_;
  search::clock::time_point start_;
  fitted out_;
  network base_;
  fit_trial best_;
  levels most_;
  std::vector<std::pair<tensor_id, tensor_id>> near_, alike_;
};

MEMSCHED_FUNCTION fitted fit_network(const network& net, inner_scheduler policy, const fit_options& f, const options& o);

}  // namespace memsched::detail

#if MEMSCHED_DEFINED_HERE

namespace memsched::inline MEMSCHED_ABI::detail {

MEMSCHED_FUNCTION fitted fit_network(const network& net, inner_scheduler policy, const fit_options& f, const options& o) {
  return fit_run(net, policy, f, o).run();
}

}  // namespace memsched::detail

#endif
