// Reading elements at places that are data, beside plain loops.
#include "indices.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace indexing_test {

namespace {

using namespace conformance;
using namespace conformance::indexing;

} // namespace

TEST_CASE("x[i]: beyond an axis is its end, negative ones count back") {
  const auto x = waves<2>({5, 3});
  const auto picked = plx::jit([](auto a, auto i) { return 2 * a[i]; })(x, indices(mixed));
  numbers expected;
  for (auto i : mixed)
    for (std::int64_t j = 0; j < 3; ++j) expected.push_back(2 * at(x, clipped(i, 5), j));
  check_close<double>(picked, {10, 3}, expected, 0);
  // a number that is traced, one that is known, and a matrix of them
  const auto one = plx::array<std::int32_t, 0>(-2);
  const auto [traced, known, table] = plx::jit([](auto a, auto i, auto m) {
    return std::tuple(a[i], a[-2], plx::index_in_dim(a, 1, 1)[m]);
  })(x, one, plx::array<std::int64_t, 2>{{0, -1}, {4, 7}});
  const numbers fourth{at(x, 3, 0), at(x, 3, 1), at(x, 3, 2)};
  check_close<double>(traced, {3}, fourth, 0);
  check_close<double>(known, {3}, fourth, 0);
  check_close<double>(table, {2, 2}, {at(x, 0, 1), at(x, 4, 1), at(x, 4, 1), at(x, 4, 1)}, 0);
}

TEST_CASE("modes of reading") {
  const auto x = waves<1>({5});
  const auto i = indices(mixed);
  const auto [clip, fill, filled, wrap, unsigned_ones] = plx::jit([](auto a, auto j, auto u) {
    return std::tuple(a.at(j).get(), a.at(j).get(plx::mode::fill), a.at(j).get(plx::mode::fill, 7),
                      plx::take(a, j, 0, plx::mode::wrap), a[u]);
  })(x, i, plx::array<std::uint32_t, 1>{4, 0, 4000000000U});
  numbers expected[4];
  for (auto index : mixed) {
    expected[0].push_back(x(clipped(index, 5)));
    expected[1].push_back(valid(index, 5) < 0 ? NAN : x(valid(index, 5)));
    expected[2].push_back(valid(index, 5) < 0 ? 7 : x(valid(index, 5)));
    expected[3].push_back(x(((index % 5) + 5) % 5));
  }
  check_close<double>(clip, {10}, expected[0], 0);
  for (std::size_t k = 0; k < 10; ++k) {
    const double got = on_host(fill).values()[k];
    CHECK((std::isnan(expected[1][k]) ? std::isnan(got) : got == expected[1][k]));
  }
  check_close<double>(filled, {10}, expected[2], 0);
  check_close<double>(wrap, {10}, expected[3], 0);
  check_close<double>(unsigned_ones, {3}, {x(4), x(0), x(4)}, 0);
  // what whole numbers and truth values are filled with
  const auto beyond = indices({1, 3});
  const auto take_all = [](auto a, auto b, auto c, auto j) {
    return std::tuple(plx::take(a, j), plx::take(b, j), plx::take(c, j));
  };
  const auto [least, greatest, truth] = plx::jit(take_all)(
      plx::array<std::int32_t, 1>{5, 6}, plx::array<std::uint32_t, 1>{5, 6}, plx::array<bool, 1>{false, false}, beyond);
  check_equal<std::int32_t>(least, {2}, {6, std::numeric_limits<std::int32_t>::min()});
  check_equal<std::uint32_t>(greatest, {2}, {6, std::numeric_limits<std::uint32_t>::max()});
  check_equal<bool>(truth, {2}, {false, true});
}

TEST_CASE("take: along each axis, and of all elements") {
  const auto x = waves<3>({3, 4, 2});
  const plx::array<std::int32_t, 2> i{{0, 2, -1}, {1, 1, -2}};
  const auto [first, middle, flat] = plx::jit(
      [](auto a, auto j) { return std::tuple(plx::take(a, j, 0), plx::take(a, j, 1), plx::take(a, j)); })(x, i);
  numbers along_first, along_middle, of_all;
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t c = 0; c < 3; ++c) {
      of_all.push_back(x.values()[static_cast<std::size_t>(valid(i(r, c), 24))]);
      for (std::int64_t j = 0; j < 4; ++j)
        for (std::int64_t k = 0; k < 2; ++k) along_first.push_back(x(valid(i(r, c), 3), j, k));
    }
  for (std::int64_t p = 0; p < 3; ++p)
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t k = 0; k < 2; ++k) along_middle.push_back(x(p, valid(i(r, c), 4), k));
  check_close<double>(first, {2, 3, 4, 2}, along_first, 0);
  check_close<double>(middle, {3, 2, 3, 2}, along_middle, 0);
  check_close<double>(flat, {2, 3}, of_all, 0);
}

TEST_CASE("several axes at once, and a whole one among them") {
  const auto x = waves<3>({3, 4, 5});
  const auto i = indices({2, 0, 1, -1}), j = indices({3, -4, 1, 9});
  const auto [both, apart, second] = plx::jit([](auto a, auto p, auto q) {
    return std::tuple(a.at(p, q).get(), a.at(p, plx::none, q).get(), a.at(plx::none, q).get());
  })(x, i, j);
  numbers of_both, of_apart, of_second;
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t m = 0; m < 5; ++m) of_both.push_back(x(clipped(i(k), 3), clipped(j(k), 4), m));
    for (std::int64_t m = 0; m < 4; ++m) of_apart.push_back(x(clipped(i(k), 3), m, clipped(j(k), 5)));
  }
  for (std::int64_t p = 0; p < 3; ++p)
    for (std::int64_t k = 0; k < 4; ++k)
      for (std::int64_t m = 0; m < 5; ++m) of_second.push_back(x(p, clipped(j(k), 4), m));
  check_close<double>(both, {4, 5}, of_both, 0);
  check_close<double>(apart, {4, 4}, of_apart, 0);
  check_close<double>(second, {3, 4, 5}, of_second, 0);
}

TEST_CASE("x[i] on every device, and under vmap, of what is mapped and what is not") {
  places square(36);
  std::iota(square.begin(), square.end(), 0);
  const plx::array<std::int32_t, 2> six({6, 6}, std::vector<std::int32_t>(square.begin(), square.end()));
  static constexpr auto element = [](auto v, auto i, auto j) { return v.at(i, j).get(); };
  const auto on_devices = plx::pmap(element, plx::in_axes<plx::none, 0, 0>)(six, indices({1, 5}), indices({2, -1}));
  check_equal<std::int32_t>(on_devices, {2}, {8, 35});

  std::vector<float> counted(30);
  std::iota(counted.begin(), counted.end(), 0.0f);
  const plx::array<float, 2> x({10, 3}, std::vector(counted));
  const plx::array<float, 1> three{0, 1, 2};
  const auto places = indices({0, 1, 2, 1, 0, 0, 1, 2, 1, 0});
  static constexpr auto at = [](auto v, auto i) { return v[i]; };
  numbers seconds, of_each, of_three;
  for (std::int64_t k = 0; k < 10; ++k) {
    seconds.push_back(x(k, 1));
    of_each.push_back(x(k, places(k)));
    of_three.push_back(places(k));
  }
  check_close<float>(plx::jit(plx::vmap(at, plx::in_axes<0, plx::none>))(x, 1), {10}, seconds, 0);
  check_close<float>(plx::jit(plx::vmap(at))(x, places), {10}, of_each, 0);
  check_close<float>(plx::jit(plx::vmap(at, plx::in_axes<plx::none, 0>))(three, places), {10}, of_three, 0);

  numbers identity(100);
  for (std::size_t k = 0; k < 10; ++k) identity[11 * k] = 1;
  const auto added = plx::jit(plx::vmap([](auto v, auto i) { return v.at(i).add(1.f); }, plx::in_axes<plx::none, 0>))(
      plx::array<float, 1>::filled({10}, 0.f), indices({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  check_close<float>(added, {10, 10}, identity, 0);
}

TEST_CASE("dynamic slices begin where they fit") {
  const auto x = counted<float>(4, 5);
  for (int i : {-9, -1, 0, 1, 3, 7}) {
    const std::int64_t row = std::clamp(i < 0 ? i + 4 : i, 0, 2), column = std::clamp(i < 0 ? i + 5 : i, 0, 2);
    const auto start = plx::array<std::int32_t, 0>(i);
    const auto [part, rows, one, written, column_set] = plx::jit([](auto a, auto s) {
      auto corner = plx::dynamic_slice(a, std::tuple{s, s}, {2, 3});
      return std::tuple(corner, plx::dynamic_slice_in_dim(a, s, 2), plx::dynamic_index_in_dim(a, s, 1),
                        plx::dynamic_update_slice(a, -corner, std::tuple{0, s}),
                        plx::dynamic_update_index_in_dim(a, plx::index_in_dim(a, 0, 1), s, 1));
    })(x, start);
    std::vector<float> corner, both_rows, of_column, update = x.to_vector(), columns = x.to_vector();
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 3; ++c) corner.push_back(x(row + r, column + c));
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 5; ++c) both_rows.push_back(x(row + r, c));
    const std::int64_t single = std::clamp(i < 0 ? i + 5 : i, 0, 4);
    for (std::int64_t r = 0; r < 4; ++r) {
      of_column.push_back(x(r, single));
      columns[static_cast<std::size_t>(5 * r + single)] = x(r, 0);
    }
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 3; ++c)
        update[static_cast<std::size_t>(5 * r + column + c)] = -corner[static_cast<std::size_t>(3 * r + c)];
    check_equal<float>(part, {2, 3}, corner);
    check_equal<float>(rows, {2, 5}, both_rows);
    check_equal<float>(one, {4}, of_column);
    check_equal<float>(written, {4, 5}, update);
    check_equal<float>(column_set, {4, 5}, columns);
  }
}

TEST_CASE("take_along_axis undoes argsort, and broadcasts") {
  const auto x = waves<2>({3, 7});
  const auto [sorted, again, broadcast] = plx::jit([](auto a, auto i) {
    return std::tuple(plx::sort(a, 1), plx::take_along_axis(a, plx::argsort(a, 1), 1), plx::take_along_axis(a, i, 0));
  })(x, plx::array<std::int32_t, plx::extents<4, 1>>{{2}, {-3}, {2}, {1}});
  check_close<double>(again, {3, 7}, on_host(sorted).values().size() == 21 ? numbers(sorted.to_vector()) : numbers{},
                      0);
  numbers rows;
  for (std::int64_t r : {2, 0, 2, 1})
    for (std::int64_t c = 0; c < 7; ++c) rows.push_back(x(r, c));
  check_close<double>(broadcast, {4, 7}, rows, 0);
}

TEST_CASE("gathers and scatters of slices, by lax's dimension numbers") {
  const auto x = counted<float>(4, 5);
  // slices of 2 x 3 from these rows and columns on; the last one does not fit
  const plx::array<std::int32_t, plx::extents<3, 2>> i{{0, 1}, {2, 2}, {3, 1}};
  const auto [slices, moved, columns] = plx::jit([](auto a, auto starts) {
    constexpr plx::gather_dimension_numbers both{
        .offset_dims = {1, 2}, .collapsed_slice_dims = {}, .start_index_map = {0, 1}};
    return std::tuple(plx::gather(a, starts, both, {2, 3}), plx::gather(a, starts, both, {2, 3}, plx::mode::clip),
                      // a column for each pair of numbers, along the first axis of the result
                      plx::gather(a, plx::reshape(starts, {3, 2, 1}), {{0}, {1}, {1}}, {4, 1}));
  })(x, i);
  std::vector<float> expected[3];
  for (std::int64_t k = 0; k < 3; ++k)
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 3; ++c) {
        expected[0].push_back(k < 2 ? x(i(k, 0) + r, i(k, 1) + c) : NAN);
        expected[1].push_back(x(std::min(i(k, 0), 2) + r, i(k, 1) + c));
      }
  for (std::int64_t r = 0; r < 4; ++r)
    for (auto column : i.values()) expected[2].push_back(x(r, column));
  const auto read = on_host(slices).to_vector();
  CHECK(std::vector(read.begin(), read.begin() + 12) == std::vector(expected[0].begin(), expected[0].begin() + 12));
  for (std::size_t k = 12; k < 18; ++k) CHECK(std::isnan(read[k]));
  check_equal<float>(moved, {3, 2, 3}, expected[1]);
  check_equal<float>(columns, {4, 3, 2}, expected[2]);

  const auto updates = counted<float>(3, 2, 3);
  const auto [added, largest] = plx::jit([](auto a, auto starts, auto u) {
    constexpr plx::scatter_dimension_numbers both{
        .update_window_dims = {1, 2}, .inserted_window_dims = {}, .scatter_dims_to_operand_dims = {0, 1}};
    constexpr plx::scatter_dimension_numbers rows{
        .update_window_dims = {1}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
    return std::tuple(plx::scatter_add(a, starts, u, both), plx::scatter_max(a, plx::slice_in_dim(starts, 0, 1, 1, 1),
                                                                             plx::zeros<float>({3, 5}) + 12.F, rows));
  })(x, i, updates);
  std::vector<float> sums = x.to_vector(), most = x.to_vector();
  for (std::int64_t k = 0; k < 2; ++k)
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 3; ++c)
        sums[static_cast<std::size_t>(5 * (i(k, 0) + r) + i(k, 1) + c)] += updates(k, r, c);
  for (std::size_t row : {0U, 2U, 3U})
    for (std::size_t c = 0; c < 5; ++c) most[5 * row + c] = std::max(most[5 * row + c], 12.F);
  check_equal<float>(added, {4, 5}, sums);
  check_equal<float>(largest, {4, 5}, most);
}

TEST_CASE("what is taken of an array that has nothing") {
  auto none = plx::array<float, 1>::uninitialised({0});
  CHECK_THROWS_AS(plx::jit([](auto a, auto i) { return a[i]; })(none, indices({0})), plx::shape_error);
  const auto unchanged = plx::jit([](auto a, auto i) { return a.at(i).add(1); })(none, indices({0}));
  check_equal<float>(unchanged, {0}, {});
  const auto empty = plx::jit([](auto a, auto i) { return a[i]; })(counted<float>(3), indices({}));
  check_equal<float>(empty, {0}, {});
}

TEST_CASE("small arrays of static extents, whose elements are written out") {
  const plx::array<double, plx::extents<3, 2>> x{{1, 2}, {3, 4}, {5, 6}};
  const plx::array<std::int32_t, plx::extents<4>> i{2, 0, -1, 7};
  static constexpr auto all = [](auto a, auto j) {
    auto gradient = plx::grad([=](auto b) { return plx::sum(b[j] * b[j]); })(a);
    return std::tuple(a[j] + 1., a.at(j).add(a[j]), a.at(j).set(0.), gradient,
                      plx::dynamic_slice(a, std::tuple{j[2], j[1]}, {2, 1}));
  };
  auto check_all = [](const auto& results) {
    const auto& [read, added, set, gradient, part] = results;
    check_close<double>(read, {4, 2}, {6, 7, 2, 3, 6, 7, 6, 7}, 0);
    check_close<double>(added, {3, 2}, {2, 4, 3, 4, 15, 18}, 0);
    check_close<double>(set, {3, 2}, {0, 0, 3, 4, 0, 0}, 0);
    check_close<double>(gradient, {3, 2}, {2, 4, 0, 0, 30, 36}, 0);
    check_close<double>(part, {2, 1}, {3, 5}, 0);
  };
  check_all(plx::jit(all)(x, i));
}

TEST_CASE("x[i] of arrays outside of any function") {
  const plx::array<float, 2> x{{1, 2}, {3, 4}, {5, 6}};
  const plx::array<int, 1> rows{2, 0, -1, 7};
  const plx::array<float, 2> chosen = x[rows];
  check_equal<float>(chosen, {4, 2}, {5, 6, 1, 2, 5, 6, 5, 6});
  const plx::array<float, 1> last = x[-1];
  check_equal<float>(last, {2}, {5, 6});
  const plx::array<float, 2> sums = 2.f * x[rows] + x[plx::array<int, 1>{1, 1, 1, 0}];
  check_equal<float>(sums, {4, 2}, {13, 16, 5, 8, 13, 16, 11, 14});
}

} // namespace indexing_test
