// Symbolic extents: equal polynomials are the same number.
#include "support/test.hpp"

#include <parallax/core/trace/context.hpp>

namespace dims_test {

using parallax::detail::dim, parallax::detail::dim_table;

namespace {

// numbers stay numbers
static_assert([] {
  dim_table t;
  return t.add(dim{2}, dim{3}) == 5 && t.subtract(dim{7}, dim{3}) == 4 && t.multiply(dim{4}, dim{6}) == 24 &&
         t.divide(dim{7}, dim{2}) == 3 && t.divide(dim{7}, dim{0}) == 0 && t.entries.empty();
}());

// a symbol is found again by its argument and axis
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 1);
  return !parallax::detail::is_static(a) && t.symbol(0, 1) == a && t.symbol(0, 0) != a && t.symbol(1, 1) != a;
}());

// sums and products do not depend on the order in which they are built
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1), c = t.symbol(1, 0);
  return t.add(a, b) == t.add(b, a) && t.add(t.add(a, b), c) == t.add(a, t.add(c, b)) &&
         t.multiply(a, b) == t.multiply(b, a) && t.multiply(t.multiply(a, b), c) == t.multiply(b, t.multiply(c, a)) &&
         t.add(a, a) == t.multiply(dim{2}, a) && t.add(a, dim{0}) == a && t.multiply(a, dim{1}) == a &&
         t.multiply(a, dim{0}) == 0;
}());

// products distribute over sums
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  dim square = t.multiply(t.add(a, b), t.add(a, b));
  dim terms = t.add(t.add(t.multiply(a, a), t.multiply(b, b)), t.multiply(dim{2}, t.multiply(a, b)));
  return square == terms;
}());

// what cancels is gone, and what is left of a sum may be a number
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  return t.subtract(a, a) == 0 && t.subtract(t.add(a, b), b) == a && t.subtract(t.add(a, dim{3}), a) == 3;
}());

// division is exact where every term is divided
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  dim both = t.add(t.multiply(dim{4}, t.multiply(a, b)), t.multiply(dim{6}, a));
  return t.divide(t.multiply(a, b), b) == a && t.divide(a, a) == 1 && t.divide(a, dim{1}) == a &&
         t.divide(dim{0}, a) == 0 && t.divide(both, t.multiply(dim{2}, a)) == t.add(t.multiply(dim{2}, b), dim{3});
}());

// other quotients are atoms, and the same quotient is the same atom
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  dim half = t.divide(a, dim{2});
  return half == t.divide(a, dim{2}) && half != t.divide(a, dim{3}) && t.divide(a, b) != t.divide(b, a) &&
         t.multiply(dim{2}, half) != a && t.atoms.back().kind == parallax::detail::dim_atom_kind::quotient;
}());

// what has no result is said, and goes on with a placeholder
using parallax::detail::dim_failure;
static_assert([] {
  dim_table t;
  dim below = t.subtract(dim{3}, dim{5});
  return below == 0 && parallax::detail::is_static(below) && t.failure == dim_failure::negative;
}());
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0);
  return t.subtract(t.subtract(a, dim{5}), a) == 0 && t.failure == dim_failure::negative;
}());
static_assert([] {
  dim_table t;
  const dim large{std::int64_t{1} << 40};
  return t.multiply(dim{1 << 22}, large) == (std::int64_t{1} << 62) && t.failure == dim_failure::none &&
         t.multiply(large, large) == 0 && t.failure == dim_failure::too_large;
}());
static_assert([] {
  dim_table t;
  static_cast<void>(t.add(dim{INT64_MAX}, dim{1}));
  return t.failure == dim_failure::too_large;
}());

// the smaller one of two extents, which may be known to the call only
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0);
  return t.smaller(dim{3}, dim{5}) == 3 && t.smaller(a, a) == a && t.smaller(dim{0}, a) == 0 &&
         t.smaller(a, dim{5}) == t.smaller(a, dim{5}) && t.smaller(a, dim{5}) != t.smaller(a, dim{6});
}());

// which extents a call may make negative
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), given = t.given(1, 0);
  return !t.may_be_negative(a) && !t.may_be_negative(t.multiply(a, t.add(a, dim{2}))) &&
         t.may_be_negative(t.subtract(a, dim{1})) && t.may_be_negative(given) &&
         t.may_be_negative(t.divide(given, dim{2})) && !t.may_be_negative(dim{0});
}());

constexpr bool prints(dim (*make)(dim_table&), std::string_view expected) {
  dim_table t;
  dim d = make(t);
  parallax::detail::message out;
  parallax::detail::print_extent(out, t, d);
  return out.view() == expected;
}
static_assert(prints([](dim_table&) { return dim{12}; }, "12"));
static_assert(prints([](dim_table& t) { return t.symbol(1, 0); }, "n1_0"));
static_assert(prints([](dim_table& t) { return t.add(t.multiply(dim{2}, t.symbol(0, 0)), dim{3}); }, "2*n0_0+3"));
static_assert(prints([](dim_table& t) { return t.multiply(t.symbol(0, 0), t.symbol(0, 1)); }, "n0_0*n0_1"));
static_assert(prints([](dim_table& t) { return t.subtract(t.symbol(0, 0), dim{1}); }, "n0_0-1"));
static_assert(prints([](dim_table& t) { return t.divide(t.symbol(0, 0), dim{2}); }, "(n0_0)/(2)"));
static_assert(prints([](dim_table& t) { return t.smaller(t.symbol(0, 0), dim{2}); }, "min(n0_0,2)"));

} // namespace

TEST_CASE("one table serves many symbols", "[core]") {
  dim_table t;
  dim product{1}, sum;
  for (int i = 0; i < 8; ++i) product = t.multiply(product, t.symbol(i, 0)), sum = t.add(sum, t.symbol(i, 0));
  dim backwards{1}, backwards_sum;
  for (int i = 8; i-- > 0;)
    backwards = t.multiply(backwards, t.symbol(i, 0)), backwards_sum = t.add(backwards_sum, t.symbol(i, 0));
  CHECK(product == backwards);
  CHECK(sum == backwards_sum);
  CHECK(t.product({dim{2}, product, dim{3}}) == t.multiply(dim{6}, product));
  const dim square = t.multiply(product, product);
  CHECK(square == t.multiply(backwards, product));
  CHECK(t.divide(square, product) == product);
}

} // namespace dims_test
