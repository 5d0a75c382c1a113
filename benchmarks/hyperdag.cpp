// Graphs of the HyperDAG database, or any others, as JSON: the default scheduler beside greedy, post-order and simulated
// annealing. Seconds are of the processor. The folder is named by MEMSCHED_HYPERDAG. Usage: bench_hyperdag [FILE...]
#include <cstdio>
#include <filesystem>
#include <vector>

#include "comparison.hpp"
#include "graph_files.hpp"
#include "processor_clock.hpp"

int main(int count, char** arguments) {
  std::vector<std::filesystem::path> files(arguments + 1, arguments + count);
  const auto folder = graph_files::hyperdag();
  if (files.empty()) files = graph_files::files_of(folder);
  if (files.empty()) {
    std::printf("hyperdag: %s has no graphs; MEMSCHED_HYPERDAG names another folder\n", folder.c_str());
    return 0;
  }
  comparison::print_head();
  comparison::tally all;
  for (const std::filesystem::path& file : files) {
    const auto p = graph_files::read(file);
    if (!p) return std::fprintf(stderr, "%s\n", p.error().message.c_str()), 1;
    comparison::print_row(file.stem().string().substr(0, 40), *p, all);
  }
  comparison::print_tally(all);
}
