// Numbers as text by NumPy's rules: the shortest digits that read back as the same number, cut off after a precision.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/math/scalar_operations.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The most digits printed after the decimal point of an array's element.
inline constexpr int print_precision = 8;

/// A number in scientific form: `digits`, with a point after the first, times ten to the `exponent`.
struct decimal {
  bool negative;
  std::string digits;
  int exponent;

  int fraction_digits() const { return count_of(digits) - 1 - exponent; }
};

/// The fewest digits after the first that identify the finite `value` among the numbers of its type.
template <math::floating16_element T> int shortest_fraction(T value) {
  for (int fraction = 0;; ++fraction) {
    char text[64];
    auto end =
        std::to_chars(text, text + sizeof text, static_cast<float>(value), std::chars_format::scientific, fraction);
    float read = 0;
    std::from_chars(text, end.ptr, read);
    if (T(read) == value) return fraction;
  }
}

/// The finite `value` with the fewest digits that identify it among the numbers of its type; with `fraction` >= 0,
/// with that many digits after the first.
template <math::floating_element T> decimal to_decimal(T number, int fraction = -1) {
  if constexpr (math::floating16_element<T>)
    if (fraction < 0) fraction = shortest_fraction(number);
  const auto value = math::detail::widen(number);
  char text[64];
  auto end = fraction < 0 ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific)
                          : std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, fraction);
  const std::string_view all(text, index_of(end.ptr - text));
  const std::size_t e = all.find('e');
  decimal result{all.front() == '-', {}, std::atoi(std::string(all.substr(e + 1)).c_str())};
  for (char c : all.substr(0, e))
    if (c >= '0' && c <= '9') result.digits += c;
  return result;
}

inline void trim_zeros(std::string& text) { text.erase(text.find_last_not_of('0') + 1); }

/// `value` rounded to `fraction` digits after the point, which is always there, without trailing zeros: "0.5", "3.".
template <math::floating_element T> std::string fixed_text(T value, int fraction) {
  char text[400];
  auto end = std::to_chars(text, text + sizeof text, math::detail::widen(value), std::chars_format::fixed, fraction);
  std::string result(text, end.ptr);
  if (fraction == 0) return result + '.';
  trim_zeros(result);
  return result;
}

/// `value` in positional form, with its shortest digits but at most `print_precision` after the point.
template <math::floating_element T> std::string positional(T value) {
  return fixed_text(value, std::clamp(to_decimal(value).fraction_digits(), 0, print_precision));
}

/// The parts of "-1.25e-05": "-1", "25", '-' and "5".
struct scientific_parts {
  std::string whole, fraction;
  char exponent_sign;
  std::string exponent;
};

inline scientific_parts parts_of(const decimal& d) {
  std::string exponent = std::to_string(std::abs(d.exponent));
  if (exponent.size() < 2) exponent.insert(0, 1, '0');
  return {(d.negative ? "-" : "") + d.digits.substr(0, 1), d.digits.substr(1), d.exponent < 0 ? '-' : '+', exponent};
}

/// `value` in scientific form with its shortest digits but at most `print_precision` after the point.
template <math::floating_element T> scientific_parts scientific(T value) {
  const decimal shortest = to_decimal(value);
  const bool too_long = count_of(shortest.digits) - 1 > print_precision;
  scientific_parts parts = parts_of(too_long ? to_decimal(value, print_precision) : shortest);
  trim_zeros(parts.fraction);
  return parts;
}

/// The text of a number that is not finite.
template <math::floating_element T> std::string_view non_finite(T value) {
  return value != value ? "nan" : value < 0 ? "-inf" : "inf";
}

/// A bfloat16 as its NumPy type (ml_dtypes) writes it: with six digits at most.
inline std::string short_text(bfloat16 value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
  return value != value ? "nan" : text;
}

/// One number on its own, as NumPy prints a scalar: all its digits, in scientific form if it is large or small.
template <class T> std::string scalar_text(T value) {
  if constexpr (std::same_as<T, bool>) return value ? "True" : "False";
  else if constexpr (std::integral<T>) return std::to_string(value);
  else if constexpr (std::same_as<T, bfloat16>) return short_text(value);
  else {
    if (!math::is_finite(value)) return std::string(non_finite(value));
    const double magnitude = std::abs(static_cast<double>(value));
    const decimal d = to_decimal(value);
    if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
      const scientific_parts s = parts_of(d);
      return s.whole + (s.fraction.empty() ? "" : ".") + s.fraction + 'e' + s.exponent_sign + s.exponent;
    }
    const int zeros = -d.fraction_digits(); // up to the units
    if (zeros > 0) return (d.negative ? "-" : "") + d.digits + std::string(index_of(zeros), '0') + ".0";
    const std::string text = fixed_text(value, d.fraction_digits());
    return text.back() == '.' ? text + '0' : text;
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
