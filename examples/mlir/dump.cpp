#include "dump.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <system_error>
#include <vector>

std::string write_graph(const memsched::problem& p, llvm::StringRef name, const std::string& path) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error) return error.message();
  llvm::json::OStream j(out);
  const auto list = [&](llvm::StringRef key, const auto& items) {
    j.attributeArray(key, [&] {
      for (const auto i : items) j.value(static_cast<std::int64_t>(i));
    });
  };
  std::vector<memsched::tensor_id> inputs, outputs;
  for (const auto t : p.tensors()) {
    if (p.writer(t) == memsched::none) inputs.push_back(t);
    if (p.live_out(t)) outputs.push_back(t);
  }
  j.object([&] {
    j.attribute("name", name);
    j.attributeArray("ops", [&] {
      for (const auto op : p.ops())
        j.object([&] {
          j.attribute("name", p.operator_name(op));
          list("inputs", p.inputs(op));
          list("outputs", p.outputs(op));
          list("after", p.after(op));
          j.attribute("workspace", static_cast<std::int64_t>(p.workspace(op)));
          for (const auto& o : p.further_overwrites(op))
            if (o.output == p.outputs(op)[0])
              j.attribute("inplace", static_cast<std::int64_t>(llvm::find(p.inputs(op), o.input) - p.inputs(op).begin()));
        });
    });
    j.attributeArray("tensors", [&] {
      for (const auto t : p.tensors())
        j.object([&] {
          j.attribute("bytes", static_cast<std::int64_t>(p.size(t)));
          if (p.alias_of(t) != t) j.attribute("alias_of", static_cast<std::int64_t>(p.alias_of(t)));
        });
    });
    list("graph_inputs", inputs);
    list("graph_outputs", outputs);
  });
  out << '\n';
  return {};
}
