// Files in SDF3's format: what they mean, and what is wrong with bad ones, with line and name.
#include <catch2/catch.hpp>
#include <memsched/formats/sdf3.hpp>
#include <string>

using namespace memsched;

namespace {

/// Two actors and a link. `replaced` stands for `what` in the file, once.
std::string file(const std::string& what = {}, const std::string& replaced = {}) {
  std::string text = R"(<?xml version="1.0"?>
<sdf3 type="sdf" version="1.0">
 <applicationGraph name="two">
  <sdf name="inner" type="t">
   <actor name="left" type="a">
    <port name="o" type="out" rate="2"/>
    <port name="s" type="out" rate="1"/>
    <port name="t" type="in" rate="1"/>
   </actor>
   <actor name="right" type="b">
    <port name="i" type="in" rate="3"/>
   </actor>
   <channel name="link" srcActor="left" srcPort="o" dstActor="right" dstPort="i" initialTokens="5"/>
   <channel name="own" srcActor="left" srcPort="s" dstActor="left" dstPort="t" initialTokens="1"/>
  </sdf>
  <sdfProperties>
  </sdfProperties>
 </applicationGraph>
</sdf3>
)";
  if (what.empty()) return text;
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), replaced);
}

std::string error(const std::string& text, const sdf3_options& options = {}) {
  const auto g = read_sdf3(text, options);
  REQUIRE_FALSE(g);
  REQUIRE(g.error().message.find('\n') == std::string::npos);
  return g.error().message;
}
std::string error(const std::string& what, const std::string& replaced) { return error(file(what, replaced)); }

}  // namespace

TEST_CASE("a file of SDF3") {
  const auto g = read_sdf3(file()).value();
  REQUIRE(g.name == "two");
  REQUIRE_FALSE(g.sized);
  REQUIRE(g.graph.actor_name(0) == "left");
  REQUIRE(g.graph.actor_name(1) == "right");
  REQUIRE(g.graph.repetitions() == std::vector<bytes>{3, 2});
  const sdf::channel& link = g.graph.channels()[0];
  REQUIRE(
      (link.from == 0 && link.to == 1 && link.produced == 2 && link.consumed == 3 && link.tokens == 5 && link.size == 1));
  REQUIRE(g.graph.channel_name(1) == "own");
  REQUIRE(g.graph.channels()[1].size == 0);  // without a size it only forbids overlapping firings
  REQUIRE(g.graph.base() == 5);
}

TEST_CASE("sizes of tokens") {
  const std::string properties = "<sdfProperties>";
  const std::string own = "<sdfProperties><channelProperties channel=\"own\"><tokenSize sz=\"8192\"/></channelProperties>";
  REQUIRE(error(properties, own) == "line 13: channel \"link\" has no tokenSize, and others have: --token-size N sets it");
  const auto g = read_sdf3(file(properties, own), {.token_size = 4}).value();
  REQUIRE(g.sized);
  REQUIRE(g.graph.channels()[0].size == 4);
  REQUIRE(g.graph.channels()[1].size == 8192);
  REQUIRE(read_sdf3(file(), {.token_size = 4}).value().graph.channels()[1].size == 0);
  const auto with = [&](const std::string& text) { return error(properties, properties + text); };
  REQUIRE(with("<channelProperties channel=\"link\"><tokenSize sz=\"-3\"/></channelProperties>") ==
          "line 16: tokenSize of channel \"link\": sz \"-3\" is no whole number");
  const std::string lost = "<channelProperties channel=\"lost\"><tokenSize sz=\"3\"/></channelProperties>";
  REQUIRE(error(file(properties, properties + lost), {.token_size = 1}) ==
          "line 16: tokenSize of channel \"lost\", which is none");
}

TEST_CASE("equal rates in a list are one; others are refused by name") {
  REQUIRE(read_sdf3(file("rate=\"2\"", "rate=\"2,2,2\"")).value().graph.channels()[0].produced == 2);
  REQUIRE(error("rate=\"2\"", "rate=\"1,0,1\"") ==
          "line 6: port \"o\" of \"left\": rate varies (1,0,1): cyclo-static graphs are not supported");
}

TEST_CASE("bad files are refused with line and name") {
  REQUIRE(error("rate=\"2\"", "rate=\"12x\"") == "line 6: port \"o\" of \"left\": rate \"12x\" is no whole number above 0");
  for (const char* rate : {"0", "-3", "", " 2", "1e3", "100000000000000000000", "2,"})
    REQUIRE(error("rate=\"2\"", std::string("rate=\"") + rate + "\"").find("line 6: port \"o\" of \"left\": rate \"") == 0);
  REQUIRE(error("type=\"out\"", "type=\"up\"") == "line 6: port \"o\" of \"left\": type \"up\" is neither in nor out");
  REQUIRE(error("initialTokens=\"5\"", "initialTokens=\"-1\"") == "line 13: channel \"link\": initialTokens -1");
  REQUIRE(error("dstActor=\"right\"", "dstActor=\"write\"") ==
          "line 13: channel \"link\" goes to \"write\", which is no actor");
  REQUIRE(error("srcActor=\"left\"", "srcActor=\"lift\"") ==
          "line 13: channel \"link\" comes from \"lift\", which is no actor");
  REQUIRE(error("srcPort=\"o\"", "srcPort=\"q\"") == "line 13: channel \"link\": \"left\" has no port \"q\"");
  REQUIRE(error("srcPort=\"s\"", "srcPort=\"o\"") == "line 14: channel \"own\": port \"o\" of \"left\": port used twice");
  REQUIRE(error("dstPort=\"t\"", "dstPort=\"s\"") ==
          "line 14: channel \"own\": port \"s\" of \"left\" is an output, used as a destination");
  REQUIRE(error("srcPort=\"s\"", "srcPort=\"t\"") ==
          "line 14: channel \"own\": port \"t\" of \"left\" is an input, used as a source");
  REQUIRE(error("name=\"right\"", "name=\"left\"") == "line 10: two actors \"left\"");
  REQUIRE(error("name=\"s\"", "name=\"o\"") == "line 7: two ports \"o\" of \"left\"");
  REQUIRE(error("name=\"own\"", "name=\"link\"") == "line 14: two channels \"link\"");
  REQUIRE(error("<applicationGraph name=\"two\">", "<other/><applicationGraph name=\"\"/><applicationGraph>") ==
          "line 3: a second applicationGraph: only one is supported");
  REQUIRE(error("<sdf3 />") == "line 1: no applicationGraph");
  REQUIRE(error("\n\n<html></html>") == "line 3: no applicationGraph");
  REQUIRE(error("<sdf name", "<sadf/><sdf name") == "line 2: scenario-aware graphs (sadf) are not supported");
  REQUIRE(error("</actor>", "</aktor>").find("line 9: no XML: ") == 0);
  REQUIRE(error("").find("line 1: no XML: ") == 0);
  REQUIRE(error("\xff\xfe\x00").find("line 1: no XML: ") == 0);
}

TEST_CASE("what the checks of a graph find has names and a line") {
  REQUIRE(error("initialTokens=\"1\"", "initialTokens=\"0\"") ==
          "line 14: deadlock: \"left\" waits for 1 more token on \"own\"");
  REQUIRE(
      error("name=\"s\" type=\"out\" rate=\"1\"", "name=\"s\" type=\"out\" rate=\"2\"") ==
      "line 14: the rates are inconsistent: each firing of \"left\" puts 2 tokens into its self loop \"own\" and takes 1");
}

TEST_CASE("a million nested elements are no danger") {
  std::string text = "<sdf3>";
  for (int i = 0; i < 1'000'000; ++i) text += "<a>";
  for (int i = 0; i < 1'000'000; ++i) text += "</a>";
  REQUIRE(error(text + "</sdf3>") == "line 1: no applicationGraph");
}
