// Graphs of synchronous dataflow, from SDF3's XML: the commands that take operator graphs take these, too.
#pragma once

#include "commands.hpp"

namespace cli {

/// Whether a path names such a graph.
bool is_sdf(const std::string& path, const reading&);

int run_sdf_schedule(const schedule_request&);
/// Writes a page about a graph and its schedule; `facts` about the file stand below its title.
int run_sdf_report(const schedule_request&, const std::vector<std::string>& facts);
/// Compares graphs that are all of this kind; an error where one is not.
int run_sdf_compare(const compare_request&);
int run_sdf_inspect(const inspect_request&);
/// Checks a schedule and, `with_certificate`, the proof of its bound.
memsched::result<verified> verify_sdf(const std::string& graph, const std::string& path, bool with_certificate,
                                      const request&);

/// Refuses options for synchronous dataflow with another graph; an empty message if none were given.
memsched::graph_error only_for_sdf(const std::string& path, const request&);

}  // namespace cli
