// What an example says of its results, checked.
#pragma once

#include <stdexcept>
#include <string>

namespace examples {

/// Throws std::runtime_error, which says what was claimed, unless it holds.
inline void claim(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("this should hold, and does not: " + what);
}

} // namespace examples
