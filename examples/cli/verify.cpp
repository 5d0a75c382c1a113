#include <cstdio>
#include <memsched/analysis/evaluate.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "text.hpp"

namespace cli {

namespace {

/// What a result file claims.
struct claim {
  std::vector<memsched::op_id> order;
  memsched::bytes peak = 0, lower_bound = 0;
  std::string status;
  memsched::memory_model model;
};

using json = nlohmann::json;

memsched::graph_error wrong(const std::string& path, const std::string& reason) {
  return {memsched::error_code::bad_input, path + ": " + reason, {}, {}};
}

memsched::result<memsched::bytes> number(const json& j, const char* key, const std::string& path) {
  const auto at = j.find(key);
  if (at == j.end() || !at->is_number_unsigned()) return wrong(path, std::string(key) + ": must be a whole number, 0 or more");
  return at->get<memsched::bytes>();
}

memsched::result<claim> read_claim(const std::string& path, memsched::memory_model model) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const json j = json::parse(*text, nullptr, false);
  if (!j.is_object()) return wrong(path, "is no JSON object");
  claim c;
  c.model = model;
  const auto order = j.find("order");
  if (order == j.end() || !order->is_array()) return wrong(path, "order: must be a list of operator indices");
  for (std::size_t i = 0; i < order->size(); ++i) {
    const json& op = (*order)[i];
    if (!op.is_number_unsigned() || op.get<std::uint64_t>() >= memsched::none)
      return wrong(path, "order[" + std::to_string(i) + "]: must be an operator's index");
    c.order.push_back(op.get<memsched::op_id>());
  }
  for (auto [key, into] : {std::pair{"peak", &c.peak}, std::pair{"lower_bound", &c.lower_bound}}) {
    const auto n = number(j, key, path);
    if (!n) return n.error();
    *into = *n;
  }
  if (const auto status = j.find("status"); status != j.end() && status->is_string()) c.status = status->get<std::string>();
  if (const auto firing = j.find("firing"); firing != j.end()) {
    if (*firing != "pbc" && *firing != "cbp") return wrong(path, "firing: must be \"pbc\" or \"cbp\"");
    c.model.default_firing = *firing == "cbp" ? memsched::firing::cbp : memsched::firing::pbc;
  }
  if (const auto in_place = j.find("inplace"); in_place != j.end() && in_place->is_boolean()) c.model.in_place = in_place->get<bool>();
  return c;
}

}  // namespace

int run_verify(const std::string& path, const std::string& result_path, const request& r) {
  const auto graph = load(path, r.shapes);
  if (!graph) return report(graph.error());
  const auto claimed = read_claim(result_path, r.options.model());
  if (!claimed) return report(claimed.error());
  const auto e = memsched::evaluate(graph->problem, claimed->order, claimed->model);
  if (!e) return report(wrong(result_path, "order: " + e.error().message));
  if (e->peak != claimed->peak)
    return report(wrong(result_path, "peak: says " + grouped(claimed->peak) + ", but the order takes " + grouped(e->peak)));
  if (claimed->lower_bound > e->peak)
    return report(wrong(result_path, "lower_bound: " + grouped(claimed->lower_bound) + " is above the peak, " + grouped(e->peak)));
  if (claimed->status == "optimal" && claimed->lower_bound != e->peak)
    return report(wrong(result_path, "status: says optimal, but the bound is below the peak"));
  std::printf("%s: a valid order of %s with a peak of %s bytes, as it says. Its bound is a claim that this command does not check.\n",
              result_path.c_str(), graph->name.c_str(), grouped(e->peak).c_str());
  return done;
}

}  // namespace cli
