// A graph written down by hand: two branches from one image, and the order that needs the least memory.
#include <iostream>

#include <memsched/schedule.hpp>

int main() {
  using namespace memsched::literals;

  // Tensors have sizes; operators read and write them. Names are for people only.
  memsched::problem_builder b;
  const auto image = b.input(64_KiB, "image");
  const auto wide = b.tensor(256_KiB), narrow = b.tensor(32_KiB);    // one branch
  const auto wide2 = b.tensor(192_KiB), narrow2 = b.tensor(16_KiB);  // the other
  const auto sum = b.tensor(32_KiB, "sum");
  b.op({.reads = {image}, .writes = {wide}, .name = "expand"});
  b.op({.reads = {image}, .writes = {wide2}, .name = "expand2"});
  b.op({.reads = {wide}, .writes = {narrow}, .name = "reduce"});
  b.op({.reads = {wide2}, .writes = {narrow2}, .name = "reduce2"});
  b.op({.reads = {narrow, narrow2}, .writes = {sum}, .name = "add"});
  b.output(sum);
  const memsched::problem graph = b.build().value();  // throws where the graph has a fault

  // The order as it stands runs both expansions first; any order can be priced.
  const std::vector<memsched::op_id> as_written{0, 1, 2, 3, 4};
  std::cout << "as written: " << memsched::evaluate(graph, as_written).value().peak / 1_KiB << " KiB\n";

  const auto best = memsched::schedule(graph);
  std::cout << "scheduled:  " << best.peak / 1_KiB << " KiB, " << to_string(best.verdict()) << '\n';
  for (std::size_t step = 0; step < best.order.size(); ++step)
    std::cout << "  " << graph.operator_name(best.order[step]) << ": " << best.profile[step] / 1_KiB << " KiB\n";
}
