// Writes a C header (C23, and C++) with the offset of every tensor, so that firmware needs no allocator at all.
#include <cctype>
#include <iostream>
#include <string>

#include <memsched/plan.hpp>

namespace {

std::string identifier(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

}  // namespace

int main() {
  memsched::problem_builder b;
  const auto sound = b.input(1960, "sound"), filtered = b.tensor(4000, "conv/filtered");
  const auto positive = b.tensor(4000, "conv/relu"), scores = b.tensor(16, "scores");
  b.op({.reads = {sound}, .writes = {filtered}, .name = "conv"});
  b.op({.reads = {filtered}, .writes = {positive}, .overwrites = filtered, .name = "relu"});
  b.op({.reads = {positive}, .writes = {scores}, .workspace = 256, .name = "dense"});
  b.output(scores);
  const memsched::problem model = b.build().value();

  constexpr memsched::bytes alignment = 16;
  const auto best = memsched::plan_jointly(model, {.alignment = alignment}).value();
  std::cout << "#pragma once\n#include <stddef.h>\n\n"
            << "/* " << best.arena.size << " bytes, " << to_string(best.arena.verdict()) << ". Operators run in this order:";
  for (const auto op : best.order) std::cout << ' ' << model.operator_name(op);
  std::cout << ". */\nconstexpr size_t arena_size = " << best.arena.size << ";\n"
            << "alignas(" << alignment << ") static unsigned char arena[arena_size];\n\n";
  for (const auto t : model.tensors())
    if (const auto at = best.offset.find(t); at != best.offset.end())
      std::cout << "constexpr size_t offset_of_" << identifier(model.tensor_name(t)) << " = " << at->second << ";\n";
  for (const auto op : best.order)
    if (const auto at = best.workspace.find(op); at != best.workspace.end())
      std::cout << "constexpr size_t workspace_of_" << identifier(model.operator_name(op)) << " = " << at->second << ";\n";
}
