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
#include <memsched/base/increasing.hpp>
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
                 .borrows = borrows,
                 .private_spaces = private_spaces,
                 .handles = handles};
    if (dynamic_dim >= 0) settings_.dynamic_dim = static_cast<std::uint64_t>(dynamic_dim);
    if (!llvm::is_contained({"automatic", "optimal", "file", "as_given"}, scheduler.getValue())) {
      mlir::emitError(getOperation()->getLoc()) << "memsched-reorder: there is no scheduler " << scheduler;
      return signalPassFailure();
    }
    demands_.clear();
    for (const std::string& text : budgets) {
      const auto d = demand_of(text);
      if (!d) {
        mlir::emitError(getOperation()->getLoc())
            << "memsched-reorder: budget=" << text << " is neither BYTES nor SPACE=BYTES";
        return signalPassFailure();
      }
      demands_.push_back(*d);
    }
    if (demands_.empty()) demands_.push_back({});
    if (!only_space.empty())
      for (demand& d : demands_)
        if (!d.space) d.space = only_space;
    getOperation()->walk([&](mlir::FunctionOpInterface function) {
      if (!function.isExternal()) run(function);
    });
  }

 private:
  using policy = std::function<memsched::solution(const memsched::schedule_graph&, memsched::search&)>;
  using schedule_result = memsched::schedule_result<mlir::Operation*>;

  /// The demand on a memory space, or on all in total: as little as can be, or a budget.
  struct demand {
    std::optional<std::string> space{};
    bytes budget = 0;
  };

  /// The outcome for a function.
  struct report {
    bytes before = 0, after = 0, bound = 0;  // the largest of its own blocks
    std::uint64_t operations = 0, moved = 0;
    bool known = true;
  };

  void run(mlir::FunctionOpInterface function) {
    if (!dump.empty()) write(function, function.getFunctionBody().front());
    spaces_ = memsched::memory_spaces(function);
    const auto before = peaks_by_space(function);
    for (const demand& d : demands_) {
      report r;
      for (mlir::Block& block : function.getFunctionBody()) run(block, d, r);
      if (!r.known) return;
      say(function, d, r);
      if (annotate && demands_.size() == 1)
        set(function, "memsched.peak_before", number(r.before)), set(function, "memsched.peak", number(r.after));
    }
    if (!annotate || spaces_.size() < 2) return;
    set(function, "memsched.peaks_before", before), set(function, "memsched.peaks", peaks_by_space(function));
  }

  void say(mlir::FunctionOpInterface function, const demand& d, const report& r) {
    peaks_before += r.before, peaks += r.after, bounds += r.bound, operations_moved += r.moved;
    const std::string where = d.space ? " in space " + *d.space : "";
    if (r.moved > 0)
      mlir::emitRemark(function.getLoc()) << "memsched-reorder: peak" << where << " " << r.before << " -> " << r.after
                                          << " bytes, bound " << r.bound << "; " << r.moved << " of " << r.operations
                                          << " operations moved";
    if (d.budget > 0 && r.after > d.budget)
      mlir::emitWarning(function.getLoc()) << "memsched-reorder: no order was found within " << d.budget << " bytes" << where
                                           << ": peak " << r.after << ", bound " << r.bound;
  }

  mlir::Attribute number(bytes n) { return mlir::Builder(&getContext()).getI64IntegerAttr(static_cast<std::int64_t>(n)); }
  static void set(mlir::FunctionOpInterface function, llvm::StringRef name, mlir::Attribute a) {
    function->setAttr(name, a);
  }

  /// The largest peak of the function's own blocks in each space, if they are asked for.
  mlir::DictionaryAttr peaks_by_space(mlir::FunctionOpInterface function) {
    mlir::NamedAttrList all;
    if (annotate && spaces_.size() > 1)
      for (const std::string& space : spaces_) {
        bytes peak = 0;
        for (mlir::Block& block : function.getFunctionBody())
          peak = std::max(peak, peak_in(space, block, given(block)).value_or(0));
        all.set(space, number(peak));
      }
    return all.getDictionary(&getContext());
  }
  /// Nothing where a size is not known.
  std::optional<bytes> peak_in(const std::string& space, mlir::Block& block, llvm::ArrayRef<mlir::Operation*> order) const {
    if (!memsched::may_reorder(block)) return 0;
    const auto peak = memsched::peak_of(block, order, settings(space));
    return peak ? std::optional(*peak) : std::nullopt;
  }
  static std::vector<mlir::Operation*> given(mlir::Block& block) {
    std::vector<mlir::Operation*> order;
    for (mlir::Operation& op : block)
      if (&op != &block.back() || !block.mightHaveTerminator()) order.push_back(&op);
    return order;
  }
  memsched::mlir_options settings(std::optional<std::string> space) const {
    memsched::mlir_options o = settings_;
    o.space = std::move(space);
    return o;
  }

  /// A block of the function itself. Inner blocks come first: their peaks are workspace of the operations that hold them.
  /// Under a budget they stay as they are where the block fits without.
  void run(mlir::Block& block, const demand& d, report& r) {
    auto found = d.budget > 0 ? find_order(block, d, r) : std::nullopt;
    const bytes before = found ? found->given_peak : 0;
    if (!found || found->peak > d.budget) {
      for (mlir::Operation& op : block)
        op.walk([&](mlir::Block* inner) {
          if (const auto order = find_order(*inner, {d.space, 0}, r)) put_in_order(*inner, *order, r);
        });
      found = find_order(block, d, r);
    }
    if (!found) return;
    put_in_order(block, *found, r);
    r.before = std::max({r.before, before, found->given_peak});
    r.after = std::max(r.after, found->peak);
    r.bound = std::max(r.bound, found->lower_bound);
  }

  /// Nothing where the block has nothing to move, or the graph is not known. The given order stands where the one found would
  /// take more of another space.
  std::optional<schedule_result> find_order(mlir::Block& block, const demand& d, report& r) const {
    if (!r.known || !memsched::may_reorder(block)) return std::nullopt;
    const auto o = settings(d.space);
    const auto g = memsched::mlir_block_graph::of(block, o);
    schedule_result found;
    if (g) found = memsched::schedule(*g, policy_of(d), {.state_limit = state_limit});
    else found.error = g.error();
    if (!found.error) {
      if (found.peak < found.given_peak && !others_hold(block, d, found.order))
        found.order = given(block), found.peak = found.given_peak;
      return found;
    }
    r.known = false;
    if (found.error->code != memsched::error_code::unknown_size)  // that has its remark
      mlir::emitWarning(block.getParentOp()->getLoc()) << "memsched-reorder: " << found.error->message;
    return std::nullopt;
  }
  policy policy_of(const demand& d) const {
    if (scheduler != "automatic" && scheduler != "optimal") return memsched::as_given{};
    return memsched::stay_close{.least_gain = std::max<bytes>(min_gain, 1), .enough = d.budget} | memsched::automatic;
  }
  /// Whether an order takes no more of the other spaces than the given one, or than their budgets.
  bool others_hold(mlir::Block& block, const demand& d, llvm::ArrayRef<mlir::Operation*> order) const {
    return !d.space || llvm::all_of(spaces_, [&](const std::string& space) {
      if (space == *d.space) return true;
      const auto peak = peak_in(space, block, order), before = peak_in(space, block, given(block));
      const auto other = llvm::find_if(demands_, [&](const demand& also) { return also.space == space; });
      return peak && before && (*peak <= *before || (other != demands_.end() && *peak <= other->budget));
    });
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
    std::vector<std::size_t> places;
    for (mlir::Operation* op : order) places.push_back(place[op]);
    return order.size() - memsched::base::longest_increasing(places).size();
  }

  /// BYTES or SPACE=BYTES; nothing for other texts.
  static std::optional<demand> demand_of(llvm::StringRef text) {
    demand d;
    const auto [name, number] = text.rsplit('=');
    if (name.size() < text.size()) d.space = name.str();
    llvm::StringRef digits = name.size() < text.size() ? number : text;
    const bytes unit = digits.consume_back("K")   ? 1024
                       : digits.consume_back("M") ? 1024 * 1024
                       : digits.consume_back("G") ? 1024 * 1024 * 1024
                                                  : 1;
    if (digits.getAsInteger(10, d.budget) || d.budget == 0) return std::nullopt;
    d.budget = llvm::SaturatingMultiply(d.budget, unit);
    return d;
  }

  void write(mlir::FunctionOpInterface function, mlir::Block& block) {
    const auto g = memsched::mlir_block_graph::of(block, settings(demands_.front().space));
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
  ListOption<std::string> borrows{
      *this, "borrows",
      llvm::cl::desc("operations or dialects that keep no pointer to memrefs; func.call: functions "
                     "without a body")};
  ListOption<std::string> private_spaces{*this, "private-spaces",
                                         llvm::cl::desc("memory spaces whose allocations one thread has alone")};
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
  ListOption<std::string> budgets{
      *this, "budget",
      llvm::cl::desc("bytes that are there, or SPACE=BYTES for memory spaces, with K, M or G: what fits "
                     "stays, the rest moves as little as fits")};
  Option<std::string> only_space{*this, "space",
                                 llvm::cl::desc("the memory space that counts; others take no more than before")};
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
  std::vector<demand> demands_;
  std::vector<std::string> spaces_;  // of the function at hand
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "memsched", "0.1", [] { mlir::PassRegistration<reorder_pass>(); }};
}
