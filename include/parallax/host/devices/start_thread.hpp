// Starting a thread, or saying why not.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// A thread that runs `body`. Throws `error` where the system refuses one, which names `setting`, the environment
/// variable that says how many there are. To do with fewer threads would be slower without anyone knowing.
template <class Body> std::thread start_thread(Body body, const char* setting) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& refused) {
    throw error("the system refuses to start another thread (" + refused.code().message() + "): " + setting +
                " says how many there are to be");
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host
