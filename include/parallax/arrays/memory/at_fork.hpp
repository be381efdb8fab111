// Functions to call when a process forks.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#if __has_include(<unistd.h>)
#include <pthread.h>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// From now on a thread that forks calls `before`, and after the fork `in_parent` and `in_child`; a null pointer is not
/// called. On systems without fork this does nothing. Throws `error`.
inline void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
#if __has_include(<unistd.h>)
  if (::pthread_atfork(before, in_parent, in_child) != 0) throw error("there is no memory to prepare for fork");
#else
  static_cast<void>(before), static_cast<void>(in_parent), static_cast<void>(in_child);
#endif
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
