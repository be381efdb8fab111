// What results are tested against: plain loops in double, finite differences, single calls one after another.
#pragma once

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "support/test.hpp"

namespace reference {

using coordinates = std::vector<std::int64_t>;

/// An array of doubles in row-major order, of any rank.
struct table {
  coordinates shape;
  std::vector<double> values;

  double& operator[](const coordinates& at) { return values[offset(at)]; }
  double operator[](const coordinates& at) const { return values[offset(at)]; }

 private:
  std::size_t offset(const coordinates& at) const {
    std::int64_t result = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) result = result * shape[i] + at[i];
    return static_cast<std::size_t>(result);
  }
};

inline std::int64_t count(const coordinates& shape) {
  std::int64_t result = 1;
  for (std::int64_t extent : shape) result *= extent;
  return result;
}

/// Calls `f` with every index of a shape, in row-major order.
template <class F> void for_each_index(const coordinates& shape, F f) {
  coordinates at(shape.size(), 0);
  for (std::int64_t n = count(shape); n > 0; --n) {
    f(at);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
}

/// The table whose element at `at` is `f(at)`.
template <class F> table tabulate(const coordinates& shape, F f) {
  table result{shape, {}};
  for_each_index(shape, [&](const coordinates& at) { result.values.push_back(static_cast<double>(f(at))); });
  return result;
}

/// Numbers between `low` and `high`, scattered and all different.
inline table numbers(const coordinates& shape, double low, double high, double offset = 0) {
  double n = offset;
  return tabulate(shape, [&](const coordinates&) {
    n += 0.6180339887498949;
    n -= std::floor(n);
    return low + (high - low) * n;
  });
}

template <class T, auto Shape> table table_of(const parallax::array<T, Shape>& x) {
  table result{{x.shape().begin(), x.shape().end()}, {}};
  for (T value : x.values()) result.values.push_back(static_cast<double>(value));
  return result;
}

/// The table as an array of `Array`'s type.
template <class Array> Array array_of(const table& x) {
  using T = typename Array::value_type;
  typename Array::shape_type shape{};
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = x.shape[i];
  Array result = Array::uninitialised(shape);
  T* out = result.mutable_data();
  for (double value : x.values) *out++ = static_cast<T>(value);
  return result;
}
template <class T, int Rank> parallax::array<T, Rank> array_of(const table& x) {
  return array_of<parallax::array<T, Rank>>(x);
}

inline bool close(double a, double b, double rtol, double atol) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= atol + rtol * std::abs(b);
}

/// Checks that both have one shape and that elements differ by at most atol + rtol * |expected|; NaN equals NaN.
inline void compare(const table& actual, const table& expected, double rtol = 0, double atol = 0) {
  REQUIRE(actual.shape == expected.shape);
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    if (close(actual.values[i], expected.values[i], rtol, atol)) continue;
    INFO("element " << i << " is " << actual.values[i] << ", not " << expected.values[i]);
    FAIL_CHECK();
    return;
  }
  CHECK(actual.values.size() == expected.values.size());
}
template <class T, auto Shape>
void compare(const parallax::array<T, Shape>& actual, const table& expected, double rtol = 0, double atol = 0) {
  compare(table_of(actual), expected, rtol, atol);
}

/// Central differences of a function of a table.
template <class F> table finite_difference_gradient(F f, table x) {
  table result = x;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    double centre = x.values[i], step = 1e-5 * (1 + std::abs(centre));
    x.values[i] = centre + step;
    double above = f(x);
    x.values[i] = centre - step;
    double below = f(x);
    x.values[i] = centre;
    result.values[i] = (above - below) / (2 * step);
  }
  return result;
}

/// Position `at` of an axis, which goes.
inline table take(const table& x, std::size_t axis, std::int64_t at) {
  coordinates shape = x.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return tabulate(shape, [&](coordinates i) {
    i.insert(i.begin() + static_cast<std::ptrdiff_t>(axis), at);
    return x[i];
  });
}
/// Tables of one shape along a new axis.
inline table stack(const std::vector<table>& parts, std::size_t axis = 0) {
  coordinates shape = parts[0].shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(parts.size()));
  return tabulate(shape, [&](coordinates i) {
    const table& part = parts[static_cast<std::size_t>(i[axis])];
    i.erase(i.begin() + static_cast<std::ptrdiff_t>(axis));
    return part[i];
  });
}

/// The arrays of a result: one by itself, or a tuple of them.
template <class Result> std::vector<table> tables_of(const Result& result) {
  std::vector<table> tables;
  parallax::tree_for_each([&](const auto& x) { tables.push_back(table_of(x)); }, result);
  return tables;
}

/// The sum of the sines of all elements of a result: its gradient tells the elements apart.
template <class F> struct probe {
  template <class... X> constexpr auto operator()(const X&... x) const {
    auto result = F{}(x...);
    parallax::tracer sums[parallax::detail::leaf_count<decltype(result)>];
    int n = 0;
    parallax::tree_for_each([&](const auto& y) { sums[n++] = parallax::sum(parallax::sin(y)); }, result);
    for (int i = 1; i < n; ++i) sums[0] = sums[0] + sums[i];
    return sums[0];
  }
};

template <class F, class... X> double probe_value(F f, const X&... x) {
  double sum = 0;
  for (const table& result : tables_of(parallax::jit(f)(x...)))
    for (double value : result.values) sum += std::sin(value);
  return sum;
}

/// The gradient of a function of float64 arrays, with respect to all, against central differences of its values.
template <class F, class... X> void check_gradient(F f, const X&... x) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto gradients =
        tables_of(parallax::jit(parallax::grad(probe<F>{}, parallax::argnums<static_cast<int>(I)...>))(x...));
    auto one = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
      INFO("argument " << N);
      std::tuple<X...> arguments(x...);
      auto& moving = std::get<N>(arguments);
      auto value = [&](const table& moved) {
        moving = array_of<std::remove_reference_t<decltype(moving)>>(moved);
        return std::apply([&](const X&... y) { return probe_value(f, y...); }, arguments);
      };
      table expected = finite_difference_gradient(value, table_of(moving));
      compare(gradients[N], expected, 2e-7, 2e-7);
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
  }(std::index_sequence_for<X...>{});
}

namespace detail {
inline constexpr int batch_size = 3;

/// The extents with a dynamic one inserted.
template <class Extents, int Axis> constexpr auto with_axis() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    constexpr std::size_t at = static_cast<std::size_t>(Axis);
    return parallax::extents<(I == at ? parallax::dyn : Extents::values[I < at ? I : I - 1])...>;
  }(std::make_index_sequence<static_cast<std::size_t>(Extents::rank) + 1>{});
}

/// An array with a new axis, whose positions are variations of `x`; the argument itself if the axis is -1.
template <int Axis, class X> auto batch_of(const X& x) {
  if constexpr (Axis < 0) {
    return x;
  } else {
    using value_type = typename X::value_type;
    std::vector<table> parts;
    for (int i = 0; i < batch_size; ++i) {
      parts.push_back(table_of(x));
      // elements move round, so that integers and truth values stay what they are
      std::vector<double>& values = parts.back().values;
      if (!values.empty())
        std::rotate(values.begin(), values.begin() + i % static_cast<int>(values.size()), values.end());
      if (std::floating_point<value_type>)
        for (double& value : values) value *= 1 - i / 16.;
    }
    using batched = parallax::array<value_type, with_axis<typename X::extents_type, Axis>()>;
    return array_of<batched>(stack(parts, static_cast<std::size_t>(Axis)));
  }
}
template <int Axis, class X, class Batched> X position(const Batched& x, std::int64_t at) {
  if constexpr (Axis < 0) return x;
  else return array_of<X>(take(table_of(x), static_cast<std::size_t>(Axis), at));
}
template <int Axis> constexpr auto in_axis() {
  if constexpr (Axis < 0) return parallax::none;
  else return Axis;
}
} // namespace detail

/// `vmap` with the arguments' axes `Axes`, -1 for an unmapped one, against single calls.
template <int... Axes, class F, class... X> void check_batching(F f, const X&... x) {
  std::tuple batched{detail::batch_of<Axes>(x)...};
  auto mapped = parallax::jit(parallax::vmap(f, parallax::in_axes<detail::in_axis<Axes>()...>));
  std::vector<table> actual = tables_of(std::apply(mapped, batched));
  std::vector<std::vector<table>> expected(actual.size());
  for (int i = 0; i < detail::batch_size; ++i) {
    auto single = [&]<class... B>(const B&... b) { return parallax::jit(f)(detail::position<Axes, X>(b, i)...); };
    std::vector<table> results = tables_of(std::apply(single, batched));
    for (std::size_t k = 0; k < results.size(); ++k) expected[k].push_back(results[k]);
  }
  for (std::size_t k = 0; k < actual.size(); ++k) {
    INFO("result " << k << " mapped");
    compare(actual[k], stack(expected[k]), 1e-13, 1e-13);
  }
}

} // namespace reference
