// Arrays written out as nested initialiser lists: `{{1, 2}, {3, 4}}`.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// 0 for bool, 1 for the integers, 2 for floating types.
template <class T> inline constexpr int arithmetic_category = std::same_as<T, bool> ? 0 : std::is_integral_v<T> ? 1 : 2;

/// A scalar that may stand for an element of type `T`: one of the same category, or of a lower one.
template <class U, class T>
concept literal_for =
    (std::is_arithmetic_v<U> || std::same_as<U, T>) && (arithmetic_category<U> <= arithmetic_category<T>);

/// One element written in source: `array<float, 1>{1, 2.5, n}` takes ints and doubles without a narrowing error, while
/// a floating value is no integer and an integer that does not fit is an error.
template <element T> class literal {
 public:
  template <literal_for<T> U> constexpr literal(U value) : number(static_cast<T>(value)) {
    if constexpr (arithmetic_category<T> == 1 && arithmetic_category<U> == 1) {
      if (!std::in_range<T>(+value)) // + makes an integer of a character
        throw error("array: the value " + std::to_string(value) + " does not fit the type " +
                    std::string(name_of(element_type_of<T>)));
    }
  }
  constexpr operator T() const { return number; }

 private:
  T number;
};

template <class T, int Rank> struct nested_list {
  using type = std::initializer_list<typename nested_list<T, Rank - 1>::type>;
};
template <class T> struct nested_list<T, 0> {
  using type = literal<T>;
};

/// Initialiser lists nested `Rank` deep.
template <class T, int Rank> using nested_list_t = typename nested_list<T, Rank>::type;

/// Writes the extents of a nested list to `shape`, as its first entries have them.
template <int Rank, class List> constexpr void literal_shape(const List& list, std::int64_t* shape) {
  shape[0] = std::ssize(list);
  if constexpr (Rank > 1) {
    if (list.size() > 0) literal_shape<Rank - 1>(*list.begin(), shape + 1);
  }
}

/// Writes the elements in row-major order and returns the end. Throws `shape_error` if a list is ragged.
template <int Rank, class T, class List>
constexpr T* copy_literal(const List& list, const std::int64_t* shape, T* out) {
  if (std::ssize(list) != shape[0])
    throw shape_error("array: ragged initialiser list: " + std::to_string(list.size()) + " entries beside " +
                      std::to_string(shape[0]));
  for (const auto& entry : list) {
    if constexpr (Rank > 1) out = copy_literal<Rank - 1>(entry, shape + 1, out);
    else *out++ = entry;
  }
  return out;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
