// Arrays of numbers for calls of compiled steps, and whether results are near what plain loops say.
#pragma once

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace direct_numbers {

/// An array of numbers around `centre`, each another one.
template <class A> A numbers(const typename A::shape_type& shape, double centre = 0.25) {
  A result = A::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] =
        static_cast<typename A::value_type>(centre + 0.375 * static_cast<double>(i * 7 % 11 - 5));
  return result;
}

template <class A> bool is_near(const A& result, const std::vector<double>& expected, double tolerance = 1e-6) {
  if (result.size() != std::ssize(expected)) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double got = static_cast<double>(result.values()[i]);
    if (!(std::abs(got - expected[i]) <= tolerance * (1 + std::abs(expected[i])))) return false;
  }
  return true;
}

} // namespace direct_numbers
