// Settings that come from environment variables.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// The number of processors that the calling thread, and those that it starts, may run on: those that `taskset`,
/// `mpirun` or a container left it, of all that there are. At least 1.
inline int usable_processors() {
#ifdef __linux__
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return std::max(1, CPU_COUNT(&usable));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// The number of processors that this process may use, as it was when somebody first asked.
inline int core_count() {
  static const int count = usable_processors();
  return count;
}

/// The integer in the environment variable `name`, or `otherwise` if it is not set. Anything but an integer from
/// `lowest` to `highest` is an `error`.
inline int environment_integer(const char* name, int otherwise, int lowest, int highest) {
  const char* text = std::getenv(name);
  if (!text) return otherwise;
  std::string_view view = text;
  int value = 0;
  auto [end, status] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (status != std::errc{} || end != view.data() + view.size() || value < lowest || value > highest) {
    throw error(std::string(name) + " must be an integer from " + std::to_string(lowest) + " to " +
                std::to_string(highest) + ", but it is \"" + text + "\"");
  }
  return value;
}

/// The number of seconds in the environment variable `name`, or `otherwise` if it is not set. Anything but a finite
/// number that is not negative is an `error`.
inline double environment_seconds(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  if (!text) return otherwise;
  char* end = nullptr;
  double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value) || value < 0 || value > 1e9) {
    throw error(std::string(name) + " must be a number of seconds from 0 (no limit) to 1e9, but it is \"" + text +
                "\"");
  }
  return value;
}

/// The deadline of a collective: `PARALLAX_COLLECTIVE_TIMEOUT` seconds, 120 by default; zero means none.
inline std::chrono::nanoseconds collective_timeout() {
  static const std::chrono::nanoseconds timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(environment_seconds("PARALLAX_COLLECTIVE_TIMEOUT", 120)));
  return timeout;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
