// Objects that all of a process shares, from their first use to its very end.
#pragma once

#include <parallax/arrays/memory/at_fork.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>

#include <atomic>
#include <memory>
#include <new>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The one `T` of this process. It is never destroyed: handlers of exit, destructors of objects with static storage,
/// and threads that run while the process ends may use it. A child of fork makes another one, since the parent's is
/// served by threads, and may have locks held by threads, that the child does not have.
template <class T> class process_wide {
 public:
  /// The object; `make()` returns it if there is none yet. No lock is held meanwhile, since a child of fork could find
  /// it locked for ever. So several threads that come first may each make one; all get the same.
  template <class Make> static T& get(Make make) {
    if (T* there = find()) return *there;
    // registered each time: once would be enough, but more do no harm
    at_fork(nullptr, nullptr, [] { present.store(nullptr); });
    try {
      std::unique_ptr<T> made(new T(make()));
      T* other = nullptr;
      if (present.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return *made.release();
      return *other;
    } catch (const std::bad_alloc&) {
      throw out_of_memory::for_lists();
    }
  }

  /// The object; null if there is none yet.
  static T* find() noexcept { return present.load(std::memory_order_acquire); }

 private:
  inline static constinit std::atomic<T*> present{nullptr};
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
