// Two orders, results or models beside each other: peaks, what is alive there, and what moved.
#include <algorithm>
#include <map>
#include <memory>
#include <memsched/base/increasing.hpp>
#include <memsched/formats/json/document.hpp>
#include <memsched/io/drawing.hpp>
#include <memsched/measure/evaluate.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "declare.hpp"
#include "schedule.hpp"
#include "sdf.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using memsched::bytes;
using memsched::op_id;

struct diff_request : request {
  std::string first, second, graph, output, format = "text";  ///< `graph`: of results, which have orders alone
};

/// One of the two.
struct side {
  std::string name;
  std::vector<std::string> operators;  ///< by name, in their order
  bytes peak = 0;
  std::string at_peak;                   ///< the operator that runs there
  std::map<std::string, bytes> alive{};  ///< at the peak, by name
};

side side_of(const std::string& name, const loaded& graph, const std::vector<op_id>& order, const memsched::evaluation& e) {
  const memsched::problem& p = graph.problem;
  side s{name, {}, e.peak, e.peak_step < order.size() ? p.operator_name(order[e.peak_step]) : "the start"};
  for (const op_id op : order) s.operators.push_back(p.operator_name(op));
  for (const memsched::tensor_id t : e.live_at_peak) s.alive[p.tensor_name(t)] += p.size(t);
  return s;
}

/// Whether a file holds an order alone: a result, or a list of operators.
bool is_result(const std::string& path, const reading& how) {
  if (path.starts_with("builtin:") || kind_of(path, how) != ".json") return false;
  const auto text = read_file(path);
  const auto j = text ? memsched::parse_json<json>(text->view()) : memsched::result<json>(text.error());
  return j && ((j->is_object() && j->contains("order") && !j->contains("ops")) || j->is_array());
}

memsched::result<side> read_side(const std::string& path, const diff_request& r) {
  const bool order_alone = is_result(path, r.how);
  if (order_alone && r.graph.empty()) return wrong(path, "is an order; --graph says of which graph");
  if (is_sdf(order_alone ? r.graph : path, r.how)) return wrong(path, "is synchronous dataflow, which diff does not take");
  const auto graph = load(order_alone ? r.graph : path, r.how, scheduler_of("automatic", r));
  if (!graph) return graph.error();
  const auto order = read_order(order_alone ? path : "", *graph, r.options);
  if (!order) return order.error();
  const auto cost = memsched::evaluate(graph->problem, *order, r.options.model());
  if (!cost) return wrong(path, cost.error().message);
  return side_of(path, *graph, *order, *cost);
}

/// The names in a that b does not have, each as often as it is missing.
std::vector<std::string> missing(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  std::vector<std::string> only;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  return only;
}

/// The number of common operators that have moved: all but those of a longest common subsequence of both orders. O(n log n).
std::size_t moved(const side& a, const side& b) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = a.operators.size(); i-- > 0;) places[a.operators[i]].push_back(i);
  std::vector<std::size_t> both;  // places in a of what b has, too
  for (const std::string& name : b.operators) {
    auto& left = places[name];
    if (left.empty()) continue;
    both.push_back(left.back());
    left.pop_back();
  }
  return both.size() - memsched::base::longest_increasing(both).size();
}

struct difference {
  std::vector<std::string> gone, come;                    ///< operators
  std::vector<std::pair<std::string, bytes>> less, more;  ///< alive at the peak of one alone, the largest first
  std::size_t moved = 0;
};

std::vector<std::pair<std::string, bytes>> alive_in(const side& a, const side& b) {
  std::vector<std::pair<std::string, bytes>> only;
  for (const auto& [name, size] : a.alive) {
    const auto other = b.alive.find(name);
    if (other == b.alive.end() || other->second != size) only.emplace_back(name, size);
  }
  std::stable_sort(only.begin(), only.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  return only;
}

std::string as_text(const side& a, const side& b, const difference& d) {
  constexpr std::size_t most = 10;
  table rows({"", "peak", "at", "operators"});
  for (const side* s : {&a, &b})
    rows.row({s->name, grouped(s->peak) + " bytes", memsched::base::one_line(s->at_peak, 40), grouped(s->operators.size())});
  std::string text = rows.text();
  const auto change = a.peak == b.peak  ? std::string("the same peak")
                      : a.peak < b.peak ? "the second takes " + memsched::binary_size(b.peak - a.peak) + " more"
                                        : "the second takes " + memsched::binary_size(a.peak - b.peak) + " less";
  text += change + "; " + grouped(d.moved) + " operators moved, " + grouped(d.gone.size()) + " are only in the first, " +
          grouped(d.come.size()) + " only in the second\n";
  const auto list = [&](const char* head, const auto& tensors) {
    if (tensors.empty()) return;
    text += std::string("\nalive at the peak of the ") + head + " alone:\n";
    for (std::size_t i = 0; i < std::min(most, tensors.size()); ++i)
      text += "  " + memsched::base::one_line(tensors[i].first, 60) + ", " + memsched::binary_size(tensors[i].second) + '\n';
    if (tensors.size() > most) text += "  and " + grouped(tensors.size() - most) + " more\n";
  };
  list("first", d.less), list("second", d.more);
  return text;
}

std::string as_json(const side& a, const side& b, const difference& d) {
  const auto one = [](const side& s, const auto& alone) {
    json j{{"name", s.name},
           {"peak", s.peak},
           {"at", s.at_peak},
           {"operators", s.operators.size()},
           {"alive_here_alone", json::array()}};
    for (const auto& [name, size] : alone) j["alive_here_alone"].push_back({{"name", name}, {"bytes", size}});
    return j;
  };
  return line_of({{"version", 1},
                  {"first", one(a, d.less)},
                  {"second", one(b, d.more)},
                  {"moved", d.moved},
                  {"only_first", d.gone},
                  {"only_second", d.come}});
}

int run_diff(const diff_request& r) {
  const bool as_object = r.format == "json";
  if (const auto error =
          check_outputs({asked_result(r.output, as_object ? content::json : content::text)}, {r.first, r.second, r.graph});
      !error.message.empty())
    return report(error);
  const auto a = read_side(r.first, r);
  if (!a) return report(a.error());
  const auto b = read_side(r.second, r);
  if (!b) return report(b.error());
  const difference d{missing(a->operators, b->operators), missing(b->operators, a->operators), alive_in(*a, *b),
                     alive_in(*b, *a), moved(*a, *b)};
  const std::string text = as_object ? as_json(*a, *b, d) : as_text(*a, *b, d);
  return write_result(r.output, text);
}

}  // namespace

command declare_diff() {
  const auto r = std::make_shared<diff_request>();
  command c("diff", "Two orders, results or models: where their peaks are, what is alive there, and what moved",
            "memsched diff before.json after.json --graph model.tflite");
  c.add("FIRST", file(r->first), "a result of `schedule`, a list of operator indices, or a graph in its best order")
      .required();
  c.add("SECOND", file(r->second), "likewise").required();
  c.in("Orders").add("--graph", graph(r->graph), "the graph that results and lists are of");
  add_limits(c, *r, default_limit());
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write it there, not to standard output (-)");
  add_format(c, r->format, "text|json");
  return std::move(c.runs([r](const command& here, session& s) {
    r->format = format_of(here, r->format, r->output);
    prepare(here, *r, s);
    return run_diff(*r);
  }));
}

}  // namespace cli
