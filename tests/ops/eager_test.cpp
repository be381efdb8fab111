// Expressions of arrays outside traced functions: computed on assignment, reused through auto, with reductions and
// products.
#include "ops/reference.hpp"

namespace eager_test {

namespace {

namespace plx = parallax;
using plx::axis, plx::keepdims;

const plx::array<float, 2> a{{1, 2, 3}, {4, 5, 6}};
const plx::array<float, 2> b{{0.5, -1, 2}, {1, 0, -2}};

} // namespace

TEST_CASE("an expression is computed when it is assigned") {
  plx::array<float, 2> z = a + 2.f * plx::tanh(b);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) CHECK(z(i, j) == Approx(a(i, j) + 2 * std::tanh(b(i, j))));
  plx::array<float, 2> w;
  w = -a * b - 1;
  CHECK(w(1, 2) == 11);
  w = w + w; // reads what it writes
  CHECK(w(1, 2) == 22);
}

TEST_CASE("an array and a traced value take on what an operator with = computes") {
  plx::array<float, 2> w = a;
  w += b;
  w *= 2;
  w -= a / 2;
  w /= b * b + 1;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      CHECK(w(i, j) == Approx((2 * (a(i, j) + b(i, j)) - a(i, j) / 2) / (b(i, j) * b(i, j) + 1)));
  constexpr auto power = [](auto x, auto y) {
    auto result = x;
    for (int i = 0; i < 3; ++i) result *= x; // of another shape in the end
    result += y;
    result -= 1;
    result /= 2;
    return result;
  };
  plx::array<float, 2> z = plx::jit(power)(plx::array<int, 1>{1, 2, -3}, a);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) CHECK(z(i, j) == (std::pow(j == 2 ? -3 : j + 1, 4) + a(i, j) - 1) / 2);
}

TEST_CASE("an expression held by auto may be part of several others") {
  auto common = plx::exp(a) * b;
  plx::array first = common + 1;
  plx::array second = common * common - common;
  plx::array total = plx::sum(common);
  double expected = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      double value = std::exp(a(i, j)) * b(i, j);
      expected += value;
      CHECK(first(i, j) == Approx(value + 1));
      CHECK(second(i, j) == Approx(value * value - value).margin(1e-4));
    }
  CHECK(total.item() == Approx(expected));
}

TEST_CASE("an expression keeps its operands alive") {
  auto make = [] {
    plx::array<float, 1> local{1, 2, 3};
    return local * 2 + local;
  };
  auto expression = make();
  plx::array<float, 1> value = expression;
  CHECK(value.to_vector() == std::vector<float>{3, 6, 9});
}

TEST_CASE("an expression has the values its operands had") {
  plx::array<float, 1> x{1, 2};
  auto doubled = 2 * x;
  x = plx::array<float, 1>{10, 20};
  plx::array<float, 1> value = doubled;
  CHECK(value.to_vector() == std::vector<float>{2, 4});
}

TEST_CASE("reductions over axes named by axis<...>") {
  plx::array columns = plx::sum(a, axis<0>);
  plx::array rows = plx::sum(a * b, axis<-1>, keepdims);
  plx::array all = plx::max(a, axis<0, 1>);
  plx::array centered = a - plx::mean(a, axis<1>, keepdims);
  CHECK(columns.to_vector() == std::vector<float>{5, 7, 9});
  CHECK(rows.shape() == std::array<std::int64_t, 2>{2, 1});
  CHECK(rows.to_vector() == std::vector<float>{4.5f, -8});
  CHECK(all.item() == 6);
  CHECK(centered.to_vector() == std::vector<float>{-1, 0, 1, -1, 0, 1});
  plx::array kept = plx::min(a, keepdims);
  CHECK(kept.shape() == std::array<std::int64_t, 2>{1, 1});
  plx::array where_largest = plx::argmax(b, axis<1>);
  CHECK(where_largest.to_vector() == std::vector<int>{2, 0});
  plx::array shares = plx::softmax(a);
  CHECK(shares(0, 2) == Approx(std::exp(3.) / (std::exp(1.) + std::exp(2.) + std::exp(3.))));
}

TEST_CASE("products, shapes and choices of arrays") {
  plx::array product = plx::dot(a, plx::transpose(b));
  CHECK(product.to_vector() == std::vector<float>{4.5f, -5, 9, -8});
  plx::array matrix = plx::matmul(plx::transpose(a), b + 0);
  CHECK(matrix(0, 0) == 4.5f);
  plx::array inner = plx::vdot(a, b);
  CHECK(inner.item() == -3.5f);
  plx::array same = plx::transpose(a, axis<1, 0>) * 1;
  CHECK(same(2, 1) == 6);
  plx::array both = plx::concatenate(a, 2 * b, axis<1>);
  CHECK(both.to_vector() == std::vector<float>{1, 2, 3, 1, -2, 4, 4, 5, 6, 2, 0, -4});
  plx::array reshaped = plx::reshape(a, {3, -1});
  CHECK(reshaped(2, 0) == 5);
  plx::array chosen = plx::where(a > b * 3, a, 0);
  CHECK(chosen.to_vector() == std::vector<float>{0, 2, 0, 4, 5, 6});
  plx::array bounded = plx::clip(a, 2, 5);
  CHECK(bounded.to_vector() == std::vector<float>{2, 2, 3, 4, 5, 5});
  plx::array converted = plx::astype<int>(b * 2);
  static_assert(std::is_same_v<decltype(converted)::value_type, int>);
  CHECK(converted.to_vector() == std::vector<int>{1, -2, 4, 2, 0, -4});
  plx::array repeated = plx::broadcast_to(a, {2, 2, 3}) - a;
  CHECK(repeated.to_vector() == std::vector<float>(12, 0.f));
}

TEST_CASE("a number as an operand may change between evaluations") {
  for (float scale : {1.f, 2.5f, -3.f}) {
    plx::array<float, 2> scaled = scale * a;
    CHECK(scaled(1, 2) == 6 * scale);
  }
  for (int exponent : {0, 2, 3}) {
    plx::array<float, 2> powers = plx::power(a, exponent);
    CHECK(powers(1, 0) == Approx(std::pow(4., exponent)));
  }
}

TEST_CASE("operands of different extents at the call are an error") {
  const plx::array<float, 2> c{{1, 2}};
  CHECK_THROWS_AS((plx::array<float, 2>(a + c)), plx::shape_error);
  CHECK_THROWS_AS((plx::array<float, 2>(plx::dot(a, b))), plx::shape_error);
}

TEST_CASE("arithmetic reads transposed, sliced and repeated operands in their order") {
  for (std::int64_t n : {1, 15, 16, 17, 100}) {
    auto x = reference::array_of<float, 2>(reference::numbers({n, n + 1}, -1, 1));
    auto y = reference::array_of<float, 2>(reference::numbers({n + 1, n}, -1, 1, 0.3));
    auto [sum, sliced, row] = plx::jit([](auto u, auto v) {
      return std::tuple(plx::transpose(u) + v,
                        plx::slice_in_dim(u, plx::none, plx::none, 2, 1) *
                            plx::slice_in_dim(u, plx::none, plx::none, 2, 1),
                        v - plx::index_in_dim(plx::transpose(u), -1));
    })(x, y);
    INFO("size " << n);
    reference::compare(
        sum, reference::tabulate({n + 1, n}, [&](const auto& at) { return x(at[1], at[0]) + y(at[0], at[1]); }));
    reference::compare(sliced, reference::tabulate({n, (n + 2) / 2}, [&](const auto& at) {
                         return x(at[0], 2 * at[1]) * x(at[0], 2 * at[1]);
                       }));
    reference::compare(row,
                       reference::tabulate({n + 1, n}, [&](const auto& at) { return y(at[0], at[1]) - x(at[1], n); }));
  }
}

TEST_CASE("arrays are stacked, and their axes moved, along axes that their types name") {
  const plx::array<float, 1> u{1, 2}, v{3, 4};
  CHECK(array_equal(plx::array(plx::stack(u, v)), plx::array<float, 2>{{1, 2}, {3, 4}}));
  CHECK(array_equal(plx::array(plx::stack(u, v, 2 * v, axis<1>)), plx::array<float, 2>{{1, 3, 6}, {2, 4, 8}}));
  CHECK(array_equal(plx::array(plx::jit([](auto x) { return plx::stack(x, 2 * x, axis<-1>); })(u)),
                    plx::array<float, 2>{{1, 2}, {2, 4}}));
  const plx::array<float, 3> x{{{1, 2, 3}, {4, 5, 6}}};
  const plx::array moved = plx::moveaxis(x, axis<2>, axis<0>);
  CHECK(moved.shape() == std::array<std::int64_t, 3>{3, 1, 2});
  CHECK(moved.to_vector() == std::vector<float>{1, 4, 2, 5, 3, 6});
  const plx::array same = plx::jit([](auto y) { return plx::moveaxis(y, std::int64_t{2}, std::size_t{0}); })(x);
  CHECK(array_equal(same, moved));
}

} // namespace eager_test
