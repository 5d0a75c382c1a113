#include "schedulers.hpp"

#include <algorithm>
#include <memsched/formats/onnx_write.hpp>
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
memsched::schedule_result<memsched::op_id> run(const memsched::problem& p, const memsched::options& o, const knobs&) {
  return memsched::schedule(p, S{}, o);
}

memsched::schedule_result<memsched::op_id> run_serenity(const memsched::problem& p, const memsched::options& o,
                                                        const knobs& k) {
  const auto with = [&](const char* part) { return std::find(k.without.begin(), k.without.end(), part) == k.without.end(); };
  return memsched::schedule(
      p, memsched::serenity{.divides = with("divide"), .budgets = with("soft_budget"), .direct = with("direct")}, o);
}

/// An order that is known.
struct given_order {
  static constexpr bool is_baseline = true;
  std::vector<memsched::op_id> order;
  memsched::solution operator()(const memsched::schedule_graph&, memsched::search&) const { return {order}; }
};

memsched::schedule_result<memsched::op_id> run_onnxruntime(const memsched::problem& p, const memsched::options& o,
                                                           const knobs&) {
  return memsched::schedule(p, given_order{memsched::onnxruntime_order(p)}, o);
}

#ifdef MEMSCHED_HAS_CBC
memsched::schedule_result<memsched::op_id> run_ilp(const memsched::problem& p, const memsched::options& o, const knobs& k) {
  return memsched::schedule(p, memsched::fuse{} | memsched::partition{{.parts = k.parts}} | memsched::ilp<memsched::cbc>{},
                            o);
}
#endif

}  // namespace

const std::vector<named_scheduler>& schedulers() {
  static const std::vector<named_scheduler> all{
      {"file", "the order of the file", run<memsched::as_given>},
      {"kahn", "breadth-first waves of ready operators", run<memsched::kahn>},
      {"rpo", "depth-first post-order from the outputs, as most compilers", run<memsched::rpo>},
      {"onnxruntime", "the order in which ONNX Runtime runs the file, whatever is written there", run_onnxruntime},
      {"greedy", "list scheduling by memory freed", run<memsched::greedy>},
      {"exhaustive", "every set of operators; at most 24 operators", run<memsched::exhaustive>},
      {"serenity", "divide and conquer, soft budgets, dynamic programming (Ahn et al.); --without", run_serenity},
      {"hmcos", "hierarchical graphs, taken apart where the peak is (Wang et al.)", run<memsched::hierarchical>},
      {"fradet", "compression, composition, branch and bound (Fradet et al.)", run<memsched::fradet_scheduler>},
#ifdef MEMSCHED_HAS_CBC
      {"ilp", "fused, partitioned, then integer programming (Zhong et al.); --parts", run_ilp},
#endif
      {"optimal", "the smallest peak, with proof; best so far and a bound at a limit", run<memsched::automatic_scheduler>},
  };
  return all;
}

}  // namespace cli
