// Extremes of rows and where they are, beside plain loops: NaN, infinities of both signs, equals, rows of all lengths.
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace extremes_test {

namespace plx = parallax;

namespace {

/// The element that NumPy's max (or min) of a row gives, and argmax's position of it: NaN wins, then the first of
/// equals.
template <bool Largest, class T> std::int64_t position_of_best(const T* row, std::int64_t length) {
  std::int64_t best = 0;
  for (std::int64_t j = 1; j < length; ++j) {
    const bool is_number = row[best] == row[best];
    const bool is_better = Largest ? row[j] > row[best] : row[j] < row[best];
    if (is_number && (is_better || row[j] != row[j])) best = j;
  }
  return best;
}

/// Rows of a few different values, so that most have equals; some have infinities, or NaN in one place.
template <class T> plx::array<T, 2> rows_of(std::int64_t length) {
  constexpr std::int64_t count = 24;
  auto x = plx::array<T, 2>::uninitialised({count, length});
  std::mt19937 engine(static_cast<unsigned>(length));
  T* const to = x.mutable_data();
  for (std::int64_t i = 0; i < count * length; ++i)
    to[i] = static_cast<T>(static_cast<float>(static_cast<int>(engine() % 40)) - (std::is_signed_v<T> ? 20.f : 0.f));
  auto somewhere = [&](std::int64_t row) -> T& {
    return to[row * length + static_cast<std::int64_t>(engine()) % length];
  };
  for (std::int64_t j = 0; j < length; ++j) to[j] = to[0]; // all alike
  if constexpr (std::numeric_limits<float>::is_iec559 && !std::is_integral_v<T>) {
    const T infinity(std::numeric_limits<float>::infinity()), nan(std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t j = 0; j < length; ++j) to[length + j] = -infinity, to[2 * length + j] = infinity;
    for (std::int64_t row = 3; row < 12; ++row) somewhere(row) = infinity, somewhere(row) = -infinity;
    for (std::int64_t row = 8; row < 16; ++row) somewhere(row) = nan;
    to[12 * length] = nan, to[13 * length + length - 1] = nan;
    for (std::int64_t j = 0; j < length; ++j) to[14 * length + j] = nan;
  }
  return x;
}

template <class T> bool is_same(T x, T y) { return x == y || (x != x && y != y); }

constexpr std::int64_t lengths[] = {1,  2,  7,   15,  16,  17,  31,   32,   33,   63,
                                    64, 65, 100, 127, 128, 129, 1023, 1024, 1025, 3000};

template <bool Largest, class T, class Positions> void check_positions(Positions positions) {
  for (const std::int64_t length : lengths) {
    const auto x = rows_of<T>(length);
    const plx::array<std::int32_t, 1> found = positions(x);
    for (std::int64_t row = 0; row < x.shape()[0]; ++row) {
      INFO("row " << row << " of " << length);
      REQUIRE(found.data()[row] == position_of_best<Largest>(x.data() + row * length, length));
    }
  }
}
template <bool Largest, class T, class Extremes> void check_extremes(Extremes extremes) {
  for (const std::int64_t length : lengths) {
    const auto x = rows_of<T>(length);
    const plx::array<T, 1> found = extremes(x);
    for (std::int64_t row = 0; row < x.shape()[0]; ++row) {
      INFO("row " << row << " of " << length);
      const T* const first = x.data() + row * length;
      REQUIRE(is_same(found.data()[row], first[position_of_best<Largest>(first, length)]));
    }
  }
}

} // namespace

TEST_CASE("positions of extremes in rows are those of a plain loop", "[extremes]") {
  auto largest = plx::jit([](auto x) { return plx::argmax(x, 1); });
  auto smallest = plx::jit([](auto x) { return plx::argmin(x, 1); });
  SECTION("float") {
    check_positions<true, float>(largest);
    check_positions<false, float>(smallest);
  }
  SECTION("double") { check_positions<true, double>(largest); }
  SECTION("bfloat16") { check_positions<true, plx::bfloat16>(largest); }
  SECTION("int32") { check_positions<false, std::int32_t>(smallest); }
  SECTION("uint8") { check_positions<true, std::uint8_t>(largest); }
  SECTION("bool") { check_positions<true, bool>(largest); }
  SECTION("what is computed") {
    check_positions<false, float>(plx::jit([](auto x) { return plx::argmax(1.f - 2.f * x, 1); }));
  }
}

TEST_CASE("extremes of rows are those of a plain loop", "[extremes]") {
  SECTION("float") {
    check_extremes<true, float>(plx::jit([](auto x) { return plx::max(x, 1); }));
    check_extremes<false, float>(plx::jit([](auto x) { return plx::min(x, 1); }));
  }
  SECTION("double") {
    check_extremes<true, double>(plx::jit([](auto x) { return plx::max(x, 1); }));
  }
  SECTION("bfloat16") {
    check_extremes<true, plx::bfloat16>(plx::jit([](auto x) { return plx::max(x, 1); }));
  }
  SECTION("a row kernel of several passes") {
    auto both = plx::jit([](auto x) { return std::pair(plx::max(x, 1), plx::softmax(x, 1)); });
    check_extremes<true, float>([&](const auto& x) { return plx::array<float, 1>(both(x).first); });
  }
}

} // namespace extremes_test
