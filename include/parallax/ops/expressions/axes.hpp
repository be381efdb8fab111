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

/// An axis of any whole type. One that is no int is out of bounds of every array.
constexpr int as_axis(std::integral auto number) {
  return std::in_range<int>(number) ? static_cast<int>(number) : std::numeric_limits<int>::max();
}
/// A parameter that takes an axis of any whole type.
struct any_axis {
  int number;
  constexpr any_axis(std::integral auto given) : number(as_axis(given)) {}
  constexpr operator int() const { return number; }
};
/// A parameter that takes `keepdims`, or JAX's truth value.
struct kept_axis {
  bool value;
  constexpr kept_axis(keepdims_t) : value(true) {}
  constexpr kept_axis(std::same_as<bool> auto given) : value(given) {}
};

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
