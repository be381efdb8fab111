// Starting a thread, or saying why not.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// A thread that runs `body`. Throws `error` if the system refuses a thread; the text names `setting`, the environment
/// variable with the number of threads. To go on with fewer threads would be slower without anyone knowing.
template <class Body> std::thread start_thread(Body body, const char* setting) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& refused) {
    throw error("the system refuses to start another thread (" + refused.code().message() + "): " + setting +
                " says how many there are to be");
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host
