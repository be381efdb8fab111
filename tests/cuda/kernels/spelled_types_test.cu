// Types of results, which nvcc must be able to write out: it hands g++ a type as it met it first, and g++ knows no
// lambda by the name that nvcc has for it.
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <tuple>
#include <type_traits>
#include <vector>

namespace spelled_types_test {

namespace plx = parallax;

namespace {

template <class T> T same(T x) { return x; }

TEST_CASE("results of static extents can be spelt out") {
  const plx::array<float, plx::extents<2, 3>> a{{1, 2, 3}, {4, 5, 6}};
  const auto rows = plx::jit([](auto x) { return plx::sum(x, plx::axis<1>); })(a);
  const std::vector<decltype(same(rows))> kept{rows};
  CHECK(kept[0].to_vector() == std::vector<float>{6, 15});
}

TEST_CASE("what a result was is an argument elsewhere") {
  const auto spelt = same(plx::array<float, plx::extents<2>>{6, 15});
  const plx::array<float, plx::extents<2>> again = same(spelt);
  CHECK(again.to_vector() == std::vector<float>{6, 15});
}

TEST_CASE("results of dynamic extents can be spelt out") {
  const auto twice = plx::jit([](auto x) { return 2 * x; })(plx::array<double, 1>{1, 2});
  const plx::array<double, 1> spelt{2, 4};
  CHECK(same(plx::array<double, 1>{twice}).to_vector() == same(spelt).to_vector());
}

TEST_CASE("several results, sharded ones, and a pmap's argument can be spelt out") {
  auto [moved, mean] =
      plx::pmap<"i">([](auto x) { return std::tuple{x + 1, plx::pmean<"i">(x)}; })(plx::array<float, 1>{1, 2, 3, 4});
  const std::tuple<std::remove_cvref_t<decltype(moved)>, std::remove_cvref_t<decltype(mean)>> both{moved, mean};
  CHECK(same(plx::sharded<float, 1>{std::get<0>(both)}).gather().to_vector() == std::vector<float>{2, 3, 4, 5});
}

TEST_CASE("an expression's array can be spelt out") {
  const plx::array<std::int32_t, 2> a{{1, 2}, {3, 4}};
  const plx::array sum = a + 10 * a;
  const std::vector<decltype(same(sum))> kept{same(sum)};
  CHECK(same(plx::array<std::int32_t, 2>{kept[0]}).to_vector() == std::vector<std::int32_t>{11, 22, 33, 44});
  const plx::array<std::int64_t, plx::extents<1, 2>> narrow{{1, 2}};
  const plx::array difference = narrow - 3;
  const std::vector<decltype(same(difference))> differences{difference};
  CHECK(same(plx::array<std::int64_t, plx::extents<1, 2>>{differences[0]}).to_vector() ==
        std::vector<std::int64_t>{-2, -1});
}

} // namespace

} // namespace spelled_types_test
