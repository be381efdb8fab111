// Collectives over the devices of all processes, beside plain loops over the global arrays.
#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

namespace process_tests {

namespace {

using plx::axis_index_groups;
using plx::gather_mode;

float number(std::size_t row, std::size_t i) {
  return std::sin(static_cast<float>(17 * row + 3 * i + 1)) * std::exp2(static_cast<float>((5 * row + i) % 13));
}

template <class T> void check_sums(std::int64_t width) {
  const auto x = table_of<T>(width, [](std::size_t r, std::size_t i) { return static_cast<T>(number(r, i)); });
  const auto twice =
      table_of<T>(width, [&](std::size_t r, std::size_t i) { return static_cast<T>(x[r][i] + x[r][i]); });
  // of an argument, and of a value whose memory the sum takes
  const auto sums = plx::pmap<"i">([](auto row) { return std::pair{plx::psum<"i">(row), plx::psum<"i">(row + row)}; });
  const auto [sum, sum_of_twice] = sums(own(x, width));
  check_rows(sum, table_of<T>(width, [&](std::size_t, std::size_t i) { return tree_sum(column(x, i)); }));
  check_rows(sum_of_twice, table_of<T>(width, [&](std::size_t, std::size_t i) { return tree_sum(column(twice, i)); }));
}

} // namespace

TEST_CASE("two processes of four devices, as JAX has it") {
  const auto x = table_of<float>(1, [](std::size_t r, std::size_t) { return static_cast<float>(r); });
  const auto n = static_cast<float>(all_rows());
  const auto y = plx::pmap<"i">([](auto v) { return v + plx::psum<"i">(v); })(own(x));
  check_rows(y,
             table_of<float>(1, [&](std::size_t r, std::size_t) { return static_cast<float>(r) + n * (n - 1) / 2; }));
}

TEST_CASE("sums of every type are balanced trees over all instances") {
  for (std::int64_t width : {1, 5, 1000}) {
    check_sums<float>(width);
    check_sums<double>(width);
    check_sums<plx::float16>(width);
    check_sums<plx::bfloat16>(width);
    check_sums<std::int32_t>(width);
    check_sums<std::uint64_t>(width);
  }
}

TEST_CASE("sums of many elements") {
  check_sums<float>(16384); // the longest that everybody adds up
  check_sums<float>(16385);
  check_sums<double>(100003);
  check_sums<plx::bfloat16>(70001);
}

TEST_CASE("means divide by the number of all instances, extremes keep NaN") {
  auto x = table_of<float>(3, [](std::size_t r, std::size_t i) { return number(r, i); });
  x.back()[1] = std::nanf("");
  const auto f = plx::pmap<"i">([](auto v) {
    return std::tuple{plx::pmean<"i">(v),
                      plx::pmax<"i">(v),
                      plx::pmin<"i">(v),
                      plx::psum<"i">(1.f) + 0 * v,
                      plx::axis_size<"i">() + 0 * plx::axis_index<"i">(),
                      plx::axis_index<"i">()};
  });
  const auto [mean, most, least, one, size, index] = f(own(x, 3));
  const auto n = static_cast<float>(all_rows());
  const auto extreme = [&](bool is_most) {
    return table_of<float>(3, [&](std::size_t, std::size_t i) {
      if (i == 1) return x.back()[1];
      const auto values = column(x, i);
      return is_most ? *std::max_element(values.begin(), values.end())
                     : *std::min_element(values.begin(), values.end());
    });
  };
  const plx::array means = mean;
  for (std::int64_t r = 0; r < own_rows(); ++r) {
    CHECK(means(r, 0) == tree_sum(column(x, 0)) / n);
    CHECK(std::isnan(means(r, 1)));
    CHECK(means(r, 2) == tree_sum(column(x, 2)) / n);
  }
  check_rows(most, extreme(true));
  check_rows(least, extreme(false));
  const plx::array ones = one;
  const plx::array sizes = size;
  CHECK(ones(0, 0) == n);
  CHECK(sizes(0) == all_rows());
  check_rows(index, table_of<std::int32_t>(1, [](std::size_t r, std::size_t) { return static_cast<std::int32_t>(r); }));
}

TEST_CASE("gathering, scattering and exchanging") {
  const auto n = static_cast<std::size_t>(all_rows());
  const auto width = static_cast<std::int64_t>(n);
  const auto x = table_of<float>(2 * width, number); // rows of shape [2, n]
  const auto f = plx::pmap<"i">([](auto v) {
    return std::tuple{plx::all_gather<"i">(v),
                      plx::all_gather<"i">(v, 1),
                      plx::all_gather<"i">(v, 1, gather_mode::tiled),
                      plx::psum_scatter<"i">(v, 1),
                      plx::psum_scatter<"i">(v, 1, gather_mode::tiled),
                      plx::all_to_all<"i">(v, 1, 0)};
  });
  const auto [stacked, inside, tiled, scattered, cut, exchanged] = f(own(x, 2, width));
  check_rows(stacked, table_of<float>(2 * width * width,
                                      [&](std::size_t, std::size_t k) { return x[k / (2 * n)][k % (2 * n)]; }));
  check_rows(inside, table_of<float>(2 * width * width, [&](std::size_t, std::size_t k) {
               return x[k / n % n][k / (n * n) * n + k % n];
             }));
  check_rows(tiled, table_of<float>(2 * width * width,
                                    [&](std::size_t, std::size_t k) { return x[k / n % n][k / (n * n) * n + k % n]; }));
  const auto own_slice =
      table_of<float>(2, [&](std::size_t r, std::size_t k) { return tree_sum(column(x, k * n + r)); });
  check_rows(scattered, own_slice);
  check_rows(cut, own_slice);
  // axis 1 is split, and what comes is stacked along axis 0: [n, 2]
  check_rows(exchanged,
             table_of<float>(2 * width, [&](std::size_t r, std::size_t k) { return x[k / 2][k % 2 * n + r]; }));
}

TEST_CASE("permutations and broadcasts") {
  const auto n = static_cast<std::int64_t>(all_rows());
  const auto x = table_of<float>(3, number);
  const auto f = plx::pmap<"i">([](auto v) {
    return std::tuple{plx::ppermute<"i">(v, plx::rotate{3}), plx::ppermute<"i">(v, plx::rotate{-1}),
                      plx::ppermute<"i">(v, plx::shift{1}), plx::ppermute<"i">(v, plx::shift{-2}),
                      plx::pbroadcast<"i">(v, 3)};
  });
  const auto [round, back, along, towards, third] = f(own(x, 3));
  const auto moved = [&](std::int64_t distance, bool rotates) {
    return table_of<float>(3, [&](std::size_t r, std::size_t i) {
      std::int64_t from = static_cast<std::int64_t>(r) - distance;
      if (rotates) from = (from % n + n) % n;
      return from < 0 || from >= n ? 0.f : x[static_cast<std::size_t>(from)][i];
    });
  };
  check_rows(round, moved(3, true));
  check_rows(back, moved(-1, true));
  check_rows(along, moved(1, false));
  check_rows(towards, moved(-2, false));
  check_rows(third, table_of<float>(3, [&](std::size_t, std::size_t i) { return x[3][i]; }));
}

TEST_CASE("an instance may be alone in its group") {
  if (all_rows() != 8) return;
  const auto x = table_of<float>(2, number);
  const auto f = plx::pmap<"i">([](auto v) {
    constexpr axis_index_groups most{{0}, {1, 2, 3, 4, 5, 6, 7}};
    return plx::psum<"i">(v, most);
  });
  check_rows(f(own(x, 2)), table_of<float>(2, [&](std::size_t r, std::size_t i) {
               if (r == 0) return x[0][i];
               std::vector<float> others = column(x, i);
               others.erase(others.begin());
               return tree_sum(others);
             }));
}

TEST_CASE("groups of instances lie in several processes") {
  if (all_rows() != 8) return;
  const auto x = table_of<float>(2, number);
  const auto f = plx::pmap<"i">([](auto v) {
    constexpr axis_index_groups crossing{{0, 4, 2}, {7, 1, 3, 5, 6}};
    constexpr axis_index_groups pairs{{0, 7}, {1, 6}, {2, 5}, {3, 4}};
    return std::tuple{plx::psum<"i">(v, crossing), plx::all_gather<"i">(v, pairs), plx::psum_scatter<"i">(v, pairs),
                      plx::all_to_all<"i">(v, pairs, 0, 0)};
  });
  const auto [sum, gathered, scattered, exchanged] = f(own(x, 2));
  const std::vector<std::vector<std::size_t>> crossing{{0, 4, 2}, {7, 1, 3, 5, 6}};
  check_rows(sum, table_of<float>(2, [&](std::size_t r, std::size_t i) {
               const auto& group =
                   std::count(crossing[0].begin(), crossing[0].end(), r) == 1 ? crossing[0] : crossing[1];
               std::vector<float> values;
               for (std::size_t member : group) values.push_back(x[member][i]);
               return tree_sum(values);
             }));
  const auto first_of = [](std::size_t r) { return std::min(r, 7 - r); };
  check_rows(gathered, table_of<float>(4, [&](std::size_t r, std::size_t k) {
               return x[k < 2 ? first_of(r) : 7 - first_of(r)][k % 2];
             }));
  check_rows(scattered, table_of<float>(1, [&](std::size_t r, std::size_t) {
               const std::size_t a = first_of(r);
               return x[a][r == a ? 0 : 1] + x[7 - a][r == a ? 0 : 1];
             }));
  check_rows(exchanged, table_of<float>(2, [&](std::size_t r, std::size_t k) {
               const std::size_t a = first_of(r);
               return x[k == 0 ? a : 7 - a][r == a ? 0 : 1];
             }));
}

TEST_CASE("a number of instances that is known while compiling is that of all processes") {
  const auto x = table_of<float>(2, [](std::size_t r, std::size_t i) { return static_cast<float>(r + 10 * i); });
  const auto f =
      plx::pmap<"i">([](auto row) { return plx::pmean<"i">(row) + 0 * plx::axis_size<"i">(); }, plx::axis_size<8>());
  if (all_rows() == 8) {
    check_rows(f(own(x, 2)),
               table_of<float>(2, [&](std::size_t, std::size_t i) { return tree_sum(column(x, i)) / 8; }));
  } else {
    CHECK_THROWS_WITH(f(own(x, 2)), Catch::Contains("must be 8") || Catch::Contains("8"));
  }
}

} // namespace process_tests
