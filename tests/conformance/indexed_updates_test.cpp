// Changing elements at places that are data, beside plain loops: in lists, in rounds of a loop, on every device of a
// pmap.
#include "indices.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace indexed_updates_test {

namespace {

using namespace conformance;
using namespace conformance::indexing;

} // namespace

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

TEST_CASE("long lists of updates: sums, and the last one stays") {
  const std::int64_t count = 3'001, targets = 501;
  auto i = plx::array<std::int32_t, 1>::uninitialised({count});
  auto y = plx::array<float, 1>::uninitialised({count});
  for (std::int64_t k = 0; k < count; ++k) {
    i.mutable_data()[k] = static_cast<std::int32_t>(k * k % 1009 % targets);
    y.mutable_data()[k] = static_cast<float>(k % 1000) / 7;
  }
  numbers sums(static_cast<std::size_t>(targets));
  std::vector<float> last(static_cast<std::size_t>(targets));
  for (std::int64_t k = 0; k < count; ++k) {
    sums[static_cast<std::size_t>(i(k))] += static_cast<double>(y(k));
    last[static_cast<std::size_t>(i(k))] = y(k);
  }
  const auto [added, set] = plx::jit([](auto j, auto b) {
    auto zeros = plx::zeros<float>({501});
    return std::tuple(zeros.at(j).add(b), zeros.at(j).set(b));
  })(i, y);
  check_close<float>(added, {targets}, sums);
  check_equal<float>(set, {targets}, last);
}

TEST_CASE("sums of segments, and one_hot") {
  const auto x = counted<float>(5, 2);
  const auto [sums, hot] = plx::jit([](auto a, auto i) {
    return std::tuple(plx::segment_sum(a, i, 3), plx::one_hot(i, 3));
  })(x, indices({2, 0, 2, -1, 3}));
  check_equal<float>(sums, {3, 2}, {2, 3, 0, 0, 4, 6});
  check_equal<float>(hot, {5, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
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
  const numbers by_differences = differences([](const numbers& a) { return after_rounds(a).back(); }, kept);
  check_close<double>(slope(x), {7}, by_differences, 1e-6, 1e-7);
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

} // namespace indexed_updates_test
