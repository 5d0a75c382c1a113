// Tables of buffers, both ways.
#include <catch2/catch.hpp>
#include <memsched/formats/buffers_csv.hpp>
#include <string>
#include <vector>

using namespace memsched;

TEST_CASE("a table of buffers as minimalloc has it") {
  const auto table = read_buffers_csv(
      "size,buffer,start,end,alignment,offset,gaps,hint\r\n10,a,0,3,4,-1,,-1\r\n8,b,1,6,,12,2-4@0:5 4-7@0:2,3\r\n");
  REQUIRE(table);
  REQUIRE(table->ids == std::vector<std::string>{"a", "b"});
  REQUIRE(table->buffers[0].upper == 4);  // `end` is inclusive
  REQUIRE(table->buffers[0].alignment == 4);
  REQUIRE(table->buffers[0].offset == no_offset);
  REQUIRE(table->buffers[1].offset == 12);
  REQUIRE(table->buffers[1].drops == std::vector<size_drop>{{2, 5}, {4, 2}});
  const std::string text = write_buffers_csv(*table);
  REQUIRE(text == "id,lower,upper,size,alignment,gaps,offset\na,0,4,10,4,,\nb,1,7,8,1,2-4@0:5 4-7@0:2,12\n");
  REQUIRE(write_buffers_csv(*read_buffers_csv(text)) == text);
  REQUIRE(write_buffers_csv(*read_buffers_csv("id,lower,upper,size\n"), {}) == "id,lower,upper,size\n");
}

TEST_CASE("what is wrong with a table, by line") {
  const auto error = [](const std::string& text) {
    const auto table = read_buffers_csv(text);
    return table ? std::string("none") : table.error().message;
  };
  REQUIRE(error("") == "line 0: has no header");
  REQUIRE(error("id,lower,size\n") == "line 1: the column upper is missing");
  REQUIRE(error("id,lower,upper,end,size\n") == "line 1: has both upper and end");
  REQUIRE(error("id,lower,upper,colour,size\n") == "line 1: there is no column colour");
  REQUIRE(error("id,lower,start,upper,size\n") == "line 1: a second column for start");
  const std::string head = "id,lower,upper,size,gaps\n";
  REQUIRE(error(head + "a,0,1,2\n") == "line 2: has 4 fields, the header 5");
  REQUIRE(error(head + "a,0,1,2,\na,0,1,2,\n") == "line 3: the id a is given twice");
  REQUIRE(error(head + "a,0,x,2,\n") == "line 2: upper: x is no number that fits");
  REQUIRE(error(head + "a,0,1,-2,\n") == "line 2: size: -2 is no number that fits");
  REQUIRE(error(head + "a,0,1,99999999999999999999,\n") == "line 2: size: 99999999999999999999 is no number that fits");
  REQUIRE(error(head + "a,,1,2,\n") == "line 2: lower: is empty");
  REQUIRE(error(head + "a,0,9,5,2-4\n") ==
          "line 2: gaps: 2-4 is not of the form start-end@low:high; gaps without bytes are not taken");
  REQUIRE(error(head + "a,0,9,5,2-9@1:3\n").find("other bytes than the lowest") != std::string::npos);
  REQUIRE(error(head + "a,0,9,5,2-4@0:3\n") == "line 2: gaps: must last until the buffer ends");
}
