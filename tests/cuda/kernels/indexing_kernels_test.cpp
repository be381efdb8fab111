// The device's gathers and scatters compute what the host's do.
#include "cuda/kernels/simulated_kernels.hpp"

#include <tuple>
#include <utility>

namespace indexing_kernels_test {

namespace plx = parallax;
using simulated::call;
using simulated::compare;
using simulated::numbers;

/// Indices of an axis, some of them beyond it, many of them equal.
plx::array<std::int32_t, 1> places(std::int64_t count, std::int64_t extent) {
  auto result = plx::array<std::int32_t, 1>::uninitialised({count});
  for (std::int64_t i = 0; i < count; ++i)
    result.mutable_data()[i] = static_cast<std::int32_t>(i * i * 7 % (2 * extent + 3) - extent - 1);
  return result;
}

TEST_CASE("elements, rows and columns at places that are data") {
  static constexpr auto read = plx::jit([](auto x, auto i) {
    auto columns = plx::take(x, i, 1, plx::mode::clip);
    return std::tuple{2 * x[i],
                      columns,
                      plx::transpose(columns) + 1,
                      plx::sum(x[i], 1),
                      x.at(i, i).get(plx::mode::fill, 3),
                      plx::cumsum(x[i], 0)};
  });
  for (auto [m, n] : {std::pair{1, 1}, {3, 5}, {40, 33}, {300, 2}, {2, 1030}})
    for (std::int64_t count : {0, 1, 70}) compare(read, 1e-5, numbers<float, 2>({m, n}), places(count, m));
}

TEST_CASE("elements that are changed by few updates and by many") {
  static constexpr auto write = plx::jit([](auto x, auto i, auto y) {
    return std::tuple{x.at(i).set(y), x.at(i).add(y), x.at(i).multiply(0.7f * y), x.at(i).min(y), x.at(i).max(y)};
  });
  for (auto [m, n] : {std::pair{1, 1}, {3, 5}, {40, 3}, {7, 60}})
    for (std::int64_t count : {0, 1, 31, 257, 1000})
      compare(write, 1e-4, numbers<float, 2>({m, n}), places(count, m), numbers<float, 2>({count, n}, 2));
  static constexpr auto columns = plx::jit([](auto x, auto i, auto y) {
    return std::tuple{x.at(plx::none, i).add(y), x.at(i, i).set(2), plx::segment_sum(y, plx::slice_in_dim(i, 0, 4), 3)};
  });
  compare(columns, 1e-13, numbers<double, 2>({4, 9}), places(900, 9), numbers<double, 2>({4, 900}, 2));
}

TEST_CASE("of updates in two dimensions the last one stays, however a loop is cut") {
  // in memory columns reach farther than rows, and would be cut first; the last updates are in the first columns
  static constexpr auto write = plx::jit([](auto x, auto i, auto y) {
    return x.at(plx::reshape(i, {4, 175})).set(plx::slice_in_dim(plx::transpose(plx::reshape(y, {175, 64})), 0, 4));
  });
  auto i = plx::array<std::int32_t, 1>::uninitialised({4 * 175});
  for (std::int32_t k = 0; k < 4 * 175; ++k) i.mutable_data()[k] = k >= 3 * 175 + 9 ? 50 : k % 175 % 9;
  compare(write, 0, numbers<float, 1>({9}), i, numbers<float, 1>({175 * 64}, 2));
}

TEST_CASE("sums of one element have the same bits in any order of threads, and cost as many reads as of others") {
  static constexpr auto add = plx::jit([](auto x, auto i, auto y) { return x.at(i).add(y); });
  const std::int64_t count = 3000;
  const auto x = numbers<float, 1>({3000}), y = numbers<float, 1>({count}, 2);
  auto same = plx::array<std::int32_t, 1>::filled({count}, 5), others = same;
  for (std::int64_t k = 0; k < count; ++k) others.mutable_data()[k] = static_cast<std::int32_t>(k * 7 % count);
  auto reads_of = [&](const plx::array<std::int32_t, 1>& i) {
    const std::size_t before = simulated::api::reads;
    static_cast<void>(call(add, x, i, y));
    return simulated::api::reads - before;
  };
  simulated::api::current = {};
  const std::vector<float> first = call(add, x, same, y).to_vector();
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    simulated::api::current.seed = seed;
    CHECK(call(add, x, same, y).to_vector() == first);
  }
  CHECK(reads_of(same) < 120 * std::size_t{3000}); // a sort's, and a few for each update
  CHECK(reads_of(others) < 120 * std::size_t{3000});
}

TEST_CASE("slices that begin where data says, and gradients") {
  static constexpr auto slices = plx::jit([](auto x, auto i) {
    auto part = plx::dynamic_slice(x, std::tuple{i[0], i[1]}, {2, 3});
    auto slope = plx::grad([=](auto y) { return plx::sum(plx::sin(y[i]) * y[i]); })(x);
    return std::tuple{part, plx::dynamic_update_slice(x, part, std::tuple{i[2], 0}), slope};
  });
  for (auto [m, n] : {std::pair{2, 3}, {40, 33}, {5, 700}})
    compare(slices, 1e-5, numbers<float, 2>({m, n}), places(60, m));
}

TEST_CASE("elements of other types") {
  static constexpr auto both =
      plx::jit([](auto x, auto i) { return std::tuple{x[i], x.at(i).set(x[plx::index_in_dim(i, 0)])}; });
  const auto i = places(50, 20);
  compare(both, 0, numbers<bool, 2>({20, 3}), i);
  compare(both, 0, numbers<std::uint8_t, 2>({20, 3}), i);
  compare(both, 0, numbers<plx::bfloat16, 2>({20, 3}), i);
  compare(both, 0, numbers<std::int64_t, 2>({20, 3}), i);
}

} // namespace indexing_kernels_test
