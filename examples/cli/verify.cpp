#include <memory>
#include <memsched/formats/certificate.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/check_certificate.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "declare.hpp"
#include "result_keys.hpp"
#include "rewrite.hpp"
#include "sdf.hpp"
#include "text.hpp"

namespace cli {

namespace {

/// The claims of a result file.
struct claim {
  std::vector<memsched::op_id> order;
  std::vector<memsched::graph_order> bodies;  ///< of the graphs that operators run, from 1; empty where none are listed
  memsched::bytes peak = 0, lower_bound = 0;
  std::string status;
  memsched::memory_model model;
};

using json = nlohmann::json;

memsched::result<std::vector<memsched::op_id>> read_order(const json& j, const std::string& place, const std::string& path) {
  return operator_list(j.is_object() ? j.value("order", json()) : json(), place, path);
}

memsched::result<claim> read_claim(const json& j, const std::string& path, memsched::memory_model model) {
  claim c;
  auto order = read_order(j, "order", path);
  if (!order) return order.error();
  c.order = std::move(*order);
  if (const auto bodies = j.find("bodies"); bodies != j.end()) {
    if (!bodies->is_array()) return wrong(path, "bodies: must be a list");
    c.bodies.resize(1);
    for (std::size_t i = 0; i < bodies->size(); ++i) {
      auto inner = read_order((*bodies)[i], "bodies[" + std::to_string(i) + "].order", path);
      if (!inner) return inner.error();
      c.bodies.push_back({std::move(*inner)});
    }
  }
  const bool in_a_file = j.contains("network_peak");  // the bound is one for the model file, which is another graph
  const char* const peak = in_a_file ? "network_peak" : "peak";
  for (auto [key, into] : {std::pair{peak, &c.peak}, std::pair{"lower_bound", &c.lower_bound}}) {
    const auto n = whole_number(j, key, path);
    if (!n) return n.error();
    *into = *n;
  }
  if (in_a_file) c.lower_bound = 0;
  if (const auto status = j.find("status"); !in_a_file && status != j.end() && status->is_string())
    c.status = status->get<std::string>();
  const auto as_told = model_of(j, path, model);
  if (!as_told) return as_told.error();
  c.model = *as_told;
  return c;
}

/// Checks all of a claim but its bound; an empty message where it holds.
memsched::graph_error check(const claim& c, const loaded& graph, const std::string& path) {
  const auto e = memsched::evaluate(graph.problem, c.order, c.model);
  if (!e) return wrong(path, "order: " + e.error().message);
  if (e->peak != c.peak) return wrong(path, "peak: says " + grouped(c.peak) + ", but the order takes " + grouped(e->peak));
  if (c.lower_bound > e->peak)
    return wrong(path, "lower_bound: " + grouped(c.lower_bound) + " is above the peak, " + grouped(e->peak));
  if (c.status == "optimal" && c.lower_bound != e->peak)
    return wrong(path, "status: says optimal, but the bound is below the peak");
  return {};
}

struct proof {
  memsched::bytes bound = 0;
  std::string by;  ///< of what it is made, for people
};

/// Counts steps, those within cases too.
std::size_t count_steps(const std::vector<memsched::proof::proof_step>& steps) {
  std::size_t n = steps.size();
  for (const auto& s : steps) n += count_steps(s.then) + count_steps(s.otherwise);
  return n;
}

std::string made_of(const memsched::certificate& c) {
  std::string text = std::to_string(count_steps(c.steps)) + (c.steps.size() == 1 ? " step" : " steps");
  if (c.family)
    text += " and a family of " + grouped(c.family->sets.size() + 1) + (c.family->sets.empty() ? " set" : " sets");
  if (c.window) text += " in a window of " + grouped(c.window->nodes.size()) + " nodes";
  return c.steps.empty() && !c.family ? "what is live at the start or the end" : text;
}

/// Checks the certificate of a file, and returns its proof.
memsched::result<proof> proven(const claim& c, const json& file, const loaded& graph, const std::string& path) {
  const auto at = file.find("certificate");
  if (at == file.end()) return wrong(path, "has no certificate");
  const auto certificate = memsched::read_certificate(*at);
  if (!certificate) return wrong(path, "certificate: " + certificate.error().message);
  const auto g = memsched::make_schedule_graph(graph.problem, c.model);
  if (at->value("fingerprint", json()) != hexadecimal(memsched::fingerprint(g, c.order, c.lower_bound, *certificate)))
    return wrong(path, "certificate: fingerprint: the file was damaged, or made for another graph");
  if (const std::string why = memsched::check_certificate(g, *certificate); !why.empty())
    return wrong(path, "certificate: " + why);
  return proof{certificate->bound, made_of(*certificate)};
}

/// Answers with the listed orders, from the last graph on: the innermost stand last and are asked for first.
body_scheduler replay(const claim& c, const std::string& path) {
  return [&c, &path, next = c.bodies.size()](const memsched::problem& p) mutable {
    memsched::schedule_result<memsched::op_id> r;
    r.order = c.bodies[--next].order;
    const auto e = memsched::evaluate(p, r.order, c.model);
    if (!e)
      r.error = wrong(path, (next == 0 ? "order" : "bodies[" + std::to_string(next - 1) + "]") + (": " + e.error().message));
    else r.peak = r.lower_bound = e->peak;
    return r;
  };
}

/// The graph when what its operators run is ordered as a result says.
memsched::result<loaded> as_claimed(const loaded& graph, const claim& c, const std::string& path) {
  if (c.bodies.size() != std::max<std::size_t>(graph.graphs.size(), 1))
    return wrong(path, "bodies: there must be one for each graph that operators run");
  return rescheduled(graph, replay(c, path));
}

memsched::result<std::vector<memsched::graph_order>> replayed(const memsched::model_graphs& graphs, std::size_t first,
                                                              const claim& c, const std::string& path) {
  return memsched::schedule_graphs(graphs, first, replay(c, path));
}

memsched::result<verified> verify_order(const loaded& listed, const json& file, const std::string& path,
                                        bool with_certificate, memsched::memory_model model) {
  const auto c = read_claim(file, path, model);
  if (!c) return c.error();
  std::optional<loaded> other;
  if (!c->bodies.empty()) {
    auto claimed = as_claimed(listed, *c, path);
    if (!claimed) return claimed.error();
    other = std::move(*claimed);
  }
  const loaded& graph = other ? *other : listed;
  if (auto error = check(*c, graph, path); !error.message.empty()) return error;
  verified v{"order", graph.name, "peak", c->peak, {}};
  std::string of_bound = "Its bound is a claim that only a certificate proves";
  if (with_certificate) {
    const auto found = proven(*c, file, graph, path);
    if (!found) return found.error();
    v.proven = found->bound;
    of_bound =
        "Its certificate proves, by " + found->by + ", that no order takes less than " + grouped(found->bound) + " bytes";
    if (found->bound == c->peak) of_bound += ": it is optimal";
    else if (found->bound < c->lower_bound)
      of_bound += "; that none takes less than " + grouped(c->lower_bound) + " was found by search and is not covered";
  }
  v.text = path + ": a valid order of " + graph.name + " with a peak of " + grouped(c->peak) + " bytes, as it says. " +
           of_bound + ".\n";
  return v;
}

}  // namespace

memsched::result<memsched::bytes> whole_number(const json& result, const char* key, const std::string& path) {
  const auto at = result.find(key);
  if (at == result.end() || !at->is_number_unsigned())
    return wrong(path, std::string(key) + ": must be a whole number, 0 or more");
  return at->get<memsched::bytes>();
}

memsched::result<std::vector<memsched::op_id>> operator_list(const json& list, const std::string& place,
                                                             const std::string& path) {
  if (!list.is_array()) return wrong(path, place + ": must be a list of operator indices");
  std::vector<memsched::op_id> ops;
  for (const json& op : list) {
    if (!op.is_number_unsigned() || op.get<std::uint64_t>() >= memsched::none)
      return wrong(path, place + "[" + std::to_string(ops.size()) + "]: must be an operator's index");
    ops.push_back(op.get<memsched::op_id>());
  }
  return ops;
}

memsched::result<memsched::memory_model> model_of(const json& result, const std::string& path, memsched::memory_model m) {
  if (const auto firing = result.find("firing"); firing != result.end()) {
    if (*firing != "pbc" && *firing != "cbp") return wrong(path, "firing: must be \"pbc\" or \"cbp\"");
    m.default_firing = *firing == "cbp" ? memsched::firing::cbp : memsched::firing::pbc;
  }
  if (const auto in_place = result.find("inplace"); in_place != result.end() && in_place->is_boolean())
    m.in_place = in_place->get<bool>();
  return m;
}

memsched::result<json> read_object(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const std::string_view bytes = text->view();
  const bool binary = !bytes.empty() && (static_cast<unsigned char>(bytes[0]) >> 5) == 5;  // a map of CBOR's
  auto j = binary ? memsched::result<json>(json::from_cbor(bytes, true, false)) : memsched::parse_json(bytes);
  if (!j) return wrong(path, j.error().message);
  if (!j->is_object()) return wrong(path, "is no JSON object");
  if (const std::string why = wrong_result_key(*j); !why.empty()) return wrong(path, why);
  return j;
}

memsched::result<std::vector<memsched::graph_order>> orders_of_result(const std::string& path,
                                                                      const memsched::model_graphs& graphs,
                                                                      const request& r) {
  const auto file = read_object(path);
  if (!file) return file.error();
  auto c = read_claim(*file, path, r.options.model());
  if (!c) return c.error();
  c->bodies.resize(std::max<std::size_t>(c->bodies.size(), 1));
  c->bodies[0].order = c->order;
  if (c->bodies.size() != graphs.size()) return wrong(path, "bodies: there must be one for each graph that operators run");
  return replayed(graphs, 0, *c, path);
}

namespace {

/// Checks the files of one command against its graph, which is read once.
class verifier {
 public:
  explicit verifier(const verify_request& r) : r_(r) {}

  memsched::result<verified> check(const std::string& file, bool with_certificate) {
    if (is_sdf(r_.graph, r_.how)) return verify_sdf(r_.graph, file, with_certificate, r_);
    const auto model = r_.options.model();
    const auto object = read_object(file);
    if (!object) return object.error();
    if (is_table(r_.graph)) return verify_plan(nullptr, r_.graph, *object, file, with_certificate, model);
    if (object->contains("network")) return check_rewritten(*object, file, with_certificate);
    if (!graph_) {
      auto graph = load(r_.graph, r_.how, scheduler_of("automatic", r_));
      if (!graph) return graph.error();
      graph_ = std::move(*graph);
    }
    if (object->contains("arena") && object->contains("buffers"))
      return verify_plan(&*graph_, r_.graph, *object, file, with_certificate, model);
    if (object->contains("executions")) return verify_executions(*graph_, *object, file, with_certificate, model);
    if (object->contains("traffic") && object->contains("model"))
      return verify_traffic(*graph_, *object, file, with_certificate, model);
    return verify_order(*graph_, *object, file, with_certificate, model);
  }

 private:
  memsched::result<verified> check_rewritten(const json& object, const std::string& file, bool with_certificate) {
    std::string computes;
    const auto graph = checked_rewrite(r_.graph, r_.how, object, file, computes);
    if (!graph) return graph.error();
    auto v = verify_order(*graph, object, file, with_certificate, r_.options.model());
    if (v) v->text += computes;
    return v;
  }

  const verify_request& r_;
  std::optional<loaded> graph_;
};

/// One line: what holds of a file, or why not.
std::string json_line(const std::string& file, const memsched::result<verified>& v) {
  nlohmann::ordered_json j{{"version", 1}, {"result", file}, {"valid", static_cast<bool>(v)}};
  if (!v) j["fault"] = v.error().message;
  else {
    j["kind"] = v->kind;
    j["graph"] = v->graph;
    j[v->measure] = v->value;
    if (v->proven) j["proven_bound"] = *v->proven;
    if (v->nothing_fits) j["nothing_fits"] = true;
    j["optimal"] = v->optimal();
  }
  return line_of(j);
}

}  // namespace

int run_verify(const verify_request& r) {
  if (!is_sdf(r.graph, r.how))
    if (const auto error = only_for_sdf(r.graph, r); !error.message.empty()) return report(error);
  verifier all(r);
  for (const std::string* file : {&r.result, &r.certificate}) {
    if (file->empty()) continue;
    const auto v = all.check(*file, file == &r.certificate);
    if (r.json) print(json_line(*file, v));
    if (!v) return report(v.error());
    if (!r.json) print(v->text);
  }
  return done;
}

command declare_verify() {
  const auto r = std::make_shared<verify_request>();
  const auto format = std::make_shared<std::string>("text");
  command c("verify", "Check a result of `schedule`, `plan`, `recompute` or `traffic`, and the certificate of a bound",
            "memsched schedule g.json --format json | memsched verify g.json -");
  c.add(
       "GRAPH", graph(r->graph),
       "*.json, *.onnx, *.tflite, *.xml (synchronous dataflow, SDF3), builtin:NAME, or - for standard input; or BUFFERS.csv")
      .required();
  c.add("RESULT", file(r->result),
        "what `schedule --format json` wrote: order and peak; or `plan`: offsets; or `recompute`: executions; or `traffic`");
  c.in("Proof").add("--certificate", file(r->certificate),
                    "what `schedule`, `plan` or `recompute` wrote with --certificate");
  add_model(c, *r);
  add_dataflow(c, *r, false);
  c.in("Output");
  c.add("--format", choice("text|json", *format), "of what is found: a line for each file that is checked")
      .by_default("text");
  return std::move(c.runs([r, format](const command& here, session&) {
    if (r->result.empty() && r->certificate.empty()) return misuse(here, "a RESULT or a --certificate is missing");
    r->json = *format == "json";
    return run_verify(*r);
  }));
}

}  // namespace cli
