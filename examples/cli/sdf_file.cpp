#include "sdf_file.hpp"

#include <filesystem>
#include <memsched/certify/certify.hpp>
#include <memsched/formats/certificate.hpp>
#include <memsched/formats/sdf3.hpp>
#include <memsched/proof/check_certificate.hpp>

#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::graph_error;
using memsched::index_t;
using memsched::node_id;
namespace sdf = memsched::sdf;
using json = nlohmann::ordered_json;

}  // namespace

memsched::result<loaded_sdf> load_sdf(const std::string& path, const request& r) {
  if (!r.how.shapes.empty()) return wrong(path, "takes no --shape, which is for .onnx and .tflite files");
  const without_answer yet(!r.how.among_others);
  const auto file = read_file(path);
  if (!file) return file.error();
  auto g = memsched::read_sdf3(file->view(), {.token_size = r.sdf.token_size});
  if (!g) return wrong(path, g.error().message);
  std::string name = g->name.empty() ? std::filesystem::path(path).stem().string() : memsched::base::one_line(g->name);
  return loaded_sdf{std::move(name), std::move(g->graph), g->sized ? "bytes" : "tokens"};
}

bool is_sdf(const std::string& path, const reading& how) { return kind_of(path, how) == ".xml"; }

graph_error only_for_sdf(const std::string& path, const request& r) {
  if (r.sdf.given.empty()) return {};
  return wrong(path, "takes no " + r.sdf.given + ", which is for .xml files");
}

namespace {

/// The firings of a schedule as operators and an order of them.
struct firings {
  memsched::schedule_graph graph;
  std::vector<node_id> order;
};

memsched::result<firings> firings_of(const sdf::graph& g, const sdf::loops& schedule, memsched::firing rule) {
  constexpr bytes most = bytes{1} << 16;
  const auto judged = sdf::replay(g, schedule, rule);
  if (!judged) return judged.error();
  auto costs = sdf::expand(g, rule, judged->iterations, most);
  if (!costs) return graph_error{costs.error().code, "certificate: " + costs.error().message, {}, {}};
  auto graph = memsched::make_schedule_graph(std::move(*costs));
  if (!graph) return graph.error();
  firings f{std::move(*graph), {}};
  std::vector<node_id> next;
  bytes before = 0;
  for (index_t a = 0; a < g.actors(); ++a) {
    next.push_back(static_cast<node_id>(before));
    before += g.repetitions()[a] * judged->iterations;
  }
  schedule.each_firing([&](index_t a) {
    f.order.push_back(next[a]++);
    return true;
  });
  return f;
}

/// The bound that a file's certificate proves.
memsched::result<bytes> proven(const loaded_sdf& g, const sdf::loops& schedule, memsched::firing rule,
                               const nlohmann::json& file, const std::string& path) {
  const auto at = file.find("certificate");
  if (at == file.end()) return wrong(path, "has no certificate");
  const auto certificate = memsched::read_certificate(*at);
  if (!certificate) return wrong(path, "certificate: " + certificate.error().message);
  const auto f = firings_of(g.graph, schedule, rule);
  if (!f) return wrong(path, f.error().message);
  const auto bound = file.value("lower_bound", nlohmann::json());
  const bytes claimed = bound.is_number_unsigned() ? bound.get<bytes>() : 0;
  if (at->value("fingerprint", nlohmann::json()) !=
      hexadecimal(memsched::fingerprint(f->graph, f->order, claimed, *certificate)))
    return wrong(path, "certificate: fingerprint: the file was damaged, or made for another graph");
  if (const std::string why = memsched::check_certificate(f->graph, *certificate); !why.empty())
    return wrong(path, "certificate: " + why);
  return certificate->bound;
}

/// A schedule as `as_json` writes it; an empty message where it is one.
graph_error read_loops(const nlohmann::json& list, const std::string& place, unsigned depth, sdf::loops& into) {
  constexpr unsigned deepest = 1000;
  if (!list.is_array() || depth > deepest) return wrong(place, "must be a list, at most 1000 deep");
  const auto number = [](const nlohmann::json& j) { return j.is_number_unsigned() && j.get<bytes>() > 0; };
  for (std::size_t i = depth == 0 ? 0 : 1; i < list.size(); ++i) {
    const auto& item = list[i];
    if (item.is_number_unsigned() && item.get<bytes>() < memsched::none) {
      into.fire(item.get<index_t>());
      continue;
    }
    const std::string here = depth == 0 ? place + "[" + std::to_string(i) + "]" : place;
    if (!item.is_array() || item.size() < 2 || !number(item[0]))
      return wrong(here, "must be an actor's index or [count, item, ...]");
    if (item.size() == 2 && item[1].is_number_unsigned() && item[1].get<bytes>() < memsched::none) {
      into.fire(item[1].get<index_t>(), item[0].get<bytes>());
      continue;
    }
    into.open(item[0].get<bytes>());
    if (auto e = read_loops(item, here, depth + 1, into); !e.message.empty()) return e;
    into.close();
  }
  return {};
}

}  // namespace

memsched::result<json> certified(const loaded_sdf& g, const sdf::loops& schedule, bytes bound, const request& r) {
  const auto f = firings_of(g.graph, schedule, r.options.default_firing);
  if (!f) return f.error();
  memsched::search limits(r.options);
  const auto c = memsched::certify(f->graph, f->order, bound, [&] { return limits.keep_going(); });
  json j = memsched::write_certificate(c);
  j["fingerprint"] = hexadecimal(memsched::fingerprint(f->graph, f->order, bound, c));
  return j;
}

memsched::result<verified> verify_sdf(const std::string& graph, const std::string& path, bool with_certificate,
                                      const request& r) {
  const auto g = load_sdf(graph, r);
  if (!g) return g.error();
  const auto file = read_object(path);
  if (!file) return file.error();
  const auto& j = *file;
  if (j.value("kind", nlohmann::json()) != "sdf" || !j.contains("schedule"))
    return wrong(path, "is no schedule of synchronous dataflow: no \"kind\": \"sdf\" with a \"schedule\"");
  sdf::loops schedule;
  if (const auto e = read_loops(j["schedule"], path + ": schedule", 0, schedule); !e.message.empty()) return e;
  const auto model = model_of(j, path, r.options.model());
  if (!model) return model.error();
  const auto run = sdf::replay(g->graph, schedule, model->default_firing);
  if (!run) return wrong(path, "schedule: " + run.error().message);
  const auto claim = [&](const char* key, bytes is) -> graph_error {
    const auto at = j.find(key);
    if (at == j.end() || !at->is_number_unsigned())
      return wrong(path, std::string(key) + ": must be a whole number, 0 or more");
    if (*at != is) return wrong(path, std::string(key) + ": says " + grouped(*at) + ", but it is " + grouped(is));
    return {};
  };
  for (const auto& [key, is] :
       {std::pair("peak", run->peak), std::pair("separate", run->separate), std::pair("iterations", run->iterations)})
    if (const auto e = claim(key, is); !e.message.empty()) return e;
  if (const auto bound = j.find("lower_bound"); bound != j.end() && (!bound->is_number_unsigned() || *bound > run->peak))
    return wrong(path, "lower_bound: is above the peak, " + grouped(run->peak));
  verified v{"schedule", g->name, "peak", run->peak, {}};
  std::string of_bound = "Its bound is a claim that only a certificate proves";
  if (with_certificate) {
    const auto bound = proven(*g, schedule, model->default_firing, j, path);
    if (!bound) return bound.error();
    v.proven = *bound;
    of_bound = "Its certificate proves that no schedule takes less than " + grouped(*bound) + " " + g->unit;
    if (*bound == run->peak) of_bound += ": it is optimal";
  }
  v.text = path + ": a valid schedule of " + g->name + " with a peak of " + grouped(run->peak) + ' ' + g->unit +
           ", as it says. " + of_bound + ".\n";
  return v;
}

}  // namespace cli
