#include <memory>
#include <memsched/io/csv.hpp>
#include <memsched/io/svg.hpp>
#include <memsched/measure/sample.hpp>
#include <sstream>

#include "commands.hpp"
#include "declare.hpp"
#include "schedulers.hpp"
#include "text.hpp"

namespace cli {

namespace {

/// The peaks of all schedulers that take the graph.
std::vector<memsched::peak_mark> marks(const memsched::problem& p, const sample_request& r) {
  std::vector<memsched::peak_mark> found;
  for (const auto& scheduler : schedulers()) {
    if (scheduler.role == memsched::scheduler_role::part) continue;
    const auto result = scheduler.run(p, r.options, r.knobs);
    if (!result.error) found.push_back({std::string(scheduler.name), result.peak});
  }
  return found;
}

}  // namespace

int run_sample(const sample_request& r) {
  if (const auto error = check_outputs({asked_result(r.output, content::csv), {"--svg", r.svg, content::svg}}, {r.graph});
      !error.message.empty())
    return report(error);
  const auto graph = load(r.graph, r.how, scheduler_of("automatic", r));
  if (!graph) return report(graph.error());
  const auto g = memsched::make_schedule_graph(graph->problem, r.options.model());
  memsched::search context(r.options);
  const auto samples = memsched::sample_orders(g, r.count, r.seed, [&] { return context.keep_going(); });
  std::ostringstream drawing, csv;
  memsched::write_csv(csv, samples);
  std::vector<output_file> files;
  if (!r.svg.empty()) {
    memsched::write_distribution_svg(drawing, graph->name, samples, marks(graph->problem, r));
    files.push_back({r.svg, drawing.str()});
  }
  return write_result(r.output, csv.str(), std::move(files));
}

command declare_sample() {
  const auto r = std::make_shared<sample_request>();
  command c("sample", "Peaks of random orders, beside those of the schedulers",
            "memsched sample builtin:swiftnet --svg peaks.svg -o peaks.csv");
  add_graph(c, r->graph, false);
  c.in("Sample");
  c.add("--count", number(r->count, 1), "how many orders").by_default("1000");
  c.add("--seed", number(r->seed), "of the random numbers; the same seed, the same orders").by_default("1");
  add_limits(c, *r, default_limit() + "; for each scheduler");
  add_parts_of_methods(c, *r);
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write the CSV there, not to standard output (-)");
  c.add("--svg", file(r->svg), "draw the cumulative distribution as an SVG there");
  return std::move(c.runs([r](const command& here, session& s) {
    prepare(here, *r, s);
    return run_sample(*r);
  }));
}

}  // namespace cli
