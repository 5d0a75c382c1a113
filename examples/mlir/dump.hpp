// Graphs of blocks in files, for the program memsched.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <memsched/graph/problem.hpp>
#include <string>

/// Writes a graph as the JSON that the program reads; what went wrong, or an empty string.
std::string write_graph(const memsched::problem& p, llvm::StringRef name, const std::string& path);
