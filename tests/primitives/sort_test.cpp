// Sorts and what is found by them, beside the standard library's: ties, NaN and zeros of both signs, every axis,
// lengths around those of the runs that are merged; gradients and batches.
#include "ops/reference.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace sort_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

bool is_before(double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); }
std::vector<std::int64_t> order_of(const std::vector<double>& row) {
  std::vector<std::int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    const double x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return is_before(x, y) || (!is_before(y, x) && a < b);
  });
  return order;
}
/// The positions that elements come from along an axis.
table order_along(const table& x, std::size_t axis) {
  table result = x;
  coordinates outer = x.shape;
  outer[axis] = x.shape[axis] == 0 ? 0 : 1;
  reference::for_each_index(outer, [&](coordinates at) {
    std::vector<double> row;
    for (at[axis] = 0; at[axis] < x.shape[axis]; ++at[axis]) row.push_back(x[at]);
    const auto order = order_of(row);
    for (at[axis] = 0; at[axis] < x.shape[axis]; ++at[axis])
      result[at] = static_cast<double>(order[static_cast<std::size_t>(at[axis])]);
  });
  return result;
}
table taken(const table& x, std::size_t axis, const table& order) {
  return reference::tabulate(x.shape, [&](coordinates at) {
    at[axis] = static_cast<std::int64_t>(order[at]);
    return x[at];
  });
}

constexpr auto sorts = [](auto x) {
  return std::tuple(plx::sort(x, 0), plx::sort(x, 1), plx::sort(x), plx::argsort(x, 0), plx::argsort(x, -2),
                    plx::argsort(x));
};

template <class T> void check_values(const table& given) {
  const auto x = reference::array_of<T, 3>(given);
  const table t = reference::table_of(x);
  const std::vector<table> actual = reference::tables_of(plx::jit(sorts)(x));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    INFO("axis " << axis << " of " << t.shape[0] << " x " << t.shape[1] << " x " << t.shape[2]);
    const table order = order_along(t, axis);
    compare(actual[axis], taken(t, axis, order));
    compare(actual[3 + axis], order);
  }
}

const coordinates shapes[] = {{1, 1, 1},  {2, 3, 4},    {3, 1, 17}, {16, 2, 15}, {1, 32, 33}, {2, 64, 3},
                              {65, 5, 2}, {2, 3, 1000}, {0, 3, 2},  {3, 0, 2},   {2, 3, 0}};

constexpr auto sorted = [](auto x) { return std::tuple(plx::sort(x, 0), plx::sort(x), plx::top_k(x, 2).first); };

} // namespace

TEST_CASE("sorts along every axis, with ties, infinities and NaN") {
  for (const coordinates& shape : shapes) {
    check_values<double>(reference::numbers(shape, -1, 1));
    check_values<float>(reference::numbers(shape, -1, 1));
    table ties = reference::numbers(shape, 0, 5);
    for (double& value : ties.values) value = std::floor(value);
    check_values<float>(ties);
    check_values<std::int32_t>(ties);
    check_values<std::uint8_t>(ties);
    check_values<plx::float16>(ties);
    check_values<plx::bfloat16>(ties);
    for (std::size_t i = 3; i < ties.values.size(); i += 7) ties.values[i] = NAN;
    for (std::size_t i = 1; i < ties.values.size(); i += 11) ties.values[i] = -INFINITY;
    for (std::size_t i = 2; i < ties.values.size(); i += 13) ties.values[i] = INFINITY;
    check_values<float>(ties);
    check_values<double>(ties);
    check_values<plx::bfloat16>(ties);
    for (double& value : ties.values) value = value > 2 ? 1 : 0;
    check_values<bool>(ties);
  }
}

TEST_CASE("zeros of both signs are equal, and stay as they follow each other") {
  const plx::array<float, 1> x{1, 0, -0.0f, -1, -0.0f, 0};
  const plx::array<float, 1> y = plx::sort(x);
  const plx::array<std::int32_t, 1> order = plx::argsort(x);
  CHECK(order.to_vector() == std::vector<std::int32_t>{3, 1, 2, 4, 5, 0});
  const bool negative[] = {true, false, true, true, false, false};
  for (std::int64_t i = 0; i < 6; ++i) CHECK(std::signbit(y(i)) == negative[i]);
}

TEST_CASE("a long row is sorted by all threads") {
  std::vector<float> numbers(300001);
  std::uint32_t state = 1;
  for (float& number : numbers) number = static_cast<float>((state = state * 1664525u + 1013904223u) >> 16);
  const plx::array<float, 1> x({300001}, numbers);
  const plx::array<float, 1> y = plx::sort(x);
  const plx::array<std::int32_t, 1> order = plx::argsort(x);
  std::vector<std::int32_t> expected(numbers.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::ranges::sort(expected, [&](std::int32_t a, std::int32_t b) {
    return std::pair(numbers[static_cast<std::size_t>(a)], a) < std::pair(numbers[static_cast<std::size_t>(b)], b);
  });
  std::ranges::sort(numbers);
  CHECK((y.to_vector() == numbers));
  CHECK((order.to_vector() == expected));
}

/// Rows of a type, with many equal elements, all sorts of zeros and, where there are some, infinities and NaN.
template <class T> plx::array<T, 2> long_rows(std::int64_t rows, std::int64_t length) {
  std::vector<T> numbers;
  std::uint64_t state = 12345;
  for (std::int64_t i = 0; i < rows * length; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::int64_t>(state >> 33) - (std::int64_t{1} << 30);
    double number = static_cast<double>(i % 3 == 0 ? bits : bits % 50);
    if constexpr (plx::detail::is_inexact(plx::element_type_of<T>)) {
      const std::int64_t kind = i % 101;
      number = kind == 0 ? NAN : kind == 1 ? INFINITY : kind == 2 ? -INFINITY : kind == 3 ? -0. : number / 1024;
    } else {
      number = static_cast<double>(bits & 255); // of all types
    }
    numbers.push_back(static_cast<T>(number));
  }
  return {{rows, length}, std::move(numbers)};
}
template <class T> void check_long_rows(std::int64_t rows, std::int64_t length) {
  const auto x = long_rows<T>(rows, length);
  const auto [sorted_rows, order, most, where] = plx::jit([](auto v) {
    auto [values, positions] = plx::top_k(v, 2000);
    return std::tuple{plx::sort(v), plx::argsort(v), values, positions};
  })(x);
  for (std::int64_t row = 0; row < rows; ++row) {
    INFO(plx::name_of(plx::element_type_of<T>) << ", row " << row);
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < length; ++i) numbers.push_back(static_cast<double>(x(row, i)));
    const std::vector<std::int64_t> expected = order_of(numbers);
    std::vector<std::int64_t> downwards(expected.size());
    std::iota(downwards.begin(), downwards.end(), 0);
    std::ranges::sort(downwards, [&](std::int64_t a, std::int64_t b) { // no stable_sort: clang++ warns of libstdc++'s
      const double one = numbers[static_cast<std::size_t>(a)], other = numbers[static_cast<std::size_t>(b)];
      return is_before(other, one) || (!is_before(one, other) && a < b);
    });
    std::int64_t wrong = 0;
    auto same_bits = [](T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t from = expected[static_cast<std::size_t>(i)];
      wrong += order(row, i) != from || !same_bits(sorted_rows(row, i), x(row, from)) ? 1 : 0;
      if (i >= 2000) continue;
      const std::int64_t other = downwards[static_cast<std::size_t>(i)];
      wrong += where(row, i) != other || !same_bits(most(row, i), x(row, other)) ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("long rows of every type are in order, whichever way they are sorted") {
  check_long_rows<float>(2, 140000);
  check_long_rows<double>(3, 5000);
  check_long_rows<plx::float16>(2, 3000);
  check_long_rows<plx::bfloat16>(2, 3000);
  check_long_rows<std::int32_t>(20, 2500);
  check_long_rows<std::int64_t>(2, 4000);
  check_long_rows<std::uint32_t>(1, 2500);
  check_long_rows<std::uint64_t>(1, 4000);
  check_long_rows<std::uint8_t>(2, 2200);
}

TEST_CASE("long rows whose keys lie close together, or nearly all at one place") {
  const auto both = plx::jit([](auto v) { return std::pair{plx::sort(v), plx::argsort(v)}; });
  for (const std::int64_t length : {2100, 150001})
    for (const std::int64_t range : {1, 2, 100, 2048, 2049, 1 << 20}) // digits none, one part of one, one, two
      for (const bool mostly_one : {false, true}) {
        std::vector<std::int64_t> keys;
        std::uint64_t state = 99;
        for (std::int64_t i = 0; i < length; ++i) {
          state = state * 6364136223846793005u + 1442695040888963407u;
          const auto drawn = static_cast<std::int64_t>(state >> 33) % range;
          keys.push_back(mostly_one && i % 64 != 0 ? 7 : drawn - 3 + (mostly_one ? std::int64_t{1} << 40 : 0));
        }
        INFO(length << " keys of " << range << (mostly_one ? ", mostly one" : ""));
        const auto [sorted_keys, order] = both(plx::array<std::int64_t, 1>({length}, std::vector(keys)));
        std::vector<std::int32_t> expected(keys.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::ranges::sort(expected, [&](std::int32_t a, std::int32_t b) {
          return std::pair(keys[static_cast<std::size_t>(a)], a) < std::pair(keys[static_cast<std::size_t>(b)], b);
        });
        CHECK((order.to_vector() == expected));
        std::ranges::sort(keys);
        CHECK((sorted_keys.to_vector() == keys));
      }
}

TEST_CASE("the k largest, from the largest down, the first of equal ones first") {
  const auto most = plx::jit([](auto x) { return plx::top_k(x, 4); });
  const auto [values, positions] =
      most(plx::array<float, 2>{{1, 5, -2, 5, 3, 5}, {0, NAN, -INFINITY, INFINITY, NAN, 0}});
  compare(reference::table_of(values), table{{2, 4}, {5, 5, 5, 3, NAN, NAN, INFINITY, 0}});
  compare(reference::table_of(positions), table{{2, 4}, {1, 3, 5, 4, 1, 4, 3, 0}});
  const auto [bytes, where] = most(plx::array<std::uint8_t, 2>{{9, 255, 0, 255}});
  compare(reference::table_of(bytes), table{{1, 4}, {255, 255, 9, 0}});
  compare(reference::table_of(where), table{{1, 4}, {1, 3, 0, 2}});
  const auto [none, nowhere] = plx::jit([](auto x) { return plx::top_k(x, 0); })(plx::array<float, 1>{1, 2});
  CHECK(none.size() == 0);
  CHECK(nowhere.size() == 0);
  CHECK_THROWS_AS(most(plx::array<float, 2>{{1, 2, 3}}), plx::shape_error);
}

TEST_CASE("values are found in a sorted row as by the standard library") {
  const auto search = plx::jit([](auto row, auto values) {
    return std::tuple(plx::searchsorted(row, values), plx::searchsorted(row, values, plx::right_side));
  });
  for (std::int64_t length : {0, 1, 2, 7, 40, 300})
    for (std::int64_t wanted : {0, 1, 5, 60}) {
      table row = reference::numbers({length}, 0, 20), values = reference::numbers({2, wanted}, -2, 22);
      for (double& value : row.values) value = std::floor(value);
      for (double& value : values.values) value = std::floor(value);
      std::ranges::sort(row.values);
      if (!values.values.empty()) values.values.back() = NAN;
      table left = values, right = values;
      for (std::size_t i = 0; i < values.values.size(); ++i) {
        const auto [first, last] = std::equal_range(row.values.begin(), row.values.end(), values.values[i], is_before);
        left.values[i] = static_cast<double>(first - row.values.begin());
        right.values[i] = static_cast<double>(last - row.values.begin());
      }
      const auto [below, up_to] = search(reference::array_of<double, 1>(row), reference::array_of<double, 2>(values));
      static_assert(std::is_same_v<typename decltype(below)::value_type, std::int32_t>);
      compare(reference::table_of(below), left);
      compare(reference::table_of(up_to), right);
    }
  const plx::array<std::int32_t, 0> one = plx::searchsorted(plx::array<int, 1>{1, 3, 5}, plx::array<float, 0>(3.5f));
  CHECK(one.item() == 2);
}

TEST_CASE("gradients go back to where elements came from") {
  const auto x = reference::array_of<double, 3>(reference::numbers({4, 2, 3}, -1, 1));
  reference::check_gradient(sorted, x);
  reference::check_gradient(
      [](auto y) { return plx::grad([](auto z) { return plx::sum(plx::sin(plx::sort(z, 0))); })(y); }, x);
  const auto slopes = plx::jit(plx::grad([](auto v) { return plx::sum(plx::sort(v) * plx::arange<double>(5)); }));
  CHECK(slopes(plx::array<double, 1>{2, 1, 2, NAN, 1}).to_vector() == std::vector<double>{2, 0, 3, 4, 1});
}

TEST_CASE("sorts are mapped over any axis") {
  const auto x = reference::array_of<double, 3>(reference::numbers({2, 3, 5}, -1, 1));
  reference::check_batching<0>(sorts, x);
  reference::check_batching<1>(sorts, x);
  reference::check_batching<3>(sorts, x);
  reference::check_batching<2>(sorted, x);
  auto slopes = [](auto y) { return plx::grad([](auto z) { return plx::sum(plx::sin(plx::sort(z, 1))); })(y); };
  reference::check_batching<0>(slopes, x);
  reference::check_batching<2>(slopes, x);
  // rows backwards, and one row against many values
  const auto backwards = plx::array<float, 2>{{11, 10, 9, 8}, {7, 6, 5, 4}, {3, 2, 1, 0}};
  const auto by_row = plx::jit(plx::vmap([](auto row) { return plx::sort(row); }))(backwards);
  CHECK(by_row.to_vector() == std::vector<float>{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3});
  const auto by_column = plx::jit(plx::vmap([](auto column) { return plx::sort(column); }, plx::in_axes<1>))(backwards);
  CHECK(by_column.to_vector() == std::vector<float>{3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8});
  const auto found = plx::jit(plx::vmap([](auto row, auto v) { return plx::searchsorted(row, v); },
                                        plx::in_axes<plx::none, 0>))(plx::array<float, 1>{1, 2, 3}, backwards);
  CHECK(found.to_vector() == std::vector<std::int32_t>{3, 3, 3, 3, 3, 3, 3, 3, 2, 1, 0, 0});
}

} // namespace sort_test
