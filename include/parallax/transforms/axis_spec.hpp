// Which axes a mapping maps: in_axes and out_axes.
#pragma once

#include <parallax/ops/axes.hpp>

#include <climits>
#include <tuple>

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

/// What stands for `none` in lists of axes.
inline constexpr int unmapped = INT_MIN;

enum class axis_fit { fits, not_an_axis, wrong_length };

/// Axes for every leaf of a tree.
struct leaf_axes {
  std::vector<int> axes;
  axis_fit fit = axis_fit::fits;
  int given = 0, expected = 0; ///< lengths that differ
};

template <auto Spec> struct spec_reader {
  using type = std::remove_cvref_t<decltype(Spec)>;
  template <class T> static constexpr void read(leaf_axes& result) {
    if constexpr (std::same_as<type, none_t>) {
      for (int i = 0; i < leaf_count<T>; ++i) result.axes.push_back(unmapped);
    } else if constexpr (std::integral<type> && !std::same_as<type, bool>) {
      for (int i = 0; i < leaf_count<T>; ++i) result.axes.push_back(static_cast<int>(Spec));
    } else {
      result.fit = axis_fit::not_an_axis;
    }
  }
};
template <class Children, auto... Axes> constexpr void read_each(leaf_axes& result) {
  if constexpr (std::tuple_size_v<Children> != sizeof...(Axes)) {
    result.fit = axis_fit::wrong_length;
    result.given = static_cast<int>(sizeof...(Axes));
    result.expected = static_cast<int>(std::tuple_size_v<Children>);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (spec_reader<Axes>::template read<std::tuple_element_t<I, Children>>(result), ...);
    }(std::make_index_sequence<sizeof...(Axes)>{});
  }
}
template <auto... Axes, tree_t<Axes...> Spec> struct spec_reader<Spec> {
  template <class T> static constexpr void read(leaf_axes& result) {
    if constexpr (tree_node<T>) read_each<children_t<T>, Axes...>(result);
    else result.fit = axis_fit::wrong_length, result.given = static_cast<int>(sizeof...(Axes)), result.expected = 1;
  }
};

template <class Spec> struct argument_axes;
template <auto... Axes> struct argument_axes<in_axes_t<Axes...>> {
  template <class... Args> static constexpr leaf_axes read() {
    leaf_axes result;
    if constexpr (sizeof...(Axes) == 1) (spec_reader<Axes...>::template read<Args>(result), ...);
    else read_each<std::tuple<Args...>, Axes...>(result);
    return result;
  }
};
template <class Spec> struct result_axes;
template <auto... Axes> struct result_axes<out_axes_t<Axes...>> {
  template <class T> static constexpr leaf_axes read() {
    leaf_axes result;
    if constexpr (sizeof...(Axes) == 1) (spec_reader<Axes>::template read<T>(result), ...);
    else if constexpr (tree_node<T>) read_each<children_t<T>, Axes...>(result);
    else result.fit = axis_fit::wrong_length, result.given = static_cast<int>(sizeof...(Axes)), result.expected = 1;
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
