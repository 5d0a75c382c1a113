#include "emit.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <memsched/emit/emit_c.hpp>
#include <memsched/plan.hpp>

namespace cli {

namespace {

/// Of a static library, or of a component of ESP-IDF, which defines ESP_PLATFORM.
std::string cmake_of(const std::string& name) {
  return "# Beside other sources: add_subdirectory, then link " + name +
         ". In ESP-IDF: a component. Alone: the library and a program.\n"
         "if(ESP_PLATFORM)\n  idf_component_register(SRCS \"" +
         name + ".c\" INCLUDE_DIRS \".\")\n  return()\nendif()\ncmake_minimum_required(VERSION 3.13)\nproject(" + name +
         " C)\nadd_library(" + name + " STATIC " + name + ".c)\ntarget_include_directories(" + name +
         " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\ntarget_compile_features(" + name + " PUBLIC c_std_99)\n" +
         "if(UNIX)\n  target_link_libraries(" + name +
         " PUBLIC m)\nendif()\nif(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT CMAKE_CROSSCOMPILING)\n  add_executable(" +
         name + "_main " + name + "_main.c)\n  target_link_libraries(" + name + "_main " + name + ")\nendif()\n";
}

std::string properties_of(const std::string& name) {
  return "name=" + name + "\nversion=1.0.0\nauthor=memsched\nmaintainer=memsched\nsentence=The neural network " + name +
         " as plain C.\nparagraph=Written by memsched from a model.\ncategory=Data Processing\nurl=\narchitectures=*\nincludes=" +
         name + ".h\n";
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
                                     const std::vector<memsched::op_id>& order, const std::string& name) {
  memsched::options o;
  const auto real = [](const memsched::typed_tensor& t) { return t.element == memsched::element::float32; };
  o.alignment = std::any_of(net.tensors.begin(), net.tensors.end(), real) ? 4 : 1;
  o.time_limit = std::chrono::seconds(10);
  auto planned = memsched::plan(net, std::span<const memsched::op_id>(order), memsched::minimize{}, o);
  if (planned.arena.error) return *planned.arena.error;
  if (planned.arena.size > planned.peak) {  // holes: another order may leave none
    o.time_limit = std::chrono::seconds(20);
    auto joint = memsched::plan_jointly(net, memsched::automatic, memsched::minimize{}, o);
    if (!joint.arena.error && joint.arena.size < planned.arena.size) planned = std::move(joint);
  }
  memsched::emission e{
      planned.order, std::vector<memsched::bytes>(net.tensors.size(), 0), planned.arena.size,
      name,          names_of(first, &memsched::typed_tensor::input),     names_of(first, &memsched::typed_tensor::output)};
  for (const auto& [t, at] : planned.offset) e.offset[t] = at;
  auto made = memsched::emit_c(net, e);
  if (!made) return made.error();
  return library{
      {{name + ".h", std::move(made->header)},
       {name + ".c", std::move(made->source)},
       {name + "_main.c", "#ifndef ARDUINO /* which compiles all that lies here */\n" + made->program + "#endif\n"},
       {"CMakeLists.txt", cmake_of(name)},
       {"library.properties", properties_of(name)}},
      planned.arena.size};
}

}  // namespace cli
