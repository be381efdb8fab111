// Indices into arrays without elements: nothing is changed, nothing comes back, and what is read of them is refused,
// unless nothing is read.
#include "indices.hpp"

#include <tuple>
#include <utility>

namespace empty_arrays_test {

namespace {

using namespace conformance;
using namespace conformance::indexing;

/// The gradient of y by an update of x with it at i, beside 2 y.
template <class Update>
constexpr auto gradient_of =
    plx::grad([](auto y, auto x, auto i) { return plx::sum(Update{}(x.at(i), y)) + plx::sum(y * 2.); });
constexpr auto add = [](auto elements, auto y) { return elements.add(y); };
constexpr auto set = [](auto elements, auto y) { return elements.set(y); };
constexpr auto smallest = [](auto elements, auto y) { return elements.min(y); };
constexpr auto largest = [](auto elements, auto y) { return elements.max(y); };
constexpr auto multiply = [](auto elements, auto y) { return elements.multiply(y, plx::unique_indices); };
constexpr auto clipped = [](auto elements, auto y) { return elements.add(y, plx::mode::clip); };
constexpr auto wrapped = [](auto elements, auto y) { return elements.add(y, plx::mode::wrap); };

template <class Nothing, class Update> void check_update(const Nothing& nothing, Update) {
  const plx::array<double, 1> y{1, 2, 3};
  constexpr auto updated = plx::jit([](auto x, auto i, auto z) { return Update{}(x.at(i), z); });
  const auto unchanged = updated(nothing, indices({0, -1, 7}), y);
  CHECK(plx::array<double, 1>(unchanged).size() == 0);
  check_close<double>(plx::array<double, 1>(gradient_of<Update>(y, nothing, indices({0, -1, 7}))), {3}, {2, 2, 2});
}
template <class Nothing> void check_updates(const Nothing& nothing) {
  check_update(nothing, add);
  check_update(nothing, set);
  check_update(nothing, smallest);
  check_update(nothing, largest);
  check_update(nothing, multiply);
  check_update(nothing, clipped);
  check_update(nothing, wrapped);
}

} // namespace

TEST_CASE("an update of an array without elements changes nothing, and its gradient is zero") {
  check_updates(plx::array<double, 1>::uninitialised({0}));
  check_updates(plx::array<double, plx::extents<0>>{});
}

TEST_CASE("updates of rows that are none, of a part of them, and in rounds of a loop") {
  const auto x = plx::array<double, 2>::uninitialised({0, 3});
  const plx::array<double, 1> y{1, 2, 3};
  static constexpr auto rows = [](auto b, auto a, auto i) { return plx::sum(a.at(i).add(b)) + plx::sum(b * b); };
  check_close<double>(plx::array<double, 1>(plx::grad(rows)(y, x, indices({0, 4}))), {3}, {2, 4, 6});
  static constexpr auto number = [](auto b, auto a, auto i) { return plx::sum(a.at(i[0], 1).add(b[0])) + plx::sum(b); };
  check_close<double>(plx::array<double, 1>(plx::grad(number)(y, x, indices({0}))), {3}, {1, 1, 1});
  static constexpr auto in_rounds = [](auto b, auto a, auto i) {
    auto round = [&](auto c, auto j) { return std::pair{c.at(j).add(b), plx::none}; };
    return plx::sum(plx::scan(round, a, i).first) + plx::sum(b * b);
  };
  check_close<double>(plx::array<double, 1>(plx::grad(in_rounds)(y, x, indices({0, 1, 2}))), {3}, {2, 4, 6});
  static constexpr auto mapped = [](auto b, auto a, auto i) {
    return plx::vmap([=](auto j) { return plx::grad(rows)(b, a, plx::reshape(j, {1})); })(i);
  };
  check_close<double>(plx::array<double, 2>(plx::jit(mapped)(y, x, indices({0, 1}))), {2, 3}, {2, 4, 6, 2, 4, 6});
}

TEST_CASE("sums of no segments, and of the elements of none") {
  const auto x = counted<double>(4, 2);
  static constexpr auto none_of = [](auto a, auto i) { return plx::segment_sum(a, i, 0); };
  check_equal<double>(plx::array<double, 2>(plx::jit(none_of)(x, indices({0, 1, 2, 3}))), {0, 2}, {});
  static constexpr auto slope = plx::grad([](auto a, auto i) { return plx::sum(none_of(a, i)) + plx::sum(a); });
  check_close<double>(slope(x, indices({0, 1, 2, 3})), {4, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  static constexpr auto counted_by_call = [](auto a, auto i, plx::extent n) { return plx::segment_sum(a, i, n); };
  check_equal<double>(plx::array<double, 2>(plx::jit(counted_by_call)(x, indices({0, 1, 2, 3}), plx::count(0))), {0, 2},
                      {});
  static constexpr auto of_constants = [](auto y, auto i) {
    return plx::grad([=](auto z) { return plx::sum(plx::zeros<double>({0}).at(i).add(z)) + z; })(y);
  };
  check_close<double>(plx::jit(of_constants)(plx::array<double, 0>(3.), plx::array<std::int32_t, 0>(0)), {}, {1});
}

TEST_CASE("to read of an axis without elements is refused with what is wrong") {
  const auto none = plx::array<double, 2>::uninitialised({0, 3});
  const std::string in = " has no elements to read, in float64[0,3]; give an array with some";
  CHECK_THROWS_MATCHES(plx::jit([](auto a, auto i) { return a[i]; })(none, indices({0})), plx::shape_error,
                       Catch::Message("x[i]: an axis of extent 0 (axis 0 of argument 0)" + in));
  CHECK_THROWS_MATCHES(plx::jit([](auto a, auto i) { return plx::take(a, i, 0); })(none, indices({0})),
                       plx::shape_error, Catch::Message("take: an axis of extent 0 (axis 0 of argument 0)" + in));
  CHECK_THROWS_MATCHES(plx::jit([](auto a, auto i) { return a.at(i).get(); })(none, indices({0})), plx::shape_error,
                       Catch::Message("at(i).get: an axis of extent 0 (axis 0 of argument 0)" + in));
}

TEST_CASE("where nothing is read, an array without elements is as good as another") {
  const auto none = plx::array<double, 2>::uninitialised({0, 3});
  static constexpr auto rows = [](auto a, auto i) { return a[i]; };
  check_equal<double>(plx::jit(rows)(none, indices({})), {0, 3}, {});
  check_equal<double>(plx::jit([](auto a, auto i) { return plx::take(a, i, 0); })(none, indices({})), {0, 3}, {});
  // in rounds of which there are none, and of instances
  static constexpr auto in_rounds = [](auto a) {
    return plx::fori_loop(
        0, a.shape(0), [&](auto i, auto sum) { return sum + a[i]; }, plx::zeros_like(plx::sum(a, plx::axis<0>)));
  };
  check_close<double>(plx::jit(in_rounds)(none), {3}, {0, 0, 0});
  check_close<double>(plx::jit(in_rounds)(counted<double>(2, 3)), {3}, {3, 5, 7});
  static constexpr auto of_instances = [](auto a, auto i) { return plx::vmap([=](auto j) { return a[j]; })(i); };
  check_equal<double>(plx::jit(of_instances)(none, indices({})), {0, 3}, {});
  const auto nothing = plx::array<double, plx::extents<0, 3>>{};
  CHECK(plx::array<double, 2>(plx::jit(rows)(nothing, plx::array<std::int32_t, plx::extents<0>>{})).size() == 0);
  CHECK(plx::array<double, 2>(plx::jit(rows)(nothing, indices({}))).size() == 0);
  CHECK_THROWS_AS(plx::jit(rows)(nothing, indices({1})), plx::shape_error);
  check_close<double>(plx::array<double, 1>(plx::jit(in_rounds)(nothing)), {3}, {0, 0, 0});
}

} // namespace empty_arrays_test
