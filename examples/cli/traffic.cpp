#include <algorithm>
#include <chrono>
#include <memory>
#include <memsched/allocation/traffic.hpp>
#include <memsched/allocation/traffic_bound.hpp>
#include <memsched/formats/recompute_proof.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/traffic_problem.hpp>
#include <memsched/recompute/plan_spills.hpp>
#include <memsched/schedule.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "declare.hpp"
#include "limits.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using json = nlohmann::ordered_json;

memsched::result<memsched::spill_plan> counted(const memsched::result<memsched::traffic_count>& count) {
  if (!count) return count.error();
  return memsched::spill_plan{{}, *count, {}};
}

json spills_json(const std::vector<memsched::spill>& spills) {
  json list = json::array();
  for (const memsched::spill& s : spills)
    list.push_back({{"tensor", s.storage}, {"from", s.from}, {"to", s.to}, {"written", s.written}});
  return list;
}

std::string spills_text(const std::vector<memsched::spill>& spills) {
  std::vector<memsched::tensor_id> tensors;
  for (const memsched::spill& s : spills) tensors.push_back(s.storage);
  std::sort(tensors.begin(), tensors.end());
  const auto count = static_cast<std::size_t>(std::unique(tensors.begin(), tensors.end()) - tensors.begin());
  return grouped(spills.size()) + " of " + grouped(count) + (count == 1 ? " tensor" : " tensors") +
         "; --format json lists them";
}

/// The spills that a result lists; those that are no spills fail when they are played.
memsched::result<std::vector<memsched::spill>> read_spills(const nlohmann::json& result, const std::string& path) {
  std::vector<memsched::spill> spills;
  const auto list = result.find("spills");
  if (list == result.end() || !list->is_array()) return wrong(path, "spills: must be a list");
  for (const auto& item : *list) {
    const std::string place = "spills[" + std::to_string(spills.size()) + "]";
    if (!item.is_object()) return wrong(path, place + ": must be an object");
    memsched::spill s;
    for (auto [key, into] : {std::pair("tensor", &s.storage), std::pair("from", &s.from), std::pair("to", &s.to)}) {
      const auto n = whole_number(item, key, path + ": " + place);
      if (!n) return n.error();
      if (*n >= memsched::none) return wrong(path, place + "." + key + ": is too large");
      *into = static_cast<memsched::index_t>(*n);
    }
    const auto written = item.find("written");
    if (written == item.end() || !written->is_boolean()) return wrong(path, place + ".written: must be true or false");
    s.written = written->get<bool>();
    spills.push_back(s);
  }
  return spills;
}

json traffic_json(const loaded& graph, const traffic_request& r, const std::vector<memsched::op_id>& order, bytes peak,
                  const memsched::spill_plan& plan, bytes of_all) {
  json j;
  j["version"] = 1;
  j["graph"] = graph.name;
  j["order"] = order;
  j["peak"] = peak;
  j["capacity"] = r.capacity;
  j["model"] = r.model;
  j["firing"] = firing_name(r);
  j["inplace"] = r.options.in_place;
  j["reads"] = plan.count.reads;
  j["writes"] = plan.count.writes;
  j["traffic"] = plan.count.total();
  j["lower_bound"] = std::max(plan.count.lower_bound, of_all);
  j["bound_of"] = "order";
  j["lower_bound_of_all"] = of_all;
  if (r.model == "resident") j["spills"] = spills_json(plan.spills);
  return j;
}

std::string traffic_text(const loaded& graph, const traffic_request& r, bytes peak, const memsched::spill_plan& plan,
                         bytes of_all) {
  const memsched::traffic_count& count = plan.count;
  const bytes bound = std::max(count.lower_bound, of_all);
  const auto met = [&](bytes n) { return n == count.total() ? ": optimal\n" : "\n"; };
  std::string text = "graph        " + memsched::base::one_line(graph.name) + "\npeak         " + grouped(peak) +
                     " bytes\ncapacity     " + grouped(r.capacity) + " bytes, " + r.model + "\ntraffic      " +
                     grouped(count.total()) + " bytes: " + grouped(count.reads) + " read, " + grouped(count.writes) +
                     " written\nlower bound  " + grouped(bound) + " bytes, for this order" + met(bound) + "             " +
                     grouped(of_all) + " bytes, for all orders" + met(of_all);
  if (r.model == "resident") text += "spills       " + spills_text(plan.spills) + '\n';
  return text;
}

}  // namespace

memsched::result<verified> verify_traffic(const loaded& graph, const nlohmann::json& file, const std::string& path,
                                          bool with_certificate, memsched::memory_model given) {
  const auto order = read_order(file, path, graph);
  if (!order) return order.error();
  const auto model = model_of(file, path, given);
  if (!model) return model.error();
  bytes capacity = 0, reads = 0, writes = 0, traffic = 0;
  for (const auto& [key, into] : {std::pair("capacity", &capacity), std::pair("reads", &reads), std::pair("writes", &writes),
                                  std::pair("traffic", &traffic)}) {
    const auto n = whole_number(file, key, path);
    if (!n) return n.error();
    *into = *n;
  }
  const auto how = file.find("model");
  if (*how != "paged" && *how != "resident") return wrong(path, "model: must be \"paged\" or \"resident\"");
  memsched::result<memsched::traffic_count> count = memsched::traffic_count{};
  if (*how == "paged") {
    count = memsched::count_traffic(graph.problem, *order, capacity, memsched::traffic_model::paged, *model);
  } else {
    const auto spills = read_spills(file, path);
    if (!spills) return spills.error();
    count = memsched::replay_spills(graph.problem, *order, capacity, *model, *spills);
  }
  if (!count) return wrong(path, count.error().message);
  if (count->reads != reads || count->writes != writes || count->total() != traffic)
    return wrong(path, "traffic: says " + grouped(reads) + " read and " + grouped(writes) + " written, but it is " +
                           grouped(count->reads) + " and " + grouped(count->writes));
  verified v{"traffic", graph.name, "traffic", count->total(), {}};
  v.text = path + ": a valid order of " + graph.name + " that moves " + grouped(count->total()) +
           " bytes at a capacity of " + grouped(capacity) + ", as it says. ";
  if (!with_certificate) {
    v.text += "Its bounds are claims.\n";
    return v;
  }
  const auto proof = read_cost_proof(file, path);
  if (!proof) return proof.error();
  if (const std::string why = memsched::check_traffic(graph.problem, *order, capacity, *model, *proof); !why.empty())
    return wrong(path, "certificate: " + why);
  if (proof->bound > count->total()) return wrong(path, "certificate: proves a bound above the traffic");
  v.proven = proof->bound;
  v.text += v.optimal() ? "The certificate proves that this is the least for the order.\n"
                        : "The certificate proves that the order moves at least " + grouped(proof->bound) + " bytes.\n";
  return v;
}

int run_traffic(const traffic_request& r) {
  if (const auto error = check_outputs(
          {asked_result(r.output, r.json ? content::json : content::text), {"--certificate", r.certificate, content::json}},
          {r.graph, r.order});
      !error.message.empty())
    return report(error);
  const auto graph = load(r.graph, r.how, scheduler_of("automatic", r));
  if (!graph) return report(graph.error());
  const auto start = std::chrono::steady_clock::now();
  const auto half_of_rest = [&] { return with_share(rest_of(r.options, start), 2); };
  auto order = read_order(r.order, *graph, half_of_rest());
  if (!order) return report(order.error());
  const auto how = r.model == "resident" ? memsched::traffic_model::resident : memsched::traffic_model::paged;
  const auto model = r.options.model();
  if (r.tries > 0) {
    memsched::search limits(half_of_rest());
    *order = memsched::reduce_traffic(graph->problem, std::move(*order), r.capacity, how, model, limits, {.tries = r.tries});
  }
  const auto plan = how == memsched::traffic_model::resident
                        ? memsched::plan_spills(graph->problem, *order, r.capacity, half_of_rest())
                        : counted(memsched::count_traffic(graph->problem, *order, r.capacity, how, model));
  if (!plan) return report(wrong(r.graph, plan.error().message));
  const bytes peak = memsched::evaluate(graph->problem, *order, model)->peak;
  const bytes of_all = memsched::traffic_bound(graph->problem, r.capacity, memsched::automatic, rest_of(r.options, start));
  json object = traffic_json(*graph, r, *order, peak, *plan, of_all);
  const std::string text = r.json ? line_of(object) : traffic_text(*graph, r, peak, *plan, of_all);
  std::vector<output_file> files;
  if (!r.certificate.empty()) {
    if (plan->proof.cases.empty()) return report(wrong(r.certificate, "there is nothing to prove: the bound is 0"));
    object["certificate"] = memsched::write_recompute_proof(plan->proof);
    files.push_back({r.certificate, line_of(object)});
  }
  return write_result(r.output, text, std::move(files));
}

command declare_traffic() {
  const auto r = std::make_shared<traffic_request>();
  const auto format = std::make_shared<std::string>("text");
  command c("traffic", "Bytes that an order moves off a chip with less memory than its peak",
            "memsched traffic model.onnx --capacity 256K");
  add_graph(c, r->graph, false);
  c.in("Traffic");
  c.add("--capacity", size(r->capacity), "bytes on the chip, as 256K").required();
  c.add("--order", file(r->order), "a result of `schedule`, or a list of operator indices; else the order of least peak");
  c.add("--model", choice("paged|resident", r->model),
        "paged: bytes move and may stream; resident: whole tensors, operands on the chip")
      .by_default(r->model);
  c.add("--tries", number(r->tries), "look for an order of less traffic, by so many steps of local search").by_default("0");
  add_limits(c, *r, default_limit());
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write it there, not to standard output (-)");
  add_format(c, *format, "text|json");
  c.add("--certificate", file(r->certificate),
        "write the result there as JSON, with a proof of the bound for this order, which `verify --certificate` checks; of "
        "--model resident");
  return std::move(c.runs([r, format](const command& here, session& s) {
    if (!r->certificate.empty() && r->model != "resident") return misuse(here, "--certificate needs --model resident");
    r->json = format_of(here, *format, r->output) == "json";
    prepare(here, *r, s);
    return run_traffic(*r);
  }));
}

}  // namespace cli
