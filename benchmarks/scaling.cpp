// How the steps that every call takes grow with the graph: lowering from a type of its own, the check, the schedule
// graph, the referee, and the cheap orders. One thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using memsched::bytes;
using memsched::index;
using memsched::problem;
using clock = std::chrono::steady_clock;

/// A graph as a compiler has it: addresses for handles, a list of values per operator.
struct ir {
  struct value {
    bytes size;
  };
  struct operation {
    std::vector<const value*> in, out;
  };
  std::vector<value> values;
  std::vector<operation> list;

  explicit ir(const problem& p) : list(p.ops().size()) {
    for (index t : p.tensors()) values.push_back({p.size(t)});
    for (index op : p.ops()) {
      for (index t : p.inputs(op)) list[op].in.push_back(&values[t]);
      for (index t : p.outputs(op)) list[op].out.push_back(&values[t]);
    }
  }
  std::vector<const operation*> ops() const {
    std::vector<const operation*> all;
    for (const operation& op : list) all.push_back(&op);
    return all;
  }
  const auto& inputs(const operation* op) const { return op->in; }
  const auto& outputs(const operation* op) const { return op->out; }
  bytes size(const value* v) const { return v->size; }
};

/// Shortest time of f(prepare()) in seconds, f alone, of at least three runs and of so many that they take 0.1 s.
template <class Prepare, class F>
double seconds(Prepare prepare, F f) {
  double best = 1e300, sum = 0;
  for (int run = 0; run < 3 || (sum < 0.1 && run < 1000); ++run) {
    auto input = prepare();
    const auto start = clock::now();
    const auto output = f(std::move(input));
    const double took = std::chrono::duration<double>(clock::now() - start).count();
    best = std::min(best, took);
    sum += took;
  }
  return best;
}

const std::vector<const char*> steps = {"lower", "check", "graph", "evaluate", "rpo", "kahn", "greedy", "as_given"};

std::vector<double> measure(const std::string& name) {
  const auto nothing = [] { return 0; };
  const memsched::problem_draft draft = networks::make(name).value();
  const problem p = memsched::check(draft).value();
  const ir graph(p);
  const memsched::schedule_graph g = memsched::make_schedule_graph(p);
  const memsched::options o;
  memsched::search context(o);
  const auto order = memsched::as_given{}(g, context).order;
  const auto scheduling = [&](auto scheduler) {
    return seconds(nothing, [&](int) { return scheduler(g, context); });
  };
  return {
      seconds(nothing, [&](int) { return memsched::lower(graph); }),
      seconds([&] { return draft; }, [](memsched::problem_draft d) { return memsched::check(std::move(d)); }),
      seconds(nothing, [&](int) { return memsched::make_schedule_graph(p); }),
      seconds(nothing, [&](int) { return memsched::evaluate(p, order); }),
      scheduling(memsched::rpo{}),
      scheduling(memsched::kahn{}),
      scheduling(memsched::greedy{}),
      scheduling(memsched::as_given{}),
  };
}

void print_family(const char* title, const std::string& before, const std::string& after) {
  std::printf("%s\n%9s", title, "ops");
  for (const char* step : steps) std::printf(" %11s %5s", step, "ratio");
  std::printf("\n");
  std::vector<double> smaller;
  for (const int operators : {1'000, 10'000, 100'000, 1'000'000}) {
    const std::vector<double> now = measure(before + std::to_string(operators) + after);
    std::printf("%9d", operators);
    for (std::size_t i = 0; i < now.size(); ++i) {
      std::printf(" %11.6f", now[i]);
      if (smaller.empty()) {
        std::printf(" %5s", "");
      } else {
        std::printf(" %5.2f", now[i] / smaller[i] / 10);
      }
    }
    std::printf("\n");
    std::fflush(stdout);
    smaller = now;
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("Seconds, shortest of several runs. Ratio: to the row above, divided by 10; 1 is linear (target: at most 1.3).\n"
              "Lowering 100,000 operators shall take less than 0.5 s.\n\n");
  print_family("windowed:OPS:30:1", "windowed:", ":30:1");
  print_family("chain:OPS:1", "chain:", ":1");
}
