// Owners of handles of the device libraries. Destructors cannot throw: a failure there is kept, and thrown by the next
// `check_kept`.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>

#include <mutex>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The first failure of a destructor since it was last asked for.
class kept_failure {
 public:
  static void keep(const status& what) noexcept {
    if (what.ok()) return;
    std::lock_guard lock(state().mutex);
    if (state().first.ok()) state().first = what;
  }
  /// Throws `cuda_error` if a destructor failed.
  static void check_kept() {
    std::unique_lock lock(state().mutex);
    const status first = std::exchange(state().first, status{});
    lock.unlock();
    check(first);
  }

 private:
  struct kept {
    std::mutex mutex;
    status first;
  };
  static kept& state() {
    static kept& only = *new kept; // outlives arrays with static storage
    return only;
  }
};

/// A stream or an event of the device that was current when it was made.
template <class Handle, status (*Create)(Handle&), status (*Destroy)(Handle)> class unique_handle {
 public:
  unique_handle() { check(Create(held)); }
  unique_handle(unique_handle&& other) noexcept : held(other.held), is_owned(std::exchange(other.is_owned, false)) {}
  unique_handle& operator=(unique_handle&&) = delete;
  ~unique_handle() {
    if (is_owned) kept_failure::keep(Destroy(held));
  }
  Handle get() const { return held; }

 private:
  Handle held{};
  bool is_owned = true;
};

template <device_api Api>
using unique_stream = unique_handle<typename Api::stream, Api::create_stream, Api::destroy_stream>;
template <device_api Api>
using unique_event = unique_handle<typename Api::event, Api::create_event, Api::destroy_event>;

/// While alive, the capturing thread may allocate and wait for other streams: libraries do both in their first calls.
/// Has no effect on a thread that does not capture.
template <device_api Api> class relaxed_capture {
 public:
  explicit relaxed_capture(bool captures) : is_relaxed(captures) {
    if (is_relaxed) check(Api::exchange_capture_mode(mode));
  }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;
  ~relaxed_capture() {
    if (is_relaxed) kept_failure::keep(Api::exchange_capture_mode(mode));
  }

 private:
  bool is_relaxed;
  typename Api::capture_mode mode = Api::relaxed_capture_mode;
};

/// An event of a physical device, which is current when it is made.
template <device_api Api> struct device_event {
  explicit device_event(int gpu) : physical(gpu) {}
  int physical;
  unique_event<Api> event;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
