#include "schedulers.hpp"

#include <algorithm>
#include <concepts>
#include <memsched/formats/onnx_write.hpp>

#ifdef MEMSCHED_HAS_CBC
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#endif

namespace cli {

namespace {

using result = memsched::schedule_result<memsched::op_id>;

template <class S>
S with_knobs(const knobs& k) {
  if constexpr (std::same_as<S, memsched::serenity>) {
    const auto has = [&](const char* part) {
      return std::find(k.without.begin(), k.without.end(), part) == k.without.end();
    };
    return {.divides = has("divide"), .budgets = has("soft_budget"), .direct = has("direct")};
  } else {
    return {};
  }
}

/// An order that is known.
struct given_order {
  static constexpr bool is_baseline = true;
  std::vector<memsched::op_id> order;
  memsched::solution operator()(const memsched::schedule_graph&, memsched::search&) const { return {order}; }
};

result run_onnxruntime(const memsched::problem& p, const memsched::options& o, const knobs&) {
  return memsched::schedule(p, given_order{memsched::onnxruntime_order(p)}, o);
}
memsched::sdf::schedule_result refuse_sdf(const memsched::sdf::graph&, const memsched::sdf::options&,
                                          const memsched::options&, const knobs&) {
  memsched::sdf::schedule_result r;
  r.error = {memsched::error_code::bad_input, "ONNX Runtime runs no synchronous dataflow", {}, {}};
  return r;
}

#ifdef MEMSCHED_HAS_CBC
/// Stands for what `ilp` is composed of.
struct ilp_parts {};
#endif

template <class S>
auto made(const knobs& k) {
#ifdef MEMSCHED_HAS_CBC
  if constexpr (std::same_as<S, ilp_parts>)
    return memsched::fuse{} | memsched::partition{{.parts = k.parts}} | memsched::ilp<memsched::cbc>{};
  else
#endif
    return with_knobs<S>(k);
}

template <class S>
result run(const memsched::problem& p, const memsched::options& o, const knobs& k) {
  return memsched::schedule(p, made<S>(k), o);
}
template <class S>
memsched::sdf::schedule_result run_sdf(const memsched::sdf::graph& g, const memsched::sdf::options& what,
                                       const memsched::options& o, const knobs& k) {
  return memsched::sdf::schedule(g, made<S>(k), what, o);
}

std::vector<named_scheduler> make_list() {
  std::vector<named_scheduler> list;
  memsched::for_each_scheduler([&]<class S>(const memsched::scheduler_row<S>& row) {
    std::string about(row.about);
    if (!row.source.empty()) about += " (" + std::string(row.source) + ")";
    if (std::same_as<S, memsched::serenity>) about += "; --without";
    list.push_back({std::string(row.name), std::string(row.alias), std::move(about), row.role, run<S>, run_sdf<S>});
  });
#ifdef MEMSCHED_HAS_CBC
  list.insert(list.end() - 1, {"ilp", "", "fused, partitioned, then integer programming (Zhong et al.); --parts",
                               memsched::scheduler_role::method, run<ilp_parts>, run_sdf<ilp_parts>});
#endif
  list.push_back({"onnxruntime", "", "the order in which ONNX Runtime runs the file, whatever is written there",
                  memsched::scheduler_role::part, run_onnxruntime, refuse_sdf});
  return list;
}

}  // namespace

const std::vector<named_scheduler>& schedulers() {
  static const std::vector<named_scheduler> all = make_list();
  return all;
}

const named_scheduler* find_scheduler(std::string_view name) {
  for (const named_scheduler& s : schedulers())
    if (name == s.name || (!s.alias.empty() && name == s.alias)) return &s;
  return nullptr;
}

}  // namespace cli
