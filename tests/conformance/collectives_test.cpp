// Conformance cases of JAX's collectives over one mapped axis.
#include "expected.hpp"
#include "support/rule_30.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace collectives_test {

namespace {

using namespace conformance;

std::vector<float> rows(std::initializer_list<float> values, int repeats = 4) {
  std::vector<float> result;
  for (float v : values) result.insert(result.end(), static_cast<std::size_t>(repeats), v);
  return result;
}

/// Each reduction of what ends with it, and one of what is read again.
constexpr auto reduced_in_turn = plx::pmap<"i">([](auto x) {
  auto sum = plx::psum<"i">(x + x);
  auto most = plx::pmax<"i">(sum - x);
  auto least = plx::pmin<"i">(most + x + x);
  return std::pair{least - plx::psum<"i">(least), plx::psum<"i">(most - x)};
});
template <class T> void check_reduced_in_turn(std::int64_t count) {
  constexpr std::int64_t devices = 8;
  const auto number = [](std::int64_t p, std::int64_t i) { return (p * 5 + i) % 7; };
  auto x = plx::array<T, 2>::uninitialised({devices, count});
  for (std::int64_t k = 0; k < x.size(); ++k)
    x.mutable_data()[k] = static_cast<T>(static_cast<float>(number(k / count, k % count)));
  const auto [first, second] = reduced_in_turn(x);
  std::vector<T> firsts, seconds;
  for (std::int64_t k = 0; k < x.size(); ++k) {
    std::int64_t total = 0, smallest = 99;
    for (std::int64_t p = 0; p < devices; ++p) {
      total += number(p, k % count);
      smallest = std::min(smallest, number(p, k % count));
    }
    const std::int64_t most = 2 * total - smallest, least = most + 2 * smallest;
    firsts.push_back(static_cast<T>(static_cast<float>(least - devices * least)));
    seconds.push_back(static_cast<T>(static_cast<float>(devices * most - total)));
  }
  check_equal(first, {devices, count}, firsts);
  check_equal(second, {devices, count}, seconds);
}

template <class A, class B, class C> struct three_types {
  A a;
  B b;
  C c;
};

} // namespace

TEST_CASE("row 16: what is left of the sum") {
  auto y = plx::pmap<"i">([](auto x) { return x - plx::psum<"i">(x); })(counted(4, 4));
  check_equal(y, {4, 4},
              std::vector<float>{-24, -27, -30, -33, -20, -23, -26, -29, -16, -19, -22, -25, -12, -15, -18, -21});
}

TEST_CASE("row 17: what is left of the mean") {
  auto y = plx::pmap<"i">([](auto x) { return x - plx::pmean<"i">(x); })(counted(4, 4));
  check_equal(y, {4, 4}, rows({-6, -2, 2, 6}));
}

TEST_CASE("row 18: what is left of the extremes") {
  auto [most, least] =
      plx::pmap<"i">([](auto x) { return std::tuple{x - plx::pmax<"i">(x), x - plx::pmin<"i">(x)}; })(counted(4, 4));
  check_equal(most, {4, 4}, rows({-12, -8, -4, 0}));
  check_equal(least, {4, 4}, rows({0, 4, 8, 12}));
}

TEST_CASE("row 19: sums of constants are constants of the same type") {
  constexpr auto sums = plx::pmap<"i">(
      [](auto) { return std::tuple{plx::psum<"i">(1), plx::psum<"i">(0.f), plx::psum<"i">(std::int32_t{0})}; });
  auto [size, zero, none] = sums(counted(4));
  check_equal(size, {4}, std::vector<std::int32_t>{4, 4, 4, 4});
  check_equal(zero, {4}, std::vector<float>(4, 0));
  check_equal(none, {4}, std::vector<std::int32_t>(4, 0));
  static_assert(plx::expression(sums, plx::shaped<float, 4>).find("psum") == std::string_view::npos);
  // the size of the axis can be used where an extent is needed
  constexpr auto twice = plx::pmap<"i">([](auto x) { return plx::psum<"i">(1.f) * x; });
  static_assert(plx::expression(twice, plx::shaped<float, 4>).find("psum") == std::string_view::npos);
  check_equal(twice(counted(4)), {4}, std::vector<float>{0, 4, 8, 12});
}

TEST_CASE("row 20: truth values are counted") {
  auto [sum, mean] = plx::pmap<"i">([](auto x) { return std::tuple{plx::psum<"i">(x), plx::pmean<"i">(x)}; })(
      plx::array<bool, 1>{true, false});
  check_equal(sum, {2}, std::vector<std::int32_t>{1, 1});
  check_equal(mean, {2}, std::vector<float>{.5f, .5f});
}

TEST_CASE("a mean of integers does not wrap around") {
  constexpr auto mean = [](auto x) { return plx::pmean<"i">(x); };
  const plx::array<std::int32_t, 1> large{2000000000, 2000000000};
  const plx::array<std::uint8_t, 1> bytes{200, 201};
  check_equal(plx::pmap<"i">(mean)(large), {2}, std::vector<float>{2e9f, 2e9f});
  check_equal(plx::pmap<"i">(mean)(bytes), {2}, std::vector<float>{200.5f, 200.5f});
  check_equal(plx::vmap<"i">(mean)(large), {2}, std::vector<float>{2e9f, 2e9f});
  check_equal(plx::vmap<"i">(mean)(bytes), {2}, std::vector<float>{200.5f, 200.5f});
}

TEST_CASE("row 24: collectives of trees of several types") {
  constexpr int n = 4;
  const three_types tree{counted(n, n), counted<std::int32_t>(n, n), counted<std::int32_t>(n)};
  auto [sum, mean, most, least, turned] = plx::pmap<"i">([](auto x) {
    return std::tuple{plx::psum<"i">(x), plx::pmean<"i">(x), plx::pmax<"i">(x), plx::pmin<"i">(x),
                      plx::tree_map([](auto leaf) { return plx::ppermute<"i">(leaf, plx::rotate{1}); }, x)};
  })(tree);
  check_equal(sum.a, {n, n}, repeated<float>({24, 28, 32, 36}, n));
  check_equal(sum.b, {n, n}, repeated<std::int32_t>({24, 28, 32, 36}, n));
  check_equal(sum.c, {n}, repeated<std::int32_t>({6}, n));
  check_equal(mean.a, {n, n}, repeated<float>({6, 7, 8, 9}, n));
  check_equal(mean.b, {n, n}, repeated<float>({6, 7, 8, 9}, n));
  check_equal(mean.c, {n}, repeated<float>({1.5}, n));
  check_equal(most.a, {n, n}, repeated<float>({12, 13, 14, 15}, n));
  check_equal(most.b, {n, n}, repeated<std::int32_t>({12, 13, 14, 15}, n));
  check_equal(most.c, {n}, repeated<std::int32_t>({3}, n));
  check_equal(least.a, {n, n}, repeated<float>({0, 1, 2, 3}, n));
  check_equal(least.b, {n, n}, repeated<std::int32_t>({0, 1, 2, 3}, n));
  check_equal(least.c, {n}, repeated<std::int32_t>({0}, n));
  check_equal(turned.a, {n, n}, std::vector<float>{12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  check_equal(turned.b, {n, n}, std::vector<std::int32_t>{12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  check_equal(turned.c, {n}, std::vector<std::int32_t>{3, 0, 1, 2});
}

TEST_CASE("reductions that take their operands' memory") {
  for (const std::int64_t count : {3, 1500}) {
    check_reduced_in_turn<float>(count);
    check_reduced_in_turn<std::int32_t>(count);
    check_reduced_in_turn<plx::float16>(count);
  }
}

TEST_CASE("row 31: a permutation by pairs, under pmap and vmap") {
  constexpr auto cycle = [](auto x) { return plx::ppermute<"i">(x, {{1, 0}, {2, 1}, {0, 2}}); };
  // under vmap, pairs need the size of the axis while compiling
  const plx::array<float, plx::extents<3>> x{0, 10, 20};
  check_equal(plx::pmap<"i">(cycle)(plx::array<float, 1>(x)), {3}, std::vector<float>{10, 20, 0});
  check_equal(plx::pmap<"i">(cycle)(x), {3}, std::vector<float>{10, 20, 0});
  check_equal(plx::vmap<"i">(cycle)(x), {3}, std::vector<float>{10, 20, 0});
}

TEST_CASE("row 30: everybody sends to the next") {
  constexpr auto next = plx::pmap<"i">([](auto x) { return plx::ppermute<"i">(x, plx::rotate{1}); });
  constexpr auto pairs = plx::pmap<"i">([](auto x) { return plx::ppermute<"i">(x, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}); });
  const std::vector<float> expected{12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  check_equal(next(counted(4, 4)), {4, 4}, expected);
  check_equal(pairs(counted(4, 4)), {4, 4}, expected);
  for (std::int64_t n : {1, 2, 3, 5, 8}) {
    std::vector<float> rolled;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < 4; ++j) rolled.push_back(static_cast<float>((i + n - 1) % n * 4 + j));
    check_equal(next(counted(n, 4)), {n, 4}, rolled);
  }
}

TEST_CASE("instances that are no destination get zeros") {
  auto [some, moved, back] = plx::pmap<"i">([](auto x) {
    return std::tuple{plx::ppermute<"i">(x, {{0, 2}, {3, 1}}), plx::ppermute<"i">(x, plx::shift{1}),
                      plx::ppermute<"i">(x, plx::shift{-2})};
  })(plx::array<float, 1>{5, 6, 7, 8});
  check_equal(some, {4}, std::vector<float>{0, 8, 5, 0});
  check_equal(moved, {4}, std::vector<float>{0, 5, 6, 7});
  check_equal(back, {4}, std::vector<float>{7, 8, 0, 0});
}

TEST_CASE("row 39: the position along the axis") {
  auto y = plx::pmap<"i">([](auto x) { return x + plx::axis_index<"i">(); })(plx::array<std::int32_t, 1>{1, 1, 1, 1});
  check_equal(y, {4}, std::vector<std::int32_t>{1, 2, 3, 4});
}

TEST_CASE("row 38: Rule 30 with halos exchanged") {
  constexpr auto step = plx::pmap<"i">([](auto cells) {
    auto left_end = plx::slice_in_dim(cells, 0, 1), right_end = plx::slice_in_dim(cells, -1, plx::none);
    auto right = plx::ppermute<"i">(left_end, plx::rotate{-1});
    auto left = plx::ppermute<"i">(right_end, plx::rotate{1});
    auto enlarged = plx::concatenate({left, cells, right});
    return plx::slice_in_dim(enlarged, 0, -2) ^
           (plx::slice_in_dim(enlarged, 1, -1) | plx::slice_in_dim(enlarged, 2, plx::none));
  });
  for (std::int64_t n : {1, 2, 4, 5, 8}) {
    INFO(n << " devices");
    auto start = plx::array<bool, 2>::filled({n, 40 / n}, false);
    start.mutable_data()[20] = true;
    plx::array<bool, 2> board = start;
    for (std::string_view line : golden::rule_30_lines) {
      std::string text;
      for (bool alive : board.values()) text += alive ? '*' : ' ';
      CHECK(text == line);
      board = step(board);
    }
  }
}

} // namespace collectives_test
