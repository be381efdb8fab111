// Symbolic extents: equal polynomials are the same number.
#include "test.hpp"

#include <parallax/core/context.hpp>

using parallax::dim, parallax::dim_table;

namespace {

// numbers stay numbers
static_assert([] {
  dim_table t;
  return t.add(2, 3) == 5 && t.subtract(7, 3) == 4 && t.multiply(4, 6) == 24 && t.divide(7, 2) == 3 &&
         t.divide(7, 0) == 0 && t.entries.empty();
}());

// a symbol is found again by its argument and axis
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 1);
  return !parallax::is_static(a) && t.symbol(0, 1) == a && t.symbol(0, 0) != a && t.symbol(1, 1) != a;
}());

// sums and products do not depend on the order in which they are built
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1), c = t.symbol(1, 0);
  return t.add(a, b) == t.add(b, a) && t.add(t.add(a, b), c) == t.add(a, t.add(c, b)) &&
         t.multiply(a, b) == t.multiply(b, a) && t.multiply(t.multiply(a, b), c) == t.multiply(b, t.multiply(c, a)) &&
         t.add(a, a) == t.multiply(2, a) && t.add(a, 0) == a && t.multiply(a, 1) == a && t.multiply(a, 0) == 0;
}());

// products distribute over sums
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  dim square = t.multiply(t.add(a, b), t.add(a, b));
  dim terms = t.add(t.add(t.multiply(a, a), t.multiply(b, b)), t.multiply(2, t.multiply(a, b)));
  return square == terms;
}());

// what cancels is gone, and what is left of a sum may be a number
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  return t.subtract(a, a) == 0 && t.subtract(t.add(a, b), b) == a && t.subtract(t.add(a, 3), a) == 3;
}());

// division is exact where every term is divided
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  dim both = t.add(t.multiply(4, t.multiply(a, b)), t.multiply(6, a));
  return t.divide(t.multiply(a, b), b) == a && t.divide(a, a) == 1 && t.divide(a, 1) == a && t.divide(0, a) == 0 &&
         t.divide(both, t.multiply(2, a)) == t.add(t.multiply(2, b), 3);
}());

// other quotients are atoms, and the same quotient is the same atom
static_assert([] {
  dim_table t;
  dim a = t.symbol(0, 0), b = t.symbol(0, 1);
  dim half = t.divide(a, 2);
  return half == t.divide(a, 2) && half != t.divide(a, 3) && t.divide(a, b) != t.divide(b, a) &&
         t.multiply(2, half) != a && t.atoms.back().quotient;
}());

constexpr bool prints(dim (*make)(dim_table&), std::string_view expected) {
  dim_table t;
  dim d = make(t);
  parallax::message out;
  parallax::print_extent(out, t, d);
  return out.view() == expected;
}
static_assert(prints([](dim_table&) -> dim { return 12; }, "12"));
static_assert(prints([](dim_table& t) { return t.symbol(1, 0); }, "n1_0"));
static_assert(prints([](dim_table& t) { return t.add(t.multiply(2, t.symbol(0, 0)), 3); }, "2*n0_0+3"));
static_assert(prints([](dim_table& t) { return t.multiply(t.symbol(0, 0), t.symbol(0, 1)); }, "n0_0*n0_1"));
static_assert(prints([](dim_table& t) { return t.subtract(t.symbol(0, 0), 1); }, "n0_0-1"));
static_assert(prints([](dim_table& t) { return t.divide(t.symbol(0, 0), 2); }, "(n0_0)/(2)"));

} // namespace

TEST_CASE("one table serves many symbols", "[core]") {
  dim_table t;
  dim product = 1, sum = 0;
  for (int i = 0; i < 8; ++i) product = t.multiply(product, t.symbol(i, 0)), sum = t.add(sum, t.symbol(i, 0));
  dim backwards = 1, backwards_sum = 0;
  for (int i = 8; i-- > 0;)
    backwards = t.multiply(backwards, t.symbol(i, 0)), backwards_sum = t.add(backwards_sum, t.symbol(i, 0));
  CHECK(product == backwards);
  CHECK(sum == backwards_sum);
  CHECK(t.product({2, product, 3}) == t.multiply(6, product));
  const dim square = t.multiply(product, product);
  CHECK(square == t.multiply(backwards, product));
  CHECK(t.divide(square, product) == product);
}
