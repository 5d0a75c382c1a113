#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memsched/formats/json.hpp>
#include <memsched/formats/onnx_network_write.hpp>
#include <memsched/formats/provenance.hpp>
#include <memsched/formats/tflite_network_write.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/schedule.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emit.hpp"
#include "rewrite.hpp"
#include "session.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::fit_point;
using memsched::fitted;
using memsched::network;
using json = nlohmann::ordered_json;

memsched::graph_error located(const std::string& path, const std::string& reason) {
  return wrong(path, memsched::one_line(reason));
}

/// Whether provenance and runs over the field and in rounded arithmetic agree; why not, on standard error.
bool verified(const network& before, const fitted& r, const rewrite_request& request) {
  std::string fault = memsched::check_rewrite(before, r.net);
  const auto exact = request.how_rewritten.reals ? memsched::exactness::reals : memsched::exactness::bits;
  for (std::uint64_t seed = 1; fault.empty() && seed <= request.verify; ++seed)
    fault = memsched::disagreement(before, r.net, seed, exact);
  if (fault.empty()) return request.verify > 0;
  std::fprintf(stderr, "memsched: the rewritten network is wrong: %s\n", fault.c_str());
  return false;
}

const char* status_of(const fitted& r) { return r.after.peak == r.after.lower_bound ? "optimal" : "feasible"; }

json as_json(const fit_point& p) { return {{"peak", p.peak}, {"macs", p.macs}, {"operators", p.operators}}; }

json as_json(const fitted& r, const rewrite_request& request, bool good, double took) {
  json j;
  j["version"] = 1;
  j["graph"] = r.net.name;
  j["peak_before"] = r.before.peak;
  j["peak"] = r.after.peak;
  j["lower_bound"] = r.after.lower_bound;
  j["status"] = status_of(r);
  j["macs_before"] = r.before.macs;
  j["macs"] = r.after.macs;
  j["operators_before"] = r.before.operators;
  j["operators"] = r.after.operators;
  j["runtime"] = request.how_rewritten.runtime;
  j["verified"] = good;
  if (request.options.budget != 0) j["budget"] = request.options.budget;
  j["steps"] = json::array();
  for (const auto& s : r.steps)
    j["steps"].push_back({{"rule", s.rule}, {"site", s.site}, {"peak_before", s.peak_before}, {"peak", s.after.peak},
                          {"lower_bound", s.after.lower_bound}, {"macs", s.after.macs}, {"operators", s.after.operators},
                          {"kept", s.kept}});
  j["front"] = json::array();
  for (const auto& p : r.front) j["front"].push_back(as_json(p));
  j["stopped"] = to_string(r.stopped);
  j["seconds"] = took;
  j["firing"] = request.options.default_firing == memsched::firing::cbp ? "cbp" : "pbc";
  j["inplace"] = request.options.in_place;
  j["order"] = json::array();
  for (const memsched::op_id i : r.net.ops()) j["order"].push_back(i);
  j["network"] = memsched::write_provenance(memsched::reordered(r.net, r.order));
  return j;
}

std::string as_text(const fitted& r, const rewrite_request& request, bool good, double took) {
  std::string text = "graph        " + r.net.name + '\n';
  text += "given        " + grouped(r.before.peak) + " bytes, the best order found; " + std::to_string(r.before.operators) +
          " operators, " + grouped(r.before.macs) + " multiply-accumulates\n\n";
  table steps({"rule", "peak", "bound", "operators", "kept"});
  for (const auto& s : r.steps)
    steps.row({s.rule + ": " + memsched::one_line(s.site, 60), grouped(s.after.peak), grouped(s.after.lower_bound),
               grouped(s.after.operators), s.kept ? "yes" : "no"});
  if (!r.steps.empty()) text += steps.text() + '\n';
  text += "peak         " + grouped(r.after.peak) + " bytes (" + scaled(r.after.peak) + "), " + status_of(r) +
          "; bound " + grouped(r.after.lower_bound) + '\n';
  if (request.options.budget != 0)
    text += "budget       " + grouped(request.options.budget) + " bytes: " +
            (r.after.peak <= request.options.budget ? "fits" : "does not fit") + '\n';
  text += "cost         " + grouped(r.after.operators) + " operators, " + grouped(r.after.macs) + " multiply-accumulates\n";
  text += std::string("verified     ") + (good ? "by provenance, over a finite field, and to the bit" : "no") +
          (good && request.how_rewritten.reals ? " but for the order of sums\n" : "\n");
  text += "took         " + seconds(took) + " s\n\n";
  table front({"front: peak", "operators", "multiply-accumulates"});
  for (const auto& p : r.front) front.row({grouped(p.peak), grouped(p.operators), grouped(p.macs)});
  return text + front.text();
}

std::string front_csv(const fitted& r) {
  std::string text = "peak,lower_bound,macs,operators\n";
  for (const auto& p : r.front)
    text += std::to_string(p.peak) + ',' + std::to_string(p.lower_bound) + ',' + std::to_string(p.macs) + ',' +
            std::to_string(p.operators) + '\n';
  return text;
}

/// An order of a network as a drawing has it.
drawn_order drawn(const std::string& name, const network& net, const std::vector<memsched::op_id>& order,
                  const memsched::options& o) {
  const auto low = memsched::lower(net);
  if (!low) return {name, {}, {}};
  auto e = memsched::evaluate(low->problem, order, o.model()).value();
  return {name, std::move(e.during), e.peak_step < order.size() ? net.operations[order[e.peak_step]].name : ""};
}

}  // namespace

rewrite_trial try_rewrites(const std::string& path, const reading& how, const memsched::options& limits) {
  const auto net = read_network(path, how);
  if (!net) return {net.error().message};
  const fitted found = memsched::fit(*net, memsched::automatic, {}, limits);
  if (found.error) return {found.error->message};
  rewrite_trial t{{}, found.before.peak, found.after.peak, found.before.operators, found.after.operators, {}, found.stopped};
  for (const auto& s : found.steps)
    t.steps.push_back({s.rule, s.site, s.peak_before, s.after.peak, s.after.operators, s.kept});
  return t;
}

int run_rewrite(const rewrite_request& r) {
  const auto start = std::chrono::steady_clock::now();
  const auto net = read_network(r.graph, r.how);
  if (!net) return report(net.error());
  auto f = fit_options_of(r.how_rewritten, *net, r.options.budget);
  if (!f) return report(f.error());
  const std::string kind = std::filesystem::path(r.output).extension().string();
  const bool to_model = kind == ".onnx" || kind == ".tflite";
  f->whole_integer_sums = to_model;
  memsched::options limits = r.options;
  limits.budget = memsched::no_limit;
  const fitted found = memsched::fit(*net, memsched::automatic, *f, limits);
  if (found.error) return report(located(r.graph, found.error->message));
  const bool good = verified(*net, found, r);
  if (!good && r.verify > 0) return bad_input;
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  std::vector<output_file> files;
  if (to_model) {
    auto model = kind == ".onnx" ? memsched::write_onnx_network(*net, found.net, found.order)
                                 : memsched::write_tflite_network(*net, found.net, found.order);
    if (!model) return report(located(r.output, "no " + kind + " model: " + model.error().message));
    files.push_back({r.output, std::move(*model)});
  } else if (!r.output.empty()) {
    files.push_back({r.output, memsched::write_json(draft_of(memsched::reordered(found.net, found.order)))});
  }
  if (!r.front.empty()) files.push_back({r.front, front_csv(found)});
  if (!r.svg.empty() || !r.front_svg.empty()) {
    if (!r.front_svg.empty()) {
      std::vector<front_step> points;
      const auto given = static_cast<double>(std::max<std::uint64_t>(1, found.before.macs));
      for (const auto& p : found.front)
        points.push_back({p.operators, p.peak, std::max(0.0, static_cast<double>(p.macs) / given - 1)});
      files.push_back({r.front_svg, front_svg(net->name + ": peak and operators", points)});
    }
    if (!r.svg.empty()) {
      const auto given = memsched::schedule(*net, limits);
      files.push_back({r.svg, memory_svg(net->name, {drawn("rewritten", found.net, found.order, limits),
                                                     drawn("best order", *net, given.order, limits)},
                                         found.after.lower_bound, {})});
    }
  }
  if (!r.emit.empty()) {
    auto program = program_of(found.net, found.order);
    if (!program) return report(located(r.graph, "no C program: " + program.error().message));
    std::error_code exists;
    std::filesystem::create_directories(r.emit, exists);
    const std::string path = (std::filesystem::path(r.emit) / "network.c").string();
    std::fprintf(stderr, "%s: an arena of %s bytes\n", path.c_str(), grouped(program->arena).c_str());
    files.push_back({path, std::move(program->text)});
  }
  if (const auto fault = write_files(files); !fault.message.empty()) return report(fault);
  const std::string text = r.json ? as_json(found, r, good, took).dump(-1, ' ', false, json::error_handler_t::replace) + '\n'
                                  : as_text(found, r, good, took);
  print(text);
  return found.fits(*f) ? done : over_budget;
}

}  // namespace cli
