// The tables of Zhong et al. beside ours. Theirs were made with Gurobi, ours with Cbc, whose integer programming is slower by
// one or two orders of magnitude; and with the authors' graphs, of which only HRNet's can be had again in full.
#include <chrono>
#include <cstdio>
#include <memsched/adapters/cbc.hpp>
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/time_indexed.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#include <memsched/schedule.hpp>
#include <string>

#include "networks/networks.hpp"

namespace {

using namespace memsched;

struct published {
  const char* name;
  const char* network;
  int rpo, hmcos, theirs;                   // KiB, Table II
  const char *hmcos_seconds, *their_seconds;  // Table III
};

constexpr published table[] = {
    {"NASNet-A", "nasnet-imagenet", 4405, 3943, 3943, "1.51", "4.62"},
    {"AmoebaNet-A", "amoebanet-imagenet", 10510, 7732, 7732, "0.80", "0.11"},
    {"Darts", "darts-imagenet", 1764, 1764, 1764, "0.18", "0.09"},
    {"Randwire1", "randwire:1", 5494, 4538, 4538, "73", "23"},
    {"Randwire2", "randwire:2", 6927, 6210, 6210, "25.04", "17.09"},
    {"Randwire3", "randwire:3", 5255, 4777, 4777, "1.39", "1.22"},
    {"HRNet-W18-V1", "hrnet-w18-small-v1", 7936, 7936, 6368, "30000+", "0.96"},
    {"HRNet-W18-V2", "hrnet-w18-small-v2", 7936, 7752, 6432, "30000+", "5.01"},
    {"HRNet-W32", "hrnet-w32", 7936, 7808, 7296, "30000+", "3.20"},
};

problem load(const char* network) { return check(networks::make(network).value()).value(); }

struct outcome {
  schedule_result<op_id> result;
  double seconds;
};

/// Nothing in place, as the paper counts.
template <class S>
outcome solve(const problem& p, const S& policy, double limit = 60) {
  const options o{.time_limit = std::chrono::milliseconds(static_cast<long>(1000 * limit)), .in_place = false};
  const auto start = std::chrono::steady_clock::now();
  auto r = schedule(p, policy, o);
  return {std::move(r), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

double kib(bytes b) { return static_cast<double>(b) / 1024; }

std::string gap(const outcome& o) {
  const auto& r = o.result;
  if (r.peak == r.lower_bound) return "proven";
  char text[32];
  std::snprintf(text, sizeof text, "gap %.1f %%", 100 * static_cast<double>(r.peak - r.lower_bound) / static_cast<double>(r.peak));
  return text;
}

void print(const outcome& o) {
  if (o.result.error) std::printf(" | %s", o.result.error->message.c_str());
  else std::printf(" | %7.0f %6.2f s %-11s", kib(o.result.peak), o.seconds, gap(o).c_str());
  std::fflush(stdout);
}

void tables_2_and_3() {
  std::puts("Tables II and III: peaks in KiB and seconds. HMCOS and theirs: as published (Gurobi). Of the first six networks the\n"
            "authors' graphs are not known: compare each row within itself.");
  std::printf("%-13s %25s | %13s | %13s | %27s | %27s | %s\n", "", "published: RPO HMCOS theirs", "HMCOS, theirs s", "our RPO", "ours, 4 parts",
              "ours, 1 part", "optimum");
  for (const published& row : table) {
    const problem p = load(row.network);
    std::printf("%-13s %9d %7d %7d | %7s %7s", row.name, row.rpo, row.hmcos, row.theirs, row.hmcos_seconds, row.their_seconds);
    std::printf(" | %13.0f", kib(solve(p, rpo{}).result.peak));
    print(solve(p, fuse{} | partition{{.parts = 4}} | ilp<cbc>{}));
    print(solve(p, fuse{} | partition{{.parts = 1}} | ilp<cbc>{}));
    std::printf(" | %.0f\n", kib(solve(p, automatic).result.peak));
  }
}

/// Passes a program on and notes its size.
struct counting_cbc {
  std::size_t* variables;
  milp_answer operator()(const milp_model& m, const milp_request& r) const {
    *variables = std::max(*variables, m.variables());
    return cbc{}(m, r);
  }
};

constexpr memsched::index ablation_parts = 6;
constexpr double ablation_limit = 30;

template <class Front>
void ablation_cell(const problem& p, const Front& front, bool pruning) {
  std::size_t variables = 0;
  const ilp<counting_cbc, time_indexed> policy{.solver = {&variables}, .formulate = {.pruning = pruning}, .warm = false, .most_rows = 60000};
  const outcome o = solve(p, front | policy, ablation_limit);
  std::printf(" | %7zu %6.1f s %5.0f", variables, o.seconds, kib(o.result.peak));
  std::fflush(stdout);
}

void table_4() {
  std::printf("\nTable IV: the paper's program alone (no heuristics, no bounds): most variables of a part, seconds (limit %.0f), KiB.\n"
              "0 variables: too large to be built. Published (V, s): NASNet 2903 >3600, 402 213, 590 1.47; Randwire 21120 >3600,\n"
              "2292 >3600, 1809 1.75; HRNet 2511 >3600, 310 10.7, 277 0.96, for origin, partition, all\n", ablation_limit);
  std::printf("%-19s | %22s | %22s | %22s | %22s | %22s\n", "", "origin", "partition", "+ fusion", "+ pruning", "all");
  const partition parts{{.parts = ablation_parts}};
  for (const char* network : {"nasnet-imagenet", "randwire:1", "hrnet-w18-small-v1"}) {
    const problem p = load(network);
    std::printf("%-19s", network);
    ablation_cell(p, partition{{.parts = 1}}, false);
    ablation_cell(p, parts, false);
    ablation_cell(p, fuse{} | parts, false);
    ablation_cell(p, parts, true);
    ablation_cell(p, fuse{} | parts, true);
    std::puts("");
  }
}

template <class F>
void formulation_cell(const problem& p, bool warm) {
  std::size_t variables = 0;
  const ilp<counting_cbc, F> policy{.solver = {&variables}, .warm = warm, .probing = false};
  const outcome o = solve(p, fuse{} | partition{{.parts = ablation_parts}} | policy, ablation_limit);
  std::printf(" | %6zu %6.1f s %5.0f", variables, o.seconds, kib(o.result.peak));
  std::fflush(stdout);
}

void formulations() {
  std::printf("\nTwo formulations, %u parts, Cbc, limit %.0f s: variables, seconds, KiB. Cold: without heuristics and bounds.\n",
              ablation_parts, ablation_limit);
  std::printf("%-13s | %21s | %21s | %21s | %21s\n", "", "steps, cold", "nested sets, cold", "steps", "nested sets");
  for (const published& row : table) {
    const problem p = load(row.network);
    std::printf("%-13s", row.name);
    formulation_cell<time_indexed>(p, false);
    formulation_cell<nested_sets>(p, false);
    formulation_cell<time_indexed>(p, true);
    formulation_cell<nested_sets>(p, true);
    std::puts("");
  }
}

void tables_5_and_6() {
  std::puts("\nTable V: KiB in 4 parts, each part scheduled by the optimal scheduler. Published: naive 1.8 to 12.6 % above, by memory\n"
            "0 to 0.6 %");
  std::printf("%-13s %9s %9s %9s\n", "", "optimal", "naive", "by memory");
  for (const published& row : table) {
    const problem p = load(row.network);
    std::printf("%-13s %9.0f %9.0f %9.0f\n", row.name, kib(solve(p, automatic).result.peak),
                kib(solve(p, fuse{} | partition{{.parts = 4, .naive = true}} | automatic_scheduler{}).result.peak),
                kib(solve(p, fuse{} | partition{{.parts = 4}} | automatic_scheduler{}).result.peak));
  }
  std::puts("\nTable VI: parts, KiB, seconds. Published: HRNet-W18-V1 6368 in 1 to 5 parts (/, 2832, 64, 1.12, 0.63 s), 6400 in 6\n"
            "(0.17 s); NASNet-A 3943 in 1 to 6 parts (155, 41.6, 61.7, 39.4, 31, 5.01 s)");
  for (const char* network : {"hrnet-w18-small-v1", "nasnet-imagenet"}) {
    const problem p = load(network);
    std::printf("%-19s", network);
    for (memsched::index k = 1; k <= 6; ++k) {
      const outcome o = solve(p, fuse{} | partition{{.parts = k}} | ilp<cbc>{});
      std::printf(" | %u: %5.0f %6.2f s", k, kib(o.result.peak), o.seconds);
      std::fflush(stdout);
    }
    std::puts("");
  }
}

void figure_9() {
  std::puts("\nFigure 9: operators left. Published: up to 6 times fewer than the original, 4 times fewer than HMCOS's sequences");
  std::printf("%-13s %9s %9s %6s\n", "", "original", "fused", "times");
  for (const published& row : table) {
    const problem p = load(row.network);
    const options o{.in_place = false};
    search context(o);
    const std::size_t left = fuse{}.apply(make_schedule_graph(p, o.model()), context).graph.active;
    std::printf("%-13s %9zu %9zu %6.1f\n", row.name, p.ops().size(), left, static_cast<double>(p.ops().size()) / static_cast<double>(left));
  }
}

void partitions() {
  std::puts("\nPartitioning into 8 parts: operators, bytes live at the borders by memory and naive, seconds");
  for (const char* network : {"windowed:100000:30", "layered:1000:100", "series_parallel:100000", "watts_strogatz:20000"}) {
    const schedule_graph g = make_schedule_graph(load(network));
    const auto start = std::chrono::steady_clock::now();
    const node_parts parts = acyclic_partition(g, {.parts = 8});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-24s %7zu %12llu %12llu %6.2f s\n", network, g.active, static_cast<unsigned long long>(cut_bytes(g, parts, 8)),
                static_cast<unsigned long long>(cut_bytes(g, acyclic_partition(g, {.parts = 8, .naive = true}), 8)), seconds);
  }
}

}  // namespace

int main() {
  tables_2_and_3();
  figure_9();
  tables_5_and_6();
  partitions();
  formulations();
  table_4();
}
