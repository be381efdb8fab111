// Algorithms on whole ranges. Those of std::ranges ask some twenty concepts about each range, and answering these takes
// compilers, above all nvcc, longer than reading the code that calls the algorithms.
#pragma once

#include <parallax/core/version.hpp>

#include <cstddef>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::plain {

template <class Range, class Predicate> constexpr bool any_of(const Range& range, const Predicate& predicate) {
  for (const auto& each : range)
    if (predicate(each)) return true;
  return false;
}
template <class Range, class Predicate> constexpr bool all_of(const Range& range, const Predicate& predicate) {
  for (const auto& each : range)
    if (!predicate(each)) return false;
  return true;
}
template <class Range, class T> constexpr bool contains(const Range& range, const T& value) {
  for (const auto& each : range)
    if (each == value) return true;
  return false;
}
/// The first element that equals `value` or, if none does, the end.
template <class Range, class T> constexpr auto find(const Range& range, const T& value) {
  auto at = range.begin();
  while (at != range.end() && !(*at == value)) ++at;
  return at;
}
/// Whether two ranges are equally long and `same(a[i], b[i])` for all i.
template <class A, class B, class Same> constexpr bool equal(const A& a, const B& b, const Same& same) {
  if (a.size() != b.size()) return false;
  auto other = b.begin();
  for (const auto& each : a)
    if (!same(each, *other++)) return false;
  return true;
}
template <class A, class B> constexpr bool equal(const A& a, const B& b) {
  return plain::equal(a, b, [](const auto& x, const auto& y) { return x == y; });
}
/// Sorts a few elements by insertion. Equal elements stay in their order.
template <class Range, class Before> constexpr void sort_few(Range& range, const Before& before) {
  for (std::size_t i = 1; i < range.size(); ++i)
    for (std::size_t k = i; k > 0 && before(range[k], range[k - 1]); --k) std::swap(range[k], range[k - 1]);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::plain
