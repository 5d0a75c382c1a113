#include <algorithm>
#include <memsched/allocation/plan.hpp>
#include <memsched/formats/arena_proof.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/check_joint.hpp>
#include <memsched/proof/check_packing.hpp>
#include <memsched/schedule.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
#include "result_keys.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::index_t;
using memsched::none;

}  // namespace

memsched::result<std::vector<memsched::op_id>> read_order(const std::string& path, const loaded& graph,
                                                          const memsched::options& o) {
  if (path.empty()) {
    memsched::options without = o;
    without.budget = memsched::no_limit;
    auto best = memsched::schedule(graph.problem, memsched::automatic, without);
    if (best.error) return *best.error;
    return std::move(best.order);
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto parsed = memsched::parse_json(text->view());
  if (!parsed) return wrong(path, parsed.error().message);
  return read_order(*parsed, path, graph);
}

memsched::result<std::vector<memsched::op_id>> read_order(const nlohmann::json& j, const std::string& path,
                                                          const loaded& graph) {
  const auto list = j.is_object() && j.contains("order") ? j["order"] : j;
  if (!list.is_array()) return wrong(path, "must be a list of operator indices, or an object with one as \"order\"");
  auto order = operator_list(list, "order", path);
  if (!order) return order.error();
  if (const auto error = memsched::check_order(graph.problem, *order); !error.message.empty())
    return wrong(path, "order: " + error.message);
  return order;
}

namespace {

using json = nlohmann::json;

bool whole(const json& from, const char* key, bytes& into) {
  if (!from.is_object() || !from.contains(key) || !from[key].is_number_unsigned()) return false;
  into = from[key].get<bytes>();
  return true;
}

/// The buffers that a plan is checked against, of its order or of a table, and how its entries name them.
struct checked_buffers {
  memsched::order_buffers held;
  std::vector<std::string> ids;  ///< of a table
  std::string name;
  memsched::memory_model model{};
};

constexpr std::string_view buffer_keys[] = {"id", "tensors", "workspace_of", "lower", "upper", "size", "offset", "drops"};

/// The number of the buffer that an entry of a plan names; `fault` says what is wrong where it is none.
index_t buffer_of(const json& entry, const checked_buffers& of, std::string& fault) {
  fault = "is no buffer of this order";
  if (!of.ids.empty()) {
    fault = "is no buffer of the table";
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string()) return none;
    const auto found = std::find(of.ids.begin(), of.ids.end(), entry["id"].get<std::string>());
    return found == of.ids.end() ? none : static_cast<index_t>(found - of.ids.begin());
  }
  if (bytes op = 0; whole(entry, "workspace_of", op)) {
    const auto found = std::find(of.held.workspace_of.begin(), of.held.workspace_of.end(), op);
    return op < none && found != of.held.workspace_of.end() ? static_cast<index_t>(found - of.held.workspace_of.begin())
                                                            : none;
  }
  index_t which = none;
  if (!entry.is_object() || !entry.contains("tensors") || !entry["tensors"].is_array()) return none;
  for (const auto& t : entry["tensors"]) {
    if (!t.is_number_unsigned() || t.get<bytes>() >= of.held.of_tensor.size())
      return fault = "names a tensor that there is not", none;
    const index_t b = of.held.of_tensor[t.get<std::size_t>()];
    if (which != none && b != which) return fault = "holds tensors that do not share a buffer", none;
    which = b;
  }
  return which;
}

/// Checks offsets; what they take goes into `arena`.
memsched::graph_error check_offsets(const json& j, const checked_buffers& of, const std::string& path, bytes& arena) {
  const auto& buffers = of.held.buffers;
  std::vector<bytes> offset(buffers.size(), 0);
  std::vector<bool> placed(buffers.size(), false);
  for (std::size_t i = 0; i < j["buffers"].size(); ++i) {
    const auto& entry = j["buffers"][i];
    const std::string place = "buffers[" + std::to_string(i) + "]: ";
    bytes at = 0;
    if (entry.is_object())
      if (const std::string why = memsched::wrong_key(entry, buffer_keys, memsched::notes::marked); !why.empty())
        return wrong(path, place + why);
    if (!whole(entry, "offset", at)) return wrong(path, place + "offset: must be a whole number");
    std::string fault;
    const index_t which = buffer_of(entry, of, fault);
    if (which == none) return wrong(path, place + fault);
    if (placed[which]) return wrong(path, place + "is given twice");
    placed[which] = true;
    offset[which] = at;
    const memsched::buffer& b = buffers[which];
    const std::pair<const char*, std::int64_t> facts[] = {
        {"lower", b.lower}, {"upper", b.upper}, {"size", static_cast<std::int64_t>(b.size)}};
    for (const auto& [key, is] : facts)
      if (entry.contains(key) && entry[key] != json(is)) return wrong(path, place + key + ": is " + std::to_string(is));
  }
  if (std::find(placed.begin(), placed.end(), false) != placed.end())
    return wrong(path, of.ids.empty() ? "buffers: one of the order's is missing" : "buffers: one of the table's is missing");
  if (auto error = memsched::check_plan(buffers, offset, arena); !error.message.empty()) return wrong(path, error.message);
  if (const bytes needs = memsched::arena_of(buffers, offset); needs != arena)
    return wrong(path, "arena: says " + grouped(arena) + ", but the plan takes " + grouped(needs));
  return {};
}

std::string count_of(std::size_t n, const char* one, const char* many) { return grouped(n) + ' ' + (n == 1 ? one : many); }

/// Checks a plan's certificate; returns the sentence that says what it proves.
memsched::result<std::string> proven(const json& j, const loaded* graph, const checked_buffers& of, const std::string& path,
                                     bytes arena, bytes alignment, bytes claimed, verified& v) {
  const auto at = j.find("certificate");
  if (at == j.end() || !at->is_object()) return wrong(path, "has no certificate");
  bytes bound = 0;
  std::string by, whose = of.ids.empty() ? "for this order" : "for these buffers";
  if (at->contains("refutations")) {
    if (graph == nullptr) return wrong(path, "certificate: is about orders of a graph");
    const auto proof = memsched::read_joint_proof(*at);
    if (!proof) return wrong(path, "certificate: " + proof.error().message);
    if (const std::string why = memsched::check_joint(graph->problem, *proof, of.model, alignment); !why.empty())
      return wrong(path, "certificate: " + why);
    bound = proof->arena, whose = "of any order";
    const auto conflicts = static_cast<std::size_t>(std::count_if(proof->refutations.begin(), proof->refutations.end(),
                                                                  [](const auto& r) { return !r.peak.has_value(); }));
    const std::size_t peaks = proof->refutations.size() - conflicts;
    if (peaks > 0) by = count_of(peaks, "bound of a peak", "bounds of peaks");
    if (conflicts > 0)
      by += (peaks > 0 ? " and " : "") + count_of(conflicts, "order that does", "orders that do") + " not pack";
  } else {
    const auto proof = memsched::read_packing_proof(*at);
    if (!proof) return wrong(path, "certificate: " + proof.error().message);
    if (const std::string why = memsched::check_packing(of.held.buffers, *proof); !why.empty())
      return wrong(path, "certificate: " + why);
    bound = proof->arena;
    by = count_of(proof->buffers.size(), "buffer", "buffers") + " and " + count_of(proof->steps.size(), "step", "steps");
  }
  if (bound > arena) return wrong(path, "certificate: proves more than the plan takes");
  v.proven = bound;
  if (bound == 0) return std::string("Its certificate proves nothing");
  std::string text =
      "Its certificate proves, by " + by + ", that no arena " + whose + " is below " + grouped(bound) + " bytes";
  if (bound == arena) text += ": it is optimal";
  else if (bound < claimed) text += "; that none is below " + grouped(claimed) + " was found by search and is not covered";
  return text;
}

}  // namespace

memsched::result<verified> verify_plan(const loaded* graph, const std::string& source, const json& j,
                                       const std::string& path, bool with_certificate, memsched::memory_model given_model) {
  if (!j.contains("buffers") || !j["buffers"].is_array()) return wrong(path, "has no list \"buffers\"");
  bytes arena = 0, bound = 0, alignment = 1;
  if (!whole(j, "arena", arena) || !whole(j, "lower_bound", bound) ||
      (j.contains("alignment") && !whole(j, "alignment", alignment)) || alignment == 0)
    return wrong(path, "arena, lower_bound and alignment must be whole numbers, alignment 1 or more");
  const auto model = model_of(j, path, given_model);
  if (!model) return model.error();
  checked_buffers of{.held = {}, .ids = {}, .name = source, .model = *model};
  if (graph != nullptr) {
    const auto order = read_order(j, path, *graph);
    if (!order) return order.error();
    of.held = memsched::buffers_of(graph->problem, *order, of.model).value();
    of.name = graph->name;
    for (auto& b : of.held.buffers) b.alignment = alignment;
  } else {
    auto table = read_table(source, alignment);
    if (!table) return table.error();
    of.ids = std::move(table->ids);
    of.held.buffers = std::move(table->buffers);
  }
  if (auto error = memsched::check_buffers(of.held.buffers); !error.message.empty()) return wrong(path, error.message);
  const bytes most = memsched::load_of(of.held.buffers);
  if (bytes says = 0; j.contains("peak") && (!whole(j, "peak", says) || says != most))
    return wrong(path, "peak: is " + grouped(most) + " bytes for this order");
  if (auto error = check_offsets(j, of, path, arena); !error.message.empty()) return error;
  if (bound > arena) return wrong(path, "lower_bound: " + grouped(bound) + " is above the arena, " + grouped(arena));
  if (j.value("status", json()) == "optimal" && bound != arena)
    return wrong(path, "status: says optimal, but the bound is below the arena");
  verified v{"plan", of.name, "arena", arena, {}};
  std::string of_bound = most == arena
                             ? graph == nullptr ? "No arena for them is smaller" : "For this order no arena is smaller"
                             : "Its bound is a claim that only a certificate proves";
  if (with_certificate) {
    auto found = proven(j, graph, of, path, arena, alignment, bound, v);
    if (!found) return found.error();
    of_bound = std::move(*found);
  }
  v.text = path + ": a valid plan of " + of.name + " in " + grouped(arena) + " bytes, as it says; its buffers are " +
           grouped(most) + " bytes at once. " + of_bound + ".\n";
  return v;
}

}  // namespace cli
