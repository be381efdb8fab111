// The mutex under which one thread at a time enqueues work. Threads that only release memory do not wait for it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/names.hpp>

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <device_api Api> class device;

/// A recursive mutex. Memory that other threads release while one holds the mutex is freed at the unlocking, in the
/// order of the first streams: all work that used the memory was enqueued there before.
template <device_api Api> class enqueue_mutex {
 public:
  /// The backend's mutex. Never destroyed: arrays with static storage may outlive any other object.
  static enqueue_mutex& instance() {
    static enqueue_mutex& only = *new enqueue_mutex;
    return only;
  }

  void lock() {
    mutex.lock();
    ++depth;
  }
  bool try_lock() {
    if (!mutex.try_lock()) return false;
    ++depth;
    return true;
  }
  void unlock() {
    if (depth > 1) return unlock_once();
    do {
      give_back_released();
      unlock_once();
    } while (has_released() && try_lock());
  }

  /// Frees memory that `device::take` allocated: at once, or when another thread that has the mutex unlocks it.
  void release(device<Api>& home, std::byte* start) noexcept {
    if (!try_lock()) {
      if (!note(home, start)) lock(); // there is no memory for the note
      else if (!try_lock()) return;   // whoever has the mutex unlocks later than this, and looks then
      else return unlock();
    }
    home.give_back(start);
    unlock();
  }
  /// Frees the memory that other threads have released since this thread locked the mutex, which it still holds.
  void give_back_released() noexcept {
    std::vector<released_memory> all;
    {
      std::lock_guard lock(of_released);
      all.swap(released);
    }
    for (const auto& [home, start] : all) home->give_back(start);
  }

 private:
  struct released_memory {
    device<Api>* home;
    std::byte* start;
  };

  std::recursive_mutex mutex;
  int depth = 0; ///< how often it is locked
  std::mutex of_released;
  std::vector<released_memory> released;

  void unlock_once() {
    --depth;
    mutex.unlock();
  }
  bool note(device<Api>& home, std::byte* start) noexcept {
    try {
      std::lock_guard lock(of_released);
      released.push_back({&home, start});
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  bool has_released() {
    std::lock_guard lock(of_released);
    return !released.empty();
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
