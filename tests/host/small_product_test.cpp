// Products of matrices of at most 16 rows and columns, which are written out.
#include "support/test.hpp"

#include <parallax/host/direct/small_product.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace small_product_test {

namespace {

namespace host = parallax::host;

template <class T> std::vector<T> numbers(std::size_t count, std::size_t seed) {
  std::vector<T> x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<T>(static_cast<int>(i * 7 + seed) % 11 - 5));
  return x;
}

/// Whole numbers, so that sums are exact; nothing behind the result changes.
template <class T, int Rows, int Columns, int Depth> void check(bool is_transposed) {
  INFO(Rows << " x " << Depth << " x " << Columns << (is_transposed ? ", the right one transposed" : ""));
  constexpr std::size_t rows = Rows, columns = Columns, depth = Depth;
  const std::vector<T> left = numbers<T>(rows * depth, 3), right = numbers<T>(depth * columns, 1);
  const std::int64_t by_depth = is_transposed ? 1 : Columns, by_column = is_transposed ? Depth : 1;
  std::vector<T> result(rows * columns + 1, T(77)), expected = result;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < depth; ++k)
        sum = static_cast<T>(
            sum + left[i * depth + k] *
                      right[k * static_cast<std::size_t>(by_depth) + j * static_cast<std::size_t>(by_column)]);
      expected[i * columns + j] = sum;
    }
  host::small_product<T, Rows, Columns, Depth>(left.data(), right.data(), result.data(),
                                               {Depth, 1, by_depth, by_column});
  CHECK(result == expected);
}
template <class T, int Rows, int Depth, int... Columns> void check_columns(std::integer_sequence<int, Columns...>) {
  (check<T, Rows, Columns + 1, Depth>(false), ...);
  (check<T, Rows, Columns + 1, Depth>(true), ...);
}

} // namespace

TEST_CASE("small products of each number of columns") {
  check_columns<float, 3, 5>(std::make_integer_sequence<int, 16>{});
  check_columns<double, 2, 16>(std::make_integer_sequence<int, 16>{});
  check_columns<std::int32_t, 2, 5>(std::make_integer_sequence<int, 16>{});
  check<double, 16, 16, 16>(false);
  check<double, 13, 13, 13>(true);
}

} // namespace small_product_test
