// The commands of the program, one function each. Each returns the exit status.
#pragma once

#include <functional>
#include <memsched/formats/buffers_csv.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/sdf/schedule.hpp>
#include <memsched/search/options.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load.hpp"
#include "output.hpp"
#include "schedulers.hpp"

namespace cli {

enum exit_status { done = 0, bad_input = 1, wrong_usage = 2, over_budget = 3, interrupted = 130 };

/// Options for graphs of synchronous dataflow alone.
struct sdf_knobs {
  memsched::sdf::options what;
  std::optional<memsched::bytes> token_size;
  std::string given;  ///< the last option that is only for them
};

/// The time limit of commands with one answer where the caller sets none.
inline constexpr int default_seconds = 30;

/// The request that all commands that schedule share.
struct request {
  memsched::options options;
  cli::knobs knobs;
  reading how;
  sdf_knobs sdf;
  double time_limit = 0;            ///< seconds; none where negative
  bool default_time_limit = false;  ///< the caller set no limit, and this is the command's own
  bool log = false;                 ///< the search is told line by line on standard error
  bool log_json = false;            ///< as JSON lines
};

/// Whether the operators of an order are listed for people.
enum class listing : unsigned char { when_short, always, never };

/// Options for rewriting a network.
struct rewriting {
  std::string max_extra_macs = "0";  ///< a count, or a share of the given ones: "10%"
  std::string runtime{};             ///< parts or whole; empty: whole for a model file, else parts
  std::uint64_t blocks = 0;          ///< the most blocks of rows of a tensor; 0 for single rows
  bool stream_input = false, reals = false;
};

struct schedule_request : request {
  std::string graph, scheduler = "automatic", output, svg, dot, certificate, emit_c;
  memsched::bytes certificate_limit = memsched::no_limit;  ///< of the file with the certificate
  bool json = false, csv = false;
  bool explain = false;  ///< the result also says what is live at the peak
  bool micro = false;    ///< --arena tflm: also what the arena of TensorFlow Lite Micro takes
  bool rewrite = false;  ///< rewrite the network first
  rewriting how_rewritten{};
  listing list = listing::when_short;
};

struct compare_request : request {
  std::vector<std::string> graphs;
  std::string format = "text", output;
  bool all = false;  ///< also the schedulers that are parts of others
};

struct batch_request : request {
  std::string input = "-", output, scheduler = "automatic";
  unsigned jobs = 1;
  bool resume = false;  ///< what `output` holds already is not done again
  bool fail = false;    ///< a line that could not be answered is a failure of the whole
};

struct inspect_request : request {
  std::string graph, hierarchy, output, format = "text";  ///< `hierarchy`: where to draw the hierarchical graph, as DOT
};

struct sample_request : request {
  std::string graph, output, svg;
  std::size_t count = 1000;
  std::uint64_t seed = 1;
};

struct plan_request : request {
  std::string graph, order, planner = "minimize", format = "text", output, svg, certificate;
  std::uint64_t alignment = 1;
  bool joint = false, list = false;
};

struct traffic_request : request {
  std::string graph, order, output, certificate, model = "paged";
  std::uint64_t capacity = 0, tries = 0;
  bool json = false;
};

struct recompute_request : request {
  std::string graph, output, svg, certificate, policy = "automatic";
  std::optional<long double> percent{};  ///< the budget, of the file order's peak; else options.budget
  std::size_t curve = 0;                 ///< the number of budgets of a curve; 0 for one budget
  memsched::offload moves{};
  bool keep_order = false, no_reruns = false, json = false;
};

struct verify_request : request {
  std::string graph, result, certificate;
  bool json = false;
};

/// A result that holds.
struct verified {
  const char* kind;                          ///< order, plan, executions, traffic, or schedule of synchronous dataflow
  std::string graph;                         ///< its name
  const char* measure;                       ///< the number that is least: peak, arena, extra_cost or traffic
  std::uint64_t value;                       ///< that number
  std::string text;                          ///< for people: a line, or several
  bool nothing_fits = false;                 ///< the certificate proves that no executions are within the budget
  std::optional<std::uint64_t> proven = {};  ///< the lower bound that the certificate proves
  bool optimal() const { return proven == value; }
};

struct reorder_request : request {
  std::string graph, scheduler = "automatic", output, order;  ///< `order`: a result of `schedule`; empty for none
  bool offsets = false, in_place = false, control_edges = false, json = false;
  bool force = false;  ///< also a file that takes more memory in ONNX Runtime or TensorFlow Lite Micro
};

struct rewrite_request : request {
  std::string graph, output, svg, front, front_svg;
  std::string emit;           ///< the folder of a C program, or empty
  bool cmsis_nn = false;      ///< that program calls CMSIS-NN
  bool from_model = false;    ///< that program reads its weights from the model's file
  memsched::bytes flash = 0;  ///< the budget of its constants; 0 for none
  std::uint64_t verify = 1;   ///< runs with random numbers that before and after must agree in
  rewriting how_rewritten{};
  bool offsets = false;        ///< for TensorFlow Lite Micro, in the .tflite file that is written
  bool total = false;          ///< --objective tflm-total: the smallest arena of TensorFlow Lite Micro, head and tail
  unsigned pointer_bits = 32;  ///< of the machine that the tail is counted for: 32 or 64
  bool json = false;
};

int run_schedule(const schedule_request&);
int run_rewrite(const rewrite_request&);
/// One result line for a graph; `inline_json` is the graph itself where it is not empty.
memsched::result<std::string> schedule_json(const schedule_request&, std::string_view inline_json);
/// `interrupted` says when to read no more.
int run_batch(const batch_request&, const std::function<bool()>& interrupted);
int run_reorder(const reorder_request&);

/// A model file with its operators in the best order found.
struct reordered_model {
  std::string bytes;
  memsched::bytes lower_bound = 0;  ///< no order has a smaller peak
};
/// The file that `reorder` would write.
memsched::result<reordered_model> reordered_file(const reorder_request&);
int run_recompute(const recompute_request&);

/// Bytes of the head of TensorFlow Lite Micro's arena, where activations lie, without what kernels ask for.
struct micro_heads {
  memsched::bytes file = 0;         ///< in the file's order, with the plan that the file has
  memsched::bytes unplanned = 0;    ///< in the file's order, placed by the runtime
  memsched::bytes reordered = 0;    ///< in the order found, placed by the runtime
  memsched::bytes planned = 0;      ///< in the order found, with offsets in the file
  memsched::bytes lower_bound = 0;  ///< no plan of the order found takes less
};

/// The heads of the arena of a .tflite file, whose graphs get these orders.
memsched::result<micro_heads> micro_heads_of(const std::string& path, const request&, const memsched::model_graphs&,
                                             const std::vector<std::vector<memsched::op_id>>& orders);
int run_sample(const sample_request&);
int run_compare(const compare_request&);
int run_inspect(const inspect_request&);
int run_verify(const verify_request&);
int run_plan(const plan_request&);
int run_traffic(const traffic_request&);
int run_networks();

/// The order that a result of `schedule` holds, or that a file lists; of the smallest peak where `path` is empty.
memsched::result<std::vector<memsched::op_id>> read_order(const std::string& path, const loaded&, const memsched::options&);
/// The same of a file that has been read.
memsched::result<std::vector<memsched::op_id>> read_order(const nlohmann::json&, const std::string& path, const loaded&);

/// Checks a plan of `plan --format json`, of a graph or, without one, of the table of buffers in `source`; with the proof
/// that its arena is the smallest where asked for.
memsched::result<verified> verify_plan(const loaded*, const std::string& source, const nlohmann::json&,
                                       const std::string& path, bool with_certificate, memsched::memory_model);

/// The problem in which every operator runs once.
memsched::problem without_reruns(const memsched::problem&);

/// The certificate of a result of `recompute` or `traffic`.
memsched::result<memsched::recompute_proof> read_cost_proof(const nlohmann::json& result, const std::string& path);

/// Checks what `recompute` wrote: executions, their cost and, with a certificate, the bound of that cost.
memsched::result<verified> verify_executions(const loaded&, const nlohmann::json&, const std::string& path,
                                             bool with_certificate, memsched::memory_model);

/// Checks what `traffic` wrote: the order, what it moves, of whole tensors when they leave and come back, and, with a
/// certificate, the bound of what the order moves.
memsched::result<verified> verify_traffic(const loaded&, const nlohmann::json&, const std::string& path,
                                          bool with_certificate, memsched::memory_model);

/// A number of a result.
memsched::result<memsched::bytes> whole_number(const nlohmann::json& result, const char* key, const std::string& path);
/// A list of operators; `place` is its own in the file.
memsched::result<std::vector<memsched::op_id>> operator_list(const nlohmann::json& list, const std::string& place,
                                                             const std::string& path);
/// The model with what a result says of it.
memsched::result<memsched::memory_model> model_of(const nlohmann::json& result, const std::string& path,
                                                  memsched::memory_model);

/// Reads a file of JSON or CBOR.
memsched::result<nlohmann::json> read_object(const std::string& path);

/// Whether a file is a table of buffers, by its name.
bool is_table(const std::string& path);

/// The buffers of a table; those without an alignment get this one.
memsched::result<memsched::named_buffers> read_table(const std::string& path, memsched::bytes alignment);

/// Schedules with the limits of a request.
body_scheduler scheduler_of(const std::string& name, const request&);

/// The orders of a model's graphs that a result file holds, with their peaks as bounds.
memsched::result<std::vector<memsched::graph_order>> orders_of_result(const std::string& path, const memsched::model_graphs&,
                                                                      const request&);

/// Says on standard error what is wrong; returns `bad_input`.
int report(const memsched::graph_error&);

/// Writes the other files and the result, which goes to `output` or, where that is empty, to standard output: all or none.
/// Returns `status`, or `report` of the error.
int write_result(const std::string& output, std::string text, std::vector<output_file> others = {}, int status = done);

/// "pbc" or "cbp": the firing rule of operators that do not say.
const char* firing_name(const request&);

}  // namespace cli
