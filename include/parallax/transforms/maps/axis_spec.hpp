// Which axes a mapping maps: in_axes and out_axes.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Axes for the children of one tree: `in_axes<tree<0, none>, 1>`. JAX: a tuple of axes, in_axes=((0, None), 1)
template <auto... Axes> struct tree_t {};
template <auto... Axes> inline constexpr tree_t<Axes...> tree{};

/// One entry per argument, or one for all: an axis, `none`, or `tree<...>` for an argument's children. An entry holds
/// for all leaves of its subtree. JAX: the argument of that name
template <auto... Axes> struct in_axes_t {};
template <auto... Axes> inline constexpr in_axes_t<Axes...> in_axes{};

/// Where the mapped axis goes in each result: one entry for all, or one per child of the result. JAX: the argument of
/// that name
template <auto... Axes> struct out_axes_t {};
template <auto... Axes> inline constexpr out_axes_t<Axes...> out_axes{};

namespace detail {

enum class entry_fit { fits, not_an_entry, wrong_length };

/// The values of entries for every leaf of a tree. `Read::add` appends an entry's value to `values`, and returns false
/// for an invalid entry.
template <class Value, class Read> struct leaf_entries {
  growing_vector<Value> values;
  entry_fit fit = entry_fit::fits;
  int given = 0, expected = 0; ///< lengths that differ

  constexpr void wrong_length(std::size_t length, std::size_t wanted) {
    fit = entry_fit::wrong_length;
    given = static_cast<int>(length);
    expected = static_cast<int>(wanted);
  }
};

/// Appends the values of one entry for the leaves of `T`. Entries are values, so that lists of them can be passed on.
template <class T, class Value, class Read, class Entry>
constexpr void read_entry(leaf_entries<Value, Read>& result, const Entry& entry) {
  for (int i = 0; i < leaf_count<T>; ++i)
    if (!Read::add(result.values, entry)) result.fit = entry_fit::not_an_entry;
}
template <class T, class Value, class Read, auto... Entries>
constexpr void read_entry(leaf_entries<Value, Read>& result, tree_t<Entries...>);

template <class... Children, class Value, class Read, class... Entries>
constexpr void read_each(leaf_entries<Value, Read>& result, std::type_identity<std::tuple<Children...>>,
                         [[maybe_unused]] Entries... entries) {
  if constexpr (sizeof...(Children) != sizeof...(Entries)) result.wrong_length(sizeof...(Entries), sizeof...(Children));
  else (read_entry<Children>(result, entries), ...);
}
template <class T, class Value, class Read, auto... Entries>
constexpr void read_entry(leaf_entries<Value, Read>& result, tree_t<Entries...>) {
  if constexpr (tree_node<T>) read_each(result, std::type_identity<children_t<T>>{}, Entries...);
  else result.wrong_length(sizeof...(Entries), 1);
}
/// One entry for all arguments, or one for each.
template <class... Args, class Value, class Read, class... Entries>
constexpr void read_arguments(leaf_entries<Value, Read>& result, Entries... entries) {
  if constexpr (sizeof...(Entries) == 1) (read_entry<Args>(result, entries...), ...);
  else read_each(result, std::type_identity<std::tuple<Args...>>{}, entries...);
}
/// One entry for all of a result, or one for each child.
template <class T, class Value, class Read, class... Entries>
constexpr void read_result(leaf_entries<Value, Read>& result, Entries... entries) {
  if constexpr (sizeof...(Entries) == 1) (read_entry<T>(result, entries), ...);
  else if constexpr (tree_node<T>) read_each(result, std::type_identity<children_t<T>>{}, entries...);
  else result.wrong_length(sizeof...(Entries), 1);
}

struct read_axis {
  static constexpr std::string_view entry = "an int, none";
  static constexpr bool add(growing_vector<int>& axes, none_t) {
    axes.push_back(unmapped);
    return true;
  }
  static constexpr bool add(growing_vector<int>& axes, int axis_number) {
    axes.push_back(axis_number);
    return true;
  }
  static constexpr bool add(growing_vector<int>&, bool) { return false; }
  template <class Other> static constexpr bool add(growing_vector<int>&, const Other&) { return false; }
};
/// Axes for every leaf of a tree.
using leaf_axes = leaf_entries<int, read_axis>;

template <class Spec> struct argument_axes;
template <auto... Axes> struct argument_axes<in_axes_t<Axes...>> {
  template <class... Args> static constexpr leaf_axes read() {
    leaf_axes result;
    read_arguments<Args...>(result, Axes...);
    return result;
  }
};
template <class Spec> struct result_axes;
template <auto... Axes> struct result_axes<out_axes_t<Axes...>> {
  template <class T> static constexpr leaf_axes read() {
    leaf_axes result;
    read_result<T>(result, Axes...);
    return result;
  }
};

/// Reports entries that do not fit; true if they do.
template <class Value, class Read>
constexpr bool check_fit(context& trace, std::string_view transformation, std::string_view which,
                         const leaf_entries<Value, Read>& entries) {
  if (entries.fit == entry_fit::fits) return true;
  const bool of_arguments = which.substr(0, 3) == "in_";
  message text;
  text << transformation << ' ' << which;
  if (entries.fit == entry_fit::not_an_entry)
    text << " must be " << Read::entry << ", or a tree of entries corresponding to the "
         << (of_arguments ? "arguments" : "results") << "; give one such entry per "
         << (of_arguments ? "argument" : "result");
  else
    text << " must be a tree prefix of the corresponding value, but got len(" << which << ")=" << entries.given
         << ", len(" << (of_arguments ? "args" : "results") << ")=" << entries.expected
         << "; give one entry for all or one for each";
  trace.fail(text);
  return false;
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
