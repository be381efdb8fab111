// Elementwise primitives on integers and truth values: arithmetic that wraps, division, bits, shifts, logic.
#include "ops/reference.hpp"

#include <limits>

namespace integer_test {

namespace {

namespace plx = parallax;
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

template <class T> std::vector<T> samples() {
  return {T{0},
          T{1},
          T{2},
          T{7},
          T{31},
          T{100},
          T(0) - T{1} < T{0} ? static_cast<T>(-1) : static_cast<T>(200),
          static_cast<T>(-7),
          std::numeric_limits<T>::max(),
          std::numeric_limits<T>::min(),
          static_cast<T>(std::numeric_limits<T>::max() / 3)};
}

/// All pairs of samples.
template <class T> std::pair<plx::array<T, 1>, plx::array<T, 1>> pairs() {
  std::vector<T> left, right;
  for (T x : samples<T>())
    for (T y : samples<T>()) left.push_back(x), right.push_back(y);
  std::int64_t size = static_cast<std::int64_t>(left.size());
  return {plx::array<T, 1>({size}, left), plx::array<T, 1>({size}, right)};
}

/// Arithmetic modulo 2^n, in 128 bits.
template <class T, class F>
void check(const plx::array<T, 1>& actual, const plx::array<T, 1>& x, const plx::array<T, 1>& y, F exact) {
  REQUIRE(actual.size() == x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    INFO(+x(i) << " and " << +y(i));
    CHECK(+actual(i) == +static_cast<T>(exact(static_cast<wide>(x(i)), static_cast<wide>(y(i)))));
  }
}

constexpr auto arithmetic = [](auto x, auto y) {
  return std::tuple(x + y, x - y, x * y, x % y, plx::maximum(x, y), plx::minimum(x, y));
};
constexpr auto bits = [](auto x, auto y) { return std::tuple(x & y, x | y, x ^ y, ~x, x << (y & 63), x >> (y & 63)); };

template <class T> void check_type() {
  auto [x, y] = pairs<T>();
  {
    auto [sum, difference, product, rest, larger, smaller] = plx::jit(arithmetic)(x, y);
    check(sum, x, y, [](auto a, auto b) { return a + b; });
    check(difference, x, y, [](auto a, auto b) { return a - b; });
    // two 64-bit factors may leave 128 bits
    check(product, x, y, [](auto a, auto b) { return static_cast<uwide>(a) * static_cast<uwide>(b); });
    check(rest, x, y, [](auto a, auto b) { return b == 0 ? a : a % b; });
    check(larger, x, y, [](auto a, auto b) { return a > b ? a : b; });
    check(smaller, x, y, [](auto a, auto b) { return a < b ? a : b; });
  }
  auto [both, either, exclusive, inverse, left, right] = plx::jit(bits)(x, y);
  constexpr int width = 8 * sizeof(T);
  auto distance = [](auto b) { return static_cast<int>(b & 63); };
  check(both, x, y, [](auto a, auto b) { return a & b; });
  check(either, x, y, [](auto a, auto b) { return a | b; });
  check(exclusive, x, y, [](auto a, auto b) { return a ^ b; });
  check(inverse, x, y, [](auto a, auto) { return ~a; });
  check(left, x, y, [&](auto a, auto b) {
    return distance(b) >= width ? 0 : static_cast<wide>(static_cast<uwide>(a) << distance(b));
  });
  check(right, x, y, [&](auto a, auto b) { return distance(b) >= width ? (a < 0 ? -1 : 0) : a >> distance(b); });
}

} // namespace

TEST_CASE("int32 and uint32 arithmetic wraps") {
  check_type<std::int32_t>();
  check_type<std::uint32_t>();
}
TEST_CASE("int64, uint64 and uint8 arithmetic wraps") {
  check_type<std::int64_t>();
  check_type<std::uint64_t>();
  check_type<std::uint8_t>();
}

TEST_CASE("integers are divided as float32") {
  auto divide = plx::jit([](auto x, auto y) { return std::tuple(x / y, x / 2, 1 / x); });
  auto [quotient, half, inverse] = divide(plx::array<int, 1>{7, -1, 4}, plx::array<int, 1>{2, 4, 0});
  static_assert(std::is_same_v<decltype(quotient)::value_type, float>);
  CHECK(quotient.to_vector() == std::vector<float>{3.5f, -0.25f, INFINITY});
  CHECK(half.to_vector() == std::vector<float>{3.5f, -0.5f, 2.f});
  CHECK(inverse(2) == 0.25f);
}

TEST_CASE("truth values have logic") {
  constexpr auto logic = [](auto x, auto y) {
    return std::tuple(x && y, x || y, !x, x & y, x | y, x ^ y, ~x, x == y, plx::logical_xor(x, y));
  };
  plx::array<bool, 1> x{false, false, true, true}, y{false, true, false, true};
  std::vector<reference::table> actual = reference::tables_of(plx::jit(logic)(x, y));
  const std::vector<double> expected[] = {{0, 0, 0, 1}, {0, 1, 1, 1}, {1, 1, 0, 0}, {0, 0, 0, 1}, {0, 1, 1, 1},
                                          {0, 1, 1, 0}, {1, 1, 0, 0}, {1, 0, 0, 1}, {0, 1, 1, 0}};
  for (std::size_t k = 0; k < std::size(expected); ++k) CHECK(actual[k].values == expected[k]);

  auto of_numbers = plx::jit([](auto a, auto b) { return std::tuple(a && b, a || b, !a); });
  auto [both, either, inverse] = of_numbers(plx::array<int, 1>{0, 2, -1}, plx::array<float, 1>{0.5f, 0, 3});
  CHECK(both.to_vector() == std::vector<bool>{false, false, true});
  CHECK(either.to_vector() == std::vector<bool>{true, true, true});
  CHECK(inverse.to_vector() == std::vector<bool>{true, false, false});
}

TEST_CASE("integer primitives are mapped") {
  plx::array<int, 1> x{5, -3, 8, 1}, y{2, 7, -2, 30};
  reference::check_batching<0, 0>(arithmetic, x, y);
  reference::check_batching<1, -1>(bits, x, y);
}

} // namespace integer_test
