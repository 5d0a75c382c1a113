// A page that shows where the memory of a graph goes.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <memory>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/io/drawing.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <nlohmann/json.hpp>

#include "advice.hpp"
#include "declare.hpp"
#include "limits.hpp"
#include "report/page.hpp"
#include "report/reason.hpp"
#include "report/template.hpp"
#include "report/timeline.hpp"
#include "rewrite.hpp"
#include "schedule.hpp"
#include "sdf.hpp"
#include "session.hpp"
#include "sha256.hpp"
#include "text.hpp"
#include "trace.hpp"

namespace cli {

namespace {

/// The request of `report`.
struct report_request : schedule_request {
  std::string order;            ///< a result, or a list of operators, to show instead of the best order; empty for none
  std::string trace;            ///< where to write the order in Chrome's trace format; empty for nowhere
  bool ci = false;              ///< one line of verdict on standard output, and no page unless one is named
  std::string baseline;         ///< an earlier result, whose peak is a limit, too
  bool offsets = false;         ///< also plan where tensors lie, however many operators there are
  std::uint64_t alignment = 1;  ///< of every offset
};

using memsched::bytes;
using memsched::none;
using memsched::op_id;
using memsched::tensor_id;
using json = nlohmann::ordered_json;

// Limits of a page's contents, beyond which it would drown its reader.
constexpr std::size_t most_moments = 600;   ///< columns of a drawing
constexpr std::size_t close_moments = 75;   ///< steps before and after the peak that have a column each besides
constexpr bytes least_share = 100;          ///< a tensor with less than this part of the peak has no layer of its own
constexpr std::size_t few_tensors = 100;    ///< unless there are no more
constexpr std::size_t most_at_peak = 400;   ///< rows of the table, in groups
constexpr std::size_t most_buffers = 1500;  ///< of the arena
constexpr std::size_t most_names = 30000;   ///< of tensors that nothing else names, to be found
constexpr std::size_t most_readers = 4;     ///< listed of one tensor
constexpr std::size_t most_steps = 12;      ///< of a proof
// Limits of the work that a page waits for.
constexpr std::size_t arena_up_to = 1000;  ///< operators; of more where it is asked for
constexpr std::size_t prove_up_to = 3000;  ///< operators
constexpr std::size_t most_savings = 12;

/// The tensors that a page names; each by its place in the page's table.
class named_tensors {
 public:
  explicit named_tensors(const memsched::problem& p) : p_(p) {}
  std::size_t place(tensor_id t) {
    const auto [at, fresh] = place_.try_emplace(t, listed_.size());
    if (fresh) listed_.push_back(t);
    return at->second;
  }
  /// The table: facts, and per order the first and the last step and the last reader. `forms` may be empty.
  json table(const std::vector<timeline>& orders, const std::vector<memsched::tensor_form>& forms) const {
    json rows = json::array();
    for (const tensor_id t : listed_) {
      const op_id from = p_.producer(t);
      json row{{"id", t},
               {"name", memsched::base::one_line(p_.tensor_name(t))},
               {"size", p_.size(t)},
               {"producer", from == none ? json() : json(memsched::base::one_line(p_.operator_name(from)))},
               {"readers", p_.readers(t).size()},
               {"stays", p_.stays(t)},
               {"lives", json::array()}};
      if (!forms.empty()) {
        row["type"] = memsched::base::one_line(forms[t].type, 40);
        row["shape"] = forms[t].shape ? json(*forms[t].shape) : json();
      }
      for (const timeline& o : orders) {
        const lifetime& l = o.lives[t];
        const json reader = l.last_reader == none ? json() : json(memsched::base::one_line(p_.operator_name(l.last_reader)));
        row["lives"].push_back({{"first", l.first}, {"last", l.last}, {"last_reader", reader}});
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  /// The other storages by name, and the first step of each in an order; none where there are too many.
  json others(const timeline& o) const {
    json rows = json::array();
    if (p_.tensors().size() > most_names) return rows;
    for (const tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.kept(t) && !place_.contains(t))
        rows.push_back({memsched::base::one_line(p_.tensor_name(t), 60), o.lives[t].first});
    return rows;
  }

 private:
  const memsched::problem& p_;
  std::map<tensor_id, std::size_t> place_;
  std::vector<tensor_id> listed_;
};

std::string name_of(const memsched::problem& p, op_id op) { return memsched::base::one_line(p.operator_name(op)); }

/// The kind of an operator, as its name has it: "model/conv_2d_12" -> "conv_2d".
std::string kind_of_name(std::string name) {
  name = name.substr(0, name.find(';'));
  while (!name.empty() && std::string_view("/.:").find(name.back()) != std::string_view::npos) name.pop_back();
  name.erase(0, name.find_last_of("/.:") + 1);
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  while (!name.empty() && digit(static_cast<unsigned char>(name.back()))) name.pop_back();
  if (!name.empty() && std::string_view("_- ").find(name.back()) != std::string_view::npos) name.pop_back();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.empty() ? "operator" : name;
}

/// Kinds of the producers of tensors, by number.
class kinds {
 public:
  explicit kinds(const memsched::problem& p) : of_(p.tensors().size()) {
    for (const tensor_id t : p.tensors()) {
      const op_id from = p.producer(t);
      const auto [at, fresh] =
          number_.try_emplace(from == none ? "input" : kind_of_name(p.operator_name(from)), names_.size());
      if (fresh) names_.push_back(at->first);
      of_[t] = at->second;
    }
  }
  std::size_t of(tensor_id t) const { return of_[t]; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, std::size_t> number_;
  std::vector<std::string> names_;
  std::vector<std::size_t> of_;
};

/// An order as the columns of a drawing. A part is the place of a tensor, or -1 and the bytes of workspace; what is too
/// small for a layer of its own is summed up by kind.
json columns_of(const memsched::problem& p, const timeline& o, bytes threshold, const kinds& kind, named_tensors& tensors) {
  json columns = json::array();
  for (const moment& m : o.moments) {
    json parts = json::array();
    bytes rest = 0;
    std::size_t rest_count = 0;
    std::map<std::size_t, bytes> by_kind;
    for (const part& x : m.parts) {
      if (x.tensor == none) parts.push_back({-1, x.size});
      else if (x.size < threshold) rest += x.size, by_kind[kind.of(x.tensor)] += x.size, ++rest_count;
      else parts.push_back(tensors.place(x.tensor));
    }
    columns.push_back({{"first", m.first},
                       {"steps", m.steps},
                       {"step", m.step},
                       {"operator", name_of(p, o.order[m.step])},
                       {"bytes", m.during},
                       {"parts", std::move(parts)},
                       {"rest", rest},
                       {"rest_count", rest_count},
                       {"rest_kinds", std::vector<std::pair<std::size_t, bytes>>(by_kind.begin(), by_kind.end())}});
  }
  return columns;
}

/// The parts of memory at the peak, the largest first.
std::vector<part> parts_at_peak(const memsched::problem& p, const timeline& o) {
  std::vector<part> parts;
  for (const moment& m : o.moments)
    if (m.step == o.peak_step) parts = m.parts;
  if (o.peak_step == o.order.size())
    for (const tensor_id t : p.tensors())
      if (p.storage(t) == t && p.producer(t) == none && p.kept(t) && p.size(t) > 0) parts.push_back({t, p.size(t)});
  std::stable_sort(parts.begin(), parts.end(), [](const part& a, const part& b) { return a.size > b.size; });
  return parts;
}

json peak_of(const memsched::problem& p, const timeline& o, const std::vector<saving>& savings, named_tensors& tensors) {
  const std::vector<part> parts = parts_at_peak(p, o);
  std::vector<std::size_t> place(p.ops().size());
  for (std::size_t i = 0; i < o.order.size(); ++i) place[o.order[i]] = i;
  json peak{{"step", o.peak_step},
            {"bytes", o.peak},
            {"operator", o.peak_step < o.order.size() ? json(name_of(p, o.order[o.peak_step])) : json()},
            {"parts", json::array()}};
  bytes rest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i >= most_at_peak) {
      rest += parts[i].size;
      continue;
    }
    const auto& [t, size] = parts[i];
    json row{{"bytes", size}};
    if (t == none) {
      row["tensor"] = -1;
    } else {
      row["tensor"] = tensors.place(t);
      std::vector<op_id> waiting;
      for (const op_id reader : p.readers(t))
        if (place[reader] >= o.peak_step) waiting.push_back(reader);
      std::sort(waiting.begin(), waiting.end(), [&](op_id a, op_id b) { return place[a] < place[b]; });
      row["written_at"] = p.producer(t) == none ? json() : json(place[p.producer(t)]);
      row["waiting"] = json::array();
      for (std::size_t k = 0; k < std::min(most_readers, waiting.size()); ++k)
        row["waiting"].push_back({{"operator", name_of(p, waiting[k])}, {"step", place[waiting[k]]}});
      row["waiting_count"] = waiting.size();
      for (const saving& s : savings)
        if (s.tensor == t)
          row["without"] = {{"same_order", s.same_order}, {"best_order", s.best_order}, {"lower_bound", s.bound}};
    }
    peak["parts"].push_back(std::move(row));
  }
  peak["rest"] = rest;
  peak["rest_count"] = parts.size() - std::min(parts.size(), most_at_peak);
  return peak;
}

json list_of_tensors(const std::vector<tensor_id>& list, named_tensors& tensors) {
  json places = json::array();
  for (std::size_t i = 0; i < std::min(list.size(), most_at_peak); ++i) places.push_back(tensors.place(list[i]));
  return places;
}

bytes sum(const memsched::problem& p, const std::vector<tensor_id>& list) {
  bytes total = 0;
  for (const tensor_id t : list) total += p.size(t);
  return total;
}

json reason_of(const memsched::problem& p, const reason& r, named_tensors& tensors) {
  if (r.op == none) return {{"operator", nullptr}, {"bound", r.bound}};
  return {{"operator", name_of(p, r.op)},
          {"moment", r.before ? "before" : "while"},
          {"bound", r.bound},
          {"together", list_of_tensors(r.together, tensors)},
          {"together_count", r.together.size()},
          {"together_bytes", r.together_bytes},
          {"workspace", r.workspace},
          {"spared", r.spared},
          {"cheapest", list_of_tensors(r.cheapest, tensors)},
          {"cheapest_count", r.cheapest.size()},
          {"cheapest_bytes", sum(p, r.cheapest)},
          {"ran", r.ran}};
}

/// The steps of a certificate: what any order below the bound must do first, until no order is left; and, where a family of
/// sets ends it, how many these are.
json proof_of(const memsched::problem& p, const timeline& o, bytes bound, const memsched::options& limits) {
  const auto g = memsched::make_schedule_graph(p, limits.model());
  memsched::search context(limits);
  const auto c = memsched::certify(g, o.order, bound, [&] { return context.keep_going(); });
  const auto node = [&](memsched::node_id v) { return v < p.ops().size() ? name_of(p, v) : "the end of a shared tensor"; };
  json proof{{"bound", c.bound}, {"count", c.steps.size()}, {"steps", json::array()}};
  for (std::size_t i = 0; i < std::min(most_steps, c.steps.size()); ++i) {
    const auto& s = c.steps[i];
    proof["steps"].push_back({{"operator", node(s.v)},
                              {"other", s.other == none ? json() : json(node(s.other))},
                              {"first", s.v_first},
                              {"level", s.level}});
  }
  if (c.family) proof["sets"] = c.family->sets.size() + 1;
  return proof;
}

json arena_of(const memsched::problem& p, const timeline& o, const report_request& r, const memsched::options& limits,
              named_tensors& tensors) {
  auto held = memsched::buffers_of(p, o.order, r.options.model()).value();
  for (auto& b : held.buffers) b.alignment = r.alignment;
  const auto plan = memsched::plan_offsets(held.buffers, memsched::minimize{}, limits);
  if (plan.error) return {{"error", plan.error->message}};
  std::vector<std::string> names(held.buffers.size());
  std::vector<tensor_id> first(held.buffers.size(), none);
  for (const tensor_id t : p.tensors())
    if (const auto b = held.of_tensor[t]; b != none && p.storage(t) == t)
      first[b] = first[b] == none ? t : first[b],
      names[b] += (names[b].empty() ? "" : ", ") + memsched::base::one_line(p.tensor_name(t));
  for (std::size_t b = 0; b < names.size(); ++b)
    if (held.workspace_of[b] != none) names[b] = "workspace of " + name_of(p, held.workspace_of[b]);
  std::vector<std::size_t> shown;
  for (std::size_t b = 0; b < held.buffers.size(); ++b)
    if (!held.buffers[b].empty()) shown.push_back(b);
  const auto area = [&](std::size_t b) {
    return static_cast<double>(held.buffers[b].size) * static_cast<double>(held.buffers[b].upper - held.buffers[b].lower);
  };
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) { return area(a) > area(b); });
  const std::size_t all = shown.size();
  shown.resize(std::min(all, most_buffers));
  json arena{{"size", plan.size},
             {"lower_bound", plan.lower_bound},
             {"status", to_string(plan.verdict())},
             {"end", 2 * o.order.size() + 1},
             {"count", all},
             {"buffers", json::array()}};
  for (const std::size_t b : shown) {
    const auto& x = held.buffers[b];
    json row{{"name", memsched::base::one_line(names[b], 120)},
             {"lower", x.lower},
             {"upper", x.upper},
             {"size", x.size},
             {"offset", plan.offset[b]},
             {"tensor", first[b] == none ? json(-1) : json(tensors.place(first[b]))}};
    for (const auto& d : x.drops) row["drops"].push_back({d.at, d.size});
    arena["buffers"].push_back(std::move(row));
  }
  return arena;
}

/// A row of the choices: what to do, the peak then, and the command that does it.
json choice_row(const std::string& what, bytes peak, std::size_t operators, std::uint64_t extra_macs, bytes budget,
                const std::string& command) {
  json row{{"what", what}, {"peak", peak}, {"operators", operators}, {"extra_macs", extra_macs}};
  if (budget != memsched::no_limit) row["fits"] = peak <= budget;
  row["command"] = command.empty() ? json() : json(command);
  return row;
}

bool is_model(const report_request& r) {
  const std::string kind = kind_of(r.graph, r.how);
  return kind == ".onnx" || kind == ".tflite";
}

/// The choices of the user: nothing, another order, and the rewritten networks to choose among.
json choices_of(const scheduled& found, const report_request& r, const memsched::options& limits) {
  const memsched::schedule_result<op_id>& s = found.best;
  const std::size_t operators = found.graph.problem.ops().size();
  json j{{"rows", json::array()}};
  const auto row = [&](const std::string& what, bytes peak, std::size_t n, std::uint64_t extra, const std::string& command) {
    j["rows"].push_back(choice_row(what, peak, n, extra, r.options.budget, command));
  };
  row("nothing: the file's order", s.given_peak, operators, 0, "");
  const std::string model = shell_word(r.graph);
  const std::string end = kind_of(r.graph, r.how);
  if (s.peak < s.given_peak)
    row("another order", s.peak, operators, 0,
        is_model(r) ? "memsched reorder " + model + " -o out" + end : "memsched schedule " + model + " --format json");
  if (!is_model(r) && !r.graph.starts_with("builtin:")) return j;
  if (operators > search_anew_up_to) {
    if (is_model(r))
      j["reason"] = "No rewrite was tried for so many operators; memsched rewrite tries some for as long as it is given.";
    return j;
  }
  reading how = r.how;
  how.among_others = true;  // an order was found already
  const auto net = read_network(r.graph, how);
  if (!net) {
    if (is_model(r)) j["reason"] = "No rewrite was tried: " + memsched::base::one_line(net.error().message, 400);
    return j;
  }
  const bytes budget = r.options.budget == memsched::no_limit ? 0 : r.options.budget;
  const auto f = fit_options_of(r.how_rewritten, *net, budget);
  if (!f) {
    j["reason"] = f.error().message;
    return j;
  }
  const advice a = advise(*net, *f, limits);
  if (a.found.error) {
    j["reason"] = "No rewrite was tried: " + memsched::base::one_line(a.found.error->message, 400);
    return j;
  }
  for (const pick& p : a.picks)
    row("blocks of rows", p.cost.peak, p.cost.operators, p.cost.macs - std::min(p.cost.macs, a.found.before.macs),
        command_of(r.graph, p));
  j["operators_before"] = a.found.before.operators;
  j["macs"] = a.found.before.macs;
  j["not_understood"] = not_understood(*net);
  j["stopped"] = to_string(a.found.stopped);
  j["steps"] = json::array();
  for (const memsched::fit_step& step : a.found.steps)
    j["steps"].push_back({{"rule", step.rule},
                          {"site", memsched::base::one_line(step.site, 120)},
                          {"peak_before", step.peak_before},
                          {"peak", step.after.peak},
                          {"operators", step.after.operators},
                          {"kept", step.kept}});
  return j;
}

/// Describes the file that the page is about, and the command that made the page.
json input_of(const report_request& r) {
  json j{{"path", r.graph}, {"version", MEMSCHED_VERSION_STRING}};
  std::string command = "memsched report " + shell_word(r.graph);
  if (r.options.budget != memsched::no_limit) command += " --budget " + size_word(r.options.budget);
  if (!r.order.empty()) command += " --order " + shell_word(r.order);
  j["command"] = command + " -o " + shell_word(r.output);
  if (r.graph.starts_with("builtin:")) return j;
  if (const auto file = read_file(r.graph)) {
    j["bytes"] = file->view().size();
    j["sha256"] = sha256(file->view());
  }
  return j;
}

/// The same as lines of text.
std::vector<std::string> input_facts(const report_request& r) {
  const json i = input_of(r);
  std::string file = "memsched " + i["version"].get<std::string>() + ", " + r.scheduler + ", " + firing_name(r);
  if (i.contains("bytes"))
    file += "; file of " + grouped(i["bytes"].get<bytes>()) + " bytes, sha256 " + i["sha256"].get<std::string>();
  return {file, i["command"].get<std::string>()};
}

/// Types and shapes of the tensors of the graph itself; empty where none is known.
std::vector<memsched::tensor_form> forms_of(const loaded& graph) {
  const auto is_known = [](const memsched::tensor_form& f) { return !f.type.empty() || f.shape; };
  std::vector<memsched::tensor_form> forms;
  if (!graph.graphs.empty()) forms = graph.graphs[0].forms;
  if (forms.size() != graph.problem.tensors().size() || std::none_of(forms.begin(), forms.end(), is_known)) forms.clear();
  return forms;
}

memsched::result<json> page_data(const scheduled& found, const report_request& r) {
  const auto& [graph, s, took] = found;
  const memsched::problem& p = graph.problem;
  // The searches for savings, a reason, its proof, choices and an arena may take as much time again, in all.
  memsched::options limits = r.options;
  limits.budget = memsched::no_limit;
  limits.on_progress = nullptr;

  std::vector<timeline> orders{make_timeline(p, s.order, r.options.model(), most_moments, close_moments)};
  std::optional<loaded> listed;
  if (graph.graphs.size() > 1) {
    auto other = as_listed(graph, r);
    if (!other) return other.error();
    listed = std::move(*other);
  }
  const memsched::problem& given = listed ? listed->problem : p;
  const auto file_order = memsched::schedule(given, memsched::as_given{}, r.options).order;
  orders.push_back(make_timeline(given, file_order, r.options.model(), most_moments));

  json page;
  page["version"] = 1;
  schedule_request explained = r;
  explained.explain = true;
  page["result"] = as_json(found, explained);
  page["result"].erase("order"), page["result"].erase("names");
  page["input"] = input_of(r);
  page["operators"] = p.ops().size();
  named_tensors tensors(p);
  const kinds kind(p);
  const bytes highest = std::max(orders[0].peak, orders[1].peak);
  const bytes threshold = p.tensors().size() <= few_tensors ? 0 : highest / least_share;
  const std::string names[] = {r.order.empty() ? "the order found" : "the order of " + r.order, "the file's order"};
  for (std::size_t i = 0; i < orders.size(); ++i)
    page["orders"].push_back({{"name", names[i]},
                              {"peak", orders[i].peak},
                              {"peak_step", orders[i].peak_step},
                              {"steps", orders[i].order.size()},
                              {"own_layer_from", threshold},
                              {"columns", columns_of(i == 0 ? p : given, orders[i], threshold, kind, tensors)}});
  page["kinds"] = kind.names();

  std::vector<tensor_id> large;
  for (const part& x : parts_at_peak(p, orders[0]))
    if (x.tensor != none && large.size() < most_savings) large.push_back(x.tensor);
  const bool small = p.ops().size() <= search_anew_up_to;
  enter_phase("what each tensor costs");
  const auto savings =
      find_savings(p, s.order, large, small, with_share(limits, 4 * std::max<std::size_t>(large.size(), 1)));
  page["searched_anew"] = small;
  page["peak"] = peak_of(p, orders[0], savings, tensors);

  enter_phase("why no order takes less");
  const reason why = find_reason(p, s.order, with_share(limits, 8));
  page["reason"] = reason_of(p, why, tensors);
  if (why.bound < s.lower_bound && p.ops().size() <= prove_up_to)
    page["proof"] = proof_of(p, orders[0], s.lower_bound, with_share(limits, 8));
  enter_phase("rewriting");
  page["choices"] = choices_of(found, r, with_share(limits, 4));
  enter_phase("arena");
  if (r.offsets || p.ops().size() <= arena_up_to) page["arena"] = arena_of(p, orders[0], r, with_share(limits, 4), tensors);
  enter_phase("");
  page["unlisted"] = tensors.others(orders[0]);
  page["tensors"] = tensors.table(orders, forms_of(graph));
  return page;
}

/// JSON that may stand in a script of a page: no end of a script within.
std::string within_script(const json& data) {
  std::string text = line_of(data);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<') safe += "\\u003c";
    else safe += c;
  return safe;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text)
    if (c == '<') safe += "&lt;";
    else if (c == '&') safe += "&amp;";
    else safe += c;
  return safe;
}

/// Shows the order that the caller gave instead of the one found.
memsched::graph_error take_order(scheduled& found, const report_request& r) {
  auto order = read_order(r.order, found.graph, r.options);
  if (!order) return order.error();
  auto cost = memsched::evaluate(found.graph.problem, *order, r.options.model());
  if (!cost) return wrong(r.order, cost.error().message);
  found.best.order = std::move(*order);
  found.best.peak = cost->peak;
  found.best.profile = std::move(cost->during);
  found.best.order_by = "given";
  return {};
}

/// The peak of an earlier result.
memsched::result<bytes> peak_of_result(const std::string& path) {
  const auto j = read_object(path);
  if (!j) return j.error();
  const auto peak = j->is_object() ? j->find("peak") : j->end();
  if (!j->is_object() || peak == j->end() || !peak->is_number_unsigned())
    return wrong(path, "has no peak, a number of bytes");
  return peak->get<bytes>();
}

/// A line for continuous integration, and the exit status.
int judge(const scheduled& found, const report_request& r, bytes baseline) {
  const auto& s = found.best;
  std::string faults, limits;
  const auto compare = [&](const char* what, bytes most) {
    if (most == memsched::no_limit) return;
    std::string& into = s.peak > most ? faults : limits;
    into += std::string(s.peak > most ? " > " : " <= ") + memsched::binary_size(most) + " (" + what + ", " + grouped(most) +
            " bytes)";
  };
  compare("budget", r.options.budget), compare("baseline", baseline);
  print((faults.empty() ? "OK: " : "FAIL: ") + printable(found.graph.name) + ": peak " + memsched::binary_size(s.peak) +
        faults + (faults.empty() ? limits : "") + "; " + grouped(s.peak) + " bytes, lower bound " + grouped(s.lower_bound) +
        '\n');
  return faults.empty() ? done : over_budget;
}

int run_report(const report_request& r) {
  if (const auto error = check_outputs({{"-o", r.output, content::html}, {"--trace", r.trace, content::json}},
                                       {r.graph, r.order, r.baseline});
      !error.message.empty())
    return report(error);
  bytes baseline = memsched::no_limit;
  if (!r.baseline.empty()) {
    const auto before = peak_of_result(r.baseline);
    if (!before) return report(before.error());
    baseline = *before;
  }
  if (is_sdf(r.graph, r.how)) {
    for (const auto& [option, given] : {std::pair("--order", !r.order.empty()), std::pair("--trace", !r.trace.empty()),
                                        std::pair("--ci", r.ci), std::pair("--offsets", r.offsets)})
      if (given) return report(wrong(r.graph, std::string("takes no ") + option + ": it is synchronous dataflow"));
    return run_sdf_report(r, input_facts(r));
  }
  if (const auto error = only_for_sdf(r.graph, r); !error.message.empty()) return report(error);
  enter_phase("order");
  schedule_request best = r;  // a budget would end the search at the first order within it
  best.options.budget = memsched::no_limit;
  auto solved = solve(best);
  if (!solved) return report(solved.error());
  if (!r.order.empty())
    if (const auto error = take_order(*solved, r); !error.message.empty()) return report(error);
  solved->best.budget = r.options.budget;
  std::vector<output_file> files;
  if (!r.trace.empty())
    files.push_back({r.trace, chrome_trace(solved->graph.problem, solved->best.order, r.options.model())});
  if (r.output.empty()) {
    if (const auto error = write_files(files); !error.message.empty()) return report(error);
    return judge(*solved, r, baseline);
  }
  const auto data = page_data(*solved, r);
  if (!data) return report(data.error());
  const std::string head = filled(
      page::head,
      {{"title", escaped(printable(solved->graph.name))}, {"policy", " script-src 'unsafe-inline';"}, {"style", page::css}});
  std::string page = filled(page::html, {{"head", head}, {"script", page::js}, {"data", within_script(*data)}});
  const auto& s = solved->best;
  std::string text = r.output + ": " + solved->graph.name + ", peak " + grouped(s.peak) + " bytes, lower bound " +
                     grouped(s.lower_bound) + ", file order " + grouped(s.given_peak);
  if (s.budget != memsched::no_limit) text += ", budget " + grouped(s.budget) + (s.fits() ? " met" : " not met");
  text += '\n';
  files.push_back({r.output, std::move(page)});
  if (r.output != "-" && !r.ci) files.push_back({"-", text});
  if (const auto error = write_files(files); !error.message.empty()) return report(error);
  if (r.ci) return judge(*solved, r, baseline);
  if (r.output == "-") tell(r.output, text);
  return s.fits() ? done : over_budget;
}

}  // namespace

command declare_report() {
  const auto r = std::make_shared<report_request>();
  command c("report", "One page that shows where memory goes, why, and what would help",
            "memsched report model.tflite --budget 1M -o report.html");
  add_graph(c, r->graph, true);
  c.in("Output");
  c.add("-o,--output", file(r->output), "the page, as HTML that needs nothing else; - for standard output");
  c.add("--trace", file(r->trace), "also write the order in Chrome's trace format there, for Perfetto");
  c.add("--ci", flag(r->ci),
        "print one line, OK or FAIL, against the budget and the baseline; exit status 3 where it is FAIL. The page may be "
        "left out");
  c.add("--baseline", file(r->baseline), "an earlier result of `schedule`: its peak is a limit, too").needs("--ci");
  c.add("--order", file(r->order), "show the order of this result of `schedule`, or this list of operator indices");
  c.add("--offsets", flag(r->offsets), "draw the arena also of more than 1,000 operators");
  c.add("--alignment", number(r->alignment, 1, std::uint64_t{1} << 40), "of every offset").by_default("1");
  add_search(c, *r, r->scheduler, "10, and as much again for what would help");
  add_rewriting(c, r->how_rewritten, "parts");
  add_dataflow(c, *r, true);
  return std::move(c.runs([r](const command& here, session& s) {
    if (r->output.empty() && !r->ci) return misuse(here, "--output is missing");
    if (r->ci && r->output == "-") return misuse(here, "--ci writes its line to standard output; name a file");
    prepare(here, *r, s, 10);
    r->how.forms = true;
    return run_report(*r);
  }));
}

}  // namespace cli
