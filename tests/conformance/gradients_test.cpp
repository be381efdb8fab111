// Conformance cases of JAX's gradients of and inside pmap.
#include "expected.hpp"

#include <numbers>

namespace gradients_test {

namespace {

using namespace conformance;

// A function of one instance's scalar, differentiated on both sides of pmap.
template <class Function> constexpr auto inside(Function f) { return plx::pmap<"i">(plx::grad(f)); }

constexpr auto psum_of = [](auto x) { return plx::psum<"i">(x); };
constexpr auto square_of_psum = [](auto x) { return plx::square(plx::psum<"i">(x)); };
constexpr auto times_psum = [](auto x) { return x * plx::psum<"i">(x); };
constexpr auto pmean_of = [](auto x) { return plx::pmean<"i">(x); };
constexpr auto share = [](auto x) { return x / plx::psum<"i">(x); };

// values of pmap(f), pmap(grad(f)) and grad(sum(pmap(f))) on [0, 1, 2, 3]
template <class Function>
void check_table(Function, const std::vector<double>& values, const std::vector<double>& gradients) {
  const auto x = counted(4);
  check_close(plx::pmap<"i">(Function{})(x), {4}, values, 1e-6, 1e-7);
  check_close(plx::pmap<"i">(plx::grad(Function{}))(x), {4}, gradients, 1e-6, 1e-7);
  constexpr auto bulk = plx::grad([](auto v) { return plx::sum(plx::pmap<"i">(Function{})(v)); });
  check_close(bulk(x), {4}, gradients, 1e-6, 1e-7);
}

} // namespace

TEST_CASE("table 3b: psum(x)") { check_table(psum_of, {6, 6, 6, 6}, {4, 4, 4, 4}); }
TEST_CASE("table 3b: psum(x)^2") { check_table(square_of_psum, {36, 36, 36, 36}, {48, 48, 48, 48}); }
TEST_CASE("table 3b: x psum(x)") { check_table(times_psum, {0, 6, 12, 18}, {12, 12, 12, 12}); }
TEST_CASE("table 3b: pmean(x)") { check_table(pmean_of, {1.5, 1.5, 1.5, 1.5}, {1, 1, 1, 1}); }
TEST_CASE("table 3b: x / psum(x)") { check_table(share, {0, 1. / 6, 1. / 3, .5}, {0, 0, 0, 0}); }

TEST_CASE("section 3b, recipes: where the sum over instances belongs") {
  // local loss (w * x)^2 with w = 2: d/dw = 2 w x^2 = 0, 4, 16, 36
  static constexpr auto local = [](auto w, auto x) { return plx::square(w * x); };
  auto [summed, seeded, averaged] = plx::pmap<"i">(
      [](auto w, auto x) {
        auto sum_of_losses = [=](auto v) { return plx::psum<"i">(local(v, x)); };
        auto mean_of_losses = [=](auto v) { return plx::pmean<"i">(local(v, x)); };
        return std::tuple{plx::psum<"i">(plx::grad(local)(w, x)), plx::grad(sum_of_losses)(w),
                          plx::grad(mean_of_losses)(w)};
      },
      plx::in_axes<plx::none, 0>)(2.f, counted(4));
  check_close(summed, {4}, {56, 56, 56, 56});
  check_close(seeded, {4}, {0, 16, 64, 144});
  check_close(averaged, {4}, {0, 4, 16, 36});
  // an argument that is not mapped gets the sum of all instances' cotangents
  auto whole = plx::grad([](auto w, auto x) { return plx::sum(plx::pmap(local, plx::in_axes<plx::none, 0>)(w, x)); })(
      plx::array<float, 0>(2.f), counted(4));
  check_close(whole, {}, {56});
  // and so does a value that is closed over
  auto closed_over = plx::grad([](auto w, auto x) {
    return plx::sum(plx::pmap([=](auto v) { return local(w, v); })(x));
  })(plx::array<float, 0>(2.f), counted(4));
  check_close(closed_over, {}, {56});
}

TEST_CASE("row 49: the gradient of a sum over pmap") {
  auto y = plx::grad([](auto x) { return plx::sum(plx::pmap([](auto v) { return plx::sin(v); })(x)); })(counted(4, 4));
  std::vector<double> expected;
  for (int i = 0; i < 16; ++i) expected.push_back(std::cos(i));
  check_close(y, {4, 4}, expected, 1e-6, 1e-6);
}

TEST_CASE("row 50: gradients of psum, of orders 1 and 2") {
  for (std::int64_t n : {1, 2, 4, 8}) {
    INFO(n << " devices");
    check_close(inside(psum_of)(counted(n)), {n},
                std::vector<double>(static_cast<std::size_t>(n), static_cast<double>(n)));
    // loss = sum_k w_k psum(sin x)_k: the gradient is W cos(x_i) with W = sum w, and sum_i v_i times it has
    // -W v_i sin(x_i)
    static constexpr auto loss = [](auto x, auto w) {
      return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::psum<"i">(plx::sin(v)); })(x));
    };
    constexpr auto first = plx::grad(loss);
    constexpr auto second = plx::grad([](auto x, auto w, auto v) { return plx::sum(v * plx::grad(loss)(x, w)); });
    auto x = plx::array<float, 1>::uninitialised({n}), w = x, v = x;
    double weight = 0;
    std::vector<double> slope, curvature;
    for (std::int64_t i = 0; i < n; ++i) {
      const double at = 0.3 * static_cast<double>(i) - 0.7;
      x.mutable_data()[i] = static_cast<float>(at);
      w.mutable_data()[i] = static_cast<float>(i + 1);
      v.mutable_data()[i] = static_cast<float>(2 * i - 3);
      weight += static_cast<double>(i + 1);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double at = static_cast<double>(x(i));
      slope.push_back(weight * std::cos(at));
      curvature.push_back(-weight * static_cast<double>(v(i)) * std::sin(at));
    }
    check_close(first(x, w), {n}, slope, 1e-5);
    check_close(second(x, w, v), {n}, curvature, 1e-5);
  }
}

TEST_CASE("row 51: the gradient of a psum of losses") {
  static constexpr auto loss = [](auto w, auto d) { return plx::psum<"i">((w * w + 1) * d); };
  const plx::array<float, 1> data{0, 1};
  auto [values, gradients] = plx::pmap<"i">(plx::value_and_grad(loss), plx::in_axes<plx::none, 0>)(1.f, data);
  check_equal(values, {2}, std::vector<float>{2, 2});
  check_equal(gradients, {2}, std::vector<float>{0, 4});
  // vmap agrees with pmap
  constexpr auto product = plx::grad([](auto w, auto d) { return plx::psum<"i">(w * d); });
  const plx::array<float, 1> ones{1, 1};
  check_equal(plx::vmap<"i">(product)(ones, data), {2}, std::vector<float>{0, 2});
  check_equal(plx::pmap<"i">(product)(ones, data), {2}, std::vector<float>{0, 2});
}

TEST_CASE("row 52: gradients of permutations") {
  constexpr float pi = std::numbers::pi_v<float>;
  const plx::array<float, 1> y{pi, pi + 1, pi + 2, pi + 3};
  auto shifted = plx::grad([](auto x, auto w) {
    return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::ppermute<"i">(v, plx::shift{1}); })(x));
  });
  auto pairs = plx::grad([](auto x, auto w) {
    return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::ppermute<"i">(v, {{0, 1}, {1, 2}, {2, 3}}); })(x));
  });
  auto cyclic = plx::grad([](auto x, auto w) {
    return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::ppermute<"i">(v, plx::rotate{1}); })(x));
  });
  check_equal(shifted(counted(4), y), {4}, std::vector<float>{pi + 1, pi + 2, pi + 3, 0});
  check_equal(pairs(counted(4), y), {4}, std::vector<float>{pi + 1, pi + 2, pi + 3, 0});
  check_equal(cyclic(counted(4), y), {4}, std::vector<float>{pi + 1, pi + 2, pi + 3, pi});
}

TEST_CASE("row 56: gradients of arguments mapped over different axes") {
  constexpr std::int64_t n = 4;
  const auto x = counted(5, n, 7);
  const auto y = counted(5, 7, n);
  const auto z = counted(5, 7);
  static constexpr auto add = [](auto a, auto b, auto c) { return plx::sin((a + b + c) * 0.01f); };
  constexpr auto devices =
      plx::grad([](auto a, auto b, auto c) { return plx::sum(plx::pmap(add, plx::in_axes<1, 2, plx::none>)(a, b, c)); },
                plx::argnums<0, 1, 2>);
  constexpr auto batch =
      plx::grad([](auto a, auto b, auto c) { return plx::sum(plx::vmap(add, plx::in_axes<1, 2, plx::none>)(a, b, c)); },
                plx::argnums<0, 1, 2>);
  std::vector<double> dx(5 * n * 7), dy(5 * 7 * n), dz(5 * 7, 0);
  for (std::int64_t j = 0; j < 5; ++j)
    for (std::int64_t k = 0; k < 7; ++k)
      for (std::int64_t i = 0; i < n; ++i) {
        const double sum =
            static_cast<double>(x(j, i, k)) + static_cast<double>(y(j, k, i)) + static_cast<double>(z(j, k));
        const double slope = 0.01 * std::cos(0.01 * sum);
        dx[static_cast<std::size_t>((j * n + i) * 7 + k)] = slope;
        dy[static_cast<std::size_t>((j * 7 + k) * n + i)] = slope;
        dz[static_cast<std::size_t>(j * 7 + k)] += slope;
      }
  auto check = [&](const auto& gradients) {
    check_close(std::get<0>(gradients), {5, n, 7}, dx, 1e-5, 1e-8);
    check_close(std::get<1>(gradients), {5, 7, n}, dy, 1e-5, 1e-8);
    check_close(std::get<2>(gradients), {5, 7}, dz, 1e-5, 1e-8);
  };
  check(devices(x, y, z));
  check(batch(x, y, z));
}

} // namespace gradients_test
