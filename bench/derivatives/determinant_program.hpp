// det as an array program.
#pragma once

#include <parallax/parallax.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace bench {

namespace plx = parallax;

/// Minor by minor, each of which is a number of the program: of the last rows, and of a set of columns, which is a
/// number whose bits say which columns it has.
template <int Size>
constexpr auto determinant_program = [](auto matrix) {
  constexpr unsigned sets = 1u << Size;
  auto element = [&](int row, int column) { return plx::index_in_dim(plx::index_in_dim(matrix, row), column); };
  std::array<plx::tracer, sets> minors;
  for (unsigned set = 1; set < sets; ++set) {
    const int row = Size - std::popcount(set);
    bool first = true, negative = false;
    for (unsigned rest = set; rest > 0; rest &= rest - 1, negative = !negative) {
      const int column = std::countr_zero(rest);
      const unsigned without = set ^ (1u << column);
      auto term = without == 0 ? element(row, column) : element(row, column) * minors[without];
      if (first) minors[set] = term;
      else if (negative) minors[set] = minors[set] - term;
      else minors[set] = minors[set] + term;
      first = false;
    }
  }
  return minors[sets - 1];
};

} // namespace bench
