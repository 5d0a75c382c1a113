// Certificates of what the default scheduler claims: whether each optimum has a complete one, whether both checkers accept
// it, and what it takes to write and to check.
// usage: bench_proof [--checker CHECK.PY] [--limit SECONDS=10] [--write SECONDS=60] [GRAPH...]
//   GRAPH: a network, as `memsched schedule builtin:...` takes it; `rows:...` or `sdf:...`, as printed; or a file that ends
//   in .json or .tflite. Without one: the networks of the papers, one of each family, the hard set, large ones, row blocks
//   and the tables of dataflow graphs. --checker: where tests/proof/check.py is, if not there. Limits: of the search, and of
//   what makes the certificate.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
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
#include <memsched/schedule.hpp>
#include <memsched/sdf/composites.hpp>
#include <memsched/sdf/compress.hpp>
#include <networks/networks.hpp>

#include "fradet_tables.hpp"
#include "row_graphs.hpp"

namespace {

namespace fs = std::filesystem;
using namespace memsched;

/// Seconds of the processor that this process has taken.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class F>
double timed(F&& f) {
  const double start = processor_seconds();
  f();
  return processor_seconds() - start;
}

struct totals {
  int graphs = 0, optimal = 0, complete = 0, refused = 0;
};

struct request {
  double limit = 10, write_limit = 60;
  std::string checker = fs::exists("tests/proof/check.py") ? "tests/proof/check.py" : "";
  fs::path folder{};

  static options limited(double seconds) {
    options o;
    o.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
    return o;
  }
};

/// What is claimed of a graph.
struct claim {
  schedule_graph graph{};
  std::vector<node_id> order{};
  bytes peak = 0, lower_bound = 0;
  double seconds = 0;
  std::string json{};  ///< the graph's own; none where it has none
};

claim claim_of(const problem& p, const request& r) {
  const options o = request::limited(r.limit);
  claim c{.graph = make_schedule_graph(p, o.model()), .json = write_json(p.draft())};
  c.seconds = timed([&] {
    schedule_result<op_id> s = schedule(p, automatic, o);
    c.order = std::move(s.order), c.peak = s.peak, c.lower_bound = s.lower_bound;
  });
  return c;
}

/// Of the firings of a dataflow graph that compression of actors leaves.
claim claim_of(const sdf::graph& g, const request& r) {
  claim c{.graph = make_schedule_graph(sdf::expand(sdf::compress(sdf::costs(g).value())).value()).value()};
  search context(request::limited(r.limit));
  c.seconds = timed([&] {
    solution s = (compress{} | automatic)(c.graph, context);
    c.order = std::move(s.order), c.peak = peak_of(c.graph, c.order), c.lower_bound = s.lower_bound;
  });
  return c;
}

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

result<problem_draft> draft_of(const std::string& name) {
  const fs::path path = name;
  if (path.extension() != ".json" && path.extension() != ".tflite") return networks::make(name);
  const auto text = text_of(name);
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
  const auto p = check(std::move(*draft));
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
  const auto start = std::chrono::steady_clock::now();
  const std::string command =
      "python3 '" + r.checker + "' '" + graph.string() + "' '" + result.string() + "' >'" + said.string() + "' 2>&1";
  const bool accepted = std::system(command.c_str()) == 0;
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (accepted) return took;
  std::fprintf(stderr, "%s\n", text_of(said.string()).value_or("").c_str());
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
  search limits(request::limited(r.write_limit));
  const double wrote =
      timed([&] { c = certify(s.graph, s.order, s.lower_bound, [&] { return limits.keep_going(); }); });
  std::string why;
  const double checked = timed([&] { why = check_certificate(s.graph, c); });
  const bool twice = !r.checker.empty() && !s.json.empty();
  const double second = twice ? checked_by_python(r, s, c) : 0;
  const bool optimal = s.peak == s.lower_bound, complete = c.bound >= s.lower_bound;
  ++sum.graphs;
  sum.optimal += optimal;
  sum.complete += optimal && complete;
  sum.refused += !why.empty() || second < 0;
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
  for (const char* hard : {"windowed:300:12", "windowed:300:30", "windowed:300:60", "windowed:300:100", "watts_strogatz:100",
                           "randwire-stack"})
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
    if (a == "--checker" && i + 1 < count) r.checker = arguments[++i];
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
  fs::remove_all(r.folder);
  return sum.refused == 0 && sum.complete == sum.optimal ? 0 : 1;
}
