// Graphs of the HyperDAG database, or any others, as JSON: the default scheduler beside greedy, post-order and simulated
// annealing. Seconds are of the processor. The folder is named by MEMSCHED_HYPERDAG. Usage: bench_hyperdag [FILE...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/json.hpp>

#include "comparison.hpp"
#include "processor_clock.hpp"

namespace {

const char* folder() {
  const char* named = std::getenv("MEMSCHED_HYPERDAG");
  return named != nullptr ? named : "../shared/graphs/hyperdag";
}

std::vector<std::filesystem::path> files_of(const char* from) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::is_directory(from)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(from))
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

memsched::problem read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return memsched::make_problem(memsched::read_json(text).value()).value();
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::filesystem::path> files(arguments + 1, arguments + count);
  if (files.empty()) files = files_of(folder());
  if (files.empty()) {
    std::printf("hyperdag: %s has no graphs; MEMSCHED_HYPERDAG names another folder\n", folder());
    return 0;
  }
  comparison::print_head();
  comparison::tally all;
  for (const std::filesystem::path& file : files) comparison::print_row(file.stem().string().substr(0, 40), read(file), all);
  comparison::print_tally(all);
}
