// The characters that the examples which read texts know, as numbers.
#pragma once

#include <cstdint>

namespace examples {

inline constexpr int characters = 96; // the printable ones of ASCII, and the end of a line

/// The number of a character; of others that of a space.
constexpr std::int32_t number_of(char c) { return c == '\n' ? 0 : c >= ' ' && c <= '~' ? c - ' ' + 1 : 1; }
constexpr char character_of(std::int32_t number) { return number == 0 ? '\n' : static_cast<char>(' ' + number - 1); }

} // namespace examples
