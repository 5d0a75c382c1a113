// Looks for false claims: asks exact schedulers, passes and bounds about small random graphs whose optimum is known by
// enumeration, until a time is over or enough questions are asked. A fault is shrunk and printed, and the exit status is
// then 1.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "printed.hpp"
#include "question_limit.hpp"
#include "questions.hpp"
#include "table.hpp"

namespace {

using namespace claims;

constexpr std::uint32_t questions_per_graph = 20;

options model_of(std::uint64_t seed) {
  options o;
  if (seed % 3 == 1) o.in_place = false;
  if (seed % 3 == 2) o.default_firing = firing::cbp;
  return o;
}

/// A graph with what the oracles say of it.
struct known_graph {
  problem p;
  options o;
  schedule_graph g;
  bytes optimum;

  known_graph(problem given, std::uint64_t seed)
      : p(std::move(given)), o(model_of(seed)), g(make_schedule_graph(p, o.model())), optimum(optimum_of(p, o.model())) {}
};

/// The fault of the answer to one question about a graph; question 0 is what the oracles say of each other. Each has as much
/// time, those about smaller graphs with the same fault, too.
complaint fault_of(const known_graph& k, std::uint64_t graph_seed, std::uint64_t question, std::string& asked) {
  limit_question(30);
  const auto& [p, o, g, optimum] = k;
  if (question > 0) return ask({p, o, g, optimum}, graph_seed * 1000003 + question, asked);
  asked += " dp without bounds, and the schedule graph by enumeration";
  search c(o);
  const solution s = dp{}(g, c);
  if (s.lower_bound != optimum) return "dp " + std::to_string(s.lower_bound) + ", by tensors " + std::to_string(optimum);
  if (!claims::detail::is_order(g, s.order)) return "dp's order is none";
  if (peak_of(g, s.order) != optimum) return "dp's order " + std::to_string(peak_of(g, s.order));
  if (evaluate(p, s.order, o.model()).value().peak != optimum) return "dp's order by the referee";
  if (optimum_of(g, optimum) != optimum) return "the schedule graph " + std::to_string(*optimum_of(g));
  return std::nullopt;
}

/// Prints a finding with a graph as small as it can be made.
void report(const table& t, std::uint64_t graph_seed, std::uint64_t question) {
  const table small = shrunk(t, [&](const table& x) {
    std::string asked;
    auto p = problem_of(x);
    return p && fault_of({std::move(*p), graph_seed}, graph_seed, question, asked);
  });
  std::string asked;
  const complaint c = fault_of({*problem_of(small), graph_seed}, graph_seed, question, asked);
  const char* const models[] = {"pbc", "pbc --no-inplace", "cbp"};
  std::printf("FALSE: seed %llu, question %llu:%s: %s (%zu operators, %s)\n%s\n",
              static_cast<unsigned long long>(graph_seed), static_cast<unsigned long long>(question), asked.c_str(),
              c ? c->c_str() : "gone", small.ops.size(), models[graph_seed % 3], to_json(small).c_str());
  std::fflush(stdout);
}

std::uint64_t seed_now = 0, question_now = 0;

/// A question without an end is a finding, too; it is not shrunk.
void no_end(int) {
  std::printf("NO END: seed %llu, question %llu\n", static_cast<unsigned long long>(seed_now),
              static_cast<unsigned long long>(question_now));
  std::fflush(stdout);
  _exit(1);
}

volatile std::sig_atomic_t ended = 0;

/// A run that is interrupted says how far it came.
void interrupt(int) { ended = 1; }

int usage() {
  std::fprintf(stderr, "usage: claims [--seconds N] [--runs N] [--seed N] [--findings N]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 100000, seed = 1, most_findings = 1;
  double seconds = 0;
  for (int i = 1; i < argc; i += 2) {
    char* end = nullptr;
    const double value = i + 1 < argc ? std::strtod(argv[i + 1], &end) : -1;
    if (value < 0 || *end != 0) return usage();
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = value;
    else if (std::strcmp(argv[i], "--runs") == 0) runs = static_cast<std::uint64_t>(value);
    else if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<std::uint64_t>(value);
    else if (std::strcmp(argv[i], "--findings") == 0) most_findings = static_cast<std::uint64_t>(value);
    else return usage();
  }
  std::signal(SIGVTALRM, no_end);
  for (int s : {SIGINT, SIGTERM}) std::signal(s, interrupt);
  const auto start = std::chrono::steady_clock::now();
  const auto now = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::uint64_t asked_so_far = 0, graphs = 0, findings = 0;
  const auto go_on = [&] { return ended == 0 && (seconds > 0 ? now() < seconds : asked_so_far < runs); };
  for (; findings < most_findings && go_on(); ++seed, ++graphs) {
    claims::random r(seed);
    const table t = random_table(r);
    const known_graph known(problem_of(t).value(), seed);
    for (std::uint64_t question = 0; question <= questions_per_graph && findings < most_findings;
         ++question, ++asked_so_far) {
      std::string asked;
      seed_now = seed, question_now = question;
      if (!fault_of(known, seed, question, asked)) continue;
      ++findings;
      report(t, seed, question);
    }
  }
  std::printf("%llu graphs, %llu runs, %llu findings, %.1f s, next seed %llu\n", static_cast<unsigned long long>(graphs),
              static_cast<unsigned long long>(asked_so_far), static_cast<unsigned long long>(findings), now(),
              static_cast<unsigned long long>(seed));
  return findings > 0;
}
