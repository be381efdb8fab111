// Calls of programs with small products of static extents, whose steps are compiled into them, beside plain loops.
#include <parallax/parallax.hpp>

#include "host/direct_numbers.hpp"
#include "support/test.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace direct_products_test {

namespace {

namespace plx = parallax;
using direct_numbers::is_near, direct_numbers::numbers;
using plx::array;
using plx::dyn;
using plx::extents;

template <class A, class B>
std::vector<double> product_of(const A& a, const B& b, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                               bool left_transposed = false, bool right_transposed = false) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += static_cast<double>(a.data()[left_transposed ? k * rows + i : i * depth + k]) *
               static_cast<double>(b.data()[right_transposed ? j * depth + k : k * columns + j]);
      result.push_back(sum);
    }
  return result;
}

template <class T, int Rows, int Columns, int Depth> void check_product(double tolerance) {
  constexpr std::int64_t m = Rows, n = Columns, k = Depth;
  constexpr auto plain = [](auto a, auto b) { return plx::dot(a, b); };
  constexpr auto left = [](auto a, auto b) { return plx::dot(plx::transpose(a), b); };
  constexpr auto right = [](auto a, auto b) { return plx::dot(a, plx::transpose(b)); };
  CAPTURE(Rows, Columns, Depth, plx::name_of(plx::element_type_of<T>));
  const auto a = numbers<array<T, extents<m, k>>>({m, k}), c = numbers<array<T, extents<m, k>>>({m, k}, 1);
  const auto b = numbers<array<T, extents<k, n>>>({k, n}, 2);
  const auto at = numbers<array<T, extents<k, m>>>({k, m});
  const auto bt = numbers<array<T, extents<n, k>>>({n, k}, 2);
  CHECK(is_near(plx::jit(plain)(a, b), product_of(a, b, m, n, k), tolerance));
  CHECK(is_near(plx::jit(plain)(c, b), product_of(c, b, m, n, k), tolerance));
  CHECK(is_near(plx::jit(left)(at, b), product_of(at, b, m, n, k, true), tolerance));
  CHECK(is_near(plx::jit(right)(a, bt), product_of(a, bt, m, n, k, false, true), tolerance));
}
} // namespace

TEST_CASE("small products are right in each way of making them") {
  check_product<float, 1, 1, 1>(1e-6);
  check_product<float, 4, 4, 4>(1e-6);
  check_product<float, 3, 8, 5>(1e-6);
  check_product<double, 3, 3, 3>(1e-14);
  check_product<double, 6, 16, 16>(1e-14);
  check_product<double, 7, 5, 9>(1e-14);
  check_product<float, 16, 1, 16>(1e-6);
  check_product<float, 1, 16, 16>(1e-6);
  check_product<double, 17, 4, 3>(1e-14);
  check_product<std::int32_t, 5, 4, 3>(0);
  check_product<plx::float16, 3, 4, 5>(2e-3);
}

TEST_CASE("batches of small products are right, with dynamic and with repeated operands") {
  constexpr auto product = [](auto a, auto b) { return plx::dot(a, b); };
  constexpr std::int64_t count = 9;
  const auto a = numbers<array<float, extents<dyn, 4, 4>>>({count, 4, 4});
  const auto b = numbers<array<float, extents<dyn, 4, 4>>>({count, 4, 4}, 1);
  const auto shared = numbers<array<float, extents<4, 4>>>({4, 4}, 3);
  const auto each_one = plx::jit(plx::vmap(product))(a, b);
  const auto with_shared = plx::jit(plx::vmap(product, plx::in_axes<0, plx::none>))(a, shared);
  for (std::int64_t i = 0; i < count; ++i) {
    const array<float, 2> left({4, 4}, a.values().subspan(static_cast<std::size_t>(i) * 16, 16));
    const array<float, 2> right({4, 4}, b.values().subspan(static_cast<std::size_t>(i) * 16, 16));
    const array<float, 2> one({4, 4}, each_one.values().subspan(static_cast<std::size_t>(i) * 16, 16));
    const array<float, 2> other({4, 4}, with_shared.values().subspan(static_cast<std::size_t>(i) * 16, 16));
    CHECK(is_near(one, product_of(left, right, 4, 4, 4)));
    CHECK(is_near(other, product_of(left, shared, 4, 4, 4)));
  }
  // cut over threads
  const auto many = numbers<array<float, extents<dyn, 8, 8>>>({3000, 8, 8});
  const auto squares = plx::jit(plx::vmap(product))(many, many);
  for (std::int64_t i = 0; i < 3000; i += 613) {
    const array<float, 2> one({8, 8}, many.values().subspan(static_cast<std::size_t>(i) * 64, 64));
    const array<float, 2> square({8, 8}, squares.values().subspan(static_cast<std::size_t>(i) * 64, 64));
    CHECK(is_near(square, product_of(one, one, 8, 8, 8), 1e-5));
  }
}

} // namespace direct_products_test
