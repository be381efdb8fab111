// What the programs of several processes are tested with: rows of global arrays, of which each process has its own.
#pragma once

#include <parallax/distributed.hpp>

#include "../support/in_pairs.hpp"
#include "../support/test.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace process_tests {

/// How many instances all processes have, and which are this process'.
inline std::int64_t all_rows() { return plx::distributed::device_count(); }
inline std::int64_t own_rows() { return plx::distributed::local_device_count(); }
inline std::int64_t first_row() {
  std::int64_t first = 0;
  const auto counts = plx::distributed::gather(static_cast<std::int32_t>(own_rows()));
  for (int p = 0; p < plx::distributed::process_index(); ++p) first += counts[static_cast<std::size_t>(p)];
  return first;
}

/// A global array as plain numbers: row by row.
template <class T> using table = std::vector<std::vector<T>>;

/// A table of so many rows of `width` numbers, `f(row, i)` each.
template <class T, class F> table<T> table_of(std::int64_t width, const F& f) {
  table<T> all(static_cast<std::size_t>(all_rows()), std::vector<T>(static_cast<std::size_t>(width)));
  for (std::size_t r = 0; r < all.size(); ++r)
    for (std::size_t i = 0; i < all[r].size(); ++i) all[r][i] = f(r, i);
  return all;
}

/// This process' rows of a table, each of the shape given.
template <class T, class... Extents> auto own(const table<T>& all, Extents... shape) {
  constexpr int rank = 1 + sizeof...(Extents);
  auto x = plx::array<T, rank>::uninitialised({own_rows(), static_cast<std::int64_t>(shape)...});
  const auto first = static_cast<std::size_t>(first_row());
  T* to = x.mutable_data();
  for (std::size_t r = 0; r < static_cast<std::size_t>(own_rows()); ++r)
    for (T value : all[first + r]) *to++ = value;
  return x;
}

/// Checks this process' rows bit by bit.
template <class Rows, class T> void check_rows(const Rows& result, const table<T>& expected) {
  const plx::array rows = result;
  const auto first = static_cast<std::size_t>(first_row()), count = static_cast<std::size_t>(own_rows());
  REQUIRE(rows.shape(0) == own_rows());
  REQUIRE(rows.size() == static_cast<std::int64_t>(count * expected[0].size()));
  const T* value = rows.data();
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t i = 0; i < expected[first + r].size(); ++i, ++value) {
      if (std::memcmp(value, &expected[first + r][i], sizeof(T)) == 0) continue;
      INFO("row " << first + r << ", element " << i);
      CHECK(static_cast<double>(*value) == static_cast<double>(expected[first + r][i]));
    }
}

/// The sum of a column of some rows, in the order that is promised: pairs, then pairs of pairs.
template <class T> T tree_sum(const std::vector<T>& values) {
  return in_pairs(values, [](T a, T b) { return static_cast<T>(a + b); });
}

template <class T> std::vector<T> column(const table<T>& all, std::size_t i) {
  std::vector<T> values;
  for (const std::vector<T>& row : all) values.push_back(row[i]);
  return values;
}

} // namespace process_tests
