// Certificates of what the default scheduler claims: whether each optimum has a complete one, whether both checkers accept
// it, and what it takes to write and to check: seconds of the processor.
// usage: bench_proof [--checkers FOLDER] [--limit SECONDS=10] [--write SECONDS=60] [GRAPH...]
//   GRAPH: a network, as `memsched schedule builtin:...` takes it; `rows:...` or `sdf:...`, as printed; or a file that ends
//   in .json or .tflite. Without one: the networks of the papers, one of each family, the hard set, large ones, row blocks
//   and the tables of dataflow graphs. --checkers: where check.py and check_costs.py are, if not in tests/proof; none where
//   they are not there. Limits: of the search, and of what makes the certificate.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/certify/certify.hpp>
#include <memsched/formats/certificate.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/proof/check_certificate.hpp>
#include <memsched/schedule.hpp>
#include <memsched/sdf/composites.hpp>
#include <memsched/sdf/compress.hpp>
#include <networks/networks.hpp>

#include "fradet_tables.hpp"
#include "graph_files.hpp"
#include "row_graphs.hpp"
#include "timing.hpp"

namespace {

namespace fs = std::filesystem;
using namespace memsched;

using timing::processor_seconds;

template <class F>
double timed(F&& f) {
  const double start = processor_seconds();
  f();
  return processor_seconds() - start;
}

struct totals {
  int graphs = 0, optimal = 0, complete = 0, refused = 0;
  std::vector<std::string> slow_to_write, slow_to_check;  ///< beside the search
};

struct request {
  double limit = 10, write_limit = 60;
  fs::path checkers = "tests/proof";
  fs::path folder{};

  static options limited(double seconds) {
    options o;
    o.time_limit = timing::nanoseconds(seconds);
    return o;
  }
};

/// An order of a graph with its peak, and the lower bound that is claimed.
struct claim {
  schedule_graph graph{};
  std::vector<node_id> order{};
  bytes peak = 0, lower_bound = 0;
  double seconds = 0;
  std::string json{};     ///< the graph's own
  std::string checker{};  ///< of such a graph
};

claim claim_of(const problem& p, const request& r) {
  const options o = request::limited(r.limit);
  claim c{.graph = make_schedule_graph(p, o.model()), .json = write_json(p.draft()), .checker = "check.py"};
  c.seconds = timed([&] {
    schedule_result<op_id> s = schedule(p, automatic, o);
    c.order = std::move(s.order), c.peak = s.peak, c.lower_bound = s.lower_bound;
  });
  return c;
}

/// Of the firings of a dataflow graph that compression of actors leaves.
claim claim_of(const sdf::graph& g, const request& r) {
  const cost_graph firings = sdf::expand(sdf::compress(sdf::costs(g).value())).value();
  using json = nlohmann::ordered_json;
  json j{{"base", firings.base}, {"cost", json::array()}, {"edges", json::array()}};
  for (const auto& [peak, impact] : firings.cost) j["cost"].push_back(json::array({peak, impact}));
  for (const auto& [before, after] : firings.edges) j["edges"].push_back(json::array({before, after}));
  claim c{.graph = make_schedule_graph(firings).value(), .json = j.dump(), .checker = "check_costs.py"};
  search context(request::limited(r.limit));
  c.seconds = timed([&] {
    solution s = (compress{} | automatic)(c.graph, context);
    c.order = std::move(s.order), c.peak = peak_of(c.graph, c.order), c.lower_bound = s.lower_bound;
  });
  return c;
}

result<problem_draft> draft_of(const std::string& name) {
  const fs::path path = name;
  if (path.extension() != ".json" && path.extension() != ".tflite") return networks::make(name);
  const auto text = graph_files::text_of(name);
  if (!text) return graph_error{error_code::bad_input, "cannot be read", {}, {}};
  if (path.extension() == ".json") return read_json(*text);
  auto graphs = read_tflite(*text);
  if (!graphs) return graphs.error();
  return std::move(graphs->front().draft);
}

result<claim> claim_of(const std::string& name, const request& r) {
  for (const row_graph& rows : row_graphs())
    if (rows.name == name) return claim_of(problem_of(rows), r);
  for (const auto& line : fradet_tables::tables_1_and_2())
    if (std::string("sdf:") + line.name == name) return claim_of(line.graph, r);
  auto draft = draft_of(name);
  if (!draft) return draft.error();
  const auto p = make_problem(std::move(*draft));
  if (!p) return p.error();
  return claim_of(*p, r);
}

/// The other checker's answer; seconds, or less than 0 where it refuses the result.
double checked_by_python(const request& r, const claim& s, const certificate& c) {
  const fs::path graph = r.folder / "graph.json", result = r.folder / "result.json", said = r.folder / "said";
  std::ofstream(graph) << s.json;
  nlohmann::ordered_json j{
      {"firing", "pbc"}, {"inplace", true}, {"order", s.order}, {"peak", s.peak}, {"certificate", write_certificate(c)}};
  std::ofstream(result) << j.dump();
  const double start = processor_seconds(RUSAGE_CHILDREN);
  const std::string command = "python3 '" + (r.checkers / s.checker).string() + "' '" + graph.string() + "' '" +
                              result.string() + "' >'" + said.string() + "' 2>&1";
  const bool accepted = std::system(command.c_str()) == 0;
  const double took = processor_seconds(RUSAGE_CHILDREN) - start;
  if (accepted) return took;
  std::fprintf(stderr, "%s\n", graph_files::text_of(said.string()).value_or("").c_str());
  return -1;
}

void print_row(const std::string& name, const request& r, totals& sum) {
  const std::string shown = fs::path(name).filename().string();
  const auto found = claim_of(name, r);
  if (!found) {
    std::printf("%-24s %s\n", shown.c_str(), found.error().message.c_str());
    return;
  }
  const claim& s = *found;
  certificate c;
  const double end = processor_seconds() + r.write_limit;
  const double wrote =
      timed([&] { c = certify(s.graph, s.order, s.lower_bound, [&] { return processor_seconds() < end; }); });
  std::string why;
  const double checked = timed([&] { why = check_certificate(s.graph, c); });
  const bool twice = fs::exists(r.checkers / s.checker);
  const double second = twice ? checked_by_python(r, s, c) : 0;
  const bool optimal = s.peak == s.lower_bound, complete = c.bound >= s.lower_bound;
  ++sum.graphs;
  sum.optimal += optimal;
  sum.complete += optimal && complete;
  sum.refused += !why.empty() || second < 0;
  const auto note = [&](std::vector<std::string>& slow, double seconds, double times) {
    std::array<char, 40> ratio{};
    std::snprintf(ratio.data(), ratio.size(), " (%.0f times)", seconds / std::max(s.seconds, 1e-6));
    if (optimal && seconds > times * s.seconds) slow.push_back(shown + ratio.data());
  };
  note(sum.slow_to_write, wrote, 2), note(sum.slow_to_check, checked, 10);
  std::printf("%-24s %7zu | %12llu %-9s %12llu %-8s | %-7s %-7s | %9zu | %8.3f %8.3f %8.3f %8.2f\n", shown.c_str(),
              s.graph.active, static_cast<unsigned long long>(s.peak), optimal ? "optimal" : "",
              static_cast<unsigned long long>(c.bound), complete ? "complete" : "", why.empty() ? "yes" : "NO",
              !twice        ? "-"
              : second >= 0 ? "yes"
                            : "NO",
              write_certificate(c).dump().size(), s.seconds, wrote, checked, second);
  if (!why.empty()) std::fprintf(stderr, "%s: %s\n", shown.c_str(), why.c_str());
  std::fflush(stdout);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& n : networks::all()) names.push_back(n.name);
  for (const char* hard :
       {"windowed:300:12", "windowed:300:30", "windowed:300:60", "windowed:300:100", "watts_strogatz:100", "randwire-stack"})
    for (const char* seed : {":1", ":2", ":3"}) names.push_back(std::string(hard) + seed);
  for (const char* large : {"layered:50:20:1", "windowed:1000:30", "windowed:2000:30", "windowed:8000:30",
                            "windowed:10000:16", "layered:1250:8"})
    names.emplace_back(large);
  for (const row_graph& rows : row_graphs()) names.push_back(rows.name);
  for (const auto& line : fradet_tables::tables_1_and_2()) names.push_back(std::string("sdf:") + line.name);
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  request r;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    const std::string_view a = arguments[i];
    if (a == "--checkers" && i + 1 < count) r.checkers = arguments[++i];
    else if (a == "--limit" && i + 1 < count) r.limit = std::atof(arguments[++i]);
    else if (a == "--write" && i + 1 < count) r.write_limit = std::atof(arguments[++i]);
    else names.emplace_back(a);
  }
  if (names.empty()) names = all_names();
  r.folder = fs::temp_directory_path() /
             ("memsched-proof-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
  fs::create_directories(r.folder);
  totals sum;
  std::printf("%-24s %7s | %12s %-9s %12s %-8s | %-7s %-7s | %9s | %8s %8s %8s %8s\n", "", "nodes", "peak", "", "certified",
              "", "first", "second", "bytes", "search", "write", "check", "second");
  for (const std::string& name : names) print_row(name, r, sum);
  std::printf("\n%d graphs, %d optimal, %d of these with a complete certificate, %d refused\n", sum.graphs, sum.optimal,
              sum.complete, sum.refused);
  const auto print_slow = [](const char* what, const std::vector<std::string>& slow) {
    std::printf("%s: %zu graphs", what, slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) std::printf("%s%s", i == 0 ? ": " : ", ", slow[i].c_str());
    std::printf("\n");
  };
  print_slow("Written in more than twice the time of the search", sum.slow_to_write);
  print_slow("Checked in more than ten times that", sum.slow_to_check);
  fs::remove_all(r.folder);
  return sum.refused == 0 && sum.complete == sum.optimal ? 0 : 1;
}
