// A pass and a scheduler of one's own, in one's own namespace, composed with those of the library.
#include <iostream>

#include <memsched/graph/walk.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>

namespace mine {

/// A pass is handed a graph and the scheduler after the `|`. This one prints what it passes on and what comes back.
struct trace {
  memsched::solution operator()(const memsched::schedule_graph& g, memsched::search& context,
                                memsched::inner_scheduler inner) const {
    memsched::solution s = inner(g, context);
    std::cout << "  " << g.active << " operators from " << g.base << " bytes on: peak " << memsched::peak_of(g, s.order)
              << ", bound " << s.lower_bound << '\n';
    return s;
  }
};

/// A scheduler answers with an order; a bound of 0 claims nothing. This one runs what grows memory least.
struct thrifty {
  memsched::solution operator()(const memsched::schedule_graph& g, memsched::search&) const {
    memsched::solution s;
    memsched::order_walk w(g);
    std::vector<bool> done(g.active, false);
    while (s.order.size() < g.active) {
      memsched::node_id best = memsched::none;
      for (memsched::node_id v = 0; v < g.active; ++v)
        if (!done[v] && w.ready(v) && (best == memsched::none || w.effect(v).impact < w.effect(best).impact)) best = v;
      done[best] = true;
      s.order.push_back(best);
      w.fire(best);
    }
    return s;
  }
};

}  // namespace mine

int main() {
  using namespace memsched::composition;  // `|` where neither side is the library's

  // Two diamonds, one after the other.
  memsched::problem_builder b;
  auto last = b.input(3);
  for (int i = 0; i < 2; ++i) {
    const auto left = b.tensor(2), left_wide = b.tensor(9), left_end = b.tensor(3);
    const auto right = b.tensor(2), right_wide = b.tensor(10), right_end = b.tensor(1);
    const auto join = b.tensor(3);
    b.op({.reads = {last}, .writes = {left, right}});
    b.op({.reads = {left}, .writes = {left_wide}});
    b.op({.reads = {left_wide}, .writes = {left_end}});
    b.op({.reads = {right}, .writes = {right_wide}});
    b.op({.reads = {right_wide}, .writes = {right_end}});
    b.op({.reads = {left_end, right_end}, .writes = {join}});
    last = join;
  }
  b.output(last);
  const memsched::problem graph = b.build().value();

  std::cout << "trace | thrifty\n";
  const auto own = memsched::schedule(graph, mine::trace{} | mine::thrifty{});
  std::cout << "  peak " << own.peak << ", " << to_string(own.verdict()) << '\n';

  // `divide` cuts the graph after operators that every order runs at the same place, and schedules the parts.
  std::cout << "trace | divide | automatic\n";
  const auto best = memsched::schedule(graph, mine::trace{} | memsched::divide{} | memsched::automatic);
  std::cout << "  peak " << best.peak << ", " << to_string(best.verdict()) << '\n';
}
