// Transformations inside one another, run for values.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>

namespace composition_test {

namespace plx = parallax;
using plx::in_axes, plx::out_axes, plx::none, plx::tree;

namespace {

constexpr auto sum_of_sines = [](auto x) { return plx::sum(plx::sin(x)); };

/// 0, 1, 2, ... in the given shape.
template <std::size_t Rank> plx::array<float, static_cast<int>(Rank)> counting(std::array<std::int64_t, Rank> shape) {
  auto result = plx::array<float, static_cast<int>(Rank)>::filled(shape, 0.f);
  float* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = static_cast<float>(i);
  return result;
}

template <class A, class B> void check_close(const A& left, const B& right) {
  auto a = plx::array<float, A::rank>(left), b = plx::array<float, B::rank>(right);
  REQUIRE(a.shape() == b.shape());
  for (std::size_t i = 0; i < a.values().size(); ++i) CHECK(a.values()[i] == Approx(b.values()[i]).margin(1e-6));
}

} // namespace

TEST_CASE("pmap of vmap and vmap of pmap agree", "[composition]") {
  auto x = counting<3>({2, 3, 4});
  plx::array<float, 2> expected = plx::sum(plx::sin(x), plx::axis<2>);
  check_close(plx::pmap(plx::vmap(sum_of_sines))(x), expected);
  check_close(plx::vmap(plx::pmap(sum_of_sines))(x), expected);
}

TEST_CASE("vmap of pmap moves the axes of the pmap", "[composition]") {
  // the vmapped axis before, between and after the mapped one
  auto x = counting<3>({2, 3, 4});
  auto weigh = [](auto v) { return v * 10.f; };
  plx::array<float, 3> tens = x * 10.f;
  check_close(plx::vmap(plx::pmap(weigh, in_axes<0>, out_axes<0>), in_axes<0>, out_axes<0>)(x), tens);
  check_close(plx::vmap(plx::pmap(weigh, in_axes<1>, out_axes<1>), in_axes<0>, out_axes<0>)(x), tens);
  check_close(plx::vmap(plx::pmap(weigh, in_axes<0>, out_axes<0>), in_axes<2>, out_axes<2>)(x), tens);
  check_close(plx::vmap(plx::pmap(weigh, in_axes<0>, out_axes<0>), in_axes<1>, out_axes<1>)(x), tens);
  check_close(plx::vmap(plx::pmap(weigh, in_axes<1>, out_axes<1>), in_axes<1>, out_axes<1>)(x), tens);
}

TEST_CASE("the gradient of a vmap and the vmap of a gradient", "[composition]") {
  auto x = counting<2>({3, 4});
  plx::array<float, 2> cosines = plx::cos(x);
  check_close(plx::grad([](auto v) { return plx::sum(plx::vmap(sum_of_sines)(v)); })(x), cosines);
  check_close(plx::vmap(plx::grad(sum_of_sines))(x), cosines);
  check_close(plx::pmap(plx::vmap(plx::grad([](auto v) { return plx::sin(v); })))(x), cosines);
  check_close(
      plx::grad([](auto v) { return plx::sum(plx::pmap(plx::vmap([](auto y) { return plx::sin(y); }))(v)); })(x),
      cosines);
}

TEST_CASE("second derivatives", "[composition]") {
  auto sine = [](auto x) { return plx::sin(x); };
  plx::array<float, 0> second = plx::grad(plx::grad(sine))(0.7f);
  CHECK(second.item() == Approx(-std::sin(0.7f)));
  // a Hessian: every row is the gradient of one element of the gradient
  auto cubes = [](auto x) { return plx::sum(x * x * x); };
  static constexpr auto gradient = plx::grad(cubes);
  auto row = [](auto unit, auto x) { return plx::grad([=](auto y) { return plx::vdot(gradient(y), unit); })(x); };
  plx::array<float, 2> identity{{1, 0}, {0, 1}};
  plx::array<float, 1> x{2, 3};
  plx::array<float, 2> hessian = plx::vmap(row, in_axes<0, none>)(identity, x);
  CHECK(plx::array_equal(hessian, plx::array<float, 2>{{12, 0}, {0, 18}}));
}

TEST_CASE("the gradient of a pmap sums over the axis for what is not mapped", "[composition]") {
  auto loss = [](auto w, auto x) {
    return plx::sum(plx::pmap<"i">([](auto v, auto y) { return v * y * y; }, in_axes<none, 0>)(w, x));
  };
  auto x = counting<1>({4});
  auto [dw, dx] = plx::grad(loss, plx::argnums<0, 1>)(2.f, x);
  CHECK(plx::array<float, 0>(dw).item() == 14.f);
  CHECK(plx::array_equal(plx::array<float, 1>(dx), plx::array<float, 1>{0, 4, 8, 12}));
}

TEST_CASE("a nested pmap closes over values of the outer one", "[composition]") {
  auto outer = [](auto x) {
    auto y = plx::sum(x);
    return plx::pmap([=](auto z) { return z * y; })(x);
  };
  auto x = counting<2>({4, 2});
  plx::array<float, 2> expected = x * plx::sum(x, plx::axis<1>, plx::keepdims);
  check_close(plx::pmap(outer)(x), expected);
}

TEST_CASE("jit inside other transformations changes nothing", "[composition]") {
  auto x = counting<2>({2, 4});
  static constexpr auto jitted = plx::jit(sum_of_sines);
  check_close(plx::vmap(jitted)(x), plx::vmap(sum_of_sines)(x));
  check_close(plx::pmap(jitted)(x), plx::vmap(sum_of_sines)(x));
  check_close(plx::vmap(plx::grad(jitted))(x), plx::vmap(plx::grad(sum_of_sines))(x));
  check_close(plx::jit(plx::jit(jitted))(x), plx::jit(sum_of_sines)(x));
}

TEST_CASE("an inner axis name hides an outer one", "[composition]") {
  // rows of (2, 3): the inner sum is over 3 elements, the outer over 2
  auto x = counting<2>({2, 3});
  auto inner = [](auto v) { return plx::psum<"i">(v); };
  plx::array<float, 2> result = plx::vmap<"i">(plx::vmap<"i">(inner))(x);
  CHECK(plx::array_equal(result, plx::array<float, 2>{{3, 3, 3}, {12, 12, 12}}));
  // after the inner one has ended, the name means the outer axis again
  auto around = [](auto row) {
    auto sums = plx::vmap<"i">([](auto v) { return plx::psum<"i">(v); })(row);
    return plx::psum<"i">(sums);
  };
  plx::array<float, 2> both = plx::pmap<"i">(around)(x);
  CHECK(plx::array_equal(both, plx::array<float, 2>{{15, 15, 15}, {15, 15, 15}}));
}

TEST_CASE("negative axes count from the end", "[composition]") {
  auto x = counting<3>({3, 4, 5});
  auto total = [](auto v) { return plx::sum(v); };
  check_close(plx::vmap(total, in_axes<-1>)(x), plx::array<float, 1>(plx::sum(x, plx::axis<0, 1>)));
  check_close(plx::vmap(total, in_axes<-3>)(x), plx::array<float, 1>(plx::sum(x, plx::axis<1, 2>)));
  auto identity = [](auto v) { return v; };
  CHECK(plx::array<float, 3>(plx::vmap(identity, out_axes<-1>)(x)).shape() == std::array<std::int64_t, 3>{4, 5, 3});
  CHECK(plx::array<float, 3>(plx::vmap(identity, out_axes<-2>)(x)).shape() == std::array<std::int64_t, 3>{4, 3, 5});
}

TEST_CASE("one entry of in_axes holds for a whole tree, a tree of entries for its children", "[composition]") {
  auto add = [](auto pair) { return pair.first + pair.second; };
  plx::array<float, 1> a{1, 2, 3}, b{10, 20, 30};
  CHECK(plx::array_equal(plx::array<float, 1>(plx::vmap(add, in_axes<0>)(std::pair{a, b})),
                         plx::array<float, 1>{11, 22, 33}));
  plx::array<float, 2> table = plx::vmap(add, in_axes<tree<0, none>>)(std::pair{a, b});
  CHECK(plx::array_equal(table, plx::array<float, 2>{{11, 21, 31}, {12, 22, 32}, {13, 23, 33}}));
  plx::array<float, 2> on_devices = plx::pmap(add, in_axes<tree<none, 0>>)(std::pair{a, b});
  CHECK(plx::array_equal(on_devices, plx::array<float, 2>{{11, 12, 13}, {21, 22, 23}, {31, 32, 33}}));
}

TEST_CASE("out_axes per result", "[composition]") {
  auto both = [](auto x, auto y) { return std::pair{x + y, 2 * y}; };
  plx::array<float, 1> x{0, 1};
  auto [sum, twice] = plx::vmap(both, in_axes<0, none>, out_axes<0, none>)(x, 4.f);
  CHECK(plx::array_equal(plx::array<float, 1>(sum), plx::array<float, 1>{4, 5}));
  CHECK(plx::array<float, 0>(twice).item() == 8.f);
  auto [sums, eights] = plx::vmap(both, in_axes<0, none>)(x, 4.f);
  CHECK(plx::array_equal(plx::array<float, 1>(sums), plx::array<float, 1>{4, 5}));
  CHECK(plx::array_equal(plx::array<float, 1>(eights), plx::array<float, 1>{8, 8}));
}

TEST_CASE("value_and_grad inside pmap", "[composition]") {
  auto x = counting<2>({2, 3});
  auto squares = [](auto v) { return plx::sum(v * v); };
  auto [values, gradients] = plx::pmap(plx::value_and_grad(squares))(x);
  CHECK(plx::array_equal(plx::array<float, 1>(values), plx::array<float, 1>{5, 50}));
  check_close(plx::array<float, 2>(gradients), plx::array<float, 2>(x * 2.f));
}

} // namespace composition_test
