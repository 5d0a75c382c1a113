// memsched reorder: a model file with its operators in the best order found, in the bytes of the file.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <memsched/formats/onnx_write.hpp>
#include <memsched/formats/tflite_write.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "declare.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::op_id;
using memsched::result;
using orders = std::vector<std::vector<op_id>>;

/// Everything that a file's new order depends on.
struct job {
  const reorder_request& r;
  file_bytes file;
  memsched::model_graphs graphs;  ///< as the runtime has them: sizes, what is in place, which inputs stay
  memsched::read_options reading;
  bool tflite = false;
};

/// Peak of all graphs in the file's own order, and per graph that order.
struct found {
  bytes file_peak = 0, peak = 0, lower_bound = 0;
  orders lists;  ///< per graph; empty: the file's
};

/// Per graph the file's own order or, where there is one, that of `lists`, with its peak.
result<std::vector<memsched::graph_order>> evaluated(const job& j, const orders& lists) {
  std::size_t g = j.graphs.size();
  return memsched::schedule_graphs(j.graphs, 0, [&](const memsched::problem& p) {
    memsched::schedule_result<op_id> s;
    --g;
    s.order = lists[g].empty() ? memsched::schedule(p, memsched::as_given{}, j.r.options).order : lists[g];
    const auto e = memsched::evaluate(p, s.order, j.r.options.model());
    if (e) s.peak = s.lower_bound = e->peak;
    else s.error = e.error();
    return s;
  });
}

/// The best orders that the scheduler finds, or those of a result; the file's where they are no better.
result<found> find_orders(const job& j) {
  found f;
  f.lists.resize(j.graphs.size());
  const auto own = evaluated(j, f.lists);
  f.file_peak = own ? (*own)[0].peak : memsched::no_limit;
  const auto best = j.r.order.empty() ? memsched::schedule_graphs(j.graphs, 0, scheduler_of(j.r.scheduler, j.r))
                                      : orders_of_result(j.r.order, j.graphs, j.r);
  if (!best) return best.error();
  f.peak = (*best)[0].peak;
  f.lower_bound = (*best)[0].lower_bound;
  if (f.peak >= f.file_peak) f.peak = f.file_peak;
  else
    for (std::size_t g = 0; g < best->size(); ++g) f.lists[g] = (*best)[g].order;
  return f;
}

/// Among orders of the main graph that need no more, takes one that TensorFlow Lite Micro's own planner places in less.
/// Lists stay as they are where that planner cannot be followed.
void lower_head(const job& j, found& f) {
  const auto costs = evaluated(j, f.lists);
  if (!costs) return;
  const auto p = memsched::make_problem(memsched::with_workspace(j.graphs, 0, *costs));
  if (!p) return;
  memsched::options limits = j.r.options;
  limits.budget = memsched::no_limit;
  limits.state_limit = std::min<std::uint64_t>(limits.state_limit, 100'000);
  memsched::search context(limits);
  auto less =
      memsched::lower_micro_head(j.file.view(), j.graphs[0], *p, f.lists[0], f.peak, limits.model(), context, j.reading);
  if (!less || less->order.empty()) return;
  f.lists[0] = std::move(less->order);
  if (const auto e = memsched::evaluate(*p, f.lists[0], limits.model())) f.peak = e->peak;
}

std::size_t moved(const job& j, const found& f) {
  std::size_t count = 0;
  for (std::size_t g = 0; g < j.graphs.size(); ++g) {
    if (f.lists[g].empty()) continue;
    const auto order = memsched::file_order(j.graphs[g], f.lists[g]);
    for (memsched::index_t i = 0; i < order.size(); ++i) count += order[i] != i;
  }
  return count;
}

/// Offsets for a file, good ones at once: work is limited, unless the limits say how much.
result<memsched::micro_plan> offsets_of(std::string_view file, const memsched::read_options& reading, bool in_place,
                                        memsched::options limits) {
  limits.budget = memsched::no_limit;
  if (limits.state_limit == memsched::no_limit) limits.state_limit = 2'000'000;
  return memsched::plan_micro(file, reading, in_place, memsched::minimize{}, limits);
}

result<std::string> write(const job& j, const found& f, memsched::micro_plan& plan) {
  if (!j.tflite) return memsched::write_onnx(j.file.view(), j.graphs, f.lists);
  if (!j.r.offsets) return memsched::write_tflite(j.file.view(), j.graphs, f.lists, {}, j.r.control_edges);
  auto permuted = memsched::write_tflite(j.file.view(), j.graphs, f.lists);
  if (!permuted) return permuted;
  auto made = offsets_of(*permuted, j.reading, j.r.in_place, j.r.options);
  if (!made) return made.error();
  plan = std::move(*made);
  return memsched::write_tflite(j.file.view(), j.graphs, f.lists, plan.offsets, j.r.control_edges);
}

/// The head of TensorFlow Lite Micro's arena before and after.
struct heads {
  memsched::micro_arena before, after;
};

/// None for ONNX, and where the runtime's planner cannot be followed.
std::optional<heads> heads_of(const job& j, std::string_view written) {
  if (!j.tflite) return std::nullopt;
  const auto before = memsched::micro_arena_of(j.file.view(), j.reading);
  const auto after = memsched::micro_arena_of(written, j.reading);
  if (!before || !after) return std::nullopt;
  return heads{*before, *after};
}

std::string lines(const job& j, const found& f, const memsched::micro_plan& plan, const std::optional<heads>& arena) {
  std::string text = "peak      " + grouped(f.file_peak) + " -> " + grouped(f.peak) + " bytes: ";
  if (f.peak == f.lower_bound) text += "optimal\n";
  else text += "no order takes less than " + grouped(f.lower_bound) + "\n";
  text += "moved     " + std::to_string(moved(j, f)) + " operators\n";
  if (!arena) return text;
  text += "head      " + grouped(arena->before.planned) + " -> " + grouped(arena->after.planned) +
          " bytes in TensorFlow Lite Micro";
  if (j.r.offsets)
    text +=
        "; " + grouped(arena->after.greedy) + " without the offsets; no plan takes less than " + grouped(plan.lower_bound);
  return text + "\n";
}

std::string json_line(const job& j, const found& f, const memsched::micro_plan& plan, const std::optional<heads>& arena,
                      const std::vector<std::string>& notes) {
  nlohmann::ordered_json out{{"version", 1},
                             {"graph", j.graphs[0].draft.name},
                             {"output", j.r.output},
                             {"given_peak", f.file_peak},
                             {"peak", f.peak},
                             {"lower_bound", f.lower_bound},
                             {"status", f.peak == f.lower_bound ? "optimal" : "feasible"},
                             {"moved", moved(j, f)}};
  if (arena) {
    out["given_head"] = arena->before.planned;
    out["head"] = arena->after.planned;
  }
  if (arena && j.r.offsets) {
    out["head_without_offsets"] = arena->after.greedy;
    out["head_bound"] = plan.lower_bound;
  }
  out["notes"] = notes;
  return line_of(out);
}

/// The peaks in ONNX Runtime, which orders operators anew: of the given and of the written file.
struct runtime_peaks {
  bytes given = 0, written = 0;
};

runtime_peaks onnxruntime_peaks(const job& j, std::string_view written) {
  const auto peak = [&](std::string_view model) {
    const auto graphs = read_graphs(j.r.graph, model, j.r.how);
    if (!graphs) return memsched::no_limit;
    const auto all = memsched::schedule_graphs(*graphs, 0, scheduler_of("onnxruntime", j.r));
    return all ? (*all)[0].peak : memsched::no_limit;
  };
  return {peak(j.file.view()), peak(written)};
}

/// Whether a file that serves its runtime less well is to be written all the same.
bool insists(const job& j) { return j.r.force || !j.r.order.empty(); }

void keep_file(const job& j, found& f, std::string& written) {
  written = j.file.view();
  f.peak = f.file_peak;
  for (auto& list : f.lists) list.clear();
}

/// Puts the given file in place of a new one that ONNX Runtime would run in more memory, unless the caller insists. Returns
/// the note with both peaks.
std::string heed_onnxruntime(const job& j, found& f, std::string& written) {
  const runtime_peaks p = onnxruntime_peaks(j, written);
  const std::string would = "ONNX Runtime orders operators anew: a peak of " + grouped(p.given) + " bytes for this file, " +
                            grouped(p.written) + " for one in the order found";
  if (p.written <= p.given || insists(j)) return would + (p.written > p.given ? ", which is worse" : "");
  keep_file(j, f, written);
  return would + "; so the order of the file was kept (--force writes the other)";
}

/// Likewise of one with a larger head in TensorFlow Lite Micro. Returns the note, empty where the head is no larger; or the
/// fault of control dependencies that could not be written into the given file.
result<std::string> heed_micro(const job& j, found& f, std::string& written, std::optional<heads>& arena) {
  if (!arena || arena->after.planned <= arena->before.planned) return std::string();
  const std::string would = "TensorFlow Lite Micro has a head of " + grouped(arena->before.planned) +
                            " bytes for this file, " + grouped(arena->after.planned) + " for the new one";
  if (insists(j)) return would + ", which is worse";
  keep_file(j, f, written);
  if (j.r.control_edges) {
    auto chained = memsched::write_tflite(j.file.view(), j.graphs, f.lists, {}, true);
    if (!chained) return chained.error();
    written = std::move(*chained);
  }
  arena = heads_of(j, written);
  return would + "; so the order of the file was kept (--force writes the other" +
         (j.r.offsets ? ")" : "; --offsets may need less)");
}

/// The new file, its figures, and notes about it.
struct answer {
  found f;
  memsched::micro_plan plan{};
  std::string written{};
  std::optional<heads> arena{};
  std::vector<std::string> notes{};
};

result<answer> answer_of(const job& j) {
  auto f = find_orders(j);
  if (!f) return f.error();
  answer a{std::move(*f)};
  if (j.tflite && !j.r.offsets && j.r.order.empty()) lower_head(j, a.f);
  auto written = write(j, a.f, a.plan);
  if (!written) return written.error();
  a.written = std::move(*written);
  a.arena = heads_of(j, a.written);
  if (j.tflite) {
    a.notes = memsched::tflite_notes(j.file.view(), j.reading);
    const auto note = heed_micro(j, a.f, a.written, a.arena);
    if (!note) return note.error();
    if (!note->empty()) a.notes.push_back(*note);
  } else if (moved(j, a.f) > 0) {
    a.notes.push_back(heed_onnxruntime(j, a.f, a.written));
  }
  return a;
}

result<job> open_job(const reorder_request& r) {
  job j{r, {}, {}, {}, r.graph.ends_with(".tflite")};
  if (!j.tflite && !r.graph.ends_with(".onnx")) return wrong(r.graph, "the name must end in .onnx or .tflite");
  if (!j.tflite && (r.offsets || r.control_edges))
    return wrong(r.graph, "takes no --offsets or --control-edges: these are for .tflite");
  const std::filesystem::path from(r.graph), to(r.output);
  std::error_code ignored;
  if (auto error = check_outputs({{"-o", r.output, j.tflite ? content::tflite : content::onnx}}, {r.graph, r.order});
      !error.message.empty())
    return error;
  const without_answer yet(true);
  auto file = read_file(r.graph);
  if (!file) return file.error();
  j.file = std::move(*file);
  auto graphs = read_graphs(r.graph, j.file.view(), r.how);
  if (!graphs) return wrong(r.graph, graphs.error().message);
  const auto folder = [](const std::filesystem::path& p) { return p.has_parent_path() ? p.parent_path() : "."; };
  if (!j.tflite && !std::filesystem::equivalent(folder(from), folder(to), ignored) &&
      memsched::onnx_wire::has_external_data(j.file.view(), 0, j.file.view().size()))
    return wrong(r.output, "must be in the folder of " + r.graph + ", from which weights outside the file are found");
  j.graphs = std::move(*graphs);
  auto options = read_options_of(r.how);
  if (!options) return options.error();
  j.reading = std::move(*options);
  if (r.offsets) memsched::as_micro(j.file.view(), j.graphs, r.in_place, j.reading);
  auto& draft = j.graphs[0].draft;
  if (r.how.keep_inputs)
    draft.graph_outputs.insert(draft.graph_outputs.end(), draft.graph_inputs.begin(), draft.graph_inputs.end());
  return j;
}

}  // namespace

result<micro_heads> micro_heads_of(const std::string& path, const request& r, const memsched::model_graphs& graphs,
                                   const orders& lists) {
  const auto reading = read_options_of(r.how);
  if (!reading) return reading.error();
  const auto file = read_file(path);
  if (!file) return file.error();
  const auto before = memsched::micro_arena_of(file->view(), *reading);
  if (!before) return wrong(path, before.error().message);
  const auto permuted = memsched::write_tflite(file->view(), graphs, lists);
  if (!permuted) return wrong(path, permuted.error().message);
  const auto after = memsched::micro_arena_of(*permuted, *reading);
  if (!after) return wrong(path, after.error().message);
  const auto plan = offsets_of(*permuted, *reading, false, r.options);
  if (!plan) return wrong(path, plan.error().message);
  return micro_heads{before->planned, before->greedy, after->greedy, plan->head, plan->lower_bound};
}

result<reordered_model> reordered_file(const reorder_request& r) {
  const auto j = open_job(r);
  if (!j) return j.error();
  auto all = answer_of(*j);
  if (!all) return wrong(r.graph, all.error().message);
  return reordered_model{std::move(all->written), all->f.lower_bound};
}

int run_reorder(const reorder_request& r) {
  const auto j = open_job(r);
  if (!j) return report(j.error());
  auto all = answer_of(*j);
  if (!all) return report(wrong(r.graph, all.error().message));
  const auto& [f, plan, written, arena, notes] = *all;
  const std::string text = r.json ? json_line(*j, f, plan, arena, notes) : lines(*j, f, plan, arena);
  std::vector<output_file> files(1);
  files[0] = {r.output, std::move(all->written)};  // may be large: not copied
  if (r.output != "-") files.push_back({"-", text});
  if (const auto error = write_files(files); !error.message.empty()) return report(error);
  for (const std::string& n : notes) note("note: " + r.graph + ": " + n);
  if (r.output == "-") tell(r.output, text);
  note_over_budget(r.output, f.peak, r.options.budget);
  return f.peak <= r.options.budget ? done : over_budget;
}

command declare_reorder() {
  const auto r = std::make_shared<reorder_request>();
  const auto format = std::make_shared<std::string>("text");
  command c("reorder", "Write a model file again with its operators in the best order",
            "memsched reorder model.tflite -o out.tflite --offsets");
  c.add("MODEL", file(r->graph), "*.onnx or *.tflite").required();
  c.in("Output");
  c.add("-o,--output", file(r->output), "the new file, of the same format; - for standard output").required();
  c.add("--offsets",
        {"inplace|true",
         [r](const std::string& t) -> std::string {
           if (t != "" && t != "true" && t != "inplace") return "'" + t + "' is not inplace or true";
           r->offsets = true, r->in_place = t == "inplace";
           return {};
         }},
        "also write where tensors lie, for TensorFlow Lite Micro; inplace: outputs over inputs")
      .may_be_bare();
  c.add("--control-edges", flag(r->control_edges),
        "also write control dependencies, so that LiteRT keeps the order beside a delegate");
  c.add(
      "--force", flag(r->force),
      "also write an .onnx file that takes more memory in ONNX Runtime, which orders anew, or a .tflite file with a larger "
      "head in TensorFlow Lite Micro");
  c.add("--order", file(r->order), "the order of this result of `schedule --format json`");
  c.add("--format", choice("text|json", *format), "of what is said about it, on standard output (standard error with -o -)")
      .by_default("text");
  add_search(c, *r, r->scheduler, default_limit());
  return std::move(c.runs([r, format](const command& here, session& s) {
    r->json = *format == "json";
    prepare(here, *r, s);
    return run_reorder(*r);
  }));
}

}  // namespace cli
