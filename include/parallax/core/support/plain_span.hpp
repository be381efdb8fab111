// A span for constant evaluation and for headers that are read often. std::span asks some twenty concepts about every
// type that becomes one: a fifth of the time to read the library. Its iterators are classes.
#pragma once

#include <parallax/core/version.hpp>

#include <cstddef>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Adjacent elements that another object owns. Made from any type that has `data()` and `size()`; iterators are
/// pointers.
template <class T> class plain_span {
 public:
  using value_type = std::remove_cv_t<T>;
  using element_type = T;

  constexpr plain_span() = default;
  constexpr plain_span(T* first_element, std::size_t element_count) : elements(first_element), count(element_count) {}
  constexpr plain_span(T* begin, T* end) : elements(begin), count(static_cast<std::size_t>(end - begin)) {}
  template <std::size_t Count> constexpr plain_span(T (&array)[Count]) : elements(array), count(Count) {}
  template <class Range>
    requires requires(Range& range) {
      static_cast<T*>(range.data());
      range.size();
    }
  constexpr plain_span(Range&& range) : elements(range.data()), count(static_cast<std::size_t>(range.size())) {}

  constexpr T* data() const { return elements; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T& operator[](std::size_t i) const { return elements[i]; }
  constexpr T& front() const { return elements[0]; }
  constexpr T& back() const { return elements[count - 1]; }
  constexpr T* begin() const { return elements; }
  constexpr T* end() const { return elements + count; }
  constexpr plain_span first(std::size_t n) const { return {elements, n}; }
  constexpr plain_span subspan(std::size_t from) const { return {elements + from, count - from}; }
  constexpr plain_span subspan(std::size_t from, std::size_t n) const { return {elements + from, n}; }

 private:
  T* elements = nullptr;
  std::size_t count = 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
