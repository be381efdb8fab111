// Arrays as text, exactly as NumPy prints them.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/io/format_number.hpp>
#include <parallax/sharding/global_array.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

inline constexpr std::int64_t print_threshold = 1000; // elements; larger arrays are summarised
inline constexpr std::int64_t print_edge = 3;         // entries shown at either end of a summarised dimension
inline constexpr std::size_t print_width = 75;        // columns

inline std::string padded_left(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// Writes elements of integer and boolean arrays, right-aligned to a common width.
template <class T> class element_format {
 public:
  explicit element_format(const std::vector<T>& shown) {
    for (const T value : shown) common_width = std::max(common_width, scalar_text(value).size());
    if constexpr (std::same_as<T, bool>) common_width = 5; // even if all are True
  }
  std::string operator()(T value) const { return padded_left(scalar_text(value), common_width); }

 private:
  std::size_t common_width = 0;
};

/// Writes elements of floating arrays with aligned points: in positional form, or all in scientific form if magnitudes
/// differ much.
template <math::floating_element T> class element_format<T> {
 public:
  explicit element_format(const std::vector<T>& shown) {
    is_scientific = spread_is_large(shown);
    std::size_t non_finite_width = 0;
    for (const T value : shown) {
      if (!math::is_finite(value)) {
        non_finite_width = std::max(non_finite_width, non_finite(value).size());
      } else if (is_scientific) {
        const scientific_parts s = scientific(value);
        whole_width = std::max(whole_width, s.whole.size());
        fraction_width = std::max(fraction_width, s.fraction.size());
        exponent_width = std::max(exponent_width, s.exponent.size());
      } else {
        const std::string text = positional(value);
        const std::size_t point = text.find('.');
        whole_width = std::max(whole_width, point);
        fraction_width = std::max(fraction_width, text.size() - point - 1);
      }
    }
    const std::size_t behind = width() - whole_width;
    if (non_finite_width > behind) whole_width = std::max(whole_width, non_finite_width - behind);
  }

  std::string operator()(T value) const {
    if (!math::is_finite(value)) return padded_left(std::string(non_finite(value)), width());
    if (is_scientific) {
      // All with as many digits as the longest: further digits of the exact value, not zeros.
      scientific_parts s = parts_of(to_decimal(value, static_cast<int>(fraction_width)));
      s.exponent.insert(0, exponent_width - s.exponent.size(), '0');
      return padded_left(s.whole, whole_width) + '.' + s.fraction + 'e' + s.exponent_sign + s.exponent;
    }
    std::string text = positional(value);
    text = padded_left(text, whole_width + text.size() - text.find('.'));
    text.resize(width(), ' ');
    return text;
  }

 private:
  std::size_t width() const { return whole_width + 1 + fraction_width + (is_scientific ? 2 + exponent_width : 0); }

  // In the arithmetic of T, as NumPy 2.0 to 2.2 compares. Later ones print float32 scientifically from 1e6 on, though
  // such numbers still have digits behind the point.
  static bool spread_is_large(const std::vector<T>& shown) {
    T least{0}, most{0};
    for (const T value : shown) {
      const T magnitude = math::abs(value);
      if (magnitude == T{0} || !math::is_finite(value)) continue;
      most = std::max(most, magnitude);
      least = least == T{0} ? magnitude : std::min(least, magnitude);
    }
    return most != T{0} &&
           (most >= static_cast<T>(1e8) || least < static_cast<T>(1e-4) || most / least > static_cast<T>(1000));
  }

  bool is_scientific = false;
  std::size_t whole_width = 0, fraction_width = 0, exponent_width = 0;
};

/// Writes elements of bfloat16 arrays. NumPy, which does not know the type, does not align them.
template <> class element_format<bfloat16> {
 public:
  explicit element_format(const std::vector<bfloat16>&) {}
  std::string operator()(bfloat16 value) const { return short_text(value); }
};

/// Lays out one array: brackets, line breaks and, in a large one, dots for the omitted entries.
template <class T> class array_printer {
 public:
  array_printer(plain_span<const std::int64_t> shape, plain_span<const T> values)
      : lengths(shape), printed(values), is_summarised(std::ssize(values) > print_threshold), written(shown_values()) {}

  std::string text() const { return block(0, 0, 1); }

 private:
  bool shortened(std::size_t axis) const { return is_summarised && lengths[axis] > 2 * print_edge; }

  /// The indices shown along `axis`; -1 stands for the dots.
  std::vector<std::int64_t> shown_indices(std::size_t axis) const {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < lengths[axis]; ++i) {
      if (shortened(axis) && i == print_edge) {
        indices.push_back(-1);
        i = lengths[axis] - print_edge;
      }
      indices.push_back(i);
    }
    return indices;
  }

  std::vector<T> shown_values() const {
    std::vector<T> shown;
    if (!is_summarised) shown.assign(printed.begin(), printed.end());
    else collect(0, 0, shown);
    return shown;
  }
  void collect(std::size_t axis, std::int64_t offset, std::vector<T>& shown) const {
    if (axis == lengths.size()) {
      shown.push_back(printed[index_of(offset)]);
      return;
    }
    for (std::int64_t i : shown_indices(axis))
      if (i >= 0) collect(axis + 1, offset * lengths[axis] + i, shown);
  }

  /// The block at `offset` of `axis`, whose lines after the first are indented by `indent` columns.
  std::string block(std::size_t axis, std::int64_t offset, std::size_t indent) const {
    const bool is_row = axis + 1 == lengths.size();
    return '[' + (is_row ? row(offset, indent) : rows(axis, offset, indent)) + ']';
  }

  std::string rows(std::size_t axis, std::int64_t offset, std::size_t indent) const {
    const std::string between = std::string(lengths.size() - axis - 1, '\n') + std::string(indent, ' ');
    std::string text;
    for (std::int64_t i : shown_indices(axis)) {
      if (!text.empty()) text += between;
      text += i < 0 ? "..." : block(axis + 1, offset * lengths[axis] + i, indent + 1);
    }
    return text;
  }

  std::string row(std::int64_t offset, std::size_t indent) const {
    const std::size_t axis = lengths.size() - 1;
    const std::size_t last_column = print_width - lengths.size(); // room for the closing brackets
    std::string text;
    std::string line(indent, ' ');
    for (std::int64_t i : shown_indices(axis)) {
      const std::string word = i < 0 ? "..." : written(printed[index_of(offset * lengths[axis] + i)]);
      if (line.size() + word.size() > last_column && line.size() > indent) {
        text += without_trailing_spaces(line) + '\n';
        line.assign(indent, ' ');
      }
      line += word + ' ';
    }
    line.pop_back(); // the separator behind the last word
    return (text + line).substr(indent);
  }

  static std::string without_trailing_spaces(const std::string& line) {
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }

  plain_span<const std::int64_t> lengths;
  plain_span<const T> printed;
  bool is_summarised;
  element_format<T> written;
};

} // namespace detail

/// The array as NumPy's `str` writes it: at most 8 digits after the point, lines of at most 75 columns, and `...` for
/// the inner entries if it has more than 1000 elements.
template <class T, auto Shape> std::string to_string(const array<T, Shape>& a) {
  if constexpr (array<T, Shape>::rank == 0) return detail::scalar_text(a.item());
  else return a.size() == 0 ? "[]" : detail::array_printer<T>(a.shape(), a.values()).text();
}

/// The gathered array as text.
template <class T, auto Shape> std::string to_string(const sharded<T, Shape>& a) { return to_string(a.gather()); }

/// Writes `to_string(a)`.
template <class T, auto Shape> std::ostream& operator<<(std::ostream& out, const array<T, Shape>& a) {
  return out << to_string(a);
}
template <class T, auto Shape> std::ostream& operator<<(std::ostream& out, const sharded<T, Shape>& a) {
  return out << to_string(a);
}

/// The whole array as text if it lies on this process' devices, and otherwise the blocks on these devices, each with
/// its indices.
template <class T, auto Shape, class Mesh, detail::partition Cut>
std::string to_string(const global_array<T, Shape, Mesh, Cut>& a) {
  if (a.is_fully_addressable()) return to_string(a.gather());
  std::string text;
  for (const auto& shard : a.local_shards()) {
    text += (text.empty() ? "device " : "\ndevice ") + std::to_string(shard.device) + ", from (";
    for (std::size_t d = 0; d < shard.start.size(); ++d) text += (d == 0 ? "" : ", ") + std::to_string(shard.start[d]);
    text += ") on:\n" + to_string(shard.values);
  }
  return text;
}
template <class T, auto Shape, class Mesh, detail::partition Cut>
std::ostream& operator<<(std::ostream& out, const global_array<T, Shape, Mesh, Cut>& a) {
  return out << to_string(a);
}

/// Computes an expression of arrays and writes its value.
template <detail::lazy_expression E> std::ostream& operator<<(std::ostream& out, const E& expression) {
  return out << evaluate(expression);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
