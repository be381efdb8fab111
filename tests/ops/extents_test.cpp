// Arrays whose extents are static, dynamic or 0, and those of rank 0: one function, the same values.
#include "ops/reference.hpp"

namespace extents_test {

namespace {

namespace plx = parallax;
using plx::dyn, plx::extents, plx::none;
using reference::coordinates;
using reference::table;

/// A little of everything: elementwise, broadcast, reductions, products, shape changes.
constexpr auto mixed = [](auto x, auto y) {
  auto z = plx::tanh(x) * y + 1;
  auto centered = z - plx::mean(z, 1, plx::keepdims);
  auto product = plx::dot(plx::transpose(z), centered);
  return std::tuple(centered, product, plx::sum(product, 0), plx::softmax(z), plx::max(z * y),
                    plx::concatenate({z, x}, 1), plx::reshape(z, {-1}), plx::transpose(x) / 2);
};

template <class Array> Array left(std::int64_t rows, std::int64_t columns) {
  return reference::array_of<Array>(reference::numbers({rows, columns}, -1, 1));
}
template <class Array> Array right(std::int64_t rows, std::int64_t columns) {
  return reference::array_of<Array>(reference::numbers({rows, columns}, -1, 1, 0.4));
}

void same(const std::vector<table>& actual, const std::vector<table>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    INFO("result " << k);
    compare(actual[k], expected[k], 1e-14, 1e-15);
  }
}

} // namespace

TEST_CASE("static and dynamic extents give the same values and gradients") {
  using all_dynamic = plx::array<double, 2>;
  using rows_fixed = plx::array<double, extents<3, dyn>>;
  using columns_fixed = plx::array<double, extents<dyn, 4>>;
  using all_fixed = plx::array<double, extents<3, 4>>;
  auto expected = reference::tables_of(plx::jit(mixed)(left<all_dynamic>(3, 4), right<all_dynamic>(3, 4)));
  same(reference::tables_of(plx::jit(mixed)(left<rows_fixed>(3, 4), right<columns_fixed>(3, 4))), expected);
  same(reference::tables_of(plx::jit(mixed)(left<all_fixed>(3, 4), right<all_dynamic>(3, 4))), expected);
  reference::check_gradient(mixed, left<rows_fixed>(3, 4), right<columns_fixed>(3, 4));
  // a loop over an axis of known extent
  constexpr auto sum_of_rows = [](auto x) {
    auto sum = plx::index_in_dim(x, 0);
    for (int i = 1; i < x.shape(0); ++i) sum += plx::index_in_dim(x, i);
    return x.shape(0) >= 3 ? sum : x;
  };
  same(reference::tables_of(plx::jit(sum_of_rows)(left<all_fixed>(3, 4))),
       reference::tables_of(plx::jit([](auto x) { return plx::sum(x, 0); })(left<all_dynamic>(3, 4))));
  // known extents meet unknown ones: the result knows both
  auto both = plx::jit([](auto x, auto y) { return x + y; })(left<rows_fixed>(3, 4), right<columns_fixed>(3, 4));
  static_assert(std::is_same_v<decltype(both), plx::array<double, extents<3, 4>>>);
}

TEST_CASE("a dynamic program takes every size") {
  using matrix = plx::array<double, 2>;
  for (auto [rows, columns] : {std::pair{1, 1}, {1, 16}, {17, 1}, {16, 15}, {40, 33}}) {
    auto x = left<matrix>(rows, columns), y = right<matrix>(rows, columns);
    std::vector<table> actual = reference::tables_of(plx::jit(mixed)(x, y));
    table z = reference::table_of(x), b = reference::table_of(y);
    for (std::size_t i = 0; i < z.values.size(); ++i) z.values[i] = std::tanh(z.values[i]) * b.values[i] + 1;
    INFO(rows << " x " << columns);
    reference::compare(actual[6], table{{rows * columns}, z.values}, 1e-14, 1e-15);
    table centered = reference::tabulate(z.shape, [&](const coordinates& at) {
      double mean = 0;
      for (std::int64_t j = 0; j < columns; ++j) mean += z[{at[0], j}] / columns;
      return z[at] - mean;
    });
    reference::compare(actual[0], centered, 1e-13, 1e-14);
    auto product = [&](const coordinates& at) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += z[{i, at[0]}] * centered[{i, at[1]}];
      return sum;
    };
    reference::compare(actual[1], reference::tabulate({columns, columns}, product), 1e-12, 1e-13);
  }
}

TEST_CASE("extents may be products of many others") {
  const auto all_pairs = plx::jit([](auto x) {
    const auto elements = plx::reshape(x, {-1}); // five extents, so that the pairs are a product of ten
    return plx::reshape(plx::outer(elements, elements), {-1});
  });
  std::vector<double> values(2 * 1 * 3 * 2 * 1), expected;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 + static_cast<double>(i);
  for (double x : values)
    for (double y : values) expected.push_back(x * y);
  CHECK(all_pairs(plx::array<double, 5>({2, 1, 3, 2, 1}, values)).to_vector() == expected);
}

TEST_CASE("extents that disagree at the call are an error") {
  auto add = plx::jit([](auto x, auto y) { return x + y; });
  using matrix = plx::array<double, 2>;
  CHECK_THROWS_AS(add(left<matrix>(3, 4), left<matrix>(3, 5)), plx::shape_error);
  CHECK_THROWS_AS(add(left<plx::array<double, extents<3, dyn>>>(3, 4), left<matrix>(2, 4)), plx::shape_error);
  auto stack = plx::jit([](auto x, auto y) { return plx::concatenate({x, y}, 1); });
  CHECK_THROWS_AS(stack(left<matrix>(3, 4), left<matrix>(2, 4)), plx::shape_error);
  auto halves = plx::jit([](auto x) { return plx::reshape(x, {2, -1}); });
  CHECK(halves(left<matrix>(3, 4)).shape() == std::array<std::int64_t, 2>{2, 6});
  CHECK_THROWS_AS(halves(left<matrix>(3, 3)), plx::shape_error);
  auto last_five = plx::jit([](auto x) { return plx::slice_in_dim(x, -5, none); });
  CHECK(last_five(left<matrix>(7, 1)).shape() == std::array<std::int64_t, 2>{5, 1});
  CHECK_THROWS_AS(last_five(left<matrix>(3, 1)), plx::shape_error);
  auto third = plx::jit([](auto x) { return plx::index_in_dim(x, 2); });
  CHECK(third(left<matrix>(3, 1)).shape() == std::array<std::int64_t, 1>{1});
  CHECK_THROWS_AS(third(left<matrix>(2, 1)), plx::shape_error);
  auto spread = plx::jit([](auto x) { return plx::pad(x, 0, {{1, 1, 2}, {0, 0, 0}}); });
  CHECK(spread(left<matrix>(3, 1)).shape() == std::array<std::int64_t, 2>{9, 1});
  CHECK_THROWS_AS(spread(left<matrix>(0, 1)), plx::shape_error);
  auto third_last = plx::jit([](auto x) { return plx::index_in_dim(x, -3); });
  CHECK_THROWS_AS(third_last(left<matrix>(2, 1)), plx::shape_error);
}

TEST_CASE("arrays without elements pass through every operation") {
  static constexpr auto everything = [](auto x) {
    return std::tuple(plx::exp(x) + 1, plx::sum(x, 0), plx::sum(x, 1), plx::transpose(x), plx::concatenate({x, x}, 0),
                      plx::dot(x, plx::transpose(x)), plx::pad(x, 2, {{1, 0, 0}, {0, 1, 0}}), plx::any(x),
                      plx::stack({x, x}), plx::slice_in_dim(x, none, none, 2, 1), plx::reshape(x, {-1}),
                      plx::softmax(x, 0), plx::mean(x, 1));
  };
  using shape = coordinates;
  auto shapes = [](const auto& x) {
    std::vector<shape> result;
    for (const table& t : reference::tables_of(plx::jit(everything)(x))) result.push_back(t.shape);
    return result;
  };
  using matrix = plx::array<double, 2>;
  CHECK(shapes(matrix::filled({0, 3}, 0)) ==
        std::vector<shape>{{0, 3}, {3}, {0}, {3, 0}, {0, 3}, {0, 0}, {1, 4}, {}, {2, 0, 3}, {0, 2}, {0}, {0, 3}, {0}});
  CHECK(shapes(matrix::filled({3, 0}, 0)) ==
        std::vector<shape>{{3, 0}, {0}, {3}, {0, 3}, {6, 0}, {3, 3}, {4, 1}, {}, {2, 3, 0}, {3, 0}, {0}, {3, 0}, {3}});
  auto results = reference::tables_of(plx::jit(everything)(matrix::filled({3, 0}, 0)));
  CHECK(results[2].values == std::vector<double>{0, 0, 0});
  CHECK(results[5].values == std::vector<double>(9, 0.));
  CHECK(results[6].values == std::vector<double>(4, 2.));
  CHECK(results[7].values == std::vector<double>{0});
  auto slope = plx::jit(plx::grad([](auto x) { return plx::sum(plx::sin(plx::dot(plx::transpose(x), x))); }));
  CHECK(slope(matrix::filled({0, 3}, 0)).shape() == std::array<std::int64_t, 2>{0, 3});
  auto strided = plx::jit(plx::grad([](auto x) { return plx::sum(plx::slice_in_dim(x, none, none, 2)); }));
  CHECK(strided(matrix::filled({0, 3}, 0)).shape() == std::array<std::int64_t, 2>{0, 3});
  plx::array<double, extents<0, 3>> fixed;
  auto sums = plx::jit([](auto x) { return plx::sum(x, 0) + 1; })(fixed);
  CHECK(sums.to_vector() == std::vector<double>{1, 1, 1});
}

TEST_CASE("arrays of rank 0 are numbers") {
  constexpr auto all = [](auto x, auto y) {
    return std::tuple(x * y, plx::where(x < y, x, y), plx::sum(x), plx::reshape(x, {1, 1}), plx::expand_dims(x, 0),
                      plx::transpose(x), plx::stack({x, y}), plx::broadcast_to(x, {2, 2}), plx::outer(x, y),
                      plx::ravel(x));
  };
  plx::array<double, 0> x(0.5), y(3);
  std::vector<table> actual = reference::tables_of(plx::jit(all)(x, y));
  std::vector<table> expected{{{}, {1.5}},     {{}, {0.5}}, {{}, {0.5}},      {{1, 1}, {0.5}},
                              {{1}, {0.5}},    {{}, {0.5}}, {{2}, {0.5, 3.}}, {{2, 2}, {.5, .5, .5, .5}},
                              {{1, 1}, {1.5}}, {{1}, {0.5}}};
  same(actual, expected);
  reference::check_gradient(all, x, y);
  reference::check_batching<0, -1>(all, x, y);
}

} // namespace extents_test
