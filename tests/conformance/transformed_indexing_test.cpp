// Gathers, scatters, slices and updates at places that are data, under grad, vmap and pmap, beside plain loops.
#include "transformed_calls.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

namespace transformed_indexing_test {

namespace {

using namespace conformance;
using namespace conformance::indexing;
using namespace conformance::transformed_calls;

constexpr auto whole = [](auto x) { return plx::astype<std::int32_t>(x); };
std::int64_t whole_of(double x) { return static_cast<std::int64_t>(x); }
double& at(numbers& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; }
double at(const numbers& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; }

/// The positions of the elements from the smallest to the largest.
std::vector<std::int64_t> order_of(const numbers& x) {
  std::vector<std::int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return at(x, a) < at(x, b); });
  return order;
}

const auto replaced = [](double, double update) { return update; };
const auto smaller = [](double a, double b) { return std::min(a, b); };
const auto larger = [](double a, double b) { return std::max(a, b); };

/// x with four elements changed one after another by the last four, halved, and 1; places of -1 are not there.
template <class Place, class Combine> numbers changed(const numbers& x, const Place& place, Combine combine) {
  numbers result = x;
  for (std::int64_t k = 0; k < 4; ++k) {
    const std::int64_t i = place(k);
    if (i >= 0) at(result, i) = combine(at(result, i), 0.5 * at(x, k + 2) + 1);
  }
  return result;
}
constexpr auto updates = [](auto x) { return 0.5 * plx::slice_in_dim(x, 2, 6) + 1.; };

} // namespace

TEST_CASE("transformed gathers: slices that are moved, and slices that are filled") {
  constexpr auto slices = [](auto x) {
    constexpr plx::gather_dimension_numbers by_row{
        .offset_dims = {1, 2}, .collapsed_slice_dims = {}, .start_index_map = {0}};
    auto matrix = plx::reshape(x * x, {3, 2});
    auto starts = plx::reshape(whole(x), {6, 1});
    auto filled = plx::gather(matrix, starts, by_row, {2, 1});
    return plx::concatenate({plx::ravel(plx::gather(matrix, starts, by_row, {2, 2}, plx::mode::clip)),
                             plx::ravel(plx::where(filled == filled, filled, -1.))});
  };
  check_calls(slices, [](const numbers& x) {
    numbers moved, filled;
    for (double start : x)
      for (std::int64_t r = 0; r < 2; ++r)
        for (std::int64_t c = 0; c < 2; ++c) {
          const std::int64_t first = whole_of(start), nearest = std::clamp<std::int64_t>(first, 0, 1);
          moved.push_back(std::pow(at(x, 2 * (nearest + r) + c), 2));
          if (c == 0) filled.push_back(first == nearest ? std::pow(at(x, 2 * (first + r)), 2) : -1);
        }
    append(moved, filled);
    return moved;
  });
}

TEST_CASE("transformed scatters: set, add, multiply, the smaller and the larger") {
  constexpr auto scattered = [](auto x) {
    constexpr plx::scatter_dimension_numbers elements{
        .update_window_dims = {}, .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}};
    auto y = updates(x);
    auto places = plx::reshape(whole(plx::slice_in_dim(x, 0, 4)), {4, 1});
    auto different = plx::reshape(plx::slice_in_dim(plx::argsort(x), 0, 4), {4, 1});
    return plx::concatenate({plx::scatter(x, places, y, elements), plx::scatter_add(x, places, y, elements),
                             plx::scatter_mul(x, different, y, elements, plx::unique_indices),
                             plx::scatter_min(x, places, y, elements), plx::scatter_max(x, places, y, elements)});
  };
  check_calls(scattered, [](const numbers& x) {
    // negative indices are not there
    const auto place = [&](std::int64_t k) {
      const std::int64_t i = whole_of(at(x, k));
      return i < 0 || i > 5 ? -1 : i;
    };
    const auto order = order_of(x);
    numbers all = changed(x, place, replaced);
    append(all, changed(x, place, std::plus<>()));
    append(all, changed(x, [&](std::int64_t k) { return order[static_cast<std::size_t>(k)]; }, std::multiplies<>()));
    append(all, changed(x, place, smaller));
    append(all, changed(x, place, larger));
    return all;
  });
}

TEST_CASE("transformed updates at(i): multiply, min and max") {
  constexpr auto updated = [](auto x) {
    auto y = updates(x);
    auto places = whole(plx::slice_in_dim(x, 0, 4));
    auto different = plx::slice_in_dim(plx::argsort(x), 0, 4);
    return plx::concatenate(
        {x.at(different).multiply(y, plx::unique_indices), x.at(places).min(y), x.at(places).max(y)});
  };
  check_calls(updated, [](const numbers& x) {
    // negative indices count from the end
    const auto place = [&](std::int64_t k) { return valid(whole_of(at(x, k)), 6); };
    const auto order = order_of(x);
    numbers all = changed(x, [&](std::int64_t k) { return order[static_cast<std::size_t>(k)]; }, std::multiplies<>());
    append(all, changed(x, place, smaller));
    append(all, changed(x, place, larger));
    return all;
  });
}

TEST_CASE("transformed slices: take_along_axis, dynamic_slice and dynamic_update_slice") {
  constexpr auto slices = [](auto x) {
    auto matrix = plx::reshape(plx::sin(x), {2, 3});
    auto i = whole(x);
    return plx::concatenate({plx::ravel(plx::take_along_axis(matrix, plx::reshape(i, {2, 3}), 1, plx::mode::clip)),
                             plx::ravel(plx::dynamic_slice(matrix, std::tuple{i[0], i[1]}, {1, 2})),
                             plx::ravel(plx::dynamic_update_slice(
                                 matrix, plx::reshape(plx::slice_in_dim(x, 0, 2), {1, 2}), std::tuple{i[3], i[2]}))});
  };
  check_calls(slices, [](const numbers& x) {
    numbers all, written;
    for (double value : x) written.push_back(std::sin(value));
    // negative starts count from the end, then the slice is moved until it fits
    const auto start = [&](std::int64_t k, std::int64_t extent, std::int64_t size) {
      const std::int64_t i = whole_of(at(x, k));
      return std::clamp<std::int64_t>(i < 0 ? i + extent : i, 0, extent - size);
    };
    for (std::int64_t k = 0; k < 6; ++k) all.push_back(at(written, 3 * (k / 3) + start(k, 3, 1)));
    for (std::int64_t c = 0; c < 2; ++c) all.push_back(at(written, 3 * start(0, 2, 1) + start(1, 3, 2) + c));
    for (std::int64_t c = 0; c < 2; ++c) at(written, 3 * start(3, 2, 1) + start(2, 3, 2) + c) = at(x, c);
    append(all, written);
    return all;
  });
}

TEST_CASE("transformed one_hot and segment_sum") {
  constexpr auto counted_up = [](auto x) {
    auto hot = plx::detail::one_hot_of<double>(whole(x), 5);
    return plx::concatenate({plx::ravel(hot), plx::dot(plx::sin(x), hot), plx::segment_sum(x * x, whole(x), 5)});
  };
  check_calls(counted_up, [](const numbers& x) {
    numbers hot(30), sums(5), squares(5);
    for (std::int64_t k = 0; k < 6; ++k) {
      const std::int64_t i = whole_of(at(x, k));
      if (i < 0 || i >= 5) continue;
      at(hot, 5 * k + i) = 1;
      at(sums, i) += std::sin(at(x, k));
      at(squares, i) += at(x, k) * at(x, k);
    }
    append(hot, sums);
    append(hot, squares);
    return hot;
  });
}

} // namespace transformed_indexing_test
