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

bytes peak_of(const job& j, const orders& lists) {
  std::size_t g = j.graphs.size();
  const auto all = memsched::schedule_graphs(j.graphs, 0, [&](const memsched::problem& p) {
    memsched::schedule_result<op_id> s;
    --g;
    s.order = lists[g].empty() ? memsched::schedule(p, memsched::as_given{}, j.r.options).order : lists[g];
    const auto e = memsched::evaluate(p, s.order, j.r.options.model());
    if (e) s.peak = s.lower_bound = e->peak;
    else s.error = e.error();
    return s;
  });
  return all ? (*all)[0].peak : memsched::no_limit;
}

/// The best orders that the scheduler finds, or those of a result; the file's where they are no better.
result<found> find_orders(const job& j) {
  found f;
  f.lists.resize(j.graphs.size());
  f.file_peak = peak_of(j, f.lists);
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

/// Moves single operators of the main graph as long as TensorFlow Lite Micro's own planner then needs less and the peak
/// does not grow: orders of one peak differ there. The first move that helps is taken. The search ends when the first so
/// many moves do not help: begun with what it ends with, it would end at once.
void lower_head(const job& j, found& f) {
  const memsched::model_graph& g = j.graphs[0];
  const std::size_t n = g.draft.operators.size();
  std::vector<op_id> order = f.lists[0];
  if (order.empty())
    for (op_id op = 0; op < n; ++op) order.push_back(op);
  const auto head_of = [&](const std::vector<op_id>& o) {
    const auto arena = memsched::micro_arena_of(j.file.view(), j.reading, memsched::file_order(g, o));
    return arena ? arena->greedy : memsched::no_limit;
  };
  const auto p = memsched::make_problem(g.draft);
  if (!p) return;
  const memsched::memory_model model = j.r.options.model();
  const auto first = memsched::evaluate(*p, order, model);
  if (!first) return;
  bytes head = head_of(order);
  constexpr std::uint64_t most = 6000;
  for (bool better = true; better;) {
    better = false;
    std::uint64_t work = 0;
    for (std::size_t from = 0; from < n && !better; ++from)
      for (std::size_t to = 0; to < n && !better && work < most; ++to) {
        if (to == from) continue;
        std::vector<op_id> other = order;
        const op_id moved = other[from];
        other.erase(other.begin() + static_cast<std::ptrdiff_t>(from));
        other.insert(other.begin() + static_cast<std::ptrdiff_t>(to), moved);
        const auto e = memsched::evaluate(*p, other, model);
        if (!e || e->peak > first->peak) continue;
        ++work;
        const bytes less = head_of(other);
        if (less >= head) continue;
        head = less;
        order = f.lists[0] = std::move(other);
        better = true;
      }
  }
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

/// What the head of TensorFlow Lite Micro's arena takes before and after.
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

/// What users of ONNX Runtime get, which orders operators anew: its peaks of the given and of the written file.
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

/// Puts the given file in place of a new one that ONNX Runtime would run in more memory, unless the caller insists. Returns the
/// note that says what ONNX Runtime makes of the file.
std::string heed_onnxruntime(const job& j, found& f, std::string& written) {
  const runtime_peaks p = onnxruntime_peaks(j, written);
  const std::string would = "ONNX Runtime orders operators anew: a peak of " + grouped(p.given) + " bytes for this file, " +
                            grouped(p.written) + " for one in the order found";
  if (p.written <= p.given || j.r.force || !j.r.order.empty())
    return would + (p.written > p.given ? ", which is worse" : "");
  written = j.file.view();
  f.peak = f.file_peak;
  for (auto& list : f.lists) list.clear();
  return would + "; so the order of the file was kept (--force writes the other)";
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
  if (r.offsets)
    for (memsched::model_graph& g : j.graphs) memsched::as_micro(g, r.in_place);
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

int run_reorder(const reorder_request& r) {
  const auto j = open_job(r);
  if (!j) return report(j.error());
  auto f = find_orders(*j);
  if (!f) return report(wrong(r.graph, f.error().message));
  if (j->tflite && !r.offsets) lower_head(*j, *f);
  memsched::micro_plan plan;
  auto written = write(*j, *f, plan);
  if (!written) return report(wrong(r.graph, written.error().message));
  const auto arena = heads_of(*j, *written);
  std::vector<std::string> notes;
  if (j->tflite) notes = memsched::tflite_notes(j->file.view(), j->reading);
  else if (moved(*j, *f) > 0) notes.push_back(heed_onnxruntime(*j, *f, *written));
  const std::string text = r.json ? json_line(*j, *f, plan, arena, notes) : lines(*j, *f, plan, arena);
  std::vector<output_file> files(1);
  files[0] = {r.output, std::move(*written)};  // may be large: not copied
  if (r.output != "-") files.push_back({"-", text});
  if (const auto error = write_files(files); !error.message.empty()) return report(error);
  for (const std::string& n : notes) note("note: " + r.graph + ": " + n);
  if (r.output == "-") tell(r.output, text);
  note_over_budget(r.output, f->peak, r.options.budget);
  return f->peak <= r.options.budget ? done : over_budget;
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
  c.add("--force", flag(r->force), "also write an .onnx file that takes more memory in ONNX Runtime, which orders anew");
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
