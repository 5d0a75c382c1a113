#include <algorithm>
#include <memory>
#include <memsched/allocation/traffic.hpp>
#include <memsched/allocation/traffic_bound.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "declare.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using json = nlohmann::ordered_json;

}  // namespace

int run_traffic(const traffic_request& r) {
  if (const auto error = check_outputs({asked_result(r.output, r.json ? content::json : content::text)}, {r.graph, r.order});
      !error.message.empty())
    return report(error);
  const auto graph = load(r.graph, r.how, scheduler_of("automatic", r));
  if (!graph) return report(graph.error());
  auto order = read_order(r.order, *graph, r.options);
  if (!order) return report(order.error());
  const auto how = r.model == "resident" ? memsched::traffic_model::resident : memsched::traffic_model::paged;
  const auto model = r.options.model();
  if (r.tries > 0) {
    memsched::search context(r.options);
    *order =
        memsched::reduce_traffic(graph->problem, std::move(*order), r.capacity, how, model, context, {.tries = r.tries});
  }
  const auto count = memsched::count_traffic(graph->problem, *order, r.capacity, how, model);
  if (!count) return report(wrong(r.graph, count.error().message));
  const bytes peak = memsched::evaluate(graph->problem, *order, model)->peak;
  const bytes of_all = memsched::traffic_bound(graph->problem, r.capacity, memsched::automatic, r.options);
  std::string text;
  if (r.json) {
    json j;
    j["version"] = 1;
    j["graph"] = graph->name;
    j["order"] = *order;
    j["peak"] = peak;
    j["capacity"] = r.capacity;
    j["model"] = r.model;
    j["reads"] = count->reads;
    j["writes"] = count->writes;
    j["traffic"] = count->total();
    j["lower_bound"] = std::max(count->lower_bound, of_all);
    j["bound_of"] = "order";
    j["lower_bound_of_all"] = of_all;
    text = j.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  } else {
    const bytes bound = std::max(count->lower_bound, of_all);
    const auto met = [&](bytes n) { return n == count->total() ? ": optimal\n" : "\n"; };
    text = "graph        " + memsched::one_line(graph->name) + "\npeak         " + grouped(peak) + " bytes\ncapacity     " +
           grouped(r.capacity) + " bytes, " + r.model + "\ntraffic      " + grouped(count->total()) +
           " bytes: " + grouped(count->reads) + " read, " + grouped(count->writes) + " written\nlower bound  " +
           grouped(bound) + " bytes, for this order" + met(bound) + "             " + grouped(of_all) +
           " bytes, for all orders" + met(of_all);
  }
  return write_result(r.output, text);
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
  return std::move(c.runs([r, format](const command& here, session& s) {
    r->json = format_of(here, *format, r->output) == "json";
    prepare(here, *r, s);
    return run_traffic(*r);
  }));
}

}  // namespace cli
