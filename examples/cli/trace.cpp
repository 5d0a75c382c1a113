#include "trace.hpp"

#include <memsched/measure/evaluate.hpp>
#include <nlohmann/json.hpp>

#include "report/timeline.hpp"
#include "text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using memsched::none;

constexpr int process = 1, operators = 1;
constexpr std::size_t step = 1000;  // microseconds

json named(const char* what, int thread, const std::string& name) {
  return {{"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

}  // namespace

std::string chrome_trace(const memsched::problem& p, std::span<const memsched::op_id> order, memsched::memory_model model) {
  const timeline t = make_timeline(p, order, model, 0);
  const memsched::evaluation cost = memsched::evaluate(p, order, model).value();
  json events{named("process_name", 0, "memsched"), named("thread_name", operators, "operators")};
  for (std::size_t i = 0; i < order.size(); ++i) {
    events.push_back({{"ph", "X"},
                      {"pid", process},
                      {"tid", operators},
                      {"name", p.operator_name(order[i])},
                      {"ts", i * step},
                      {"dur", step},
                      {"args", {{"index", order[i]}, {"bytes", cost.during[i]}}}});
    events.push_back(
        {{"ph", "C"}, {"pid", process}, {"name", "memory"}, {"ts", i * step}, {"args", {{"bytes", cost.during[i]}}}});
  }
  for (const memsched::tensor_id x : p.tensors()) {
    if (p.storage(x) != x || p.size(x) == 0 || (p.producer(x) == none && !p.kept(x))) continue;
    json slice{{"ph", "b"}, {"cat", "tensor"},          {"pid", process},
               {"id", x},   {"name", p.tensor_name(x)}, {"ts", t.lives[x].first * step}};
    json end = slice;
    slice["args"] = {{"bytes", p.size(x)}};
    end["ph"] = "e", end["ts"] = (t.lives[x].last + 1) * step;
    events.push_back(std::move(slice)), events.push_back(std::move(end));
  }
  const json all{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return line_of(all);
}

}  // namespace cli
