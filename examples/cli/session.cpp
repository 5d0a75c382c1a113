#include "session.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "text.hpp"

namespace cli {

namespace {

constexpr int interrupted_status = 130;

std::atomic<bool> line_is_written = false;
std::atomic<bool> heeded = false;  // whether a search asks for `stop`
std::atomic<int> without_answers = 0;
std::atomic<bool> quiet = false;
std::mutex& naming = *new std::mutex;
std::string& phase = *new std::string;
std::stop_source& stop = *new std::stop_source;  // outlives main: a signal may come while the program ends

[[noreturn]] void end() {
  clear_progress();
  std::fputs("memsched: interrupted\n", stderr);
  _exit(interrupted_status);
}

/// Waits for signals, which all other threads block: what a handler may not do, a thread may. Where the system has no thread
/// for it, a signal ends the process.
void listen() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGINT);
  sigaddset(&awaited, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  const auto wait = [awaited] {
    using clock = std::chrono::steady_clock;
    constexpr auto one_wish = std::chrono::seconds(2);  // some send a signal to a process and again to its group
    clock::time_point first;
    for (int signal = 0; sigwait(&awaited, &signal) == 0;)
      if (!heeded || (without_answers > 0 && !stop.stop_requested())) end();
      else if (stop.request_stop()) first = clock::now();
      else if (clock::now() - first > one_wish) end();
  };
  try {
    std::thread(wait).detach();
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
  }
}

/// The value that a search makes small, and its bound: the peak, or the extra cost of reruns.
struct standing {
  std::uint64_t value, bound;
  bool operator==(const standing&) const = default;
};
standing standing_of(const memsched::progress& p) {
  return p.cost ? standing{p.cost->extra_cost, p.cost->lower_bound} : standing{p.peak, p.lower_bound};
}
double gap_percent(const standing& s) {
  return s.value == 0 ? 0
                      : 100 * (static_cast<double>(s.value) - static_cast<double>(s.bound)) / static_cast<double>(s.value);
}
/// Digits; "-" where there is no value yet.
std::string value_text(const standing& s) { return s.value == memsched::no_limit ? "-" : grouped(s.value); }

/// Writes the line of progress anew, cut to the terminal.
void write_line(std::string text) {
  winsize window{};
  const std::size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col - 1u : 79u;
  const std::lock_guard lock(naming);
  if (!phase.empty()) text = phase + (text.empty() ? "..." : ": " + text);
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, columns).c_str());
  line_is_written = true;
}

std::string progress_text(const memsched::progress& p, double seconds_left) {
  const standing now = standing_of(p);
  std::string text = (p.cost ? "extra cost " : "peak ") + value_text(now) + ", bound " + grouped(now.bound);
  char gap[32];
  std::snprintf(gap, sizeof gap, ", gap %.1f %%", gap_percent(now));
  text += gap;
  text += ", " + grouped(p.states) + " states";
  if (seconds_left >= 0) text += ", " + seconds(seconds_left) + " s left";
  return text;
}

void write_log_head(bool costs) {
  std::fprintf(stderr, "%9s %11s %15s %15s %7s  %s\n", "seconds", "states", costs ? "extra cost" : "peak", "bound", "gap %",
               "found by");
}

/// A line of the log for a better order, or else a better bound.
void write_log_line(const memsched::progress& p, const standing& now, bool better, double took, log_form log) {
  const std::string by(better ? p.order_by : p.bound_by);
  if (log == log_form::text) {
    std::fprintf(stderr, "%9.3f %11s %15s %15s %7.2f  %s\n", took, grouped(p.states).c_str(), value_text(now).c_str(),
                 grouped(now.bound).c_str(), gap_percent(now), by.c_str());
    return;
  }
  const std::string value = now.value == memsched::no_limit ? "null" : std::to_string(now.value);
  std::fprintf(stderr, "{\"seconds\":%.6f,\"states\":%llu,\"%s\":%s,\"lower_bound\":%llu,\"found\":\"%s\",\"by\":\"%s\"}\n",
               took, static_cast<unsigned long long>(p.states), p.cost ? "extra_cost" : "peak", value.c_str(),
               static_cast<unsigned long long>(now.bound), better ? "order" : "bound", by.c_str());
}

}  // namespace

session::session() {
  static const bool once = (listen(), true);
  static_cast<void>(once);
}
session::~session() { clear_progress(); }

void session::attend(memsched::options& o, log_form log) {
  using clock = std::chrono::steady_clock;
  heed();
  o.stop = stop.get_token();
  if (log != log_form::none) {
    line_ = [start = clock::now(), last = std::optional<standing>(), log](const memsched::progress& p) mutable {
      const standing now = standing_of(p);
      if (now == last) return;
      const bool better = !last || now.value != last->value;
      if (!last && log == log_form::text) write_log_head(p.cost.has_value());
      last = now;
      const double took = std::chrono::duration<double>(clock::now() - start).count();
      write_log_line(p, now, better, took, log);
    };
    o.on_progress = std::ref(line_);
    return;
  }
  if (quiet || isatty(STDERR_FILENO) == 0) return;
  const bool limited = o.has_time_limit();
  line_ = [start = clock::now(), last = clock::now(), limited, limit = o.time_limit](const memsched::progress& p) mutable {
    const auto now = clock::now();
    if (now - last < std::chrono::milliseconds(200)) return;
    last = now;
    const double left = limited ? std::max(0.0, std::chrono::duration<double>(start + limit - now).count()) : -1;
    write_line(progress_text(p, left));
  };
  o.on_progress = std::ref(line_);
}
void session::heed() { heeded = true; }
bool session::interrupted() const { return stop.stop_requested(); }

without_answer::without_answer(bool counts) : counts_(counts) { without_answers += counts_ ? 1 : 0; }
without_answer::~without_answer() { without_answers -= counts_ ? 1 : 0; }

void be_quiet() { quiet = true; }
bool is_quiet() { return quiet; }

void enter_phase(const std::string& name) {
  {
    const std::lock_guard lock(naming);
    phase = printable(name);
  }
  if (!quiet && !name.empty() && isatty(STDERR_FILENO) != 0) write_line("");
}

void note(const std::string& text) {
  if (quiet) return;
  clear_progress();
  std::fprintf(stderr, "memsched: %s\n", text.c_str());
}

void clear_progress() {
  if (line_is_written.exchange(false)) std::fputs("\r\033[K", stderr);
}

}  // namespace cli
