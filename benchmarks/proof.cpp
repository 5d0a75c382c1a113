// Certificates of what `automatic` claims: whether each optimum has a complete one, whether both checkers accept it, and
// what it takes to write and to check.
// usage: bench_proof [--checker CHECK.PY] [--limit SECONDS=10] [--random SEEDS=200] [GRAPH...]
//   GRAPH: names of networks, as `memsched schedule builtin:...` takes them; without one, those of the papers, one of each
//   family, the hard set, and large ones. --checker: where tests/proof/check.py is, if not there. --random: so many small
//   graphs of each family, whose certificates must prove the optimum that `dp` finds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <memsched/certify/certify.hpp>
#include <memsched/formats/certificate.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/dp.hpp>
#include <networks/networks.hpp>

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
  double limit = 10;
  std::string checker = std::filesystem::exists("tests/proof/check.py") ? "tests/proof/check.py" : "";
  fs::path folder{};
};

/// The other checker's answer to a result; seconds, or less than 0 where it refuses it.
double checked_by_python(const request& r, const problem& p, const schedule_result<op_id>& s, const certificate& c) {
  const fs::path graph = r.folder / "graph.json", result = r.folder / "result.json", said = r.folder / "said";
  std::ofstream(graph) << write_json(p.draft());
  nlohmann::ordered_json j{{"firing", "pbc"}, {"inplace", true}, {"order", s.order}, {"peak", s.peak},
                           {"certificate", write_certificate(c)}};
  std::ofstream(result) << j.dump();
  const auto start = std::chrono::steady_clock::now();
  const std::string command =
      "python3 '" + r.checker + "' '" + graph.string() + "' '" + result.string() + "' >'" + said.string() + "' 2>&1";
  const bool accepted = std::system(command.c_str()) == 0;
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (accepted) return took;
  std::ifstream in(said);
  std::string line;
  while (std::getline(in, line)) std::fprintf(stderr, "%s\n", line.c_str());
  return -1;
}

void print_row(const std::string& name, const request& r, totals& sum) {
  const auto draft = networks::make(name);
  if (!draft) {
    std::printf("%-24s %s\n", name.c_str(), draft.error().message.c_str());
    return;
  }
  const problem p = check(*draft).value();
  options o;
  o.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(r.limit));
  schedule_result<op_id> s;
  const double searched = timed([&] { s = schedule(p, automatic, o); });
  const schedule_graph g = make_schedule_graph(p, o.model());
  certificate c;
  search limits(o);
  const double wrote = timed([&] { c = certify(g, s.order, s.lower_bound, [&] { return limits.keep_going(); }); });
  std::string why;
  const double checked = timed([&] { why = check_certificate(g, c); });
  const double second = r.checker.empty() ? 0 : checked_by_python(r, p, s, c);
  const bool optimal = s.peak == s.lower_bound, complete = c.bound >= s.lower_bound;
  ++sum.graphs;
  sum.optimal += optimal;
  sum.complete += optimal && complete;
  sum.refused += !why.empty() || second < 0;
  std::printf("%-24s %7zu | %12llu %-9s %12llu %-8s | %-7s %-7s | %9zu | %8.2f %8.2f %8.3f %8.2f\n", name.c_str(),
              p.ops().size(), static_cast<unsigned long long>(s.peak), optimal ? "optimal" : "",
              static_cast<unsigned long long>(c.bound), complete ? "complete" : "", why.empty() ? "yes" : "NO",
              r.checker.empty() ? "-"
              : second >= 0     ? "yes"
                                : "NO",
              write_certificate(c).dump().size(), searched, wrote, checked, second);
  if (!why.empty()) std::fprintf(stderr, "%s: %s\n", name.c_str(), why.c_str());
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
  return names;
}

/// Small graphs of each family: is the certificate of what `automatic` claims accepted, and the claim what `dp` finds?
int print_random(std::uint64_t seeds) {
  int graphs = 0, complete = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    for (const char* family :
         {"windowed:14:5:", "windowed:18:9:", "layered:4:4:", "watts_strogatz:6:", "series_parallel:16:"}) {
      const problem p = check(networks::make(family + std::to_string(seed)).value()).value();
      const auto s = schedule(p, automatic);
      const schedule_graph g = make_schedule_graph(p);
      const certificate c = certify(g, s.order, s.lower_bound, [] { return true; });
      ++graphs;
      complete += c.bound == s.peak;
      if (!check_certificate(g, c).empty() || schedule(p, dp{}).peak != s.peak) {
        std::printf("%s%llu: WRONG\n", family, static_cast<unsigned long long>(seed));
        ++wrong;
      }
    }
  std::printf(
      "%d small random graphs: %d certificates of the optimum; %d where one is refused or `dp` finds another optimum\n",
      graphs, complete, wrong);
  return wrong;
}

}  // namespace

int main(int count, char** arguments) {
  request r;
  std::vector<std::string> names;
  std::uint64_t random = 200;
  for (int i = 1; i < count; ++i) {
    const std::string_view a = arguments[i];
    if (a == "--checker" && i + 1 < count) r.checker = arguments[++i];
    else if (a == "--limit" && i + 1 < count) r.limit = std::atof(arguments[++i]);
    else if (a == "--random" && i + 1 < count) random = std::strtoull(arguments[++i], nullptr, 10);
    else names.emplace_back(a);
  }
  const bool all = names.empty();
  if (all) names = all_names();
  r.folder = fs::temp_directory_path() /
             ("memsched-proof-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
  fs::create_directories(r.folder);
  totals sum;
  std::printf("%-24s %7s | %12s %-9s %12s %-8s | %-7s %-7s | %9s | %8s %8s %8s %8s\n", "", "ops", "peak", "", "certified",
              "", "first", "second", "bytes", "search", "write", "check", "second");
  for (const std::string& name : names) print_row(name, r, sum);
  std::printf("\n%d graphs, %d optimal, %d of these with a complete certificate, %d refused\n", sum.graphs, sum.optimal,
              sum.complete, sum.refused);
  fs::remove_all(r.folder);
  if (all) sum.refused += print_random(random);
  return sum.refused == 0 ? 0 : 1;
}
