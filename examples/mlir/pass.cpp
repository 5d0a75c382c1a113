// The pass memsched-reorder: moves the operations of each block into an order with a small peak memory. A plugin for
// mlir-opt; docs/compilers.md says how it is used.
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
    settings_ = {.pure = pure, .views = views, .overwrites = overwrites, .arguments = arguments, .fold_constants = fold};
    if (dynamic_dim >= 0) settings_.dynamic_dim = static_cast<std::uint64_t>(dynamic_dim);
    if (scheduler == "automatic" || scheduler == "optimal") {
      policy_ = memsched::stay_close{.least_gain = std::max<bytes>(min_gain, 1)} | memsched::automatic;
    } else if (scheduler == "file" || scheduler == "as_given") {
      policy_ = memsched::as_given{};
    } else {
      mlir::emitError(getOperation()->getLoc()) << "memsched-reorder: there is no scheduler " << scheduler;
      return signalPassFailure();
    }
    getOperation()->walk([&](mlir::FunctionOpInterface function) {
      if (!function.isExternal()) run(function);
    });
  }

 private:
  /// All blocks of a function, inner ones first: their peaks are workspace of the operations that hold them.
  void run(mlir::FunctionOpInterface function) {
    bytes before = 0, after = 0;
    bool known = true;
    function->walk([&](mlir::Block* block) {
      if (block->getParentOp() == function && block->isEntryBlock() && !dump.empty()) write(function, *block);
      if (!memsched::may_reorder(*block)) return;
      const auto r = schedule(*block);
      if (r.error) {
        known = false;
        if (r.error->code != memsched::error_code::unknown_size)  // that has its remark
          mlir::emitWarning(function.getLoc()) << "memsched-reorder: " << r.error->message;
        return;
      }
      if (block->getParentOp() != function) return;
      before = std::max(before, r.given_peak);
      after = std::max(after, r.peak);
    });
    if (!known || !annotate) return;
    mlir::Builder b(&getContext());
    function->setAttr("memsched.peak_before", b.getI64IntegerAttr(static_cast<std::int64_t>(before)));
    function->setAttr("memsched.peak", b.getI64IntegerAttr(static_cast<std::int64_t>(after)));
  }

  memsched::schedule_result<mlir::Operation*> schedule(mlir::Block& block) const {
    const memsched::options limits{.state_limit = state_limit};
    if (!dry_run) return memsched::reorder(block, settings_, policy_, limits);
    memsched::schedule_result<mlir::Operation*> r;
    const auto g = memsched::mlir_block_graph::of(block, settings_);
    if (!g) return r.error = g.error(), r;
    return memsched::schedule(*g, policy_, limits);
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
  Option<std::int64_t> dynamic_dim{*this, "dynamic-dim", llvm::cl::desc("what a dynamic dimension counts"),
                                   llvm::cl::init(-1)};
  Option<std::uint64_t> state_limit{*this, "state-limit", llvm::cl::desc("states that a search may look at"),
                                    llvm::cl::init(100000)};
  Option<std::string> scheduler{*this, "scheduler", llvm::cl::desc("automatic or file"), llvm::cl::init("automatic")};
  Option<std::uint64_t> min_gain{*this, "min-gain", llvm::cl::desc("bytes of the peak below which nothing moves"),
                                 llvm::cl::init(1)};
  Option<bool> annotate{*this, "annotate", llvm::cl::desc("write memsched.peak_before and memsched.peak to functions")};
  Option<bool> dry_run{*this, "dry-run", llvm::cl::desc("move nothing")};
  Option<std::string> dump{*this, "dump", llvm::cl::desc("write DUMP<function>.json for the program memsched")};

  memsched::mlir_options settings_;
  std::function<memsched::solution(const memsched::schedule_graph&, memsched::search&)> policy_;
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "memsched", "0.1", [] { mlir::PassRegistration<reorder_pass>(); }};
}
