// What the tests of transformed calls share: a function of one row, called row by row, by vmap and by pmap, beside a
// plain loop and differences of it.
#pragma once

#include "indices.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace conformance::transformed_calls {

using indexing::numbers;

/// Rows of distinct numbers. As whole numbers, towards zero, some are equal, some negative and some beyond the row.
inline const std::array<numbers, 3> rows{
    {{0.3, 4.7, 2.6, -1.4, 5.2, 1.9}, {3.4, -0.8, 7.3, 0.6, 2.2, 3.7}, {-3.6, 1.3, 1.6, 2.8, 9.1, 0.2}}};
using row = plx::array<double, plx::extents<6>>;

inline row array_of(const numbers& values) {
  row result;
  std::copy(values.begin(), values.end(), result.mutable_data());
  return result;
}
inline auto array_of_rows() {
  plx::array<double, plx::extents<3, 6>> result;
  double* out = result.mutable_data();
  for (const numbers& each : rows) out = std::copy(each.begin(), each.end(), out);
  return result;
}
inline void append(numbers& all, const numbers& more) { all.insert(all.end(), more.begin(), more.end()); }

/// `f` makes a pair of rows from one, and `loop` the same of plain numbers: calls one by one are as the loop says, the
/// second of the pair within `tolerance`, and the calls of vmap and of pmap are these.
template <class F, class Loop> void check_pairs(F f, const Loop& loop, double tolerance = 1e-12) {
  numbers firsts, seconds;
  for (const numbers& each : rows) {
    const auto [first, second] = plx::jit(f)(array_of(each));
    const auto [of_loop, second_of_loop] = loop(each);
    INFO("row " << &each - rows.data());
    check_close<double>(first, {std::ssize(of_loop)}, of_loop, 1e-12, 1e-12);
    check_close<double>(second, {std::ssize(second_of_loop)}, second_of_loop, tolerance, tolerance);
    append(firsts, first.to_vector());
    append(seconds, second.to_vector());
  }
  auto check_batch = [&](const auto& batch) {
    check_close<double>(batch.first, {3, std::ssize(firsts) / 3}, firsts, 1e-12, 1e-12);
    check_close<double>(batch.second, {3, std::ssize(seconds) / 3}, seconds, 1e-12, 1e-12);
  };
  {
    INFO("vmap");
    check_batch(plx::jit(plx::vmap(f))(array_of_rows()));
  }
  INFO("pmap");
  check_batch(plx::pmap(f)(array_of_rows()));
}

/// y[0] + 2 y[1] + 3 y[2] + ...
template <class F>
constexpr auto weighed_sum = [](auto x) {
  auto y = F{}(x);
  return plx::sum(y * (1. + plx::arange<double>(y.shape(0))));
};
template <class Loop> double weighed_sum_of(const Loop& loop, const numbers& x) {
  double sum = 0, weight = 0;
  for (double y : loop(x)) sum += ++weight * y;
  return sum;
}
/// `f` makes a row from one, and `loop` the same of plain numbers: values and gradients, one by one, by vmap and by
/// pmap.
template <class F, class Loop> void check_calls(F, const Loop& loop) {
  check_pairs([](auto x) { return std::pair{F{}(x), plx::grad(weighed_sum<F>)(x)}; },
              [&](const numbers& x) {
                auto of_loop = [&](const numbers& at) { return weighed_sum_of(loop, at); };
                return std::pair{loop(x), differences(of_loop, x, 1e-5)};
              },
              1e-6);
}

} // namespace conformance::transformed_calls
