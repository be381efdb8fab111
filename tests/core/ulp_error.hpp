// How far a floating result is from a more precise reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// The distance of `result` from `reference` in units in the last place of T at the reference; infinite where one is
/// infinite or NaN and the other, rounded to T, is not, and where zeros differ in sign.
template <class T> double ulp_error(T result, long double reference) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  T rounded = static_cast<T>(reference);
  if (std::isnan(rounded) || std::isnan(result)) return std::isnan(rounded) && std::isnan(result) ? 0 : wrong;
  if (result == rounded) return result == 0 && std::signbit(result) != std::signbit(rounded) ? wrong : 0;
  if (std::isinf(result) || std::isinf(rounded)) {
    // overflowing one step too early or too late is an error of one unit
    T finite = std::isinf(result) ? rounded : result;
    return std::fabs(finite) == std::numeric_limits<T>::max() ? 1 : wrong;
  }
  int exponent;
  std::frexp(rounded, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(result) - reference) / unit);
}
