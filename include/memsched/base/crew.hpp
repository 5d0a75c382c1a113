// Threads that work off tasks together.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <memsched/base/function_ref.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The caller's thread and others, which wait for work while there is none. For one caller at a time.
class crew {
 public:
  /// `threads` in all, the caller's included.
  explicit crew(unsigned threads) {
    for (unsigned i = 1; i < threads; ++i) others_.emplace_back([this, i] { work(i); });
  }
  ~crew() {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    begin_.notify_all();
    for (std::thread& t : others_) t.join();
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  std::size_t size() const { return others_.size() + 1; }

  /// Calls task(i, member) for each i below `count`, the lowest first, where `member`, below `size()`, is one of the
  /// threads. Returns when all are done; who is busy with a job is not waited for. A task must not call this.
  void run(std::size_t count, function_ref<void(std::size_t, std::size_t)> task) {
    {
      const std::scoped_lock lock(mutex_);
      task_ = task, count_ = count, next_ = 0, ++batch_, open_ = true;
    }
    begin_.notify_all();
    take_tasks(0);
    std::unique_lock lock(mutex_);
    open_ = false;
    end_.wait(lock, [&] { return busy_ == 0; });
  }

  /// Something that one of the others does while the caller goes on.
  class job {
   public:
    explicit job(function_ref<void()> what) : what_(what) {}

   private:
    friend crew;
    function_ref<void()> what_;
    bool done_ = false;
  };
  /// The job must live until `finish`.
  void start(job& j) {
    {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(&j);
    }
    begin_.notify_one();
  }
  /// Returns when it is done; does it here where nobody has begun it, and nobody does where it is not `needed` then.
  void finish(job& j, bool needed) {
    std::unique_lock lock(mutex_);
    if (std::erase(waiting_, &j) == 0) return end_.wait(lock, [&] { return j.done_; });
    lock.unlock();
    if (needed) j.what_();
  }

 private:
  void take_tasks(std::size_t member) {
    for (std::size_t i = next_++; i < count_; i = next_++) task_(i, member);
  }
  void work(std::size_t member) {
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
        j.what_();
        lock.lock();
        j.done_ = true;
      }
      end_.notify_all();
    }
  }

  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::vector<job*> waiting_;
  function_ref<void(std::size_t, std::size_t)> task_;
  std::size_t count_ = 0, busy_ = 0, batch_ = 0;
  std::atomic<std::size_t> next_ = 0;
  bool open_ = false, ends_ = false;
};

/// Runs `here`, and `there` where that says that it is needed (true): side by side in a crew, else one after the other. In a
/// crew `there` may have begun where it is not needed; it has ended when this returns.
template <class Here, class There>
void run_beside(crew* team, Here&& here, There&& there) {
  crew::job job(there);
  if (team != nullptr) team->start(job);
  const bool needed = here();
  if (team != nullptr) team->finish(job, needed);
  else if (needed) there();
}

/// Threads that share some work: those of a crew, or the caller's alone.
inline std::size_t threads_of(const crew* team) { return team == nullptr ? 1 : team->size(); }

/// Who takes part in work that is split, and what ends it. Tasks ask `over` now and then, from any thread; it counts
/// nothing.
struct helpers {
  crew* team = nullptr;  ///< none: the caller works alone
  function_ref<bool()> over{};
};

/// Calls use(i, answer) for each i below `count`, the lowest first, until that says no (false), where answer() is what
/// ask(i, member) gives. Alone, that is asked there and then; a crew asks all of them before, side by side, and what is not
/// used is lost: so ask(i, ...) must not hang on what `use` did. Where the work is over, an answer may be an empty one.
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

}  // namespace memsched
