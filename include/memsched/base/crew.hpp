// Threads that work off tasks together.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// An exception of one thread on its way to another. There is none if exceptions are off.
class caught_exception {
 public:
  /// Runs f and keeps an exception that it throws; the first stays.
  template <class F>
  void watch(F&& f) noexcept {
#if defined(__cpp_exceptions)
    try {
      f();
    } catch (...) {
      if (!exception_) exception_ = std::current_exception();
    }
#else
    f();
#endif
  }
  explicit operator bool() const { return exception_ != nullptr; }
  void rethrow() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::exception_ptr exception_;
};

/// The caller's thread and others, which wait for work while there is none. For one caller at a time.
class crew {
 public:
  /// Starts a thread that runs a function, or throws.
  using thread_factory = std::function<std::thread(std::function<void()>)>;

  /// `threads` in all, the caller's included; fewer if the factory throws, as std::thread does if the system has no
  /// more. Without exceptions that ends the process.
  explicit crew(unsigned threads, const thread_factory& start = {});
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  std::size_t size() const { return others_.size() + 1; }

  /// Calls task(i, member) for each i below `count`, the lowest first, where `member`, below `size()`, is one of the
  /// threads. Blocks until all are done; threads that run a job do not take part. If a task throws, no further one
  /// begins, and the first exception comes out of here when all that began have ended. A task must not call this.
  void run(std::size_t count, function_ref<void(std::size_t, std::size_t)> task);

  /// Something that one of the others does while the caller goes on.
  class job {
   public:
    explicit job(function_ref<void()> task) : task_(task) {}

   private:
    friend crew;
    function_ref<void()> task_;
    caught_exception exception_;
    bool done_ = false;
  };
  /// The job must live until `finish`.
  void start(job& j);
  /// Waits for the job. If no thread has begun it, runs it here when `needed`, else drops it. Rethrows the job's exception
  /// when `needed`.
  void finish(job& j, bool needed);

 private:
  void take_tasks(std::size_t member);
  void work(std::size_t member);

  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::vector<job*> waiting_;
  function_ref<void(std::size_t, std::size_t)> task_;
  caught_exception exception_;
  std::size_t count_ = 0, busy_ = 0, batch_ = 0;
  std::atomic<std::size_t> next_ = 0;
  bool open_ = false, ends_ = false;
};

/// Runs `here`, and `there` if that returns true, which says that it is needed: side by side in a crew, else one after
/// the other. In a crew `there` may have begun although it is not needed; it has ended when this returns or throws.
template <class Here, class There>
void run_beside(crew* team, Here&& here, There&& there) {
  if (team == nullptr) {
    if (here()) there();
    return;
  }
  crew::job job(there);
  team->start(job);
  bool needed = false;
  caught_exception exception;
  exception.watch([&] { needed = here(); });
  team->finish(job, needed);
  exception.rethrow();
}

/// Threads that share some work: those of a crew, or the caller's alone.
inline std::size_t threads_of(const crew* team) { return team == nullptr ? 1 : team->size(); }

/// The threads that share a split task, and the condition that ends it. Tasks ask `over` now and then, from any thread; the
/// condition counts nothing.
struct helpers {
  crew* team = nullptr;  ///< none: the caller works alone
  function_ref<bool()> over{};
};

/// Calls use(i, answer) for each i below `count`, the lowest first, until that returns false, where answer() is the result
/// of ask(i, member). Alone, it is asked there and then; a crew asks all of them before, side by side, and unused answers
/// are lost: so ask(i, ...) must not depend on `use`. If the work is over, an answer may be empty.
template <class Ask, class Use>
bool ask_ahead(const helpers& who, std::size_t count, Ask&& ask, Use&& use) {
  const bool together = who.team != nullptr && count > 1;
  std::vector<decltype(ask(count, count))> answers(together ? count : 0);
  const auto ask_one = [&](std::size_t i, std::size_t member) {
    if (!who.over()) answers[i] = ask(i, member);
  };
  if (together) who.team->run(count, ask_one);
  for (std::size_t i = 0; i < count; ++i)
    if (!use(i, [&] { return together ? answers[i] : ask(i, 0); })) return false;
  return true;
}

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

MEMSCHED_FUNCTION crew::crew(unsigned threads, const thread_factory& start) {
  others_.reserve(threads);
  caught_exception refused;
  for (unsigned i = 1; i < threads && !refused; ++i)
    refused.watch([&] {
      const auto wait_for_work = [this, i] { work(i); };
      others_.push_back(start ? start(wait_for_work) : std::thread(wait_for_work));
    });
}

MEMSCHED_FUNCTION crew::~crew() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  begin_.notify_all();
  for (std::thread& t : others_) t.join();
}

MEMSCHED_FUNCTION void crew::run(std::size_t count, function_ref<void(std::size_t, std::size_t)> task) {
  {
    const std::scoped_lock lock(mutex_);
    task_ = task, count_ = count, next_ = 0, ++batch_, open_ = true;
  }
  begin_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  open_ = false;
  end_.wait(lock, [&] { return busy_ == 0; });
  exception_.rethrow();
}

MEMSCHED_FUNCTION void crew::start(job& j) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(&j);
  }
  begin_.notify_one();
}

MEMSCHED_FUNCTION void crew::finish(job& j, bool needed) {
  std::unique_lock lock(mutex_);
  const bool begun = std::erase(waiting_, &j) == 0;
  if (begun) end_.wait(lock, [&] { return j.done_; });
  lock.unlock();
  if (!needed) return;
  if (!begun) j.task_();
  j.exception_.rethrow();
}

MEMSCHED_FUNCTION void crew::take_tasks(std::size_t member) {
  caught_exception mine;
  mine.watch([&] {
    for (std::size_t i = next_++; i < count_; i = next_++) task_(i, member);
  });
  if (!mine) return;
  next_ = count_;
  const std::scoped_lock lock(mutex_);
  exception_.watch([&] { mine.rethrow(); });
}

MEMSCHED_FUNCTION void crew::work(std::size_t member) {
  std::size_t batch = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return ends_ || !waiting_.empty() || (open_ && batch_ != batch); });
    if (ends_) return;
    if (open_ && batch_ != batch) {
      batch = batch_, ++busy_;
      lock.unlock();
      take_tasks(member);
      lock.lock();
      --busy_;
    } else {
      job& j = *waiting_.front();
      waiting_.erase(waiting_.begin());
      lock.unlock();
      j.exception_.watch(j.task_);
      lock.lock();
      j.done_ = true;
    }
    end_.notify_all();
  }
}

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
