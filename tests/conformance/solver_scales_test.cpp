// Solvers whose right-hand sides have squares that leave the range of their type.
#include "linear_systems.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace solver_scales_test {

namespace {

using namespace conformance;

constexpr auto by_cg = [](auto a, auto b) { return plx::cg(a, b); };
constexpr auto by_bicgstab = [](auto a, auto b) { return plx::bicgstab(a, b); };
constexpr plx::gmres_options three_products{{}, 3};
constexpr auto by_gmres = [](auto a, auto b) { return plx::gmres(a, b, three_products); };

const plx::array<float, 2> diagonal{{1.f, 0.f, 0.f}, {0.f, 2.f, 0.f}, {0.f, 0.f, 4.f}};
template <class T = float> plx::array<T, 1> equal(T value) { return {value, value, value}; }

template <auto& Solve> void check_sizes() {
  for (double size : {1., 1e-25, 1e25, 1e-37, 3e37, 3e-19, 2e19}) {
    INFO("of " << size);
    const auto x = plx::jit(Solve)(diagonal, equal(static_cast<float>(size)));
    check_close(x, {3}, {size, size / 2, size / 4}, 1e-5);
  }
  // what is below the normal numbers, whose last places are not many
  check_close(plx::jit(Solve)(diagonal, equal(1e-40f)), {3}, {1e-40, 5e-41, 2.5e-41}, 1e-3);
  check_equal<float>(plx::jit(Solve)(diagonal, equal(0.f)), {3}, {0, 0, 0});

  static constexpr auto small_loss = [](auto a, auto b) { return plx::sum(Solve(a, b)) * 1e-25f; };
  check_close(plx::grad(small_loss, plx::argnums<1>)(diagonal, equal(1.f)), {3}, {1e-25, 5e-26, 2.5e-26}, 1e-5);

  // what is no number is none in the solution either
  const auto x = plx::jit(Solve)(diagonal, plx::array<float, 1>{1.f, std::numeric_limits<float>::quiet_NaN(), 1.f});
  CHECK(std::isnan(x(1)));
}

} // namespace

TEST_CASE("cg: solves for right-hand sides of any size, and so do its derivatives") { check_sizes<by_cg>(); }
TEST_CASE("bicgstab: solves for right-hand sides of any size, and so do its derivatives") {
  check_sizes<by_bicgstab>();
}
TEST_CASE("gmres: solves for right-hand sides of any size, and so do its derivatives") { check_sizes<by_gmres>(); }

TEST_CASE("solvers: gradients of any size, also by the matrix, and batches whose instances are of different sizes") {
  constexpr auto large_loss = [](auto a, auto b) { return plx::sum(by_cg(a, b)) * 1e25f; };
  const auto [by_matrix, by_side] = plx::grad(large_loss, plx::argnums<0, 1>)(diagonal, equal(1.f));
  check_close(by_side, {3}, {1e25, 5e24, 2.5e24}, 1e-5);
  // by the matrix: -transposed solution times the solution
  CHECK(by_matrix(2, 1) == Approx(-2.5e24 * 0.5).epsilon(1e-4));
  constexpr auto batch = plx::vmap(by_cg, plx::in_axes<plx::none, 0>);
  const plx::array<float, 2> sides{{1e-25f, 1e-25f, 1e-25f}, {0.f, 0.f, 0.f}, {1e25f, 2e25f, 4e25f}, {1.f, 1.f, 1.f}};
  check_close(batch(diagonal, sides), {4, 3}, {1e-25, 5e-26, 2.5e-26, 0, 0, 0, 1e25, 1e25, 1e25, 1, .5, .25}, 1e-5);
}

TEST_CASE("solvers: an absolute tolerance and a first guess are of the system as it is given") {
  constexpr auto loose = [](auto a, auto b) { return plx::cg(a, b, {.tol = 1e-5, .atol = 1e-20, .maxiter = 0}); };
  check_equal<float>(plx::jit(loose)(diagonal, equal(1e-25f)), {3}, {0, 0, 0}); // zeros are near enough
  check_close(plx::jit(loose)(diagonal, equal(1e-10f)), {3}, {1e-10, 5e-11, 2.5e-11}, 1e-5);
  constexpr auto guessed = [](auto a, auto b, auto x) { return plx::cg(a, b, {}, x); };
  check_close(plx::jit(guessed)(diagonal, equal(1e-25f), plx::array<float, 1>{1e-25f, 5e-26f, 2.4e-26f}), {3},
              {1e-25, 5e-26, 2.5e-26}, 1e-5);
  check_close(plx::jit(guessed)(diagonal, equal(1e-3f), equal(1e19f)), {3}, {0, 0, 0}, 0, 1e14);
}

TEST_CASE("solvers: trees whose parts are of different sizes and types") {
  constexpr auto solve = [](auto b, auto c) {
    return plx::cg([](auto x) { return std::pair{2.f * x.first, 4. * x.second}; }, std::pair{b, c});
  };
  const auto [x, y] = plx::jit(solve)(equal(1e-30f), equal(1e-100));
  check_close(x, {3}, {5e-31, 5e-31, 5e-31}, 1e-5);
  CHECK(y(0) >= 0.);
  const auto [z, w] = plx::jit(solve)(equal(0.f), equal(1e-200));
  check_equal<float>(z, {3}, {0, 0, 0});
  check_close<double>(w, {3}, {2.5e-201, 2.5e-201, 2.5e-201}, 1e-5);
}

} // namespace solver_scales_test
