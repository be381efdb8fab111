// What the main functions of the examples do.
#pragma once

#include "support/errors.hpp"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string_view>

namespace examples {

/// Calls `body` with the command line's arguments, on 8 devices unless the environment asks for another number.
/// Returns the exit status: 2 after a `usage_error`, 1 after any other, which is told in one line.
template <class Body> int run_example(std::string_view name, int argc, char** argv, const Body& body) {
  setenv("PARALLAX_HOST_DEVICES", "8", 0);
  try {
    body(std::span<const char* const>(argv, static_cast<std::size_t>(argc)).subspan(1));
    if (!std::cout.flush()) throw std::runtime_error("the output cannot be written");
    return 0;
  } catch (const usage_error& error) {
    std::cerr << name << ": " << one_line(error.what()) << " (see " << name << " --help)\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << one_line(error.what()) << '\n';
    return 1;
  }
}

} // namespace examples
