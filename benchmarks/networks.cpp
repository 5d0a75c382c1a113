// Every network of a paper: what orders of several schedulers need, whether `automatic` finds the known optimum, and
// how long that takes. One thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <vector>

#include "timing.hpp"

namespace {

using memsched::bytes;
using memsched::problem;
using clock = std::chrono::steady_clock;
using result = memsched::schedule_result<memsched::op_id>;

unsigned long long number(bytes b) { return b; }

/// The answer of `automatic`, with the median time of five runs, from the checked problem to the checked order.
struct timed {
  result answer;
  double milliseconds;
};

timed measure(const problem& p, const memsched::options& o) {
  result answer;
  std::vector<double> took;
  for (int run = 0; run < 5; ++run) {
    const auto start = clock::now();
    answer = memsched::schedule(p, memsched::automatic, o);
    took.push_back(std::chrono::duration<double, std::milli>(clock::now() - start).count());
  }
  std::nth_element(took.begin(), took.begin() + 2, took.end());
  return {std::move(answer), took[2]};
}

struct summary {
  int rows = 0, proven = 0, wrong = 0;
  double slowest = 0;  // milliseconds
};

void print_row(const networks::network& about, bool in_place, summary& sum) {
  const problem p = memsched::make_problem(networks::make(about.name).value()).value();
  memsched::options o;
  o.in_place = in_place;
  const timed t = measure(p, o);
  const auto& known = in_place ? about.optimum : about.optimum_not_inplace;
  const bool equal = known && *known == t.answer.peak;
  const auto peak = [&](const auto& policy) { return number(memsched::schedule(p, policy, o).peak); };
  std::printf("%-20s %5zu %9llu %9llu %9llu %9llu | %9llu %9llu %-10s", about.name.c_str(), p.ops().size(),
              peak(memsched::as_given{}), peak(memsched::kahn{}), peak(memsched::rpo{}), peak(memsched::greedy{}),
              number(t.answer.peak), number(t.answer.lower_bound), to_string(t.answer.verdict()));
  if (known) {
    std::printf(" %9llu %-5s", number(*known), equal ? "equal" : "OTHER");
  } else {
    std::printf(" %9s %-5s", "", "");
  }
  std::printf(" %9.3f\n", t.milliseconds);
  ++sum.rows;
  sum.proven += t.answer.verdict() == memsched::verdict::optimal ? 1 : 0;
  sum.wrong += known && !equal ? 1 : 0;
  sum.slowest = std::max(sum.slowest, t.milliseconds);
}

}  // namespace

int main() {
  summary sum;
  for (const bool in_place : {true, false}) {
    std::printf(
        "%s: peaks in bytes; the time is the median of five runs of `automatic`.\n\n"
        "%-20s %5s %9s %9s %9s %9s | %9s %9s %-10s %9s %-5s %9s\n",
        in_place ? "In place where a network says so" : "\nNothing in place", "", "ops", "file", "kahn", "rpo", "greedy",
        "automatic", "bound", "verdict", "known", "", "ms");
    for (const networks::network& about : networks::all())
      if (about.optimum || about.name.starts_with("randwire")) print_row(about, in_place, sum);
  }
  std::printf(
      "\n%d of %d proven, %d other than the known optimum; slowest %.1f ms (target 100); "
      "peak resident memory %.1f MB (target 200)\n",
      sum.proven, sum.rows, sum.wrong, sum.slowest, timing::peak_bytes() / 1e6);
}
