// Axes and indices in each form that callers have: whole numbers of any type, `keepdims`, constants.
#include <parallax/parallax.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "support/test.hpp"
#include "transforms/error_of.hpp"

namespace axes_test {

namespace {

namespace plx = parallax;

const plx::array<float, 2> rows{{1, 2, 3}, {6, 5, 4}};

/// Every operation that takes an axis, along the one whose number is of type `Whole`.
template <class Whole>
constexpr auto along = [](auto x) {
  constexpr Whole first = 0, last = 1;
  const auto zeros = plx::astype<int>(x) * 0;
  return std::tuple{plx::sum(x, last),
                    plx::max(x, first, plx::keepdims),
                    plx::argmax(x, last),
                    plx::argmin(x, first, plx::keepdims),
                    plx::softmax(x, last),
                    plx::cumsum(x, first),
                    plx::cumprod(x, last, plx::in_reverse),
                    plx::sort(x, last),
                    plx::sort_key_val(x, x, last),
                    plx::take(x, plx::arange(1), last),
                    plx::take_along_axis(x, zeros, first, plx::mode::clip),
                    plx::concatenate({x, x}, last),
                    plx::stack({1.f, 2.f}, first) + x[0][0],
                    plx::slice_in_dim(x, 0, 1, 1, first),
                    plx::index_in_dim(x, 1, last),
                    plx::dynamic_slice_in_dim(x, 1, 2, last),
                    plx::dynamic_index_in_dim(x, 1, last),
                    plx::dynamic_update_slice_in_dim(x, x, 0, first),
                    plx::dynamic_update_index_in_dim(x, x[1], 0, first),
                    plx::expand_dims(x, first),
                    plx::moveaxis(x, first, last)};
};
template <class Whole>
constexpr auto gathered = [](auto x) {
  constexpr Whole first = 0;
  return std::tuple{plx::all_gather<"i">(x, first), plx::psum_scatter<"i">(plx::all_gather<"i">(x, first), first)};
};

template <class Whole> void check_along() {
  const auto results = plx::jit(along<Whole>)(rows), expected = plx::jit(along<int>)(rows);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto check = [](const auto& x, const auto& y) {
      auto equal = [](const auto& a, const auto& b) { CHECK(array_equal(a, b)); };
      if constexpr (requires { x.first; }) equal(x.first, y.first), equal(x.second, y.second);
      else equal(x, y);
    };
    (check(std::get<I>(results), std::get<I>(expected)), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(expected)>>{});
}

} // namespace

TEST_CASE("an axis is a number of any whole type") {
  check_along<std::int64_t>();
  check_along<std::size_t>();
  check_along<std::int8_t>();
  const auto [stacked, scattered] = plx::jit(plx::vmap<"i">(gathered<std::int64_t>))(rows);
  CHECK(stacked(1, 0, 2) == 3);
  CHECK(scattered(1, 0) == 12);
}

TEST_CASE("an axis beyond int is out of bounds") {
  constexpr auto shape = plx::shaped<float, 2, 3>;
  CHECK(error_of([](auto x) { return plx::sum(x, std::int64_t{1} << 32); }, shape) ==
        "sum: axis 2147483647 is out of bounds for array of dimension 2; give an axis from -2 to 1");
  CHECK(error_of([](auto x) { return plx::dynamic_index_in_dim(x, 0, std::int64_t{1} << 32); }, shape) ==
        "dynamic_index_in_dim: axis 2147483647 is out of bounds for array of dimension 2; give an axis from -2 to 1");
}

TEST_CASE("a position's axis is removed, or kept by keepdims or JAX's truth value") {
  const auto [removed, kept, told, fixed, of_constant] = plx::jit([](auto x) {
    return std::tuple{plx::dynamic_index_in_dim(x, 1, 0, false), plx::dynamic_index_in_dim(x, 1, 0, plx::keepdims),
                      plx::dynamic_index_in_dim(x, -1, 1, true), plx::index_in_dim(x, -1, 1, plx::keepdims),
                      plx::index_in_dim(plx::arange(4), 2, 0, plx::keepdims)};
  })(rows);
  CHECK(array_equal(removed, plx::array<float, 1>{6, 5, 4}));
  CHECK(array_equal(kept, plx::array<float, 2>{{6, 5, 4}}));
  CHECK(array_equal(told, plx::array<float, 2>{{3}, {4}}));
  CHECK(array_equal(fixed, plx::array<float, 2>{{3}, {4}}));
  CHECK(array_equal(of_constant, plx::array<int, 1>{2}));
  const auto [row, position] = plx::jit([](auto x) {
    return std::tuple{plx::index_in_dim(x, 1, plx::keepdims), plx::dynamic_index_in_dim(x, 1, plx::keepdims)};
  })(rows);
  CHECK(array_equal(row, kept));
  CHECK(array_equal(position, kept));
}

TEST_CASE("reduced axes are removed, or kept by keepdims or JAX's truth value") {
  const auto [removed, told, kept, both, position, of_constant] = plx::jit([](auto x) {
    return std::tuple{plx::sum(x, 1, false),      plx::sum(x, 1, true),     plx::sum(x, 1, plx::keepdims),
                      plx::sum(x, {0, 1}, false), plx::argmax(x, 1, false), plx::sum(plx::arange(3), 0, false)};
  })(rows);
  CHECK(array_equal(removed, plx::array<float, 1>{6, 15}));
  CHECK(array_equal(told, plx::array<float, 2>{{6}, {15}}));
  CHECK(array_equal(kept, told));
  CHECK(both.item() == 21);
  CHECK(array_equal(position, plx::array<int, 1>{2, 0}));
  CHECK(of_constant.item() == 3);
}

enum axis_of_matrix { row_axis, column_axis };

TEST_CASE("what converts to a number is an axis") {
  const auto [joined, sliced, position, left_out] = plx::jit([](auto x) {
    return std::tuple{plx::concatenate({x, x}, column_axis), plx::slice_in_dim(x, 0, 1, 1, row_axis),
                      plx::index_in_dim(x, 1, std::integral_constant<int, 1>{}), plx::concatenate({x, x}, {})};
  })(rows);
  CHECK(joined.shape(1) == 6);
  CHECK(sliced.shape(0) == 1);
  CHECK(array_equal(position, plx::array<float, 1>{2, 5}));
  CHECK(left_out.shape(0) == 4);
}

TEST_CASE("indices are constants too") {
  const auto [taken, counted, one] = plx::jit([](auto x) {
    return std::tuple{plx::take_along_axis(x, plx::zeros<int>({2, 1}) + 1, 1),
                      plx::zeros({1}).at(plx::zeros<int>({1000})).add(x[0][1]),
                      plx::random::split<1>(plx::random::key(1))};
  })(rows);
  CHECK(array_equal(taken, plx::array<float, 2>{{2}, {5}}));
  CHECK(array_equal(counted, plx::array<float, 1>{2000}));
  CHECK(array_equal(one[0], plx::array(plx::random::split(plx::random::key(1), 1)[0])));
}

} // namespace axes_test
