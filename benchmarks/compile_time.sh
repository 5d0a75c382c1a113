#!/usr/bin/env bash
# The cost of including the library: processor seconds to compile a unit that schedules an IR of its own, with the large functions
# compiled elsewhere (MEMSCHED_SEPARATE_COMPILATION) and with all inline, also at -O1, beside the smallest program that sorts a
# graph with the Boost Graph Library. At -O2 unless stated otherwise. Medians of five interleaved runs.
# usage: [CXX=g++] benchmarks/compile_time.sh
set -eu
TIMEFORMAT=%U
include=$(cd "$(dirname "$0")/../include" && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

cat >"$directory/memsched.cpp" <<'CPP'
#include <cstddef>
#include <vector>

#include <memsched/schedule.hpp>

struct graph {
  struct op { std::vector<int> in, out; };
  std::vector<op> list;
  std::vector<std::size_t> sizes;
  memsched::base::index_range ops() const { return memsched::base::index_range(list.size()); }
  const std::vector<int>& inputs(unsigned op) const { return list[op].in; }
  const std::vector<int>& outputs(unsigned op) const { return list[op].out; }
  std::size_t size(int tensor) const { return sizes[static_cast<std::size_t>(tensor)]; }
};

int main() {
  const graph g{{{{}, {0}}, {{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}}}, {8, 4, 2, 1}};
  return memsched::schedule(g).value().order.size() == 4 ? 0 : 1;
}
CPP

cat >"$directory/boost.cpp" <<'CPP'
#include <cstddef>
#include <iterator>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

int main() {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> g(4);
  add_edge(0, 1, g), add_edge(0, 2, g), add_edge(1, 3, g), add_edge(2, 3, g);
  std::vector<std::size_t> order;
  boost::topological_sort(g, std::back_inserter(order));
  return order.size() == 4 ? 0 : 1;
}
CPP

# seconds UNIT NAME FLAGS...
seconds() {
  unit=$1 name=$2
  shift 2
  { time "${CXX:-g++}" -std=c++20 -O2 -I"$include" "$@" -c "$directory/$unit.cpp" -o "$directory/$unit.o"; } 2>>"$directory/$name.times"
}
median() { sort -n "$directory/$1.times" | sed -n 3p; }

for run in 1 2 3 4 5; do
  seconds memsched separate -DMEMSCHED_SEPARATE_COMPILATION
  seconds memsched inline
  seconds memsched inline-O1 -O1
  seconds boost boost
done
boost=$(median boost)
printf 'Boost.Graph                    %5.2f s\n' "$boost"
for mode in separate inline inline-O1; do
  echo "$mode $(median $mode) $boost" |
    awk '{printf "memsched, %-20s %5.2f s, ratio %.2f\n", $1, $2, $2 / $3}'
done
