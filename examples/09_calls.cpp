// Functions that call each other: a callee is scheduled first, and the caller counts what it needs beside the arguments
// and results, which the caller holds itself.
#include <deque>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <memsched/schedule.hpp>

namespace acme {

struct value {
  std::string name;
  memsched::bytes bytes = 0;
};

struct function;
struct instruction {
  std::string name;
  std::vector<const value*> uses, defs;
  const function* callee = nullptr;
};

struct function {
  std::string name;
  std::deque<value> values{};
  std::vector<const value*> parameters{}, results{};
  std::deque<instruction> body{};
  const value* define(std::string called, memsched::bytes size) {
    return &values.emplace_back(value{std::move(called), size});
  }
};

using answer = memsched::schedule_result<const instruction*>;

/// A function and the answers for those that it calls.
struct graph {
  const function& f;
  const std::map<const function*, answer>& done;

  std::vector<const instruction*> ops() const {
    std::vector<const instruction*> list;
    for (const instruction& i : f.body) list.push_back(&i);
    return list;
  }
  const auto& inputs(const instruction* i) const { return i->uses; }
  const auto& outputs(const instruction* i) const { return i->defs; }
  memsched::bytes size(const value* v) const { return v->bytes; }
  // Parameters count, read or not, and the caller may hold them to the end.
  const auto& tensors() const { return f.parameters; }
  bool live_out(const value* v) const { return is_in(v, f.parameters) || is_in(v, f.results); }
  std::optional<memsched::bytes> workspace(const instruction* i) const {
    if (i->callee == nullptr) return 0;
    return memsched::workspace_of(done.at(i->callee), sum(i->callee->parameters), sum(i->callee->results));
  }

 private:
  static bool is_in(const value* v, const std::vector<const value*>& list) {
    for (const value* other : list)
      if (other == v) return true;
    return false;
  }
  static memsched::bytes sum(const std::vector<const value*>& list) {
    memsched::bytes all = 0;
    for (const value* v : list) all += v->bytes;
    return all;
  }
};
static_assert(memsched::hooks<graph>.tensors && memsched::hooks<graph>.live_out && memsched::hooks<graph>.workspace);

}  // namespace acme

namespace {

void schedule(const acme::function& f, std::map<const acme::function*, acme::answer>& done) {
  const auto best = memsched::schedule(acme::graph{f, done}).value();
  std::cout << f.name << ':';
  for (const acme::instruction* i : best.order) std::cout << ' ' << i->name;
  std::cout << " -> " << best.peak << " bytes, " << to_string(best.verdict()) << '\n';
  done.emplace(&f, best);
}

}  // namespace

int main() {
  acme::function helper{"helper"};
  const auto *x = helper.define("x", 100), *wide = helper.define("wide", 360), *y = helper.define("y", 40);
  helper.parameters = {x}, helper.results = {y};
  helper.body = {{"widen", {x}, {wide}}, {"narrow", {wide}, {y}}};

  acme::function caller{"caller"};
  const auto *a = caller.define("a", 100), *b = caller.define("b", 40), *sum = caller.define("sum", 20);
  caller.results = {sum};
  caller.body = {{"load", {}, {a}}, {"call", {a}, {b}, &helper}, {"add", {a, b}, {sum}}};

  acme::function inlined{"inlined"};  // the same without a call: the caller's peak must be that of this one
  const auto *c = inlined.define("a", 100), *d = inlined.define("wide", 360), *e = inlined.define("b", 40),
             *g = inlined.define("sum", 20);
  inlined.results = {g};
  inlined.body = {{"load", {}, {c}}, {"widen", {c}, {d}}, {"narrow", {d}, {e}}, {"add", {c, e}, {g}}};

  std::map<const acme::function*, acme::answer> done;
  for (const acme::function* f : {&helper, &caller, &inlined}) schedule(*f, done);
}
