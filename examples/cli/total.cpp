#include "total.hpp"

#include <algorithm>
#include <memsched/formats/tflite.hpp>
#include <memsched/schedule.hpp>
#include <utility>

#include "limits.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::fitted;
using memsched::network;
using memsched::result;

/// Compares files as they come, and keeps the best one.
class comparison {
 public:
  comparison(const network& net, const rewrite_request& r, memsched::read_options reading)
      : net_(net), r_(r), reading_(std::move(reading)) {}

  /// The file as it is, which the others must beat.
  result<bool> see_given(const fitted& given) {
    const auto file = read_file(r_.graph);
    if (!file) return file.error();
    auto model = read(std::string(file->view()));
    if (!model) return wrong(r_.graph, model.error().message);
    const auto seen = see("given", model->head->has_plan, *model, reading_);
    if (seen) take(given, given.before.lower_bound, std::move(*model));
    return seen;
  }

  /// The file in its best order. An order that it has to keep is no fault.
  result<bool> see_reordered(const fitted& given, const memsched::options& limits) {
    for (const bool offsets : {false, true}) {
      if (!offsets && r_.offsets) continue;
      reorder_request how;
      static_cast<request&>(how) = r_;
      how.options = limits;
      how.graph = r_.graph, how.output = r_.output, how.offsets = offsets;
      auto made = reordered_file(how);
      if (!made) continue;
      auto model = read(std::move(made->bytes));
      if (!model) return model.error();
      const auto better = see("reordered", offsets, *model, reading_);
      if (!better) return better;
      if (!*better) continue;
      take(given, made->lower_bound, std::move(*model));
    }
    return true;
  }

  /// The files of a network that the search found. The first fault is kept; one network more or less does not matter.
  void see_rewritten(const fitted& found) {
    for (const bool offsets : {false, true}) {
      if (!offsets && r_.offsets) continue;
      if (offsets && !r_.offsets && !offsets_may_win()) continue;
      auto model = write_model(r_.output, net_, found, r_.how, r_.options.model(), offsets);
      if (!model) return keep(model.error());
      const std::size_t known = choices.size();
      const auto better = see("rewritten", offsets, *model, {});
      if (!better) return keep(better.error());
      if (*better) best = std::move(*model), best_network = found;
      if (choices.size() == known) return;  // found before
    }
  }

  std::vector<arena_choice> choices{};
  std::size_t chosen = 0;
  std::optional<written_model> best{};  ///< the file of `chosen`
  fitted best_network{};                ///< its network
  std::vector<std::string> uncounted{};
  std::optional<memsched::graph_error> fault{};

 private:
  /// Takes a file with the operators of the given one.
  void take(const fitted& given, bytes lower_bound, written_model model) {
    best_network = given;
    best_network.after = {model.cost.peak, std::min(lower_bound, model.cost.peak), given.before.macs,
                          model.graph.ops().size()};
    best = std::move(model);
  }

  void keep(const memsched::graph_error& e) {
    if (!fault) fault = e;
  }

  /// A file with the operators of the given one, with the figures of one that is written.
  result<written_model> read(std::string file) const {
    const auto graphs = memsched::read_tflite(file, reading_);
    if (!graphs) return graphs.error();
    const auto head = memsched::micro_arena_of(file, reading_);
    if (!head) return head.error();
    return measured(std::move(file), *graphs, *head, r_.options.model());
  }

  /// Adds a choice, unless one has the same figures; whether it is the best so far.
  result<bool> see(const char* what, bool offsets, const written_model& model, const memsched::read_options& reading) {
    const auto width = r_.pointer_bits == 64 ? memsched::pointer_width::bits_64 : memsched::pointer_width::bits_32;
    const auto tail = memsched::micro_tail_of(model.bytes, width, reading);
    if (!tail) return tail.error();
    for (const std::string& kind : tail->unknown)
      if (std::find(uncounted.begin(), uncounted.end(), kind) == uncounted.end()) uncounted.push_back(kind);
    const arena_choice c{what, offsets, model.graph.ops().size(), model.cost.peak, model.head->planned, tail->size};
    last_load_ = model.head->load;
    if (std::find(choices.begin(), choices.end(), c) != choices.end()) return false;
    const bool better = choices.empty() || c.total() < choices[chosen].total();
    if (better) chosen = choices.size();
    choices.push_back(c);
    return better;
  }

  /// Whether offsets can make the file of the last choice the best one: no plan needs less than the load.
  bool offsets_may_win() const {
    const arena_choice& last = choices.back();
    return last.head > last_load_ && last_load_ + last.tail < choices[chosen].total();
  }

  const network& net_;
  const rewrite_request& r_;
  memsched::read_options reading_;
  bytes last_load_ = 0;
};

/// Sixteenths of the time.
constexpr unsigned for_search = 5, for_allowance = 2;

}  // namespace

result<smallest_total> find_smallest_total(const network& net, const memsched::fit_options& f, const rewrite_request& r) {
  auto reading = read_options_of(r.how);
  if (!reading) return reading.error();
  memsched::options limits = r.options;
  limits.budget = memsched::no_limit;
  memsched::fit_options any = f;
  any.budget = memsched::no_limit;  // the network as it is fits
  const fitted given = memsched::fit(net, memsched::automatic, any, sixteenths(limits, 1));
  const auto unwritable = [&](const memsched::graph_error& e) { return wrong(r.output, "cannot be written: " + e.message); };
  if (given.error) return unwritable(*given.error);
  comparison files(net, r, std::move(*reading));
  if (const auto seen = files.see_given(given); !seen) return seen.error();
  if (const auto seen = files.see_reordered(given, sixteenths(limits, 1)); !seen) return seen.error();
  memsched::fit_options smallest = f;
  smallest.budget = 0;
  const auto see = [&](const fitted& found) { files.see_rewritten(found); };
  smallest_total all;
  all.found = advise(net, smallest, sixteenths(limits, for_search), see);
  if (all.found.found.error) return unwritable(*all.found.found.error);
  search_cheaper(net, smallest, sixteenths(limits, for_allowance), see);
  if (files.fault && files.choices.back().network != "rewritten") return unwritable(*files.fault);
  fitted& best = files.best_network;
  best.steps = std::move(all.found.found.steps);
  best.front = std::move(all.found.found.front);
  best.stopped = all.found.found.stopped;
  all.found.found = std::move(best);
  all.choices = std::move(files.choices);
  all.chosen = files.chosen;
  all.file = std::move(files.best);
  all.uncounted = std::move(files.uncounted);
  return all;
}

}  // namespace cli
