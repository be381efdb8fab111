// Loops whose dimensions cannot be merged: rows one after another, and threads that begin in the middle of a dimension.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace elementwise_rows_test {

namespace {

namespace plx = parallax;

/// Element (k, i, j) of the result is x(i, j, k) + 2 y(k, j).
void check_sums(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::vector<float> xs(static_cast<std::size_t>(a * b * c)), ys(static_cast<std::size_t>(c * b));
  for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i % 1021);
  for (std::size_t i = 0; i < ys.size(); ++i) ys[i] = static_cast<float>(i % 503);
  const plx::array<float, 3> x({a, b, c}, xs);
  const plx::array<float, 2> y({c, b}, ys);
  constexpr auto sums = [](auto of, auto with) {
    return plx::transpose(of, {2, 0, 1}) + 2.f * plx::expand_dims(with, 1);
  };
  const plx::array<float, 3> found = plx::jit(sums)(x, y);
  int wrong = 0;
  for (std::int64_t k = 0; k < c; ++k)
    for (std::int64_t i = 0; i < a; ++i)
      for (std::int64_t j = 0; j < b; ++j)
        if (found(k, i, j) != x(i, j, k) + 2.f * y(k, j)) ++wrong;
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("rows that are not behind one another in memory are all computed") {
  check_sums(5, 3, 7);
  check_sums(1, 3, 7);
  check_sums(5, 1, 7);
  check_sums(4, 9, 1);
}
TEST_CASE("threads begin with any of such rows") { check_sums(71, 37, 103); }

} // namespace elementwise_rows_test
