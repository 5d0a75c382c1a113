// Practical families of graphs: the default scheduler beside greedy, post-order and simulated annealing. Seconds are of the
// processor. Usage: bench_families [NAME...], names as in families.hpp
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "families.hpp"
#include "processor_clock.hpp"

int main(int count, char** arguments) {
  std::vector<std::string> names(arguments + 1, arguments + count);
  if (names.empty())
    names = {"stencil:48:48",
             "stencil:96:96",
             "stencil2d:8:8",
             "stencil2d:16:16",
             "pyramid:100",
             "pyramid:200",
             "cholesky:10",
             "cholesky:20",
             "lu:8",
             "lu:16",
             "qr:8",
             "qr:12",
             "fft:7",
             "fft:11",
             "bitonic:6",
             "strassen:3",
             "strassen:4",
             "messages:20:12:1",
             "messages:50:10:1",
             "messages:200:9:1",
             "training:6:1",
             "training:24:1",
             "training:96:1",
             "pipeline:8:16",
             "pipeline:16:64",
             "map_reduce:40:30",
             "elimination:1000:1",
             "elimination:1000:2",
             "trees:5000:1",
             "trees:25000:1",
             "hubs:100000:1",
             "hlo:3000:1",
             "hlo:20000:1",
             "experts:4:16:1",
             "lstm:200",
             "unet:6",
             "densenet:60",
             "trained:unet:6",
             "trained:lstm:200",
             "trained:densenet:60",
             "trained:experts:4:16:1",
             "trained:hlo:1000:1",
             "trained:fft:6"};
  comparison::print_head();
  comparison::tally all;
  for (const std::string& name : names) {
    auto draft = families::make(name);
    if (!draft) {
      std::fprintf(stderr, "families: no graph is called %s\n", name.c_str());
      return 2;
    }
    comparison::print_row(name, memsched::make_problem(std::move(*draft)).value(), all);
  }
  comparison::print_tally(all);
}
