#include "schedulers.hpp"

#include <algorithm>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/fradet.hpp>
#include <memsched/schedulers/hierarchical.hpp>
#include <memsched/schedulers/serenity.hpp>

#ifdef MEMSCHED_HAS_CBC
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#endif

namespace cli {

namespace {

template <class S>
struct plain {
  static S make(const knobs&) { return {}; }
};

struct serenity_with_knobs {
  static memsched::serenity make(const knobs& k) {
    const auto with = [&](const char* part) {
      return std::find(k.without.begin(), k.without.end(), part) == k.without.end();
    };
    return {.divides = with("divide"), .budgets = with("soft_budget"), .direct = with("direct")};
  }
};

#ifdef MEMSCHED_HAS_CBC
struct ilp_with_knobs {
  static auto make(const knobs& k) {
    return memsched::fuse{} | memsched::partition{{.parts = k.parts}} | memsched::ilp<memsched::cbc>{};
  }
};
#endif

template <class Make>
memsched::schedule_result<memsched::op_id> run(const memsched::problem& p, const memsched::options& o, const knobs& k) {
  return memsched::schedule(p, Make::make(k), o);
}
template <class Make>
memsched::solution order(const memsched::schedule_graph& g, memsched::search& context, const knobs& k) {
  return Make::make(k)(g, context);
}
template <class Make>
named_scheduler named(std::string_view name, std::string_view about) {
  return {name, about, run<Make>, order<Make>};
}

}  // namespace

const std::vector<named_scheduler>& schedulers() {
  static const std::vector<named_scheduler> all{
      named<plain<memsched::as_given>>("file", "the order of the file"),
      named<plain<memsched::kahn>>("kahn", "breadth-first waves of ready operators"),
      named<plain<memsched::rpo>>("rpo", "depth-first post-order from the outputs, as most compilers"),
      named<plain<memsched::greedy>>("greedy", "list scheduling by memory freed"),
      named<plain<memsched::exhaustive>>("exhaustive", "every set of operators; at most 24 operators"),
      named<serenity_with_knobs>("serenity",
                                 "divide and conquer, soft budgets, dynamic programming (Ahn et al.); --without"),
      named<plain<memsched::hierarchical>>("hmcos", "hierarchical graphs, taken apart where the peak is (Wang et al.)"),
      named<plain<memsched::fradet_scheduler>>("fradet", "compression, composition, branch and bound (Fradet et al.)"),
#ifdef MEMSCHED_HAS_CBC
      named<ilp_with_knobs>("ilp", "fused, partitioned, then integer programming (Zhong et al.); --parts"),
#endif
      named<plain<memsched::automatic_scheduler>>("optimal",
                                                  "the smallest peak, with proof; best so far and a bound at a limit"),
  };
  return all;
}

}  // namespace cli
