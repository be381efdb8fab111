// Which element type results have: promotion between arrays, weakly typed numbers, sums of truth values.
#include "ops/reference.hpp"

namespace promotion_test {

namespace {

namespace plx = parallax;

using u8 = std::uint8_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

/// JAX's table: bool, uint8, int32, uint32, int64, uint64, float32, float64.
template <class... T> struct types {};
template <class Left, class Right, class Result>
constexpr bool promotes =
    plx::promote(plx::element_type_of<Left>, plx::element_type_of<Right>) == plx::element_type_of<Result> &&
    plx::promote(plx::element_type_of<Right>, plx::element_type_of<Left>) == plx::element_type_of<Result>;
static_assert(promotes<bool, u8, u8> && promotes<bool, float, float> && promotes<bool, i32, i32>);
static_assert(promotes<u8, i32, i32> && promotes<u8, u32, u32> && promotes<u8, u64, u64> && promotes<u8, float, float>);
static_assert(promotes<i32, u32, i64> && promotes<i32, i64, i64> && promotes<i32, u64, double>);
static_assert(promotes<u32, i64, i64> && promotes<u32, u64, u64> && promotes<i64, u64, double>);
static_assert(promotes<i64, float, float> && promotes<u64, double, double> && promotes<float, double, double>);

template <class T> using vector = plx::array<T, 1>;
template <class T, class Array> constexpr bool holds = std::is_same_v<typename Array::value_type, T>;

} // namespace

TEST_CASE("arrays of two types meet at the common one") {
  auto add = plx::jit([](auto x, auto y) { return std::tuple(x + y, y * x, x < y); });
  auto [a, b, c] = add(vector<i32>{1, -2}, vector<float>{0.5f, 3});
  static_assert(holds<float, decltype(a)> && holds<float, decltype(b)> && holds<bool, decltype(c)>);
  CHECK(a.to_vector() == std::vector<float>{1.5f, 1});
  CHECK(b.to_vector() == std::vector<float>{0.5f, -6});
  CHECK(c.to_vector() == std::vector<bool>{false, true});
  auto [d, e, f] = add(vector<i32>{-1, 2}, vector<u32>{4000000000u, 1});
  static_assert(holds<i64, decltype(d)>);
  CHECK(d.to_vector() == std::vector<i64>{3999999999, 3});
  CHECK(e.to_vector() == std::vector<i64>{-4000000000, 2});
  CHECK(f.to_vector() == std::vector<bool>{true, false});
  auto [g, h, i] = add(vector<float>{0.1f}, vector<double>{0.1});
  static_assert(holds<double, decltype(g)>);
  CHECK(g(0) == static_cast<double>(0.1f) + 0.1);
  CHECK(h(0) == static_cast<double>(0.1f) * 0.1);
  CHECK_FALSE(i(0)); // 0.1f is larger than 0.1
  auto [m, n, o] = add(vector<i32>{-1, 3}, vector<u64>{9007199254740992u, 1});
  static_assert(holds<double, decltype(m)>);
  CHECK(m.to_vector() == std::vector<double>{9007199254740991., 4});
  CHECK(n.to_vector() == std::vector<double>{-9007199254740992., 3});
  CHECK(o.to_vector() == std::vector<bool>{true, false});
  auto [j, k, l] = add(vector<bool>{true, false}, vector<u8>{255, 3});
  static_assert(holds<u8, decltype(j)>);
  CHECK(j.to_vector() == std::vector<u8>{0, 3}); // wraps
  CHECK(k.to_vector() == std::vector<u8>{255, 0});
  CHECK(l.to_vector() == std::vector<bool>{true, true});
}

TEST_CASE("numbers in a traced function take the array's type") {
  auto mixed =
      plx::jit([](auto x) { return std::tuple(x + 1, 1 - x, 2.5 * x, x * 0.1f, x / 2, 1 / (x + 1), x > 0.5, x == 1); });
  auto [a, b, c, d, e, f, g, h] = mixed(vector<float>{0.1f, 1});
  static_assert(holds<float, decltype(a)> && holds<float, decltype(b)> && holds<float, decltype(c)> &&
                holds<float, decltype(d)> && holds<float, decltype(e)>);
  CHECK(c.to_vector() == std::vector<float>{2.5f * 0.1f, 2.5f});
  CHECK(b.to_vector() == std::vector<float>{1 - 0.1f, 0});
  CHECK(f(1) == 0.5f);
  CHECK(g.to_vector() == std::vector<bool>{false, true});
  CHECK(h.to_vector() == std::vector<bool>{false, true});
  auto [a2, b2, c2, d2, e2, f2, g2, h2] = mixed(vector<double>{0.1, 1});
  static_assert(holds<double, decltype(a2)> && holds<double, decltype(c2)> && holds<double, decltype(d2)>);
  CHECK(c2(0) == 2.5 * 0.1);
  CHECK(d2(1) == static_cast<double>(0.1f));
  CHECK(a2(0) == 1.1);
  CHECK(b2(0) == 0.9);
  CHECK(e2(0) == 0.05);
  CHECK(f2(1) == 0.5);
  CHECK_FALSE(g2(0));
  CHECK(h2(1));
  auto [a3, b3, c3, d3, e3, f3, g3, h3] = mixed(vector<i32>{3, -2});
  static_assert(holds<i32, decltype(a3)> && holds<i32, decltype(b3)> && holds<double, decltype(c3)> &&
                holds<float, decltype(d3)> && holds<float, decltype(e3)>);
  CHECK(a3.to_vector() == std::vector<i32>{4, -1});
  CHECK(b3.to_vector() == std::vector<i32>{-2, 3});
  CHECK(c3.to_vector() == std::vector<double>{7.5, -5});
  CHECK(d3(0) == 3 * 0.1f);
  CHECK(e3.to_vector() == std::vector<float>{1.5f, -1});
  CHECK(f3.to_vector() == std::vector<float>{0.25f, -1});
  CHECK(g3.to_vector() == std::vector<bool>{true, false});
  CHECK(h3.to_vector() == std::vector<bool>{false, false});
  auto [a4, b4, c4, d4, e4, f4, g4, h4] = mixed(vector<bool>{true, false});
  static_assert(holds<i32, decltype(a4)> && holds<i32, decltype(b4)> && holds<double, decltype(c4)>);
  CHECK(a4.to_vector() == std::vector<i32>{2, 1});
  CHECK(b4.to_vector() == std::vector<i32>{0, 1});
  CHECK(c4.to_vector() == std::vector<double>{2.5, 0});
  CHECK(d4.to_vector() == std::vector<float>{0.1f, 0});
  CHECK(e4.to_vector() == std::vector<float>{0.5f, 0});
  CHECK(f4.to_vector() == std::vector<float>{0.5f, 1});
  CHECK(g4.to_vector() == std::vector<bool>{true, false});
  CHECK(h4.to_vector() == std::vector<bool>{true, false});
}

TEST_CASE("numbers beside arrays outside a traced function take the array's type") {
  vector<i32> integers{3, -2};
  plx::array half = 0.5f * integers;
  static_assert(holds<float, decltype(half)>);
  CHECK(half.to_vector() == std::vector<float>{1.5f, -1});
  plx::array next = 1 - integers;
  static_assert(holds<i32, decltype(next)>);
  CHECK(next.to_vector() == std::vector<i32>{-2, 3});
  vector<float> singles{0.1f, 2};
  plx::array tenth = 0.1 * singles;
  static_assert(holds<float, decltype(tenth)>);
  CHECK(tenth(1) == 0.1f * 2);
  vector<double> doubles{0.1, 2};
  plx::array product = doubles * 0.1;
  static_assert(holds<double, decltype(product)>);
  CHECK(product(0) == 0.1 * 0.1);
  plx::array shifted = doubles + 1;
  CHECK(shifted(0) == 1.1);
  plx::array compared = singles >= 2;
  static_assert(holds<bool, decltype(compared)>);
  CHECK(compared.to_vector() == std::vector<bool>{false, true});
  plx::array counted = plx::sum(compared);
  static_assert(holds<i32, decltype(counted)>);
  CHECK(counted.item() == 1);
  plx::array sum = vector<bool>{true, false} + 1;
  static_assert(holds<i32, decltype(sum)>);
  CHECK(sum.to_vector() == std::vector<i32>{2, 1});
}

TEST_CASE("powers of integers are integers, in a traced function and outside") {
  vector<i32> x{3, -2, 0, 1, -1, 46341};
  auto squares = plx::jit([](auto v) { return plx::power(v, 2); })(x);
  plx::array eager = plx::power(x, 2);
  static_assert(holds<i32, decltype(squares)> && holds<i32, decltype(eager)>);
  CHECK(squares.to_vector() == std::vector<i32>{9, 4, 0, 1, 1, -2147479015}); // wraps
  CHECK(eager.to_vector() == squares.to_vector());
  plx::array large = plx::power(vector<i32>{2147483647, -2147483647 - 1}, -1);
  CHECK(large.to_vector() == std::vector<i32>{0, 0});
  plx::array by_array = plx::power(x, vector<i32>{5, 31, 0, -7, -7, -1});
  static_assert(holds<i32, decltype(by_array)>);
  CHECK(by_array.to_vector() == std::vector<i32>{243, -2147483647 - 1, 1, 1, -1, 0});
  plx::array negative = plx::power(x, -2);
  CHECK(negative.to_vector() == std::vector<i32>{0, 0, 0, 1, 1, 0});
  plx::array wide = plx::power(vector<i64>{10, -3}, vector<i32>{18, 39});
  static_assert(holds<i64, decltype(wide)>);
  CHECK(wide.to_vector() == std::vector<i64>{1000000000000000000, -4052555153018976267});
  plx::array bytes = plx::power(vector<u8>{3, 2}, vector<u8>{5, 8});
  static_assert(holds<u8, decltype(bytes)>);
  CHECK(bytes.to_vector() == std::vector<u8>{243, 0});
  plx::array truths = plx::power(vector<bool>{true, false}, 2);
  static_assert(holds<i32, decltype(truths)>);
  CHECK(truths.to_vector() == std::vector<i32>{1, 0});
  plx::array mixed = plx::power(vector<float>{0.5f, 3}, 2);
  static_assert(holds<float, decltype(mixed)>);
  CHECK(mixed(1) == Approx(9));
  plx::array rooted = plx::power(x, 0.5f);
  static_assert(holds<float, decltype(rooted)>);
}

TEST_CASE("large unsigned and 64-bit numbers keep their value") {
  auto large = plx::jit(
      [](auto x) { return std::tuple(x + std::uint64_t{1} * 9223372036854775808u, x * std::int64_t{4294967296}); });
  auto [sum, product] = large(vector<double>{1, 2});
  CHECK(sum(0) == 9223372036854775808.);
  CHECK(product(1) == 8589934592.);
  auto [wide, shifted] = large(vector<u64>{1, 2});
  static_assert(holds<u64, decltype(wide)>);
  CHECK(wide(0) == 9223372036854775809u);
  CHECK(shifted(1) == 8589934592u);
}

// A C++ number is of its own type where it meets whole numbers, and takes on the type of floats.

template <class T, class... Array> constexpr bool all_hold = (holds<T, Array> && ...);

TEST_CASE("a double that meets whole numbers makes float64 in every operation, and a float float32") {
  auto by = []<class Number>(Number, const auto& whole) {
    // Of each operation, the number before and behind the array.
    return plx::jit([](auto x, auto number) {
      return std::tuple(x + number, number - x, x * number, x / number, number / x, x % number, plx::power(x, number),
                        plx::power(number, x), plx::maximum(x, number), plx::minimum(number, x),
                        plx::where(x > 0, x, number), plx::clip(x, number, number + number),
                        plx::concatenate({plx::ravel(x), plx::broadcast_to(number, {2})}));
    })(whole, Number(0.1));
  };
  auto check = [&](const auto& whole) {
    std::apply([]<class... T>(const T&...) { static_assert(all_hold<double, T...>); }, by(double{}, whole));
    std::apply([]<class... T>(const T&...) { static_assert(all_hold<float, T...>); }, by(float{}, whole));
  };
  check(vector<i32>{3, -2});
  check(vector<u8>{3, 2});
  check(vector<i64>{3, -2});
  check(vector<u64>{3, 2});
  check(vector<bool>{true, false});
  auto [sum, difference, product, quotient, inverse, remainder, power, exponential, larger, smaller, chosen, clipped,
        joined] = by(double{}, vector<i32>{3, -2});
  CHECK(sum.to_vector() == std::vector{3.1, -1.9});
  CHECK(difference(0) == 0.1 - 3);
  CHECK(product(0) == 3 * 0.1);
  CHECK(quotient(0) == 3 / 0.1);
  CHECK(inverse(1) == 0.1 / -2);
  CHECK(remainder(0) == Approx(std::fmod(3, 0.1)).epsilon(1e-14));
  CHECK(power(0) == Approx(std::pow(3, 0.1)).epsilon(1e-15));
  CHECK(exponential(0) == Approx(std::pow(0.1, 3)).epsilon(1e-15));
  CHECK(larger.to_vector() == std::vector{3., 0.1});
  CHECK(smaller.to_vector() == std::vector{0.1, -2.});
  CHECK(chosen.to_vector() == std::vector{3., 0.1});
  CHECK(clipped.to_vector() == std::vector{0.2, 0.1});
  CHECK(joined.to_vector() == std::vector{3., -2., 0.1, 0.1});
}

TEST_CASE("literals are such numbers, in a traced function and outside, and so are numbers that meet extents") {
  auto literals = plx::jit([](auto x) { return std::pair(0.1 * x, x / 3.f); });
  auto [a, b] = literals(vector<i32>{7});
  static_assert(all_hold<double, decltype(a)> && all_hold<float, decltype(b)>);
  CHECK(a(0) == 0.1 * 7);
  CHECK(b(0) == 7 / 3.f);
  plx::array tenths = 0.1 * plx::arange(8);
  static_assert(all_hold<double, decltype(tenths)>);
  CHECK(tenths(7) == 0.1 * 7);
  auto spacing = plx::jit([](auto x, auto first, auto last) { return (last - first) / (x.shape(0) - 1); });
  plx::array step = spacing(vector<float>{1, 2, 3, 4}, 0., 1.);
  plx::array single = spacing(vector<float>{1, 2, 3, 4}, 0.f, 1.f);
  static_assert(all_hold<double, decltype(step)> && all_hold<float, decltype(single)>);
  CHECK(step.item() == 1. / 3);
}

TEST_CASE("beside floats numbers stay weak, of whatever type they are") {
  auto both = plx::jit([](auto x, auto number) { return std::tuple(x * number, number / x, plx::power(x, number)); });
  auto check = [&]<class T>(std::type_identity<T>) {
    auto same = []<class... A>(const A&...) { static_assert(all_hold<T, A...>); };
    std::apply(same, both(vector<T>{T(2)}, 0.5));
    std::apply(same, both(vector<T>{T(2)}, 0.5f));
    std::apply(same, both(vector<T>{T(2)}, 3));
  };
  check(std::type_identity<plx::float16>{});
  check(std::type_identity<plx::bfloat16>{});
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_CASE("a 64-bit number beside truth values keeps its value") {
  plx::array large = vector<bool>{true, false} * (i64{1} << 40);
  static_assert(all_hold<i64, decltype(large)>);
  CHECK(large.to_vector() == std::vector<i64>{i64{1} << 40, 0});
}

} // namespace promotion_test
