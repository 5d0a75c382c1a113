// The search behind `fit`: which rules, where, in which order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/rewrite/channel_slices.hpp>
#include <memsched/rewrite/commute.hpp>
#include <memsched/rewrite/fit_options.hpp>
#include <memsched/rewrite/fit_stripes.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/kernel_wise.hpp>
#include <memsched/rewrite/runtime.hpp>
#include <memsched/rewrite/split_sums.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

class fit_run : fit_stripes {
 public:
  using fit_stripes::fit_stripes;

  fitted run() {
    if (graph_error e = check_network(first_); !e.message.empty()) return failed(std::move(e));
    if (graph_error e = why_not(); !e.message.empty()) return failed(std::move(e));
    out_.before.macs = macs(first_);
    const std::optional<fit_trial> given = measure(streamed(first_));
    if (!given) return out_.error ? std::move(out_) : failed(*formless_);
    out_.before = given->own;
    out_.given_order = given->order;
    best_ = *given;
    note(given->cost);
    base_ = first_;
    if (!met()) rewrite_tensors();
    if (for_whole()) {
      if (!met()) pay(best_.net);
    } else {
      rewrite_parts();
    }
    if (!out_.error) use_time_left();
    if (out_.error) return std::move(out_);
    out_.net = std::move(best_.net);
    out_.order = std::move(best_.order);
    out_.form_order = std::move(best_.form_order);
    out_.after = best_.cost;
    front();
    return std::move(out_);
  }

 private:
  fitted failed(graph_error e) {
    out_.error = std::move(e);
    return std::move(out_);
  }
  graph_error why_not() const {
    if (!for_whole()) return {};
    if (f_.streamed_input)
      return {
          error_code::bad_input, first_.name + ": an input that comes part by part is nothing for whole operators", {}, {}};
    if (const std::string why = not_whole(first_); !why.empty())
      return {error_code::bad_input, first_.name + ": is not of whole operators: " + why, {}, {}};
    return {};
  }

  // Rules for whole tensors.

  /// One rule on all of its sites at once; one by one if that raises the peak.
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
  void rewrite_tensors() {
    if (f_.exact == exactness::reals && !is_quantized(base_))
      free_rule("change places", may_commute, [](network n, op_id i) { return commute(std::move(n), i); });
    if (!met()) free_rule("fold pads", may_fold_pad, [](network n, op_id i) { return fold_pad(std::move(n), i); });
    const network concats = base_;
    if (!met()) free_rule("gather", may_gather, [](network n, op_id i) { return gather(std::move(n), i); });
    if (!met()) split_by_parts(concats);
    if (!met()) split_at_peak();
    if (!met() && for_whole()) add_convolutions();
    if (!met()) slice_at_peak();
  }

  /// R2 wherever it may be applied, if the peak falls: more operators have to earn it.
  void split_by_parts(network net) {
    std::size_t sites = 0;
    for (op_id i = 0; i < net.operations.size();) {
      if (may_split_readers(net, uses(net), i)) net = split_readers(std::move(net), i), ++sites;
      else if (may_split_kernels(net, uses(net), i)) net = split_kernels(net, i), ++sites;
      else if (may_gather(net, uses(net), i)) net = gather(std::move(net), i);
      else ++i;
    }
    if (sites == 0 || out_of_time()) return;
    if (try_network(streamed(net), "kernels by parts", std::to_string(sites) + (sites == 1 ? " place" : " places")))
      base_ = std::move(net);
  }

  std::vector<bool> live_at_peak() const {
    std::vector<bool> live(best_.net.tensors.size(), false);
    for (const tensor_id t : best_.live_at_peak) live[t] = true;
    return live;
  }
  /// Whether a convolution's terms come channel by channel in any case, so that a chain of its parts gives the same bits.
  static bool is_point(const operation& op) { return op.does.win.kernel_rows == 1 && op.does.win.kernel_columns == 1; }
  static bool are_ascending(const std::vector<interval>& terms) {
    for (std::size_t i = 1; i < terms.size(); ++i)
      if (terms[i].first < terms[i - 1].first) return false;
    return true;
  }

  /// R1 where the result of a convolution of several parts is live at the peak, if the peak falls. The result
  /// competes as it is: row blocks are made of the base.
  void split_at_peak() {
    for (bool fell = true; fell && !met() && !out_of_time();) {
      fell = false;
      const std::vector<bool> live = live_at_peak();
      for (op_id i = 0; i < best_.net.operations.size() && !fell && !out_of_time(); ++i) {
        const operation& op = best_.net.operations[i];
        if (op.does.what == op_kind::mean || !may_split_sum(best_.net, i) || !live[op.writes[0].parts[0].tensor]) continue;
        const std::string site = op.name;
        const network from = best_.net;
        const bool chain = is_point(op) && are_ascending(terms_of(from, op));
        if (any_order()) fell = try_network(split_sum(from, i, sum_form::any_order), "partial sums", site);
        if (any_order() || chain)
          fell = try_network(split_sum(from, i, sum_form::chain), "partial sums in a chain", site) || fell;
      }
    }
  }

  /// R1 of whole operators: a convolution of each part of a concatenation, and additions in place.
  void add_convolutions() {
    if (!any_order()) return;
    for (op_id i = 0; i < best_.net.operations.size() && !met() && !out_of_time(); ++i) {
      if (!may_gather(best_.net, uses(best_.net), i)) continue;
      const std::string site = best_.net.operations[i].name;
      network net = gather(best_.net, i);
      for (op_id r = 0; r < net.operations.size(); ++r)
        if (net.operations[r].does.what == op_kind::convolution && may_split_sum(net, r))
          net = split_sum(net, r, sum_form::in_pairs);
      try_network(std::move(net), "convolutions of parts, added", site);
    }
  }

  /// R4, R2 and R1 where channels between an expansion and a projection are live at the peak, in the coarsest slices that
  /// lower it most.
  void slice_at_peak() {
    for (bool fell = true; fell && !met() && !out_of_time();) {
      fell = false;
      const std::vector<bool> live = live_at_peak();
      for (op_id i = 0; i < best_.net.operations.size() && !fell; ++i) {
        const network from = best_.net;
        const std::vector<tensor_id> between = expanded_by(from, uses(from), i);
        if (std::none_of(between.begin(), between.end(), [&](tensor_id t) { return live[t]; })) continue;
        if (!any_order() && !is_point(from.operations[i])) continue;
        for (const coordinate n : {2, 4, 8, 16}) {
          if (n > from.tensors[between.front()].size.channels || out_of_time() || met()) break;
          const std::string site = from.operations[i].name + ", " + std::to_string(n) + " slices";
          const sum_form form = is_point(from.operations[i]) ? sum_form::chain : sum_form::any_order;
          fell = try_network(slice_channels(from, i, n, form), "channel slices", site) || fell;
        }
      }
    }
  }

  // Rules for parts.

  void rewrite_parts() {
    prepare();
    best_level_.clear();
    if (!met()) cut_rows_of_base();
    if (!met()) copy_producers();
    if (met() || f_.max_extra_macs == 0) return;
    std::vector<cut_points> cuts(base_.tensors.size());  // inputs in parts leave room as they are read
    for (tensor_id t = 0; t < cuts.size(); ++t)
      if (base_.tensors[t].input && most_[t] != 0) cuts[t].rows = even_cuts(base_.tensors[t].size.rows, 16);
    const bytes least = best_.cost.peak;
    const std::size_t steps = out_.steps.size();
    base_ = pay(cut(base_, cuts).value());
    if (out_.steps.size() == steps) return;  // no region was found
    prepare();
    if (!met()) cut_rows_of_base();
    for (std::size_t i = steps; i < out_.steps.size() && best_.cost.peak == least; ++i) out_.steps[i].kept = false;
  }
  void cut_rows_of_base() { f_.budget != 0 ? cut_to_budget() : cut_evenly(); }
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
