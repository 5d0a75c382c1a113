// COIN-OR's Cbc, in process. Needs Eigen and Cbc (Debian: coinor-libcbc-dev).
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include <memsched/base/crew.hpp>
#include <memsched/ilp/milp.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// When a solver is to end: at the caller's wish, or at a time of the clock on the wall.
struct solver_end {
  using clock = std::chrono::steady_clock;
  std::stop_token stop;
  clock::time_point deadline = clock::time_point::max();
  std::shared_ptr<bool> cut_short = std::make_shared<bool>(false);  ///< whether a relaxation was ended: it proves nothing

  bool reached() const { return stop.stop_requested() || clock::now() >= deadline; }
};

/// Ends branch and bound.
class cbc_end : public CbcEventHandler {
 public:
  explicit cbc_end(solver_end end) : end_(std::move(end)) {}
  CbcAction event(CbcEvent) override { return end_.reached() ? CbcEventHandler::stop : noAction; }
  CbcEventHandler* clone() const override { return new cbc_end(*this); }

 private:
  solver_end end_;
};

/// Ends a relaxation, of which one may take longer than all there is.
class clp_end : public ClpEventHandler {
 public:
  explicit clp_end(solver_end end) : end_(std::move(end)) {}
  int event(Event e) override {
    if (e != endOfIteration || (++iterations_ & 31) != 0 || !end_.reached()) return -1;
    *end_.cut_short = true;
    return 0;
  }
  ClpEventHandler* clone() const override { return new clp_end(*this); }

 private:
  solver_end end_;
  unsigned iterations_ = 0;
};

/// Cbc sets a handler of its own for interrupts; this puts the program's back.
class interrupt_handler {
 public:
  interrupt_handler() : before_(std::signal(SIGINT, SIG_DFL)) { std::signal(SIGINT, before_); }
  ~interrupt_handler() { std::signal(SIGINT, before_); }
  interrupt_handler(const interrupt_handler&) = delete;
  interrupt_handler& operator=(const interrupt_handler&) = delete;

 private:
  void (*before_)(int);
};

/// Threads beside the caller's that can be made, up to `wanted`: Cbc crashes if one of its own cannot be made.
inline std::size_t spare_threads(unsigned wanted) { return wanted > 1 ? crew(wanted + 1).size() - 1 : 0; }

inline void load(OsiClpSolverInterface& osi, const milp_model& m) {
  const auto matrix = m.matrix;  // compressed
  CoinPackedMatrix packed(true, static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()),
                          static_cast<int>(matrix.nonZeros()), matrix.valuePtr(), matrix.innerIndexPtr(),
                          matrix.outerIndexPtr(), nullptr);
  const auto finite = [](std::vector<double> v) {
    for (double& x : v) x = std::clamp(x, -COIN_DBL_MAX, COIN_DBL_MAX);
    return v;
  };
  osi.loadProblem(packed, finite(m.lower).data(), finite(m.upper).data(), m.objective.data(), finite(m.row_lower).data(),
                  finite(m.row_upper).data());
  for (int c = 0; c < osi.getNumCols(); ++c)
    if (m.integral[static_cast<std::size_t>(c)]) osi.setInteger(c);
}

}  // namespace detail

/// Solves with Cbc's own cuts and heuristics; without its preprocessing, which crashes when it meets its time limit
/// (2.10.8), and with the dual method for its first relaxation, since the start of the primal one heeds no limit. Ends late
/// by a step that does not ask: the presolve of the first relaxation, a factorization, or the copies of the program that Cbc
/// makes before it branches. These grow with the rows of the program. Prints nothing. Not for two threads at a time: Cbc
/// keeps state of its own beside its models.
struct cbc {
  milp_answer operator()(const milp_model& m, const milp_request& r) const {
    milp_answer answer;
    if (r.seconds <= 0 || r.stop.stop_requested()) return answer.status = milp_status::limit, answer.x = r.start, answer;
    detail::solver_end end{r.stop};
    using namespace std::chrono;
    if (r.seconds < 1e9)
      end.deadline = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(r.seconds));
    const detail::interrupt_handler keep;
    OsiClpSolverInterface osi;
    osi.messageHandler()->setLogLevel(0);
    detail::load(osi, m);
    detail::clp_end relaxation_end(end);
    osi.getModelPtr()->passInEventHandler(&relaxation_end);
    ClpSolve by_dual;
    by_dual.setSolveType(ClpSolve::useDual);
    osi.setSolveOptions(by_dual);
    CbcModel model(osi);
    model.setLogLevel(0);
    CbcSolverUsefulData data;
    data.noPrinting_ = true;
    CbcMain0(model, data);
    model.setLogLevel(0);
    detail::cbc_end search_end(end);
    model.passInEventHandler(&search_end);
    if (!r.start.empty()) {
      std::vector<std::pair<std::string, double>> start;
      for (std::size_t c = 0; c < m.variables(); ++c) start.emplace_back(osi.getColName(static_cast<int>(c)), r.start[c]);
      model.setMIPStart(start);
    }
    std::vector<std::string> words{"memsched", "-log", "0", "-slog", "0", "-preprocess", "off"};
    const auto set = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
    if (r.seconds < 1e9) set("-sec", std::to_string(r.seconds)), set("-timeM", "elapsed");
    if (r.cutoff < unbounded && r.start.empty()) set("-cutoff", std::to_string(r.cutoff + 1e-4));
    if (r.gap > 0) set("-allow", std::to_string(r.gap));
    if (r.nodes < static_cast<std::uint64_t>(std::numeric_limits<int>::max())) set("-maxN", std::to_string(r.nodes));
    if (const std::size_t threads = detail::spare_threads(r.threads); threads > 1) set("-threads", std::to_string(threads));
    words.insert(words.end(), {"-solve", "-quit"});
    std::vector<const char*> arguments;
    for (const std::string& w : words) arguments.push_back(w.c_str());
    CbcMain1(
        static_cast<int>(arguments.size()), arguments.data(), model, [](CbcModel*, int) { return 0; }, data);

    answer.nodes = static_cast<std::uint64_t>(std::max(model.getNodeCount(), 0));
    answer.bound = model.getBestPossibleObjValue();
    if (const double* best = model.bestSolution()) answer.x.assign(best, best + m.variables());
    if (*end.cut_short) answer.status = milp_status::limit, answer.bound = -unbounded;
    else if (model.isProvenInfeasible()) answer.status = milp_status::infeasible;
    else if (model.isProvenOptimal() && !answer.x.empty())
      answer.status = milp_status::optimal, answer.bound = model.getObjValue() - r.gap;
    else if (model.isAbandoned()) answer.message = "Cbc gave up for numerical reasons", answer.status = milp_status::failed;
    else answer.status = milp_status::limit;
    return answer;
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
