// Interrupts of the program while it works, and its line of progress on a terminal.
#pragma once

#include <functional>
#include <memsched/search/options.hpp>
#include <stop_token>
#include <string>

namespace cli {

/// The form of a search's log, which reports progress line by line.
enum class log_form : unsigned char { none, text, json };

/// While one lives, SIGINT and SIGTERM end the program, with exit status 130; but where a search heeds them, the first asks
/// it to stop, so that the best answer so far is printed, and a second, a moment later, ends the program. Where standard
/// error is a terminal, a line tells how far the search is. One at a time, made before any thread.
class session {
 public:
  session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  /// Clears the line.
  ~session();

  /// Makes a search heed interrupts and tell its progress: on a terminal as one line that changes; as a log, with a line for
  /// each better order or bound and for the stage that found it, where `log` asks for it. `o` must not outlive this.
  void attend(memsched::options& o, log_form log = log_form::none);
  /// From here on, a caller that asks `interrupted` heeds interrupts.
  void heed();
  /// Whether an interrupt came that was heeded.
  bool interrupted() const;

 private:
  std::function<void(const memsched::progress&)> line_;
};

/// While one lives, there is no answer yet, and an interrupt ends the program, even if a caller heeds it later: a graph is
/// being read.
class without_answer {
 public:
  /// Does nothing where `counts` is false: others may have answers.
  explicit without_answer(bool counts);
  without_answer(const without_answer&) = delete;
  without_answer& operator=(const without_answer&) = delete;
  ~without_answer();

 private:
  bool counts_;
};

/// From here on, no progress and no notes are written to standard error. Errors are.
void be_quiet();
bool is_quiet();

/// Names the part of the work that goes on, for the line of progress: "rewriting". Empty for none.
void enter_phase(const std::string& name);

/// A line on standard error, after "memsched: ", unless all is to be quiet.
void note(const std::string& text);

/// Clears the line of progress, where one was written: before other text goes to a terminal.
void clear_progress();

}  // namespace cli
