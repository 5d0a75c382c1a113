#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <memsched/emit/emit_c.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/formats/provenance.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/edit.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/schedule.hpp>
#include <nlohmann/json.hpp>

#include "advice.hpp"
#include "commands.hpp"
#include "declare.hpp"
#include "emit.hpp"
#include "limits.hpp"
#include "rewrite.hpp"
#include "session.hpp"
#include "svg.hpp"
#include "text.hpp"
#include "total.hpp"
#include "written.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::fit_point;
using memsched::fitted;
using memsched::network;
using json = nlohmann::ordered_json;

/// The outcome of verifying a rewritten network.
struct verification {
  bool asked = false;                                               ///< with `--verify 0` no network runs
  bool wrong = false;                                               ///< provenance or runs disagree
  memsched::stop_reason stopped = memsched::stop_reason::finished;  ///< the reason why the runs ended early, where they did

  bool unfinished() const { return stopped != memsched::stop_reason::finished; }
  bool done() const { return asked && !wrong && !unfinished(); }
};

/// Whether provenance and runs over the field and in rounded arithmetic agree; why not, on standard error. The runs may take
/// the time limit once more, and heed interrupts.
verification verify_rewrite(const network& before, const fitted& r, const rewrite_request& request) {
  verification v{request.verify > 0};
  std::string fault = memsched::check_rewrite(before, r.net);
  const auto exact = request.how_rewritten.reals ? memsched::exactness::reals : memsched::exactness::bits;
  memsched::search limits({.time_limit = request.options.time_limit, .stop = request.options.stop});
  const auto go_on = [&] { return limits.keep_going(); };
  for (std::uint64_t seed = 1; fault.empty() && !v.unfinished() && seed <= request.verify; ++seed) {
    auto difference = memsched::disagreement(before, r.net, seed, exact, go_on);
    if (!difference) v.stopped = limits.control().reason();
    else fault = std::move(*difference);
  }
  v.wrong = !fault.empty();
  if (v.wrong) std::fprintf(stderr, "memsched: the rewritten network is wrong: %s\n", fault.c_str());
  return v;
}

/// The outcome of a request.
struct outcome {
  fitted found;  ///< its cost is that of the model file, where one is asked for
  memsched::runtime runtime = memsched::runtime::parts;
  std::vector<pick> picks{};  ///< without a budget: a person would choose among these
  verification verified{};
  double took = 0;                      ///< seconds
  std::optional<written_model> file{};  ///< asked for
  std::vector<arena_choice> arenas{};   ///< with the objective tflm-total: the files that were compared, the given one first
  std::size_t chosen = 0;               ///< among these
  std::vector<std::string> uncounted{};  ///< kinds whose kernels may keep more than the tails of these hold
  std::optional<library> made{};         ///< in C, where it is asked for
  bytes flash = 0;                       ///< the budget of its constants; 0 for none
  bool saves() const {
    if (!arenas.empty()) return chosen > 0;
    return !file || found.after.peak < found.before.peak;
  }
  /// With a plan of offsets, of the arena that it needs; with the objective tflm-total, of the whole arena.
  bool fits(bytes budget) const { return saves() && (budget == 0 || needed() <= budget) && keeps_flash(); }
  bool keeps_flash() const { return flash == 0 || made->flash.total() <= flash; }
  bytes needed() const {
    if (!arenas.empty()) return arenas[chosen].total();
    const bytes all = made ? std::max(found.after.peak, made->ram()) : found.after.peak;
    return file && file->head && file->head->has_plan ? std::max(all, file->head->planned) : all;
  }
};

const char* status_of(const fitted& r) { return r.after.peak == r.after.lower_bound ? "optimal" : "feasible"; }

json as_json(const fit_point& p) { return {{"peak", p.peak}, {"macs", p.macs}, {"operators", p.operators}}; }

/// Peak of an order of a network whose kernels read and write parts.
bytes peak_of(const network& net, const std::vector<memsched::op_id>& order, const memsched::options& o) {
  const auto low = memsched::lower(net);
  return low ? memsched::evaluate(low->problem, order, o.model()).value().peak : 0;
}

/// The files that were compared for the smallest arena.
json arenas_json(const outcome& all) {
  json list = json::array();
  for (const arena_choice& c : all.arenas)
    list.push_back({{"network", c.network},
                    {"offsets", c.offsets},
                    {"operators", c.operators},
                    {"peak", c.peak},
                    {"head", c.head},
                    {"tail", c.tail},
                    {"total", c.total()},
                    {"chosen", &c == &all.arenas[all.chosen]}});
  return list;
}

json library_json(const library& c) {
  return {{"arena", c.arena},
          {"scratch", c.scratch},
          {"tables", c.flash.tables},
          {"weights", c.flash.weights},
          {"weights_in_model", c.flash.in_model}};
}

std::string library_text(const outcome& all) {
  const library& c = *all.made;
  std::string text =
      "library      " + grouped(c.arena) + " bytes of arena" +
      (c.scratch != 0 ? " and " + grouped(c.scratch) + " of scratch for CMSIS-NN" : "") + "\nflash        " +
      grouped(c.flash.total()) + " bytes: tables " + grouped(c.flash.tables) + ", weights " + grouped(c.flash.weights) +
      (c.flash.in_model != 0 ? "; " + grouped(c.flash.in_model) + " more are read from the model's file" : "") +
      "; functions are not counted\n";
  if (all.flash != 0)
    text += "flash budget " + grouped(all.flash) + " bytes: " + (all.keeps_flash() ? "fits" : "does not fit") + '\n';
  return text;
}

json as_json(const network& net, const outcome& all, const rewrite_request& request) {
  const fitted& r = all.found;
  json j;
  j["version"] = 1;
  j["graph"] = r.net.name;
  j["peak_before"] = r.before.peak;
  j["peak"] = r.after.peak;
  j["lower_bound"] = r.after.lower_bound;
  j["status"] = status_of(r);
  j["not_understood"] = not_understood_json(net);
  j["macs_before"] = r.before.macs;
  j["macs"] = r.after.macs;
  j["operators_before"] = r.before.operators;
  j["operators"] = r.after.operators;
  j["runtime"] = to_string(all.runtime);
  if (all.file) {
    j["written"] = all.saves();
    j["network_peak"] = peak_of(r.net, r.order, request.options);
    j["network_operators"] = r.net.operations.size();
    if (all.file->head) j["tflm_head"] = all.file->head->planned;
  }
  if (!all.arenas.empty()) {
    j["objective"] = "tflm-total";
    j["pointer_bits"] = request.pointer_bits;
    j["tflm_total_before"] = all.arenas[0].total();
    j["tflm_total"] = all.arenas[all.chosen].total();
    j["tflm_tail"] = all.arenas[all.chosen].tail;
    j["tail_without"] = all.uncounted;
    j["arenas"] = arenas_json(all);
  }
  if (all.made) j["library"] = library_json(*all.made);
  if (all.flash != 0) j["flash_budget"] = all.flash;
  j["verified"] = all.verified.done();
  if (all.verified.unfinished()) j["verify_stopped"] = to_string(all.verified.stopped);
  if (request.options.budget != 0) j["budget"] = request.options.budget;
  j["steps"] = json::array();
  for (const auto& s : r.steps)
    j["steps"].push_back({{"rule", s.rule},
                          {"site", s.site},
                          {"peak_before", s.peak_before},
                          {"peak", s.after.peak},
                          {"lower_bound", s.after.lower_bound},
                          {"macs", s.after.macs},
                          {"operators", s.after.operators},
                          {"kept", s.kept}});
  j["front"] = json::array();
  for (const auto& p : r.front) j["front"].push_back(as_json(p));
  if (request.options.budget == 0 && !request.total) {
    j["choices"] = json::array();
    for (const pick& p : all.picks) {
      json entry = as_json(p.cost);
      entry["command"] = command_of(request.graph, p);
      j["choices"].push_back(std::move(entry));
    }
  }
  j["stopped"] = to_string(r.stopped);
  j["seconds"] = all.took;
  j["firing"] = firing_name(request);
  j["inplace"] = request.options.in_place;
  j["order"] = json::array();
  for (const memsched::op_id i : r.net.ops()) j["order"].push_back(i);
  j["network"] = memsched::write_provenance(memsched::reordered(r.net, r.order));
  return j;
}

/// Says why the runs of a verification ended early.
std::string unfinished_text(const verification& v) {
  return v.stopped == memsched::stop_reason::time_limit
             ? "the runs of both networks met the time limit; --verify 0 leaves them out"
             : "the runs of both networks were interrupted";
}

/// Says why no model file is written, and names alternatives.
std::string no_gain(const outcome& all, const rewrite_request& request) {
  if (!all.arenas.empty())
    return "was not written: no file found takes less of TensorFlow Lite Micro's arena than the " + grouped(all.needed()) +
           " bytes of the given one, head and tail";
  const fitted& r = all.found;
  const bool fitted_before = request.options.budget != 0 && r.before.peak <= request.options.budget;
  const bool least = request.how_rewritten.max_extra_macs == "0" && request.how_rewritten.runtime.empty();
  return "was not written: it would need " + grouped(r.after.peak) + " bytes, and the given model needs " +
         grouped(r.before.peak) + " in its best order, which `memsched reorder` writes" +
         (fitted_before ? " and which meets the budget"
          : least       ? "; --max-extra-macs 5% or --runtime parts may save more"
                        : "");
}

/// The networks to choose among, each with the command that makes it.
std::string picks_text(const outcome& all, const rewrite_request& request) {
  const fit_point& given = all.found.before;
  table rows({"choose: peak", "of given", "operators", "extra macs", "command"});
  for (const pick& p : all.picks) {
    const double share = 100.0 * static_cast<double>(p.cost.peak) / static_cast<double>(std::max<bytes>(given.peak, 1));
    rows.row({grouped(p.cost.peak), std::to_string(static_cast<int>(share + 0.5)) + " %", grouped(p.cost.operators),
              grouped(p.cost.macs - std::min(p.cost.macs, given.macs)), command_of(request.graph, p)});
  }
  return rows.text();
}

/// The files that were compared for the smallest arena, and the one that was chosen.
std::string arenas_text(const outcome& all, const rewrite_request& request) {
  const arena_choice &given = all.arenas[0], &best = all.arenas[all.chosen];
  std::string text = "total        " + grouped(given.total()) + " -> " + in_bytes(best.total()) +
                     " of TensorFlow Lite Micro's arena, with pointers of " + std::to_string(request.pointer_bits) +
                     " bits: head " + grouped(best.head) + ", tail " + grouped(best.tail) + "\n";
  std::string kinds;
  for (const std::string& kind : all.uncounted) kinds += (kinds.empty() ? "" : ", ") + printable(kind);
  if (!kinds.empty()) text += "not counted  what kernels of " + kinds + " keep in the tail\n";
  text += '\n';
  table rows({"file", "operators", "peak", "head", "tail", "total", "chosen"});
  for (const arena_choice& c : all.arenas)
    rows.row({c.network + (c.offsets ? ", with offsets" : ""), grouped(c.operators), grouped(c.peak), grouped(c.head),
              grouped(c.tail), grouped(c.total()), &c == &best ? "yes" : ""});
  return text + rows.text();
}

std::string verified_text(const verification& v, bool reals) {
  if (v.done())
    return std::string("by provenance, over a finite field, and to the bit") + (reals ? " but for the order of sums" : "");
  return v.unfinished() ? "no: " + unfinished_text(v) : "no";
}

std::string as_text(const network& net, const outcome& all, const rewrite_request& request) {
  const fitted& r = all.found;
  std::string text = "graph        " + r.net.name + '\n';
  text += "given        " + grouped(r.before.peak) + " bytes, the best order found; " + std::to_string(r.before.operators) +
          " operators, " + grouped(r.before.macs) + " multiply-accumulates\n\n";
  table steps({"rule", "peak", "bound", "operators", "kept"});
  for (const auto& s : r.steps)
    steps.row({s.rule + ": " + memsched::base::one_line(s.site, 60), grouped(s.after.peak), grouped(s.after.lower_bound),
               grouped(s.after.operators), s.kept ? "yes" : "no"});
  if (!r.steps.empty()) text += steps.text() + '\n';
  text += "peak         " + in_bytes(r.after.peak) + ", " + status_of(r) + "; bound " + grouped(r.after.lower_bound) + '\n';
  if (const std::string list = not_understood(net); !list.empty()) text += "no rewrite   " + list + '\n';
  if (request.options.budget != 0)
    text += "budget       " + grouped(request.options.budget) + " bytes: " +
            (all.needed() > request.options.budget ? "does not fit"
             : all.saves()                         ? "fits"
                                                   : "nothing is written") +
            '\n';
  if (all.file)
    text += "written      " + (all.saves() ? request.output + "; the figures here are the file's" : "nothing") + '\n';
  if (all.file && all.file->head) {
    const memsched::micro_arena& head = *all.file->head;
    text += "head         " + grouped(head.planned) + " bytes in TensorFlow Lite Micro" +
            (head.has_plan              ? "; " + grouped(head.greedy) + " without the offsets"
             : head.planned > head.load ? "; --offsets may save up to " + grouped(head.planned - head.load)
                                        : "") +
            '\n';
  }
  if (all.made) text += library_text(all);
  text += "cost         " + grouped(r.after.operators) + " operators, " + grouped(r.after.macs) + " multiply-accumulates\n";
  text += "verified     " + verified_text(all.verified, request.how_rewritten.reals) + '\n';
  text += "took         " + seconds(all.took) + " s\n";
  if (!all.arenas.empty()) return text + arenas_text(all, request);
  text += '\n';
  if (!all.picks.empty()) return text + picks_text(all, request);
  table front({"front: peak", "operators", "multiply-accumulates"});
  for (const auto& p : r.front) front.row({grouped(p.peak), grouped(p.operators), grouped(p.macs)});
  return text + front.text();
}

std::string front_csv(const fitted& r) {
  std::string text = "peak,lower_bound,macs,operators\n";
  for (const auto& p : r.front)
    text += std::to_string(p.peak) + ',' + std::to_string(p.lower_bound) + ',' + std::to_string(p.macs) + ',' +
            std::to_string(p.operators) + '\n';
  return text;
}

/// An order of a network as a drawing has it.
drawn_order drawn(const std::string& name, const network& net, const std::vector<memsched::op_id>& order,
                  const memsched::options& o) {
  const auto low = memsched::lower(net);
  if (!low) return {name, {}, {}};
  auto e = memsched::evaluate(low->problem, order, o.model()).value();
  return {name, std::move(e.during), e.peak_step < order.size() ? net.operations[order[e.peak_step]].name : ""};
}
drawn_order drawn(const std::string& name, const written_model& m) {
  const memsched::evaluation& e = m.cost;
  const auto highest = static_cast<memsched::op_id>(e.peak_step);
  return {name, e.during, highest < e.during.size() ? m.graph.operator_name(highest) : ""};
}

/// Searches, checks what was found, and makes the model file of it where one is asked for.
memsched::result<outcome> find_rewrite(const network& net, const rewrite_request& r, memsched::fit_options f,
                                       const library_form& form) {
  const auto start = std::chrono::steady_clock::now();
  const bool to_model = names_model(r.output);
  if (to_model) {
    f.whole_integer_sums = true;
    f.form = form_of(r.output, net, r.how);
    if (r.how_rewritten.runtime.empty()) f.profile = memsched::runtime::whole;
  }
  memsched::options limits = r.options;
  limits.budget = memsched::no_limit;
  const memsched::options search_limits = r.emit.empty() ? limits : sixteenths(limits, 12);  // the rest is for the arena
  outcome all{{}, f.profile};
  if (r.total) {
    auto found = find_smallest_total(net, f, r);
    if (!found) return found.error();
    all.found = std::move(found->found.found);
    all.arenas = std::move(found->choices), all.chosen = found->chosen, all.uncounted = std::move(found->uncounted);
    all.file = std::move(found->file);
  } else if (r.flash != 0) {
    auto chosen = find_library(net, f, limits, r.flash, form);
    if (!chosen) return chosen.error();
    all.found = std::move(chosen->found), all.made = std::move(chosen->made), all.flash = r.flash;
  } else if (f.budget == 0) {
    advice a = advise(net, f, search_limits);
    all.found = std::move(a.found), all.picks = std::move(a.picks);
  } else {
    all.found = memsched::fit(net, memsched::automatic, f, search_limits);
  }
  if (all.found.error)
    return to_model ? wrong(r.output, "cannot be written: " + all.found.error->message)
                    : wrong(r.graph, all.found.error->message);
  if (to_model && !r.total) {
    auto file = write_model(r.output, net, all.found, r.how, r.options.model(), r.offsets);
    if (!file) return wrong(r.output, file.error().message);
    all.file = std::move(*file);
  }
  if (all.file) {
    all.found.after.peak = all.file->cost.peak;
    all.found.after.lower_bound = std::min(all.found.after.lower_bound, all.file->cost.peak);
    all.found.after.operators = all.file->graph.ops().size();
  }
  if (!r.emit.empty() && !all.made) {
    auto made = library_of(net, all.found.net, all.found.order, form, rest_of(r.options, start));
    if (!made) return wrong(r.graph, "no C program: " + made.error().message);
    all.made = std::move(*made);
  }
  all.verified = verify_rewrite(net, all.found, r);
  all.took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return all;
}

std::string memory_drawing(const network& given, const outcome& all, const memsched::options& o) {
  const fitted& r = all.found;
  drawn_order after = all.file ? drawn("written", *all.file) : drawn("rewritten", r.net, r.order, o);
  return memory_svg(given.name, {std::move(after), drawn("best order", given, r.given_order, o)}, r.after.lower_bound, {});
}

std::string front_drawing(const network& net, const fitted& found) {
  std::vector<front_step> points;
  const auto given = static_cast<double>(std::max<std::uint64_t>(1, found.before.macs));
  for (const auto& p : found.front)
    points.push_back({p.operators, p.peak, std::max(0.0, static_cast<double>(p.macs) / given - 1)});
  return front_svg(net.name + ": peak and operators", points);
}

/// All files that a request asks for, but a model file that would save nothing.
std::vector<output_file> files_of(const network& net, const outcome& all, const rewrite_request& r) {
  const fitted& found = all.found;
  std::vector<output_file> files;
  if (!r.output.empty() && !all.file)
    files.push_back({r.output, memsched::write_json(draft_of(memsched::reordered(found.net, found.order)))});
  if (all.file && all.saves()) files.push_back({r.output, all.file->bytes});
  if (!r.front.empty()) files.push_back({r.front, front_csv(found)});
  if (!r.front_svg.empty()) files.push_back({r.front_svg, front_drawing(net, found)});
  if (!r.svg.empty()) {
    const network given = r.how_rewritten.stream_input ? memsched::stream_inputs(net) : net;
    files.push_back({r.svg, memory_drawing(given, all, r.options)});
  }
  if (all.made) {
    std::error_code exists;
    std::filesystem::create_directories(r.emit, exists);
    for (const library_file& f : all.made->files)
      files.push_back({(std::filesystem::path(r.emit) / f.name).string(), f.text});
  }
  return files;
}

}  // namespace

int run_rewrite(const rewrite_request& r) {
  const asked_output result{"-o", r.output, names_model(r.output) ? named_content(r.output) : content::json};
  if (const auto error = check_outputs({result,
                                        {"--front", r.front, content::csv},
                                        {"--front-svg", r.front_svg, content::svg},
                                        {"--svg", r.svg, content::svg}},
                                       {r.graph});
      !error.message.empty())
    return report(error);
  const auto net = read_network(r.graph, r.how);
  if (!net) return report(net.error());
  const auto f = fit_options_of(r.how_rewritten, *net, r.options.budget);
  if (!f) return report(f.error());
  if (r.offsets && (!names_model(r.output) || r.output.ends_with(".onnx")))
    return report(wrong("--offsets", "is for -o FILE.tflite"));
  if (r.total && (!r.graph.ends_with(".tflite") || !r.output.ends_with(".tflite")))
    return report(wrong("--objective",
                        "tflm-total is the arena of TensorFlow Lite Micro, which runs .tflite files alone: the "
                        "model and -o must name such files"));
  library_form form{identifier_of(r.graph),
                    r.cmsis_nn ? memsched::kernel_library::cmsis_nn : memsched::kernel_library::plain};
  if (!r.emit.empty())  // before the search, which may take long
    if (const auto why = memsched::why_no_c(*net, form.kernels); !why.message.empty())
      return report(wrong(r.graph, "no C program: " + why.message));
  std::optional<file_bytes> model;
  if (r.from_model) {
    if (!names_model(r.graph)) return report(wrong("--constants", "model needs a model file"));
    auto read = read_file(r.graph);
    if (!read) return report(read.error());
    form.model = model.emplace(std::move(*read)).view();
  }
  if (r.flash != 0 && (r.total || !r.output.empty()))
    return report(wrong("--flash-budget", "is for --emit-c alone, without -o"));
  const auto all = find_rewrite(*net, r, *f, form);
  if (!all) return report(all.error());
  if (all->verified.wrong) return bad_input;
  if (const auto fault = write_files(files_of(*net, *all, r)); !fault.message.empty()) return report(fault);
  print(r.json ? line_of(as_json(*net, *all, r)) : as_text(*net, *all, r));
  const bytes budget = r.options.budget == 0 ? memsched::no_limit : r.options.budget;
  if (!all->saves()) std::fprintf(stderr, "memsched: note: %s: %s\n", r.output.c_str(), no_gain(*all, r).c_str());
  else if (all->file) note_over_budget(r.output, all->needed(), budget);
  if (all->verified.unfinished()) note("not verified: " + unfinished_text(all->verified));
  return all->fits(r.options.budget) && !all->verified.unfinished() ? done : over_budget;
}

command declare_rewrite() {
  const auto r = std::make_shared<rewrite_request>();
  const auto format = std::make_shared<std::string>("text");
  r->options.budget = 0;
  command c("rewrite", "A network that computes the same in less memory than any order of the given one",
            "memsched rewrite model.tflite --budget 256K -o out.tflite");
  c.add("MODEL", graph(r->graph), "*.onnx, *.tflite, or builtin:NAME (`memsched networks` lists them)").required();
  c.in("Search").add("--budget", size(r->options.budget),
                     "bytes there are, as 256K: few operators that fit; exit status 3 where none are found. Without: the "
                     "smallest peak");
  c.add("--objective", choice("peak|tflm-total", [r](const std::string& word) { r->total = word == "tflm-total"; }),
        "of which the least is looked for: peak, or all that TensorFlow Lite Micro takes of its arena for the file that is "
        "written, head and modelled persistent tail; the given file in its best order, with and without offsets, is "
        "compared, too, and --budget is that of the total")
      .by_default("peak");
  c.add("--pointer-bits", choice("32|64", [r](const std::string& bits) { r->pointer_bits = bits == "64" ? 64 : 32; }),
        "of the machine that the tail is counted for")
      .by_default("32")
      .needs("--objective");
  add_limits(c, *r, "60");
  add_rewriting(c, r->how_rewritten, "whole where -o names a model file, else parts");
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output,
             "write the rewritten network there: *.onnx or *.tflite, of standard operators, else its graph as JSON. A model "
             "file is judged as `schedule` reads it again: peak, bound, budget and exit status are those of the file, also "
             "with --runtime parts. Where it needs no less memory than the given model in its best order, it is not "
             "written: exit status 3");
  c.add("--format", choice("text|json", *format),
        "Its not_understood lists kinds, reasons and numbers of operators that no rewrite touches; with -o of a model "
        "file, written says whether there is one, and network_peak and network_operators are those of the network before "
        "it is written")
      .by_default("text");
  c.add("--verify", number(r->verify),
        "run both networks with so many seeds of random numbers, after the search and for at most the time limit once "
        "more. Where that or an interrupt ends the runs, the network is written, but is not verified: exit status 3 or 130")
      .by_default("1");
  c.add("--front", file(r->front),
        "write peaks, multiply-accumulates and operators that no other network seen beats, as CSV there");
  c.add("--svg", file(r->svg), "draw memory over time, before and after, as an SVG there");
  c.add("--front-svg", file(r->front_svg), "draw the front as an SVG there");
  c.add(
      "--offsets", flag(r->offsets),
      "with -o of a .tflite file: write where TensorFlow Lite Micro is to place tensors, too; the budget is then that of its "
      "arena's head");
  c.add("--emit-c", file(r->emit),
        "write a library in C there, NAME.h and NAME.c, named after the model, and NAME_main.c, which runs it; --budget is "
        "then that of its arena, too");
  c.add("--kernels", choice("plain|cmsis-nn", [r](const std::string& word) { r->cmsis_nn = word == "cmsis-nn"; }),
        "which that library calls: its own, or those of CMSIS-NN where it has one, with scratch after the arena")
      .by_default("plain")
      .needs("--emit-c");
  c.add(
       "--constants", choice("program|model", [r](const std::string& word) { r->from_model = word == "model"; }),
       "where that library has weights and biases: in NAME.c, or in the model's file, which NAME_model.c holds byte by byte, "
       "where kernels use them as they are there")
      .by_default("program")
      .needs("--emit-c");
  c.add(
       "--flash-budget", size(r->flash),
       "bytes there are for that library's tables and weights: the smallest peak within; exit status 3 where none is found. "
       "Functions are not counted")
      .needs("--emit-c");
  return std::move(c.runs([r, format](const command& here, session& s) {
    r->json = *format == "json";
    prepare(here, *r, s, 60);
    return run_rewrite(*r);
  }));
}

}  // namespace cli
