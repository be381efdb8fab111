// What the conformance tests share: arrays counted up, and results held against values worked out elsewhere.
#pragma once

#include <parallax/parallax.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "support/test.hpp"

namespace conformance {

namespace plx = parallax;
using shape_list = std::initializer_list<std::int64_t>;

/// 0, 1, 2, ... in row-major order; X(r,c) of the reference.
template <class T = float, class... Extent> auto counted(Extent... extents) {
  constexpr int rank = static_cast<int>(sizeof...(Extent));
  auto result = plx::array<T, rank>::uninitialised({static_cast<std::int64_t>(extents)...});
  T* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = static_cast<T>(i);
  return result;
}

template <class T, auto Shape> plx::array<T, Shape> on_host(const plx::array<T, Shape>& x) { return x; }
template <class T, auto Shape> plx::array<T, Shape> on_host(const plx::sharded<T, Shape>& x) { return x.gather(); }

/// Type, shape and every element are the same.
template <class T, class Result>
void check_equal(const Result& result, shape_list shape, const std::vector<T>& values) {
  static_assert(std::same_as<typename Result::value_type, T>);
  const auto whole = on_host(result);
  CHECK(std::vector<std::int64_t>(whole.shape().begin(), whole.shape().end()) == std::vector<std::int64_t>(shape));
  CHECK(whole.to_vector() == values);
}

/// Type and shape are the same, and every element is within `relative * |expected| + absolute` of what is expected.
template <class T = float, class Result>
void check_close(const Result& result, shape_list shape, const std::vector<double>& values, double relative = 1e-6,
                 double absolute = 0) {
  static_assert(std::same_as<typename Result::value_type, T>);
  const auto whole = on_host(result);
  CHECK(std::vector<std::int64_t>(whole.shape().begin(), whole.shape().end()) == std::vector<std::int64_t>(shape));
  REQUIRE(whole.values().size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i << " of " << values.size());
    const double got = static_cast<double>(whole.values()[i]);
    CHECK(std::abs(got - values[i]) <= relative * std::abs(values[i]) + absolute);
  }
}

/// The derivative of `f(x)` by each number of x, by central differences.
template <class F> std::vector<double> differences(const F& f, std::vector<double> x, double step = 1e-6) {
  std::vector<double> result;
  for (double& value : x) {
    const double here = value;
    value = here + step;
    const double above = f(x);
    value = here - step;
    result.push_back((above - f(x)) / (2 * step));
    value = here;
  }
  return result;
}

/// `values` as often as `times` says, one after the other.
template <class T> std::vector<T> repeated(const std::vector<T>& values, std::int64_t times) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < times; ++i) result.insert(result.end(), values.begin(), values.end());
  return result;
}

} // namespace conformance
