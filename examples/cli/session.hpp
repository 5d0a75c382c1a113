// What the program hears and says while it works: interrupts, and a line of progress on a terminal.
#pragma once

#include <functional>
#include <memsched/search/options.hpp>
#include <stop_token>
#include <string>

namespace cli {

/// While one lives, the first SIGINT or SIGTERM asks the search to stop, so that the best answer so far is printed, and a
/// second, a moment later, ends the program; and where standard error is a terminal, a line tells how far the search is. One
/// at a time, made before any thread.
class session {
 public:
  session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  /// Clears the line.
  ~session();

  /// Makes a search heed interrupts and tell its progress. `o` must not outlive this.
  void attend(memsched::options& o);
  /// Whether an interrupt came.
  bool interrupted() const;

 private:
  std::function<void(const memsched::progress&)> line_;
};

/// Clears the line of progress, where one was written: before other text goes to a terminal.
void clear_progress();

}  // namespace cli
