// Conformance cases of JAX's collectives over axes that vmap maps, and over a pmapped axis around a vmap.
#include "expected.hpp"

#include <array>

namespace vmap_collectives_test {

namespace {

using namespace conformance;

// x minus its reduction over the named ones of three axes, each name's axis at its own position
template <class Reduce> auto left_over(Reduce reduce, const plx::array<float, 3>& x, unsigned names) {
  std::vector<float> result;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        bool any = false;
        float reduced = 0;
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            for (int c = 0; c < 2; ++c) {
              const bool belongs =
                  ((names & 1U) != 0 || a == i) && ((names & 2U) != 0 || b == j) && ((names & 4U) != 0 || c == k);
              if (!belongs) continue;
              reduced = any ? reduce(reduced, x(a, b, c)) : x(a, b, c);
              any = true;
            }
        result.push_back(x(i, j, k) - reduced);
      }
  return result;
}

// every subset of the names in every order, and which axes it reduces
template <class Collective>
constexpr auto every_order = [](auto x) {
  constexpr Collective c;
  return std::array {
    x - c.template operator()<"i">(x),
    x - c.template operator()<"j">(x),
    x - c.template operator()<"k">(x),
    x - c.template operator()<"i", "j">(x),
    x - c.template operator()<"j", "i">(x),
    x - c.template operator()<"i", "k">(x),
    x - c.template operator()<"k", "i">(x),
    x - c.template operator()<"j", "k">(x),
    x - c.template operator()<"k", "j">(x),
    x - c.template operator()<"i", "j", "k">(x),
    x - c.template operator()<"i", "k", "j">(x),
    x - c.template operator()<"j", "i", "k">(x),
    x - c.template operator()<"j", "k", "i">(x),
    x - c.template operator()<"k", "i", "j">(x),
    x - c.template operator()<"k", "j", "i">(x)
  };
};
constexpr std::array<unsigned, 15> reduced_axes{1, 2, 4, 3, 3, 5, 5, 6, 6, 7, 7, 7, 7, 7, 7};

struct psum_over {
  template <plx::detail::fixed_string... Names> constexpr auto operator()(auto x) const {
    return plx::psum<Names...>(x);
  }
};
struct pmax_over {
  template <plx::detail::fixed_string... Names> constexpr auto operator()(auto x) const {
    return plx::pmax<Names...>(x);
  }
};
struct pmin_over {
  template <plx::detail::fixed_string... Names> constexpr auto operator()(auto x) const {
    return plx::pmin<Names...>(x);
  }
};

template <class Collective, class Reduce> void check_every_order(Reduce reduce) {
  constexpr auto mapped =
      plx::vmap<"k">(plx::vmap<"j">(plx::vmap<"i">(every_order<Collective>), plx::in_axes<1>, plx::out_axes<1>),
                     plx::in_axes<2>, plx::out_axes<2>);
  const auto x = counted(2, 2, 2);
  const auto results = mapped(x);
  for (std::size_t n = 0; n < reduced_axes.size(); ++n) {
    INFO("case " << n);
    check_equal(results[n], {2, 2, 2}, left_over(reduce, x, reduced_axes[n]));
  }
}

} // namespace

TEST_CASE("row 72: psum over every subset of vmapped names") {
  check_every_order<psum_over>([](float a, float b) { return a + b; });
}
TEST_CASE("row 72: pmax over every subset of vmapped names") {
  check_every_order<pmax_over>([](float a, float b) { return std::max(a, b); });
}
TEST_CASE("row 72: pmin over every subset of vmapped names") {
  check_every_order<pmin_over>([](float a, float b) { return std::min(a, b); });
}

TEST_CASE("row 76: gradients and positions under vmap") {
  constexpr auto minus = plx::grad([](auto x) { return -plx::psum<"i">(x); });
  check_equal(plx::vmap<"i">(minus, plx::out_axes<plx::none>)(plx::array<float, 1>{1, 1, 1, 1, 1}), {},
              std::vector<float>{-5});
  constexpr auto swapped = plx::grad([](auto x) { return plx::ppermute<"i">(x, {{0, 1}, {1, 0}}); });
  check_equal(plx::vmap<"i">(swapped)(plx::array<float, plx::extents<2>>{1, 2}), {2}, std::vector<float>{1, 1});
  constexpr auto centred = [](auto x) { return x - plx::axis_index<"i">(); };
  check_equal(plx::vmap<"i">(centred)(counted<std::int32_t>(10)), {10}, std::vector<std::int32_t>(10, 0));
}

TEST_CASE("section 3: collectives of values that vmap does not map") {
  auto [sum, mean, most, gathered] = plx::vmap<"i">(
      [](auto x, auto y) {
        return std::tuple{plx::psum<"i">(y) + 0 * x, plx::pmean<"i">(y) + 0 * x, plx::pmax<"i">(y) + 0 * x,
                          plx::all_gather<"i">(y)};
      },
      plx::in_axes<0, plx::none>)(counted(3), 7.f);
  check_equal(sum, {3}, std::vector<float>{21, 21, 21});
  check_equal(mean, {3}, std::vector<float>{7, 7, 7});
  check_equal(most, {3}, std::vector<float>{7, 7, 7});
  check_equal(gathered, {3, 3}, std::vector<float>(9, 7));
}

TEST_CASE("section 3: gathering and scattering over a vmapped axis") {
  // outputs of all_gather are unmapped: out_axes none is legal
  auto [stacked, last, joined] = plx::vmap<"i">(
      [](auto x) {
        return std::tuple{plx::all_gather<"i">(x), plx::all_gather<"i">(x, -1),
                          plx::all_gather<"i">(x, 0, plx::gather_mode::tiled)};
      },
      plx::in_axes<1>, plx::out_axes<plx::none>)(counted(2, 3));
  check_equal(stacked, {3, 2}, std::vector<float>{0, 3, 1, 4, 2, 5});
  check_equal(last, {2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5});
  check_equal(joined, {6}, std::vector<float>{0, 3, 1, 4, 2, 5});
  auto [parts, tiles] = plx::vmap<"i">([](auto x) {
    return std::tuple{plx::psum_scatter<"i">(plx::slice_in_dim(x, 0, 2)),
                      plx::psum_scatter<"i">(x, 0, plx::gather_mode::tiled)};
  })(counted(2, 4));
  check_equal(parts, {2}, std::vector<float>{4, 6});
  check_equal(tiles, {2, 2}, std::vector<float>{4, 6, 8, 10});
}

TEST_CASE("section 3: collectives over a pmapped axis around a vmap") {
  const auto x = counted(2, 3, 4); // devices, batch, elements
  auto [sum, gathered, gathered_last, joined, turned] = plx::pmap<"i">(plx::vmap([](auto v) {
    return std::tuple{plx::psum<"i">(v), plx::all_gather<"i">(v), plx::all_gather<"i">(v, 1),
                      plx::all_gather<"i">(v, 0, plx::gather_mode::tiled), plx::ppermute<"i">(v, plx::rotate{1})};
  }))(x);
  std::vector<float> sums, stacks, columns, rows, rolled;
  for (int p = 0; p < 2; ++p)
    for (int b = 0; b < 3; ++b) {
      for (int e = 0; e < 4; ++e) sums.push_back(x(0, b, e) + x(1, b, e));
      for (int q = 0; q < 2; ++q)
        for (int e = 0; e < 4; ++e) stacks.push_back(x(q, b, e));
      for (int e = 0; e < 4; ++e)
        for (int q = 0; q < 2; ++q) columns.push_back(x(q, b, e));
      for (int e = 0; e < 4; ++e) rolled.push_back(x(1 - p, b, e));
    }
  rows = stacks;
  check_equal(sum, {2, 3, 4}, sums);
  check_equal(gathered, {2, 3, 2, 4}, stacks);
  check_equal(gathered_last, {2, 3, 4, 2}, columns);
  check_equal(joined, {2, 3, 8}, rows);
  check_equal(turned, {2, 3, 4}, rolled);
}

TEST_CASE("section 3: scattering over a pmapped axis around a vmap") {
  // each device has (batch 3, elements 2); the elements are summed over devices, and device p keeps element p
  auto y =
      plx::pmap<"i">(plx::vmap([](auto v) { return plx::psum_scatter<"i">(v); }, plx::in_axes<0>))(counted(2, 3, 2));
  check_equal(y, {2, 3}, std::vector<float>{6, 10, 14, 8, 12, 16});
  // the same with the batch last: dimension arguments move with it
  auto z =
      plx::pmap<"i">(plx::vmap([](auto v) { return plx::psum_scatter<"i">(v); }, plx::in_axes<1>))(counted(2, 2, 3));
  check_equal(z, {2, 3}, std::vector<float>{6, 8, 10, 12, 14, 16});
}

TEST_CASE("section 3: a vmap around a pmap whose function uses both names") {
  auto y = plx::vmap<"batch">(
      plx::pmap<"i">([](auto x) { return std::pair{plx::psum<"i">(x), plx::psum<"batch">(x)}; }))(counted(3, 2));
  check_equal(y.first, {3, 2}, std::vector<float>{1, 1, 5, 5, 9, 9});
  check_equal(y.second, {3, 2}, std::vector<float>{6, 9, 6, 9, 6, 9});
}

} // namespace vmap_collectives_test
