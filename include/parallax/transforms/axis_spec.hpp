// Which axes a mapping maps: in_axes and out_axes.
#pragma once

#include <parallax/core/growing_vector.hpp>
#include <parallax/ops/axes.hpp>

#include <tuple>
#include <type_traits>

namespace parallax {

/// Axes for the children of one tree: `in_axes<tree<0, none>, 1>`.
template <auto... Axes> struct tree_t {};
template <auto... Axes> inline constexpr tree_t<Axes...> tree{};

/// One entry per argument, or one for all: an axis, `none`, or `tree<...>` for an argument's children. An entry holds
/// for the whole subtree it stands at.
template <auto... Axes> struct in_axes_t {};
template <auto... Axes> inline constexpr in_axes_t<Axes...> in_axes{};

/// Where the mapped axis goes in each result: one entry for all, or one per child of the result.
template <auto... Axes> struct out_axes_t {};
template <auto... Axes> inline constexpr out_axes_t<Axes...> out_axes{};

namespace detail {

enum class axis_fit { fits, not_an_axis, wrong_length };

/// Axes for every leaf of a tree.
struct leaf_axes {
  growing_vector<int> axes;
  axis_fit fit = axis_fit::fits;
  int given = 0, expected = 0; ///< lengths that differ
};

/// Appends what one entry says about the leaves of `T`. Entries are values, so that lists of them can be passed on.
template <class T> constexpr void read_axes(leaf_axes& result, none_t) {
  for (int i = 0; i < leaf_count<T>; ++i) result.axes.push_back(unmapped);
}
template <class T> constexpr void read_axes(leaf_axes& result, int axis_number) {
  for (int i = 0; i < leaf_count<T>; ++i) result.axes.push_back(axis_number);
}
template <class T> constexpr void read_axes(leaf_axes& result, bool) { result.fit = axis_fit::not_an_axis; }
template <class T, class Other> constexpr void read_axes(leaf_axes& result, const Other&) {
  result.fit = axis_fit::not_an_axis;
}
template <class T, auto... Axes> constexpr void read_axes(leaf_axes& result, tree_t<Axes...>);

constexpr void wrong_length(leaf_axes& result, std::size_t given, std::size_t expected) {
  result.fit = axis_fit::wrong_length;
  result.given = static_cast<int>(given);
  result.expected = static_cast<int>(expected);
}
template <class... Children, class... Entries>
constexpr void read_each(leaf_axes& result, std::type_identity<std::tuple<Children...>>,
                         [[maybe_unused]] Entries... entries) {
  if constexpr (sizeof...(Children) != sizeof...(Entries))
    wrong_length(result, sizeof...(Entries), sizeof...(Children));
  else (read_axes<Children>(result, entries), ...);
}
template <class T, auto... Axes> constexpr void read_axes(leaf_axes& result, tree_t<Axes...>) {
  if constexpr (tree_node<T>) read_each(result, std::type_identity<children_t<T>>{}, Axes...);
  else wrong_length(result, sizeof...(Axes), 1);
}

template <class Spec> struct argument_axes;
template <auto... Axes> struct argument_axes<in_axes_t<Axes...>> {
  template <class... Args> static constexpr leaf_axes read() {
    leaf_axes result;
    if constexpr (sizeof...(Axes) == 1) (read_axes<Args>(result, Axes...), ...);
    else read_each(result, std::type_identity<std::tuple<Args...>>{}, Axes...);
    return result;
  }
};
template <class Spec> struct result_axes;
template <auto... Axes> struct result_axes<out_axes_t<Axes...>> {
  template <class T> static constexpr leaf_axes read() {
    leaf_axes result;
    if constexpr (sizeof...(Axes) == 1) (read_axes<T>(result, Axes), ...);
    else if constexpr (tree_node<T>) read_each(result, std::type_identity<children_t<T>>{}, Axes...);
    else wrong_length(result, sizeof...(Axes), 1);
    return result;
  }
};

/// Reports axes that do not fit; true if they do.
constexpr bool check_fit(context& trace, std::string_view transformation, std::string_view which,
                         const leaf_axes& axes) {
  if (axes.fit == axis_fit::fits) return true;
  message text;
  text << transformation << ' ' << which;
  if (axes.fit == axis_fit::not_an_axis)
    text << " must be an int, none, or a tree of entries corresponding to the "
         << (which == "in_axes" ? "arguments" : "results") << "; give one such entry per "
         << (which == "in_axes" ? "argument" : "result");
  else
    text << " must be a tree prefix of the corresponding value, but got len(" << which << ")=" << axes.given << ", len("
         << (which == "in_axes" ? "args" : "results") << ")=" << axes.expected
         << "; give one entry for all or one for each";
  trace.fail(text);
  return false;
}

} // namespace detail
} // namespace parallax
