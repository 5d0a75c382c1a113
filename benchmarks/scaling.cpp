// Measures how the steps that every call takes grow with the graph: lowering from a type of its own, the check, the
// schedule graph, the referee, and the cheap orders. One thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using memsched::bytes;
using memsched::index_t;
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
    for (index_t t : p.tensors()) values.push_back({p.size(t)});
    for (index_t op : p.ops()) {
      for (index_t t : p.inputs(op)) list[op].in.push_back(&values[t]);
      for (index_t t : p.outputs(op)) list[op].out.push_back(&values[t]);
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

/// One graph in every form that some step starts from.
struct subject {
  memsched::problem_draft draft;
  problem p;
  ir graph;
  memsched::schedule_graph g;
  std::vector<index_t> order;

  explicit subject(memsched::problem_draft d)
      : draft(std::move(d)),
        p(memsched::make_problem(draft).value()),
        graph(p),
        g(memsched::make_schedule_graph(p)),
        order(p.ops().size()) {
    std::iota(order.begin(), order.end(), index_t{0});
  }
};

constexpr std::size_t operators_in_all = 1'000'000;

/// Nanoseconds per operator for f on each of the subjects, in turn; the least of three rounds. `prepare` is not timed.
template <class Prepare, class F>
double nanoseconds(const std::vector<std::unique_ptr<subject>>& subjects, Prepare prepare, F f) {
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    double sum = 0;
    for (const auto& s : subjects) {
      auto input = prepare(*s);
      const auto start = clock::now();
      const auto output = f(*s, std::move(input));
      sum += std::chrono::duration<double, std::nano>(clock::now() - start).count();
    }
    best = std::min(best, sum);
  }
  return best / operators_in_all;
}

const std::vector<const char*> steps = {"lower", "check", "graph", "evaluate", "rpo", "kahn", "greedy", "as_given"};

std::vector<double> measure(const std::vector<std::unique_ptr<subject>>& subjects) {
  const auto nothing = [](const subject&) { return 0; };
  const memsched::options o;
  memsched::search context(o);
  const auto run = [&](auto f) { return nanoseconds(subjects, nothing, [&](const subject& s, int) { return f(s); }); };
  const auto check = [](const subject&, memsched::problem_draft d) { return memsched::make_problem(std::move(d)); };
  return {
      run([](const subject& s) { return memsched::lower(s.graph); }),
      nanoseconds(
          subjects, [](const subject& s) { return s.draft; }, check),
      run([](const subject& s) { return memsched::make_schedule_graph(s.p); }),
      run([](const subject& s) { return memsched::evaluate(s.p, s.order); }),
      run([&](const subject& s) { return memsched::rpo{}(s.g, context); }),
      run([&](const subject& s) { return memsched::kahn{}(s.g, context); }),
      run([&](const subject& s) { return memsched::greedy{}(s.g, context); }),
      run([&](const subject& s) { return memsched::as_given{}(s.g, context); }),
  };
}

void print_family(const char* title, const std::string& before, const std::string& after) {
  std::printf("%s\n%9s %6s", title, "ops", "graphs");
  for (const char* step : steps) std::printf(" %9s %5s", step, "ratio");
  std::printf("\n");
  std::vector<double> smaller;
  for (std::size_t operators = 1000; operators <= operators_in_all; operators *= 10) {
    std::vector<std::unique_ptr<subject>> subjects;
    for (std::size_t seed = 1; seed <= operators_in_all / operators; ++seed)
      subjects.push_back(std::make_unique<subject>(
          networks::make(before + std::to_string(operators) + after + std::to_string(seed)).value()));
    const std::vector<double> now = measure(subjects);
    std::printf("%9zu %6zu", operators, subjects.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      std::printf(" %9.1f", now[i]);
      if (smaller.empty()) {
        std::printf(" %5s", "");
      } else {
        std::printf(" %5.2f", now[i] / smaller[i]);
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
  std::printf(
      "Nanoseconds per operator, least of three rounds, each over a million operators in graphs that all differ: a single\n"
      "small graph, repeated, would stay in caches and branch predictors. Ratio: to the row above (target: at most 1.3).\n"
      "Lowering 100,000 operators shall take less than 0.5 s: 5000 ns each.\n\n");
  print_family("windowed:OPS:30:SEED", "windowed:", ":30:");
  print_family("chain:OPS:SEED", "chain:", ":");
}
