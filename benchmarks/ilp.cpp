// The tables of Zhong et al. beside ours. Theirs were made with Gurobi, ours with Cbc, whose integer programming is slower
// by one or two orders of magnitude; and with the authors' graphs, of which only HRNet's can be had again in full.
#include <chrono>
#include <cstdio>
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/ilp/time_indexed.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/hierarchical.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/structure/hierarchy.hpp>
#include <string>

#include "networks/networks.hpp"

namespace {

using namespace memsched;
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }
double kib(bytes b) { return static_cast<double>(b) / 1024; }
problem load(const char* network) { return make_problem(networks::make(network).value()).value(); }

struct published {
  const char* name;
  const char* network;
  int rpo, serenity, hmcos, theirs;           // KiB, Table II
  const char *hmcos_seconds, *their_seconds;  // Table III
  int optimal, naive, by_memory;              // KiB, Table V; 0 for none
};

constexpr published table[] = {
    {"NASNet-A", "nasnet-imagenet", 4405, 4405, 3943, 3943, "1.51", "4.62", 3943, 4013, 3943},
    {"AmoebaNet-A", "amoebanet-imagenet", 10510, 10510, 7732, 7732, "0.80", "0.11", 7732, 7962, 7732},
    {"Darts", "darts-imagenet", 1764, 1764, 1764, 1764, "0.18", "0.09", 1764, 1764, 1764},
    {"Randwire1", "randwire:1", 5494, 5494, 4538, 4538, "73", "23", 0, 0, 0},
    {"Randwire2", "randwire:2", 6927, 6927, 6210, 6210, "25.04", "17.09", 0, 0, 0},
    {"Randwire3", "randwire:3", 5255, 5255, 4777, 4777, "1.39", "1.22", 0, 0, 0},
    {"HRNet-W18-V1", "hrnet-w18-small-v1", 7936, 7936, 7936, 6368, "30000+", "0.96", 6368, 7168, 6368},
    {"HRNet-W18-V2", "hrnet-w18-small-v2", 7936, 7936, 7752, 6432, "30000+", "5.01", 6396, 6900, 6432},
    {"HRNet-W32", "hrnet-w32", 7936, 7936, 7808, 7296, "30000+", "3.20", 6368, 7040, 6368},
};

struct outcome {
  schedule_result<op_id> result;
  double seconds;
};

/// Nothing in place, as the paper counts.
template <class S>
outcome solve(const problem& p, const S& policy, double limit = 60) {
  const options o{.time_limit = std::chrono::milliseconds(static_cast<long>(1000 * limit)), .in_place = false};
  const auto start = clock::now();
  auto r = schedule(p, policy, o);
  return {std::move(r), seconds_since(start)};
}

std::string verdict(const schedule_result<op_id>& r) {
  if (r.peak == r.lower_bound) return "proven";
  char text[32];
  std::snprintf(text, sizeof text, "gap %.1f%%", 100 * (kib(r.peak) - kib(r.lower_bound)) / kib(r.peak));
  return text;
}

void print(const outcome& o) {
  if (o.result.error) std::printf(" | %s", o.result.error->message.c_str());
  else std::printf(" | %5.0f %6.2f %-9s", kib(o.result.peak), o.seconds, verdict(o.result).c_str());
  std::fflush(stdout);
}

void tables_2_and_3() {
  std::puts(
      "Tables II and III: KiB and seconds. Published times are Gurobi's, ours Cbc's. Of the first six networks the\n"
      "authors' graphs are not known: compare those rows within themselves. With several parts the bound is that of\n"
      "minimum cuts alone. The optimum is what memsched's own search proves.");
  std::printf("%-12s | %39s | %19s | %22s | %22s | %22s | %22s |\n", "", "published: KiB and seconds", "ours",
              "fuse, 4 parts, ilp", "fuse, 1 part, ilp", "compressed, 4 parts", "compressed, 1 part");
  std::printf("%-12s | %5s %5s %5s %5s  %7s %6s | %5s %5s %7s |%24s|%24s|%24s|%24s| %s\n", "", "RPO", "SER", "HMC", "ours",
              "HMC s", "ours s", "RPO", "HMC", "HMC s", "", "", "", "", "optimum");
  for (const published& row : table) {
    const problem p = load(row.network);
    const outcome hierarchy = solve(p, hmcos);
    std::printf("%-12s | %5d %5d %5d %5d  %7s %6s | %5.0f %5.0f %7.4f", row.name, row.rpo, row.serenity, row.hmcos,
                row.theirs, row.hmcos_seconds, row.their_seconds, kib(solve(p, rpo{}).result.peak),
                kib(hierarchy.result.peak), hierarchy.seconds);
    print(solve(p, fuse{} | partition{{.parts = 4}} | ilp<cbc>{}));
    print(solve(p, fuse{} | partition{{.parts = 1}} | ilp<cbc>{}));
    print(solve(p, compress{} | fuse{} | partition{{.parts = 4}} | ilp<cbc>{}));
    print(solve(p, compress{} | fuse{} | partition{{.parts = 1}} | ilp<cbc>{}));
    std::printf(" | %5.0f\n", kib(solve(p, automatic).result.peak));
    std::fflush(stdout);
  }
}

/// Passes programs on and notes the size of the largest.
struct counting_cbc {
  std::size_t* variables;
  milp_answer operator()(const milp_model& m, const milp_request& r) const {
    *variables = std::max(*variables, m.variables());
    return cbc{}(m, r);
  }
};

/// Variables of the largest program, seconds (with ">" where the limit ended it), KiB.
template <class Front, formulation F>
void program_cell(const problem& p, const Front& front, ilp<counting_cbc, F> policy, double limit) {
  std::size_t variables = 0;
  policy.solver = {&variables};
  const outcome o = solve(p, front | policy, limit);
  const char* more = o.result.stopped == stop_reason::finished ? "" : ">";
  char time[32];
  std::snprintf(time, sizeof time, "%s%.2f", more, o.seconds);
  std::printf(" | %6zu %6s %5.0f", variables, time, kib(o.result.peak));
  std::fflush(stdout);
}

constexpr memsched::index_t ablation_parts = 6;
constexpr double ablation_limit = 10;

void table_4() {
  const partition in_parts{.shape = {.parts = ablation_parts}, .max_cut_nodes = 0};  // no bound
  struct {
    const char* network;
    const char* published[5];  // variables and seconds: origin, partition, + fusion, + pruning, all
  } const rows[] = {
      {"nasnet-imagenet", {"- >3600", "2903 213", "402 4.84", "2837 210", "590 1.47"}},
      {"randwire:1", {"- >3600", "21120 >3600", "2292 16", "9527 >3600", "1809 1.75"}},
      {"hrnet-w18-small-v1", {"- >3600", "2511 10.7", "310 2.7", "758 3.9", "277 0.96"}},
  };
  std::printf(
      "\nTable IV: the paper's program alone, without heuristics, bounds and probing; %u parts; limit %.0f s. Published\n"
      "(Gurobi): variables, seconds. Ours (Cbc): variables of the largest program, seconds, KiB. Published columns are as\n"
      "printed, with more variables for NASNet by all than by fusion alone. Where Cbc is stopped before it has an order of\n"
      "its own, the KiB are post-order's. 0 variables: more rows than Cbc is given here.\n",
      ablation_parts, ablation_limit);
  for (const auto& row : rows) {
    const problem p = load(row.network);
    const auto cell = [&](int i, const char* name, const auto& front, bool pruning) {
      std::printf("%-19s %-12s | %12s", i == 0 ? row.network : "", name, row.published[i]);
      const ilp<counting_cbc, time_indexed> policy{.formulate = {.pruning = pruning}, .warm = false, .most_rows = 300'000};
      program_cell(p, front, policy, ablation_limit);
      std::puts("");
    };
    cell(0, "origin", partition{{.parts = 1}}, false);
    cell(1, "partition", in_parts, false);
    cell(2, "+ fusion", fuse{} | in_parts, false);
    cell(3, "+ pruning", in_parts, true);
    cell(4, "all", fuse{} | in_parts, true);
  }
}

void formulations() {
  const partition in_parts{.shape = {.parts = ablation_parts}};
  std::printf(
      "\nTwo formulations, fused, %u parts, Cbc, limit %.0f s: variables, seconds, KiB. Cold: without heuristics and\n"
      "bounds. Warm: heuristics and minimum cuts. Probed: climbing from the bound of probing.\n",
      ablation_parts, ablation_limit);
  std::printf("%-13s | %20s | %20s | %20s | %20s | %20s | %20s\n", "", "steps, cold", "nested sets, cold", "steps, warm",
              "nested sets, warm", "steps, probed", "nested sets, probed");
  for (const char* network : {"nasnet-imagenet", "amoebanet-imagenet", "randwire:1", "hrnet-w18-small-v1"}) {
    const problem p = load(network);
    std::printf("%-13.13s", network);
    for (const auto& [warm, probing] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
      program_cell(p, fuse{} | in_parts, ilp<counting_cbc, time_indexed>{.warm = warm, .probing = probing}, ablation_limit);
      program_cell(p, fuse{} | in_parts, ilp<counting_cbc, nested_sets>{.warm = warm, .probing = probing}, ablation_limit);
    }
    std::puts("");
  }
}

void table_5() {
  std::puts("\nTable V: KiB in 4 parts, each part scheduled by the optimal scheduler, published and ours");
  std::printf("%-13s | %8s %8s %9s | %8s %8s %9s\n", "", "optimal", "naive", "by memory", "optimal", "naive", "by memory");
  for (const published& row : table) {
    const problem p = load(row.network);
    std::printf("%-13s |", row.name);
    if (row.optimal > 0) std::printf(" %8d %8d %9d", row.optimal, row.naive, row.by_memory);
    else std::printf(" %8s %8s %9s", "-", "-", "-");
    std::printf(" | %8.0f %8.0f %9.0f\n", kib(solve(p, automatic).result.peak),
                kib(solve(p, fuse{} | partition{{.parts = 4, .naive = true}} | automatic_scheduler{}).result.peak),
                kib(solve(p, fuse{} | partition{{.parts = 4}} | automatic_scheduler{}).result.peak));
  }
}

void table_6() {
  struct {
    const char* network;
    int peaks[6];
    const char* seconds[6];
  } const rows[] = {
      {"hrnet-w18-small-v1", {6368, 6368, 6368, 6368, 6368, 6400}, {"/", "2832", "64", "1.12", "0.63", "0.17"}},
      {"nasnet-imagenet", {3943, 3943, 3943, 3943, 3943, 3943}, {"155", "41.6", "61.7", "39.4", "31", "5.01"}},
  };
  std::puts("\nTable VI: KiB and seconds by parts, published (Gurobi) and ours (Cbc)");
  for (const auto& row : rows) {
    const problem p = load(row.network);
    for (memsched::index_t k = 1; k <= 6; ++k) {
      std::printf("%-19s %u | %5d %5s", k == 1 ? row.network : "", k, row.peaks[k - 1], row.seconds[k - 1]);
      print(solve(p, fuse{} | partition{{.parts = k}} | ilp<cbc>{}));
      std::puts("");
    }
  }
}

void figure_9() {
  std::puts(
      "\nFigure 9: operators left, and how many times fewer. Published: up to 6 times fewer than the original, up to 4\n"
      "times fewer than HMCOS's sequences. Here a convolution with its normalization and activation is one operator.");
  std::printf("%-13s %9s %9s %9s %16s %16s | %22s\n", "", "original", "sequences", "fused", "original/fused",
              "sequences/fused", "compressed, then fused");
  for (const published& row : table) {
    const problem p = load(row.network);
    const options o{.in_place = false};
    search context(o);
    const schedule_graph g = make_schedule_graph(p, o.model());
    const std::size_t sequences = structure::find_sequences(g).size(), left = fuse{}.apply(g, context).graph.active;
    const std::size_t small = fuse{}.apply(presolve::compressed(g, context).graph, context).graph.active;
    const auto times = [&](std::size_t n) { return static_cast<double>(n) / static_cast<double>(left); };
    std::printf("%-13s %9zu %9zu %9zu %16.1f %16.1f | %22zu\n", row.name, g.active, sequences, left, times(g.active),
                times(sequences), small);
  }
}

void partitions() {
  std::puts("\nPartitioning into 8 parts: operators, bytes live at the borders by memory and naive, seconds");
  for (const char* network : {"windowed:100000:30", "layered:1000:100", "series_parallel:100000", "watts_strogatz:20000"}) {
    const schedule_graph g = make_schedule_graph(load(network));
    const auto start = clock::now();
    const structure::node_parts parts = structure::acyclic_partition(g, {.parts = 8});
    const double seconds = seconds_since(start);
    const bytes by_memory = structure::cut_bytes(g, parts, 8);
    const bytes naive = structure::cut_bytes(g, structure::acyclic_partition(g, {.parts = 8, .naive = true}), 8);
    std::printf("%-24s %7zu %12llu %12llu %6.2f s\n", network, g.active, static_cast<unsigned long long>(by_memory),
                static_cast<unsigned long long>(naive), seconds);
    std::fflush(stdout);
  }
}

}  // namespace

int main() {
  tables_2_and_3();
  figure_9();
  table_5();
  table_6();
  partitions();
  formulations();
  table_4();
}
