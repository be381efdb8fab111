// Scatters that are long enough for several threads, beside plain loops.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <tuple>
#include <vector>

namespace scatter_test {

namespace plx = parallax;

TEST_CASE("threads share the axes along which updates never meet") {
  const std::int64_t rows = 3, columns = 5, updates = 30'000;
  auto y = plx::array<float, 2>::uninitialised({rows, updates});
  auto i = plx::array<std::int32_t, 1>::uninitialised({updates});
  for (std::int64_t k = 0; k < y.size(); ++k) y.mutable_data()[k] = static_cast<float>(k % 997) / 7;
  for (std::int64_t k = 0; k < updates; ++k) i.mutable_data()[k] = static_cast<std::int32_t>(k * k % 11 % columns);
  std::vector<float> by_column(static_cast<std::size_t>(rows * columns), 1), by_row(by_column);
  for (std::int64_t k = 0; k < updates; ++k)
    for (std::int64_t r = 0; r < rows; ++r) {
      by_column[static_cast<std::size_t>(r * columns + i(k))] += y(r, k);
      by_row[static_cast<std::size_t>(i(k) * rows + r)] += y(r, k);
    }
  const auto [along, across] = plx::jit([](auto update, auto place) {
    return std::tuple{plx::ones<float>({3, 5}).at(plx::none, place).add(update),
                      plx::ones<float>({5, 3}).at(place).add(plx::transpose(update))};
  })(y, i);
  CHECK(along.to_vector() == by_column);
  CHECK(across.to_vector() == by_row);
}

TEST_CASE("a long slice is replaced by several threads") {
  const std::int64_t length = 300'000;
  auto x = plx::array<float, 1>::uninitialised({length});
  for (std::int64_t k = 0; k < length; ++k) x.mutable_data()[k] = static_cast<float>(k);
  const auto moved = plx::jit([](auto a, auto start) {
    return plx::dynamic_update_slice(a, -plx::slice_in_dim(a, 0, 200'000), std::tuple{start});
  })(x, plx::array<std::int32_t, 0>(70'001));
  for (std::int64_t k = 0; k < length; ++k) {
    const bool inside = k >= 70'001 && k < 270'001;
    REQUIRE(moved(k) == (inside ? -static_cast<float>(k - 70'001) : static_cast<float>(k)));
  }
}

} // namespace scatter_test
