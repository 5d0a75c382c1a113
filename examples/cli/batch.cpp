// Many graphs: one JSON object a line in, one result a line out.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <memory>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memsched/formats/json/document.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "commands.hpp"
#include "declare.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// Lines of a file descriptor, as they come; other work goes on between them.
class line_reader {
 public:
  explicit line_reader(int file) : file_(file) {}

  enum class state : unsigned char { line, nothing_yet, end, failed };
  /// The next line, without its end; waits for at most `milliseconds`.
  state next(std::string& line, int milliseconds) {
    for (;;) {
      if (const std::size_t end = held_.find('\n', looked_at_); end != held_.npos) {
        line = held_.substr(0, end);
        held_.erase(0, end + 1);
        looked_at_ = 0;
        return state::line;
      }
      looked_at_ = held_.size();
      if (ended_) {
        line = std::exchange(held_, {});
        looked_at_ = 0;
        return line.empty() ? state::end : state::line;
      }
      pollfd ready{file_, POLLIN, 0};
      if (poll(&ready, 1, milliseconds) == 0) return state::nothing_yet;
      char piece[1 << 16];
      const ssize_t n = read(file_, piece, sizeof piece);
      if (n < 0 && errno != EINTR) return state::failed;
      if (n == 0) ended_ = true;
      if (n > 0) held_.append(piece, static_cast<std::size_t>(n));
    }
  }

 private:
  int file_;
  std::string held_;
  std::size_t looked_at_ = 0;
  bool ended_ = false;
};

/// Takes a known key out of a line's object; a wrong type is an error that names it.
template <class T>
void take(json& from, const char* key, T& into) {
  const auto at = from.find(key);
  if (at == from.end()) return;
  try {
    if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
      if (!at->is_number_unsigned()) throw std::runtime_error("");
    into = at->get<T>();
  } catch (const std::exception&) {
    const char* const wanted = std::is_same_v<T, bool>          ? "true or false"
                               : std::is_same_v<T, std::string> ? "a string"
                               : std::is_floating_point_v<T>    ? "a number"
                                                                : "a whole number";
    throw std::runtime_error(std::string(key) + ": has the wrong type; it is " + wanted);
  }
  from.erase(at);
}

/// The same of a number of bytes, which may be a text as on the command line: "256K".
void take_size(json& from, const char* key, memsched::bytes& into) {
  const auto at = from.find(key);
  if (at == from.end() || !at->is_string()) return take(from, key, into);
  if (const std::string fault = read_size(at->get<std::string>(), into); !fault.empty())
    throw std::runtime_error(std::string(key) + ": " + fault);
  from.erase(at);
}

constexpr std::string_view line_keys[] = {"graph",  "id",     "scheduler", "time_limit",  "state_limit", "memory_limit",
                                          "budget", "firing", "inplace",   "keep_inputs", "explain"};

/// The JSON of a line. One that begins as none of a string, an object and a list is the path of a graph, as `ls` prints it.
json value_of(std::string text) {
  if (text.ends_with('\r')) text.pop_back();
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) throw std::runtime_error("is empty");
  if (std::string_view("\"{[").find(text[first]) == std::string_view::npos) return json(std::move(text));
  auto j = memsched::parse_json<json>(text);
  if (!j) throw std::runtime_error(j.error().message);
  return std::move(*j);
}

/// Parses the request of a line. Throws std::runtime_error with the reason if it is none.
schedule_request parse(json& line, const batch_request& defaults, std::string& inline_json) {
  schedule_request r;
  static_cast<request&>(r) = defaults;
  r.how.among_others = true;
  r.scheduler = defaults.scheduler;
  if (line.is_string()) line = json{{"graph", line}};
  if (!line.is_object()) throw std::runtime_error("must be an object or a path");
  const auto graph = line.find("graph");
  if (graph == line.end()) throw std::runtime_error("lacks \"graph\": a path, or a graph");
  if (graph->is_string()) {
    r.graph = graph->get<std::string>();
    if (r.graph == "-") throw std::runtime_error("graph: standard input is taken");
  } else if (graph->is_object()) {
    inline_json = graph->dump();
    r.graph = "graph";
  } else {
    throw std::runtime_error("graph: must be a path, or a graph");
  }
  line.erase("graph"), line.erase("id");
  take(line, "scheduler", r.scheduler);
  const named_scheduler* const known = find_scheduler(r.scheduler);
  if (known == nullptr)
    throw std::runtime_error("scheduler: there is no '" + memsched::base::one_line(r.scheduler, 60) + "'" +
                             did_you_mean(r.scheduler, scheduler_names()));
  r.scheduler = known->name;
  double seconds = -1;
  take(line, "time_limit", seconds);
  if (seconds >= 0 && seconds < 1e9)
    r.options.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  take(line, "state_limit", r.options.state_limit);
  take_size(line, "memory_limit", r.options.memory_limit);
  take_size(line, "budget", r.options.budget);
  take(line, "inplace", r.options.in_place);
  take(line, "keep_inputs", r.how.keep_inputs);
  take(line, "explain", r.explain);
  if (std::string firing; line.contains("firing")) {
    take(line, "firing", firing);
    if (firing != "pbc" && firing != "cbp") throw std::runtime_error("firing: must be pbc or cbp");
    r.options.default_firing = firing == "cbp" ? memsched::firing::cbp : memsched::firing::pbc;
  }
  if (!line.empty()) throw std::runtime_error(memsched::unknown_key(line.begin().key(), line_keys));
  return r;
}

struct answer {
  std::string text;
  bool failed = false;
};

/// The answer to a line. Whatever is wrong costs this line alone.
answer answer_to(std::uint64_t number, const std::string& text, const batch_request& defaults) {
  std::string head = "{\"line\":" + std::to_string(number), reason;
  try {
    json line = value_of(text);
    if (line.is_object() && line.contains("id"))
      head += ",\"id\":" + line["id"].dump(-1, ' ', false, json::error_handler_t::replace);
    std::string inline_json;
    const schedule_request r = parse(line, defaults, inline_json);
    const auto result = schedule_json(r, inline_json);
    if (result) return {head + ',' + result->substr(1) + '\n'};
    reason = result.error().message;
  } catch (const std::exception& e) {
    reason = e.what();
  }
  head += ",\"version\":1,\"error\":" + json(reason).dump(-1, ' ', false, json::error_handler_t::replace);
  return {head + "}\n", true};
}

/// Threads that answer lines, and hand the answers out in the order of the lines.
class workers {
 public:
  /// Fewer than n threads where the system has no more; throws where it has none.
  workers(unsigned n, const batch_request& defaults) : defaults_(defaults) {
    threads_.reserve(n);
    try {
      while (threads_.size() < n) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& e) {
      if (threads_.empty()) throw std::system_error(e.code(), "no thread can be made");
    }
  }
  ~workers() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  void add(std::uint64_t number, std::string line) {
    const std::lock_guard lock(mutex_);
    items_.push_back({number, std::move(line), {}, item::open});
    changed_.notify_one();
  }
  std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  /// The answer to the oldest line where there is one; waits for it where `wait` says so.
  bool take(answer& oldest, bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) answered_.wait(lock, [this] { return items_.empty() || items_.front().state == item::done; });
    if (items_.empty() || items_.front().state != item::done) return false;
    oldest = std::move(items_.front().found);
    items_.pop_front();
    if (next_ > 0) --next_;
    return true;
  }

 private:
  struct item {
    std::uint64_t number;
    std::string line;
    answer found;
    enum : unsigned char { open, done } state;
  };
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || next_ < items_.size(); });
      if (next_ == items_.size()) return;
      item& mine = items_[next_++];  // a deque's items stay where they are
      lock.unlock();
      answer found = answer_to(mine.number, mine.line, defaults_);
      lock.lock();
      mine.found = std::move(found);
      mine.line = {};
      mine.state = item::done;
      answered_.notify_one();
    }
  }

  const batch_request& defaults_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, answered_;
  std::deque<item> items_;
  std::size_t next_ = 0;  // the first that no thread works on
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

/// Opens the output to write after its last whole line; how many of those there are.
int open_output(const batch_request& r, std::uint64_t& lines) {
  const int file = open(r.output.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (r.resume ? 0 : O_TRUNC), 0644);
  if (file < 0 || !r.resume) return file;
  off_t whole = 0, at = 0;
  char piece[1 << 16];
  for (ssize_t n; (n = read(file, piece, sizeof piece)) > 0; at += n)
    for (ssize_t i = 0; i < n; ++i)
      if (piece[i] == '\n') ++lines, whole = at + i + 1;
  if (ftruncate(file, whole) != 0 || lseek(file, whole, SEEK_SET) != whole) {
    close(file);
    return -1;
  }
  return file;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// "1 line", "2 lines".
std::string counted(std::uint64_t n, const char* one) { return grouped(n) + ' ' + one + (n == 1 ? "" : "s"); }

}  // namespace

int run_batch(const batch_request& r, const std::function<bool()>& interrupted) {
  const bool to_file = !r.output.empty() && r.output != "-";
  if (r.resume && !to_file) return report(wrong("--resume", "needs --output, the file that holds what was done"));
  if (const auto error = check_outputs({asked_result(r.output, content::json)}, {r.input}); !error.message.empty())
    return report(error);
  const int in = r.input == "-" ? STDIN_FILENO : open(r.input.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return report(wrong(r.input, std::strerror(errno)));
  std::uint64_t skip = 0, number = 0;
  const int out = to_file ? open_output(r, skip) : STDOUT_FILENO;
  if (out < 0) return report(wrong(r.output, std::strerror(errno)));

  const std::size_t most_held = std::size_t{8} * r.jobs;
  line_reader lines(in);
  workers pool(r.jobs, r);
  std::string line;
  answer oldest;
  std::uint64_t answers = 0, errors = 0;
  bool reading = true;
  while (reading || pool.held() > 0) {
    while (pool.take(oldest, !reading || pool.held() >= most_held)) {
      if (!write_all(out, oldest.text))
        return report(wrong(to_file ? r.output : "standard output",
                            std::strerror(errno) + ("; " + counted(answers, "line")) + " written before"));
      ++answers;
      errors += oldest.failed ? 1 : 0;
      if (to_file || isatty(STDOUT_FILENO) == 0)
        enter_phase(counted(answers, "line") + " answered" + (errors > 0 ? ", " + counted(errors, "error") : ""));
    }
    if (!reading) continue;
    if (interrupted()) {
      reading = false;
      continue;
    }
    switch (lines.next(line, pool.held() > 0 ? 1 : 100)) {
      case line_reader::state::line:
        if (++number > skip) pool.add(number, std::move(line));
        break;
      case line_reader::state::nothing_yet: break;
      case line_reader::state::failed: return report(wrong(r.input, std::strerror(errno)));
      case line_reader::state::end: reading = false;
    }
  }
  enter_phase("");
  note(counted(answers, "line") + ": " + grouped(answers - errors) + " answered, " + counted(errors, "error"));
  return r.fail && errors > 0 ? bad_input : done;
}

command declare_batch() {
  const auto r = std::make_shared<batch_request>();
  command c("batch", "Schedule many graphs: a line of JSON in for each, a line of JSON out, in the same order",
            "ls *.onnx | memsched batch --jobs 4 > answers.jsonl");
  c.add("LINES", file(r->input),
        "a path a line, or an object such as {\"graph\": \"a.onnx\", \"id\": 7, \"time_limit\": 1}; a graph may stand there "
        "itself. Keys: graph, id, scheduler, time_limit, state_limit, memory_limit, budget, firing, inplace, keep_inputs, "
        "explain. A bad line costs one error line")
      .by_default("standard input");
  c.in("Lines");
  c.add("--jobs", number(r->jobs, 1, 4096), "graphs at once").by_default("1");
  c.add("--resume", flag(r->resume), "go on after the last whole line of the output file");
  c.add("--fail", flag(r->fail), "exit status 1 where a line has no answer but an error");
  c.in("Search").add("--scheduler", scheduler(r->scheduler), "where a line does not say").by_default(r->scheduler);
  c.add("--budget", size(r->options.budget), "bytes there are, where a line does not say");
  add_limits(c, *r, "none, for each graph");
  add_parts_of_methods(c, *r);
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write the answers there, not to standard output (-)");
  return std::move(c.runs([r](const command& here, session& s) {
    r->options.on_progress = nullptr;
    s.heed();  // an interrupt ends the reading; what runs is finished
    set_time_limit(here, *r, -1);
    return run_batch(*r, [&s] { return s.interrupted(); });
  }));
}

}  // namespace cli
