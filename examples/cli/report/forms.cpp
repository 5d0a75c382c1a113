#include "forms.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

using memsched::tensor_form;
using nlohmann::json;

/// The notes of one tensor of a JSON graph.
tensor_form noted(const json& tensor) {
  tensor_form form;
  if (!tensor.is_object()) return form;
  if (const auto type = tensor.find("type"); type != tensor.end() && type->is_string()) form.type = type->get<std::string>();
  const auto shape = tensor.find("shape");
  const auto is_whole = [](const json& d) { return d.is_number_integer(); };
  if (shape != tensor.end() && shape->is_array() && std::all_of(shape->begin(), shape->end(), is_whole))
    form.shape = shape->get<std::vector<std::int64_t>>();
  return form;
}

/// The notes of all tensors of a JSON graph. Operators are not kept.
std::vector<tensor_form> noted_in(std::string_view text) {
  const auto but_operators = [](int depth, json::parse_event_t event, json& key) {
    return depth != 1 || event != json::parse_event_t::key || key != "ops";
  };
  const json graph = json::parse(text.begin(), text.end(), but_operators, false);
  std::vector<tensor_form> forms;
  if (!graph.is_object()) return forms;
  const auto tensors = graph.find("tensors");
  if (tensors != graph.end() && tensors->is_array())
    for (const json& t : *tensors) forms.push_back(noted(t));
  return forms;
}

}  // namespace

std::vector<tensor_form> forms_of(const loaded& graph, const std::string& path, const reading& how) {
  constexpr std::size_t largest = std::size_t{1} << 26;
  std::vector<tensor_form> forms;
  if (!graph.graphs.empty()) forms = graph.graphs[0].forms;
  if (!path.starts_with("builtin:") && kind_of(path, how) == ".json")
    if (const auto file = read_file(path); file && file->view().size() <= largest) forms = noted_in(file->view());
  const auto is_known = [](const tensor_form& f) { return !f.type.empty() || f.shape; };
  if (forms.size() != graph.problem.tensors().size() || std::none_of(forms.begin(), forms.end(), is_known)) return {};
  return forms;
}

}  // namespace cli
