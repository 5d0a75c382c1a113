// CSV and SVG.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include <memsched/io/csv.hpp>
#include <memsched/io/svg.hpp>

using namespace memsched;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("samples, steps and trials as CSV") {
  std::ostringstream out;
  write_csv(out, std::vector<order_sample>{{100, 1.5}, {70, 2}});
  CHECK(out.str() == "sample,peak,log2_orders\n0,100,1.5\n1,70,2\n");
  out.str("");
  write_csv(out, std::vector<step_statistics>{{.run = 1, .step = 2, .states = 3, .moves = 4, .pruned = 5, .seconds = 0.5}});
  CHECK(out.str() == "run,step,states,moves,pruned,seconds\n1,2,3,4,5,0.5\n");
  out.str("");
  write_csv(out, std::vector<trial_statistics>{
                     {.budget = 9, .answer = budget_answer::no_solution, .step_states = 8, .states = 7, .seconds = 0.25}});
  CHECK(out.str() == "budget,answer,step_states,states,seconds\n9,no solution,8,7,0.25\n");
}

TEST_CASE("the distribution as SVG: a step for each peak, a line for each mark, names escaped") {
  std::ostringstream out;
  const std::vector<order_sample> samples{{1024, 0}, {2048, 0}, {2048, 0}, {4096, 0}};
  const std::vector<peak_mark> marks{{"optimal", 1024}, {"a<b & \"c\"", 3072}};
  write_distribution_svg(out, "net <1>", samples, marks);
  const std::string svg = out.str();
  CHECK(count(svg, "stroke-dasharray") == 2);
  CHECK(count(svg, " V") == 3);
  CHECK(count(svg, "net &lt;1&gt;") == 1);
  CHECK(count(svg, "a&lt;b &amp; &quot;c&quot; 3.0 KiB") == 1);
  CHECK(count(svg, "<1>") == 0);
  // The smallest peak is at the left edge, the largest at the right one; a quarter of the samples needs 1 KiB.
  CHECK(svg.find("M60.0 370.0 H60.0 V287.5") != std::string::npos);
  CHECK(svg.find("H700.0 V40.0") != std::string::npos);
}

TEST_CASE("drawings of nothing and of one peak are drawings") {
  std::ostringstream out;
  write_distribution_svg(out, "", {}, {});
  write_distribution_svg(out, "", std::vector<order_sample>{{5, 0}}, {});
  CHECK(count(out.str(), "</svg>") == 2);
  CHECK(count(out.str(), "nan") == 0);
}
