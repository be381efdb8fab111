// The array type: construction, sharing, indexing, and conversions.
#include <parallax/arrays/array.hpp>

#include "support/test.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace array_test {

namespace {

using namespace parallax;
using namespace parallax::detail;

template <std::size_t N> using shape_of = std::array<std::int64_t, N>;

// What the constraints refuse. A floating value is no integer, and static extents that differ never agree.
static_assert(std::is_constructible_v<detail::literal<float>, int>);
static_assert(!std::is_constructible_v<detail::literal<int>, double>);
static_assert(!std::is_constructible_v<detail::literal<bool>, int>);
static_assert(!std::is_convertible_v<array<float, extents<2>>, array<float, extents<3>>>);
static_assert(!std::is_convertible_v<array<float, 1>, array<float, 2>>);
static_assert(!std::is_convertible_v<array<float, 1>, array<double, 1>>);
static_assert(std::is_convertible_v<array<float, 2>, array<float, extents<dyn, 3>>>);
static_assert(!std::is_convertible_v<array<float, 0>, float> && std::is_constructible_v<float, array<float, 0>>);
static_assert(!std::is_constructible_v<float, array<float, 1>>);

} // namespace

TEST_CASE("an array is written out as nested lists") {
  const array<float, 2> a{{1, 2.5, 3}, {4, 5, 6}};
  CHECK(a.shape() == shape_of<2>{2, 3});
  CHECK(a.size() == 6);
  CHECK(a.to_vector() == std::vector<float>{1, 2.5, 3, 4, 5, 6});

  CHECK(array<int, 1>{1, 2, 3}.to_vector() == std::vector<int>{1, 2, 3});
  CHECK(array<int, 1>{7}.shape() == shape_of<1>{1});
  CHECK(array<float, 1>{{1, 2}}.shape() == shape_of<1>{2});
  CHECK(array<float, 2>{{1, 2}}.shape() == shape_of<2>{1, 2});
  CHECK(array<float, 2>{{1}, {2}}.shape() == shape_of<2>{2, 1});
  CHECK(array<float, 2>{{}, {}}.shape() == shape_of<2>{2, 0});
  CHECK(array<bool, 1>{true, false, true}.to_vector() == std::vector<bool>{true, false, true});

  const array<std::int64_t, 3> b{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}};
  CHECK(b.shape() == shape_of<3>{3, 2, 2});
  CHECK(b(2, 0, 1) == 10);

  const array<float, 0> scalar{3};
  CHECK(scalar.item() == 3.f);
  CHECK(static_cast<float>(scalar) == 3.f);
  CHECK(scalar() == 3.f);

  CHECK_THROWS_AS((array<float, 2>{{1, 2}, {3}}), shape_error);
  CHECK_THROWS_AS((array<float, 3>{{{1}, {2}}, {{3}, {4, 5}}}), shape_error);
}

TEST_CASE("literals of variables convert, or say that they do not fit") {
  const int n = 3;
  const double x = 0.1;
  CHECK(array<float, 1>{n, x}.to_vector() == std::vector<float>{3.f, 0.1f});
  const std::int64_t large = 256;
  CHECK_THROWS_WITH((array<std::uint8_t, 1>{large}), "array: the value 256 does not fit the type uint8");
  CHECK_THROWS_AS((array<std::uint32_t, 1>{-1}), error);
  CHECK(array<std::uint8_t, 1>{large - 1}(0) == 255);
}

TEST_CASE("class template arguments are deduced from lists") {
  array one{1.f, 2.f, 3.f};
  array two{{1, 2}, {3, 4}, {5, 6}};
  array three{{{1.0}}};
  array copy = two;
  static_assert(std::is_same_v<decltype(one), array<float, 1>>);
  static_assert(std::is_same_v<decltype(two), array<int, 2>>);
  static_assert(std::is_same_v<decltype(three), array<double, 3>>);
  static_assert(std::is_same_v<decltype(copy), array<int, 2>>);
  CHECK(two.shape() == shape_of<2>{3, 2});
}

TEST_CASE("an array starts as zeros, with its static extents") {
  CHECK(array<float, 0>().item() == 0.f);
  CHECK(array<float, 2>().shape() == shape_of<2>{0, 0});
  CHECK(array<float, extents<dyn, 784>>().shape() == shape_of<2>{0, 784});
  const array<int, extents<2, 2>> a;
  CHECK(a.to_vector() == std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("an array is made from a shape and values") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const array<float, 2> a({3, 2}, values);
  CHECK(a(2, 1) == 6.f);
  CHECK(a(1, 0) == 3.f);
  CHECK_THROWS_WITH((array<float, 2>({2, 2}, values)), "array: 6 values for the shape (2, 2)");
  CHECK_THROWS_AS((array<float, 2>({-2, -3}, values)), shape_error);

  const auto filled = array<float, 2>::filled({2, 2}, 7);
  CHECK(filled.to_vector() == std::vector<float>{7, 7, 7, 7});
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK_THROWS_AS((array<float, 2>::filled({huge, huge}, 0)), shape_error);
  const array<double, 1> zeros({20}, 0.);
  CHECK(zeros.to_vector() == std::vector<double>(20, 0.));
  const std::int64_t rows = 2;
  CHECK(array<float, 2>({rows, 3}, 7).to_vector() == std::vector<float>(6, 7.f));
  CHECK(array<std::int32_t, extents<dyn, 2>>({3, 2}, -1)(2, 1) == -1);
  CHECK_THROWS_AS((array<std::int32_t, extents<dyn, 2>>({3, 3}, 1)), shape_error);
  CHECK(array<double, 1>{20, 0.}.to_vector() == std::vector<double>{20, 0}); // a list, as of a std::vector
  CHECK(array<double, 1>({3}, std::vector<double>{1, 2, 3})(2) == 3);
  static_assert(!std::is_constructible_v<array<std::int32_t, 1>, std::array<std::int64_t, 1>, double>);
  CHECK(array<float, 3>::filled({huge, huge, 0}, 0).size() == 0);
}

TEST_CASE("extents are static or dynamic") {
  const array<float, 2> dynamic{{1, 2, 3}, {4, 5, 6}};
  const array<float, extents<dyn, 3>> partly = dynamic;
  const array<float, extents<2, 3>> fixed = partly;
  const array<float, 2> back = fixed;
  CHECK(back.data() == dynamic.data());
  CHECK(array_equal(dynamic, fixed));
  CHECK_THROWS_WITH((array<float, extents<dyn, 4>>(dynamic)),
                    "array: the shape (2, 3) contradicts the static extents (dyn, 4)");
  CHECK_THROWS_WITH((array<float, extents<2>>{1, 2, 3}), "array: the shape (3,) contradicts the static extents (2,)");
}

TEST_CASE("shape(axis) counts from either end") {
  const auto a = array<float, 3>::filled({2, 3, 4}, 0);
  CHECK(a.shape(0) == 2);
  CHECK(a.shape(2) == 4);
  CHECK(a.shape(-1) == 4);
  CHECK(a.shape(-3) == 2);
  CHECK_THROWS_AS(a.shape(3), shape_error);
  CHECK_THROWS_AS(a.shape(-4), shape_error);
}

TEST_CASE("indices count from either end and are checked") {
  const array<int, 2> a{{1, 2, 3}, {4, 5, 6}};
  CHECK(a(0, 0) == 1);
  CHECK(a(1, 2) == 6);
  CHECK(a(-1, -3) == 4);
  CHECK(a(-2, -1) == 3);
  CHECK_THROWS_WITH(a(2, 0), "index 2 is out of bounds for axis 0 with size 2");
  CHECK_THROWS_WITH(a(0, -4), "index -4 is out of bounds for axis 1 with size 3");
  CHECK_THROWS_AS((array<int, 1>{}(0)), shape_error);
}

TEST_CASE("an array of a vector has copies of its elements") {
  std::vector<float> values{1, 2, 3};
  const array x(values);
  static_assert(std::same_as<decltype(x), const array<float, 1>>);
  values[0] = 5;
  CHECK(array_equal(x, array<float, 1>{1, 2, 3}));
  CHECK(array_equal(array<bool, 1>(std::vector<bool>{true, false}), array<bool, 1>{true, false}));
  CHECK(array(std::vector<double>()).shape() == std::array<std::int64_t, 1>{0});
  CHECK_THROWS_WITH((array<float, extents<2>>(values)), "array: the shape (3,) contradicts the static extents (2,)");
}

TEST_CASE("item is the element of an array that has only one") {
  CHECK(array<int, 2>{{42}}.item() == 42);
  CHECK_THROWS_WITH((array<int, 1>{1, 2}.item()), "item: the array of shape (2,) does not have exactly one element");
}

TEST_CASE("copies share their elements until one is changed") {
  array<float, 1> a{1, 2, 3};
  array<float, 1> b = a;
  CHECK(a.data() == b.data());
  CHECK_FALSE(a.storage().unique());

  b.mutable_data()[0] = 9;
  CHECK(a(0) == 1.f);
  CHECK(b.to_vector() == std::vector<float>{9, 2, 3});

  const float* before = a.data();
  CHECK(a.storage().unique());
  a.mutable_data()[1] = 5;
  CHECK(a.data() == before);
  CHECK(a.to_vector() == std::vector<float>{1, 5, 3});

  array<float, 1> c = std::move(a);
  CHECK(c.data() == before);
  a = c;
  CHECK(a.data() == before);
}

TEST_CASE("an array that was moved from says so where its elements are read, and can be assigned to") {
  array<float, 2> a{{1, 2, 3}, {4, 5, 6}};
  const array<float, 2> b = std::move(a);
  const char* said = "array: it was moved from, so that it has no elements";
  CHECK_THROWS_WITH(a(1, 2), said);
  CHECK_THROWS_WITH(a.data(), said);
  CHECK_THROWS_WITH(a.mutable_data(), said);
  CHECK_THROWS_WITH(a.storage(), said);
  CHECK_THROWS_WITH(a.values(), said);
  CHECK_THROWS_WITH(a.to_vector(), said);
  CHECK_THROWS_WITH(array_equal(a, b), said);
  CHECK_THROWS_AS((array<float, extents<2, 3>>(a)), error);
  a = b;
  CHECK(a(1, 2) == 6.f);

  array<float, 1> one{3};
  const array<float, 1> other = std::move(one);
  CHECK_THROWS_WITH(one.item(), said);

  array<float, 0> in_place{3}; // which has nothing to lose
  const array<float, 0> copy = std::move(in_place);
  CHECK(copy.item() == 3.f);
  CHECK(static_cast<float>(in_place) == 3.f);

  array<float, 2> empty = array<float, 2>::filled({0, 3}, 0);
  const array<float, 2> also_none = std::move(empty);
  CHECK(empty.to_vector().empty());
  CHECK(also_none.to_vector().empty());
}

TEST_CASE("adopt takes a buffer over") {
  buffer memory = buffer::allocate(6 * sizeof(std::int32_t));
  auto* ints = reinterpret_cast<std::int32_t*>(memory.data());
  for (int i = 0; i < 6; ++i) ints[i] = i;
  const auto a = array<std::int32_t, 2>::adopt(memory, {2, 3});
  CHECK(a.data() == ints);
  CHECK(a(1, 1) == 4);
  CHECK_THROWS_AS((array<std::int32_t, 2>::adopt(memory, {3, 3})), shape_error);
  CHECK_THROWS_AS((array<std::int32_t, extents<2, 2>>::adopt(memory, {2, 3})), shape_error);
}

TEST_CASE("array_equal compares shapes and elements") {
  const array<float, 1> a{1, 2};
  CHECK(array_equal(a, array<float, 1>{1, 2}));
  CHECK_FALSE(array_equal(a, array<float, 1>{1, 3}));
  CHECK_FALSE(array_equal(a, array<float, 1>{1, 2, 3}));
  CHECK_FALSE(array_equal(a, array<float, 2>{{1, 2}}));
  CHECK_FALSE(array_equal(array<float, 2>{{1, 2}}, array<float, 2>{{1}, {2}}));
  const array<float, 0> nan{std::numeric_limits<float>::quiet_NaN()};
  CHECK_FALSE(array_equal(nan, nan));
}

} // namespace array_test
