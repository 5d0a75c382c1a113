// CSV and SVG.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include <memsched/io/csv.hpp>
#include <memsched/io/drawing.hpp>
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
  write_csv(out, std::vector<statistics::step>{{.run = 1, .step = 2, .states = 3, .moves = 4, .pruned = 5, .seconds = 0.5}});
  CHECK(out.str() == "run,step,states,moves,pruned,seconds\n1,2,3,4,5,0.5\n");
  out.str("");
  write_csv(out,
            std::vector<statistics::trial>{
                {.budget = 9, .answer = statistics::outcome::no_solution, .step_states = 8, .states = 7, .seconds = 0.25}});
  CHECK(out.str() == "budget,answer,step_states,states,seconds\n9,no solution,8,7,0.25\n");
}

TEST_CASE("the distribution as SVG: a step for each peak, a line for each mark, names escaped") {
  std::ostringstream out;
  const std::vector<order_sample> samples{{1024, 0}, {2048, 0}, {2048, 0}, {4096, 0}};
  const std::vector<peak_mark> marks{{"optimal", 1024}, {"a<b & \"c\"", 3072}};
  write_distribution_svg(out, "net <1>", samples, marks);
  const std::string svg = out.str();
  CHECK(count(svg, "stroke-dasharray") == 4);  // in the plot and in the legend
  CHECK(count(svg, " V") == 3);
  CHECK(count(svg, "<title>net &lt;1&gt;</title>") == 1);
  CHECK(count(svg, ">net &lt;1&gt;<") == 2);  // the title, and the text above the plot
  CHECK(count(svg,
              "<desc>Which share of 4 random orders needs no more than how much memory: the least 1 KiB, the most 4 KiB. "
              "Marked: optimal 1 KiB, a&lt;b &amp; &quot;c&quot; 3 KiB.</desc>") == 1);
  CHECK(count(svg, "role=\"img\"") == 1);
  CHECK(count(svg, "prefers-color-scheme:dark") == 1);
  CHECK(count(svg, ">a&lt;b &amp; &quot;c&quot; 3 KiB<") == 1);
  CHECK(count(svg, "<1>") == 0);
  // The smallest peak is at the left edge, the largest at the right one; a quarter of the samples needs 1 KiB.
  CHECK(svg.find("M60.0 366.0 H60.0 V284.5") != std::string::npos);
  CHECK(svg.find("H660.0 V40.0") != std::string::npos);
}

namespace {

std::string texts(const std::vector<tick>& ticks) {
  std::string all;
  for (const tick& t : ticks) all += (all.empty() ? "" : ", ") + t.text;
  return all;
}

}  // namespace

TEST_CASE("ticks are round, in one unit, and lie within the range") {
  CHECK(texts(round_ticks(0, 250880, true)) == "0 KiB, 50 KiB, 100 KiB, 150 KiB, 200 KiB");
  CHECK(texts(round_ticks(0, 1600, true)) == "0 KiB, 0.5 KiB, 1 KiB, 1.5 KiB");
  CHECK(texts(round_ticks(0, 7, true)) == "0 bytes, 2 bytes, 4 bytes, 6 bytes");
  CHECK(texts(round_ticks(0, 1, true)) == "0 bytes, 1 bytes");
  CHECK(texts(round_ticks(0, 0, true)) == "0 bytes");
  CHECK(texts(round_ticks(0, 98765, false)) == "0, 20000, 40000, 60000, 80000");
  CHECK(texts(round_ticks(1000 * 1024, 1020 * 1024, true)) == "1000 KiB, 1005 KiB, 1010 KiB, 1015 KiB, 1020 KiB");
  for (const bytes most : {bytes{3}, bytes{1023}, bytes{1024}, bytes{1} << 40, base::max_total})
    for (const tick& t : round_ticks(most / 3, most, true)) {
      CHECK(t.at >= static_cast<double>(most / 3));
      CHECK(t.at <= static_cast<double>(most) * 1.001);
    }
}

TEST_CASE("text in a drawing is XML, whatever the names hold") {
  CHECK(escape_xml("a<b>&\"\x01\n") == "a&lt;b&gt;&amp;&quot;  ");
  CHECK(escape_xml("\xc3\xa4 \xff \xc3") == "\xc3\xa4 ? ?");
  CHECK(escape_xml("\xed\xa0\x80\xef\xbf\xbf") == "??????");  // a half of a pair, and no character
  CHECK(shortened("abcdef", 6) == "abcdef");
  CHECK(shortened("abcdefg", 6) == "abcde\xe2\x80\xa6");
  CHECK(shortened("\xc3\xa4\xc3\xb6\xc3\xbc", 2) == "\xc3\xa4\xe2\x80\xa6");
  CHECK(binary_size(250880) == "245 KiB");
  CHECK(binary_size(1023) == "1023 bytes");
  CHECK(binary_size(1600) == "1.56 KiB");
  CHECK(binary_size(1 << 20) == "1 MiB");
  CHECK(binary_size(10 * 1024 - 1) == "10 KiB");
  CHECK(binary_size(102399) == "100 KiB");
}

TEST_CASE("drawings of nothing and of one peak are drawings") {
  std::ostringstream out;
  write_distribution_svg(out, "", {}, {});
  write_distribution_svg(out, "", std::vector<order_sample>{{5, 0}}, {});
  CHECK(count(out.str(), "</svg>") == 2);
  CHECK(count(out.str(), "nan") == 0);
}
