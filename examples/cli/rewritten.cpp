#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memsched/formats/onnx/network.hpp>
#include <memsched/formats/provenance.hpp>
#include <memsched/formats/tflite/network.hpp>
#include <memsched/network/opaque.hpp>
#include <memsched/network/windows.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/edit.hpp>
#include <memsched/schedule.hpp>
#include <utility>

#include "networks/typed.hpp"
#include "rewrite.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

using memsched::network;

memsched::result<network> read_network(const std::string& path, const reading& how) {
  const without_answer yet(!how.among_others);
  if (how.keep_inputs) return wrong("--keep-inputs", "is not for rewriting, which frees an input once it is read");
  constexpr std::string_view builtin = "builtin:";
  if (path.starts_with(builtin)) {
    if (!how.shapes.empty()) return wrong(path, "takes no --shape, which is for .onnx and .tflite files");
    std::string others;
    for (const auto& n : networks::typed_networks()) {
      if (path.substr(builtin.size()) == n.name) return n.make();
      others += (others.empty() ? "" : ", ") + std::string(n.name);
    }
    return wrong(path, "no network of this name says what its operators compute; these do: " + others);
  }
  const std::string kind = std::filesystem::path(path).extension().string();
  if (kind != ".onnx" && kind != ".tflite") return wrong(path, "the name must end in .onnx or .tflite, or be builtin:NAME");
  const auto options = read_options_of(how);
  if (!options) return options.error();
  const auto file = read_file(path);
  if (!file) return file.error();
  if (kind == ".tflite") note_assumed_shapes(path, file->view(), *options);
  auto net = kind == ".onnx" ? memsched::read_onnx_network(file->view(), *options)
                             : memsched::read_tflite_network(std::string(file->view()), *options);
  if (!net) return wrong(path, net.error().message);
  return net;
}

memsched::result<memsched::fit_options> fit_options_of(const rewriting& r, const network& net, memsched::bytes budget) {
  memsched::fit_options f;
  f.budget = budget;
  f.profile = r.runtime == "whole" ? memsched::runtime::whole : memsched::runtime::parts;
  f.streamed_input = r.stream_input;
  f.most_blocks = static_cast<memsched::coordinate>(r.blocks);
  f.exact = r.reals ? memsched::exactness::reals : memsched::exactness::bits;
  const char *from = r.max_extra_macs.data(), *to = from + r.max_extra_macs.size();
  const bool share = to != from && to[-1] == '%';
  std::uint64_t count = 0;
  double percent = 0;
  const auto read = share ? std::from_chars(from, to - 1, percent) : std::from_chars(from, to, count);
  if (read.ec != std::errc() || read.ptr != (share ? to - 1 : to) || !(percent >= 0 && percent <= 1e6))
    return wrong("--max-extra-macs", "must be a whole number, or a share of the network's own, as 10%");
  f.max_extra_macs = share ? static_cast<std::uint64_t>(static_cast<double>(memsched::macs(net)) * percent / 100) : count;
  return f;
}

memsched::problem_draft draft_of(const network& net) {
  memsched::problem_draft d;
  d.name = net.name + ", rewritten";
  for (memsched::tensor_id t = 0; t < net.tensors.size(); ++t) {
    d.tensors.push_back({net.size(t), net.tensors[t].alias_of});
    d.tensor_names.push_back(net.tensors[t].name);
    if (net.tensors[t].input) d.graph_inputs.push_back(t);
    if (net.tensors[t].output) d.graph_outputs.push_back(t);
  }
  for (const memsched::op_id i : net.ops()) {
    for (const auto t : net.inputs(i)) d.reads.push(t);
    for (const auto t : net.outputs(i)) d.writes.push(t);
    for (const auto before : net.after(i)) d.after.push(before);
    d.reads.close(), d.writes.close(), d.after.close();
    d.operators.push_back({.workspace = net.workspace(i), .overwrites = net.operations[i].overwrites});
    d.operator_names.push_back(net.operations[i].name);
  }
  return d;
}

memsched::result<loaded> load_network(network net, const std::string& name) {
  auto p = memsched::make_problem(draft_of(net));
  if (!p) return wrong(name, p.error().message);
  const std::string title = p->draft().name;
  return loaded{title, {}, {}, std::move(*p), {}, std::make_shared<const network>(std::move(net))};
}

memsched::result<loaded> load_rewritten(const std::string& path, const reading& how, const rewriting& r,
                                        const memsched::options& limits) {
  auto net = read_network(path, how);
  if (!net) return net.error();
  const auto f = fit_options_of(r, *net, limits.budget == memsched::no_limit ? 0 : limits.budget);
  if (!f) return f.error();
  memsched::options o = limits;
  o.budget = memsched::no_limit;
  o.time_limit = o.has_time_limit() ? o.time_limit / 2 : std::chrono::seconds(60);
  memsched::fitted found = memsched::fit(*net, memsched::automatic, *f, o);
  if (found.error) return wrong(path, found.error->message);
  if (const std::string fault = memsched::check_rewrite(*net, found.net); !fault.empty())
    return wrong(path, "the rewritten network is wrong: " + fault);
  auto l = load_network(memsched::reordered(std::move(found.net), found.order), path);
  if (l) l->first = std::make_shared<const network>(std::move(*net));
  return l;
}

std::string not_understood(const network& first) {
  return printable(memsched::opaque_text(memsched::opaque_groups(first), first.operations.size()));
}

nlohmann::ordered_json not_understood_json(const network& first) {
  auto list = nlohmann::ordered_json::array();
  for (const memsched::opaque_group& g : memsched::opaque_groups(first))
    list.push_back({{"kind", g.kind}, {"reason", g.reason}, {"operators", g.operators}});
  return list;
}

memsched::result<loaded> checked_rewrite(const std::string& model, const reading& how, const nlohmann::json& result,
                                         const std::string& path, std::string& found) {
  const auto first = read_network(model, how);
  if (!first) return first.error();
  auto net = memsched::read_provenance(nlohmann::ordered_json(result.at("network")), *first);
  if (!net) return wrong(path, net.error().message);
  if (const std::string fault = memsched::check_rewrite(*first, *net); !fault.empty())
    return wrong(path, "network: does not compute what " + model + " does: " + fault);
  const bool in_a_file = result.contains("network_peak");  // then other numbers are those of the model file
  for (const auto& [key, count] :
       {std::pair{in_a_file ? "network_operators" : "operators", std::uint64_t{net->operations.size()}},
        std::pair{"macs", memsched::macs(*net)}, std::pair{"macs_before", memsched::macs(*first)}})
    if (const auto at = result.find(key); at != result.end() && *at != count)
      return wrong(path, std::string(key) + ": there are " + grouped(count));
  if (const auto runtime = result.find("runtime"); runtime != result.end() && *runtime == "whole")
    if (const std::string why = memsched::not_whole(*net); !why.empty()) return wrong(path, "runtime: is not whole: " + why);
  found = path + ": computes what " + model + " does, by provenance, in " + grouped(net->operations.size()) +
          " operators with " + grouped(memsched::macs(*net)) + " multiply-accumulates.\n";
  return load_network(std::move(*net), path);
}

}  // namespace cli
