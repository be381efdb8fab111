// The command line of the pmap cookbook.
#pragma once

#include "errors.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace examples {

/// What the pmap cookbook is asked to do.
struct cookbook_options {
  std::int64_t rows = 500; // of each random matrix
  std::int64_t columns = 600;
  bool help = false;
};

/// The text that `--help` shows.
inline constexpr std::string_view cookbook_help =
    "usage: pmap_cookbook [--size ROWSxCOLUMNS]\n"
    "Runs the cells of JAX's pmap cookbook on 8 devices, and shows their code and results.\n\n"
    "  --size ROWSxCOLUMNS  of each device's random matrix (500x600; the notebook has 5000x6000, which takes 2 GB)\n"
    "  --help               show this\n";

namespace detail {

/// Reads `ROWSxCOLUMNS`, each from 1 to 20000. Throws `usage_error`.
inline void read_size(std::string_view text, cookbook_options& options) {
  const char* const end = text.data() + text.size();
  auto fits = [](std::int64_t extent) { return extent >= 1 && extent <= 20000; };
  auto [x, first_error] = std::from_chars(text.data(), end, options.rows);
  if (first_error == std::errc{} && x != end && *x == 'x') {
    auto [rest, second_error] = std::from_chars(x + 1, end, options.columns);
    if (second_error == std::errc{} && rest == end && fits(options.rows) && fits(options.columns)) return;
  }
  throw usage_error("--size expects two numbers from 1 to 20000, as in 5000x6000, got " + printable(text));
}

} // namespace detail

/// Reads the arguments (without the program's name); `--size 5x6` and `--size=5x6` are the same. Throws `usage_error`
/// for anything else.
inline cookbook_options parse_cookbook_options(std::span<const char* const> arguments) {
  cookbook_options result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (argument == "--help") {
      result.help = true;
    } else if (argument.starts_with("--size=")) {
      detail::read_size(argument.substr(7), result);
    } else if (argument == "--size") {
      if (++i == arguments.size()) throw usage_error("--size needs ROWSxCOLUMNS after it");
      detail::read_size(arguments[i], result);
    } else {
      throw usage_error("unknown argument " + printable(argument));
    }
  }
  return result;
}

} // namespace examples
