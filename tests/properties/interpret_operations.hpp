// What statements compute that are no functions: loops over elements and over instances.
#pragma once

#include "properties/drawn_program.hpp"
#include "properties/dual.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

 protected:
  const drawn_program& p;
  work_left& work;
  double of_constants;
  std::vector<mapped_extent> axes{};
  std::size_t count = 1; ///< of instances

  /// Constants are multiplied by `factor`, which tells how much rounding may change.
  operation_interpreter(const drawn_program& drawn, work_left& limit, double factor)
      : p(drawn), work(limit), of_constants(factor) {}

  static int whole(const std::vector<N>& x, std::size_t k = 0) { return static_cast<int>(plain(x[k])); }
  static bool is_less(const N& x, const N& y) {
    if (std::abs(plain(x) - plain(y)) < 1e-6) throw no_test("nearly equal numbers are compared");
    return plain(x) < plain(y);
  }

  static N larger(const N& x, const N& y) { return is_less(x, y) ? y : x; }
  static N smaller(const N& x, const N& y) { return is_less(x, y) ? x : y; }

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
  template <class F> static void accumulate(row& x, bool reverse, const F& f) {
    if (reverse) std::reverse(x.begin(), x.end());
    for (std::size_t k = 1; k < x.size(); ++k) x[k] = f(x[k - 1], x[k]);
    if (reverse) std::reverse(x.begin(), x.end());
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
    const auto extent = static_cast<int>(x.empty() || x[0].shape.empty() ? 1 : x[0].shape[0]);
    const std::size_t slice =
        x.empty() || x[0].elements[0].empty() ? 1 : x[0].elements[0].size() / static_cast<std::size_t>(extent);
    auto piece = [&](const row& from, int i) {
      const auto first = from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * slice);
      return row(first, first + static_cast<std::ptrdiff_t>(slice));
    };
    auto change = [&](row to, int i, const row& with, const auto& combine) {
      for (std::size_t k = 0; i < extent && k < slice; ++k) {
        N& element = to[static_cast<std::size_t>(i) * slice + k];
        element = combine(element, with[k]);
      }
      return to;
    };
    auto changed = [&](const auto& combine) {
      return each(shape, x, [&](const std::vector<row>& of) { return change(of[0], whole(of[1]), of[2], combine); });
    };
    auto elements_at = [&](const auto& place) {
      return each(shape, x, [&](const std::vector<row>& of) {
        row result;
        for (std::size_t k = 0; k < of[1].size(); ++k)
          for (const N& each_one : piece(of[0], place(whole(of[1], k)))) result.push_back(each_one);
        return result;
      });
    };
    switch (s.what) {
    case operation::literal: {
      const double factor = p.type_of(s.targets[0]).is_whole ? 1 : of_constants;
      return elementwise(shape, {}, [&](auto) { return N(factor * s.constant); });
    }
    case operation::ramp:
      return each(shape, {}, [&](auto) {
        row result;
        const double step = p.type_of(s.targets[0]).is_whole ? 1 : of_constants * s.constant;
        for (int k = 1; k <= count_of_elements(shape); ++k) result.push_back(N(step * k));
        return result;
      });
    case operation::of_whole: return x[0];
    case operation::one_hot:
      return each(shape, x, [](const std::vector<row>& of) {
        row result;
        for (std::size_t k = 0; k < of[0].size(); ++k)
          for (int place = 0; place < 3; ++place) result.push_back(N(place == whole(of[0], k) ? 1. : 0.));
        return result;
      });
    case operation::add: return elementwise(shape, x, [](auto at) { return at(0) + at(1); });
    case operation::subtract: return elementwise(shape, x, [](auto at) { return at(0) - at(1); });
    case operation::multiply: return elementwise(shape, x, [](auto at) { return at(0) * at(1); });
    case operation::divide: return elementwise(shape, x, [](auto at) { return at(0) / (at(1) * at(1) + N(1.5)); });
    case operation::maximum: return elementwise(shape, x, [](auto at) { return larger(at(0), at(1)); });
    case operation::sine: return elementwise(shape, x, [](auto at) { return sine(at(0)); });
    case operation::hyperbolic: return elementwise(shape, x, [](auto at) { return hyperbolic(at(0)); });
    case operation::select: return elementwise(shape, x, [](auto at) { return is_less(at(0), at(1)) ? at(2) : at(3); });
    case operation::sum_all:
      return each(shape, x,
                  [](const std::vector<row>& of) { return row{std::accumulate(of[0].begin(), of[0].end(), N(0.))}; });
    case operation::sum:
      return along(x[0], s.number, shape, [](row& r) { r = {std::accumulate(r.begin(), r.end(), N(0.))}; });
    case operation::largest:
      return along(x[0], s.number, shape, [](row& r) { r = {*std::max_element(r.begin(), r.end(), is_less)}; });
    case operation::broadcast:
      return each(shape, x, [&](const std::vector<row>& of) {
        row result;
        for (int k = 0; k < count_of_elements(shape); ++k)
          result.push_back(of[0][static_cast<std::size_t>(k) % of[0].size()]);
        return result;
      });
    case operation::transpose:
      return each(shape, x, [&](const std::vector<row>& of) {
        row result;
        const auto rows = static_cast<std::size_t>(shape[1]), columns = static_cast<std::size_t>(shape[0]);
        for (std::size_t c = 0; c < columns; ++c)
          for (std::size_t r = 0; r < rows; ++r) result.push_back(of[0][r * columns + c]);
        return result;
      });
    case operation::flatten: return {shape, x[0].elements};
    case operation::concatenate:
      return each(shape, x, [](const std::vector<row>& of) {
        row result = of[0];
        result.insert(result.end(), of[1].begin(), of[1].end());
        return result;
      });
    case operation::slice:
      return each(shape, x, [&](const std::vector<row>& of) {
        return row(of[0].begin() + static_cast<std::ptrdiff_t>(slice), of[0].end());
      });
    case operation::dot: return dot(x, shape);
    case operation::cumulative_sum:
    case operation::reverse_sum:
      return along(x[0], s.number, shape,
                   [&](row& r) { accumulate(r, s.what == operation::reverse_sum, std::plus<N>{}); });
    case operation::cumulative_product:
      return along(x[0], s.number, shape, [&](row& r) { accumulate(r, false, std::multiplies<N>{}); });
    case operation::cumulative_largest:
      return along(x[0], s.number, shape, [&](row& r) { accumulate(r, false, larger); });
    case operation::cumulative_smallest:
      return along(x[0], s.number, shape, [&](row& r) { accumulate(r, false, smaller); });
    case operation::cumulative_logsumexp:
      return along(x[0], s.number, shape, [&](row& r) {
        accumulate(r, false, [](const N& a, const N& b) { return logarithm(exponential(a) + exponential(b)); });
      });
    case operation::sort: return along(x[0], 0, shape, [](row& r) { std::sort(r.begin(), r.end(), is_less); });
    case operation::argsort:
      return along(x[0], 0, shape, [](row& r) {
        row order;
        for (const N& mine : r)
          order.push_back(N(static_cast<double>(std::count_if(
              r.begin(), r.end(), [&](const N& other) { return &other != &mine && is_less(other, mine); }))));
        for (std::size_t k = 0; k < r.size(); ++k)
          r[static_cast<std::size_t>(whole(order, k))] = N(static_cast<double>(k));
      });
    case operation::sort_with:
      return each(shape, x, [&](const std::vector<row>& of) {
        row result = of[1];
        std::vector<std::size_t> order(static_cast<std::size_t>(extent));
        for (std::size_t column = 0; column < slice; ++column) {
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return is_less(of[0][a * slice + column], of[0][b * slice + column]);
          });
          for (std::size_t k = 0; k < order.size(); ++k) result[k * slice + column] = of[1][order[k] * slice + column];
        }
        return result;
      });
    case operation::top:
      return along(x[0], static_cast<int>(shape.size()) - 1, shape, [](row& r) {
        std::sort(r.begin(), r.end(), [](const N& a, const N& b) { return is_less(b, a); });
        r.resize(2);
      });
    case operation::search:
      return each(shape, x, [](const std::vector<row>& of) {
        row result;
        for (const N& y : of[1])
          result.push_back(N(static_cast<double>(
              std::count_if(of[0].begin(), of[0].end(), [&](const N& other) { return is_less(other, y); }))));
        return result;
      });
    case operation::element:
    case operation::take: return elements_at([&](int i) { return std::min(i, extent - 1); });
    case operation::element_from_end: return elements_at([&](int i) { return std::max(extent - 1 - i, 0); });
    case operation::take_along: return elements_at([&](int i) { return i % s.number; });
    case operation::window:
      return each(shape, x, [&](const std::vector<row>& of) {
        const auto first = of[0].begin() + static_cast<std::ptrdiff_t>(whole(of[1]) > 0 ? slice : 0);
        return row(first, first + static_cast<std::ptrdiff_t>(of[0].size() - slice));
      });
    case operation::set_window:
      return each(shape, x, [&](const std::vector<row>& of) {
        row result = of[0];
        std::copy(of[2].begin(), of[2].end(),
                  result.begin() + static_cast<std::ptrdiff_t>(whole(of[1]) > 0 ? slice : 0));
        return result;
      });
    case operation::set_element: return changed([](const N&, const N& y) { return y; });
    case operation::add_element: return changed(std::plus<N>{});
    case operation::multiply_element: return changed(std::multiplies<N>{});
    case operation::smaller_element: return changed(smaller);
    case operation::larger_element: return changed(larger);
    case operation::add_elements:
      return each(shape, x, [&](const std::vector<row>& of) {
        row result = of[0];
        for (std::size_t k = 0; k < of[1].size(); ++k)
          result = change(result, whole(of[1], k), piece(of[2], static_cast<int>(k)), std::plus<N>{});
        return result;
      });
    case operation::segment_sums:
      return each(shape, x, [&](const std::vector<row>& of) {
        row result(static_cast<std::size_t>(count_of_elements(shape)), N(0.));
        for (std::size_t k = 0; k < of[0].size(); ++k) {
          const auto segment = static_cast<std::size_t>(whole(of[1], k / slice));
          if (segment < 3) result[segment * slice + k % slice] = result[segment * slice + k % slice] + of[0][k];
        }
        return result;
      });
    case operation::remainder:
      return elementwise(shape, x, [&](auto at) { return N(std::fmod(plain(at(0)), s.number)); });
    case operation::meet: return over_axis(s, x, shape);
    case operation::nest: break;
    }
    throw std::logic_error("functions compute no one value");
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
              else if (is_less(mine[e], of(other)[e])) mine[e] = of(other)[e];
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
