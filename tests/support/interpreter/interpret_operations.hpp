// What statements compute that are no functions: loops over elements and over instances.
#pragma once

#include "support/interpreter/drawn_program.hpp"
#include "support/interpreter/dual.hpp"
#include "support/interpreter/interpret_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

namespace properties {

/// An array of each instance, elements in row-major order. Instances of inner axes follow each other.
template <class N> struct instances_of {
  std::vector<int> shape{};
  std::vector<std::vector<N>> elements{};
};

/// What an interpretation may still cost.
struct work_left {
  std::int64_t steps;
  void take(std::int64_t count) {
    steps -= count;
    if (steps < 0) throw no_test("takes too long");
  }
};

/// Each statement is computed from its operands' elements in all instances that there are.
template <class N> class operation_interpreter {
 public:
  using row = std::vector<N>;
  using values = instances_of<N>;
  using operands = std::vector<row>; ///< of one instance
  using each_row = row_operations<N>;

 protected:
  const drawn_program& p;
  work_left& work;
  double of_constants;
  std::vector<mapped_extent> axes{};
  std::size_t count = 1; ///< of instances

  /// Constants are multiplied by `factor`, which tells how much rounding may change.
  operation_interpreter(const drawn_program& drawn, work_left& limit, double factor)
      : p(drawn), work(limit), of_constants(factor) {}

  static int whole(const row& x, std::size_t k = 0) { return each_row::whole(x, k); }

  /// Computes each instance's elements from its operands'.
  template <class F> values each(const std::vector<int>& shape, const std::vector<values>& x, const F& f) {
    values result{shape, {}};
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<row> of_instance;
      for (const values& operand : x) of_instance.push_back(operand.elements[i]);
      result.elements.push_back(f(of_instance));
    }
    return result;
  }
  template <class F> values elementwise(const std::vector<int>& shape, const std::vector<values>& x, const F& f) {
    return each(shape, x, [&](const std::vector<row>& of) {
      row result(static_cast<std::size_t>(count_of_elements(shape)));
      for (std::size_t k = 0; k < result.size(); ++k) {
        auto at = [&](std::size_t operand) { return of[operand][of[operand].size() == 1 ? 0 : k]; };
        result[k] = f(at);
      }
      return result;
    });
  }
  /// Calls f(row) with each row along an axis; what it leaves in it is the result.
  template <class F> values along(const values& x, int axis, const std::vector<int>& shape, const F& f) {
    std::size_t before = 1, after = 1;
    for (int k = 0; k < axis; ++k) before *= static_cast<std::size_t>(x.shape[static_cast<std::size_t>(k)]);
    for (std::size_t k = static_cast<std::size_t>(axis) + 1; k < x.shape.size(); ++k)
      after *= static_cast<std::size_t>(x.shape[k]);
    const auto length = static_cast<std::size_t>(x.shape[static_cast<std::size_t>(axis)]);
    return each(shape, {x}, [&](const std::vector<row>& of) {
      row result(static_cast<std::size_t>(count_of_elements(shape)));
      for (std::size_t b = 0; b < before; ++b)
        for (std::size_t a = 0; a < after; ++a) {
          row one;
          for (std::size_t k = 0; k < length; ++k) one.push_back(of[0][(b * length + k) * after + a]);
          f(one);
          for (std::size_t k = 0; k < one.size(); ++k) result[(b * one.size() + k) * after + a] = one[k];
        }
      return result;
    });
  }
  /// Calls f(instances) with the numbers of those that meet along an axis, in its order.
  template <class F> void meet(int axis, const F& f) {
    std::size_t inner = 1, extent = 1;
    for (std::size_t k = axes.size(); k-- > 0;) {
      extent = static_cast<std::size_t>(axes[k].extent);
      if (axes[k].axis == axis) break;
      inner *= extent;
    }
    for (std::size_t first = 0; first < count; ++first) {
      if (first / inner % extent != 0) continue;
      std::vector<std::size_t> group;
      for (std::size_t k = 0; k < extent; ++k) group.push_back(first + k * inner);
      f(group);
    }
  }

  values compute(const statement& s, const std::vector<values>& x, const std::vector<int>& shape) {
    const slice_operations<N> parts = slices_in(x);
    switch (s.what) {
    case operation::literal: return literal(s, shape);
    case operation::ramp: return ramp(s, shape);
    case operation::of_whole: return x[0];
    case operation::one_hot: return each(shape, x, [](const operands& of) { return each_row::one_hot(of[0]); });
    case operation::add: return elementwise(shape, x, [](auto at) { return at(0) + at(1); });
    case operation::subtract: return elementwise(shape, x, [](auto at) { return at(0) - at(1); });
    case operation::multiply: return elementwise(shape, x, [](auto at) { return at(0) * at(1); });
    case operation::divide: return elementwise(shape, x, [](auto at) { return at(0) / (at(1) * at(1) + N(1.5)); });
    case operation::maximum: return elementwise(shape, x, [](auto at) { return each_row::larger(at(0), at(1)); });
    case operation::sine: return elementwise(shape, x, [](auto at) { return sine(at(0)); });
    case operation::hyperbolic: return elementwise(shape, x, [](auto at) { return hyperbolic(at(0)); });
    case operation::select: return selected(x, shape);
    case operation::sum_all: return each(shape, x, [](const operands& of) { return row{each_row::sum(of[0])}; });
    case operation::sum: return along(x[0], s.number, shape, [](row& r) { r = {each_row::sum(r)}; });
    case operation::largest: return along(x[0], s.number, shape, [](row& r) { r = {each_row::largest(r)}; });
    case operation::broadcast: return broadcast(x, shape);
    case operation::transpose: return transposed(x, shape);
    case operation::flatten: return {shape, x[0].elements};
    case operation::concatenate:
      return each(shape, x, [](const operands& of) { return each_row::joined(of[0], of[1]); });
    case operation::slice: return each(shape, x, [&](const operands& of) { return parts.without_first(of[0]); });
    case operation::dot: return dot(x, shape);
    case operation::cumulative_sum: return accumulated(s, x, shape, std::plus<N>{});
    case operation::reverse_sum: return accumulated(s, x, shape, std::plus<N>{});
    case operation::cumulative_product: return accumulated(s, x, shape, std::multiplies<N>{});
    case operation::cumulative_largest: return accumulated(s, x, shape, each_row::larger);
    case operation::cumulative_smallest: return accumulated(s, x, shape, each_row::smaller);
    case operation::cumulative_logsumexp: return accumulated(s, x, shape, each_row::log_of_sum);
    case operation::sort: return along(x[0], 0, shape, each_row::sort);
    case operation::argsort: return along(x[0], 0, shape, each_row::argsort);
    case operation::sort_with:
      return each(shape, x, [&](const operands& of) { return parts.sorted_with(of[0], of[1]); });
    case operation::top: return along(x[0], static_cast<int>(shape.size()) - 1, shape, each_row::keep_top);
    case operation::search: return each(shape, x, [](const operands& of) { return each_row::places_in(of[0], of[1]); });
    case operation::element:
    case operation::take: return elements_at(x, shape, [&](int i) { return std::min(i, parts.extent - 1); });
    case operation::element_from_end:
      return elements_at(x, shape, [&](int i) { return std::max(parts.extent - 1 - i, 0); });
    case operation::take_along: return elements_at(x, shape, [&](int i) { return i % s.number; });
    case operation::window: return each(shape, x, [&](const operands& of) { return parts.window(of[0], of[1]); });
    case operation::set_window: return with_window(x, shape);
    case operation::set_element: return changed(x, shape, [](const N&, const N& y) { return y; });
    case operation::add_element: return changed(x, shape, std::plus<N>{});
    case operation::multiply_element: return changed(x, shape, std::multiplies<N>{});
    case operation::smaller_element: return changed(x, shape, each_row::smaller);
    case operation::larger_element: return changed(x, shape, each_row::larger);
    case operation::add_elements: return with_sums(x, shape);
    case operation::segment_sums: return segment_sums(x, shape);
    case operation::remainder: return remainder(s, x, shape);
    case operation::meet: return over_axis(s, x, shape);
    case operation::nest: break;
    }
    throw std::logic_error("functions compute no one value");
  }

  values literal(const statement& s, const std::vector<int>& shape) {
    const double factor = p.type_of(s.targets[0]).is_whole ? 1 : of_constants;
    return elementwise(shape, {}, [&](auto) { return N(factor * s.constant); });
  }
  values ramp(const statement& s, const std::vector<int>& shape) {
    return each(shape, {}, [&](auto) {
      row result;
      const double step = p.type_of(s.targets[0]).is_whole ? 1 : of_constants * s.constant;
      for (int k = 1; k <= count_of_elements(shape); ++k) result.push_back(N(step * k));
      return result;
    });
  }
  values selected(const std::vector<values>& x, const std::vector<int>& shape) {
    return elementwise(shape, x, [](auto at) { return each_row::is_less(at(0), at(1)) ? at(2) : at(3); });
  }
  values remainder(const statement& s, const std::vector<values>& x, const std::vector<int>& shape) {
    return elementwise(shape, x, [&](auto at) { return N(std::fmod(plain(at(0)), s.number)); });
  }
  values broadcast(const std::vector<values>& x, const std::vector<int>& shape) {
    return each(shape, x, [&](const operands& of) { return each_row::repeated(of[0], count_of_elements(shape)); });
  }
  values transposed(const std::vector<values>& x, const std::vector<int>& shape) {
    const auto rows = static_cast<std::size_t>(shape[1]), columns = static_cast<std::size_t>(shape[0]);
    return each(shape, x, [&](const operands& of) { return each_row::transposed(of[0], rows, columns); });
  }
  template <class F>
  values accumulated(const statement& s, const std::vector<values>& x, const std::vector<int>& shape, const F& f) {
    const bool reverse = s.what == operation::reverse_sum;
    return along(x[0], s.number, shape, [&](row& r) { each_row::accumulate(r, reverse, f); });
  }

  /// The slices of the first operand.
  static slice_operations<N> slices_in(const std::vector<values>& x) {
    const auto extent = static_cast<int>(x.empty() || x[0].shape.empty() ? 1 : x[0].shape[0]);
    const std::size_t slice =
        x.empty() || x[0].elements[0].empty() ? 1 : x[0].elements[0].size() / static_cast<std::size_t>(extent);
    return {extent, slice};
  }
  template <class F> values changed(const std::vector<values>& x, const std::vector<int>& shape, const F& combine) {
    const slice_operations<N> parts = slices_in(x);
    return each(shape, x, [&](const operands& of) { return parts.change(of[0], whole(of[1]), of[2], combine); });
  }
  template <class F> values elements_at(const std::vector<values>& x, const std::vector<int>& shape, const F& place) {
    const slice_operations<N> parts = slices_in(x);
    return each(shape, x, [&](const operands& of) { return parts.elements_at(of[0], of[1], place); });
  }
  values segment_sums(const std::vector<values>& x, const std::vector<int>& shape) {
    const slice_operations<N> parts = slices_in(x);
    return each(shape, x,
                [&](const operands& of) { return parts.segment_sums(of[0], of[1], count_of_elements(shape)); });
  }
  values with_window(const std::vector<values>& x, const std::vector<int>& shape) {
    const slice_operations<N> parts = slices_in(x);
    return each(shape, x, [&](const operands& of) { return parts.set_window(of[0], of[1], of[2]); });
  }
  values with_sums(const std::vector<values>& x, const std::vector<int>& shape) {
    const slice_operations<N> parts = slices_in(x);
    return each(shape, x, [&](const operands& of) { return parts.add_elements(of[0], of[1], of[2]); });
  }

  values dot(const std::vector<values>& x, const std::vector<int>& shape) {
    const std::size_t depth = static_cast<std::size_t>(x[0].shape.back());
    const std::size_t columns = x[1].shape.size() == 2 ? static_cast<std::size_t>(x[1].shape[1]) : 1;
    return each(shape, x, [&](const std::vector<row>& of) {
      row result(static_cast<std::size_t>(count_of_elements(shape)), N(0.));
      for (std::size_t k = 0; k < result.size(); ++k)
        for (std::size_t d = 0; d < depth; ++d)
          result[k] = result[k] + of[0][k / columns * depth + d] * of[1][d * columns + k % columns];
      return result;
    });
  }

  values over_axis(const statement& s, const std::vector<values>& x, const std::vector<int>& shape) {
    values result = s.together == meeting::index ? values{shape, std::vector<row>(count)} : x[0];
    result.shape = shape;
    meet(s.number, [&](const std::vector<std::size_t>& group) {
      const std::size_t size = group.size();
      for (std::size_t k = 0; k < size; ++k) {
        row& mine = result.elements[group[k]];
        auto of = [&](std::size_t other) -> const row& { return x[0].elements[group[other % size]]; };
        if (s.together == meeting::index) mine = {N(static_cast<double>(k))};
        else if (s.together == meeting::rotate) mine = of(k + size - 1);
        else if (s.together == meeting::shift) mine = k == 0 ? row(mine.size(), N(0.)) : of(k - 1);
        else if (s.together == meeting::gather) {
          mine.clear();
          for (std::size_t other = 0; other < size; ++other)
            mine.insert(mine.end(), of(other).begin(), of(other).end());
        } else {
          for (std::size_t e = 0; e < mine.size(); ++e) {
            mine[e] = of(0)[e];
            for (std::size_t other = 1; other < size; ++other) {
              if (s.together != meeting::largest) mine[e] = mine[e] + of(other)[e];
              else if (each_row::is_less(mine[e], of(other)[e])) mine[e] = of(other)[e];
            }
            if (s.together == meeting::mean) mine[e] = mine[e] / N(static_cast<double>(size));
          }
        }
      }
    });
    return result;
  }
};

} // namespace properties
