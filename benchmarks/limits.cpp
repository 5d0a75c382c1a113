// By how much schedulers and passes overrun a limit on large graphs: seconds of the processor that a call takes after its
// deadline, or after it was asked to stop, which do not hang on how busy the machine is; the states of a call that may have
// 1,000; and the MiB that a call holds whose tables may take 64. A call checks, lowers and evaluates the graph whatever the
// limit: the row `file` says what that takes. Graphs and orders are no tables: O(nodes + edges) a scheduler. Each pass runs
// before `kahn`.
// Usage: bench_limits [OPERATORS [SECONDS [SHAPE [NAME]]]], where SECONDS is the limit; SHAPE and NAME choose rows.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <malloc.h>
#include <pthread.h>
#include <time.h>

#include <memsched/memsched.hpp>
#include <networks/networks.hpp>

#include "timing.hpp"

namespace {

std::atomic<std::size_t> held{0}, most_held{0};  // bytes of the heap

}  // namespace

// The C library's own, under other names.
extern "C" {
void* real_malloc(std::size_t) __asm__("__libc_malloc");
void* real_calloc(std::size_t, std::size_t) __asm__("__libc_calloc");
void* real_realloc(void*, std::size_t) __asm__("__libc_realloc");
void real_free(void*) __asm__("__libc_free");
}

namespace {

void* taken(void* p) {
  const std::size_t now = held += malloc_usable_size(p);
  for (std::size_t most = most_held; now > most && !most_held.compare_exchange_weak(most, now);) {
  }
  return p;
}
void* given_back(void* p) { return held -= malloc_usable_size(p), p; }

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return taken(real_malloc(size)); }
void* calloc(std::size_t n, std::size_t size) { return taken(real_calloc(n, size)); }
void* realloc(void* p, std::size_t size) { return taken(real_realloc(given_back(p), size)); }
void free(void* p) { real_free(given_back(p)); }
}

namespace {

using namespace memsched;

double cpu_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Calls `what` once `seconds` seconds are over, unless it goes out of scope before, and notes how much of the processor the
/// thread that made it had used by then.
template <class F>
class after {
 public:
  after(double seconds, F what) : what_(std::move(what)), used_(-1) {
    pthread_getcpuclockid(pthread_self(), &clock_);
    watcher_ = std::thread([this, seconds] {
      std::unique_lock lock(mutex_);
      if (done_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return over_; })) return;
      used_ = cpu_seconds(clock_);
      what_();
    });
  }
  ~after() { end(); }
  /// Seconds since then; 0 where it has not come to that.
  double end() {
    const double now = cpu_seconds(clock_);
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    done_.notify_all();
    if (watcher_.joinable()) watcher_.join();
    return used_ < 0 ? 0 : now - used_;
  }

 private:
  F what_;
  clockid_t clock_{};
  double used_;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable done_;
  std::thread watcher_;
};

struct shape {
  std::string name;
  problem (*make)(index_t operators);
};

problem named(const std::string& name) { return make_problem(networks::make(name).value()).value(); }

/// n operators, each of which reads what `reads(i)` gives of the tensors made so far.
template <class Reads>
problem built(index_t n, index_t inputs, Reads&& reads) {
  problem_builder b;
  std::vector<tensor_id> made;
  for (index_t i = 0; i < inputs; ++i) made.push_back(b.input(8));
  for (index_t i = 0; i < n; ++i) {
    const tensor_id t = b.tensor(1 + (std::uint64_t{i} * 7919) % 1000);
    b.op({.reads = reads(i, made), .writes = {t}});
    made.push_back(t);
  }
  return b.build().value();
}

const std::vector<shape>& shapes() {
  static const std::vector<shape> all = {
      {"chain", [](index_t n) { return named("chain:" + std::to_string(n) + ":1"); }},
      {"fan",
       [](index_t n) {  // one tensor with n readers
         return built(n, 1, [](index_t, auto& made) { return std::vector{made[0]}; });
       }},
      {"two_hubs",
       [](index_t n) {  // n tensors, each read by the same two operators
         problem_builder b;
         std::vector<tensor_id> leaves;
         for (index_t i = 0; i < n; ++i) {
           leaves.push_back(b.tensor(1 + i % 50));
           b.op({.writes = {leaves.back()}});
         }
         for (bytes size : {1_B, 2_B}) b.op({.reads = leaves, .writes = {b.tensor(size)}});
         return b.build().value();
       }},
      {"strands",
       [](index_t n) {  // two of the last 32 at random
         base::random_source r(1);
         return built(n, 0, [&r](index_t i, auto& made) {
           std::vector<tensor_id> reads;
           for (int k = 0; k < 2 && i >= 16; ++k) reads.push_back(made[i - 1 - r.below(std::min<index_t>(i, 32))]);
           return reads;
         });
       }},
      {"layered", [](index_t n) { return named("layered:" + std::to_string(n / 8) + ":8:1"); }},
      {"windowed", [](index_t n) { return named("windowed:" + std::to_string(n) + ":30:1"); }},
      {"tree",
       [](index_t n) {  // out-tree
         return built(n, 1, [](index_t i, auto& made) { return std::vector{made[(i + 1) / 2]}; });
       }},
      {"chains",
       [](index_t n) {  // 100 side by side
         return built(n, 1, [](index_t i, auto& made) { return std::vector{made[i < 100 ? 0 : i - 99]}; });
       }},
      {"recurrent",
       [](index_t n) {  // steps of a source, two gates that read the state, and the next state
         problem_builder b;
         tensor_id state = b.input(64);
         for (index_t i = 0; i < n / 4; ++i) {
           const tensor_id x = b.tensor(16), gate = b.tensor(48), other = b.tensor(32), next = b.tensor(64);
           b.op({.writes = {x}});
           b.op({.reads = {x, state}, .writes = {gate}});
           b.op({.reads = {x, state}, .writes = {other}});
           b.op({.reads = {gate, other, state}, .writes = {next}});
           state = next;
         }
         return b.build().value();
       }},
  };
  return all;
}

struct policy {
  std::string name;
  schedule_result<op_id> (*run)(const problem&, const options&);
  std::size_t most;
};

std::vector<policy> policies() {
  std::vector<policy> all;
  for_each_scheduler([&]<class S>(const scheduler_row<S>& row) {
    all.push_back(
        {std::string(row.name), [](const problem& p, const options& o) { return schedule(p, S{}, o); }, row.max_operators});
  });
  const auto add = [&](const char* name, auto run) { all.push_back({name, run, no_limit}); };
  using answer = schedule_result<op_id>;
  add("bisect", [](const problem& p, const options& o) -> answer { return schedule(p, bisect{}, o); });
  add("best_heuristic", [](const problem& p, const options& o) -> answer { return schedule(p, best_heuristic{}, o); });
  add("compress |", [](const problem& p, const options& o) -> answer { return schedule(p, compress{} | kahn{}, o); });
  add("compose |", [](const problem& p, const options& o) -> answer { return schedule(p, compose{} | kahn{}, o); });
  add("divide |", [](const problem& p, const options& o) -> answer { return schedule(p, divide{} | kahn{}, o); });
  add("soft_budget |", [](const problem& p, const options& o) -> answer { return schedule(p, soft_budget{} | dp{}, o); });
  add("fuse |", [](const problem& p, const options& o) -> answer { return schedule(p, fuse{} | kahn{}, o); });
  add("partition |", [](const problem& p, const options& o) -> answer { return schedule(p, partition{} | kahn{}, o); });
  add("probe |", [](const problem& p, const options& o) -> answer { return schedule(p, probe{} | kahn{}, o); });
  add("stay_close |", [](const problem& p, const options& o) -> answer { return schedule(p, stay_close{} | kahn{}, o); });
  return all;
}

struct overrun {
  double seconds;
  bool limited;
};

overrun after_deadline(const policy& s, const problem& p, double limit) {
  after watch(limit, [] {});
  const auto r = s.run(p, {.time_limit = timing::nanoseconds(limit)});
  return {watch.end(), r.stopped == stop_reason::time_limit};
}

overrun after_request(const policy& s, const problem& p, double seconds) {
  std::stop_source stop;
  after watch(seconds, [&] { stop.request_stop(); });
  const auto r = s.run(p, {.stop = stop.get_token()});
  return {watch.end(), r.stopped == stop_reason::cancelled};
}

/// States of a call that may have 1,000.
std::uint64_t with_few_states(const policy& s, const problem& p, double limit) {
  return s.run(p, {.time_limit = timing::nanoseconds(limit), .state_limit = 1000}).stats.states;
}

/// MiB of the heap that a call holds at most whose tables may take 64.
std::size_t with_small_tables(const policy& s, const problem& p, double limit) {
  const std::size_t before = held;
  most_held = before;
  (void)s.run(p, {.time_limit = timing::nanoseconds(limit), .memory_limit = 64_MiB});
  return (most_held - before) >> 20;
}

}  // namespace

int main(int argc, char** argv) {
  const auto operators = static_cast<index_t>(argc > 1 ? std::atol(argv[1]) : 1000000);
  const double limit = argc > 2 ? std::atof(argv[2]) : 3;
  const std::string only_shape = argc > 3 ? argv[3] : "", only = argc > 4 ? argv[4] : "";
  std::printf(
      "%u operators; seconds of the processor after a deadline of 0 and of %.1f s, and after a request to stop at "
      "%.1f s; states of 1,000; MiB with tables of 64\n%-10s %-18s %8s %8s %8s %8s %8s\n",
      operators, limit, limit, "shape", "policy", "0", "deadline", "request", "states", "MiB");
  for (const shape& x : shapes()) {
    if (!only_shape.empty() && x.name != only_shape) continue;
    const problem p = x.make(operators);
    for (const policy& s : policies()) {
      if (p.ops().size() > s.most || (!only.empty() && s.name.rfind(only, 0) != 0)) continue;
      std::printf("%-10s %-18s ", x.name.c_str(), s.name.c_str());
      std::fflush(stdout);
      try {
        const auto print = [](overrun o) {
          std::printf("%8.2f%c", o.seconds, o.limited ? ' ' : '.');
          std::fflush(stdout);
        };
        print(after_deadline(s, p, 0));
        print(after_deadline(s, p, limit));
        print(after_request(s, p, limit));
        std::printf("%8llu ", static_cast<unsigned long long>(with_few_states(s, p, limit)));
        std::printf("%8zu\n", with_small_tables(s, p, limit));
      } catch (const std::bad_alloc&) {
        std::printf("no memory\n");
      }
    }
  }
}
