// The state of a thread that runs work of the host backend.
#pragma once

#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host {

struct thread_state {
  int device = -1;
  bool parallel = false;
};

/// The state of the calling thread.
inline thread_state& this_thread() noexcept {
  thread_local thread_state state;
  return state;
}

/// The virtual device whose work the calling thread runs, -1 outside of any.
inline int current_device() noexcept { return this_thread().device; }

/// Whether the calling thread works next to others on one task, so that a parallel loop in it runs on it alone.
inline bool inside_parallel_work() noexcept { return this_thread().parallel; }

/// Changes the state of the calling thread for a scope.
class thread_state_scope {
 public:
  explicit thread_state_scope(thread_state state) noexcept : before(this_thread()) { this_thread() = state; }
  ~thread_state_scope() { this_thread() = before; }
  thread_state_scope(const thread_state_scope&) = delete;
  thread_state_scope& operator=(const thread_state_scope&) = delete;

 private:
  thread_state before;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
