// Extra cost of schedules with reruns beside what Checkmate and Moccasin report (Bartan et al., ICML 2023, table of their
// poster; 16 cores, limits of half an hour to an hour). The graphs are theirs and not part of the repository: a folder of them
// as JSON is named by MEMSCHED_RECOMPUTE_GRAPHS. Training steps of transformers of our own come first, which need no file.
// usage: bench_recompute [SECONDS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <memsched/proof/check_recompute.hpp>
#include <memsched/recompute.hpp>
#include <memsched/structure/list_schedule.hpp>
#include <networks/networks.hpp>

#ifdef MEMSCHED_HAS_CBC
#include <memsched/ilp/reruns.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#endif

#include "graph_files.hpp"

using namespace memsched;

namespace {

struct published {
  const char *graph, *checkmate, *moccasin;
  int percent;
};

/// Overhead in percent of the cost without reruns, and seconds; empty: not published.
constexpr published table[] = {
    {"rl100", "", "", 90},
    {"rl100", "", "", 80},
    {"rl250", "0.9, 685 s", "0.9, 55 s", 90},
    {"rl250", "none", "4.9, 640 s", 80},
    {"rl1000", "none", "0.7, 3613 s", 90},
    {"rl1000", "none", "3.4, 3612 s", 80},
    {"fcn_8_vgg_train", "0.0, 6.3 s", "0.0, 3.1 s", 90},
    {"fcn_8_vgg_train", "0.1, 5.6 s", "0.1, 3.1 s", 80},
    {"resnet50_train", "0.1, 434 s", "0.2, 65 s", 90},
    {"resnet50_train", "0.3, 485 s", "0.3, 69 s", 80},
};

result<problem> read(const std::string& name) {
  return graph_files::read(graph_files::folder("MEMSCHED_RECOMPUTE_GRAPHS", "../shared/graphs/recompute") /
                           (name + ".json"));
}

/// A row of a table.
struct row {
  std::string text;
  bool open = false;  ///< there is a gap
};

/// One row: extra cost, share, bound, verdict, seconds; whether the checker accepts the proof; the loads where there are some.
template <rerun_policy P>
row solve(const problem& p, int percent, bool keep, const P& policy, double limit, const offload& moves = {}) {
  const auto order = structure::given_order(make_schedule_graph(p));
  options o;
  o.budget = (evaluate(p, order).value().peak * static_cast<bytes>(percent) + 99) / 100;
  o.time_limit = std::chrono::milliseconds(static_cast<long>(limit * 1000));
  const auto start = std::chrono::steady_clock::now();
  const auto r = keep ? recompute(p, keep_order{order}, policy, o, moves) : recompute(p, policy, o, moves);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool proven = r.proof.cases.empty() || check_recompute(p, {}, o.budget, r.proof, moves).empty();
  char text[200];
  std::snprintf(text, sizeof text, "%16llu %8.4f %%  bound %16llu  %-10s %6.2f s%s",
                static_cast<unsigned long long>(r.fits() ? r.extra_cost : 0),
                100.0 * static_cast<double>(r.extra_cost) / static_cast<double>(r.base_cost),
                static_cast<unsigned long long>(r.lower_bound), to_string(r.verdict()), took,
                proven ? "" : "  PROOF REFUSED");
  const bool open = r.verdict() == verdict::feasible;
  if (!moves) return {text, open};
  const std::size_t reruns = r.executions.size() - p.ops().size();
  return {text + ("  " + std::to_string(reruns) + " reruns, " + std::to_string(r.loads.size()) + " loads"), open};
}

std::string automatic_row(const problem& p, int percent, bool keep, double limit, const offload& moves = {}) {
  return solve(p, percent, keep, reruns::automatic, limit, moves).text;
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 5;
  for (const char* name : {"transformer_step:12:12", "transformer_step:96:14"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    std::printf("%s, %zu operators, any order, 2 s and %g s each\n", name, p.ops().size(), 6 * limit);
    for (const int percent : {90, 70, 50, 30})
      for (const double seconds : {2.0, 6 * limit}) {
        std::printf("  %d %%  %s\n", percent, automatic_row(p, percent, false, seconds).c_str());
        std::fflush(stdout);
      }
  }
  std::printf("\ntransformer_step:12:12 at 50 %%, where a unit of cost moves so many bytes, %g s each\n", limit);
  const problem step = make_problem(networks::make("transformer_step:12:12").value()).value();
  for (const bytes moved : {16'384ULL, 262'144ULL, 524'288ULL, 1'048'576ULL, 2'097'152ULL}) {
    std::printf("  %9llu  %s\n", static_cast<unsigned long long>(moved),
                automatic_row(step, 50, false, limit, {moved, moved}).c_str());
    std::fflush(stdout);
  }
  std::printf("\nbeside published overheads (%%, seconds), any order and with the order kept, %g s each\n", limit);
  for (const published& known : table) {
    const auto p = read(known.graph);
    if (!p) return std::fprintf(stderr, "%s\n", p.error().message.c_str()), 1;
    std::printf("%-16s %d %%  Checkmate %-11s Moccasin %-11s\n", known.graph, known.percent, known.checkmate,
                known.moccasin);
    for (const bool keep : {false, true})
      std::printf("  %-12s %s\n", keep ? "order kept" : "any order", automatic_row(*p, known.percent, keep, limit).c_str());
    std::fflush(stdout);
  }
  std::printf("\ntraining graphs, any order\n");
#ifdef MEMSCHED_HAS_CBC
  using namespace reruns;
  const auto by_program = within{0.4, order_first{} | repair{} | repair_by_prices{} | improve{}} | ilp<cbc>{};
#endif
  for (const char* name : {"vgg16_train", "vgg19_train", "fcn_8_vgg_train", "vgg_unet_train", "segnet_train",
                           "mobilenet_train", "resnet50_train", "gpt2_2l", "gpt2_12l"}) {
    const auto p = read(name);
    if (!p) return std::fprintf(stderr, "%s\n", p.error().message.c_str()), 1;
    for (const int percent : {90, 80, 70, 60, 50}) {
      const row found = solve(*p, percent, false, reruns::automatic, limit);
      std::printf("%-16s %d %%  %s\n", name, percent, found.text.c_str());
#ifdef MEMSCHED_HAS_CBC
      if (found.open) std::printf("  integer program     %s\n", solve(*p, percent, false, by_program, limit).text.c_str());
#endif
      std::fflush(stdout);
    }
  }
  return 0;
}
