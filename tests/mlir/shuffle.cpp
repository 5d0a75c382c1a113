// The pass memsched-shuffle, a plugin for tests: puts the operations of each block into an order that the adapter's graph
// allows. A program whose output changes by it shows an edge that the graph lacks, whether or not a schedule would use it.
#include <algorithm>
#include <cstdint>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <mlir/IR/RegionKindInterface.h>
#include <mlir/Interfaces/FunctionInterfaces.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Tools/Plugins/PassPlugin.h>
#include <memsched/adapters/mlir.hpp>

namespace {

struct shuffle_pass : mlir::PassWrapper<shuffle_pass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(shuffle_pass)

  shuffle_pass() = default;
  shuffle_pass(const shuffle_pass& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "memsched-shuffle"; }
  llvm::StringRef getDescription() const final { return "Puts operations into a random order that their graph allows"; }

  void runOnOperation() final {
    random_.seed(seed);
    getOperation()->walk([&](mlir::FunctionOpInterface function) {
      if (!function.isExternal()) function->walk([&](mlir::Block* block) { shuffle(*block); });
    });
  }

 private:
  /// Inner blocks come first, as in the pass memsched-reorder. Blocks that make no memory are shuffled as well: their graphs
  /// are public.
  void shuffle(mlir::Block& block) {
    mlir::Operation* parent = block.getParentOp();
    if (!parent->isRegistered() || !mlir::mayHaveSSADominance(*block.getParent())) return;
    const auto g = memsched::mlir_block_graph::of(
        block, {.borrows = {"func.call"}, .private_spaces = {"1"}, .size = [](mlir::Value) { return memsched::bytes{64}; }});
    if (!g) {
      mlir::emitError(parent->getLoc()) << "memsched-shuffle: " << g.error().message;
      return signalPassFailure();
    }
    memsched::put_in_order(block, order(*g));
  }

  /// Of the operations whose turn it may be, always the one with the highest priority: a random one for each operation, or
  /// its place in the given order, so that what may run late runs first.
  std::vector<mlir::Operation*> order(const memsched::mlir_block_graph& g) {
    llvm::DenseMap<mlir::Operation*, std::uint64_t> priority;
    llvm::DenseMap<mlir::Operation*, int> missing;
    llvm::DenseMap<mlir::Operation*, std::vector<mlir::Operation*>> followers;
    for (mlir::Operation* op : g.ops()) priority[op] = reverse ? priority.size() : random_(), missing[op] = 0;
    const auto follows = [&](mlir::Operation* op, mlir::Operation* before) {
      if (before && priority.contains(before)) followers[before].push_back(op), ++missing[op];
    };
    for (mlir::Operation* op : g.ops()) {
      for (const mlir::Value v : g.inputs(op)) follows(op, v.getDefiningOp());
      for (mlir::Operation* before : g.after(op)) follows(op, before);
    }
    std::priority_queue<std::pair<std::uint64_t, mlir::Operation*>> ready;
    for (mlir::Operation* op : g.ops())
      if (missing[op] == 0) ready.emplace(priority[op], op);
    std::vector<mlir::Operation*> result;
    while (!ready.empty()) {
      mlir::Operation* op = ready.top().second;
      ready.pop();
      result.push_back(op);
      for (mlir::Operation* next : followers[op])
        if (--missing[next] == 0) ready.emplace(priority[next], next);
    }
    return result;
  }

  Option<std::uint64_t> seed{*this, "seed", llvm::cl::desc("of random orders"), llvm::cl::init(1)};
  Option<bool> reverse{*this, "reverse", llvm::cl::desc("what may run late runs first")};

  std::mt19937_64 random_;
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "memsched-shuffle", "0.1", [] { mlir::PassRegistration<shuffle_pass>(); }};
}
