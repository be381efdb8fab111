// What two files compute that were compiled with different catalogues of primitives, of the same elements.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace units {

inline constexpr std::size_t rows = 2, length = 100000;

/// Of the array that all programs are given, whose rows are equal: element i of a row.
inline float element(std::size_t i) { return 0.5f + 0.125f * static_cast<float>(i % 7); }

/// A program by name, and the first elements of its result's first row.
struct computed {
  std::string program;
  std::vector<float> values;
};

std::vector<computed> with_this_catalogue();
std::vector<computed> with_other_catalogue();

} // namespace units
