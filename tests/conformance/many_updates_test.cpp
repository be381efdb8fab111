// Scatters of many updates, which a backend may combine in groups: beside plain loops, and with the same bits each
// time.
#include "indices.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

namespace many_updates_test {

namespace {

using namespace conformance;
using namespace conformance::indexing;

/// Indices of an axis in no order, some from the end, some beyond it.
places drawn(std::int64_t count, std::int64_t extent) {
  places result;
  for (std::int64_t k = 0; k < count; ++k)
    result.push_back(static_cast<std::int32_t>((k * k * 7 + k / 3) % (2 * extent + 9) - extent - 4));
  return result;
}
/// Small whole numbers, whose sums are exact in every type.
template <class T> plx::array<T, 1> steps(std::int64_t count, int shift = 0) {
  auto result = plx::array<T, 1>::uninitialised({count});
  for (std::int64_t k = 0; k < count; ++k)
    result.mutable_data()[k] = static_cast<T>(static_cast<int>((k * 37 + shift) % 11 % 5) - 2);
  return result;
}
/// Factors whose products are exact in every type.
template <class T> plx::array<T, 1> factors(std::int64_t count) {
  auto result = plx::array<T, 1>::uninitialised({count});
  for (std::int64_t k = 0; k < count; ++k)
    result.mutable_data()[k] = static_cast<T>((k % 50 == 7 ? 2 : 1) * (k * k % 7 < 3 ? -1 : 1));
  return result;
}
/// Numbers whose sums are not.
plx::array<float, 1> fractions(std::int64_t count) {
  auto result = plx::array<float, 1>::uninitialised({count});
  for (std::int64_t k = 0; k < count; ++k) result.mutable_data()[k] = 0.1f + static_cast<float>(k * 31 % 97) / 7;
  return result;
}

/// x with elements changed one after another, in double.
template <class T, class Combine>
std::vector<T> changed(const plx::array<T, 1>& x, const places& i, const plx::array<T, 1>& y, Combine combine) {
  numbers result;
  for (T each : x.values()) result.push_back(static_cast<double>(each));
  for (std::size_t k = 0; k < i.size(); ++k) {
    const std::int64_t place = valid(i[k], x.shape(0));
    if (place < 0) continue;
    double& element = result[static_cast<std::size_t>(place)];
    element = combine(element, static_cast<double>(y.values()[k]));
  }
  std::vector<T> rounded;
  for (double each : result) rounded.push_back(static_cast<T>(each));
  return rounded;
}
const auto replace = [](double, double update) { return update; };
const auto smaller = [](double a, double b) { return std::min(a, b); };
const auto larger = [](double a, double b) { return std::max(a, b); };

template <class T> void check_all(std::int64_t count, std::int64_t extent) {
  INFO(count << " updates of " << extent << " elements");
  const auto x = steps<T>(extent, 3), y = steps<T>(count), z = factors<T>(count);
  const places i = drawn(count, extent);
  const auto [set, added, multiplied, least, most] = plx::jit([](auto a, auto j, auto b, auto c) {
    return std::tuple(a.at(j).set(b), a.at(j).add(b), a.at(j).multiply(c), a.at(j).min(b), a.at(j).max(b));
  })(x, indices(i), y, z);
  check_equal<T>(set, {extent}, changed(x, i, y, replace));
  check_equal<T>(added, {extent}, changed(x, i, y, std::plus<>()));
  check_equal<T>(multiplied, {extent}, changed(x, i, z, std::multiplies<>()));
  check_equal<T>(least, {extent}, changed(x, i, y, smaller));
  check_equal<T>(most, {extent}, changed(x, i, y, larger));
}

} // namespace

TEST_CASE("many updates of a few elements and of many, some dropped") {
  check_all<double>(5'000, 37);
  check_all<float>(2'000, 1'500);
  check_all<std::int32_t>(65, 3);
  check_all<std::int32_t>(1'025, 33);
  check_all<plx::float16>(1'000, 37);
}

TEST_CASE("all updates of one element") {
  const std::int64_t count = 20'000;
  const auto y = steps<std::int32_t>(count);
  const auto [set, added, none] = plx::jit([](auto b) {
    const auto zeros = plx::zeros<std::int32_t>({7});
    const auto third = 3 + 0 * b;
    return std::tuple(zeros.at(third).set(b), zeros.at(third).add(b), zeros.at(third + 4).add(b));
  })(y);
  std::int32_t sum = 0;
  for (std::int32_t each : y.values()) sum += each;
  REQUIRE(sum != 0);
  check_equal<std::int32_t>(set, {7}, {0, 0, 0, y(count - 1), 0, 0, 0});
  check_equal<std::int32_t>(added, {7}, {0, 0, 0, sum, 0, 0, 0});
  check_equal<std::int32_t>(none, {7}, std::vector<std::int32_t>(7));
}

TEST_CASE("sums of many updates have the same bits at each run") {
  const std::int64_t count = 6'000, extent = 5;
  const auto y = fractions(count);
  const places i = drawn(count, extent);
  static constexpr auto add = plx::jit([](auto j, auto b) { return plx::zeros<float>({5}).at(j).add(b); });
  const auto first = on_host(add(indices(i), y)).to_vector();
  static std::vector<float> of_earlier_seeds;
  if (of_earlier_seeds.empty()) of_earlier_seeds = first;
  CHECK(on_host(add(indices(i), y)).to_vector() == first);
  CHECK(first == of_earlier_seeds);
  numbers sums(static_cast<std::size_t>(extent));
  for (std::size_t k = 0; k < i.size(); ++k)
    if (const std::int64_t place = valid(i[k], extent); place >= 0)
      sums[static_cast<std::size_t>(place)] += static_cast<double>(y.values()[k]);
  check_close<float>(add(indices(i), y), {extent}, sums, 2e-5);
}

TEST_CASE("updates in two dimensions are made in row-major order") {
  const auto y = steps<std::int32_t>(1'200);
  const places i = drawn(1'200, 20);
  const auto x = steps<std::int32_t>(20);
  const auto set = plx::jit([](auto a, auto j, auto b) {
    return a.at(plx::reshape(j, {40, 30})).set(plx::reshape(b, {40, 30}));
  })(x, indices(i), y);
  check_equal<std::int32_t>(set, {20}, changed(x, i, y, replace));
}

TEST_CASE("batches of many updates") {
  const std::int64_t lines = 3, count = 900, extent = 11;
  auto x = plx::array<std::int32_t, 2>::uninitialised({lines, extent});
  auto i = plx::array<std::int32_t, 2>::uninitialised({lines, count});
  auto y = plx::array<std::int32_t, 2>::uninitialised({lines, count});
  std::vector<std::int32_t> own, shared;
  const places shared_places = drawn(count, extent);
  for (std::int64_t l = 0; l < lines; ++l) {
    const auto line = steps<std::int32_t>(extent, static_cast<int>(l)),
               updates = steps<std::int32_t>(count, static_cast<int>(l));
    places here = drawn(count, extent);
    std::rotate(here.begin(), here.begin() + 100 * l, here.end());
    std::copy_n(line.values().begin(), extent, x.mutable_data() + l * extent);
    std::copy_n(updates.values().begin(), count, y.mutable_data() + l * count);
    std::copy_n(here.begin(), count, i.mutable_data() + l * count);
    const auto with_own = changed(line, here, updates, std::plus<>());
    const auto with_shared = changed(line, shared_places, updates, replace);
    own.insert(own.end(), with_own.begin(), with_own.end());
    shared.insert(shared.end(), with_shared.begin(), with_shared.end());
  }
  const auto [added, set] = plx::jit([](auto a, auto j, auto b, auto k) {
    auto add = plx::vmap([](auto c, auto p, auto d) { return c.at(p).add(d); });
    auto replaced = plx::vmap([](auto c, auto p, auto d) { return c.at(p).set(d); }, plx::in_axes<0, plx::none, 0>);
    return std::tuple(add(a, j, b), replaced(a, k, b));
  })(x, i, y, indices(shared_places));
  check_equal<std::int32_t>(added, {lines, extent}, own);
  check_equal<std::int32_t>(set, {lines, extent}, shared);
}

TEST_CASE("rows are summed: gradients of what was looked up, and segments") {
  const std::int64_t rows = 13, columns = 5, count = 700;
  const auto x = waves<2>({rows, columns});
  const auto w = waves<2>({count, columns});
  const places i = drawn(count, rows);
  const auto [slope, sums] = plx::jit([](auto a, auto j, auto b) {
    auto slope_by = plx::grad([=](auto c) { return plx::sum(c[j] * b); });
    return std::tuple(slope_by(a), plx::segment_sum(b, j, 13));
  })(x, indices(i), w);
  numbers slopes(static_cast<std::size_t>(rows * columns)), segments(slopes.size());
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int32_t row = i[static_cast<std::size_t>(k)];
      slopes[static_cast<std::size_t>(clipped(row, rows) * columns + c)] += at(w, k, c);
      if (row >= 0 && row < rows) segments[static_cast<std::size_t>(row * columns + c)] += at(w, k, c);
    }
  check_close<double>(slope, {rows, columns}, slopes, 1e-13, 1e-13);
  check_close<double>(sums, {rows, columns}, segments, 1e-13, 1e-13);
}

TEST_CASE("rounds of a loop with many updates each") {
  const std::int64_t count = 300, extent = 9;
  const auto x = steps<std::int32_t>(extent), y = steps<std::int32_t>(count, 5);
  const places i = drawn(count, extent);
  const auto [counted_rounds, until] = plx::jit([](auto a, auto j, auto b) {
    auto round = [=](auto, auto carry) { return carry.at(j).add(b); };
    auto goes_on = [](auto carry) { return carry[1] < 3; };
    auto body = [=](auto carry) { return carry.at(j).add(b).at(1).add(1 - plx::min(carry) * 0); };
    return std::pair(plx::fori_loop(0, 5, round, a), plx::while_loop(goes_on, body, a * 0));
  })(x, indices(i), y);
  std::vector<std::int32_t> after_five = x.to_vector(), after(static_cast<std::size_t>(extent));
  auto add = [&](std::vector<std::int32_t>& to) {
    for (std::size_t k = 0; k < i.size(); ++k)
      if (const std::int64_t place = valid(i[k], extent); place >= 0)
        to[static_cast<std::size_t>(place)] += y.values()[k];
  };
  for (int round = 0; round < 5; ++round) add(after_five);
  int rounds = 0;
  for (; after[1] < 3 && rounds < 100; ++rounds) {
    add(after);
    after[1] += 1;
  }
  REQUIRE(rounds > 0);
  REQUIRE(rounds < 100);
  check_equal<std::int32_t>(counted_rounds, {extent}, after_five);
  check_equal<std::int32_t>(until, {extent}, after);
}

} // namespace many_updates_test
