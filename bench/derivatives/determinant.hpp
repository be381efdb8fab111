// det: a determinant by its expansion along rows, of which minors of the same columns are computed once.
#pragma once

#include "support/random_values.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

namespace bench {

/// The point is a matrix. There is one minor of the last rows for each set of columns: sets are numbers whose bits say
/// which columns they have.
struct determinant_problem {
  static constexpr std::size_t size = 6, sets = std::size_t{1} << size;
  std::vector<double> point;

  determinant_problem() {
    for (float each : random_values(size * size, 61, 1.0f)) point.push_back(each);
  }
  template <class S> static S value(const S* x) {
    std::vector<S> minors(sets);
    return expand(x, minors.data());
  }
  template <class S> static S expand(const S* x, S* minors) {
    minors[0] = 1;
    for (std::size_t set = 1; set < sets; ++set) {
      const S* row = x + (size - static_cast<std::size_t>(std::popcount(set))) * size;
      S sum = 0;
      for_each_column(
          set, [&](std::size_t column, double sign) { sum += sign * row[column] * minors[set ^ (1u << column)]; });
      minors[set] = sum;
    }
    return minors[sets - 1];
  }
  void gradient(const double* x, double* result) const {
    std::array<double, sets> minors, by_minor{};
    expand(x, minors.data());
    for (std::size_t j = 0; j < size * size; ++j) result[j] = 0;
    by_minor[sets - 1] = 1;
    for (std::size_t set = sets - 1; set > 0; --set) {
      const std::size_t row = (size - static_cast<std::size_t>(std::popcount(set))) * size;
      for_each_column(set, [&](std::size_t column, double sign) {
        const std::size_t without = set ^ (std::size_t{1} << column);
        const double by = sign * by_minor[set];
        result[row + column] += by * minors[without];
        by_minor[without] += by * x[row + column];
      });
    }
  }
  template <class Function> static void for_each_column(std::size_t set, Function function) {
    double sign = 1;
    for (std::size_t rest = set; rest > 0; rest &= rest - 1, sign = -sign)
      function(static_cast<std::size_t>(std::countr_zero(rest)), sign);
  }
};

} // namespace bench
