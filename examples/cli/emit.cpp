#include "emit.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <memsched/emit/emit_c.hpp>
#include <memsched/plan.hpp>
#include <memsched/schedule.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "advice.hpp"
#include "limits.hpp"

namespace cli {

namespace {

/// Of a static library, or of a component of ESP-IDF, which defines ESP_PLATFORM.
std::string cmake_of(const library_form& form) {
  const std::string& name = form.name;
  const std::string sources = name + ".c" + (form.model.empty() ? "" : " " + name + "_model.c");
  const std::string called = form.kernels == memsched::kernel_library::plain
                                 ? ""
                                 : "if(TARGET cmsis-nn)\n  target_link_libraries(" + name + " PUBLIC cmsis-nn)\nendif()\n";
  return "# Beside other sources: add_subdirectory, then link " + name +
         ". In ESP-IDF: a component. Alone: the library and a program.\n"
         "set(sources " +
         sources +
         ")\nif(ESP_PLATFORM)\n  idf_component_register(SRCS ${sources} INCLUDE_DIRS \".\")\n  return()\nendif()\n"
         "cmake_minimum_required(VERSION 3.13)\nproject(" +
         name + " C)\nadd_library(" + name + " STATIC ${sources})\ntarget_include_directories(" + name +
         " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\ntarget_compile_features(" + name + " PUBLIC c_std_11)\n" + called +
         "if(UNIX)\n  target_link_libraries(" + name +
         " PUBLIC m)\nendif()\nif(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT CMAKE_CROSSCOMPILING)\n  add_executable(" +
         name + "_main " + name + "_main.c)\n  target_link_libraries(" + name + "_main " + name + ")\nendif()\n";
}

std::string properties_of(const std::string& name) {
  return "name=" + name + "\nversion=1.0.0\nauthor=memsched\nmaintainer=memsched\nsentence=The neural network " + name +
         " as plain C.\nparagraph=Written by memsched from a model.\ncategory=Data Processing\nurl=\narchitectures=*\nincludes=" +
         name + ".h\n";
}

using memsched::bytes;
using arena = memsched::plan_result<memsched::op_id, memsched::tensor_id>;
using clock = std::chrono::steady_clock;

/// `minimize` for buffers in the order of their ends. It breaks ties by number: by end, it places waves of rows without holes
/// in few nodes, and the plan does not depend on how a network numbers its tensors.
struct minimize_by_end {
  memsched::arena_plan operator()(std::span<const memsched::buffer> buffers, bytes capacity,
                                  memsched::search& context) const {
    std::vector<std::size_t> place(buffers.size());
    std::iota(place.begin(), place.end(), std::size_t{0});
    const auto life = [&](std::size_t i) { return std::tuple(buffers[i].upper, buffers[i].lower, buffers[i].size); };
    std::stable_sort(place.begin(), place.end(), [&](std::size_t a, std::size_t b) { return life(a) < life(b); });
    std::vector<memsched::buffer> sorted;
    for (const std::size_t i : place) sorted.push_back(buffers[i]);
    memsched::arena_plan plan = memsched::minimize{}(sorted, capacity, context);
    const std::vector<bytes> offset = plan.offset;
    for (std::size_t k = 0; k < place.size(); ++k) plan.offset[place[k]] = offset[k];
    for (memsched::index_t& k : plan.conflict) k = static_cast<memsched::index_t>(place[k]);
    return plan;
  }
};

/// The smallest arena found for an order: one of its peak, which has no holes, else any, else one of another order. Each
/// search counts nodes; a lower limit of the caller's cuts each.
arena arena_of(const memsched::network& net, const std::vector<memsched::op_id>& order, const memsched::options& limits) {
  constexpr std::uint64_t without_holes = 400'000, any = 100'000, any_order = 500'000;
  const auto start = clock::now();
  const auto real = [](const memsched::typed_tensor& t) { return t.element == memsched::element::float32; };
  const auto options_for = [&](bytes capacity, std::uint64_t nodes) {
    memsched::options o = rest_of(limits, start);
    o.budget = capacity;
    o.alignment = std::any_of(net.tensors.begin(), net.tensors.end(), real) ? 4 : 1;
    o.state_limit = std::min(limits.state_limit, nodes);
    return o;
  };
  const auto of_order = [&](bytes capacity, std::uint64_t nodes) {
    return memsched::plan(net, std::span<const memsched::op_id>(order), minimize_by_end{}, options_for(capacity, nodes));
  };
  arena best = of_order(0, 1);
  const auto done = [&] { return best.arena.error || best.arena.size == best.peak; };
  const auto keep = [&](arena other) {
    if (!other.arena.error && other.arena.size < best.arena.size) best = std::move(other);
  };
  if (!done()) keep(of_order(best.peak, without_holes));
  if (!done()) keep(of_order(memsched::no_limit, any));
  if (!done())
    keep(memsched::plan_jointly(net, memsched::automatic, minimize_by_end{}, options_for(memsched::no_limit, any_order)));
  return best;
}

std::vector<std::string> names_of(const memsched::network& net, bool memsched::typed_tensor::*is) {
  std::vector<std::string> names;
  for (const auto& end : memsched::ends_of(net, is))
    names.push_back(end.tensor == memsched::none ? "" : net.tensors[end.tensor].name);
  return names;
}

}  // namespace

std::string identifier_of(const std::string& path) {
  const std::string stem = path.substr(path.rfind(':') + 1);
  std::string name;
  for (const char c : std::filesystem::path(stem).stem().string()) {
    const auto u = static_cast<unsigned char>(c);
    name += u < 128 && std::isalnum(u) != 0 ? static_cast<char>(std::tolower(u)) : '_';
  }
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "net_" + name : name;
}

memsched::result<library> library_of(const memsched::network& first, const memsched::network& net,
                                     const std::vector<memsched::op_id>& order, const library_form& form,
                                     const memsched::options& limits) {
  const arena planned = arena_of(net, order, limits);
  if (planned.arena.error) return *planned.arena.error;
  const std::string& name = form.name;
  memsched::emission e{planned.order,
                       std::vector<memsched::bytes>(net.tensors.size(), 0),
                       planned.arena.size,
                       name,
                       form.kernels,
                       form.model,
                       names_of(first, &memsched::typed_tensor::input),
                       names_of(first, &memsched::typed_tensor::output)};
  for (const auto& [t, at] : planned.offset) e.offset[t] = at;
  auto made = memsched::emit_c(net, e);
  if (!made) return made.error();
  library all{{{name + ".h", std::move(made->header)},
               {name + ".c", std::move(made->source)},
               {name + "_main.c", "#ifndef ARDUINO /* which compiles all that lies here */\n" + made->program + "#endif\n"},
               {"CMakeLists.txt", cmake_of(form)},
               {"library.properties", properties_of(name)}},
              planned.arena.size,
              made->scratch,
              made->flash};
  if (!made->model.empty()) all.files.push_back({name + "_model.c", std::move(made->model)});
  return all;
}

memsched::result<chosen_library> find_library(const memsched::network& net, const memsched::fit_options& f,
                                              const memsched::options& limits, memsched::bytes flash,
                                              const library_form& form) {
  constexpr unsigned for_search = 5, for_allowance = 2;  // sixteenths; the rest is for arenas
  const auto start = clock::now();
  std::vector<memsched::fitted> seen;
  const auto see = [&](const memsched::fitted& found) { seen.push_back(found); };
  memsched::fit_options any = f, smallest = f;
  any.budget = memsched::no_limit;  // the network as it is fits
  smallest.budget = 0;
  see(memsched::fit(net, memsched::automatic, any, sixteenths(limits, 1)));
  if (seen.front().error) return *seen.front().error;
  const advice all = advise(net, smallest, sixteenths(limits, for_search), see);
  if (all.found.error) return *all.found.error;
  search_cheaper(net, smallest, sixteenths(limits, for_allowance), see);
  const auto cost = [](const memsched::fitted& x) { return std::tuple(x.after.peak, x.after.operators, x.after.macs); };
  std::stable_sort(seen.begin(), seen.end(), [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
  seen.erase(std::unique(seen.begin(), seen.end(), [&](const auto& a, const auto& b) { return cost(a) == cost(b); }),
             seen.end());
  std::optional<chosen_library> best;
  for (const memsched::fitted& x : seen) {
    auto made = library_of(net, x.net, x.order, form, rest_of(limits, start));
    if (!made) return made.error();
    if (!best || made->flash.total() < best->made.flash.total()) best = {x, std::move(*made)};
    if (best->made.flash.total() <= flash) break;
  }
  best->found.front = all.found.front;
  return std::move(*best);
}

}  // namespace cli
