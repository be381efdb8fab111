// Threads of the host that enqueue a section's steps for several devices at the same time.
#pragma once

#include <parallax/arrays/memory/at_fork.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A caller's helpers. They start when first needed, and sleep while there is nothing to do. A child of fork has none,
/// and does all work itself.
class enqueue_threads {
 public:
  /// `threads` threads, the caller being one of them.
  explicit enqueue_threads(int threads) : helpers(std::max(threads - 1, 0)) {
    if (helpers == 0) return;
    all = std::make_unique<helper[]>(index_of(helpers));
    static const bool noted = [] {
      runtime::at_fork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
      return true;
    }();
    static_cast<void>(noted);
  }
  enqueue_threads(const enqueue_threads&) = delete;
  enqueue_threads& operator=(const enqueue_threads&) = delete;
  ~enqueue_threads() {
    for (int i = 0; i < helpers; ++i) {
      helper& each = all[index_of(i)];
      if (!each.thread.joinable()) continue;
      if (is_child()) {
        each.thread.detach(); // there is no such thread here
        continue;
      }
      each.change(stop);
      each.thread.join();
    }
  }

  /// How many threads work at the same time at most.
  int size() const { return is_child() ? 1 : helpers + 1; }

  /// Calls `part(k)` for each k below `count`, each in one thread, and returns when all have ended. Throws the first
  /// failure; parts that have not begun by then are left out. If a second thread calls meanwhile, it runs all its parts
  /// itself.
  void run(int count, function_ref<void(int)> part) {
    std::unique_lock only(access, std::defer_lock);
    const int needed = std::min(helpers, count - 1);
    if (needed <= 0 || is_child() || !only.try_lock()) {
      for (int k = 0; k < count; ++k) part(k);
      return;
    }
    for (int i = 0; i < needed; ++i) start(all[index_of(i)]); // may fail, and then nobody works yet
    job made{part, count};
    for (int i = 0; i < needed; ++i) all[index_of(i)].call(made);
    made.take_part();
    for (int i = 0; i < needed; ++i) all[index_of(i)].dismiss();
    if (made.failure) std::rethrow_exception(made.failure);
  }

 private:
  struct job {
    function_ref<void(int)> part;
    int count;
    std::atomic<int> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};

    void take_part() noexcept {
      for (int k = next.fetch_add(1); k < count && !failed; k = next.fetch_add(1)) {
        try {
          part(k);
        } catch (...) {
          if (!failed.exchange(true)) failure = std::current_exception();
        }
      }
    }
  };

  // A helper is called, comes when it has woken, and is idle again after its part. A helper that did not come in time
  // is dismissed, so that the caller does not wait for a sleeping thread.
  static constexpr std::uint32_t idle = 0, called = 1, working = 2, stop = 3;

  struct helper {
    std::atomic<std::uint32_t> state{idle};
    job* current = nullptr; ///< written while it is idle, read while it works
    std::thread thread;

    void change(std::uint32_t to) {
      state.store(to);
      state.notify_all();
    }
    void call(job& made) {
      current = &made;
      change(called);
    }
    void dismiss() {
      std::uint32_t before = called;
      if (state.compare_exchange_strong(before, idle)) return;
      wait_while(working);
    }
    /// Sections of a program follow one another closely, and waking a sleeper takes longer than a few launches.
    std::uint32_t wait_while(std::uint32_t old) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
      while (state.load() == old && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      while (state.load() == old) state.wait(old);
      return state.load();
    }
    void serve() noexcept {
      while (true) {
        const std::uint32_t now = wait_while(idle);
        if (now == stop) return;
        std::uint32_t before = called;
        if (!state.compare_exchange_strong(before, working)) continue;
        current->take_part();
        change(idle);
      }
    }
  };

  int helpers;
  std::unique_ptr<helper[]> all;
  std::mutex access;
  inline static std::atomic<unsigned> forks{0};
  unsigned forks_before = forks.load(std::memory_order_relaxed);

  bool is_child() const { return forks.load(std::memory_order_relaxed) != forks_before; }

  static void start(helper& each) {
    if (each.thread.joinable()) return;
    try {
      each.thread = std::thread([&each] { each.serve(); });
    } catch (const std::system_error& refused) {
      throw error("the system refuses to start another thread (" + refused.code().message() +
                  "): PARALLAX_CUDA_THREADS says how many there are to be");
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
