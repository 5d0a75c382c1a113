#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <memsched/certify/certify.hpp>
#include <memsched/formats/certificate.hpp>
#include <memsched/formats/provenance.hpp>
#include <memsched/io/dot.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "declare.hpp"
#include "largest.hpp"
#include "rewrite.hpp"
#include "schedule.hpp"
#include "schedulers.hpp"
#include "sdf.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using found_order = memsched::schedule_result<memsched::op_id>;

memsched::evaluation at_peak(const loaded& graph, const request& r, const found_order& s) {
  return memsched::evaluate(graph.problem, s.order, r.options.model()).value();
}

}  // namespace

nlohmann::ordered_json as_json(const scheduled& found, const schedule_request& r) {
  const auto& [graph, s, took] = found;
  nlohmann::ordered_json j;
  j["version"] = 1;
  j["graph"] = graph.name;
  j["scheduler"] = r.scheduler;
  j["firing"] = firing_name(r);
  j["inplace"] = r.options.in_place;
  j["order"] = s.order;
  if (!graph.problem.draft().operator_names.empty())
    for (const memsched::op_id op : s.order) j["names"].push_back(graph.problem.operator_name(op));
  j["peak"] = s.peak;
  j["given_peak"] = s.given_peak;
  j["lower_bound"] = s.lower_bound;
  j["order_by"] = s.order_by;
  j["bound_by"] = s.bound_by;
  j["status"] = to_string(s.verdict());
  j["stopped"] = to_string(s.stopped);
  if (s.budget != memsched::no_limit) j["budget"] = s.budget;
  j["seconds"] = took;
  for (std::size_t g = 1; g < graph.graphs.size(); ++g)
    j["bodies"].push_back({{"graph", graph.graphs[g].place},
                           {"order", graph.orders[g].order},
                           {"peak", graph.orders[g].peak},
                           {"lower_bound", graph.orders[g].lower_bound}});
  if (graph.rewritten) {
    j["runtime"] = r.how_rewritten.runtime.empty() ? "parts" : r.how_rewritten.runtime;
    if (graph.first) j["not_understood"] = not_understood_json(*graph.first);
    j["network"] = memsched::write_provenance(*graph.rewritten);
  }
  if (r.explain) j["live_at_peak"] = at_peak(graph, r, s).live_at_peak;
  j["statistics"] = {{"states", s.stats.states}, {"cuts", s.stats.cuts}, {"parts", s.stats.parts}, {"nodes", s.stats.nodes}};
  return j;
}

namespace {

std::string micro_text(const micro_heads& h) {
  std::string text = "arena tflm   " + grouped(h.reordered) + " bytes in the head of TensorFlow Lite Micro's arena; ";
  text += "with offsets in the file " + grouped(h.planned);
  if (h.planned > h.lower_bound) text += ", no plan takes less than " + grouped(h.lower_bound);
  text += "\n             in the file's order " + grouped(h.unplanned);
  if (h.file != h.unplanned) text += ", with the file's offsets " + grouped(h.file);
  return text + '\n';
}

nlohmann::ordered_json micro_json(const micro_heads& h) {
  return {{"runtime", "tflm"},        {"head", h.reordered},   {"planned", h.planned}, {"lower_bound", h.lower_bound},
          {"file_head", h.unplanned}, {"file_planned", h.file}};
}

/// The result with a certificate of its bound, or of the best bound that can be certified within the limits of the request;
/// says which of them it was then.
memsched::result<std::string> with_certificate(const nlohmann::ordered_json& result_json, const loaded& graph,
                                               const schedule_request& r, const found_order& s) {
  const auto g = memsched::make_schedule_graph(graph.problem, r.options.model());
  memsched::search limits(r.options);
  const auto go_on = [&] { return limits.keep_going(); };
  const auto text_of = [&](const memsched::certificate& c) {
    auto j = result_json;
    j["certificate"] = memsched::write_certificate(c);
    j["certificate"]["fingerprint"] = hexadecimal(memsched::fingerprint(g, s.order, s.lower_bound, c));
    if (!r.certificate.ends_with(".cbor")) return line_of(j);
    std::string binary;
    nlohmann::ordered_json::to_cbor(j, binary);
    return binary;
  };
  const bytes rest = text_of({}).size();  // what the file holds beside the certificate
  memsched::options::certificate_limits most;
  if (r.certificate_limit != memsched::no_limit) most.size = r.certificate_limit - std::min(rest, r.certificate_limit);
  const auto c = memsched::certify(g, s.order, s.lower_bound, go_on, most);
  std::string why, text = text_of(c);
  if (text.size() > r.certificate_limit)
    return wrong(r.certificate, "takes " + grouped(text.size()) + " bytes without a proof, more than --certificate-limit");
  if (c.bound < s.lower_bound) {
    if (limits.stopped()) why = "the time limit came first";
    else if (r.certificate_limit != memsched::no_limit) why = "none was found within --certificate-limit";
    else why = "none was found with a family of at most " + grouped(most.sets) + " sets";
  }
  if (!why.empty())
    std::fprintf(stderr, "memsched: %s: proves a bound of %s bytes, not of %s: %s\n", r.certificate.c_str(),
                 grouped(c.bound).c_str(), grouped(s.lower_bound).c_str(), why.c_str());
  return text;
}

std::string percent(bytes part, bytes whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

/// Says, for people, how far the peak may be above the smallest one.
std::string verdict_text(const found_order& s, const request& r) {
  if (s.peak == s.lower_bound) return "optimal: no order takes less";
  const std::string gap = "at most " + percent(s.peak - s.lower_bound, s.peak) + " could be saved";
  if (r.default_time_limit && s.stopped == memsched::stop_reason::time_limit)
    return gap + "; stopped after " + std::to_string(default_seconds) + " s: --time-limit SECONDS, or none, searches longer";
  return gap + stop_text(s.stopped);
}

std::string budget_text(const found_order& s) {
  if (s.fits()) return "budget       " + grouped(s.budget) + " bytes: met, " + grouped(s.budget - s.peak) + " to spare\n";
  std::string text = "budget       " + grouped(s.budget) + " bytes: not met";
  if (s.verdict() == memsched::verdict::infeasible) text += "; no order can meet it";
  return text + '\n';
}

/// The largest tensors that are live at the peak, and the others as one.
std::vector<named_size> largest_live(const loaded& graph, const request& r, const found_order& s) {
  const auto& p = graph.problem;
  std::vector<named_size> live;
  for (const memsched::tensor_id t : at_peak(graph, r, s).live_at_peak) live.emplace_back(p.tensor_name(t), p.size(t));
  return largest_first(std::move(live), 8);
}

drawn_order drawn(const loaded& graph, const request& r, const std::string& name, const found_order& s) {
  const std::size_t step = at_peak(graph, r, s).peak_step;
  return {name, s.profile, step < s.order.size() ? graph.problem.operator_name(s.order[step]) : ""};
}

/// A table of the largest tensors that are live at the peak, for people.
std::string live_text(const loaded& graph, const request& r, const found_order& s) {
  const auto& p = graph.problem;
  const memsched::evaluation e = at_peak(graph, r, s);
  const std::vector<named_size> live = largest_live(graph, r, s);
  if (live.empty()) return {};
  const std::string place =
      e.peak_step < s.order.size() ? p.operator_name(s.order[e.peak_step]) + " runs" : std::string("the graph starts");
  table rows({"live when " + memsched::base::one_line(place, 60), "bytes", "of the peak"});
  for (const auto& [name, size] : live) rows.row({name, grouped(size), percent(size, s.peak)});
  return rows.text() + "\n";
}

/// Steps of an order, each with a bar as long as its bytes.
std::string bars(const char* title, const memsched::problem& p, const found_order& s,
                 const std::vector<std::size_t>& steps) {
  constexpr std::size_t bar_width = 40;
  table rows({title, "index", "bytes while it runs", ""});
  for (const std::size_t i : steps) {
    const auto share = static_cast<double>(s.profile[i]) / static_cast<double>(std::max<bytes>(s.peak, 1));
    std::string bar(static_cast<std::size_t>(share * bar_width + 0.5), '#');
    bar.resize(bar_width, ' ');
    rows.row({p.operator_name(s.order[i]), std::to_string(s.order[i]), grouped(s.profile[i]),
              bar + (s.profile[i] == s.peak ? " peak" : "     ")});
  }
  return rows.text();
}

std::string as_text(const loaded& graph, const schedule_request& r, const found_order& s, double took,
                    const std::optional<micro_heads>& micro) {
  const auto& p = graph.problem;
  std::string text = graph.name + ": " + std::to_string(p.ops().size()) + " operators, " + r.scheduler + ", " +
                     firing_name(r) + (r.options.in_place ? "" : ", nothing in place") + "\n";
  text += "peak         " + in_bytes(s.peak) + "\n";
  text += "lower bound  " + grouped(s.lower_bound) + " bytes: " + verdict_text(s, r) + "\n";
  text += (graph.rewritten ? "as rewritten " : "file order   ") + grouped(s.given_peak) + " bytes";
  if (s.given_peak > s.peak) text += ": " + percent(s.given_peak - s.peak, s.given_peak) + " saved";
  text += '\n';
  if (const std::string list = graph.first ? not_understood(*graph.first) : ""; !list.empty())
    text += "no rewrite   " + list + '\n';
  if (s.budget != memsched::no_limit) text += budget_text(s);
  if (micro) text += micro_text(*micro);
  if (!s.order_by.empty())
    text += "found by     " + std::string(s.order_by) + "; bound by " + std::string(s.bound_by) + '\n';
  text += "took         " + seconds(took) + " s, " + grouped(s.stats.states) + " states, " + grouped(s.stats.cuts) +
          " minimum cuts\n\n";

  text += live_text(graph, r, s);
  constexpr std::size_t short_enough = 60;
  if (r.list == listing::never) return text;
  const bool all = r.list == listing::always || s.order.size() <= short_enough;
  const std::size_t shown = all ? s.order.size() : 10;
  text += bars(all ? "operator" : "the highest steps", p, s, places_of_largest(s.profile, shown));
  if (!all) text += "(" + grouped(s.order.size()) + " operators; --list writes them here, --format json and -o elsewhere)\n";
  return text;
}

}  // namespace

namespace {

/// A row a step: "step,operator,name,bytes", names quoted as RFC 4180 has it.
std::string as_csv(const loaded& graph, const found_order& s) {
  std::string text = "step,operator,name,bytes\n";
  for (std::size_t i = 0; i < s.order.size(); ++i)
    text += std::to_string(i + 1) + ',' + std::to_string(s.order[i]) + ',' +
            csv_field(graph.problem.operator_name(s.order[i])) + ',' + std::to_string(s.profile[i]) + '\n';
  return text;
}

}  // namespace

body_scheduler scheduler_of(const std::string& name, const request& r) {
  return [run = find_scheduler(name)->run, &r](const memsched::problem& p) { return run(p, r.options, r.knobs); };
}

int report(const memsched::graph_error& error) {
  std::fprintf(stderr, "memsched: %s\n", error.message.c_str());
  return bad_input;
}

int write_result(const std::string& output, std::string text, std::vector<output_file> others, int status) {
  others.push_back({output.empty() ? "-" : output, std::move(text)});
  const auto error = write_files(others);
  return error.message.empty() ? status : report(error);
}

const char* firing_name(const request& r) { return r.options.default_firing == memsched::firing::cbp ? "cbp" : "pbc"; }

memsched::result<loaded> as_listed(const loaded& graph, const request& r) {
  return rescheduled(graph, scheduler_of("file", r));
}

memsched::result<scheduled> solve(const schedule_request& r, std::string_view inline_json) {
  const auto run = scheduler_of(r.scheduler, r);
  const auto start = std::chrono::steady_clock::now();
  auto graph = r.rewrite             ? load_rewritten(r.graph, r.how, r.how_rewritten, r.options)
               : inline_json.empty() ? load(r.graph, r.how, run)
                                     : load_json(r.graph, inline_json, run);
  if (!graph) return graph.error();
  found_order s = run(graph->problem);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto located = [&](const memsched::graph_error& e) {
    return memsched::graph_error{e.code, r.graph + ": " + e.message, {}, {}};
  };
  if (s.error) return located(*s.error);
  if (graph->least) {
    const found_order least = run(*graph->least);
    if (least.error) return located(*least.error);
    s.lower_bound = std::min(s.lower_bound, least.lower_bound);
  }
  if (graph->graphs.size() > 1) {  // in the file's own order, what operators run has its own order too
    const auto listed = as_listed(*graph, r);
    if (!listed) return listed.error();
    s.given_peak = memsched::schedule(listed->problem, memsched::as_given{}, r.options).peak;
  }
  return scheduled{std::move(*graph), std::move(s), took};
}

memsched::result<std::string> schedule_json(const schedule_request& r, std::string_view inline_json) {
  const auto s = solve(r, inline_json);
  if (!s) return s.error();
  std::string line = line_of(as_json(*s, r));
  line.pop_back();
  return line;
}

namespace {

memsched::graph_error check_outputs_of(const schedule_request& r) {
  const bool of_sdf = is_sdf(r.graph, r.how);  // whose certificates are JSON alone
  const asked_output proof =
      of_sdf ? asked_output{"--certificate", r.certificate, content::json} : asked_certificate(r.certificate);
  return check_outputs({asked_result(r.output, r.json  ? content::json
                                               : r.csv ? content::csv
                                                       : content::text),
                        {"--svg", r.svg, content::svg},
                        {"--dot", r.dot, content::dot},
                        proof,
                        {"--emit-c", r.emit_c, content::c}},
                       {r.graph});
}

}  // namespace

int run_schedule(const schedule_request& r) {
  if (const auto error = check_outputs_of(r); !error.message.empty()) return report(error);
  if (is_sdf(r.graph, r.how)) return run_sdf_schedule(r);
  if (const auto error = only_for_sdf(r.graph, r); !error.message.empty()) return report(error);
  if (!r.emit_c.empty())
    return report({memsched::error_code::bad_input, r.graph + ": takes no --emit-c, which is for .xml files", {}, {}});
  const auto solved = solve(r, {});
  if (!solved) return report(solved.error());
  const auto& [graph, s, took] = *solved;

  std::optional<micro_heads> micro;
  if (r.micro) {
    if (r.rewrite) return report(wrong(r.graph, "takes no --arena tflm with --rewrite: the runtime does not run parts"));
    if (kind_of(r.graph, r.how) != ".tflite" || r.graph == "-")
      return report(wrong(r.graph, "takes no --arena tflm, which is for .tflite files"));
    std::vector<std::vector<memsched::op_id>> orders{s.order};
    for (std::size_t g = 1; g < graph.orders.size(); ++g) orders.push_back(graph.orders[g].order);
    const auto heads = micro_heads_of(r.graph, r, graph.graphs, orders);
    if (!heads) return report(heads.error());
    micro = *heads;
  }
  auto as_object = as_json(*solved, r);
  if (micro) as_object["arena"] = micro_json(*micro);
  const std::string text = r.json ? line_of(as_object) : r.csv ? as_csv(graph, s) : as_text(graph, r, s, took, micro);
  std::vector<output_file> files;
  if (!r.svg.empty()) {
    const found_order file = memsched::schedule(graph.problem, memsched::as_given{}, r.options);
    files.push_back({r.svg, memory_svg(graph.name, {drawn(graph, r, r.scheduler, s), drawn(graph, r, "file", file)},
                                       s.lower_bound, largest_live(graph, r, s))});
  }
  if (!r.dot.empty()) {
    const auto played = memsched::evaluate(graph.problem, s.order, r.options.model());
    files.push_back({r.dot, memsched::to_dot(graph.problem, s.order, played.value(), graph.name)});
  }
  if (!r.certificate.empty()) {
    auto certified = with_certificate(as_object, graph, r, s);
    if (!certified) return report(certified.error());
    files.push_back({r.certificate, std::move(*certified)});
  }
  return write_result(r.output, text, std::move(files), s.fits() ? done : over_budget);
}

namespace {

void add_outputs(command& c, schedule_request& r, std::string& format) {
  c.in("Output");
  add_output(c, r.output, "write the result there, not to standard output (-)");
  add_format(c, format, "text|json|csv");
  add_log(c, r);
  c.add("--list", flag([&r] { r.list = listing::always; }),
        "list the order, however long; else up to 60 operators, or the 10 highest steps");
  c.add("--no-list", flag([&r] { r.list = listing::never; }), "do not list the order");
  c.add("--explain", flag(r.explain), "the JSON also says which tensors are live at the peak");
  c.add("--svg", file(r.svg), "draw memory over time, beside the file's own order, as an SVG there");
  c.add("--dot", file(r.dot),
        "draw the graph there for Graphviz, with the operator at the peak and the tensors in memory then in colour");
  c.add("--certificate", file(r.certificate),
        "write the result there, with a proof of its bound that `verify --certificate` checks: JSON, or CBOR where the "
        "name ends in .cbor");
  c.add("--certificate-limit", size(r.certificate_limit),
        "that this file may take; a larger proof is replaced by one of a smaller bound")
      .needs("--certificate");
  c.add("--arena", choice("tflm", [&r](const std::string&) { r.micro = true; }),
        "also say what a runtime's arena takes. tflm: the head of TensorFlow Lite Micro, with and without offsets");
  c.add("--emit-c", file(r.emit_c), ".xml: write the schedule as C there: loops that call the actors, and buffers");
}

/// Options that would do nothing.
std::string in_vain(const command& c, const schedule_request& r) {
  if (c.given("--parts") && r.scheduler != "ilp") return "--parts is for --scheduler ilp";
  if (c.given("--without") && r.scheduler != "serenity") return "--without is for --scheduler serenity";
  if (r.explain && !r.json) return "--explain is for --format json";
  return {};
}

}  // namespace

command declare_schedule() {
  const auto r = std::make_shared<schedule_request>();
  const auto format = std::make_shared<std::string>("text");
  command c("schedule", "Order the operators of one graph", "memsched schedule model.onnx --shape x=1,3,224,224");
  add_graph(c, r->graph, true);
  add_search(c, *r, r->scheduler, default_limit());
  add_outputs(c, *r, *format);
  c.in("Rewriting")
      .add("--rewrite", flag(r->rewrite), "rewrite the network first, for less memory than any order has: see `rewrite`");
  add_rewriting(c, r->how_rewritten, "parts", "--rewrite");
  add_dataflow(c, *r, true);
  return std::move(c.runs([r, format](const command& here, session& s) {
    const std::string form = format_of(here, *format, r->output);
    r->json = form == "json", r->csv = form == "csv";
    if (const std::string fault = in_vain(here, *r); !fault.empty()) return misuse(here, fault);
    prepare(here, *r, s);
    return run_schedule(*r);
  }));
}

}  // namespace cli
