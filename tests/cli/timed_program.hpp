// Runs the program under a clock of its own, for which clock.c is compiled.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "program.hpp"

/// Runs the program, with `timed` under a clock that is a second later each time that it is read.
class timed_program : public program {
 public:
  timed_program() : clock_(path("clock.so")) {
    REQUIRE(std::system(
                ("\"" MEMSCHED_C_COMPILER "\" -shared -fPIC -o \"" + clock_ + "\" \"" MEMSCHED_CLOCK "\"").c_str()) == 0);
    REQUIRE(setenv("CLOCK_WENT", path("went").c_str(), 1) == 0);
  }
  ~timed_program() { unsetenv("CLOCK_WENT"); }
  timed_program(const timed_program&) = delete;
  timed_program& operator=(const timed_program&) = delete;

  int timed(const std::string& arguments) {
    REQUIRE(setenv("LD_PRELOAD", clock_.c_str(), 1) == 0);
    const int status = run(arguments);
    REQUIRE(unsetenv("LD_PRELOAD") == 0);
    return status;
  }
  /// The seconds that the last run took.
  long went() const { return std::stol(content("went")); }

 private:
  std::string clock_;
};
