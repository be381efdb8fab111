// Calls of a library that breaks if the process ends or forks while other threads compute in it: OpenBLAS frees its
// memory when the process ends, even while threads use it, and a child of fork finds its locks in the state in which
// they were.
#pragma once

#include <parallax/arrays/memory/at_fork.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/process_wide.hpp>
#include <parallax/host/names.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// A call of such a library, for as long as the object lives. A thread that forks or ends the process waits until the
/// other threads' calls have ended; no call begins meanwhile.
class library_call {
 public:
  /// Throws `error` if the process has been ending for ten seconds.
  library_call() : is_counted(own_counter()) {
    is_counted.fetch_add(1);
    if (all().holders.load() > 0) wait_for_holders();
    ++this_thread().running;
  }

  ~library_call() {
    --this_thread().running;
    is_counted.fetch_sub(1, std::memory_order_release);
  }

  library_call(const library_call&) = delete;
  library_call& operator=(const library_call&) = delete;

  /// To be called when the process ends, after everything in this thread that makes calls.
  static void end() noexcept {
    if (state* const calls = process_wide<state>::find()) {
      calls->ended.store(true);
      hold();
    }
  }

 private:
  // Threads have different counters, so that they do not wait for each other.
  static constexpr std::size_t counter_count = 16;
  struct alignas(64) counter {
    std::atomic<int> running{0};
  };

  struct state {
    std::array<counter, counter_count> counters{};
    std::atomic<std::size_t> threads{0};
    std::atomic<int> holders{0};
    std::atomic<bool> ended{false};

    state() {
      static constinit std::atomic<bool> prepared{false};
      if (!prepared.exchange(true)) at_fork(hold, release, [] { this_thread().holds = false; });
    }

    int running() const noexcept {
      int sum = 0;
      for (const counter& each : counters) sum += each.running.load();
      return sum;
    }
  };

  struct thread_part {
    std::size_t number = counter_count;
    int running = 0;
    bool holds = false;
  };

  static state& all() {
    return process_wide<state>::get([] { return state(); });
  }

  static thread_part& this_thread() noexcept {
    thread_local constinit thread_part part;
    return part;
  }

  static std::atomic<int>& own_counter() {
    thread_part& mine = this_thread();
    if (mine.number == counter_count)
      mine.number = all().threads.fetch_add(1, std::memory_order_relaxed) % counter_count;
    return all().counters[mine.number].running;
  }

  // Waits until no other thread is in a call, and lets none begin.
  static void hold() noexcept {
    state* const calls = process_wide<state>::find();
    if (calls == nullptr) return;
    this_thread().holds = true;
    calls->holders.fetch_add(1);
    // a signal handler may interrupt this thread's own call
    while (calls->running() > this_thread().running) std::this_thread::yield();
  }

  static void release() noexcept {
    if (!this_thread().holds) return;
    this_thread().holds = false;
    process_wide<state>::find()->holders.fetch_sub(1);
  }

  void wait_for_holders() {
    using namespace std::chrono;
    const auto start = steady_clock::now();
    while (all().holders.load() > 0 && !this_thread().holds) {
      is_counted.fetch_sub(1);
      // the process ends in a moment, unless the thread that ends it waits for this one
      if (all().ended.load() && steady_clock::now() - start > seconds(10))
        throw error("a product of matrices was begun while the process ended");
      std::this_thread::sleep_for(microseconds(20));
      is_counted.fetch_add(1);
    }
  }

  std::atomic<int>& is_counted;
};

#if defined(__GNUC__)
// After handlers of exit and destructors of objects with static storage, and before the libraries that this one uses.
[[gnu::destructor]] static inline void end_library_calls() noexcept { library_call::end(); }
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::host
