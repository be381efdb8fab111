// Products whose rows and columns are exchanged because their results are read so: their values.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace exchanged_products_test {

namespace plx = parallax;

namespace {

/// Small whole numbers, whose products are exact in any order of summation; `seed` tells arrays apart.
template <class T, std::size_t Rank> auto numbers(std::array<std::int64_t, Rank> shape, int seed) {
  auto result = plx::array<T, int{Rank}>::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<T>((i * 7 + seed * 5) % 11) - static_cast<T>(seed);
  return result;
}

} // namespace

TEST_CASE("vmap over the vector of a matrix-vector product, of any of its axes") {
  const auto w = numbers<float, 2>({5, 7}, 1), x = numbers<float, 2>({3, 7}, 2), y = numbers<float, 2>({7, 3}, 3);
  const auto b = numbers<float, 1>({5}, 4);
  constexpr auto layer = [](auto m, auto v, auto bias) { return plx::dot(m, v) + bias; };
  const plx::array<float, 2> rows = plx::vmap(layer, plx::in_axes<plx::none, 0, plx::none>)(w, x, b);
  const plx::array<float, 2> columns =
      plx::vmap(layer, plx::in_axes<plx::none, 1, plx::none>, plx::out_axes<1>)(w, y, b);
  REQUIRE(rows.shape() == std::array<std::int64_t, 2>{3, 5});
  REQUIRE(columns.shape() == std::array<std::int64_t, 2>{5, 3});
  for (int i = 0; i < 3; ++i)
    for (int n = 0; n < 5; ++n) {
      float of_row = b(n), of_column = b(n);
      for (int k = 0; k < 7; ++k) of_row += w(n, k) * x(i, k), of_column += w(n, k) * y(k, i);
      CHECK(rows(i, n) == of_row);
      CHECK(columns(n, i) == of_column);
    }
}

TEST_CASE("vmap over the vector of a vmapped product, whose matrices are a batch") {
  const auto w = numbers<float, 3>({2, 5, 4}, 1), x = numbers<float, 3>({3, 2, 4}, 2);
  constexpr auto product = [](auto m, auto v) { return plx::dot(m, v); };
  const plx::array<float, 3> found = plx::vmap(plx::vmap(product), plx::in_axes<plx::none, 0>)(w, x);
  REQUIRE(found.shape() == std::array<std::int64_t, 3>{3, 2, 5});
  for (int i = 0; i < 3; ++i)
    for (int batch = 0; batch < 2; ++batch)
      for (int n = 0; n < 5; ++n) {
        float expected = 0;
        for (int k = 0; k < 4; ++k) expected += w(batch, n, k) * x(i, batch, k);
        CHECK(found(i, batch, n) == expected);
      }
}

TEST_CASE("a batch of products with several rows and columns, of several types, read with them exchanged") {
  auto check = []<class T>(T) {
    const auto a = numbers<T, 4>({3, 4, 2, 5}, 1); // row, contracted, batch, row
    const auto b = numbers<T, 3>({2, 6, 4}, 2);    // batch, column, contracted
    constexpr auto exchanged = plx::jit([](auto left, auto right) {
      return plx::transpose(plx::dot_general(left, right, {{1}, {2}, {2}, {0}}), {0, 3, 1, 2});
    });
    const plx::array<T, 4> found = exchanged(a, b);
    REQUIRE(found.shape() == std::array<std::int64_t, 4>{2, 6, 3, 5});
    for (int batch = 0; batch < 2; ++batch)
      for (int c = 0; c < 6; ++c)
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 5; ++s) {
            T expected = 0;
            for (int k = 0; k < 4; ++k) expected = static_cast<T>(expected + a(r, k, batch, s) * b(batch, c, k));
            CHECK(found(batch, c, r, s) == expected);
          }
  };
  check(0.f);
  check(0.);
  check(std::int32_t{0});
}

TEST_CASE("transposes of a product that exchange only some of its axes") {
  const auto a = numbers<float, 3>({3, 2, 4}, 1), b = numbers<float, 3>({4, 5, 2}, 2); // rows 3, 2; columns 5, 2
  constexpr auto both = plx::jit([](auto left, auto right) {
    auto product = plx::dot_general(left, right, {{2}, {0}, {}, {}});
    auto other = plx::dot_general(left + 1.f, right, {{2}, {0}, {}, {}});
    return std::pair{plx::transpose(product, {2, 3, 1, 0}),
                     std::pair{plx::transpose(other, {2, 3, 0, 1}), plx::transpose(other, {3, 2, 0, 1})}};
  });
  const auto [partly, two] = both(a, b);
  const auto& [exchanged, turned] = two;
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 5; ++c)
        for (int d = 0; d < 2; ++d) {
          float first = 0, second = 0;
          for (int k = 0; k < 4; ++k) first += a(r, s, k) * b(k, c, d), second += (a(r, s, k) + 1) * b(k, c, d);
          CHECK(partly(c, d, s, r) == first);
          CHECK(exchanged(c, d, r, s) == second);
          CHECK(turned(d, c, r, s) == second);
        }
}

TEST_CASE("a product that a pmap returns with rows and columns exchanged") {
  const auto x = numbers<float, 3>({2, 3, 4}, 1);
  const auto w = numbers<float, 2>({4, 5}, 2);
  const plx::array<float, 3> found =
      plx::pmap([](auto a, auto b) { return plx::transpose(plx::dot(a, b)); }, plx::in_axes<0, plx::none>)(x, w);
  for (int device = 0; device < 2; ++device)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 5; ++c) {
        float expected = 0;
        for (int k = 0; k < 4; ++k) expected += x(device, r, k) * w(k, c);
        CHECK(found(device, c, r) == expected);
      }
}

TEST_CASE("the derivative by the weights of a vmapped layer") {
  const auto w = numbers<float, 2>({5, 4}, 1), x = numbers<float, 2>({3, 4}, 2), scale = numbers<float, 2>({3, 5}, 3);
  const auto gradient = plx::grad([](auto m, auto v, auto s) {
    return plx::sum(plx::vmap([](auto a, auto b) { return plx::dot(a, b); }, plx::in_axes<plx::none, 0>)(m, v) * s);
  })(w, x, scale);
  REQUIRE(gradient.shape() == std::array<std::int64_t, 2>{5, 4});
  for (int n = 0; n < 5; ++n)
    for (int k = 0; k < 4; ++k) {
      float expected = 0;
      for (int i = 0; i < 3; ++i) expected += scale(i, n) * x(i, k);
      CHECK(gradient(n, k) == expected);
    }
}

} // namespace exchanged_products_test
