// A plain interpreter of drawn programs: loops over elements and over instances, one statement after another.
#pragma once

#include "properties/drawn_program.hpp"
#include "properties/dual.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
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

template <class N> class interpreter {
 public:
  using row = std::vector<N>;
  using values = instances_of<N>;

  /// Constants are multiplied by `factor`, which tells how much rounding may change.
  interpreter(const drawn_program& drawn, work_left& limit, double factor = 1)
      : p(drawn), work(limit), of_constants(factor), known(drawn.types.size()) {}

  std::vector<values> call(const block& b, const std::vector<values>& arguments) {
    for (std::size_t k = 0; k < arguments.size(); ++k) set(b.parameters[k], arguments[k]);
    for (const statement& s : b.statements) run(s);
    std::vector<values> results;
    for (variable v : b.results) results.push_back(here(v));
    return results;
  }

 private:
  template <class> friend class interpreter;
  const drawn_program& p;
  work_left& work;
  double of_constants;
  std::vector<std::optional<values>> known;
  std::vector<mapped_extent> axes;
  std::size_t count = 1; ///< of instances

  void set(variable v, values x) {
    for (const row& r : x.elements)
      for (const N& number : r)
        if (!(std::abs(plain(number)) < 1e3)) throw no_test("numbers grow, and rounding errors with them");
    known[static_cast<std::size_t>(v)] = std::move(x);
  }
  /// The value of a variable for all instances that there are here.
  values here(variable v) {
    const values& x = *known[static_cast<std::size_t>(v)];
    values result{x.shape, {}};
    const std::size_t each = count / x.elements.size();
    for (std::size_t i = 0; i < count; ++i) result.elements.push_back(x.elements[i / each]);
    work.take(static_cast<std::int64_t>(count) * count_of_elements(x.shape));
    return result;
  }
  static int whole(const std::vector<N>& x, std::size_t k = 0) { return static_cast<int>(plain(x[k])); }
  static bool is_less(const N& x, const N& y) {
    if (std::abs(plain(x) - plain(y)) < 1e-6) throw no_test("nearly equal numbers are compared");
    return plain(x) < plain(y);
  }

  static N larger(const N& x, const N& y) { return is_less(x, y) ? y : x; }

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

  void run(const statement& s) {
    std::vector<values> x;
    for (variable v : s.operands) x.push_back(here(v));
    const std::vector<int> shape = p.type_of(s.targets[0]).shape;
    work.take(static_cast<std::int64_t>(count) * count_of_elements(shape));
    if (s.what != operation::nest) return set(s.targets[0], compute(s, x, shape));
    switch (s.nested) {
    case nesting::scan:
    case nesting::reverse_scan: return run_scan(s, x);
    case nesting::fori_loop: return run_fori_loop(s, x);
    case nesting::while_loop: return run_while(s, x);
    case nesting::map: return run_map(s, x);
    case nesting::cond:
    case nesting::switched: return run_branches(s, x);
    case nesting::vmap:
    case nesting::pmap: return run_mapped(s, x);
    case nesting::checkpointed: {
      const auto results = call(s.bodies[0], x);
      return set(s.targets[0], results[0]), set(s.targets[1], results[1]);
    }
    case nesting::direction: return run_direction(s, x);
    case nesting::gradient:
    case nesting::both_gradients: return run_gradient(s, x);
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
    case operation::add: return elementwise(shape, x, [](auto at) { return at(0) + at(1); });
    case operation::subtract: return elementwise(shape, x, [](auto at) { return at(0) - at(1); });
    case operation::multiply: return elementwise(shape, x, [](auto at) { return at(0) * at(1); });
    case operation::divide: return elementwise(shape, x, [](auto at) { return at(0) / (at(1) * at(1) + N(1.5)); });
    case operation::maximum:
      return elementwise(shape, x, [](auto at) { return is_less(at(0), at(1)) ? at(1) : at(0); });
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
    case operation::smaller_element: return changed([](const N& a, const N& b) { return is_less(a, b) ? a : b; });
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

  values slice_of(const values& stacked, std::size_t number) {
    values result{{stacked.shape.begin() + 1, stacked.shape.end()}, {}};
    const auto size = static_cast<std::size_t>(count_of_elements(result.shape));
    for (const row& r : stacked.elements) {
      const auto first = r.begin() + static_cast<std::ptrdiff_t>(number * size);
      result.elements.push_back(row(first, first + static_cast<std::ptrdiff_t>(size)));
    }
    return result;
  }
  void set_stacked(variable target, const std::vector<values>& slices) {
    values all{p.type_of(target).shape, std::vector<row>(count)};
    for (const values& slice : slices)
      for (std::size_t i = 0; i < count; ++i)
        all.elements[i].insert(all.elements[i].end(), slice.elements[i].begin(), slice.elements[i].end());
    set(target, all);
  }
  values everywhere(double number) { return {{}, std::vector<row>(count, row{N(number)})}; }

  void run_scan(const statement& s, std::vector<values> x) {
    const auto rounds = static_cast<std::size_t>(x[2].shape[0]);
    std::vector<values> outputs(rounds);
    for (std::size_t r = 0; r < rounds; ++r) {
      const std::size_t number = s.nested == nesting::reverse_scan ? rounds - 1 - r : r;
      auto results = call(s.bodies[0], {x[0], x[1], slice_of(x[2], number)});
      x[0] = results[0], x[1] = results[1], outputs[number] = results[2];
    }
    set(s.targets[0], x[0]), set(s.targets[1], x[1]);
    set_stacked(s.targets[2], outputs);
  }
  void run_fori_loop(const statement& s, std::vector<values> x) {
    for (int i = 0; i < s.number; ++i) x = call(s.bodies[0], {everywhere(i), x[0], x[1]});
    set(s.targets[0], x[0]), set(s.targets[1], x[1]);
  }
  void run_while(const statement& s, std::vector<values> x) {
    while (true) {
      std::vector<bool> goes_on(count);
      for (std::size_t i = 0; i < count; ++i) goes_on[i] = whole(x[1].elements[i]) < whole(x[2].elements[i]);
      if (std::none_of(goes_on.begin(), goes_on.end(), std::identity{})) break;
      const auto results = call(s.bodies[0], {x[0], x[1]});
      for (std::size_t i = 0; i < count; ++i) {
        if (!goes_on[i]) continue;
        x[0].elements[i] = results[0].elements[i];
        x[1].elements[i] = {x[1].elements[i][0] + N(1.)};
      }
    }
    set(s.targets[0], x[0]), set(s.targets[1], x[1]);
  }
  void run_map(const statement& s, const std::vector<values>& x) {
    std::vector<values> outputs;
    for (std::size_t r = 0; r < static_cast<std::size_t>(x[0].shape[0]); ++r)
      outputs.push_back(call(s.bodies[0], {slice_of(x[0], r)})[0]);
    set_stacked(s.targets[0], outputs);
  }
  void run_branches(const statement& s, const std::vector<values>& x) {
    std::vector<std::vector<values>> all;
    for (const block& branch : s.bodies) all.push_back(call(branch, {x[1], x[2]}));
    for (std::size_t k = 0; k < s.targets.size(); ++k) {
      values chosen = all[0][k];
      for (std::size_t i = 0; i < count; ++i) {
        const int number = whole(x[0].elements[i]);
        const auto last = static_cast<int>(all.size()) - 1;
        const int branch = s.nested == nesting::cond ? (number < 2 ? 0 : 1) : std::min(number, last);
        chosen.elements[i] = all[static_cast<std::size_t>(branch)][k].elements[i];
      }
      set(s.targets[k], chosen);
    }
  }

  /// An operand's slices along an axis, as instances that follow each other.
  values spread(const values& x, int axis, int extent) {
    std::vector<values> slices;
    const values first = axis == 0 ? x : with_first(x);
    for (int k = 0; k < extent; ++k) slices.push_back(slice_of(first, static_cast<std::size_t>(k)));
    values result{slices[0].shape, {}};
    for (std::size_t i = 0; i < count; ++i)
      for (const values& slice : slices) result.elements.push_back(slice.elements[i]);
    return result;
  }
  /// A matrix with its axes exchanged.
  values with_first(const values& x) { return compute({.what = operation::transpose}, {x}, {x.shape[1], x.shape[0]}); }
  void run_mapped(const statement& s, const std::vector<values>& x) {
    const auto extent = static_cast<std::size_t>(s.extent);
    std::vector<values> arguments{spread(x[0], s.layout == mapped_layout::first_along_1 ? 1 : 0, s.extent)};
    if (s.layout != mapped_layout::second_whole) {
      arguments.push_back(spread(x[1], 0, s.extent));
    } else {
      arguments.push_back({x[1].shape, {}});
      for (std::size_t i = 0; i < count * extent; ++i) arguments[1].elements.push_back(x[1].elements[i / extent]);
    }
    axes.push_back({s.number, s.extent});
    count *= extent;
    const std::vector<values> results = call(s.bodies[0], arguments);
    axes.pop_back();
    count /= extent;
    for (std::size_t k = 0; k < results.size(); ++k) {
      values joined{p.type_of(s.targets[k]).shape, std::vector<row>(count)};
      for (std::size_t i = 0; i < results[k].elements.size(); ++i) {
        row& all = joined.elements[i / extent];
        all.insert(all.end(), results[k].elements[i].begin(), results[k].elements[i].end());
      }
      set(s.targets[k], joined);
    }
  }

  /// By each element of each instance: what all instances' results together change with it.
  void run_gradient(const statement& s, const std::vector<values>& x) {
    if constexpr (requires(N n) { n.tangent.tangent; }) {
      throw no_test("a third derivative");
    } else {
      for (std::size_t k = 0; k < s.targets.size(); ++k) {
        values slope{x[k].shape, x[k].elements};
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t e = 0; e < slope.elements[i].size(); ++e) slope.elements[i][e] = slope_by(s, x, k, i, e);
        set(s.targets[k], slope);
      }
    }
  }
  /// The tangents of what the function makes of operands whose tangents are their values.
  void run_direction(const statement& s, const std::vector<values>& x) {
    if constexpr (requires(N n) { n.tangent.tangent; }) {
      throw no_test("a third derivative");
    } else {
      interpreter<dual<N>> inner = with_tangents();
      std::vector<instances_of<dual<N>>> arguments;
      for (const values& operand : x) {
        arguments.push_back(lifted(operand));
        for (auto& r : arguments.back().elements)
          for (dual<N>& number : r) number.tangent = number.value;
      }
      values result{p.type_of(s.targets[0]).shape, {}};
      const auto results = inner.call(s.bodies[0], arguments);
      for (const auto& r : results[0].elements) {
        result.elements.emplace_back();
        for (const dual<N>& number : r) result.elements.back().push_back(number.tangent);
      }
      set(s.targets[0], result);
    }
  }
  interpreter<dual<N>> with_tangents() const {
    interpreter<dual<N>> inner(p, work, of_constants);
    inner.axes = axes;
    inner.count = count;
    for (std::size_t v = 0; v < known.size(); ++v)
      if (known[v]) inner.known[v] = lifted(*known[v]);
    return inner;
  }
  N slope_by(const statement& s, const std::vector<values>& x, std::size_t argument, std::size_t instance,
             std::size_t element) {
    interpreter<dual<N>> inner = with_tangents();
    std::vector<instances_of<dual<N>>> arguments;
    for (const values& each_one : x) arguments.push_back(lifted(each_one));
    arguments[argument].elements[instance][element].tangent = N(1.);
    N sum(0.);
    const auto results = inner.call(s.bodies[0], arguments);
    for (const auto& result : results[0].elements) sum = sum + result[0].tangent;
    return sum;
  }
  static instances_of<dual<N>> lifted(const values& x) {
    instances_of<dual<N>> result{x.shape, {}};
    for (const row& r : x.elements) {
      result.elements.emplace_back();
      for (const N& n : r) result.elements.back().push_back({n, N(0.)});
    }
    return result;
  }
};

} // namespace properties
