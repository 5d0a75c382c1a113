// The command `explain`: the reason for a peak, as text or JSON; and the part that one tensor or operator has in it.
#include <algorithm>
#include <memory>
#include <memsched/formats/nearest.hpp>
#include <memsched/io/drawing.hpp>
#include <memsched/measure/evaluate.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "declare.hpp"
#include "limits.hpp"
#include "report/reason.hpp"
#include "report/timeline.hpp"
#include "schedule.hpp"
#include "sdf.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using memsched::bytes;
using memsched::none;
using memsched::op_id;
using memsched::tensor_id;

constexpr std::size_t most_rows = 10;

struct explain_request : schedule_request {
  std::string what, format = "text";  ///< `what`: the name or the index of a tensor or an operator; empty for the peak
};

/// All that an explanation needs.
struct subject {
  const memsched::problem& p;
  const memsched::schedule_result<op_id>& best;
  const memsched::options& options;
  timeline order;
  memsched::evaluation cost;

  std::string name(op_id op) const { return memsched::base::one_line(p.operator_name(op), 60); }
  std::string tensor(tensor_id t) const { return memsched::base::one_line(p.tensor_name(t), 60); }
  std::size_t step(op_id op) const {
    return static_cast<std::size_t>(std::find(best.order.begin(), best.order.end(), op) - best.order.begin());
  }
  bool alive_at_peak(tensor_id t) const {
    return std::find(cost.live_at_peak.begin(), cost.live_at_peak.end(), t) != cost.live_at_peak.end();
  }
};

std::vector<saving> savings_of(const subject& s, const std::vector<tensor_id>& tensors) {
  memsched::options limits = s.options;
  limits.budget = memsched::no_limit;
  limits.on_progress = nullptr;
  limits = with_share(std::move(limits), 2 * std::max<std::size_t>(tensors.size(), 1));
  return find_savings(s.p, s.best.order, tensors, s.p.ops().size() <= search_anew_up_to, limits);
}

/// The largest storages that are alive at the peak.
std::vector<tensor_id> largest_at_peak(const subject& s) {
  std::vector<tensor_id> live = s.cost.live_at_peak;
  std::stable_sort(live.begin(), live.end(), [&](tensor_id a, tensor_id b) { return s.p.size(a) > s.p.size(b); });
  live.resize(std::min(live.size(), most_rows));
  return live;
}

std::string saving_text(const subject& s, const saving& x) {
  const bytes best = s.best.peak - x.best_order;
  return (x.best_order == x.bound ? "" : "at least ") + memsched::binary_size(best);
}

std::string why_text(const subject& s, const reason& r) {
  if (r.op == none) return "What is alive at the start or at the end takes " + grouped(r.bound) + " bytes in every order.\n";
  std::string text = "No order takes less than " + grouped(r.bound) + " bytes: " + (r.before ? "right before " : "while ") +
                     s.name(r.op) + " runs, these are in memory in every order, " + grouped(r.together_bytes) + " bytes:\n";
  for (std::size_t i = 0; i < std::min(r.together.size(), most_rows); ++i)
    text += "  " + s.tensor(r.together[i]) + ", " + memsched::binary_size(s.p.size(r.together[i])) + '\n';
  if (r.together.size() > most_rows) text += "  and " + grouped(r.together.size() - most_rows) + " more\n";
  if (r.bound > r.together_bytes)
    text += "and others take " + grouped(r.bound - r.together_bytes) + " bytes at least: just that where " + grouped(r.ran) +
            " operators have run before.\n";
  return text;
}

std::string peak_text(const subject& s, const reason& r) {
  const auto& b = s.best;
  std::string text = "peak " + in_bytes(b.peak) + ", ";
  text += b.peak == b.lower_bound ? "proven: no order takes less" : "no order takes less than " + grouped(b.lower_bound);
  text += s.cost.peak_step < b.order.size() ? "; at step " + grouped(s.cost.peak_step + 1) + " of " +
                                                  grouped(b.order.size()) + ", " + s.name(b.order[s.cost.peak_step]) + "\n\n"
                                            : "; at the start\n\n";
  text += why_text(s, r);
  table rows({"alive at the peak", "size", "of the peak", "saves, same order", "saves, best order"});
  const std::vector<tensor_id> live = largest_at_peak(s);
  for (const saving& x : savings_of(s, live))
    rows.row({s.tensor(x.tensor), memsched::binary_size(s.p.size(x.tensor)),
              std::to_string(100 * s.p.size(x.tensor) / std::max<bytes>(b.peak, 1)) + " %",
              memsched::binary_size(b.peak - x.same_order), saving_text(s, x)});
  text += '\n' + rows.text();
  if (s.cost.live_at_peak.size() > live.size())
    text += "and " + grouped(s.cost.live_at_peak.size() - live.size()) + " smaller ones\n";
  return text;
}

json peak_json(const subject& s, const reason& r) {
  json j{{"peak", s.best.peak}, {"lower_bound", s.best.lower_bound}, {"step", s.cost.peak_step}};
  j["reason"] = {{"operator", r.op == none ? json() : json(r.op)},
                 {"bound", r.bound},
                 {"together", r.together},
                 {"together_bytes", r.together_bytes}};
  j["alive"] = json::array();
  for (const saving& x : savings_of(s, largest_at_peak(s)))
    j["alive"].push_back({{"tensor", x.tensor},
                          {"name", s.p.tensor_name(x.tensor)},
                          {"bytes", s.p.size(x.tensor)},
                          {"same_order", x.same_order},
                          {"best_order", x.best_order},
                          {"lower_bound", x.bound}});
  return j;
}

std::string tensor_text(const subject& s, tensor_id named) {
  const tensor_id t = s.p.storage(named);
  const lifetime& l = s.order.lives[t];
  std::string text = s.tensor(named) + ": tensor " + std::to_string(named);
  if (t != named) text += ", another name of " + s.tensor(t);
  text += ", " + in_bytes(s.p.size(t)) + "\n";
  text += s.p.producer(t) == none ? "an input of the graph"
                                  : "written by " + s.name(s.p.producer(t)) + ", step " + grouped(l.first + 1);
  text += l.last_reader == none ? "; read by no operator"
                                : "; last read by " + s.name(l.last_reader) + ", step " + grouped(l.last + 1);
  text += s.p.stays(t) ? "; stays to the end\n" : "\n";
  if (!s.alive_at_peak(t)) return text + "not alive at the peak: smaller, it would save nothing in this order\n";
  for (const saving& x : savings_of(s, {t}))
    text += "alive at the peak; if it took nothing, the peak would fall by " +
            memsched::binary_size(s.best.peak - x.same_order) + " in this order, and by " + saving_text(s, x) +
            " in the best order found without it\n";
  return text;
}

std::string operator_text(const subject& s, op_id op) {
  const std::size_t step = s.step(op);
  std::string text = s.name(op) + ": operator " + std::to_string(op) + ", step " + grouped(step + 1) + " of " +
                     grouped(s.best.order.size()) + ", " + grouped(s.best.profile[step]) + " bytes in use while it runs (" +
                     std::to_string(100 * s.best.profile[step] / std::max<bytes>(s.best.peak, 1)) + " % of the peak)\n";
  for (const tensor_id t : s.p.reads(op))
    text += "  reads  " + s.tensor(t) + ", " + memsched::binary_size(s.p.size(t)) + '\n';
  for (const tensor_id t : s.p.creates(op))
    text += "  writes " + s.tensor(t) + ", " + memsched::binary_size(s.p.size(t)) + '\n';
  if (s.p.workspace(op) > 0) text += "  workspace " + memsched::binary_size(s.p.workspace(op)) + '\n';
  return text;
}

/// A tensor or an operator by its name.
struct found_name {
  tensor_id tensor = none;
  op_id op = none;
};
memsched::result<found_name> find_name(const subject& s, const std::string& name) {
  std::vector<std::string> known;
  for (const op_id op : s.p.ops()) {
    if (s.p.operator_name(op) == name) return found_name{none, op};
    known.push_back(s.p.operator_name(op));
  }
  for (const tensor_id t : s.p.tensors()) {
    if (s.p.tensor_name(t) == name) return found_name{t, none};
    known.push_back(s.p.tensor_name(t));
  }
  return wrong(memsched::base::one_line(name, 60), "is no tensor and no operator of this graph" + did_you_mean(name, known));
}

int run_explain(const explain_request& r) {
  const bool as_object = r.format == "json";
  if (const auto error = check_outputs({asked_result(r.output, as_object ? content::json : content::text)}, {r.graph});
      !error.message.empty())
    return report(error);
  if (is_sdf(r.graph, r.how)) return report(wrong(r.graph, "is synchronous dataflow, which explain does not take"));
  enter_phase("order");
  const auto solved = solve(r);
  if (!solved) return report(solved.error());
  const memsched::problem& p = solved->graph.problem;
  const auto model = r.options.model();
  const subject s{p, solved->best, r.options, make_timeline(p, solved->best.order, model, 0),
                  memsched::evaluate(p, solved->best.order, model).value()};
  std::string text;
  json j{{"version", 1}, {"graph", solved->graph.name}};
  if (r.what.empty()) {
    enter_phase("what each tensor costs");
    memsched::options limits = r.options;
    limits.on_progress = nullptr;
    const reason why = find_reason(p, s.best.order, limits);
    if (as_object) j.update(peak_json(s, why));
    else text = peak_text(s, why);
  } else {
    const auto found = find_name(s, r.what);
    if (!found) return report(found.error());
    const std::string words = found->op != none ? operator_text(s, found->op) : tensor_text(s, found->tensor);
    if (as_object)
      j[found->op != none ? "operator" : "tensor"] = found->op != none ? found->op : found->tensor, j["text"] = words;
    else text = words;
  }
  enter_phase("");
  if (as_object) text = line_of(j);
  return write_result(r.output, text);
}

}  // namespace

command declare_explain() {
  const auto r = std::make_shared<explain_request>();
  command c("explain", "Why no order takes less, and what each tensor at the peak costs; or all of one tensor or operator",
            "memsched explain builtin:swiftnet conv_0");
  add_graph(c, r->graph, false);
  c.add("NAME", text(r->what, "NAME"), "of a tensor or an operator");
  add_search(c, *r, r->scheduler, default_limit());
  c.in("Output");
  add_output(c, r->output, "write it there, not to standard output (-)");
  add_format(c, r->format, "text|json");
  return std::move(c.runs([r](const command& here, session& s) {
    r->format = format_of(here, r->format, r->output);
    prepare(here, *r, s);
    return run_explain(*r);
  }));
}

}  // namespace cli
