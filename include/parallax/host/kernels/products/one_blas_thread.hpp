// Calls of OpenBLAS in the calling thread alone, after which it has as many threads as before.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>

#include <atomic>
#include <mutex>

#if defined(__GNUC__)
// OpenBLAS's own; absent from other CBLAS libraries
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));
extern "C" int openblas_get_parallel() __attribute__((weak));
// OpenMP's, by names of our own: omp.h declares them otherwise with each compiler
extern "C" void parallax_omp_set_num_threads(int) __asm__("omp_set_num_threads") __attribute__((weak));
extern "C" int parallax_omp_get_max_threads() __asm__("omp_get_max_threads") __attribute__((weak));
#endif

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// While such an object lives, calls of OpenBLAS in this thread use no other threads, which would compete with the
/// devices' and with ours. If OpenBLAS has threads of its own, it knows one number for the process: this is 1 while
/// such objects live, in any thread, and then what it was before, unless the program has set another one meanwhile. If
/// OpenBLAS uses OpenMP, each thread has its own number, and the other threads keep theirs. Other libraries are left
/// alone.
class one_blas_thread {
 public:
  one_blas_thread() {
#if defined(__GNUC__)
    if (openblas_get_parallel == nullptr || openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr)
      return;
    how = openblas_get_parallel();
    if (how == of_openmp && parallax_omp_get_max_threads != nullptr && parallax_omp_set_num_threads != nullptr) {
      before = parallax_omp_get_max_threads();
      if (before != 1) parallax_omp_set_num_threads(1);
    } else if (how != without_threads) {
      how = of_process;
      users& all = users_of_process;
      const std::lock_guard lock(all.mutex);
      if (all.count++ > 0) return;
      all.before = openblas_get_num_threads();
      if (all.before != 1) openblas_set_num_threads(1);
    }
#endif
  }
  ~one_blas_thread() {
#if defined(__GNUC__)
    if (how == of_openmp) {
      if (before != 1) parallax_omp_set_num_threads(before);
    } else if (how == of_process) {
      users& all = users_of_process;
      const std::lock_guard lock(all.mutex);
      if (--all.count == 0 && all.before != 1 && openblas_get_num_threads() == 1) openblas_set_num_threads(all.before);
    }
#endif
  }
  one_blas_thread(const one_blas_thread&) = delete;
  one_blas_thread& operator=(const one_blas_thread&) = delete;

 private:
  // results of openblas_get_parallel
  static constexpr int without_threads = 0, of_process = 1, of_openmp = 2;

  /// A mutex that costs little beside a product of a few elements: as a rule no other thread has it.
  class short_mutex {
   public:
    void lock() {
      while (taken.test_and_set(std::memory_order_acquire)) taken.wait(true, std::memory_order_relaxed);
    }
    void unlock() {
      taken.clear(std::memory_order_release);
      taken.notify_one();
    }

   private:
    std::atomic_flag taken;
  };
  struct users {
    short_mutex mutex;
    int count, before;
  };
  inline static constinit users users_of_process{};

  int how = without_threads, before = 1;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
