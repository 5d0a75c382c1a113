// memsched: schedules operator graphs from files.
#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>

#include "commands.hpp"
#include "man.hpp"
#include "schedulers.hpp"
#include "session.hpp"
#include "text.hpp"

namespace {

std::string scheduler_help() {
  std::string text = "how to schedule:";
  for (const auto& s : cli::schedulers())
    text += "\n  " + s.name + (s.alias.empty() ? "" : " (" + s.alias + ")") + ": " + s.about;
  return text;
}

/// Takes names and aliases of schedulers, and makes them names.
CLI::Validator as_scheduler() {
  const auto named = [](std::string& name) -> std::string {
    if (const cli::named_scheduler* s = cli::find_scheduler(name)) {
      name = s->name;
      return {};
    }
    std::string known;
    for (const auto& s : cli::schedulers()) known += (known.empty() ? "" : ", ") + s.name;
    return "there is no scheduler " + name + "; there are " + known;
  };
  return CLI::Validator(named, "NAME", "scheduler");
}

constexpr const char* graph_help =
    "*.json, *.onnx, *.tflite, builtin:NAME (`memsched networks` lists them), or - for standard input";
constexpr const char* graph_or_sdf_help =
    "*.json, *.onnx, *.tflite, *.xml (synchronous dataflow, SDF3), builtin:NAME (`memsched networks` lists them), or - for "
    "standard input";

/// The format of a result: the one that was asked for, else the one that the name of its file says, of those that a command
/// has.
std::string format_of(const CLI::App& command, const std::string& asked, const std::string& output, bool csv) {
  if (command.get_option("--format")->count() > 0) return asked;
  const cli::content says = cli::named_content(output);
  return says == cli::content::json ? "json" : csv && says == cli::content::csv ? "csv" : asked;
}

/// CLI11 alone would let -1 and 2^64 wrap to other numbers.
std::string whole_number(const std::string& text) {
  std::uint64_t n = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n);
  return error == std::errc{} && rest == end ? "" : text + " is no whole number from 0 to 2^64 - 1";
}

/// Takes seconds, and "none" as -1. CLI11 alone would take "nan".
std::string seconds(std::string& text) {
  if (text == "none") {
    text = "-1";
    return {};
  }
  double n = -1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n);
  return error == std::errc{} && rest == end && n >= 0 ? "" : text + " is no number of seconds";
}

/// 262144, 256K, 256KiB, 1.5M, 2GB: K, M and G are powers of 1024, kB, MB and GB of 1000. Leaves the number of bytes.
std::string size(std::string& text) {
  if (whole_number(text).empty()) return "";
  const std::string wrong = text + " is no size, as 262144, 256K, 1.5M or 2GB";
  double n = -1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || !(n >= 0) || rest == end) return wrong;
  const std::size_t at = std::string_view("KMG").find(*rest == 'k' ? 'K' : *rest);
  const std::string_view behind(rest + 1, end);
  const bool binary = behind.empty() || behind == "iB";
  if (at == std::string_view::npos || (!binary && behind != "B")) return wrong;
  for (std::size_t i = 0; i <= at; ++i) n *= binary ? 1024 : 1000;
  if (n >= 1e18) return text + " is too large";
  text = std::to_string(static_cast<std::uint64_t>(n));
  return "";
}
/// The same as a check of CLI11.
CLI::Validator as_size() { return CLI::Validator(size, "SIZE"); }

void add_model(CLI::App& command, cli::request& r) {
  command
      .add_option_function<std::string>(
          "--firing",
          [&r](const std::string& rule) {
            r.options.default_firing = rule == "cbp" ? memsched::firing::cbp : memsched::firing::pbc;
          },
          "for operators that do not say: pbc keeps inputs until outputs exist, cbp frees them before")
      ->check(CLI::IsMember({"pbc", "cbp"}))
      ->default_str("pbc");
  command.add_flag_callback(
      "--no-inplace", [&r] { r.options.in_place = false; }, "no output takes the storage of an input");
  command
      .add_option("--shape", r.how.shapes, "dimensions of an input of a model file that leaves them open: NAME=1,3,224,224")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--value", r.how.values, "an input of an .onnx file that always has this value: NAME=16000")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--input-format", r.how.format,
                  "what the graph is, whatever its name says: json, onnx or tflite; xml where dataflow is taken")
      ->check(CLI::IsMember({"json", "onnx", "tflite", "xml"}));
  command.add_flag("--keep-inputs", r.how.keep_inputs, "graph inputs live to the end, as in TensorFlow Lite");
  command.add_flag("--pure-custom", r.how.pure_custom, "custom operators of .tflite files keep no state: any order will do");
}

void add_time_limit(CLI::App& command, cli::request& r, const char* time_default) {
  command.add_option("--time-limit", r.time_limit, "seconds, or none; then the best answer so far and a bound")
      ->transform(CLI::Validator(seconds, "", "seconds"))
      ->default_str(time_default);
}

void add_limits(CLI::App& command, cli::request& r, const char* time_default) {
  add_time_limit(command, r, time_default);
  command
      .add_option("--state-limit", r.options.state_limit, "sets of operators to look at; deterministic, unlike a time limit")
      ->check(whole_number);
  command
      .add_option("--memory-limit", r.options.memory_limit,
                  "what the tables of a search may take, such as 512M; the graph and its compression come on top")
      ->transform(as_size())
      ->default_str("2G");
  command.add_option("--parts", r.knobs.parts, "ilp: parts of the graph; 1 for an exact answer")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--without", r.knobs.without,
                  "serenity: leave out divide, soft_budget, or direct (safe nodes taken at once)")
      ->check(CLI::IsMember({"divide", "soft_budget", "direct"}))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--threads", r.options.threads,
                  "at most so many: optimal and ilp share among them what is hard; the answer is the same with one")
      ->check(CLI::Range(1u, 4096u));
}

/// How a network is rewritten, with the runtime's default in words; `needs` names the flag that these options need, or
/// nothing.
void add_rewriting(CLI::App& command, cli::rewriting& r, const char* runtime_default, CLI::Option* needs = nullptr) {
  for (CLI::Option* option :
       {command
            .add_option("--max-extra-macs", r.max_extra_macs,
                        "multiply-accumulates to spend beyond the given ones: a count, or a share as 10%")
            ->capture_default_str(),
        command
            .add_option("--runtime", r.runtime,
                        "parts: kernels read and write rows; whole: standard operators, with slices that copy")
            ->check(CLI::IsMember({"parts", "whole"}))
            ->default_str(runtime_default),
        command.add_flag("--stream-input", r.stream_input, "inputs come line by line and need no room before"),
        command.add_option("--blocks", r.blocks, "at most so many blocks of rows of a tensor; without: single rows")
            ->check(whole_number)
            ->check(CLI::Range(1, 1 << 20)),
        command.add_flag("--reals", r.reals, "sums of floats may come in another order")})
    if (needs != nullptr) option->needs(needs);
}

/// How one graph's order is searched for.
void add_search(CLI::App& command, cli::request& r, std::string& scheduler, const char* time_default) {
  command.add_option("--scheduler", scheduler, scheduler_help())->transform(as_scheduler())->capture_default_str();
  command
      .add_option("--budget", r.options.budget,
                  "bytes there are, as 262144 or 256K; exit status 3 where the order needs more")
      ->transform(as_size());
  add_limits(command, r, time_default);
  add_model(command, r);
}

/// What is only for synchronous dataflow.
void add_sdf(CLI::App& command, cli::request& r, bool schedules) {
  const auto option = [&](const std::string& name, const char* about, auto take) {
    return command.add_option_function<std::string>(
        name,
        [&r, name, take](const std::string& text) {
          r.sdf.given = name;
          take(text);
        },
        about);
  };
  const auto number = [&](const std::string& name, const char* about, auto store) {
    option(name, about, [store](const std::string& text) {
      store(std::strtoull(text.c_str(), nullptr, 10));
    })->check(whole_number);
  };
  number("--token-size", ".xml: bytes of a token where the file does not say",
         [&r](memsched::bytes n) { r.sdf.token_size = n; });
  number("--iterations", ".xml: iterations that are scheduled as one",
         [&r](memsched::bytes n) { r.sdf.what.iterations = n; });
  if (!schedules) return;
  number("--max-firings", ".xml: firings that may be ordered one by one; beyond, they are grouped",
         [&r](memsched::bytes n) { r.sdf.what.most_firings = n; });
  using memsched::sdf::form;
  using memsched::sdf::memory;
  option("--loops",
         ".xml: any schedule, nested loops with each actor once (single), or all firings of an actor in a row (flat)",
         [&r](const std::string& f) {
           r.sdf.what.form = f == "single" ? form::single : f == "flat" ? form::flat : form::any;
         })
      ->check(CLI::IsMember({"any", "single", "flat"}))
      ->default_str("any");
  option("--buffers",
         ".xml: what is to be small: one memory for all channels (shared), or the sum of one for each (separate)",
         [&r](const std::string& m) { r.sdf.what.memory = m == "separate" ? memory::separate : memory::shared; })
      ->check(CLI::IsMember({"shared", "separate"}))
      ->default_str("shared");
}

void set_time_limit(cli::request& r) {
  using namespace std::chrono;
  constexpr double largest = 1e9;
  if (r.time_limit >= 0 && r.time_limit < largest)
    r.options.time_limit = duration_cast<nanoseconds>(duration<double>(r.time_limit));
}

/// Reads a size, or a share as "80%"; says on standard error where the text is neither.
bool read_budget(std::string text, cli::recompute_request& r) {
  std::string error = "--budget is required, or --curve";
  if (text.ends_with('%')) {
    double share = -1;
    const char* end = text.data() + text.size() - 1;
    const auto [rest, code] = std::from_chars(text.data(), end, share);
    if (code == std::errc{} && rest == end && share >= 0 && share <= 1e6) return r.percent = share, true;
    error = "--budget: " + text + " is no share, as 80%";
  } else if (!text.empty()) {
    error = size(text);
    if (error.empty() && whole_number(text).empty()) return r.options.budget = std::stoull(text), true;
    error = "--budget: " + error;
  }
  std::fprintf(stderr, "%s\nRun with --help for more information.\n", error.c_str());
  return false;
}

/// Gives a request the default time limit where the caller set none, and asked for no search that repeats itself.
void limit_by_default(const CLI::App& command, cli::request& r) {
  if (command.get_option("--time-limit")->count() > 0) return;
  if (const CLI::Option* states = command.get_option_no_throw("--state-limit"); states != nullptr && states->count() > 0)
    return;
  r.time_limit = cli::default_seconds;
  r.default_time_limit = true;
}

/// Sets the time limit of a request, and makes its search heed interrupts and tell its progress.
void prepare(cli::request& r, cli::session& here) {
  set_time_limit(r);
  here.attend(r.options, r.log);
}

}  // namespace

static int run(int argc, char** argv) {
  CLI::App app{
      "memsched finds the execution order of an operator graph with the smallest peak memory, and proves it.\n\n"
      "  memsched schedule model.onnx --shape x=1,3,224,224\n"
      "  memsched compare builtin:nasnet-cifar\n"
      "  memsched schedule model.tflite --budget 256K || echo does not fit\n\n"
      "Exit status: 0 done; 1 bad input; 2 wrong usage; 3 a budget or a capacity that is not met, or no rewritten\n"
      "model that needs less memory; 130 interrupted, with the best answer so far."};
  app.require_subcommand(1);
  app.fallthrough(false);
  app.set_version_flag("--version", "memsched " MEMSCHED_VERSION_STRING);

  const std::string seconds_by_default = std::to_string(cli::default_seconds);
  const std::string limit_by_default_text = seconds_by_default + "; none with --state-limit";
  cli::schedule_request schedule;
  schedule.time_limit = -1;
  auto* on_schedule = app.add_subcommand("schedule", "Order the operators of one graph");
  on_schedule->add_option("graph", schedule.graph, graph_or_sdf_help)->required();
  add_search(*on_schedule, schedule, schedule.scheduler, limit_by_default_text.c_str());
  auto* rewrites = on_schedule->add_flag("--rewrite", schedule.rewrite,
                                         "rewrite the network first, for less memory than any order has: see `rewrite`");
  add_rewriting(*on_schedule, schedule.how_rewritten, "parts", rewrites);
  add_sdf(*on_schedule, schedule, true);
  on_schedule->add_option("--emit-c", schedule.emit_c,
                          ".xml: write the schedule as C there: loops that call the actors, and buffers");
  std::string format = "text";
  on_schedule->add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  on_schedule
      ->add_option_function<std::string>(
          "--arena", [&schedule](const std::string& runtime) { schedule.micro = runtime == "tflm"; },
          "also what a runtime's arena takes. tflm: the head of TensorFlow Lite Micro, with and without offsets")
      ->check(CLI::IsMember({"tflm"}));
  on_schedule->add_flag("--log", schedule.log,
                        "print the search on standard error: a line for each better order or bound, with what found it");
  on_schedule->add_flag("--explain", schedule.explain, "the JSON also says which tensors are live at the peak");
  on_schedule->add_flag_callback(
      "--list", [&] { schedule.list = cli::listing::always; }, "list the order, however long; else up to 60 operators");
  on_schedule->add_flag_callback(
      "--no-list", [&] { schedule.list = cli::listing::never; }, "do not list the order");
  on_schedule->add_option("-o,--output", schedule.output,
                          "write the result there, not to standard output (-); as JSON where the name ends in .json");
  on_schedule->add_option("--certificate", schedule.certificate,
                          "write the result there, with a proof of its bound that `verify --certificate` checks: JSON, or "
                          "CBOR where the name ends in .cbor");
  on_schedule
      ->add_option("--certificate-limit", schedule.certificate_limit,
                   "bytes that this file may take; a larger proof is replaced by one of a smaller bound")
      ->needs("--certificate");
  on_schedule->add_option("--svg", schedule.svg, "draw memory over time, beside the file's own order, as an SVG there");

  cli::reorder_request reorder;
  reorder.time_limit = -1;
  auto* on_reorder = app.add_subcommand("reorder", "Write a model file again with its operators in the best order");
  on_reorder->add_option("model", reorder.graph, "*.onnx or *.tflite")->required();
  on_reorder->add_option("-o,--output", reorder.output, "the new file, of the same format; - for standard output")
      ->required();
  std::string offsets;
  auto* with_offsets =
      on_reorder
          ->add_option("--offsets", offsets,
                       "also write where tensors lie, for TensorFlow Lite Micro; inplace: outputs over inputs")
          ->expected(0, 1)
          ->check(CLI::IsMember({"inplace", "true", ""}));
  on_reorder->add_flag("--control-edges", reorder.control_edges,
                       "also write control dependencies, so that LiteRT keeps the order beside a delegate");
  on_reorder->add_option("--order", reorder.order, "the order of this result of `schedule --format json`");
  add_search(*on_reorder, reorder, reorder.scheduler, limit_by_default_text.c_str());

  cli::report_request picture;
  picture.time_limit = 10;
  auto* on_report = app.add_subcommand("report", "One page that shows where memory goes, why, and what would help");
  on_report->add_option("graph", picture.graph, graph_help)->required();
  on_report->add_option("-o,--output", picture.output, "the page, as HTML that needs nothing else; - for standard output")
      ->required();
  on_report->add_flag("--offsets", picture.offsets, "also plan where tensors lie, and draw the arena");
  on_report->add_option("--alignment", picture.alignment, "of every offset")
      ->check(whole_number)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  add_search(*on_report, picture, picture.scheduler, "10, and as much again for what would help");

  cli::compare_request compare;
  compare.time_limit = 10;
  auto* on_compare = app.add_subcommand("compare", "The schedulers on some graphs: peak, bound, verdict, seconds");
  on_compare->add_option("graphs", compare.graphs, graph_or_sdf_help)->required();
  on_compare->add_flag("--all", compare.all, "also the schedulers that others are made of");
  on_compare->add_option("--format", compare.format, "text; json: one object a graph and line; csv: one row a scheduler")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  add_limits(*on_compare, compare, "10, for each scheduler");
  add_model(*on_compare, compare);
  add_sdf(*on_compare, compare, true);

  cli::batch_request batch;
  batch.time_limit = -1;
  auto* on_batch =
      app.add_subcommand("batch", "Schedule many graphs: a line of JSON in for each, a line of JSON out, in the same order");
  on_batch
      ->add_option(
          "input", batch.input,
          "lines such as {\"graph\": \"a.onnx\", \"id\": 7, \"time_limit\": 1}, or a path alone; a graph may stand there\n"
          "  itself. Keys:\n"
          "  graph, id, scheduler, time_limit, state_limit, memory_limit, budget, firing, inplace, keep_inputs,\n"
          "  explain; others are errors. A bad line costs one error line. - is standard input")
      ->capture_default_str();
  on_batch->add_option("--jobs", batch.jobs, "graphs at once")->check(CLI::Range(1u, 4096u))->capture_default_str();
  on_batch->add_option("--scheduler", batch.scheduler, "where a line does not say")
      ->transform(as_scheduler())
      ->capture_default_str();
  on_batch->add_option("-o,--output", batch.output, "write the results there, not to standard output (-)");
  on_batch->add_flag("--resume", batch.resume, "go on behind the last whole line of the output file");
  add_limits(*on_batch, batch, "none, for each graph");
  add_model(*on_batch, batch);

  cli::request inspect;
  inspect.time_limit = -1;
  std::string inspected, hierarchy;
  auto* on_inspect = app.add_subcommand("inspect", "What a graph is like, its bounds, and where its peak is");
  on_inspect->add_option("graph", inspected, graph_or_sdf_help)->required();
  on_inspect->add_option("--hierarchy", hierarchy, "draw sequences and groups (hmcos) as a Graphviz file there");
  std::string inspect_format = "text";
  on_inspect->add_option("--format", inspect_format, "text or json; of .xml text alone")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_time_limit(*on_inspect, inspect, seconds_by_default.c_str());
  add_model(*on_inspect, inspect);
  add_sdf(*on_inspect, inspect, false);

  cli::sample_request sample;
  sample.time_limit = 60;
  auto* on_sample = app.add_subcommand("sample", "Peaks of random orders, beside those of the schedulers");
  on_sample->add_option("graph", sample.graph, graph_help)->required();
  on_sample->add_option("--count", sample.count, "how many orders")
      ->check(whole_number)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  on_sample->add_option("--seed", sample.seed, "of the random numbers; the same seed, the same orders")
      ->check(whole_number)
      ->capture_default_str();
  on_sample->add_option("-o,--output", sample.output, "write the CSV there, not to standard output (-)");
  on_sample->add_option("--svg", sample.svg, "draw the cumulative distribution as an SVG there");
  add_limits(*on_sample, sample, "60, for each scheduler");
  add_model(*on_sample, sample);

  cli::request verify;
  std::string verified, result, certificate;
  auto* on_verify = app.add_subcommand("verify", "Check a result of `schedule` or `plan`, and the certificate of a bound");
  on_verify->add_option("graph", verified, std::string(graph_or_sdf_help) + "; or BUFFERS.csv")->required();
  auto* files = on_verify->add_option_group("what to check", "at least one of");
  files->add_option("result", result,
                    "what `schedule --format json` wrote: order and peak; or `plan --format json`: offsets");
  files->add_option("--certificate", certificate, "what `schedule --certificate` or `plan --certificate` wrote");
  files->require_option(1, 2);
  add_model(*on_verify, verify);
  add_sdf(*on_verify, verify, false);

  cli::plan_request plan;
  plan.time_limit = -1;
  auto* on_plan =
      app.add_subcommand("plan", "Offsets of all tensors of an order in the smallest arena; of a table of buffers");
  on_plan->add_option("graph", plan.graph, std::string(graph_help) + "; or BUFFERS.csv as minimalloc reads it")->required();
  on_plan->add_option("--order", plan.order,
                      "a result of `schedule`, or a list of operator indices; else the order of least peak");
  on_plan->add_flag("--joint", plan.joint, "find the order, too: the smallest arena over all orders");
  on_plan
      ->add_option("--planner", plan.planner,
                   "how to plan:\n  minimize: smallest, with proof\n  exact: within the capacity or the load\n"
                   "  birth: as TensorFlow Lite\n  size: as TensorFlow Lite for Microcontrollers\n  valley: valley fit")
      ->check(CLI::IsMember({"minimize", "exact", "birth", "size", "valley"}))
      ->capture_default_str();
  on_plan->add_option("--alignment", plan.alignment, "of every offset; in a table, of those without their own")
      ->check(whole_number)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  on_plan
      ->add_option("--capacity", plan.options.budget,
                   "bytes there are, as 262144 or 256K; exit status 3 where the arena needs more")
      ->transform(as_size());
  add_time_limit(*on_plan, plan, "none");
  on_plan->add_option("--node-limit", plan.options.state_limit, "nodes to look at; deterministic, unlike a time limit")
      ->check(whole_number);
  add_model(*on_plan, plan);
  on_plan->add_option("--format", plan.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  on_plan->add_option("--svg", plan.svg, "draw the arena, time by offset, as an SVG there");
  on_plan->add_option("-o,--output", plan.output,
                      "write the plan there, not to standard output (-); as JSON or CSV where the name ends so");
  on_plan->add_option("--certificate", plan.certificate,
                      "write the plan there as JSON, or CBOR where the name ends in .cbor, with a proof that no arena is "
                      "smaller, which `verify --certificate` checks");

  cli::traffic_request traffic;
  traffic.time_limit = -1;
  std::string traffic_format = "text";
  auto* on_traffic = app.add_subcommand("traffic", "Bytes that an order moves off a chip with less memory than its peak");
  on_traffic->add_option("graph", traffic.graph, graph_help)->required();
  on_traffic->add_option("--capacity", traffic.capacity, "bytes on the chip, as 262144 or 256K")
      ->transform(as_size())
      ->required();
  on_traffic->add_option("--order", traffic.order, "as for `plan`");
  on_traffic
      ->add_option("--model", traffic.model,
                   "paged: bytes move and may stream; resident: whole tensors, operands on the chip")
      ->check(CLI::IsMember({"paged", "resident"}))
      ->capture_default_str();
  on_traffic->add_option("--tries", traffic.tries, "look for an order of less traffic, by so many steps of local search")
      ->check(whole_number)
      ->capture_default_str();
  add_time_limit(*on_traffic, traffic, "none");
  add_model(*on_traffic, traffic);
  on_traffic->add_option("--format", traffic_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();

  cli::recompute_request recompute;
  recompute.time_limit = -1;
  std::string recompute_format = "text", recompute_budget;
  auto* on_recompute = app.add_subcommand(
      "recompute", "Run operators again, at the least extra cost, so that a graph fits a budget below every order's peak");
  on_recompute->add_option("graph", recompute.graph, graph_help)->required();
  auto* with_budget = on_recompute->add_option(
      "--budget", recompute_budget,
      "bytes there are, as 262144 or 256K, or a share of the file order's peak, as 80%; exit status 3 "
      "where it is not met");
  on_recompute
      ->add_option("--curve", recompute.curve,
                   "so many budgets from the file order's peak down, a line each: extra cost, bound")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10000}))
      ->excludes(with_budget);
  on_recompute->add_flag("--keep-order", recompute.keep_order, "operators first run in the file's order; so of the bound");
  add_time_limit(*on_recompute, recompute, limit_by_default_text.c_str());
  on_recompute
      ->add_option("--state-limit", recompute.options.state_limit,
                   "schedules to look at; deterministic, unlike a time limit")
      ->check(whole_number);
  add_model(*on_recompute, recompute);
  on_recompute->add_option("--format", recompute_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  on_recompute->add_option("--certificate", recompute.certificate,
                           "write the result there as JSON, with a proof of the bound of its extra cost, which "
                           "tests/proof/check_recompute.py checks");
  on_recompute->add_option("-o,--output", recompute.output,
                           "write the result there, not to standard output (-); as JSON where the name ends in .json");

  cli::rewrite_request rewrite;
  rewrite.time_limit = 60;
  rewrite.options.budget = 0;
  auto* on_rewrite =
      app.add_subcommand("rewrite", "A network that computes the same in less memory than any order of the given one");
  on_rewrite->add_option("model", rewrite.graph, "*.onnx, *.tflite, or builtin:NAME (`memsched networks` lists them)")
      ->required();
  on_rewrite
      ->add_option("--budget", rewrite.options.budget,
                   "bytes there are, as 262144 or 256K: few operators that fit; exit status 3 where none are found. "
                   "Without: the smallest peak")
      ->transform(as_size());
  add_rewriting(*on_rewrite, rewrite.how_rewritten, "whole where -o names a model file, else parts");
  on_rewrite->add_option("--verify", rewrite.verify, "run both networks with so many seeds of random numbers")
      ->check(whole_number)
      ->capture_default_str();
  add_time_limit(*on_rewrite, rewrite, "60");
  on_rewrite
      ->add_option("--state-limit", rewrite.options.state_limit,
                   "sets of operators to look at for each network; deterministic")
      ->check(whole_number);
  add_model(*on_rewrite, rewrite);
  std::string rewrite_format = "text";
  on_rewrite
      ->add_option("--format", rewrite_format,
                   "text or json. Its not_understood lists kinds, reasons and numbers of operators that no rewrite touches; "
                   "with -o of a model file, written says whether there is one, and network_peak and network_operators are "
                   "those of the network before it is written")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  on_rewrite->add_option(
      "-o,--output", rewrite.output,
      "write the rewritten network there: *.onnx or *.tflite, of standard operators, else its graph as JSON. A model file "
      "is judged as `schedule` reads it again: peak, bound, budget and exit status are those of the file, also with "
      "--runtime parts. Where it needs no less memory than the given model in its best order, it is not written: exit "
      "status 3");
  on_rewrite->add_flag(
      "--offsets", rewrite.offsets,
      "with -o of a .tflite file: write where TensorFlow Lite Micro is to place tensors, too; the budget is "
      "then that of its arena's head");
  on_rewrite->add_option("--front", rewrite.front,
                         "write peaks, multiply-accumulates and operators that no other network seen beats, as CSV there");
  on_rewrite->add_option("--svg", rewrite.svg, "draw memory over time, before and after, as an SVG there");
  on_rewrite->add_option("--front-svg", rewrite.front_svg, "draw the front as an SVG there");
  on_rewrite->add_option(
      "--emit-c", rewrite.emit,
      "write a library in C there, NAME.h and NAME.c, named after the model, and NAME_main.c, which runs it");

  std::string shell;
  auto* on_completion = app.add_subcommand("completion", "Print what makes a shell complete this program's words");
  on_completion->add_option("shell", shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  auto* on_man = app.add_subcommand("man", "Print the manual page, for `man -l -`");

  auto* on_networks = app.add_subcommand("networks", "List the graphs that builtin:NAME makes");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? cli::done : cli::wrong_usage;
  }

  cli::session here;
  int status = cli::done;
  if (*on_schedule) {
    schedule.json = format_of(*on_schedule, format, schedule.output, false) == "json";
    limit_by_default(*on_schedule, schedule);
    prepare(schedule, here);
    status = cli::run_schedule(schedule);
  } else if (*on_report) {
    prepare(picture, here);
    status = cli::run_report(picture);
  } else if (*on_reorder) {
    reorder.offsets = with_offsets->count() > 0;
    reorder.in_place = offsets == "inplace";
    limit_by_default(*on_reorder, reorder);
    prepare(reorder, here);
    status = cli::run_reorder(reorder);
  } else if (*on_compare) {
    prepare(compare, here);
    status = cli::run_compare(compare);
  } else if (*on_batch) {
    here.heed();
    set_time_limit(batch);  // an interrupt ends the reading; what runs is finished
    status = cli::run_batch(batch, [&] { return here.interrupted(); });
  } else if (*on_inspect) {
    limit_by_default(*on_inspect, inspect);
    prepare(inspect, here);
    status = cli::run_inspect(inspected, hierarchy, inspect_format == "json", inspect);
  } else if (*on_sample) {
    prepare(sample, here);
    status = cli::run_sample(sample);
  } else if (*on_verify) {
    status = cli::run_verify(verified, result, certificate, verify);
  } else if (*on_plan) {
    plan.format = format_of(*on_plan, plan.format, plan.output, true);
    prepare(plan, here);
    status = cli::run_plan(plan);
  } else if (*on_traffic) {
    traffic.json = traffic_format == "json";
    prepare(traffic, here);
    status = cli::run_traffic(traffic);
  } else if (*on_recompute) {
    if (recompute.curve == 0 && !read_budget(recompute_budget, recompute)) return cli::wrong_usage;
    recompute.json = format_of(*on_recompute, recompute_format, recompute.output, false) == "json";
    limit_by_default(*on_recompute, recompute);
    prepare(recompute, here);
    status = cli::run_recompute(recompute);
  } else if (*on_rewrite) {
    rewrite.json = rewrite_format == "json";
    prepare(rewrite, here);
    status = cli::run_rewrite(rewrite);
  } else if (*on_networks) {
    status = cli::run_networks();
  } else if (*on_man) {
    cli::print(cli::manual(app));
  } else if (*on_completion) {
    cli::print(cli::completion(app, shell));
  }
  cli::clear_progress();
  if (status != cli::bad_input && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    return cli::report({memsched::error_code::bad_input, "standard output: cannot be written whole", {}, {}});
  return here.interrupted() && status != cli::bad_input ? cli::interrupted : status;
}

int main(int argc, char** argv) {
  const auto give_up = [](const char* reason) {
    cli::clear_progress();
    return cli::report({memsched::error_code::bad_input, reason, {}, {}});
  };
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large for the system is an error of writing, which tidies up
#endif
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return give_up("out of memory");
  } catch (const std::exception& e) {
    return give_up(e.what());
  }
}
