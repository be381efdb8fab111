// Reading and changing elements at places that are data, beside plain loops: by themselves, under vmap and grad, inside
// a scan and on every device of a pmap.
#include "expected.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace indexing_test {

namespace {

using namespace conformance;
using numbers = std::vector<double>;
using places = std::vector<std::int32_t>;

plx::array<std::int32_t, 1> indices(const places& values) {
  return plx::array<std::int32_t, 1>({static_cast<std::int64_t>(values.size())}, std::span<const std::int32_t>(values));
}
template <int Rank> plx::array<double, Rank> waves(const std::array<std::int64_t, std::size_t{Rank}>& shape) {
  auto result = plx::array<double, Rank>::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<double>(static_cast<int>(i * 37 % 101) - 50) / 40;
  return result;
}
/// Where an index lies on an axis: from the end where it is negative, and the nearest place for one beyond it.
std::int64_t clipped(std::int64_t i, std::int64_t extent) {
  return std::clamp<std::int64_t>(i < 0 ? i + extent : i, 0, extent - 1);
}
/// The same, but -1 for what an axis does not have.
std::int64_t valid(std::int64_t i, std::int64_t extent) {
  i = i < 0 ? i + extent : i;
  return i < 0 || i >= extent ? -1 : i;
}
double at(const plx::array<double, 2>& x, std::int64_t i, std::int64_t j) {
  return x.values()[static_cast<std::size_t>(i * x.shape(1) + j)];
}

/// Some within, some negative, some beyond, some equal.
const places mixed{2, -1, 0, 9, 2, -7, 4, 2, -5, 5};

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

namespace {

/// x with rows changed one after another.
template <class Combine>
numbers changed(const plx::array<double, 2>& x, const places& i, const plx::array<double, 2>& y, Combine combine) {
  numbers result = x.to_vector();
  for (std::size_t k = 0; k < i.size(); ++k) {
    const std::int64_t row = valid(i[k], x.shape(0));
    if (row < 0) continue;
    for (std::int64_t j = 0; j < x.shape(1); ++j) {
      double& element = result[static_cast<std::size_t>(row * x.shape(1) + j)];
      element = combine(element, at(y, static_cast<std::int64_t>(k), j));
    }
  }
  return result;
}
const auto replace = [](double, double update) { return update; };
const auto smaller = [](double a, double b) { return std::min(a, b); };
const auto larger = [](double a, double b) { return std::max(a, b); };

} // namespace

TEST_CASE("at(i): updates are made in their order, those beyond the axis are dropped") {
  const auto x = waves<2>({5, 3});
  const plx::array<double, 2> y = 1.5 - 2 * waves<2>({10, 3});
  const auto [set, added, multiplied, least, most] = plx::jit([](auto a, auto i, auto b) {
    return std::tuple(a.at(i).set(b), a.at(i).add(b), a.at(i).multiply(b), a.at(i).min(b), a.at(i).max(b));
  })(x, indices(mixed), y);
  check_close<double>(set, {5, 3}, changed(x, mixed, y, replace), 0);
  check_close<double>(added, {5, 3}, changed(x, mixed, y, std::plus<>()), 1e-15, 1e-15);
  check_close<double>(multiplied, {5, 3}, changed(x, mixed, y, std::multiplies<>()), 1e-15);
  check_close<double>(least, {5, 3}, changed(x, mixed, y, smaller), 0);
  check_close<double>(most, {5, 3}, changed(x, mixed, y, larger), 0);
}

TEST_CASE("at(i): updates broadcast, change their type, and may be clipped or said to be unique") {
  const auto x = counted<float>(4, 3);
  const auto i = indices({3, 9});
  const auto [numbers_set, rows, clip, unique] = plx::jit([](auto a, auto j, auto row) {
    return std::tuple(a.at(j).set(-1), a.at(j).add(row), a.at(j).add(1, plx::mode::clip),
                      a.at(plx::none, 1).multiply(2, plx::unique_indices));
  })(x, i, plx::array<std::int32_t, 1>{10, 20, 30});
  check_equal<float>(numbers_set, {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1});
  check_equal<float>(rows, {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 19, 30, 41});
  check_equal<float>(clip, {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13});
  check_equal<float>(unique, {4, 3}, {0, 2, 2, 3, 8, 5, 6, 14, 8, 9, 20, 11});
}

TEST_CASE("updates of updates, and of arrays that are read elsewhere") {
  const auto x = waves<1>({6});
  const auto i = indices({1, 4, 1}), j = indices({0, 1, 5});
  const auto [twice, kept, sum] = plx::jit([](auto a, auto p, auto q) {
    auto once = a.at(p).add(1.);
    return std::tuple(once.at(q).multiply(3.), once, plx::sum(a.at(p).set(a[q]) * a));
  })(x, i, j);
  numbers once = x.to_vector();
  for (auto k : {1, 4, 1}) once[static_cast<std::size_t>(k)] += 1;
  numbers both = once;
  for (auto k : {0, 1, 5}) both[static_cast<std::size_t>(k)] *= 3;
  check_close<double>(twice, {6}, both, 1e-15);
  check_close<double>(kept, {6}, once, 1e-15);
  const numbers written{x(0), x(5), x(2), x(3), x(1), x(5)};
  double total = 0;
  for (std::size_t k = 0; k < 6; ++k) total += written[k] * x.values()[k];
  check_close<double>(sum, {}, {total}, 1e-14);
}

TEST_CASE("long lists of updates are made in order, to the last bit") {
  const std::int64_t count = 3'001, targets = 501;
  auto i = plx::array<std::int32_t, 1>::uninitialised({count});
  auto y = plx::array<float, 1>::uninitialised({count});
  for (std::int64_t k = 0; k < count; ++k) {
    i.mutable_data()[k] = static_cast<std::int32_t>(k * k % 1009 % targets);
    y.mutable_data()[k] = static_cast<float>(k % 1000) / 7;
  }
  std::vector<float> sums(static_cast<std::size_t>(targets)), last(static_cast<std::size_t>(targets));
  for (std::int64_t k = 0; k < count; ++k) {
    sums[static_cast<std::size_t>(i(k))] += y(k);
    last[static_cast<std::size_t>(i(k))] = y(k);
  }
  const auto [added, set] = plx::jit([](auto j, auto b) {
    auto zeros = plx::zeros<float>({501});
    return std::tuple(zeros.at(j).add(b), zeros.at(j).set(b));
  })(i, y);
  check_equal<float>(added, {targets}, sums); // to the last bit
  check_equal<float>(set, {targets}, last);
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

TEST_CASE("sums of segments, and one_hot") {
  const auto x = counted<float>(5, 2);
  const auto [sums, hot] = plx::jit([](auto a, auto i) {
    return std::tuple(plx::segment_sum(a, i, 3), plx::one_hot(i, 3));
  })(x, indices({2, 0, 2, -1, 3}));
  check_equal<float>(sums, {3, 2}, {2, 3, 0, 0, 4, 6});
  check_equal<float>(hot, {5, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
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

namespace {

/// The gradient of f by differences.
template <class F> numbers slopes(const F& f, plx::array<double, 2> x) {
  numbers result;
  const double step = 1e-6;
  for (std::int64_t k = 0; k < x.size(); ++k) {
    const double value = x.values()[static_cast<std::size_t>(k)];
    x.mutable_data()[k] = value + step;
    const double above = plx::array<double, 0>(f(x)).item();
    x.mutable_data()[k] = value - step;
    result.push_back((above - plx::array<double, 0>(f(x)).item()) / (2 * step));
    x.mutable_data()[k] = value;
  }
  return result;
}
constexpr auto weigh = [](auto x) { return plx::sum(plx::sin(x) * (plx::arange<double>(x.shape(1)) + 1.)); };

} // namespace

TEST_CASE("gradients by the array and by the updates, beside differences") {
  const auto x = waves<2>({5, 3});
  const plx::array<double, 2> y = 0.7 * waves<2>({10, 3}) + 0.31;
  const auto i = indices(mixed);
  auto check = [&](auto f) {
    const auto of_x = plx::jit(plx::grad(f, plx::argnums<0>))(x, y, i);
    const auto of_y = plx::jit(plx::grad(f, plx::argnums<1>))(x, y, i);
    check_close<double>(of_x, {5, 3}, slopes([&](const auto& z) { return plx::jit(f)(z, y, i); }, x), 1e-6, 1e-6);
    check_close<double>(of_y, {10, 3}, slopes([&](const auto& z) { return plx::jit(f)(x, z, i); }, y), 1e-6, 1e-6);
  };
  check([](auto a, auto b, auto j) { return weigh(a[j] * b); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).set(b)); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).add(b)); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).max(b)); });
  check([](auto a, auto b, auto j) { return weigh(a.at(j).min(b)); });
  check([](auto a, auto b, auto) {
    auto k = plx::arange<int>(3);
    return weigh(a.at(k).multiply(plx::slice_in_dim(b, 0, 3), plx::unique_indices)) + plx::sum(b);
  });
  check([](auto a, auto b, auto j) {
    auto k = plx::index_in_dim(j, 0);
    return weigh(plx::dynamic_update_slice(a, plx::slice_in_dim(b, 0, 2), std::tuple{k, 0})) +
           weigh(plx::dynamic_slice(b, std::tuple{k, k}, {4, 2}));
  });
  check([](auto a, auto b, auto j) { return weigh(plx::segment_sum(b, j, 4)) + plx::sum(a[j] * b); });
}

TEST_CASE("second derivatives, and equal extremes share") {
  const auto x = waves<1>({5});
  const auto i = indices(mixed);
  const auto second = plx::jit(plx::grad([](auto a, auto j) {
    return plx::sum(plx::grad([j](auto b) { return plx::sum(b[j] * b[j] * b[j]); })(a));
  }))(x, i);
  numbers expected(5);
  for (auto index : mixed) expected[static_cast<std::size_t>(clipped(index, 5))] += 6 * x(clipped(index, 5));
  check_close<double>(second, {5}, expected, 1e-14, 1e-14);
  const auto [of_array, of_updates] =
      plx::jit(plx::grad([](auto a, auto b, auto j) { return plx::sum(a.at(j).max(b)); }, plx::argnums<0, 1>))(
          plx::array<double, 1>{1, 2}, plx::array<double, 1>{2, 2, 0}, indices({1, 1, 0}));
  check_close<double>(of_array, {2}, {1, 1. / 3}, 1e-15);
  check_close<double>(of_updates, {3}, {1. / 3, 1. / 3, 0}, 1e-15);
}

TEST_CASE("batches of arrays, of indices and of both are as call by call") {
  const auto x = waves<3>({4, 5, 3});
  const auto one = waves<2>({5, 3});
  const plx::array<std::int32_t, 2> i{{0, -1, 7}, {2, 2, 1}, {-9, 4, 3}, {1, 0, 2}};
  const auto few = indices({3, -2, 3});
  const plx::array<double, 3> y = 2 * waves<3>({4, 3, 3}) - 0.3;
  static constexpr auto read = [](auto a, auto j) { return a[j]; };
  static constexpr auto write = [](auto a, auto j, auto b) { return a.at(j).add(b); };
  static constexpr auto part = [](auto a, auto j) { return plx::dynamic_slice_in_dim(a, j[0], 2); };
  static constexpr auto along = [](auto a, auto j) {
    return plx::take_along_axis(a, plx::broadcast_to(plx::reshape(j, {3, 1}), {3, 3}), 0, plx::mode::clip);
  };
  const auto of = [](const auto& whole, std::int64_t k) {
    return plx::jit([](auto a, auto number) { return plx::dynamic_index_in_dim(a, number); })(
        whole, plx::array<std::int32_t, 0>(static_cast<std::int32_t>(k)));
  };
  auto compare = [&](const auto& batch, std::int64_t count, const auto& single) {
    numbers expected;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto own = on_host(single(k)).to_vector();
      expected.insert(expected.end(), own.begin(), own.end());
    }
    const auto whole = on_host(batch);
    CHECK(whole.to_vector() == expected);
  };
  compare(plx::jit(plx::vmap(read))(x, i), 4, [&](std::int64_t k) { return plx::jit(read)(of(x, k), of(i, k)); });
  compare(plx::jit(plx::vmap(read, plx::in_axes<0, plx::none>))(x, few), 4,
          [&](std::int64_t k) { return plx::jit(read)(of(x, k), few); });
  compare(plx::jit(plx::vmap(read, plx::in_axes<plx::none, 0>))(one, i), 4,
          [&](std::int64_t k) { return plx::jit(read)(one, of(i, k)); });
  compare(plx::jit(plx::vmap(write))(x, i, y), 4,
          [&](std::int64_t k) { return plx::jit(write)(of(x, k), of(i, k), of(y, k)); });
  compare(plx::jit(plx::vmap(write, plx::in_axes<plx::none, 0, 0>))(one, i, y), 4,
          [&](std::int64_t k) { return plx::jit(write)(one, of(i, k), of(y, k)); });
  compare(plx::jit(plx::vmap(part))(x, i), 4, [&](std::int64_t k) { return plx::jit(part)(of(x, k), of(i, k)); });
  compare(plx::jit(plx::vmap(along))(x, i), 4, [&](std::int64_t k) { return plx::jit(along)(of(x, k), of(i, k)); });
  static constexpr auto slope = [](auto a, auto j, auto b) {
    return plx::grad([=](auto c) { return plx::sum(plx::sin(c.at(j).add(b)) * c[plx::index_in_dim(j, 0)]); })(a);
  };
  compare(plx::jit(plx::vmap(slope))(x, i, y), 4,
          [&](std::int64_t k) { return plx::jit(slope)(of(x, k), of(i, k), of(y, k)); });
}

TEST_CASE("rounds of a loop read and write at places of their own") {
  // x[k] = x[i[k]] + 1 for k = 0, 1, ...
  const places from{4, 0, 0, 2, 1, 3, -1, 5};
  const auto x = waves<1>({8});
  static constexpr auto follow = [](auto a, auto i) {
    return plx::fori_loop(0, a.shape(0), [=](auto k, auto b) { return b.at(k).set(b[i[k]] + 1.); }, a);
  };
  numbers expected = x.to_vector();
  for (std::size_t k = 0; k < 8; ++k) expected[k] = expected[static_cast<std::size_t>(clipped(from[k], 8))] + 1;
  check_close<double>(plx::jit(follow)(x, indices(from)), {8}, expected, 1e-14);
  const auto gradient = plx::jit(plx::grad([](auto a, auto i) { return plx::sum(follow(a, i)); }))(x, indices(from));
  numbers weights(8, 1);
  for (std::size_t k = 8; k-- > 0;) {
    const double own = weights[k];
    weights[k] = 0;
    weights[static_cast<std::size_t>(clipped(from[k], 8))] += own;
  }
  check_close<double>(gradient, {8}, weights, 1e-14);
}

namespace {

// What rounds do to a carry whose elements they change: read it before, afterwards, in between and not at all.
constexpr auto rounds = [](auto x) {
  auto round = [](auto i, auto carry) {
    auto [a, b, c, d, total] = carry;
    auto old = a[i];
    auto next_a = a.at(i).set(total + 1.);
    auto next_b = b.at(i).add(0.1 * plx::sum(b));
    auto next_c = c.at(i).set(2.).at(i + 1).add(c[0]);
    auto next_d = d.at(i).set(3.);
    return std::tuple{next_a, next_b, next_c, next_d, total + old + plx::sum(d) - next_b[0]};
  };
  return plx::fori_loop(0, x.shape(0), round, std::tuple{x, 2. * x, x, x + 1., 0.});
};
numbers after_rounds(const numbers& x) {
  const std::size_t n = x.size();
  numbers a = x, b = x, c = x, d = x;
  double total = 0;
  for (double& value : b) value *= 2;
  for (double& value : d) value += 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double old = a[i], sum_of_d = std::accumulate(d.begin(), d.end(), 0.), first = c[0];
    a[i] = total + 1;
    b[i] += 0.1 * std::accumulate(b.begin(), b.end(), 0.);
    c[i] = 2;
    if (i + 1 < n) c[i + 1] += first;
    d[i] = 3;
    total += old + sum_of_d - b[0];
  }
  numbers all;
  for (const numbers* each : {&a, &b, &c, &d}) all.insert(all.end(), each->begin(), each->end());
  all.push_back(total);
  return all;
}
template <class Results> void check_rounds(const Results& results, const numbers& x) {
  numbers found;
  plx::tree_for_each(
      [&](const auto& leaf) {
        const auto values = on_host(leaf).to_vector();
        found.insert(found.end(), values.begin(), values.end());
      },
      results);
  const numbers expected = after_rounds(x);
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    INFO("number " << k);
    CHECK(std::abs(found[k] - expected[k]) <= 1e-12 * (1 + std::abs(expected[k])));
  }
}

} // namespace

TEST_CASE("carries whose elements are changed where they are") {
  const auto x = waves<1>({7});
  const plx::array<double, plx::extents<4>> small{1, -2, 3, 0.5};
  const auto kept = x.to_vector();
  check_rounds(plx::jit(rounds)(x), kept);
  check_rounds(plx::jit(rounds)(small), small.to_vector());
  CHECK(x.to_vector() == kept); // the arguments stay what they are
  // a predicate that reads what rounds change: until no element is negative
  const auto none_negative = plx::jit([](auto a) {
    return plx::while_loop([](auto b) { return plx::min(b) < 0.; }, [](auto b) { return b.at(plx::argmin(b)).set(9.); },
                           a);
  })(x);
  numbers expected = kept;
  for (double& value : expected) value = value < 0 ? 9 : value;
  check_close<double>(none_negative, {7}, expected, 0);
  const auto slope = plx::jit(plx::grad([](auto a) { return std::get<4>(rounds(a)); }));
  numbers slopes_by_differences;
  for (std::size_t k = 0; k < 7; ++k) {
    numbers above = kept, below = kept;
    above[k] += 1e-6, below[k] -= 1e-6;
    slopes_by_differences.push_back((after_rounds(above).back() - after_rounds(below).back()) / 2e-6);
  }
  check_close<double>(slope(x), {7}, slopes_by_differences, 1e-6, 1e-7);
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

TEST_CASE("every device of a pmap reads and writes at its own places") {
  const auto x = waves<2>({8, 6});
  auto i = plx::array<std::int32_t, 2>::uninitialised({8, 4});
  for (std::int64_t k = 0; k < i.size(); ++k) i.mutable_data()[k] = static_cast<std::int32_t>(k * 5 % 9 - 2);
  const auto [read, written, total] = plx::pmap<"i">([](auto a, auto j) {
    auto changed_here = a.at(j).add(1.);
    return std::tuple(a[j], changed_here, plx::psum<"i">(changed_here[plx::axis_index<"i">()]));
  })(x, i);
  numbers taken, changed_all;
  double sum = 0;
  for (std::int64_t d = 0; d < 8; ++d) {
    numbers row;
    for (std::int64_t c = 0; c < 6; ++c) row.push_back(at(x, d, c));
    for (std::int64_t k = 0; k < 4; ++k) {
      taken.push_back(at(x, d, clipped(i(d, k), 6)));
      if (valid(i(d, k), 6) >= 0) row[static_cast<std::size_t>(valid(i(d, k), 6))] += 1;
    }
    sum += row[static_cast<std::size_t>(std::min<std::int64_t>(d, 5))];
    changed_all.insert(changed_all.end(), row.begin(), row.end());
  }
  check_close<double>(read, {8, 4}, taken, 0);
  check_close<double>(written, {8, 6}, changed_all, 1e-15);
  check_close<double>(total, {8}, numbers(8, sum), 1e-14);
}

} // namespace indexing_test
