// Choices, conversions between element types, and bits read as another type.
#include "ops/reference.hpp"

#include <cstring>
#include <limits>

namespace select_convert_test {

namespace {

namespace plx = parallax;
using reference::table;

constexpr auto choose = [](auto condition, auto x, auto y) { return plx::where(condition, x, y); };

/// What is converted from floating types to integers: truncated and saturated, NaN to 0.
template <class To> To saturated(double x) {
  if (std::isnan(x)) return 0;
  if (x <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

constexpr auto to_all = [](auto x) {
  return std::tuple(plx::astype<bool>(x), plx::astype<std::uint8_t>(x), plx::astype<std::int32_t>(x),
                    plx::astype<std::uint32_t>(x), plx::astype<std::int64_t>(x), plx::astype<std::uint64_t>(x),
                    plx::astype<float>(x), plx::astype<double>(x));
};

template <class From> void check_conversions(std::initializer_list<From> values) {
  plx::array<From, 1> x({static_cast<std::int64_t>(values.size())}, {values.begin(), values.size()});
  auto all = plx::jit(to_all)(x);
  auto check = [&]<class To>(const plx::array<To, 1>& actual) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      INFO(+x(i) << " as " << plx::name_of(plx::element_type_of<To>));
      To expected;
      if constexpr (std::same_as<To, bool>) expected = x(i) != From{0};
      else if constexpr (std::floating_point<From> && std::integral<To>)
        expected = saturated<To>(static_cast<double>(x(i)));
      else expected = static_cast<To>(x(i));
      To got = actual(i);
      CHECK((got == expected || (got != got && expected != expected)));
    }
  };
  std::apply([&](const auto&... actual) { (check(actual), ...); }, all);
}

} // namespace

TEST_CASE("float64 converts to every type") {
  check_conversions<double>(
      {0, -0.5, 0.99, 1.5, -3.7, 255, 256, 3e9, -3e9, 1e15, -1e15, 1e30, INFINITY, -INFINITY, NAN, 0.1, 1e-320, 100});
}
TEST_CASE("float32 converts to every type") {
  check_conversions<float>({0, -0.5f, 0.99f, 1.5f, -3.7f, 255, 256, 3e9f, -3e9f, 1e15f, 1e30f, INFINITY, NAN, 0.1f});
}
TEST_CASE("integers convert to every type") {
  check_conversions<std::int64_t>(
      {0, 1, -1, 255, 256, 300, 1L << 31, -(1L << 40) - 3, (1L << 62) + 1, std::numeric_limits<std::int64_t>::min()});
  check_conversions<std::int32_t>({0, 1, -1, 255, 256, -300, 16777217, std::numeric_limits<std::int32_t>::min()});
}
TEST_CASE("unsigned integers and truth values convert to every type") {
  check_conversions<std::uint64_t>({0, 1, 255, 300, 1UL << 63, ~0UL, (1UL << 53) + 1});
  check_conversions<std::uint32_t>({0, 1, 255, 300, 1U << 31, ~0U, 16777217});
  check_conversions<std::uint8_t>({0, 1, 127, 128, 255});
  check_conversions<bool>({false, true});
}

TEST_CASE("a conversion's gradient is converted back") {
  auto slope = plx::jit(plx::grad([](auto x) { return plx::sum(plx::sin(plx::astype<double>(x))); }));
  plx::array<float, 1> x{0.5f, 2};
  auto gradient = slope(x);
  static_assert(std::is_same_v<decltype(gradient)::value_type, float>);
  CHECK(gradient(0) == Approx(std::cos(0.5)));
  CHECK(gradient(1) == Approx(std::cos(2.)));
  auto through_integers =
      plx::jit(plx::grad([](auto y) { return plx::sum(plx::astype<float>(plx::astype<int>(y)) * y); }));
  CHECK(through_integers(plx::array<float, 1>{2.5f, -1.5f}).to_vector() == std::vector<float>{2, -1});
}

TEST_CASE("bits are read as another type and back") {
  auto there_and_back = plx::jit([](auto x) {
    return std::tuple(plx::bitcast<std::uint32_t>(x), plx::bitcast<std::int32_t>(x),
                      plx::bitcast<float>(plx::bitcast<std::uint32_t>(x)));
  });
  plx::array<float, 1> x{1.f, -0.f, INFINITY, 3.14f};
  auto [bits, integers, back] = there_and_back(x);
  for (std::int64_t i = 0; i < 4; ++i) {
    std::uint32_t expected;
    float value = x(i);
    std::memcpy(&expected, &value, sizeof expected);
    CHECK(bits(i) == expected);
    CHECK(integers(i) == static_cast<std::int32_t>(expected));
  }
  CHECK(back.to_vector() == x.to_vector());
  auto wide = plx::jit([](auto y) { return plx::bitcast<std::int64_t>(y); })(plx::array<double, 1>{1, -2});
  CHECK(wide(0) == 0x3FF0000000000000);
  CHECK(wide(1) == static_cast<std::int64_t>(0xC000000000000000U));
}

TEST_CASE("where takes from the first operand where the condition holds") {
  plx::array<bool, 2> condition{{true, false, true}, {false, false, true}};
  auto x = reference::array_of<double, 2>(reference::numbers({2, 3}, -1, 1));
  auto y = reference::array_of<double, 2>(reference::numbers({2, 3}, -1, 1, 0.3));
  auto chosen = plx::jit(choose)(condition, x, y);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) CHECK(chosen(i, j) == (condition(i, j) ? x(i, j) : y(i, j)));
  reference::check_batching<0, 0, 0>(choose, condition, x, y);
  reference::check_batching<1, -1, -1>(choose, condition, x, y);
  reference::check_batching<-1, 2, 0>(choose, condition, x, y);
  auto number = reference::array_of<double, 0>(reference::numbers({}, -1, 1));
  auto one_condition = plx::array<bool, 0>(true);
  reference::check_batching<0, -1, 0>(choose, one_condition, x, y);
  reference::check_batching<0, 0, -1>(choose, condition, number, y);
}

TEST_CASE("where passes the gradient to the operand taken") {
  constexpr auto positive_part = [](auto x, auto y) {
    return std::tuple(plx::where(x > 0.1, plx::sin(x) * y, y), plx::clip(x, -0.5, 0.5), plx::where(x > 0, x, 2 * x));
  };
  auto x = reference::array_of<double, 2>(reference::numbers({2, 3}, -1, 1));
  auto y = reference::array_of<double, 1>(reference::numbers({3}, -1, 1, 0.3));
  reference::check_gradient(positive_part, x, y);
  // an operand that is not taken may be NaN or infinite where the function itself is safe
  auto slope = plx::jit(plx::grad([](auto v) {
    auto safe = plx::where(v > 0, v, 1);
    return plx::sum(plx::where(v > 0, plx::log(safe), 0));
  }));
  CHECK(slope(plx::array<double, 1>{0, 2, -1}).to_vector() == std::vector<double>{0, 0.5, 0});
}

TEST_CASE("where and clip broadcast and promote") {
  auto mixed = plx::jit([](auto condition, auto row, auto column) {
    return std::tuple(plx::where(condition, row, column), plx::where(condition, row, 0.5), plx::clip(row, 2, 3),
                      plx::where(row, 1, 0));
  });
  auto [both, half, clipped, ones] = mixed(plx::array<bool, 1>{true, false, true}, plx::array<int, 1>{1, 2, 7},
                                           plx::array<float, plx::extents<2, 1>>{{10.5}, {20.5}});
  CHECK(both.to_vector() == std::vector<float>{1, 10.5f, 7, 1, 20.5f, 7});
  CHECK(half.to_vector() == std::vector<double>{1, 0.5, 7});
  CHECK(clipped.to_vector() == std::vector<int>{2, 2, 3});
  CHECK(ones.to_vector() == std::vector<int>{1, 1, 1});
}

} // namespace select_convert_test
