// The threads that loops over all cores run on.
#pragma once

#include <parallax/core/support/function_ref.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/parallel_for.hpp>
#include <parallax/host/devices/process_wide.hpp>
#include <parallax/host/devices/start_thread.hpp>
#include <parallax/host/devices/thread_state.hpp>
#include <parallax/host/devices/wait.hpp>
#include <parallax/host/names.hpp>
#include <parallax/runtime/environment.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// Threads that help a caller with the chunks of a loop.
class worker_pool {
 public:
  /// A pool for loops on `threads` threads, the caller being one of them. The others start when first needed.
  explicit worker_pool(int threads) : helpers(threads - 1) {
    if (threads < 1) throw error("a loop runs on at least one thread");
    workers = std::make_unique<worker[]>(index_of(helpers));
  }

  ~worker_pool() {
    for (int i = 0; i < helpers; ++i) {
      if (!at(i).thread.joinable()) continue;
      at(i).state.store(stop);
      at(i).thread.join();
    }
  }

  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// The pool of this process: `PARALLAX_HOST_THREADS` threads, by default as many as there are processors. It serves
  /// until the process ends; a child of fork has another.
  static worker_pool& instance() {
    return process_wide<worker_pool>::get(
        [] { return worker_pool(environment_integer("PARALLAX_HOST_THREADS", core_count(), 1, 4096)); });
  }

  /// How many threads a loop runs on.
  int threads() const noexcept { return helpers + 1; }

  /// See `parallax::host::parallel_for`.
  void parallel_for(std::int64_t count, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t)> body) {
    if (count <= 0) return;
    grain = std::max<std::int64_t>(grain, 1);
    std::unique_lock only(access, std::defer_lock);
    // A second thread that calls meanwhile does its loop alone: the helpers are busy anyway.
    if (count <= grain || helpers == 0 || inside_parallel_work() || !only.try_lock()) return body(0, count);

    // Several chunks for each thread, since a thread may be slowed down by others of this machine.
    const std::int64_t grains = (count - 1) / grain + 1;
    const std::int64_t chunk = ((grains - 1) / (4 * std::int64_t{threads()}) + 1) * grain;
    const std::int64_t chunks = (count - 1) / chunk + 1;
    const int needed = static_cast<int>(std::min<std::int64_t>(helpers, chunks - 1));
    // Threads first: starting one may fail, and then none may work on the loop yet.
    for (int i = 0; i < needed; ++i) at(i).ensure_started();
    loop made{body, count, chunk, current_device()};
    for (int i = 0; i < needed; ++i) at(i).call(made);
    made.take_part();
    for (int i = 0; i < needed; ++i) at(i).dismiss();
    if (made.failure) std::rethrow_exception(made.failure);
  }

 private:
  struct loop {
    function_ref<void(std::int64_t, std::int64_t)> body;
    std::int64_t count;
    std::int64_t chunk;
    int device;
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};

    void take_part() noexcept {
      thread_state_scope scope({device, true});
      while (!failed.load(std::memory_order_relaxed)) {
        const std::int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= count) return;
        try {
          body(begin, std::min(count, begin + chunk));
        } catch (...) {
          if (!failed.exchange(true)) failure = std::current_exception();
        }
      }
    }
  };

  // A worker is called by the owner of a loop, comes when it has woken, and is idle again after its part. A worker that
  // did not come in time is dismissed, so that the owner does not wait for a sleeping thread. `current` is touched only
  // between these changes.
  static constexpr std::uint32_t idle = 0, called = 1, working = 2, stop = 3;

  // Loops often follow each other closely, and waking a sleeper costs more than the work of a short one.
  static constexpr std::chrono::nanoseconds spin{10'000};

  struct worker {
    wait_word state{idle};
    loop* current = nullptr;
    std::thread thread;

    void ensure_started() {
      if (!thread.joinable()) thread = start_thread([this] { serve(); }, "PARALLAX_HOST_THREADS");
    }

    void call(loop& made) noexcept {
      current = &made;
      state.store(called);
    }

    void dismiss() noexcept {
      if (!state.compare_exchange(called, idle)) state.wait(working, {spin, {}});
    }

    void serve() noexcept {
      while (true) {
        const std::uint32_t now = state.wait(idle, {spin, {}});
        if (now == stop) return;
        if (now != called || !state.compare_exchange(called, working)) continue;
        current->take_part();
        state.store(idle);
      }
    }
  };

  worker& at(int i) { return workers[index_of(i)]; }

  int helpers;
  std::unique_ptr<worker[]> workers;
  std::mutex access;
};

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION void parallel_for(std::int64_t count, std::int64_t grain,
                                            function_ref<void(std::int64_t, std::int64_t)> body) {
  worker_pool::instance().parallel_for(count, grain, body);
}
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::host
