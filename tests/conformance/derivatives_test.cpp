// jvp, vjp, linearize, linear_transpose, jacfwd, jacrev, hessian and has_aux as users call them.
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace derivatives_conformance_test {

namespace {

namespace plx = parallax;
using vector = std::vector<double>;
using numbers = plx::array<double, 1>;
using number = plx::array<double, 0>;

template <class Array> void check(const Array& found, const vector& expected) {
  const auto values = found.to_vector();
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-12));
}

template <class W, class B> struct layer {
  W weights;
  B bias;
};

constexpr auto products = [](auto x, auto y) { return std::tuple{plx::sin(x) * y, plx::sum(x * y)}; };
const numbers x{0.3, -0.7, 1.1}, y{1., 2., 0.5}, dx{0.1, 0.2, -0.3}, dy{-0.4, 0.5, 0.7};
vector along(const numbers& by_x, const numbers& by_y) {
  vector result;
  for (std::size_t i = 0; i < 3; ++i)
    result.push_back(std::cos(x.values()[i]) * by_x.values()[i] * y.values()[i] +
                     std::sin(x.values()[i]) * by_y.values()[i]);
  return result;
}
double sum_along(const numbers& by_x, const numbers& by_y) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += by_x.values()[i] * y.values()[i] + x.values()[i] * by_y.values()[i];
  return sum;
}
const numbers zeros{0., 0., 0.};

} // namespace

TEST_CASE("jvp gives values and tangents, of trees, none for zeros") {
  const auto [value, tangent] = plx::jvp(products, std::tuple{x, y}, std::tuple{dx, dy});
  check(std::get<0>(tangent), along(dx, dy));
  check(std::get<1>(tangent), {sum_along(dx, dy)});
  check(std::get<1>(value), {0.3 - 1.4 + 0.55});
  check(std::get<0>(plx::jvp(products, std::tuple{x, y}, std::tuple{plx::none, dy}).second), along(zeros, dy));

  static constexpr auto affine = [](auto p, auto n) {
    return layer{p.weights * plx::astype<double>(n), plx::argmax(p.weights * p.bias)};
  };
  const layer<numbers, number> p{x, number(2.)}, dp{dx, number(1.)};
  const auto [out, dout] = plx::jvp(affine, std::tuple{p, 3}, std::tuple{dp, plx::none});
  check(dout.weights, {0.1 * 3, 0.2 * 3, -0.3 * 3});
  CHECK(dout.bias.item() == 0);
  CHECK(out.bias.item() == 2);
  // numbers as arguments, and a function of one inside of another
  CHECK(plx::jvp([](auto a) { return a * a; }, std::tuple{3.}, std::tuple{1.}).second.item() == Approx(6));
  static constexpr auto second = [](auto a) {
    return plx::jvp(
               [](auto b) { return plx::jvp([](auto c) { return c * c * c; }, std::tuple{b}, std::tuple{1.}).second; },
               std::tuple{a}, std::tuple{1.})
        .second;
  };
  CHECK(plx::jit(second)(number(2.)).item() == Approx(12));
}

TEST_CASE("jvp goes through while_loop, whose rounds the values decide") {
  static constexpr auto root = [](auto a) {
    return plx::while_loop([=](auto v) { return plx::abs(v * v - a) > 1e-12; },
                           [=](auto v) { return 0.5 * (v + a / v); }, a);
  };
  const auto [value, slope] = plx::jvp(root, std::tuple{number(9.)}, std::tuple{number(1.)});
  CHECK(value.item() == Approx(3));
  CHECK(slope.item() == Approx(1. / 6).epsilon(1e-9));
  CHECK(plx::jacfwd(root)(number(4.)).item() == Approx(0.25).epsilon(1e-9));
}

TEST_CASE("vjp keeps a pullback that can be called often") {
  const auto [value, pullback] = plx::vjp(products, x, y);
  check(std::get<1>(value), {0.3 - 1.4 + 0.55});
  for (double scale : {1., -2.}) {
    const auto [by_x, by_y] = pullback(std::tuple{numbers{scale, 2 * scale, 3 * scale}, number(2.)});
    vector expected_x, expected_y;
    for (std::size_t i = 0; i < 3; ++i) {
      const double w = scale * static_cast<double>(i + 1);
      expected_x.push_back(w * std::cos(x.values()[i]) * y.values()[i] + 2 * y.values()[i]);
      expected_y.push_back(w * std::sin(x.values()[i]) + 2 * x.values()[i]);
    }
    check(by_x, expected_x);
    check(by_y, expected_y);
  }
  // inside a traced function, in a batch
  static constexpr auto rows = [](auto a, auto b) {
    auto pull = plx::vjp(products, a, b).second;
    return plx::vmap([pull](auto w) { return std::get<0>(pull(std::pair{w, 0.})); })(plx::stack({b, 2. * b}));
  };
  vector expected;
  for (double scale : {1., 2.})
    for (std::size_t i = 0; i < 3; ++i)
      expected.push_back(scale * y.values()[i] * std::cos(x.values()[i]) * y.values()[i]);
  check(plx::jit(rows)(x, y), expected);
}

TEST_CASE("vjp of a loop keeps what its rounds computed") {
  static constexpr auto powers = [](auto a, auto n) {
    return plx::fori_loop(0, n, [a](auto, auto v) { return plx::sin(v) * a; }, a);
  };
  const auto [value, pullback] = plx::vjp(powers, number(0.9), plx::count(4));
  double v = 0.9, slope = 1;
  for (int i = 0; i < 4; ++i) {
    slope = std::cos(v) * slope * 0.9 + std::sin(v);
    v = std::sin(v) * 0.9;
  }
  check(value, {v});
  check(std::get<0>(pullback(number(1.))), {slope});
}

TEST_CASE("linearize gives a linear function of tangents") {
  const auto [value, derivative] = plx::linearize(products, x, y);
  check(std::get<1>(value), {0.3 - 1.4 + 0.55});
  const auto [first, second] = derivative(dx, dy);
  check(first, along(dx, dy));
  check(second, {sum_along(dx, dy)});
  check(std::get<0>(derivative(plx::none, dy)), along(zeros, dy));
  static constexpr auto inside = [](auto a, auto b, auto da, auto db) {
    return plx::linearize(products, a, b).second(da, db);
  };
  check(std::get<0>(plx::jit(inside)(x, y, dx, dy)), along(dx, dy));
}

TEST_CASE("linear_transpose turns a linear function around") {
  static constexpr auto sums = [](auto a) { return std::pair{plx::cumsum(a) * 2., plx::sum(a)}; };
  const auto [back] = plx::linear_transpose(sums, x)(std::pair{numbers{1., 10., 100.}, number(1000.)});
  check(back, {1222, 1220, 1200});
  static constexpr auto inside = [](auto a) { return std::get<0>(plx::linear_transpose(sums, a)(sums(a))); };
  check(plx::jit(inside)(numbers{1., 1., 1.}), {2 * (2 + 4 + 6) + 3., 2 * (4 + 6) + 3., 2 * 6 + 3.});
}

TEST_CASE("linear_transpose inside a function takes one that captures") {
  static constexpr auto inside = [](auto a, auto factors) {
    const auto scaled = [=](auto b) { return factors * plx::cumsum(b); };
    return std::get<0>(plx::linear_transpose(scaled, a)(a));
  };
  check(plx::jit(inside)(numbers{1., 1., 1.}, numbers{1., 10., 100.}), {111, 110, 100});
  static constexpr auto of_each = [](auto a, auto factor) {
    return plx::vmap([&](auto f) {
      return std::get<0>(plx::linear_transpose([&](auto b) { return f * b; }, plx::sum(a))(plx::sum(a)));
    })(factor);
  };
  check(plx::jit(of_each)(numbers{1., 1., 1.}, numbers{1., 10., 100.}), {3, 30, 300});
}

TEST_CASE("linear_transpose goes through calls, which are given more than they read") {
  static constexpr auto summed = plx::pmap<"i">([](auto a) { return 2. * plx::psum<"i">(a) + a; });
  static constexpr auto kept = plx::checkpoint([](auto a) { return 3. * a; });
  static constexpr auto solved = [](auto a) { return plx::cg([](auto v) { return 4. * v; }, a); };
  static constexpr auto chosen = [](auto a) {
    return plx::cond(plx::sum(plx::ones({3})) > 2., [](auto b) { return 5. * b; }, [](auto b) { return b; }, a);
  };
  static constexpr auto scanned = [](auto a) {
    return plx::scan([](auto sum, auto b) { return std::pair{sum + b, 2. * sum}; }, 0., a).second;
  };
  static constexpr auto ruled = [](auto a) {
    constexpr auto tripled =
        plx::custom_jvp([](auto b) { return 3. * b; },
                        [](auto at, auto along) { return std::pair{3. * std::get<0>(at), 3. * std::get<0>(along)}; });
    return tripled(a);
  };
  const auto given = numbers{1., 10., 100.};
  check(plx::array<double, 1>(std::get<0>(plx::linear_transpose(summed, x)(given))), {223, 232, 322});
  check(std::get<0>(plx::linear_transpose(kept, x)(given)), {3, 30, 300});
  check(std::get<0>(plx::linear_transpose(solved, x)(given)), {0.25, 2.5, 25});
  check(std::get<0>(plx::linear_transpose(chosen, x)(given)), {5, 50, 500});
  check(std::get<0>(plx::linear_transpose(scanned, x)(given)), {220, 200, 0});
  check(std::get<0>(plx::linear_transpose(ruled, x)(given)), {3, 30, 300});
}

TEST_CASE("jacfwd and jacrev give the result's shape and then the argument's, in trees") {
  static constexpr auto f = [](auto p, auto b) {
    return std::pair{plx::matmul(p.weights, p.bias) * b, plx::sum(p.bias) * b};
  };
  const layer<plx::array<double, 2>, numbers> p{{{1., 2., 3.}, {4., 5., 6.}}, x};
  const number b(2.);
  const auto forward = plx::jacfwd(f)(p, b);
  const auto reverse = plx::jacrev(f)(p, b);
  vector by_weights(2 * 2 * 3), by_bias;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      by_weights[(i * 2 + i) * 3 + j] = 2 * x.values()[j];
      by_bias.push_back(2. * static_cast<double>(i * 3 + j + 1));
    }
  for (const auto& found : {forward, reverse}) {
    check(found.first.weights, by_weights);
    check(found.first.bias, by_bias);
    check(found.second.weights, vector(6));
    check(found.second.bias, {2, 2, 2});
  }
  CHECK(forward.first.weights.shape() == std::array<std::int64_t, 3>{2, 2, 3});
  const auto [by_p, by_b] = plx::jacrev(f, plx::argnums<0, 1>)(p, b).second;
  check(by_b, {0.3 - 0.7 + 1.1});
  check(by_p.bias, {2, 2, 2});
}

TEST_CASE("hessian, and products with it by composition") {
  static constexpr auto f = [](auto a) { return plx::sum(a * a * a) + a[0] * a[1] * a[2]; };
  const vector expected{6 * 0.3, 1.1, -0.7, 1.1, 6 * -0.7, 0.3, -0.7, 0.3, 6 * 1.1};
  check(plx::hessian(f)(x), expected);
  static constexpr auto product = [](auto a, auto v) {
    return plx::jvp(plx::grad(f), std::tuple{a}, std::tuple{v}).second;
  };
  vector applied(3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) applied[i] += expected[3 * i + j] * dx.values()[j];
  check(plx::jit(product)(x, dx), applied);
  check(plx::vmap(plx::hessian(f))(plx::array<double, 2>{{0.3, -0.7, 1.1}}), expected);
}

TEST_CASE("grad hands on what a function returns beside its loss") {
  static constexpr auto f = [](auto a) { return std::pair{plx::sum(a * a), layer{a + 1., plx::argmax(a)}}; };
  const auto [gradient, aux] = plx::grad(f, plx::has_aux)(x);
  check(gradient, {0.6, -1.4, 2.2});
  check(aux.weights, {1.3, 0.3, 2.1});
  CHECK(aux.bias.item() == 2);
  const auto [with_aux, again] = plx::value_and_grad(f, plx::has_aux, plx::argnums<0>)(x);
  check(with_aux.first, {0.09 + 0.49 + 1.21});
  check(again, {0.6, -1.4, 2.2});
}

TEST_CASE("what is constant piece by piece has no slope") {
  static constexpr auto f = [](auto a) {
    auto bits = plx::bitcast<std::int32_t>(plx::astype<float>(a));
    return a[plx::argmax(a)] * 2. + a[plx::argmin(a)] + plx::sum(plx::where(bits > 0, a * a, a));
  };
  const vector expected{2 * 0.3, 1 + 1, 2 + 2 * 1.1};
  check(plx::grad(f)(x), expected);
  double slope = 0;
  for (std::size_t i = 0; i < 3; ++i) slope += expected[i] * dx.values()[i];
  check(plx::jvp(f, std::tuple{x}, std::tuple{dx}).second, {slope});
}

TEST_CASE("ravel_pytree puts a tree's elements behind one another, and gives them back") {
  static constexpr auto doubled = [](auto tree) {
    const auto [flat, unravel] = plx::ravel_pytree(tree);
    return std::pair{flat, unravel(2. * flat)};
  };
  const auto [flat, tree] =
      plx::jit(doubled)(std::pair{plx::array<double, 2>{{1., 2.}, {3., 4.}}, std::pair{x, number(7.)}});
  check(flat, {1, 2, 3, 4, 0.3, -0.7, 1.1, 7});
  REQUIRE(tree.first.shape() == std::array<std::int64_t, 2>{2, 2});
  check(tree.first, {2, 4, 6, 8});
  check(tree.second.first, {0.6, -1.4, 2.2});
  check(tree.second.second, {14});
}

} // namespace derivatives_conformance_test
