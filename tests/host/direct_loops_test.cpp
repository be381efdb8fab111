// Loops and branches that are compiled into calls, beside the same in plain loops: bodies that are written out number
// by number, and larger ones, with a runtime and without.
#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace direct_loops_test {

namespace {

namespace plx = parallax;
using plx::array;
using plx::extents;

template <class F, class... T> constexpr bool is_direct(F, const T&...) {
  return plx::host::direct_steps<plx::detail::program<F, plx::detail::argument_t<T>...>>::are_direct;
}

// x' = cos(x) + slice, and the sum of all x' stacked; the number of rounds and of elements is that of the slices.
constexpr auto rounds = [](auto x, auto slices) {
  return plx::scan(
      [](auto v, auto slice) {
        auto next = plx::cos(v) + slice;
        return std::pair{next, plx::sum(next)};
      },
      x, slices);
};
constexpr auto rounds_backwards = [](auto x, auto slices) {
  return plx::scan(
      [](auto v, auto slice) {
        auto next = plx::cos(v) + slice;
        return std::pair{next, plx::sum(next)};
      },
      x, slices, plx::in_reverse);
};
// Elements that are halved until all are below 1; how often; an element in place of the first one in each round.
constexpr auto halving = [](auto x) {
  return plx::while_loop([](auto state) { return plx::max(std::get<0>(state)) >= 1.f; },
                         [](auto state) {
                           auto [v, count] = state;
                           return std::tuple{(v * 0.5f).at(0).set(0.25f), count + 1};
                         },
                         std::tuple{x, 0});
};
// By a number: x + 1, 2 x, or the sum of a loop over -x.
constexpr auto branches = [](auto which, auto x) {
  return plx::switch_(
      which,
      std::tuple{
          [](auto v) { return v + 1.f; }, [](auto v) { return v * 2.f; },
          [](auto v) { return plx::fori_loop(0, 3, [&](auto, auto sum) { return sum - v; }, plx::zeros_like(v)); }},
      x);
};

double slice_at(std::size_t round, std::size_t i) {
  return 0.1 * static_cast<double>(round * 5 % 7) - 0.01 * static_cast<double>(i % 13);
}
double start_at(std::size_t i) { return 0.5 + 0.125 * static_cast<double>(i % 5); }

struct outcome {
  std::vector<double> last, sums;
};
outcome expected_rounds(std::size_t count, std::size_t size, bool reverse) {
  outcome result{{}, std::vector<double>(count)};
  for (std::size_t i = 0; i < size; ++i) result.last.push_back(start_at(i));
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t round = reverse ? count - 1 - r : r;
    for (std::size_t i = 0; i < size; ++i) {
      result.last[i] = std::cos(result.last[i]) + slice_at(round, i);
      result.sums[round] += result.last[i];
    }
  }
  return result;
}
bool is_near(std::span<const float> found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(std::abs(static_cast<double>(found[i]) - expected[i]) < 1e-5 * (1 + std::abs(expected[i])))) return false;
  return true;
}
template <class Array> Array starts(std::size_t size) {
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(static_cast<float>(start_at(i)));
  return Array({static_cast<std::int64_t>(size)}, std::move(values));
}
template <class Array> Array slices(std::size_t count, std::size_t size) {
  std::vector<float> values;
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t i = 0; i < size; ++i) values.push_back(static_cast<float>(slice_at(r, i)));
  return Array({static_cast<std::int64_t>(count), static_cast<std::int64_t>(size)}, std::move(values));
}

template <std::int64_t Rounds, std::int64_t Size> void check_rounds(std::size_t count, std::size_t size) {
  const auto x = starts<array<float, extents<Size>>>(size);
  const auto xs = slices<array<float, extents<Rounds, Size>>>(count, size);
  STATIC_REQUIRE(is_direct(plx::jit(rounds), x, xs));
  const auto [last, sums] = plx::jit(rounds)(x, xs);
  const outcome forward = expected_rounds(count, size, false), backward = expected_rounds(count, size, true);
  CHECK(is_near(last.values(), forward.last));
  CHECK(is_near(sums.values(), forward.sums));
  const auto [last_backward, sums_backward] = plx::jit(rounds_backwards)(x, xs);
  CHECK(is_near(last_backward.values(), backward.last));
  CHECK(is_near(sums_backward.values(), backward.sums));
}

std::vector<double> expected_halving(std::vector<double> x, int& count) {
  auto largest = [&] { return *std::max_element(x.begin(), x.end()); };
  for (count = 0; largest() >= 1; ++count) {
    for (double& v : x) v *= 0.5;
    x[0] = 0.25;
  }
  return x;
}
std::vector<double> expected_branch(int which, std::vector<double> x) {
  for (double& v : x) v = which <= 0 ? v + 1 : which == 1 ? v * 2 : -3 * v;
  return x;
}
std::vector<double> ramp(std::size_t size) {
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(0.5 * static_cast<double>(i % 17));
  return values;
}

template <std::int64_t Size> void check_while_and_branches(std::size_t size) {
  const std::vector<double> values = ramp(size);
  const array<float, extents<Size>> x({static_cast<std::int64_t>(size)},
                                      std::vector<float>(values.begin(), values.end()));
  STATIC_REQUIRE(is_direct(plx::jit(halving), x));
  STATIC_REQUIRE(is_direct(plx::jit(branches), 0, x));
  int wanted = 0;
  const std::vector<double> halved = expected_halving(values, wanted);
  const auto [found, count] = plx::jit(halving)(x);
  CHECK(is_near(found.values(), halved));
  CHECK(count.item() == wanted);
  for (int which : {-1, 0, 1, 2, 5})
    CHECK(is_near(plx::jit(branches)(which, x).values(), expected_branch(which, values)));
  // a while loop of no round
  const auto [same, none] = plx::jit(halving)(plx::evaluate(x * 0.f));
  CHECK(is_near(same.values(), std::vector<double>(size)));
  CHECK(none.item() == 0);
}

template <std::size_t Size> void check_without_runtime() {
  constexpr plx::compiled_function<rounds, plx::shaped<float, Size>, plx::shaped<float, 3, Size>> scan;
  constexpr plx::compiled_function<halving, plx::shaped<float, Size>> loop;
  constexpr plx::compiled_function<branches, plx::shaped<std::int32_t>, plx::shaped<float, Size>> chosen;
  std::vector<std::byte> memory(std::max({scan.workspace_bytes, loop.workspace_bytes, chosen.workspace_bytes}));
  auto workspace = [&]<class F>(const F&) {
    return std::span<std::byte, F::workspace_bytes>(memory.data(), F::workspace_bytes);
  };
  const auto x = starts<array<float, 1>>(Size);
  const auto xs = slices<array<float, 2>>(3, Size);
  std::vector<float> last(Size), sums(3);
  scan(x.data(), xs.data(), last.data(), sums.data(), workspace(scan));
  const outcome forward = expected_rounds(3, Size, false);
  CHECK(is_near(last, forward.last));
  CHECK(is_near(sums, forward.sums));
  const std::vector<double> values = ramp(Size);
  const std::vector<float> given(values.begin(), values.end());
  int wanted = 0;
  const std::vector<double> halved = expected_halving(values, wanted);
  std::int32_t count = -1;
  loop(given.data(), last.data(), count, workspace(loop));
  CHECK(is_near(last, halved));
  CHECK(count == wanted);
  for (std::int32_t which : {0, 1, 2}) {
    chosen(which, given.data(), last.data(), workspace(chosen));
    CHECK(is_near(last, expected_branch(which, values)));
  }
}

} // namespace

TEST_CASE("scans with small and large bodies, of static and dynamic extents, are compiled into the call") {
  check_rounds<4, 3>(4, 3);
  check_rounds<plx::dyn, 3>(5, 3);
  check_rounds<2, 5000>(2, 5000);
  for (std::size_t count : {0U, 1U, 2U, 7U}) {
    check_rounds<plx::dyn, plx::dyn>(count, 3);
    check_rounds<plx::dyn, plx::dyn>(count, 777);
  }
}

TEST_CASE("while loops and branches are compiled into the call") {
  check_while_and_branches<4>(4);
  check_while_and_branches<6000>(6000);
  check_while_and_branches<plx::dyn>(4);
  check_while_and_branches<plx::dyn>(300);
}

TEST_CASE("loops and branches need no runtime") {
  check_without_runtime<4>();
  check_without_runtime<6000>();
}

TEST_CASE("loops in loops find memory of their own") {
  constexpr auto twice = [](auto x) {
    return plx::fori_loop(
        0, 3,
        [](auto, auto v) {
          auto t = plx::dot(v, v) * 0.01f; // lies in memory while the inner loop runs
          auto inner = plx::fori_loop(0, 2, [&](auto, auto w) { return plx::dot(w, v) * 0.01f + 0.1f; }, v);
          return inner + t;
        },
        x);
  };
  constexpr std::size_t n = 20;
  std::vector<float> first(n * n);
  for (std::size_t i = 0; i < n * n; ++i) first[i] = static_cast<float>(i * 7 % 11) * 0.1f;
  std::vector<double> v(first.begin(), first.end());
  auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> c(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) c[i * n + j] += 0.01 * a[i * n + k] * b[k * n + j];
    return c;
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<double> inner = v;
    for (int step = 0; step < 2; ++step) {
      inner = product(inner, v);
      for (double& each : inner) each += 0.1;
    }
    const std::vector<double> t = product(v, v);
    for (std::size_t i = 0; i < n * n; ++i) v[i] = inner[i] + t[i];
  }
  const array<float, extents<n, n>> known({n, n}, std::vector(first));
  const array<float, 2> unknown({n, n}, std::vector(first));
  STATIC_REQUIRE(is_direct(plx::jit(twice), known));
  STATIC_REQUIRE(is_direct(plx::jit(twice), unknown));
  CHECK(is_near(plx::jit(twice)(known).values(), v));
  CHECK(is_near(plx::jit(twice)(unknown).values(), v));
}

} // namespace direct_loops_test
