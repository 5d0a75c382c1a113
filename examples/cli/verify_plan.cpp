#include <algorithm>
#include <memsched/allocation/plan.hpp>
#include <memsched/schedule.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
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
  const auto j = nlohmann::json::parse(text->view(), nullptr, false);
  const auto list = j.is_object() && j.contains("order") ? j["order"] : j;
  if (!list.is_array()) return wrong(path, "must be a list of operator indices, or an object with one as \"order\"");
  std::vector<memsched::op_id> order;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number_unsigned() || list[i].get<std::uint64_t>() >= none)
      return wrong(path, "order[" + std::to_string(i) + "]: must be an operator's index");
    order.push_back(list[i].get<memsched::op_id>());
  }
  if (const auto error = memsched::check_order(graph.problem, order); !error.message.empty())
    return wrong(path, "order: " + error.message);
  return order;
}

memsched::graph_error verify_plan(const loaded& graph, const std::string& path, memsched::memory_model model) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto j = nlohmann::json::parse(text->view(), nullptr, false);
  if (!j.is_object() || !j.contains("buffers") || !j["buffers"].is_array()) return wrong(path, "has no list \"buffers\"");
  const auto order = read_order(path, graph, {});
  if (!order) return order.error();
  if (j.value("firing", nlohmann::json()) == "cbp") model.default_firing = memsched::firing::cbp;
  if (j.contains("inplace") && j["inplace"].is_boolean()) model.in_place = j["inplace"].get<bool>();
  auto held = memsched::buffers_of(graph.problem, *order, model).value();
  const auto whole = [&](const nlohmann::json& from, const char* key, bytes& into) {
    if (!from.is_object() || !from.contains(key) || !from[key].is_number_unsigned()) return false;
    into = from[key].get<bytes>();
    return true;
  };
  bytes arena = 0, bound = 0, alignment = 1;
  if (!whole(j, "arena", arena) || !whole(j, "lower_bound", bound) ||
      (j.contains("alignment") && !whole(j, "alignment", alignment)) || alignment == 0)
    return wrong(path, "arena, lower_bound and alignment must be whole numbers, alignment 1 or more");
  std::vector<bytes> offset(held.buffers.size(), 0);
  std::vector<bool> placed(held.buffers.size(), false);
  for (std::size_t i = 0; i < j["buffers"].size(); ++i) {
    const auto& entry = j["buffers"][i];
    const std::string place = "buffers[" + std::to_string(i) + "]: ";
    bytes at = 0, op = 0;
    index_t which = none;
    if (!whole(entry, "offset", at)) return wrong(path, place + "offset: must be a whole number");
    if (whole(entry, "workspace_of", op)) {
      const auto found = std::find(held.workspace_of.begin(), held.workspace_of.end(), op);
      if (op < none && found != held.workspace_of.end()) which = static_cast<index_t>(found - held.workspace_of.begin());
    } else if (entry.contains("tensors") && entry["tensors"].is_array()) {
      for (const auto& t : entry["tensors"]) {
        if (!t.is_number_unsigned() || t.get<bytes>() >= held.of_tensor.size())
          return wrong(path, place + "names a tensor that there is not");
        const index_t b = held.of_tensor[t.get<std::size_t>()];
        if (which != none && b != which) return wrong(path, place + "holds tensors that do not share a buffer");
        which = b;
      }
    }
    if (which == none) return wrong(path, place + "is no buffer of this order");
    if (placed[which]) return wrong(path, place + "is given twice");
    placed[which] = true;
    offset[which] = at;
    const memsched::buffer& b = held.buffers[which];
    const std::pair<const char*, bytes> facts[] = {
        {"lower", static_cast<bytes>(b.lower)}, {"upper", static_cast<bytes>(b.upper)}, {"size", b.size}};
    for (const auto& [key, is] : facts)
      if (bytes says = 0; entry.contains(key) && (!whole(entry, key, says) || says != is))
        return wrong(path, place + key + ": is " + std::to_string(is) + " in this order");
  }
  if (const auto missing = std::find(placed.begin(), placed.end(), false); missing != placed.end())
    return wrong(path, "buffers: one of the order's is missing");
  const bytes most = memsched::load_of(held.buffers);
  if (bytes says = 0; j.contains("peak") && (!whole(j, "peak", says) || says != most))
    return wrong(path, "peak: is " + grouped(most) + " bytes for this order");
  for (auto& b : held.buffers) b.alignment = alignment;
  if (auto error = memsched::check_plan(held.buffers, offset, arena); !error.message.empty())
    return wrong(path, error.message);
  if (const bytes needs = memsched::arena_of(held.buffers, offset); needs != arena)
    return wrong(path, "arena: says " + grouped(arena) + ", but the plan takes " + grouped(needs));
  if (bound > arena) return wrong(path, "lower_bound: " + grouped(bound) + " is above the arena, " + grouped(arena));
  if (j.value("status", nlohmann::json()) == "optimal" && bound != arena)
    return wrong(path, "status: says optimal, but the bound is below the arena");
  print(path + ": a valid plan of " + graph.name + " in " + grouped(arena) + " bytes, as it says; its buffers are " +
        grouped(most) + " bytes at once. " +
        (most == arena ? "For this order no arena is smaller" : "Its bound is a claim that is not checked here") + ".\n");
  return {};
}

}  // namespace cli
