#include "declare.hpp"

#include <chrono>
#include <cstdio>

#include "session.hpp"

namespace cli {

void add_graph(command& c, std::string& into, bool dataflow) {
  c.add("GRAPH", graph(into),
        std::string("*.json, *.onnx, *.tflite, ") + (dataflow ? "*.xml (synchronous dataflow, SDF3), " : "") +
            "builtin:NAME (`memsched networks` lists them), or - for standard input")
      .required();
}

void add_output(command& c, std::string& into, const std::string& about) { c.add("-o,--output", file(into), about); }

void add_format(command& c, std::string& into, const std::string& words, const std::string& about) {
  c.add("--format", choice(words, into), about).by_default(into + ", or as the name of --output ends");
}

void add_model(command& c, request& r) {
  c.in("Memory");
  c.add("--firing",
        choice("pbc|cbp",
               [&r](const std::string& rule) {
                 r.options.default_firing = rule == "cbp" ? memsched::firing::cbp : memsched::firing::pbc;
               }),
        "for operators that do not say: pbc keeps inputs until outputs exist, cbp frees them before")
      .by_default("pbc");
  c.add("--no-inplace", flag([&r] { r.options.in_place = false; }), "no output takes the storage of an input");
  c.add("--keep-inputs", flag(r.how.keep_inputs), "graph inputs live to the end, as in TensorFlow Lite");
  c.in("Model files");
  c.add("--shape", texts(r.how.shapes, "NAME=DIMS"),
        "dimensions of an input that the file leaves open, as NAME=1,3,224,224; once for each input")
      .repeated();
  c.add("--value", texts(r.how.values, "NAME=N"), "an input of an .onnx file that always has this value, as NAME=16000")
      .repeated();
  c.add("--pure-custom", flag(r.how.pure_custom), "custom operators of .tflite files keep no state: any order will do");
  c.add("--input-format", choice("json|onnx|tflite|xml", r.how.format),
        "what the graph is, whatever its name says; of pipes and standard input the first bytes tell");
}

void add_limits(command& c, request& r, const std::string& default_time) {
  c.in("Search");
  c.add("--time-limit", duration(r.time_limit), "or none; then the best answer so far and a bound").by_default(default_time);
  c.add("--state-limit,--node-limit", number(r.options.state_limit),
        "sets of operators, or nodes of a search, to look at; the same answer everywhere, unlike with a time limit");
  c.add("--memory-limit", size(r.options.memory_limit),
        "that the tables of a search may take; the graph and its compression come on top")
      .by_default("2G");
  c.add("--threads", number(r.options.threads, 1, 4096),
        "at most so many for what is hard; the answer is the same with one");
}

void add_parts_of_methods(command& c, request& r) {
  c.add("--parts", number(r.knobs.parts, 1, 1000), "ilp: parts of the graph; 1 for an exact answer").by_default("4");
  c.add("--without", choice("divide|soft_budget|direct", [&r](const std::string& w) { r.knobs.without.push_back(w); }),
        "serenity: leave this part of the method out; once for each")
      .repeated();
}

void add_search(command& c, request& r, std::string& name, const std::string& default_time) {
  c.in("Search");
  c.add("--scheduler", scheduler(name), "how to schedule; `memsched help schedulers` lists them").by_default(name);
  c.add("--budget", size(r.options.budget), "bytes there are, as 256K; exit status 3 where the order needs more");
  add_limits(c, r, default_time);
  add_parts_of_methods(c, r);
  add_model(c, r);
}

void add_rewriting(command& c, rewriting& r, const std::string& runtime_default, const std::string& needs) {
  c.in("Rewriting");
  c.add("--max-extra-macs", text(r.max_extra_macs, "N|N%"),
        "multiply-accumulates to spend beyond the given ones: a count, or a share as 10%")
      .by_default(r.max_extra_macs)
      .needs(needs);
  c.add("--runtime", choice("parts|whole", r.runtime),
        "parts: kernels read and write rows; whole: standard operators, with slices that copy")
      .by_default(runtime_default)
      .needs(needs);
  c.add("--blocks", number(r.blocks, 1, 1 << 20), "at most so many blocks of rows of a tensor; without: single rows")
      .needs(needs);
  c.add("--stream-input", flag(r.stream_input), "inputs come line by line and need no room before").needs(needs);
  c.add("--reals", flag(r.reals), "sums of floats may come in another order").needs(needs);
}

void add_dataflow(command& c, request& r, bool schedules) {
  c.in("Dataflow (.xml)");
  const auto of_sdf = [&r](const char* name, value v) {
    v.take = [&r, name, take = v.take](const std::string& t) { return r.sdf.given = name, take(t); };
    return v;
  };
  c.add("--token-size", of_sdf("--token-size", number([&r](std::uint64_t n) { r.sdf.token_size = n; })),
        "bytes of a token where the file does not say");
  c.add("--iterations", of_sdf("--iterations", number(r.sdf.what.iterations)), "scheduled as one").by_default("1");
  if (!schedules) return;
  c.add("--max-firings", of_sdf("--max-firings", number(r.sdf.what.most_firings)),
        "that may be ordered one by one; beyond, they are grouped");
  using memsched::sdf::form;
  using memsched::sdf::memory;
  c.add("--loops",
        of_sdf("--loops", choice("any|single|flat",
                                 [&r](const std::string& f) {
                                   r.sdf.what.form = f == "single" ? form::single : f == "flat" ? form::flat : form::any;
                                 })),
        "any schedule, nested loops with each actor once (single), or all firings of an actor in a row (flat)")
      .by_default("any");
  c.add("--buffers",
        of_sdf("--buffers", choice("shared|separate",
                                   [&r](const std::string& m) {
                                     r.sdf.what.memory = m == "separate" ? memory::separate : memory::shared;
                                   })),
        "small is to be one memory for all channels (shared), or the sum of one for each (separate)")
      .by_default("shared");
}

std::string default_limit() { return std::to_string(default_seconds) + "; none with --state-limit"; }

void set_time_limit(const command& c, request& r, double seconds) {
  constexpr double largest = 1e9;
  if (!c.given("--time-limit")) {
    r.default_time_limit = seconds >= 0 && !c.given("--state-limit");
    r.time_limit = r.default_time_limit ? seconds : -1;
  }
  if (r.time_limit >= 0 && r.time_limit < largest)
    r.options.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(r.time_limit));
}

void add_log(command& c, request& r) {
  c.add("--log",
        {"text|json",
         [&r](const std::string& form) -> std::string {
           if (form != "" && form != "text" && form != "json") return "'" + form + "' is not text or json";
           r.log = true, r.log_json = form == "json";
           return {};
         }},
        "print the search on standard error: a line for each better answer or bound, with what found it; or JSON lines")
      .may_be_bare();
}

void prepare(const command& c, request& r, session& here, double seconds) {
  set_time_limit(c, r, seconds);
  here.attend(r.options, r.log ? r.log_json ? log_form::json : log_form::text : log_form::none);
}

std::string format_of(const command& c, const std::string& asked, const std::string& output) {
  if (c.given("--format")) return asked;
  for (const option& o : c.options())
    if (o.is_called("--format"))
      for (const std::string& word : o.words())
        if ((word == "json" && named_content(output) == content::json) ||
            (word == "csv" && named_content(output) == content::csv))
          return word;
  return asked;
}

int misuse(const command& c, const std::string& reason) {
  std::fprintf(stderr, "memsched %s: %s (see `memsched %s --help`)\n", c.name().c_str(), reason.c_str(), c.name().c_str());
  return wrong_usage;
}

}  // namespace cli
