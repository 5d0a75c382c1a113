// The options that commands share, and the list of commands.
#pragma once

#include <deque>
#include <string>

#include "commands.hpp"
#include "options.hpp"

namespace cli {

// Each command declares itself beside what it does.
command declare_schedule();
command declare_compare();
command declare_report();
command declare_explain();
command declare_diff();
command declare_inspect();
command declare_reorder();
command declare_rewrite();
command declare_plan();
command declare_traffic();
command declare_recompute();
command declare_sample();
command declare_batch();
command declare_verify();
command declare_networks();

/// The operand of commands that take any graph, or any but synchronous dataflow.
void add_graph(command&, std::string& into, bool dataflow);
/// -o, and what else is said of it.
void add_output(command&, std::string& into, const std::string& about);
/// --format, with these words.
void add_format(command&, std::string& into, const std::string& words, const std::string& about = "of the result");
/// Options for counting memory and for reading model files.
void add_model(command&, request&);
/// The limits of a search; `default_time` in words.
void add_limits(command&, request&, const std::string& default_time);
/// Options that only some schedulers take.
void add_parts_of_methods(command&, request&);
/// A scheduler, a budget, and limits.
void add_search(command&, request&, std::string& scheduler, const std::string& default_time);
/// Options for rewriting a network; `needs` is the option that they require; empty: none.
void add_rewriting(command&, rewriting&, const std::string& runtime_default, const std::string& needs = {});
/// Options for synchronous dataflow alone; `schedules`: also how its schedules look.
void add_dataflow(command&, request&, bool schedules);

/// The default limit in words: seconds, and none where a limit on work was set.
std::string default_limit();
/// The option --log.
void add_log(command&, request&);
/// The first half of `prepare`.
void set_time_limit(const command&, request&, double seconds);
/// Sets the limits of a request as the command line has them, and makes its search heed interrupts and tell its progress.
/// Without a limit of time or work, `seconds` is the limit; none where negative.
void prepare(const command&, request&, session&, double seconds = default_seconds);

/// The format of a result: the one that was asked for, else the one that the name of its file says, of these words.
std::string format_of(const command&, const std::string& asked, const std::string& output);

/// Says on standard error which use is wrong; returns `wrong_usage`.
int misuse(const command&, const std::string& reason);

}  // namespace cli
