// Runs the program in a folder of its own, which goes with the object.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/wait.h>

#include "support/file_content.hpp"
#include "support/temporary_folder.hpp"

class program {
 public:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Writes a file into its folder. Returns the path, quoted for `run`.
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return "\"" + path(name) + "\"";
  }
  /// The bytes of a file of its folder; none where there is no such file.
  std::string content(const std::string& name) const { return support::file_content(path(name)); }
  /// The exit status; standard output and standard error are in `out` and `err`.
  int run(const std::string& arguments) {
    const std::string to = " >\"" + path("out") + "\" 2>\"" + path("err") + "\"";
    const int status = std::system(("\"" MEMSCHED_PROGRAM "\" " + arguments + to).c_str());
    out = content("out"), err = content("err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string out, err;

 private:
  support::temporary_folder folder_;
};
