// Conformance cases of JAX's axis_index_groups.
#include "expected.hpp"

#include <array>

namespace index_groups_test {

namespace {

using namespace conformance;
using plx::axis_index_groups;
using plx::gather_mode;

constexpr axis_index_groups halves{{0, 1}, {2, 3}};
constexpr axis_index_groups interleaved{{0, 2}, {1, 3}};

/// x[p][e] is 10p + e on four devices.
plx::array<float, 2> tens(std::int64_t elements) {
  auto x = plx::array<float, 2>::uninitialised({4, elements});
  for (std::int64_t p = 0; p < 4; ++p)
    for (std::int64_t e = 0; e < elements; ++e) x.mutable_data()[p * elements + e] = static_cast<float>(10 * p + e);
  return x;
}

} // namespace

TEST_CASE("row 21: sums of groups") {
  constexpr auto sum = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, axis_index_groups{{0, 1}, {2, 3}}); });
  check_equal(sum(counted(4)), {4}, std::vector<float>{1, 1, 5, 5});
  const std::vector<float> rows{4, 6, 8, 10, 4, 6, 8, 10, 20, 22, 24, 26, 20, 22, 24, 26};
  check_equal(sum(counted(4, 4)), {4, 4}, rows);
  check_equal(sum(plx::array<bool, 1>{true, true, false, true}), {4}, std::vector<std::int32_t>{2, 2, 1, 1});
}

TEST_CASE("other reductions of groups, for trees") {
  auto [mean, most, least, mixed] = plx::pmap<"i">([](auto x) {
    return std::tuple{plx::pmean<"i">(x, halves), plx::pmax<"i">(x, interleaved), plx::pmin<"i">(x, interleaved),
                      plx::psum<"i">(std::pair{x, plx::axis_index<"i">()}, interleaved)};
  })(counted(4));
  check_equal(mean, {4}, std::vector<float>{.5f, .5f, 2.5f, 2.5f});
  check_equal(most, {4}, std::vector<float>{2, 3, 2, 3});
  check_equal(least, {4}, std::vector<float>{0, 1, 0, 1});
  check_equal(mixed.first, {4}, std::vector<float>{2, 4, 2, 4});
  check_equal(mixed.second, {4}, std::vector<std::int32_t>{2, 4, 2, 4});
}

TEST_CASE("row 23: sums of constants over groups") {
  constexpr auto sums = plx::pmap<"i">([](auto) { return plx::psum<"i">(2.f, interleaved); });
  check_equal(sums(counted(4)), {4}, std::vector<float>(4, 4.f));
  static_assert(plx::expression(sums, plx::shaped<float, 4>).find("psum") == std::string_view::npos);
}

TEST_CASE("groups of different sizes") {
  auto [sum, mean, count, most] = plx::pmap<"i">([](auto x) {
    constexpr axis_index_groups uneven{{3}, {2, 0, 1}};
    return std::tuple{plx::psum<"i">(x, uneven), plx::pmean<"i">(x, uneven), plx::psum<"i">(1, uneven),
                      plx::pmax<"i">(x, uneven)};
  })(plx::array<float, 1>{1, 2, 6, 8});
  check_equal(sum, {4}, std::vector<float>{9, 9, 9, 8});
  check_equal(mean, {4}, std::vector<float>{3, 3, 3, 8});
  check_equal(count, {4}, std::vector<std::int32_t>{3, 3, 3, 1});
  check_equal(most, {4}, std::vector<float>{6, 6, 6, 8});
  // what is not copied on the way is longer
  const auto x = counted(4, 3000);
  auto long_sums = plx::pmap<"i">([](auto v) { return plx::psum<"i">(v, axis_index_groups{{0, 3, 1}, {2}}); })(x);
  std::vector<float> expected;
  for (std::int64_t p = 0; p < 4; ++p)
    for (std::int64_t e = 0; e < 3000; ++e) expected.push_back(p == 2 ? x(2, e) : x(0, e) + x(1, e) + x(3, e));
  check_equal(long_sums, {4, 3000}, expected);
}

TEST_CASE("gathering and scattering in groups") {
  auto [gathered, backwards, joined] = plx::pmap<"i">([](auto x) {
    return std::tuple{plx::all_gather<"i">(x, interleaved), plx::all_gather<"i">(x, axis_index_groups{{2, 0}, {3, 1}}),
                      plx::all_gather<"i">(x, halves, 0, gather_mode::tiled)};
  })(tens(2));
  check_equal(gathered, {4, 2, 2}, std::vector<float>{0, 1, 20, 21, 10, 11, 30, 31, 0, 1, 20, 21, 10, 11, 30, 31});
  check_equal(backwards, {4, 2, 2}, std::vector<float>{20, 21, 0, 1, 30, 31, 10, 11, 20, 21, 0, 1, 30, 31, 10, 11});
  check_equal(joined, {4, 4}, std::vector<float>{0, 1, 10, 11, 0, 1, 10, 11, 20, 21, 30, 31, 20, 21, 30, 31});
  auto [scattered, tiles] = plx::pmap<"i">([](auto x) {
    return std::tuple{plx::psum_scatter<"i">(plx::slice_in_dim(x, 0, 2), interleaved),
                      plx::psum_scatter<"i">(x, halves, 0, gather_mode::tiled)};
  })(tens(4));
  check_equal(scattered, {4}, std::vector<float>{20, 40, 22, 42});
  check_equal(tiles, {4, 2}, std::vector<float>{10, 12, 14, 16, 50, 52, 54, 56});
}

TEST_CASE("exchanges in groups") {
  auto [pieces, tiles, swapped] = plx::pmap<"i">([](auto x) {
    return std::tuple{plx::all_to_all<"i">(plx::slice_in_dim(x, 0, 2), interleaved, 0, 0),
                      plx::all_to_all<"i">(x, axis_index_groups{{1, 0}, {2, 3}}, 0, 0, gather_mode::tiled),
                      plx::pswapaxes<"i">(plx::slice_in_dim(x, 2, 4), halves, 0)};
  })(tens(4));
  check_equal(pieces, {4, 2}, std::vector<float>{0, 20, 10, 30, 1, 21, 11, 31});
  check_equal(tiles, {4, 4}, std::vector<float>{12, 13, 2, 3, 10, 11, 0, 1, 20, 21, 30, 31, 22, 23, 32, 33});
  check_equal(swapped, {4, 2}, std::vector<float>{2, 12, 3, 13, 22, 32, 23, 33});
}

TEST_CASE("gradients of collectives in groups") {
  const auto x = tens(2), w = counted(4, 2);
  auto sum = plx::grad([](auto v, auto weights) {
    return plx::sum(weights * plx::pmap<"i">([](auto u) { return plx::psum<"i">(u, interleaved); })(v));
  })(x, w);
  check_equal(sum, {4, 2}, std::vector<float>{4, 6, 8, 10, 4, 6, 8, 10});
  // of a gathering: what the two of a group have for one's part is added
  auto gathered = plx::grad([](auto v, auto weights) {
    return plx::sum(weights * plx::pmap<"i">([](auto u) { return plx::all_gather<"i">(u, halves); })(v));
  })(x, counted(4, 2, 2));
  check_equal(gathered, {4, 2}, std::vector<float>{4, 6, 8, 10, 20, 22, 24, 26});
  auto scattered = plx::grad([](auto v, auto weights) {
    return plx::sum(weights * plx::pmap<"i">([](auto u) { return plx::psum_scatter<"i">(u, halves); })(v));
  })(x, counted(4));
  check_equal(scattered, {4, 2}, std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3});
  auto exchanged = plx::grad([](auto v, auto weights) {
    return plx::sum(weights * plx::pmap<"i">([](auto u) { return plx::all_to_all<"i">(u, interleaved, 0, 0); })(v));
  })(x, w);
  check_equal(exchanged, {4, 2}, std::vector<float>{0, 4, 2, 6, 1, 5, 3, 7});
}

TEST_CASE("groups of a pmapped axis beside other axes") {
  // a vmap inside: the collective is one of the whole batch
  auto batch =
      plx::pmap<"i">(plx::vmap([](auto v) { return plx::all_gather<"i">(v, halves); }, plx::in_axes<0>))(counted(4, 2));
  check_equal(batch, {4, 2, 2}, std::vector<float>{0, 2, 1, 3, 0, 2, 1, 3, 4, 6, 5, 7, 4, 6, 5, 7});
  // groups that are computed, along one of two axes and along both
  constexpr auto nested = plx::pmap<"i">([](auto rows) {
    return plx::pmap<"j">([](auto v) {
      std::array<std::array<int, 2>, 4> far{};
      for (std::size_t g = 0; g < 4; ++g) far[g] = {static_cast<int>(g), static_cast<int>(g) + 4};
      return std::tuple{plx::psum<"j">(v, interleaved), plx::psum<"i", "j">(v, axis_index_groups(far)),
                        plx::all_gather<"j">(v, interleaved)};
    })(rows);
  });
  auto [along_j, along_both, gathered] = nested(counted(2, 4));
  check_equal(along_j, {2, 4}, std::vector<float>{2, 4, 2, 4, 10, 12, 10, 12});
  check_equal(along_both, {2, 4}, std::vector<float>{4, 6, 8, 10, 4, 6, 8, 10});
  check_equal(gathered, {2, 4, 2}, std::vector<float>{0, 2, 1, 3, 0, 2, 1, 3, 4, 6, 5, 7, 4, 6, 5, 7});
}

TEST_CASE("what is grouped differs between instances, and is printed") {
  constexpr auto grouped = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x, halves); });
  static_assert(plx::expression(grouped, plx::shaped<float, 4>).find("psum[axes=(i) groups=((0,1),(2,3))]") !=
                std::string_view::npos);
  check_equal(grouped(counted(4)), {4}, std::vector<float>{1, 1, 5, 5});
}

} // namespace index_groups_test
