// Fradet, Girault, Honorat: their tables beside ours. bench_fradet [seconds for each search of the last table]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <memsched/presolve/compression.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/fradet.hpp>
#include <memsched/sdf/composites.hpp>
#include <networks/networks.hpp>
#include <networks/task_graphs.hpp>

#include "fradet_tables.hpp"
#include "timing.hpp"

using namespace memsched;

namespace {

using timing::best_time, timing::clock_type, timing::seconds_since;

struct compression {
  presolve::compressed_graph result;
  double seconds;
};
compression compressed(const schedule_graph& g) {
  compression c;
  c.seconds = best_time([&] {
    const options o;
    search context(o);
    c.result = presolve::compressed(g, context);
  });
  return c;
}
std::string peak_text(const schedule_graph& g, const presolve::compressed_graph& c) {
  return c.graph.active == 1 ? std::to_string(peak_of(g, c.expand({0}))) : "-";
}

struct answer {
  bytes peak, bound;
  double seconds;
  std::uint64_t states;
  bool proven() const { return peak <= bound; }
};
using policy = std::function<solution(const schedule_graph&, search&)>;
answer solve(const schedule_graph& g, double limit, const policy& s) {
  const options o{.time_limit = timing::nanoseconds(limit), .memory_limit = 1_GiB};
  search context(o);
  const auto start = clock_type::now();
  const solution found = s(g, context);
  const double seconds = seconds_since(start);
  const bytes peak = peak_of(g, found.order);
  return {peak, std::min(found.lower_bound, peak), seconds, context.control().stats.states};
}

void figure_1() {
  std::printf("Figure 1                   published  ours  order\n");
  for (auto [name, rule, published] : {std::tuple("cbp", firing::cbp, 8), std::tuple("pbc", firing::pbc, 10)}) {
    const schedule_graph g = make_schedule_graph(task_graphs::figure_1(), rule).value();
    const options o;
    search context(o);
    const solution s = fradet(g, context);
    std::string order;
    for (node_id v : s.order) {
      if (!order.empty()) order += ';';
      order += static_cast<char>('A' + v);
    }
    std::printf("%-26s %9d %5llu  %s\n", name, published, static_cast<unsigned long long>(peak_of(g, s.order)),
                order.c_str());
  }
}

void tables_1_and_2() {
  struct row {
    const char* name;
    schedule_graph graph;
    bytes peak;
    double seconds;
  };
  std::vector<row> rows{
      {"satellite, flat", make_schedule_graph(task_graphs::whole_batches(task_graphs::satellite())).value(), 1680, 0.002}};
  for (const auto& l : fradet_tables::tables_1_and_2())
    rows.push_back({l.name, make_schedule_graph(sdf::expand(l.graph).value()).value(), l.peak, l.seconds});
  std::printf("\nTables 1 and 2      tasks    peak: paper    ours   nodes left   seconds: paper     ours\n");
  for (const row& r : rows) {
    const schedule_graph& g = r.graph;
    const compression c = compressed(g);
    std::printf("%-16s %8zu %14llu %7s %12zu %16.3f %8.5f\n", r.name, g.size(), static_cast<unsigned long long>(r.peak),
                peak_text(g, c.result).c_str(), c.result.graph.size(), r.seconds, c.seconds);
  }
}

double peak_mebibytes() { return timing::peak_bytes() / (1 << 20); }

/// The value of f() in a process of its own: memory is that of f, without leftovers of earlier runs; -1 if that fails.
template <class F>
double in_child(F&& f) {
  double value = -1;
  int ends[2];
  if (pipe(ends) != 0) return value;
  std::fflush(stdout);
  if (const pid_t child = fork(); child == 0) {
    const double mine = f();
    _exit(write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
  } else if (child > 0) {
    if (read(ends[0], &value, sizeof value) != sizeof value) value = -1;
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  close(ends[1]);
  return value;
}

/// Each size compresses the same number of tasks, in as many copies of the graph as that takes: a small graph compressed
/// again and again would be measured with all of it in the caches and each branch foreseen.
void scaling() {
  constexpr std::size_t tasks_in_all = 1'500'000;
  constexpr int rounds = 3;
  const auto filterbank = [](std::uint32_t depth) {
    return make_schedule_graph(sdf::expand(task_graphs::filterbank(2, 3, depth).graph()).value()).value();
  };
  const auto compress_once = [](const schedule_graph& g) {
    const options o;
    search context(o);
    return presolve::compressed(g, context).graph.size();
  };
  std::printf(
      "\nCompression of filterbanks of 2/5 and 3/5, processor time, the median of %d rounds over %zu tasks or more\n",
      rounds, tasks_in_all);
  std::printf("%12s %12s %12s %12s %22s %10s %22s\n", "tasks", "copies", "nodes left", "seconds", "microseconds a task",
              "growth", "MiB, graph included");
  double first = 0;
  for (std::uint32_t depth = 3; depth <= 7; ++depth) {
    const schedule_graph g = filterbank(depth);
    const std::size_t copies = (tasks_in_all + g.size() - 1) / g.size();
    const double seconds = in_child([&] {
      const std::vector<schedule_graph> graphs(copies, g);
      std::vector<double> times;
      for (int i = 0; i < rounds; ++i) {
        const double start = timing::user_seconds();
        for (const schedule_graph& copy : graphs) compress_once(copy);
        times.push_back((timing::user_seconds() - start) / static_cast<double>(copies));
      }
      std::sort(times.begin(), times.end());
      return times[times.size() / 2];
    });
    const double memory = in_child([&] { return compress_once(g), peak_mebibytes(); });
    const double each = seconds * 1e6 / static_cast<double>(g.size());
    if (depth == 3) first = each;
    std::printf("%12zu %12zu %12zu %12.5f %22.3f %9.2fx %22.1f\n", g.size(), copies, compress_once(g), seconds, each,
                each / first, memory);
  }
}

/// A graph that the rules cannot reduce, of about `nodes` nodes: what they leave of a random one.
schedule_graph core(task_graphs::family kind, std::uint64_t seed, std::size_t nodes) {
  schedule_graph g;
  for (std::uint32_t tasks = static_cast<std::uint32_t>(nodes); g.size() < nodes; tasks += tasks / 10 + 1) {
    const options o;
    search context(o);
    g = presolve::compressed(make_schedule_graph(task_graphs::random_tasks(kind, seed, tasks)).value(), context).graph;
  }
  return g;
}

/// A core with one source and one sink and exactly 32 nodes, as costs; the first from `seed` on.
cost_graph block(std::uint64_t& seed) {
  for (;; ++seed) {
    task_graph t = task_graphs::random_tasks(task_graphs::family::uniform, seed, 45);
    std::vector<bool> read(t.tasks, false);
    for (const task_channel& c : t.channels) read[c.from] = true;
    for (node_id v = 0; v < 45; ++v)
      if (!read[v]) t.channels.push_back({v, 45, 10 + v % 7});
    t.tasks = 46;
    const options o;
    search context(o);
    const schedule_graph g = presolve::compressed(make_schedule_graph(t).value(), context).graph;
    if (g.size() != 32 || g.active != 32) continue;
    cost_graph c;
    c.cost = g.cost;
    for (node_id v = 0; v < 32; ++v)
      for (node_id u : g.preds[v]) c.edges.push_back({u, v});
    ++seed;
    return c;
  }
}

/// Four such blocks side by side between a source and a sink, tied to each by one token.
schedule_graph four_blocks() {
  cost_graph all{{{4, 4}, {0, -4}}, {}};
  std::uint64_t seed = 1;
  for (int i = 0; i < 4; ++i) {
    cost_graph b = block(seed);
    const node_id first = static_cast<node_id>(all.cost.size()), last = first + 31;
    --b.cost.front().impact;
    ++b.cost.back().impact;
    b.cost.back().peak = std::max(b.cost.back().peak, b.cost.back().impact);
    all.cost.insert(all.cost.end(), b.cost.begin(), b.cost.end());
    for (const precedence& e : b.edges) all.edges.push_back({e.before + first, e.after + first});
    all.edges.push_back({0, first});
    all.edges.push_back({last, 1});
  }
  return make_schedule_graph(std::move(all)).value();
}

void section_9_4(double limit) {
  const schedule_graph g = four_blocks();
  std::printf(
      "\nSection 9.4: four blocks of 32 nodes (%zu nodes, %zu after compression)      peak    bound   seconds      states\n",
      g.size(), compressed(g).result.graph.size());
  const auto show = [&](const char* name, const policy& s) {
    const answer a = solve(g, limit, s);
    std::printf("%-72s %10llu %8llu %9.3f %11llu\n", name, static_cast<unsigned long long>(a.peak),
                static_cast<unsigned long long>(a.bound), a.seconds, static_cast<unsigned long long>(a.states));
  };
  std::printf("%-72s %10s %8s %9s\n", "paper, on a graph of its own: branch and bound", "499", "-", "600");
  std::printf("%-72s %10s %8s %9s\n", "paper, on a graph of its own: composition", "394", "394", "5");
  show("ours: branch and bound by the paper's rules", branch_and_bound{.remember = false, .cuts = false});
  show("ours: composition, branch and bound by the paper's rules",
       fradet_scheduler{.engine = {.remember = false, .cuts = false}});
  show("ours: branch and bound that remembers and stops at a cut", branch_and_bound{});
  show("ours: fradet", fradet);
}

void random_graphs(double limit) {
  std::printf("\nNodes after compression, family: proven within %.0f s and 1 GiB, longest seconds of those\n", limit);
  const std::pair<const char*, policy> policies[] = {
      {"branch_and_bound", branch_and_bound{}}, {"dp", dp{}}, {"best_first", best_first{}}};
  std::printf("%-22s", "");
  for (const auto& [name, s] : policies) std::printf(" %26s", name);
  std::printf("\n");
  const std::pair<task_graphs::family, const char*> families[] = {{task_graphs::family::uniform, "uniform"},
                                                                  {task_graphs::family::windowed, "windowed"},
                                                                  {task_graphs::family::layered, "layered"}};
  for (auto [nodes, graphs] : {std::pair(50, 8), std::pair(100, 4), std::pair(200, 3)})
    for (const auto& [kind, family] : families) {
      std::vector<schedule_graph> cores;
      for (int seed = 0; seed < graphs; ++seed)
        cores.push_back(core(kind, static_cast<std::uint64_t>(seed), static_cast<std::size_t>(nodes)));
      std::printf("%5d %-16s", nodes, family);
      for (const auto& [name, s] : policies) {
        int proven = 0;
        double longest = 0;
        for (const schedule_graph& g : cores) {
          const answer a = solve(g, limit, s);
          if (a.proven()) ++proven, longest = std::max(longest, a.seconds);
        }
        std::printf(" %10d of %d %9.4f s", proven, graphs, longest);
        std::fflush(stdout);
      }
      std::printf("\n");
    }
}

/// Prints the nodes that the rules leave of every network that the program has built in, where operators may work in place.
void networks_left() {
  std::printf("\nNodes left after compress, active and releases that run by themselves; real models: ./dev test models\n");
  std::printf("%-26s %10s %10s %10s %10s %12s\n", "network", "operators", "nodes", "left", "active", "seconds");
  for (const networks::network& n : networks::all()) {
    const auto draft = networks::make(n.name);
    const problem p = make_problem(draft.value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const compression c = compressed(g);
    std::printf("%-26s %10zu %10zu %10zu %10zu %12.6f\n", n.name.c_str(), p.ops().size(), g.size(), c.result.graph.size(),
                c.result.graph.active, c.seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 10;
  figure_1();
  tables_1_and_2();
  scaling();
  networks_left();
  section_9_4(std::min(limit, 5.0));
  random_graphs(limit);
}
