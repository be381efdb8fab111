// custom_call: a user's own functions with hand-written kernels, under every transformation, beside plain loops.
#include "custom_call_kernels.hpp"
#include "expected.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>

namespace custom_call_test {

namespace {

using namespace conformance;
using numbers = std::vector<double>;

/// a x^3 of each element, and the sum of all of them, in one function of two results.
struct cubes {
  static void host(plx::ffi_buffer<const double, 1> x, plx::ffi_buffer<const double, 0> a,
                   plx::ffi_buffer<double, 1> each, plx::ffi_buffer<double, 0> sum) {
    sum() = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      each(i) = a() * x(i) * x(i) * x(i);
      sum() += each(i);
    }
  }
#ifdef CUSTOM_CALL_STREAM
  static void cuda(CUSTOM_CALL_STREAM stream, plx::ffi_buffer<const double, 1> x, plx::ffi_buffer<const double, 0> a,
                   plx::ffi_buffer<double, 1> each, plx::ffi_buffer<double, 0> sum) {
    launch_cubes(stream, {x.data(), a.data(), each.data(), sum.data(), x.size()});
  }
#endif
  static constexpr auto shape(auto x, auto a) { return std::pair{x, a}; }
};
/// The same with derivatives: of both kinds, or of tangents alone.
struct cubes_both_ways : cubes {
  static constexpr auto jvp(auto arguments, auto result, auto tangents) {
    auto [x, a] = arguments;
    auto [dx, da] = tangents;
    auto each = 3. * a * x * x * dx + std::get<0>(result) / a * da;
    return std::pair{each, plx::sum(each)};
  }
  static constexpr auto vjp(auto arguments, auto result, auto cotangents) {
    auto [x, a] = arguments;
    auto each = cotangents.first + cotangents.second;
    return std::tuple{each * 3. * a * x * x, plx::sum(each * result.first) / a};
  }
};
struct cubes_forward : cubes {
  static constexpr auto jvp(auto arguments, auto result, auto tangents) {
    return cubes_both_ways::jvp(arguments, result, tangents);
  }
};
/// Twice each element, with a batch of its own: the elements of all rows are doubled in one call.
struct doubled {
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = 2 * x(i);
  }
#ifdef CUSTOM_CALL_STREAM
  static void cuda(CUSTOM_CALL_STREAM stream, plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    launch_doubled(stream, {x.data(), y.data(), x.size()});
  }
#endif
  static constexpr auto shape(auto x) { return x; }
  static constexpr auto batch(const std::array<bool, 1>&, auto x);
};
constexpr auto doubled::batch(const std::array<bool, 1>&, auto x) {
  return plx::reshape(plx::custom_call<doubled>(plx::reshape(x, {x.shape(0) * x.shape(1)})), {x.shape(0), x.shape(1)});
}

const plx::array<double, 1> x{0.5, -1.25, 2, 0.75, -0.5};
const plx::array<double, 0> a(1.5);
numbers cubes_of(const numbers& values, double factor) {
  numbers result;
  for (double v : values) result.push_back(factor * v * v * v);
  return result;
}
double sum_of(const numbers& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum;
}
/// A loss whose derivatives go through both results.
template <class Rules> struct loss {
  constexpr auto operator()(auto v, auto b) const {
    auto [each, sum] = plx::custom_call<Rules>(plx::sin(v), b);
    return plx::sum(each * each) + plx::sin(sum);
  }
};
double loss_of(numbers v, double b) {
  for (double& each : v) each = std::sin(each);
  const numbers cubed = cubes_of(v, b);
  double squares = 0;
  for (double c : cubed) squares += c * c;
  return squares + std::sin(sum_of(cubed));
}

} // namespace

TEST_CASE("custom_call: values, at once and in the middle of a program") {
  const auto [each, sum] = plx::custom_call<cubes>(x, a);
  check_close<double>(each, {5}, cubes_of(x.to_vector(), 1.5), 1e-15);
  check_close<double>(sum, {}, {sum_of(cubes_of(x.to_vector(), 1.5))}, 1e-14);
  const auto [outer, first] = plx::jit([](auto v, auto b) {
    auto [c, s] = plx::custom_call<cubes>(v + 1., b);
    return std::pair{plx::custom_call<cubes>(c, s).first * 2., plx::custom_call<cubes>(v[plx::iota<int>(2)], 2).first};
  })(x, a);
  numbers shifted = x.to_vector();
  for (double& v : shifted) v += 1;
  const numbers inner = cubes_of(shifted, 1.5);
  numbers expected = cubes_of(inner, sum_of(inner));
  for (double& v : expected) v *= 2;
  check_close<double>(outer, {5}, expected, 1e-13);
  check_close<double>(first, {2}, cubes_of({0.5, -1.25}, 2), 1e-15);
}

TEST_CASE("custom_call: derivatives by its rules, in both modes and of second order") {
  const numbers at = x.to_vector();
  const double step = 1e-6;
  numbers slopes;
  for (std::size_t k = 0; k < at.size(); ++k) {
    numbers above = at, below = at;
    above[k] += step, below[k] -= step;
    slopes.push_back((loss_of(above, 1.5) - loss_of(below, 1.5)) / (2 * step));
  }
  const double by_factor = (loss_of(at, 1.5 + step) - loss_of(at, 1.5 - step)) / (2 * step);
  const auto [by_x, by_a] = plx::jit(plx::grad(loss<cubes_both_ways>{}, plx::argnums<0, 1>))(x, a);
  check_close<double>(by_x, {5}, slopes, 1e-7, 1e-7);
  check_close<double>(by_a, {}, {by_factor}, 1e-7);
  const auto [again, a_again] = plx::jit(plx::grad(loss<cubes_forward>{}, plx::argnums<0, 1>))(x, a);
  check_close<double>(again, {5}, on_host(by_x).to_vector(), 1e-12, 1e-12);
  check_close<double>(a_again, {}, {on_host(by_a).item()}, 1e-12);

  static constexpr auto along = [](auto v, auto b) {
    return plx::jvp(loss<cubes_both_ways>{}, std::tuple{v, b}, std::tuple{plx::ones_like(v), plx::none}).second;
  };
  check_close<double>(plx::jit(along)(x, a), {}, {sum_of(slopes)}, 1e-7);
  static constexpr auto slope = [](auto v, auto b) { return plx::sum(plx::grad(loss<cubes_both_ways>{})(v, b)); };
  const double above = on_host(plx::jit(slope)(x, plx::array<double, 0>(1.5 + step))).item(),
               below = on_host(plx::jit(slope)(x, plx::array<double, 0>(1.5 - step))).item();
  check_close<double>(plx::jit(plx::grad(slope, plx::argnums<1>))(x, a), {}, {(above - below) / (2 * step)}, 1e-6);
}

TEST_CASE("custom_call: batches by a loop of calls, or as its rules say") {
  const auto rows = plx::array<double, 2>{{1, -2, 0.5}, {3, 0.25, -1}};
  const plx::array<double, 1> factors{2, -1};
  const auto [each, sums] = plx::jit(plx::vmap(plx::custom_call<cubes>, plx::in_axes<1, 0>))(
      plx::array<double, 2>{{1, 3}, {-2, 0.25}, {0.5, -1}}, factors);
  numbers expected = cubes_of({1, -2, 0.5}, 2), second = cubes_of({3, 0.25, -1}, -1);
  const numbers totals{sum_of(expected), sum_of(second)};
  expected.insert(expected.end(), second.begin(), second.end());
  check_close<double>(each, {2, 3}, expected, 1e-15);
  check_close<double>(sums, {2}, totals, 1e-14);
  // one factor for all, and gradients of a batch
  const auto gradients = plx::jit(plx::vmap(plx::grad(loss<cubes_both_ways>{}), plx::in_axes<0, plx::none>))(rows, a);
  numbers single;
  for (const numbers& row : {numbers{1, -2, 0.5}, numbers{3, 0.25, -1}}) {
    const auto one =
        on_host(plx::jit(plx::grad(loss<cubes_both_ways>{}))(plx::array<double, 1>({3}, std::span(row)), a));
    for (double v : one.values()) single.push_back(v);
  }
  check_close<double>(gradients, {2, 3}, single, 1e-13, 1e-14);

  const auto whole = counted<float>(3, 4);
  static constexpr auto twice = plx::vmap(plx::custom_call<doubled>);
  check_equal<float>(plx::jit(twice)(whole), {3, 4}, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
  constexpr std::string_view text = plx::expression(twice, plx::shaped<float, 3, 4>);
  static_assert(text.find("scan") == std::string_view::npos); // no loop
}

TEST_CASE("custom_call: in the rounds of a loop, and on every device of a pmap") {
  static constexpr auto rounds = [](auto v) {
    return plx::fori_loop(0, 3, [](auto, auto u) { return plx::custom_call<cubes>(u, 1.5).first * 0.5; }, v);
  };
  numbers expected = x.to_vector();
  for (int i = 0; i < 3; ++i) expected = cubes_of(expected, 0.75);
  check_close<double>(plx::jit(rounds)(x), {5}, expected, 1e-14);

  const auto across = plx::pmap<"i">([](auto v) {
    auto [each, sum] = plx::custom_call<cubes>(v, plx::astype<double>(plx::axis_index<"i">()) + 1.);
    return std::pair{each, plx::psum<"i">(sum)};
  })(counted<double>(8, 3));
  numbers all;
  for (int d = 0; d < 8; ++d)
    for (double v : cubes_of({3. * d, 3. * d + 1, 3. * d + 2}, 1. + d)) all.push_back(v);
  check_close<double>(across.first, {8, 3}, all, 1e-15);
  check_close<double>(across.second, {8}, numbers(8, sum_of(all)), 1e-14);
}

} // namespace custom_call_test
