// What statements that are no functions make of the elements of one instance: rows of numbers, and slices of them.
#pragma once

#include "support/interpreter/dual.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace properties {

/// Thrown where a program takes too long to interpret, or its result depends on rounding: where numbers that are
/// compared are nearly equal.
struct no_test : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Rows of numbers that are compared, summed, and put in order.
template <class N> struct row_operations {
  using row = std::vector<N>;

  static int whole(const std::vector<N>& x, std::size_t k = 0) { return static_cast<int>(plain(x[k])); }
  static bool is_less(const N& x, const N& y) {
    if (std::abs(plain(x) - plain(y)) < 1e-6) throw no_test("nearly equal numbers are compared");
    return plain(x) < plain(y);
  }

  static N larger(const N& x, const N& y) { return is_less(x, y) ? y : x; }
  static N smaller(const N& x, const N& y) { return is_less(x, y) ? x : y; }

  static N log_of_sum(const N& x, const N& y) { return logarithm(exponential(x) + exponential(y)); }
  static N sum(const row& x) { return std::accumulate(x.begin(), x.end(), N(0.)); }
  static N largest(const row& x) { return *std::max_element(x.begin(), x.end(), is_less); }

  template <class F> static void accumulate(row& x, bool reverse, const F& f) {
    if (reverse) std::reverse(x.begin(), x.end());
    for (std::size_t k = 1; k < x.size(); ++k) x[k] = f(x[k - 1], x[k]);
    if (reverse) std::reverse(x.begin(), x.end());
  }

  /// So many elements, which begin anew behind the last one.
  static row repeated(const row& x, int size) {
    row result;
    for (int k = 0; k < size; ++k) result.push_back(x[static_cast<std::size_t>(k) % x.size()]);
    return result;
  }
  static row one_hot(const row& places) {
    row result;
    for (std::size_t k = 0; k < places.size(); ++k)
      for (int place = 0; place < 3; ++place) result.push_back(N(place == whole(places, k) ? 1. : 0.));
    return result;
  }
  static row transposed(const row& x, std::size_t rows, std::size_t columns) {
    row result;
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r) result.push_back(x[r * columns + c]);
    return result;
  }
  static row joined(row x, const row& y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
  }

  static void sort(row& r) { std::sort(r.begin(), r.end(), is_less); }
  /// Leaves the numbers of the elements, in the order that sorts these.
  static void argsort(row& r) {
    row order;
    for (const N& mine : r)
      order.push_back(N(static_cast<double>(
          std::count_if(r.begin(), r.end(), [&](const N& other) { return &other != &mine && is_less(other, mine); }))));
    for (std::size_t k = 0; k < r.size(); ++k) r[static_cast<std::size_t>(whole(order, k))] = N(static_cast<double>(k));
  }
  static void keep_top(row& r) {
    std::sort(r.begin(), r.end(), [](const N& a, const N& b) { return is_less(b, a); });
    r.resize(2);
  }
  /// Where each of `wanted` goes into a sorted row.
  static row places_in(const row& sorted, const row& wanted) {
    row result;
    for (const N& y : wanted)
      result.push_back(N(static_cast<double>(
          std::count_if(sorted.begin(), sorted.end(), [&](const N& other) { return is_less(other, y); }))));
    return result;
  }
};

/// Arrays as slices along their first axis.
template <class N> struct slice_operations {
  using row = std::vector<N>;
  using each_row = row_operations<N>;
  int extent;        ///< how many slices there are
  std::size_t slice; ///< how many elements one has

  row piece(const row& from, int i) const {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * slice);
    return row(first, first + static_cast<std::ptrdiff_t>(slice));
  }
  /// Combines a slice, if it is there, with another array's elements.
  template <class F> row change(row to, int i, const row& with, const F& combine) const {
    for (std::size_t k = 0; i < extent && k < slice; ++k) {
      N& element = to[static_cast<std::size_t>(i) * slice + k];
      element = combine(element, with[k]);
    }
    return to;
  }
  /// The slices at places, of which `place` says where they are.
  template <class F> row elements_at(const row& from, const row& places, const F& place) const {
    row result;
    for (std::size_t k = 0; k < places.size(); ++k)
      for (const N& each_one : piece(from, place(each_row::whole(places, k)))) result.push_back(each_one);
    return result;
  }
  row without_first(const row& x) const { return row(x.begin() + static_cast<std::ptrdiff_t>(slice), x.end()); }
  row sorted_with(const row& keys, const row& x) const {
    row result = x;
    std::vector<std::size_t> order(static_cast<std::size_t>(extent));
    for (std::size_t column = 0; column < slice; ++column) {
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return each_row::is_less(keys[a * slice + column], keys[b * slice + column]);
      });
      for (std::size_t k = 0; k < order.size(); ++k) result[k * slice + column] = x[order[k] * slice + column];
    }
    return result;
  }
  row window(const row& x, const row& place) const {
    const auto first = x.begin() + start_of_window(place);
    return row(first, first + static_cast<std::ptrdiff_t>(x.size() - slice));
  }
  row set_window(row to, const row& place, const row& update) const {
    std::copy(update.begin(), update.end(), to.begin() + start_of_window(place));
    return to;
  }
  row add_elements(row to, const row& places, const row& updates) const {
    for (std::size_t k = 0; k < places.size(); ++k)
      to = change(to, each_row::whole(places, k), piece(updates, static_cast<int>(k)), std::plus<N>{});
    return to;
  }
  row segment_sums(const row& x, const row& segments, int size) const {
    row result(static_cast<std::size_t>(size), N(0.));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto segment = static_cast<std::size_t>(each_row::whole(segments, k / slice));
      if (segment < 3) result[segment * slice + k % slice] = result[segment * slice + k % slice] + x[k];
    }
    return result;
  }

 private:
  std::ptrdiff_t start_of_window(const row& place) const {
    return static_cast<std::ptrdiff_t>(each_row::whole(place) > 0 ? slice : 0);
  }
};

} // namespace properties
