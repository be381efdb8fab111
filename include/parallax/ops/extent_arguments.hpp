// Shapes and lists of indices as the user writes them.
#pragma once

#include <parallax/ops/lazy.hpp>

#include <span>
#include <string_view>

namespace parallax::detail {

/// `{}` in place of a list of extents: the shape of a scalar.
struct no_extents {};

/// A shape in braces.
template <int N> constexpr extent_list<N> list_of(const extent (&shape)[N]) {
  extent_list<N> list;
  for (int i = 0; i < N; ++i) list.values[i] = shape[i];
  return list;
}

/// A shape or an index list as the user wrote it.
constexpr message& operator<<(message& out, std::span<const extent> list) {
  out << '(';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out << ',';
    if (list[i].known()) out << list[i].value;
    else print_extent(out, list[i].owner->extents, list[i].value);
  }
  return out << ')';
}

/// A shape, where it has not too many dimensions.
template <int N> constexpr dims dims_of(context& trace, std::string_view operation, const extent_list<N>& shape) {
  dims result;
  if (!check_rank(trace, operation, N)) return result;
  for (int i = 0; i < N; ++i) result.push_back(shape.values[i].value);
  return result;
}

/// Whether all are extents; a negative number is an error of `operation`.
constexpr bool are_extents(tracer x, std::string_view operation, std::span<const extent> list) {
  for (const extent& e : list)
    if (e.owner == nullptr && e.value < 0) {
      message text;
      text << operation << ": " << e.value << " in " << list << " is not an extent, for ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; give extents from 0 on");
      return false;
    }
  return true;
}

} // namespace parallax::detail
