// Threads of a block as fibers: each runs until it waits, and a seeded choice says which goes on.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PARALLAX_ASAN_FIBERS
#endif
#if __has_feature(thread_sanitizer)
#define PARALLAX_TSAN_FIBERS
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define PARALLAX_ASAN_FIBERS
#endif
#ifdef __SANITIZE_THREAD__
#define PARALLAX_TSAN_FIBERS
#endif
#ifdef PARALLAX_ASAN_FIBERS
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PARALLAX_TSAN_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

namespace simulator {

/// Functions that take turns on one thread. They call `pause` to let others run.
class fiber_group {
 public:
  fiber_group() = default;
  fiber_group(const fiber_group&) = delete;
  fiber_group& operator=(const fiber_group&) = delete;
  ~fiber_group() {
    for (std::unique_ptr<fiber>& f : fibers_)
      if (f->ended) spare().push_back(std::move(f));
  }

  /// Makes room for `count` fibers that all run `body(number)`.
  void start(std::size_t count, std::function<void(std::size_t)> body) {
    body_ = std::move(body);
    while (fibers_.size() < count) fibers_.push_back(take());
    for (std::size_t i = 0; i < count; ++i) prepare(*fibers_[i], i);
  }

  /// Runs fiber `number` until it pauses or ends, and throws what it threw. Returns whether it goes on.
  bool resume(std::size_t number) {
    fiber& f = *fibers_[number];
    current_ = &f;
    switch_to(main_, f.place);
    current_ = nullptr;
    if (f.thrown) std::rethrow_exception(std::exchange(f.thrown, nullptr));
    return !f.ended;
  }

  /// Called by a fiber: goes back to who resumed it.
  void pause() {
    fiber& f = *current_;
    switch_to(f.place, main_);
  }

 private:
  static constexpr std::size_t stack_bytes = 128 * 1024;

  /// Where execution goes on: at the beginning of a new fiber, or where it was left.
  struct execution {
    ucontext_t context;
    std::jmp_buf left;
    bool is_new = false;
    const void* stack = nullptr;
    std::size_t size = 0;
    void* sanitizer = nullptr;
  };
  struct fiber {
    fiber() = default;
    fiber(const fiber&) = delete;
    fiber& operator=(const fiber&) = delete;
    ~fiber() { release(*this); }

    std::unique_ptr<std::byte[]> stack;
    execution place;
    std::size_t number = 0;
    fiber_group* group = nullptr;
    std::exception_ptr thrown;
    bool ended = false; ///< and waits to begin again
  };

  execution main_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  fiber* current_ = nullptr;
  std::function<void(std::size_t)> body_;

  /// Those of earlier groups of this thread, which wait to begin again: a kernel has up to a thousand.
  static std::vector<std::unique_ptr<fiber>>& spare() {
    static thread_local std::vector<std::unique_ptr<fiber>> fibers;
    return fibers;
  }
  static std::unique_ptr<fiber> take() {
    if (spare().empty()) return std::make_unique<fiber>();
    std::unique_ptr<fiber> last = std::move(spare().back());
    spare().pop_back();
    return last;
  }

  void prepare(fiber& f, std::size_t number) {
    f.number = number;
    f.group = this;
    f.thrown = nullptr;
    if (std::exchange(f.ended, false)) return;
    if (!f.stack) f.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    release(f);
    f.place.stack = f.stack.get();
    f.place.size = stack_bytes;
    f.place.is_new = true;
    getcontext(&f.place.context);
    f.place.context.uc_stack.ss_sp = f.stack.get();
    f.place.context.uc_stack.ss_size = stack_bytes;
    f.place.context.uc_link = nullptr;
    auto address = reinterpret_cast<std::uintptr_t>(&f);
    makecontext(&f.place.context, reinterpret_cast<void (*)()>(&fiber_group::enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
#ifdef PARALLAX_TSAN_FIBERS
    f.place.sanitizer = __tsan_create_fiber(0);
#endif
  }
  static void release([[maybe_unused]] fiber& f) {
#ifdef PARALLAX_TSAN_FIBERS
    if (f.place.sanitizer) __tsan_destroy_fiber(std::exchange(f.place.sanitizer, nullptr));
#endif
  }

  /// The function of every fiber; its argument is an address in two halves.
  static void enter(unsigned high, unsigned low) {
    fiber& f = *reinterpret_cast<fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
    arrived(nullptr, f.group->main_);
    for (;;) {
      try {
        f.group->body_(f.number);
      } catch (...) {
        f.thrown = std::current_exception();
      }
      f.ended = true;
      f.group->switch_to(f.place, f.group->main_);
    }
  }

  void switch_to([[maybe_unused]] execution& from, execution& to) {
#ifdef PARALLAX_TSAN_FIBERS
    if (&from == &main_) from.sanitizer = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
    void* fake_stack = nullptr;
#ifdef PARALLAX_ASAN_FIBERS
    __sanitizer_start_switch_fiber(&fake_stack, to.stack, to.size);
#endif
#if defined(PARALLAX_ASAN_FIBERS) || defined(PARALLAX_TSAN_FIBERS)
    swapcontext(&from.context, &to.context);
#else
    // swapcontext asks the kernel for the signal mask at each switch, which took half of a kernel's time
    if (_setjmp(from.left) == 0) {
      if (std::exchange(to.is_new, false)) setcontext(&to.context);
      else _longjmp(to.left, 1);
    }
#endif
    arrived(fake_stack, to);
  }
  /// Tells the sanitizer that a switch is over. The main stack's bounds are those of where the first fiber came from.
  static void arrived([[maybe_unused]] void* fake_stack, [[maybe_unused]] execution& came_from) {
#ifdef PARALLAX_ASAN_FIBERS
    const void* stack = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &stack, &size);
    if (!fake_stack) came_from.stack = stack, came_from.size = size;
#endif
  }
};

} // namespace simulator
