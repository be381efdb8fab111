// Arrays as text, exactly as NumPy prints them.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/sharding/global_array.hpp>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#if PARALLAX_DEFINES_RUNTIME
#include <parallax/io/array_text.hpp>
#endif

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {
// Programs that are linked with the library have these of all element types from there.
template <class T> std::string number_text(T value);
template <class T> std::string array_text(plain_span<const std::int64_t> shape, plain_span<const T> values);
} // namespace detail

/// The array as NumPy's `str` writes it: at most 8 digits after the point, lines of at most 75 columns, and `...` for
/// the inner entries if it has more than 1000 elements.
template <class T, auto Shape> std::string to_string(const array<T, Shape>& a) {
  if constexpr (array<T, Shape>::rank == 0) return detail::number_text<T>(a.item());
  else return detail::array_text<T>(a.shape(), a.values());
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
