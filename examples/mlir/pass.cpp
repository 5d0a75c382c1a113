// The pass memsched-reorder: moves the operations of each block into an order with a small peak memory. A plugin for
// mlir-opt; docs/compilers.md says how it is used.
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <mlir/IR/Builders.h>
#include <mlir/Interfaces/FunctionInterfaces.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Tools/Plugins/PassPlugin.h>
#include <memsched/adapters/mlir.hpp>
#include <memsched/schedulers/as_given.hpp>

#include "dump.hpp"

namespace {

using memsched::bytes;

struct reorder_pass : mlir::PassWrapper<reorder_pass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(reorder_pass)

  reorder_pass() = default;
  reorder_pass(const reorder_pass& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "memsched-reorder"; }
  llvm::StringRef getDescription() const final { return "Moves operations into an order with a small peak memory"; }

  void runOnOperation() final {
    settings_ = {.pure = pure,
                 .views = views,
                 .overwrites = overwrites,
                 .arguments = arguments,
                 .fold_constants = fold,
                 .handles = handles};
    if (dynamic_dim >= 0) settings_.dynamic_dim = static_cast<std::uint64_t>(dynamic_dim);
    if (scheduler == "automatic" || scheduler == "optimal") {
      const memsched::stay_close close{.least_gain = std::max<bytes>(min_gain, 1)};
      best_ = close | memsched::automatic;
      fit_ = memsched::stay_close{.least_gain = close.least_gain, .enough = budget} | memsched::automatic;
    } else if (scheduler == "file" || scheduler == "as_given") {
      best_ = fit_ = memsched::as_given{};
    } else {
      mlir::emitError(getOperation()->getLoc()) << "memsched-reorder: there is no scheduler " << scheduler;
      return signalPassFailure();
    }
    getOperation()->walk([&](mlir::FunctionOpInterface function) {
      if (!function.isExternal()) run(function);
    });
  }

 private:
  using policy = std::function<memsched::solution(const memsched::schedule_graph&, memsched::search&)>;
  using schedule_result = memsched::schedule_result<mlir::Operation*>;

  /// What happened to a function.
  struct report {
    bytes before = 0, after = 0, bound = 0;  // the largest of its own blocks
    std::uint64_t operations = 0, moved = 0;
    bool known = true;
  };

  void run(mlir::FunctionOpInterface function) {
    if (!dump.empty()) write(function, function.getFunctionBody().front());
    report r;
    for (mlir::Block& block : function.getFunctionBody()) run(block, r);
    if (!r.known) return;
    peaks_before += r.before, peaks += r.after, bounds += r.bound, operations_moved += r.moved;
    if (r.moved > 0)
      mlir::emitRemark(function.getLoc()) << "memsched-reorder: peak " << r.before << " -> " << r.after << " bytes, bound "
                                          << r.bound << "; " << r.moved << " of " << r.operations << " operations moved";
    if (budget > 0 && r.after > budget)
      mlir::emitWarning(function.getLoc()) << "memsched-reorder: no order was found within " << budget.getValue()
                                           << " bytes: peak " << r.after << ", bound " << r.bound;
    if (!annotate) return;
    mlir::Builder b(&getContext());
    const auto set = [&](llvm::StringRef name, bytes n) {
      function->setAttr(name, b.getI64IntegerAttr(static_cast<std::int64_t>(n)));
    };
    set("memsched.peak_before", r.before), set("memsched.peak", r.after);
  }

  /// A block of the function itself. Inner blocks come first: their peaks are workspace of the operations that hold them.
  /// Under a budget they stay as they are where the block fits without.
  void run(mlir::Block& block, report& r) {
    auto found = budget > 0 ? find_order(block, fit_, r) : std::nullopt;
    const bytes before = found ? found->given_peak : 0;
    if (!found || found->peak > budget) {
      for (mlir::Operation& op : block)
        op.walk([&](mlir::Block* inner) {
          if (const auto order = find_order(*inner, best_, r)) put_in_order(*inner, *order, r);
        });
      found = find_order(block, fit_, r);
    }
    if (!found) return;
    put_in_order(block, *found, r);
    r.before = std::max({r.before, before, found->given_peak});
    r.after = std::max(r.after, found->peak);
    r.bound = std::max(r.bound, found->lower_bound);
  }

  /// Nothing where the block has nothing to move, or the graph is not known.
  std::optional<schedule_result> find_order(mlir::Block& block, const policy& p, report& r) const {
    if (!r.known || !memsched::may_reorder(block)) return std::nullopt;
    const auto g = memsched::mlir_block_graph::of(block, settings_);
    schedule_result found;
    if (g) found = memsched::schedule(*g, p, {.state_limit = state_limit});
    else found.error = g.error();
    if (!found.error) return found;
    r.known = false;
    if (found.error->code != memsched::error_code::unknown_size)  // that has its remark
      mlir::emitWarning(block.getParentOp()->getLoc()) << "memsched-reorder: " << found.error->message;
    return std::nullopt;
  }

  void put_in_order(mlir::Block& block, const schedule_result& found, report& r) const {
    r.operations += found.order.size();
    if (found.peak >= found.given_peak) return;
    r.moved += moved(block, found.order);
    if (!dry_run) memsched::put_in_order(block, found.order);
  }
  /// The fewest operations whose move makes the order: those outside a longest sequence that keeps its own.
  static std::size_t moved(mlir::Block& block, llvm::ArrayRef<mlir::Operation*> order) {
    llvm::DenseMap<mlir::Operation*, std::size_t> place;
    for (mlir::Operation& op : block) place[&op] = place.size();
    std::vector<std::size_t> last;  // of a sequence of each length, the smallest
    for (mlir::Operation* op : order) {
      const auto at = llvm::lower_bound(last, place[op]);
      if (at == last.end()) last.push_back(place[op]);
      else *at = place[op];
    }
    return order.size() - last.size();
  }

  void write(mlir::FunctionOpInterface function, mlir::Block& block) {
    const auto g = memsched::mlir_block_graph::of(block, settings_);
    const auto p = g ? memsched::lower(*g) : memsched::result<memsched::lowered<mlir::Operation*>>(g.error());
    if (!p) return;
    const std::string path = dump + function.getName().str() + ".json";
    if (const std::string error = write_graph(p->problem, function.getName(), path); !error.empty())
      mlir::emitWarning(function.getLoc()) << "memsched-reorder: " << path << ": " << error;
  }

  ListOption<std::string> pure{*this, "pure", llvm::cl::desc("operations or dialects without effects")};
  ListOption<std::string> views{*this, "views", llvm::cl::desc("operations whose result is a view of the first operand")};
  ListOption<std::string> overwrites{*this, "overwrites",
                                     llvm::cl::desc("operations whose result may take the first operand's storage")};
  Option<memsched::mlir_arguments> arguments{
      *this, "arguments", llvm::cl::desc("how arguments of functions count"),
      llvm::cl::init(memsched::mlir_arguments::callers),
      llvm::cl::values(clEnumValN(memsched::mlir_arguments::callers, "callers", "not at all"),
                       clEnumValN(memsched::mlir_arguments::held, "held", "from the start to the end"),
                       clEnumValN(memsched::mlir_arguments::donated, "donated", "from the start to the last reader"))};
  Option<bool> fold{*this, "fold-constants", llvm::cl::desc("what is computed from constants alone takes no memory")};
  Option<memsched::mlir_handles> handles{
      *this, "opaque", llvm::cl::desc("tokens, streams and other values without a shape"),
      llvm::cl::init(memsched::mlir_handles::no_bytes),
      llvm::cl::values(clEnumValN(memsched::mlir_handles::no_bytes, "0", "have no bytes"),
                       clEnumValN(memsched::mlir_handles::refused, "refuse", "are of unknown size"))};
  Option<std::int64_t> dynamic_dim{*this, "dynamic-dim", llvm::cl::desc("what a dynamic dimension counts"),
                                   llvm::cl::init(-1)};
  Option<std::uint64_t> state_limit{*this, "state-limit", llvm::cl::desc("states that a search may look at"),
                                    llvm::cl::init(100000)};
  Option<std::uint64_t> budget{
      *this, "budget", llvm::cl::desc("bytes that are there: a block that fits stays, others move as little as fits"),
      llvm::cl::init(0)};
  Option<std::string> scheduler{*this, "scheduler", llvm::cl::desc("automatic or file"), llvm::cl::init("automatic")};
  Option<std::uint64_t> min_gain{*this, "min-gain", llvm::cl::desc("bytes of the peak below which nothing moves"),
                                 llvm::cl::init(1)};
  Option<bool> annotate{*this, "annotate", llvm::cl::desc("write memsched.peak_before and memsched.peak to functions")};
  Option<bool> dry_run{*this, "dry-run", llvm::cl::desc("move nothing")};
  Option<std::string> dump{*this, "dump", llvm::cl::desc("write DUMP<function>.json for the program memsched")};

  Statistic peaks_before{this, "peaks-before", "bytes, the sum over functions"};
  Statistic peaks{this, "peaks", "bytes, the sum over functions"};
  Statistic bounds{this, "bounds", "bytes that no order goes below, the sum over functions"};
  Statistic operations_moved{this, "operations-moved", "operations"};

  memsched::mlir_options settings_;
  policy best_, fit_;
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "memsched", "0.1", [] { mlir::PassRegistration<reorder_pass>(); }};
}
