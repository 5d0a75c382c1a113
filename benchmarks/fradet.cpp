// Fradet, Girault, Honorat: their tables beside ours. bench_fradet [seconds for each search of the last table]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <networks/task_graphs.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/schedulers/fradet.hpp>

using namespace memsched;

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) { return std::chrono::duration<double>(clock_type::now() - start).count(); }

/// The best time of several runs of f, at most about a second in all.
template <class F>
double best_time(F&& f) {
  double best = 1e9;
  const auto start = clock_type::now();
  for (int i = 0; i < 20 && (i == 0 || seconds_since(start) < 1); ++i) {
    const auto begin = clock_type::now();
    f();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

struct compression {
  compressed_graph result;
  double seconds;
};
compression compressed(const schedule_graph& g) {
  compression c;
  c.seconds = best_time([&] {
    const options o;
    search context(o);
    c.result = compress{}.reduce(g, context);
  });
  return c;
}
std::string peak_text(const schedule_graph& g, const compressed_graph& c) {
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
  const options o{.time_limit = std::chrono::nanoseconds(static_cast<std::int64_t>(limit * 1e9))};
  search context(o);
  const auto start = clock_type::now();
  const solution found = s(g, context);
  const double seconds = seconds_since(start);
  const bytes peak = peak_of(g, found.order);
  return {peak, std::min(found.lower_bound, peak), seconds, context.stats.states};
}

void figure_1() {
  std::printf("Figure 1                   published  ours  order\n");
  for (auto [name, rule, published] : {std::tuple("cbp", firing::cbp, 8), std::tuple("pbc", firing::pbc, 10)}) {
    const schedule_graph g = make_schedule_graph(networks::figure_1(), rule).value();
    const options o;
    search context(o);
    const solution s = fradet(g, context);
    std::string order;
    for (node v : s.order) {
      if (!order.empty()) order += ';';
      order += static_cast<char>('A' + v);
    }
    std::printf("%-26s %9d %5llu  %s\n", name, published, static_cast<unsigned long long>(peak_of(g, s.order)), order.c_str());
  }
}

void tables_1_and_2() {
  struct row {
    const char* name;
    task_graph tasks;
    int peak;
    double seconds;
  };
  const auto bank = [](std::uint32_t low, std::uint32_t high, std::uint32_t depth) {
    return networks::expand(networks::filterbank(low, high, depth).graph());
  };
  std::printf("\nTables 1 and 2      tasks    peak: paper    ours   nodes left   seconds: paper     ours\n");
  for (const row& r : {row{"satellite, flat", networks::flat(networks::satellite()), 1680, 0.002},
                       row{"satellite", networks::expand(networks::satellite()), 960, 7.7}, row{"qmf23_2d", bank(2, 1, 2), 13, 0.007},
                       row{"qmf23_3d", bank(2, 1, 3), 31, 0.06}, row{"qmf23_5d", bank(2, 1, 5), 247, 6.7}, row{"qmf12_2d", bank(1, 1, 2), 7, 0.003},
                       row{"qmf12_3d", bank(1, 1, 3), 11, 0.009}, row{"qmf12_5d", bank(1, 1, 5), 35, 0.1}, row{"qmf235_2d", bank(2, 3, 2), 22, 0.03},
                       row{"qmf235_3d", bank(2, 3, 3), 47, 0.7}, row{"qmf235_5d", bank(2, 3, 5), 272, 802.5}}) {
    const schedule_graph g = make_schedule_graph(r.tasks).value();
    const compression c = compressed(g);
    std::printf("%-16s %8zu %14d %7s %12zu %16.3f %8.5f\n", r.name, g.size(), r.peak, peak_text(g, c.result).c_str(), c.result.graph.size(), r.seconds, c.seconds);
  }
}

void scaling() {
  std::printf("\nCompression of filterbanks of 2/5 and 3/5      tasks   nodes left   seconds   microseconds a task\n");
  for (std::uint32_t depth = 3; depth <= 7; ++depth) {
    const schedule_graph g = make_schedule_graph(networks::expand(networks::filterbank(2, 3, depth).graph())).value();
    const compression c = compressed(g);
    std::printf("%52zu %12zu %9.4f %21.3f\n", g.size(), c.result.graph.size(), c.seconds, c.seconds * 1e6 / static_cast<double>(g.size()));
  }
}

/// A graph that the rules cannot reduce, of about `nodes` nodes: what they leave of a random one.
schedule_graph core(networks::family kind, std::uint64_t seed, std::size_t nodes) {
  schedule_graph g;
  for (std::uint32_t tasks = static_cast<std::uint32_t>(nodes); g.size() < nodes; tasks += tasks / 10 + 1) {
    const options o;
    search context(o);
    g = compress{}.reduce(make_schedule_graph(networks::random_tasks(kind, seed, tasks)).value(), context).graph;
  }
  return g;
}

/// A core with one source and one sink and exactly 32 nodes, as costs; the first from `seed` on.
cost_graph block(std::uint64_t& seed) {
  for (;; ++seed) {
    task_graph t = networks::random_tasks(networks::family::uniform, seed, 45);
    std::vector<bool> read(t.tasks, false);
    for (const channel& c : t.channels) read[c.from] = true;
    for (node v = 0; v < 45; ++v)
      if (!read[v]) t.channels.push_back({v, 45, 10 + v % 7});
    t.tasks = 46;
    const options o;
    search context(o);
    const schedule_graph g = compress{}.reduce(make_schedule_graph(t).value(), context).graph;
    if (g.size() != 32 || g.active != 32) continue;
    cost_graph c;
    c.cost = g.cost;
    for (node v = 0; v < 32; ++v)
      for (node u : g.preds[v]) c.edges.push_back({u, v});
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
    const node first = static_cast<node>(all.cost.size()), last = first + 31;
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
  std::printf("\nSection 9.4: four blocks of 32 nodes (%zu nodes, %zu after compression)      peak    bound   seconds      states\n", g.size(),
              compressed(g).result.graph.size());
  const auto show = [&](const char* name, const policy& s) {
    const answer a = solve(g, limit, s);
    std::printf("%-72s %10llu %8llu %9.3f %11llu\n", name, static_cast<unsigned long long>(a.peak), static_cast<unsigned long long>(a.bound),
                a.seconds, static_cast<unsigned long long>(a.states));
  };
  std::printf("%-72s %10s %8s %9s\n", "paper, on a graph of its own: branch and bound", "499", "-", "600");
  std::printf("%-72s %10s %8s %9s\n", "paper, on a graph of its own: composition", "394", "394", "5");
  show("ours: branch and bound by the paper's rules", branch_and_bound{.remember = false, .cuts = false});
  show("ours: composition, branch and bound by the paper's rules", fradet_scheduler{.engine = {.remember = false, .cuts = false}});
  show("ours: branch and bound that remembers and stops at a cut", branch_and_bound{});
  show("ours: fradet", fradet);
}

void random_graphs(double limit) {
  std::printf("\nNodes after compression, family: proven within %.0f s of 8 graphs, longest seconds of those\n", limit);
  std::printf("%-22s %26s %26s %26s\n", "", "branch_and_bound, paper's", "fradet", "best_first");
  const std::pair<networks::family, const char*> families[] = {
      {networks::family::uniform, "uniform"}, {networks::family::windowed, "windowed"}, {networks::family::layered, "layered"}};
  const policy policies[] = {branch_and_bound{.remember = false, .cuts = false}, fradet, automatic};
  for (std::size_t nodes : {50, 100, 200})
    for (const auto& [kind, name] : families) {
      std::printf("%5zu %-16s", nodes, name);
      for (const policy& s : policies) {
        int proven = 0;
        double longest = 0;
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
          const answer a = solve(core(kind, seed, nodes), limit, s);
          if (a.proven()) ++proven, longest = std::max(longest, a.seconds);
        }
        std::printf(" %16d %9.4f", proven, longest);
        std::fflush(stdout);
      }
      std::printf("\n");
    }
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 10;
  figure_1();
  tables_1_and_2();
  scaling();
  section_9_4(limit);
  random_graphs(limit);
}
