// Axis arguments: empty objects for use in expressions of arrays, plain integers in traced functions.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/constant_operands.hpp>

#include <concepts>
#include <initializer_list>
#include <limits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Axes as part of an expression's type: `sum(a, axis<0>)`, `sum(a, axis<0, 2>, keepdims)`.
template <int... Axes> struct axis_t {};
template <int... Axes> inline constexpr axis_t<Axes...> axis{};

struct keepdims_t {};
/// Makes reduced axes stay, with extent 1.
inline constexpr keepdims_t keepdims{};

/// No axis: an argument that is not mapped, an output that must not vary, an open end of a range.
struct none_t {};
inline constexpr none_t none{};

namespace detail {

/// The number of an axis, of any whole type. A truth value is none: it is meant for `keepdims`.
template <class T>
concept axis_number_type = std::integral<T> && !std::same_as<T, bool>;

/// The number as an int. One that is no int is out of bounds of every array.
constexpr int as_axis(axis_number_type auto number) {
  return std::in_range<int>(+number) ? static_cast<int>(number) : std::numeric_limits<int>::max();
}

/// A parameter that takes an axis: a number, or what converts to one, such as an enumerator.
struct any_axis {
  int number = 0;
  constexpr any_axis() = default;
  constexpr any_axis(axis_number_type auto given) : number(as_axis(given)) {}
  template <class T>
    requires(!std::integral<T> && std::convertible_to<T, int>)
  constexpr any_axis(const T& given) : number(given) {}
  constexpr operator int() const { return number; }
};

/// `keepdims`, or JAX's truth value in its place.
template <class T>
concept keeps_axes = std::same_as<T, keepdims_t> || std::same_as<T, bool>;
constexpr bool are_kept() { return false; }
constexpr bool are_kept(keepdims_t) { return true; }
constexpr bool are_kept(bool told) { return told; }

/// A negative axis counts from the end.
constexpr int normalize_axis(context& trace, std::string_view operation, int axis_number, int rank) {
  int from_start = axis_number < 0 ? axis_number + rank : axis_number;
  if (from_start < 0 || from_start >= rank) {
    trace.fail(message() << operation << ": axis " << axis_number << " is out of bounds for array of dimension " << rank
                         << "; give an axis from " << -rank << " to " << rank - 1);
    return 0;
  }
  return from_start;
}
constexpr axis_list normalize_axes(context& trace, std::string_view operation, plain_span<const int> axes, int rank) {
  axis_list result;
  for (int number : axes) {
    int normal = normalize_axis(trace, operation, number, rank);
    if (trace.failed) return {};
    if (result.contains(normal)) {
      trace.fail(message() << operation << ": axis " << number << " is given twice; name every axis at most once");
      return {};
    }
    result.push_back(normal);
  }
  return result;
}
constexpr axis_list normalize_axes(context& trace, std::string_view operation, std::initializer_list<int> axes,
                                   int rank) {
  return normalize_axes(trace, operation, plain_span<const int>(axes.begin(), axes.size()), rank);
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
