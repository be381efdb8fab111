// Conformance cases of JAX's all_gather and psum_scatter.
#include "expected.hpp"

namespace gather_scatter_test {

namespace {

using namespace conformance;

constexpr auto gather = plx::pmap<"i">([](auto x) { return plx::all_gather<"i">(x); });
constexpr auto gather_last = plx::pmap<"i">([](auto x) { return plx::all_gather<"i">(x, -1); });
constexpr auto join = plx::pmap<"i">([](auto x) { return plx::all_gather<"i">(x, 0, plx::gather_mode::tiled); });
constexpr auto join_last = plx::pmap<"i">([](auto x) { return plx::all_gather<"i">(x, -1, plx::gather_mode::tiled); });
constexpr auto scatter = plx::pmap<"i">([](auto x) { return plx::psum_scatter<"i">(x); });
constexpr auto scatter_tiles =
    plx::pmap<"i">([](auto x) { return plx::psum_scatter<"i">(x, 0, plx::gather_mode::tiled); });

} // namespace

TEST_CASE("row 25: every instance gathers all") {
  for (std::int64_t n : {1, 2, 4, 8}) {
    const auto x = counted(n, 4);
    std::vector<float> transposed;
    for (std::int64_t j = 0; j < 4; ++j)
      for (std::int64_t i = 0; i < n; ++i) transposed.push_back(x(i, j));
    check_equal(gather(x), {n, n, 4}, repeated(x.to_vector(), n));
    check_equal(gather_last(x), {n, 4, n}, repeated(transposed, n));
  }
  const plx::array<bool, 2> truths{{true, false, false}, {false, true, true}};
  check_equal(gather(truths), {2, 2, 3}, repeated<bool>({true, false, false, false, true, true}, 2));
  check_equal(gather_last(truths), {2, 3, 2}, repeated<bool>({true, false, false, true, false, true}, 2));
}

TEST_CASE("row 26: gathered pieces joined") {
  for (std::int64_t n : {1, 2, 4, 8}) {
    const auto x = counted(n, 4);
    check_equal(join(x), {n, 4 * n}, repeated(x.to_vector(), n));
    const auto y = counted(n, 4, 3);
    std::vector<float> side_by_side;
    for (std::int64_t j = 0; j < 4; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < 3; ++k) side_by_side.push_back(y(i, j, k));
    check_equal(join_last(y), {n, 4, 3 * n}, repeated(side_by_side, n));
  }
}

TEST_CASE("row 28: each keeps its part of the sum") {
  check_equal(scatter(counted(4, 4)), {4}, std::vector<float>{24, 28, 32, 36});
  std::vector<float> tiles;
  for (int i = 0; i < 16; ++i) tiles.push_back(static_cast<float>(96 + 4 * i));
  check_equal(scatter_tiles(counted(4, 16)), {4, 4}, tiles);
}

TEST_CASE("scattering along a later dimension") {
  auto [stacked, tiled] = plx::pmap<"i">([](auto x) {
    return std::pair{plx::psum_scatter<"i">(x, 1), plx::psum_scatter<"i">(x, 1, plx::gather_mode::tiled)};
  })(counted(3, 2, 3));
  // the sum over i of (i*2 + j)*3 + k is 18 + 9j + 3k
  check_equal(stacked, {3, 2}, std::vector<float>{18, 27, 21, 30, 24, 33});
  check_equal(tiled, {3, 2, 1}, std::vector<float>{18, 27, 21, 30, 24, 33});
}

TEST_CASE("gathering and scattering are each other's transpose") {
  // grad of sum(w * all_gather(x)) sums w over the instances that hold x
  auto y = plx::grad([](auto x, auto w) {
    return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::all_gather<"i">(v); })(x));
  })(counted(3), counted(3, 3));
  check_equal(y, {3}, std::vector<float>{9, 12, 15});
  // grad of sum(w * psum_scatter(x)) gives w to every instance
  auto z = plx::grad([](auto x, auto w) {
    return plx::sum(w * plx::pmap<"i">([](auto v) { return plx::psum_scatter<"i">(v); })(x));
  })(counted(3, 3), plx::array<float, 1>{5, 6, 7});
  check_equal(z, {3, 3}, std::vector<float>{5, 6, 7, 5, 6, 7, 5, 6, 7});
}

} // namespace gather_scatter_test
