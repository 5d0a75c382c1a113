// A page that shows where the memory of a graph goes.
#include <algorithm>
#include <chrono>
#include <map>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <nlohmann/json.hpp>

#include "report/page.hpp"
#include "report/reason.hpp"
#include "report/timeline.hpp"
#include "rewrite.hpp"
#include "schedule.hpp"
#include "sdf.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::none;
using memsched::op_id;
using memsched::tensor_id;
using json = nlohmann::ordered_json;

// What a page can show without drowning its reader.
constexpr std::size_t most_moments = 600;   ///< columns of a drawing
constexpr bytes least_share = 100;          ///< a tensor with less than this part of the peak has no layer of its own
constexpr std::size_t few_tensors = 100;    ///< unless there are no more
constexpr std::size_t most_at_peak = 24;    ///< rows of the table
constexpr std::size_t most_buffers = 1500;  ///< of the arena
constexpr std::size_t most_readers = 4;     ///< listed of one tensor
constexpr std::size_t most_steps = 12;      ///< of a proof
// What a page can wait for.
constexpr std::size_t search_anew_up_to = 5000;  ///< operators
constexpr std::size_t prove_up_to = 3000;        ///< operators
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
  /// The table: facts, and per order the first and the last step and the last reader.
  json table(const std::vector<timeline>& orders) const {
    json rows = json::array();
    for (const tensor_id t : listed_) {
      const op_id from = p_.producer(t);
      json row{{"id", t},
               {"name", memsched::one_line(p_.tensor_name(t))},
               {"size", p_.size(t)},
               {"producer", from == none ? json() : json(memsched::one_line(p_.operator_name(from)))},
               {"readers", p_.readers(t).size()},
               {"stays", p_.stays(t)},
               {"lives", json::array()}};
      for (const timeline& o : orders) {
        const lifetime& l = o.lives[t];
        const json reader = l.last_reader == none ? json() : json(memsched::one_line(p_.operator_name(l.last_reader)));
        row["lives"].push_back({{"first", l.first}, {"last", l.last}, {"last_reader", reader}});
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  const memsched::problem& p_;
  std::map<tensor_id, std::size_t> place_;
  std::vector<tensor_id> listed_;
};

std::string name_of(const memsched::problem& p, op_id op) { return memsched::one_line(p.operator_name(op)); }

/// An order as the columns of a drawing. A part is the place of a tensor, or -1 and the bytes of workspace; what is too
/// small for a layer of its own is summed up.
json columns_of(const memsched::problem& p, const timeline& o, bytes threshold, named_tensors& tensors) {
  json columns = json::array();
  for (const moment& m : o.moments) {
    json parts = json::array();
    bytes rest = 0;
    std::size_t rest_count = 0;
    for (const part& x : m.parts) {
      if (x.tensor == none) parts.push_back({-1, x.size});
      else if (x.size < threshold) rest += x.size, ++rest_count;
      else parts.push_back(tensors.place(x.tensor));
    }
    columns.push_back({{"first", m.first},
                       {"steps", m.steps},
                       {"step", m.step},
                       {"operator", name_of(p, o.order[m.step])},
                       {"bytes", m.during},
                       {"parts", std::move(parts)},
                       {"rest", rest},
                       {"rest_count", rest_count}});
  }
  return columns;
}

/// What is in memory at the peak, the largest first.
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

json arena_of(const memsched::problem& p, const timeline& o, const report_request& r, const memsched::options& limits) {
  auto held = memsched::buffers_of(p, o.order, r.options.model()).value();
  for (auto& b : held.buffers) b.alignment = r.alignment;
  const auto plan = memsched::plan_offsets(held.buffers, memsched::minimize{}, limits);
  if (plan.error) return {{"error", plan.error->message}};
  std::vector<std::string> names(held.buffers.size());
  for (const tensor_id t : p.tensors())
    if (const auto b = held.of_tensor[t]; b != none && p.storage(t) == t)
      names[b] += (names[b].empty() ? "" : ", ") + memsched::one_line(p.tensor_name(t));
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
    json row{{"name", memsched::one_line(names[b], 120)},
             {"lower", x.lower},
             {"upper", x.upper},
             {"size", x.size},
             {"offset", plan.offset[b]}};
    for (const auto& d : x.drops) row["drops"].push_back({d.at, d.size});
    arena["buffers"].push_back(std::move(row));
  }
  return arena;
}

json rewrites_of(const report_request& r, std::size_t operators, const memsched::options& limits) {
  if (operators > search_anew_up_to)
    return {{"reason", "there are more operators than a page waits for; `memsched rewrite` takes its time."}};
  const std::string kind = kind_of(r.graph, r.how);
  if (kind != ".onnx" && kind != ".tflite")
    return {{"reason", "only .onnx and .tflite files say what their operators compute."}};
  reading how = r.how;
  how.among_others = true;  // an order was found already
  const rewrite_trial t = try_rewrites(r.graph, how, limits);
  if (!t.reason.empty()) return {{"reason", t.reason}};
  json j{{"before", t.before},
         {"after", t.after},
         {"operators_before", t.operators_before},
         {"operators", t.operators},
         {"stopped", to_string(t.stopped)},
         {"not_understood", t.not_understood},
         {"steps", json::array()}};
  for (const auto& s : t.steps)
    j["steps"].push_back({{"rule", s.rule},
                          {"site", memsched::one_line(s.site, 120)},
                          {"peak_before", s.peak_before},
                          {"peak", s.peak},
                          {"operators", s.operators},
                          {"kept", s.kept}});
  return j;
}

memsched::result<json> page_data(const scheduled& found, const report_request& r) {
  const auto& [graph, s, took] = found;
  const memsched::problem& p = graph.problem;
  // What would help may take as much time again, in all.
  memsched::options limits = r.options;
  limits.budget = memsched::no_limit;
  limits.on_progress = nullptr;
  const auto share = [&](auto parts) {
    limits.time_limit = r.options.time_limit / parts;
    return limits;
  };

  std::vector<timeline> orders{make_timeline(p, s.order, r.options.model(), most_moments)};
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
  page["operators"] = p.ops().size();
  named_tensors tensors(p);
  const bytes highest = std::max(orders[0].peak, orders[1].peak);
  const bytes threshold = p.tensors().size() <= few_tensors ? 0 : highest / least_share;
  const char* const names[] = {"the order found", "the file's order"};
  for (std::size_t i = 0; i < orders.size(); ++i)
    page["orders"].push_back({{"name", names[i]},
                              {"peak", orders[i].peak},
                              {"peak_step", orders[i].peak_step},
                              {"steps", orders[i].order.size()},
                              {"own_layer_from", threshold},
                              {"columns", columns_of(i == 0 ? p : given, orders[i], threshold, tensors)}});

  std::vector<tensor_id> large;
  for (const part& x : parts_at_peak(p, orders[0]))
    if (x.tensor != none && large.size() < most_savings) large.push_back(x.tensor);
  const bool small = p.ops().size() <= search_anew_up_to;
  const auto savings = find_savings(p, s.order, large, small, share(3 * std::max<std::size_t>(large.size(), 1)));
  page["searched_anew"] = small;
  page["peak"] = peak_of(p, orders[0], savings, tensors);

  const reason why = find_reason(p, s.order, share(6));
  page["reason"] = reason_of(p, why, tensors);
  if (why.bound < s.lower_bound && p.ops().size() <= prove_up_to)
    page["proof"] = proof_of(p, orders[0], s.lower_bound, share(6));
  page["rewrites"] = rewrites_of(r, p.ops().size(), share(3));
  if (r.offsets) page["arena"] = arena_of(p, orders[0], r, share(3));
  page["tensors"] = tensors.table(orders);
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

/// A template with each {{key}} replaced; what stands for a key is not looked at again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string page;
  for (;;) {
    const std::size_t open = text.find("{{"), close = text.find("}}", open);
    page += text.substr(0, open);
    if (open == text.npos) return page;
    page += values.at(text.substr(open + 2, close - open - 2));
    text.remove_prefix(close + 2);
  }
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text)
    if (c == '<') safe += "&lt;";
    else if (c == '&') safe += "&amp;";
    else safe += c;
  return safe;
}

}  // namespace

int run_report(const report_request& r) {
  if (const auto error = check_outputs({{"-o", r.output, content::html}}, {r.graph}); !error.message.empty())
    return report(error);
  if (is_sdf(r.graph, r.how)) return report(wrong(r.graph, "is synchronous dataflow, of which there is no page yet"));
  schedule_request best = r;  // a budget would end the search at the first order within it
  best.options.budget = memsched::no_limit;
  auto solved = solve(best);
  if (!solved) return report(solved.error());
  solved->best.budget = r.options.budget;
  const auto data = page_data(*solved, r);
  if (!data) return report(data.error());
  std::string page = filled(page::html, {{"title", escaped(printable(solved->graph.name))},
                                         {"style", page::css},
                                         {"script", page::js},
                                         {"data", within_script(*data)}});
  const auto& s = solved->best;
  std::string text = r.output + ": " + solved->graph.name + ", peak " + grouped(s.peak) + " bytes, lower bound " +
                     grouped(s.lower_bound) + ", file order " + grouped(s.given_peak);
  if (s.budget != memsched::no_limit) text += ", budget " + grouped(s.budget) + (s.fits() ? " met" : " not met");
  text += '\n';
  std::vector<output_file> files(1);
  files[0] = {r.output, std::move(page)};
  if (r.output != "-") files.push_back({"-", text});
  if (const auto error = write_files(files); !error.message.empty()) return report(error);
  if (r.output == "-") tell(r.output, text);
  return s.fits() ? done : over_budget;
}

}  // namespace cli
