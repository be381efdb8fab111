// Loops inside of a pmap, with collectives and numbers of instances in each round, and beside one.
#include "expected.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace loops_in_pmap_test {

using namespace conformance;
using vector = std::vector<double>;

TEST_CASE("scan: inside pmap, with a collective in each round") {
  // c <- 0.5 c + psum(x_t); the loss of instance i is the sum of its carries
  static constexpr auto instance = [](auto c, auto x) {
    auto [last, all] = plx::scan(
        [](auto carry, auto slice) {
          auto next = carry * 0.5f + plx::psum<"i">(slice * carry);
          return std::pair{next, next};
        },
        c, x);
    return last + plx::sum(all);
  };
  auto run = [](const vector& c0, const vector& slices) {
    vector c = c0, sums(4);
    for (std::size_t t = 0; t < 3; ++t) {
      double all = 0;
      for (std::size_t i = 0; i < 4; ++i) all += slices[3 * i + t] * c[i];
      for (std::size_t i = 0; i < 4; ++i) c[i] = 0.5 * c[i] + all, sums[i] += c[i];
    }
    for (std::size_t i = 0; i < 4; ++i) sums[i] += c[i];
    return sums;
  };
  vector c0, slices;
  for (int i = 0; i < 4; ++i) c0.push_back(i * 0.25 + 0.5);
  for (int i = 0; i < 12; ++i) slices.push_back(i * 0.125);
  const plx::array<float, 1> c_array = counted<float>(4) * 0.25f + 0.5f;
  const plx::array<float, 2> x_array = counted<float>(4, 3) * 0.125f;
  check_close(plx::pmap<"i">(instance)(c_array, x_array), {4}, run(c0, slices), 1e-5);
  static constexpr auto bulk = [](auto c, auto v) { return plx::sum(plx::pmap<"i">(instance)(c, v)); };
  auto [dc, dx] = plx::grad(bulk, plx::argnums<0, 1>)(c_array, x_array);
  auto total = [&](const vector& a, const vector& b) {
    double sum = 0;
    for (double v : run(a, b)) sum += v;
    return sum;
  };
  check_close(dc, {4}, differences([&](const vector& v) { return total(v, slices); }, c0), 1e-4, 1e-4);
  check_close(dx, {4, 3}, differences([&](const vector& v) { return total(c0, v); }, slices), 1e-4, 1e-4);
}

TEST_CASE("scan: inside pmap, with the device's number in each round") {
  static constexpr auto ten_times = [](auto i) {
    auto round = [i](auto carry, auto) { return std::pair{carry + i + plx::axis_index<"i">(), plx::none}; };
    return plx::scan(round, plx::zeros_like(i), plx::none, plx::length<10>).first;
  };
  const auto ones = plx::array<std::int32_t, 1>::filled({8}, 1);
  check_equal<std::int32_t>(plx::pmap<"i">(ten_times)(ones), {8}, {10, 20, 30, 40, 50, 60, 70, 80});
}

TEST_CASE("a count is an argument of nested functions, and no transformation changes it") {
  static constexpr auto power = [](auto x, auto times) {
    return plx::fori_loop(0, times, [&](auto, auto v) { return v * x; }, plx::ones_like(x));
  };
  static constexpr auto chosen = [](auto x, auto times) {
    return plx::cond(x > 1.5, power, [](auto y, auto) { return y; }, x, times);
  };
  const plx::array<double, 1> x{1, 2, 3};
  const auto five = plx::count(5);
  check_close<double>(plx::jit(plx::grad(power))(plx::array<double, 0>(2), five), {}, {80}, 1e-12);
  check_close<double>(plx::jit(plx::vmap(power))(x, five), {3}, {1, 32, 243}, 1e-12);
  check_close<double>(plx::pmap(power, plx::in_axes<0, plx::none>)(x, five), {3}, {1, 32, 243}, 1e-12);
  check_close<double>(plx::pmap(plx::grad(power))(x, five), {3}, {5, 80, 405}, 1e-12);
  check_close<double>(plx::jit(plx::vmap(plx::grad(chosen)))(x, five), {3}, {1, 80, 405}, 1e-12);
  // a number, and an extent
  static constexpr auto cubes = [](auto y) { return plx::vmap(power)(y, plx::count(3)); };
  check_close<double>(plx::jit(cubes)(x), {3}, {1, 8, 27}, 1e-12);
}

TEST_CASE("what a loop or a pmap takes is computed before it, whatever reads it behind it") {
  static constexpr auto add_one = [](auto v) { return v + 1.; };
  static constexpr auto beside_loop = [](auto x) {
    auto doubled = x * 2.;
    return plx::fori_loop(0, 2, [](auto, auto v) { return add_one(v); }, doubled) * doubled;
  };
  static constexpr auto beside_pmap = [](auto x) {
    auto doubled = x * 2.;
    return plx::pmap(add_one)(doubled) * doubled;
  };
  const plx::array<double, 1> x{1, 2, 3};
  check_close<double>(plx::jit(beside_loop)(x), {3}, {8, 24, 48});
  check_close<double>(plx::jit(beside_pmap)(x), {3}, {6, 20, 42});
}

} // namespace loops_in_pmap_test
