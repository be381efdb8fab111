// Waiting for another thread: spin briefly, then sleep until woken, at most until a deadline.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/runtime/environment.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#if defined(__linux__)
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// How long to wait, and how much of it to spin.
struct patience {
  /// Spinning pays while every thread has a core of its own: see `spin_for`.
  std::chrono::nanoseconds spin{0};
  /// Give up after this time; zero means never.
  std::chrono::nanoseconds timeout{0};
};

/// How long threads that wait for each other should spin. Not at all if there are more of them than cores: spinning
/// would keep the threads from running that are waited for.
inline std::chrono::nanoseconds spin_for(int threads) {
  return std::chrono::nanoseconds(threads <= core_count() ? 1000 : 0);
}

/// A 31-bit value that threads can wait on. What a thread wrote before it changed the value is visible to those that
/// saw the change. The top bit says that a thread sleeps, so that a change without sleepers costs no system call and
/// a change is the last access to the word: whoever waited for it may then destroy it.
class wait_word {
 public:
  static constexpr std::uint32_t mask = 0x7fff'ffff;

  explicit wait_word(std::uint32_t value = 0) noexcept : bits(value) {}

  std::uint32_t load() const noexcept { return bits.load(std::memory_order_acquire) & mask; }

  /// Changes the value and wakes those who wait.
  void store(std::uint32_t value) noexcept {
    if (bits.exchange(value & mask, std::memory_order_acq_rel) & sleeping) wake();
  }

  /// Changes the value if it is `expected`, and then wakes those who wait.
  bool compare_exchange(std::uint32_t expected, std::uint32_t value) noexcept {
    std::uint32_t word = bits.load(std::memory_order_acquire);
    while ((word & mask) == expected) {
      if (!bits.compare_exchange_weak(word, value & mask, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      if (word & sleeping) wake();
      return true;
    }
    return false;
  }

  /// Waits until the value is no longer `old` and returns it; returns `old` when the time is over.
  std::uint32_t wait(std::uint32_t old, patience limits = {}) noexcept {
    using clock = std::chrono::steady_clock;
    if (std::uint32_t value = load(); value != old) return value;
    const clock::time_point start = clock::now();
    while (clock::now() - start < limits.spin) {
      for (int i = 0; i < 4; ++i) {
        pause();
        if (std::uint32_t value = load(); value != old) return value;
      }
    }
    // if threads share cores, the other thread often only needs its turn
    for (int i = 0; i < yields; ++i) {
      std::this_thread::yield();
      if (std::uint32_t value = load(); value != old) return value;
    }
    std::uint32_t word = bits.load(std::memory_order_acquire);
    while ((word & mask) == old) {
      if (!(word & sleeping) &&
          !bits.compare_exchange_weak(word, word | sleeping, std::memory_order_acq_rel, std::memory_order_acquire)) {
        continue;
      }
      std::chrono::nanoseconds left = std::chrono::hours(1);
      if (limits.timeout.count() > 0) left = std::min(left, limits.timeout - (clock::now() - start));
      if (left.count() <= 0) return old;
      sleep(old | sleeping, left);
      word = bits.load(std::memory_order_acquire);
    }
    return word & mask;
  }

 private:
  static constexpr std::uint32_t sleeping = ~mask;
  static constexpr int yields = 8;
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

#if defined(__linux__)
  void sleep(std::uint32_t word, std::chrono::nanoseconds limit) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    timespec relative{};
    relative.tv_sec = static_cast<std::time_t>(seconds.count());
    relative.tv_nsec = static_cast<long>((limit - seconds).count());
    ::syscall(SYS_futex, &bits, FUTEX_WAIT_PRIVATE, word, &relative, nullptr, 0);
  }

  void wake() noexcept { ::syscall(SYS_futex, &bits, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }
#else
  // std::atomic's own wait has no deadline, so other systems poll.
  void sleep(std::uint32_t, std::chrono::nanoseconds limit) noexcept {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(limit, std::chrono::microseconds(50)));
  }

  void wake() noexcept {}
#endif

  std::atomic<std::uint32_t> bits;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
