// TensorFlow Lite models with another order of their operators, and where their tensors lie. Opt-in, as tflite.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/allocation/improve_order.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/formats/tflite/micro.hpp>
#include <memsched/formats/tflite/micro_tail.hpp>
#include <memsched/formats/tflite/rewrite.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The result of TensorFlow Lite Micro for the order and the plan in a file. Bytes of the arena's head, where activations
/// lie, without room that kernels ask for.
struct micro_arena {
  bytes greedy = 0;   ///< if the runtime decides about all
  bytes planned = 0;  ///< with the file's plan; equal to `greedy` if it has none
  bool has_plan = false;
  bytes load = 0;  ///< the most that is live at one time: no plan without storages in common takes less
};

/// Where the tensors of a file lie, for its metadata.
struct micro_plan {
  std::vector<std::int32_t> offsets;  ///< of all tensors of all subgraphs; -1: the runtime decides
  bytes head = 0, lower_bound = 0;    ///< of the storages that are planned
};

namespace detail::tflite {

/// Kinds whose reference kernels in TensorFlow Lite Micro may write over an input that is `alike` their output (element
/// type and shape): they read element i for the last time before they write element i. Measured, too.
inline constexpr kind_id micro_in_place[] = {
    // Element i of the output depends on element i of an operand that does not broadcast, and is written after it is read.
    kind("ADD"), kind("SUB"), kind("MUL"), kind("DIV"), kind("MAXIMUM"), kind("MINIMUM"), kind("FLOOR_DIV"),
    kind("FLOOR_MOD"), kind("LOGICAL_OR"), kind("LOGICAL_AND"), kind("SQUARED_DIFFERENCE"), kind("PRELU"),
    // Likewise of one operand.
    kind("LOGICAL_NOT"), kind("RELU"), kind("RELU6"), kind("LEAKY_RELU"), kind("ELU"), kind("HARD_SWISH"), kind("LOGISTIC"),
    kind("TANH"), kind("EXP"), kind("LOG"), kind("SIN"), kind("COS"), kind("SQRT"), kind("RSQRT"), kind("SQUARE"),
    kind("ABS"), kind("NEG"), kind("FLOOR"), kind("CEIL"), kind("ROUND"),
    // Adds up element i of all operands, then writes it.
    kind("ADD_N"),
    // Row by row: they read the row for its maximum or sum, then element i again before they write it. Of int8 into int16
    // the output runs ahead of the input, so that one element type is a must.
    kind("SOFTMAX"), kind("LOG_SOFTMAX"), kind("L2_NORMALIZATION")};

/// The places of subgraphs' tensors in the concatenation of all; the last entry is the number of tensors.
inline std::vector<std::size_t> tensor_starts(model_file& m) {
  std::vector<std::size_t> starts{0};
  for (const table& g : m.listed()) starts.push_back(starts.back() + m.file.children(g, subgraph_fields::tensors).size());
  return starts;
}

/// Storages in common: the output of an operator takes the storage of an input that no operator reads later.
class storages {
 public:
  storages(const subgraph_info& g, tensor_sizes& sizes, const std::vector<micro_buffer>& buffers)
      : g_(g), sizes_(sizes), parent_(buffers.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    buffer_of_.assign(g.tensors.size(), buffers.size());
    for (std::size_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].subgraph == 0 && buffers[b].tensor != none) buffer_of_[buffers[b].tensor] = b;
    for (const micro_buffer& b : buffers) used_.push_back(b.used);
    for (const index_t t : g.outputs)  // read after the last operator
      if (buffer_of_[t] != parent_.size()) used_[buffer_of_[t]] = std::numeric_limits<std::int64_t>::max();
  }

  /// The buffer that stands for the storage of each buffer.
  std::vector<std::size_t> run(const std::vector<micro_buffer>& buffers) {
    for (const operator_info& op : g_.operators) {
      if (op.outputs.empty()) continue;
      const std::size_t out = buffer_of_[op.outputs[0]];
      if (out == parent_.size()) continue;
      const bool view = op.kind == kind("RESHAPE");
      if (!view && !among(micro_in_place, op.kind)) continue;
      for (std::size_t i = 0; i < (view ? std::min<std::size_t>(1, op.inputs.size()) : op.inputs.size()); ++i) {
        const std::size_t in = buffer_of_[op.inputs[i]];
        if (in == parent_.size()) continue;
        if (view ? buffers[in].size != buffers[out].size : !sizes_.alike(0, op.inputs[i], op.outputs[0])) continue;
        if (std::count(op.inputs.begin(), op.inputs.end(), op.inputs[i]) > 1) continue;
        const std::size_t storage = find(in);
        if (!view && used_[storage] > buffers[out].created) continue;  // an operator reads it later
        parent_[out] = storage;
        used_[storage] = std::max(used_[storage], used_[out]);
        break;
      }
    }
    std::vector<std::size_t> of(parent_.size());
    for (std::size_t b = 0; b < of.size(); ++b) of[b] = find(b);
    return of;
  }

 private:
  std::size_t find(std::size_t b) const {
    while (parent_[b] != b) b = parent_[b];
    return b;
  }

  const subgraph_info& g_;
  tensor_sizes& sizes_;
  std::vector<std::size_t> parent_, buffer_of_;
  std::vector<std::int64_t> used_;  ///< of storages, by the buffer that stands for them
};

inline bytes load_of(const std::vector<micro_buffer>& buffers) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;
  for (const micro_buffer& b : buffers)
    if (b.created <= b.used) {
      changes.emplace_back(2 * b.created, static_cast<std::int64_t>(b.size));
      changes.emplace_back(2 * b.used + 1, -static_cast<std::int64_t>(b.size));
    }
  std::sort(changes.begin(), changes.end());
  std::int64_t live = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, live += change);
  return static_cast<bytes>(most);
}

}  // namespace detail::tflite

/// The result of TensorFlow Lite Micro's planner for a file whose subgraph 0 runs in `order` (positions in the file's list;
/// empty: the file's own). Counts the buffers of reference kernels, but for kinds that `tflite_notes` names.
/// O(file + tensors^2).
inline result<micro_arena> micro_arena_of(std::string_view file, const read_options& options = {},
                                          const std::vector<index_t>& order = {}) {
  using namespace detail::tflite;
  model_file m(file);
  if (!m.read()) return m.file.error();
  tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  std::vector<micro_buffer> buffers = micro_buffers(m, sizes).run(order);
  if (m.file.failed()) return m.file.error();
  micro_arena arena;
  arena.load = load_of(buffers);
  std::vector<micro_buffer> fixed = buffers;
  arena.greedy = arena.planned = place_greedily(buffers);
  for (const metadata_entry& e : m.metadata)
    if (e.name == offline_allocation) {
      const auto plan = read_offsets(e.content);
      const auto starts = tensor_starts(m);
      if (!plan || plan->size() != starts.back())
        return graph_error{error_code::bad_input, e.where.where.text() + ": its memory plan is of another model", {}, {}};
      arena.has_plan = true;
      for (micro_buffer& b : fixed)
        if (b.tensor != none) b.offset = (*plan)[starts[b.subgraph] + b.tensor];
    }
  if (arena.has_plan) arena.planned = place_greedily(fixed);
  return arena;
}

/// An order of a file's main graph, and the head of TensorFlow Lite Micro's arena if the runtime places all tensors.
struct micro_order {
  std::vector<op_id> order;  ///< operators of the draft; empty: the file stays as it is
  bytes head = 0;
};

/// Among orders of the main graph with a peak of at most `peak`, one with a small head under TensorFlow Lite Micro's
/// planner. Starts at `order` or, if that is empty, at the file's own; the file's own stays unless another has a smaller
/// head than it, with the plan of offsets that it holds. Runs `improve_order` again and again as long as the head falls, so
/// that a search from the result ends there. Operators that are left out of the draft move in front of their first readers,
/// which alone may help.
///
/// file      of which `read_tflite` made `g`
/// p         g's draft, with the workspace of operators that run graphs
/// context   counts a state for each order that is tried, and ends the search
///
/// Each round tries 6,000 orders, fewer for more than 600 tensors; a try takes O(operators + uses), and O(tensors^2) if
/// the peak permits it.
inline result<micro_order> lower_micro_head(std::string_view file, const model_graph& g, const problem& p,
                                            std::vector<op_id> order, bytes peak, memory_model model, search& context,
                                            const read_options& options = {}) {
  using namespace detail::tflite;
  const auto own = micro_arena_of(file, options);
  if (!own) return own.error();
  model_file m(file);
  if (!m.read()) return m.file.error();
  tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  micro_buffers buffers(m, sizes);
  if (m.file.failed()) return m.file.error();
  const auto head_of = [&](std::span<const op_id> o) {
    std::vector<micro_buffer> placed = buffers.run(file_order(g, {o.begin(), o.end()}));
    return place_greedily(placed);
  };
  const bool as_listed = order.empty();
  if (as_listed)
    for (const op_id op : p.ops()) order.push_back(op);
  micro_order best{std::move(order), 0};
  best.head = head_of(best.order);
  order_search how;
  const std::uint64_t count = std::max<std::size_t>(m.subgraphs[0].tensors.size(), 1);
  how.tries = std::clamp<std::uint64_t>((std::uint64_t{1} << 31) / (count * count), 100, 6000);
  while (true) {
    micro_order next{improve_order(p, best.order, peak, head_of, model, context, how), 0};
    next.head = head_of(next.order);
    if (next.head >= best.head) break;
    best = std::move(next);
  }
  if (as_listed && best.head >= own->planned) return micro_order{{}, own->planned};
  return best;
}

/// The persistent rest of TensorFlow Lite Micro's arena after the head, as an interpreter with reference kernels fills it.
struct micro_tail {
  bytes size = 0;
  std::vector<std::string> unknown;  ///< kinds with kernels that are not known; their memory is not counted
};

/// The persistent rest for a file, in bytes: the interpreter's objects, entries of operators and tensors, parsed options,
/// memory that kernels keep, variables, and the tensors that callers see. The order of operators changes its padding alone.
/// With pointers of 64 bits it is that of the recording allocator, to the byte, of 14 public models, but for the recorder's own
/// objects (tests/formats/micro_tail_test.cpp); with 32 bits the same structures with shorter pointers, which have not been
/// measured. Subgraphs that do not run count with their entries alone. O(file).
inline result<micro_tail> micro_tail_of(std::string_view file, pointer_width width, const read_options& options = {}) {
  using namespace detail::tflite;
  model_file m(file);
  if (!m.read()) return m.file.error();
  tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  micro_tail_count count(m, sizes, width, micro_tail_count::of_interpreter(width));
  micro_tail tail{count.run(), {}};
  if (m.file.failed()) return m.file.error();
  if (count.variables() > 0)  // their list, which the application makes
    tail.size +=
        detail::round_up(variables_size.on(width), 16) + detail::round_up(variable_size.on(width) * count.variables(), 16);
  tail.unknown = count.unknown();
  return tail;
}

/// Offsets of the tensors of a file for TensorFlow Lite Micro, multiples of 16, by a planner of `allocation/`.
/// Constants and variables get none. `in_place`: an operator's output takes the storage of an input that no operator reads
/// later, if kernels can.
template <planner P = minimize>
result<micro_plan> plan_micro(std::string_view file, const read_options& options, bool in_place, const P& how = {},
                              const memsched::options& limits = {}) {
  using namespace detail::tflite;
  model_file m(file);
  if (!m.read()) return m.file.error();
  tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  const std::vector<micro_buffer> tensors = micro_buffers(m, sizes).run({});
  if (m.file.failed()) return m.file.error();
  std::vector<std::size_t> storage(tensors.size());
  std::iota(storage.begin(), storage.end(), std::size_t{0});
  if (in_place) storage = storages(m.subgraphs[0], sizes, tensors).run(tensors);

  constexpr bytes alignment = 16;
  std::vector<buffer> buffers;
  std::vector<std::size_t> place(tensors.size());  // of a storage among the buffers
  const auto end_of = [](const micro_buffer& t) { return std::max(t.created, t.used) + 1; };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (storage[i] != i) continue;
    place[i] = buffers.size();
    const micro_buffer& t = tensors[i];
    buffers.push_back({.lower = t.created, .upper = end_of(t), .size = t.size, .alignment = alignment});
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (storage[i] == i) continue;
    buffer& b = buffers[place[storage[i]]];
    b.lower = std::min(b.lower, tensors[i].created);
    b.upper = std::max(b.upper, end_of(tensors[i]));
  }
  const arena_plan plan = plan_offsets(buffers, how, limits);
  if (plan.error) return *plan.error;
  const std::vector<std::size_t> starts = tensor_starts(m);
  if (m.file.failed()) return m.file.error();
  micro_plan made{std::vector<std::int32_t>(starts.back(), runtime_decides), plan.size, plan.lower_bound};
  std::vector<micro_buffer> placed = tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].tensor == none) continue;  // the runtime's own choice, after all tensors
    const bytes offset = plan.offset[place[storage[i]]];
    if (offset > std::numeric_limits<std::int32_t>::max())
      return graph_error{error_code::too_large, "an arena of 2 GiB or more is beyond what a plan can say", {}, {}};
    placed[i].offset = made.offsets[starts[tensors[i].subgraph] + tensors[i].tensor] = static_cast<std::int32_t>(offset);
  }
  made.head = place_greedily(placed);
  // The runtime looks up whether a variable of a later subgraph has an offset at its place in subgraph 0.
  for (std::size_t s = 1; s < m.subgraphs.size(); ++s)
    for (index_t t = 0; t < m.subgraphs[s].origins.size(); ++t)
      if (m.subgraphs[s].origins[t] == origin::variable && t < starts[1] && made.offsets[t] != runtime_decides)
        return graph_error{error_code::bad_input,
                           m.subgraphs[s].tensors[t].where.text() +
                               ": is a variable of a further subgraph, for which TensorFlow Lite Micro takes the offset of "
                               "another tensor: no plan can be written",
                           {},
                           {}};
  return made;
}

namespace detail::tflite {

/// The sizes and storages of a graph for TensorFlow Lite Micro.
inline void round_and_part(model_graph& g, bool in_place) {
  for (problem_draft::tensor_data& t : g.draft.tensors) {
    t.size = detail::round_up(t.size, 16);
    if (!in_place) t.alias_of = none;
  }
  for (op_id op = 0; op < g.draft.operators.size(); ++op) {
    const std::string& name = g.draft.operator_names[op];
    const std::string of_kind = name.substr(0, name.rfind('_'));
    const bool kept = in_place && std::any_of(std::begin(micro_in_place), std::end(micro_in_place),
                                              [&](kind_id k) { return of_kind == builtin_names[k]; });
    if (!kept) g.draft.operators[op].overwrites = none;
    if (of_kind == "RESHAPE") continue;
    for (const tensor_id t : g.draft.writes[op]) g.draft.tensors[t].alias_of = none;
  }
}

}  // namespace detail::tflite

/// The drafts of graphs as TensorFlow Lite Micro sees them: sizes are multiples of 16, buffers of kernels are workspace, and
/// nothing is in place but, if asked for, the tensors that `plan_micro` puts there. `file`: of which `read_tflite` made
/// them, and which is read once; one that can't be read has no kernels.
inline void as_micro(std::string_view file, std::span<model_graph> graphs, bool in_place, const read_options& options = {}) {
  using namespace detail::tflite;
  for (model_graph& g : graphs) round_and_part(g, in_place);
  model_file m(file);
  if (!m.read()) return;
  tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  micro_scratch scratch(m, sizes);
  for (model_graph& g : graphs) {
    const std::size_t s = g.path[0];
    for (op_id op = 0; op < g.draft.operators.size(); ++op)
      for (const bytes asked : scratch.of(s, m.subgraphs[s].operators[g.positions[op]]).sizes)
        g.draft.operators[op].workspace += detail::round_up(asked, 16);
  }
}

/// Facts that a plan or an order does not account for, in one line each: kernels that ask for room, tensors that no operator
/// uses, metadata that is not known to stand for any order.
inline std::vector<std::string> tflite_notes(std::string_view file, const read_options& options = {}) {
  using namespace detail::tflite;
  std::vector<std::string> notes;
  model_file m(file);
  if (!m.read()) return notes;
  tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  std::vector<std::string> kinds;
  micro_scratch scratch(m, sizes);
  for (const operator_info& op : m.subgraphs[0].operators)
    if (!scratch.of(0, op).known && std::find(kinds.begin(), kinds.end(), m.kind_of(op)) == kinds.end())
      kinds.push_back(m.kind_of(op));
  std::string list;
  for (const std::string& k : kinds) list += (list.empty() ? "" : ", ") + k;
  if (!list.empty())
    notes.push_back("in TensorFlow Lite Micro, kernels may ask for scratch room that is not accounted for: " +
                    base::one_line(list));
  bytes stray = 0;
  std::size_t count = 0;
  for (const micro_buffer& b : micro_buffers(m, sizes).run({}))
    if (b.tensor != none && b.created < 0) {
      stray += b.size;
      ++count;
    }
  if (count > 0)
    notes.push_back(std::to_string(count) + " tensors that no operator uses take " + std::to_string(stray) +
                    " bytes in TensorFlow Lite Micro");
  for (const metadata_entry& e : m.metadata)
    if (e.name != control_dependencies && e.name != offline_allocation && e.name != "min_runtime_version" &&
        e.name != "TFLITE_METADATA" && e.name != "CONVERSION_METADATA")
      notes.push_back("the metadata '" + base::one_line(e.name, 60) + "' is kept as it is");
  return notes;
}

/// A TensorFlow Lite file with other orders of its operators.
///
/// orders    per graph of `graphs`, which `read_tflite` made of this file: operators of its draft; empty: as it was
/// offsets   for the metadata OfflineMemoryAllocation, of all tensors of all subgraphs (see plan_micro: make it from a
///           file that has these orders); empty: none
/// chain     whether metadata model_control_dependencies keeps the order of subgraph 0 if delegates take a part
///
/// Lists of operators are permuted in the bytes; all else stays, and the length. Metadata that need more room get a new
/// head before the old bytes. An old plan of another order is replaced, or leaves all to the runtime; old control
/// dependencies are renumbered. Refused: lists that subgraphs share, tables that overlap a list and, if metadata must be
/// added, a model with fields that the schema does not have. O(file).
inline result<std::string> write_tflite(std::string_view file, const model_graphs& graphs,
                                        const std::vector<std::vector<op_id>>& orders,
                                        std::vector<std::int32_t> offsets = {}, bool chain = false) {
  using namespace detail::tflite;
  rewrite how{{}, std::move(offsets), chain};
  for (std::size_t g = 0; g < graphs.size() && g < orders.size(); ++g) {
    if (orders[g].empty()) continue;
    if (!lists_operators(graphs[g], orders[g]))
      return graph_error{error_code::bad_order, graphs[g].place + ": the order does not list each operator once", {}, {}};
    const std::size_t s = graphs[g].path[0];
    if (how.orders.size() <= s) how.orders.resize(s + 1);
    how.orders[s] = file_order(graphs[g], orders[g]);
  }
  return file_writer(file, how).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
