// A vector of a few values held in place, for shapes and permutations inside constant expressions.
#pragma once

#include <parallax/core/version.hpp>

#include <cstddef>
#include <initializer_list>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// At most `Capacity` values; a literal type. Exceeding the capacity is not checked here: callers bound it by max_rank.
template <class T, int Capacity> struct small_vector {
  using value_type = T;

  T values[std::size_t{Capacity}]{}; ///< no std::array: in constant evaluation each call of its operators costs time
  int count = 0;

  constexpr small_vector() = default;
  constexpr small_vector(std::initializer_list<T> list) {
    for (const T& value : list) push_back(value);
  }
  constexpr small_vector(int size, T value) {
    for (int i = 0; i < size; ++i) push_back(value);
  }

  constexpr void push_back(T value) { values[static_cast<std::size_t>(count++)] = value; }
  constexpr void pop_back() { --count; }
  constexpr void insert(int position, T value) {
    for (int i = count; i > position; --i) (*this)[i] = (*this)[i - 1];
    (*this)[position] = value;
    ++count;
  }
  constexpr void erase(int position) {
    for (int i = position; i + 1 < count; ++i) (*this)[i] = (*this)[i + 1];
    --count;
  }
  constexpr int size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T& operator[](int i) { return values[static_cast<std::size_t>(i)]; }
  constexpr const T& operator[](int i) const { return values[static_cast<std::size_t>(i)]; }
  constexpr T* data() { return values; }
  constexpr const T* data() const { return values; }
  constexpr T* begin() { return values; }
  constexpr T* end() { return values + count; }
  constexpr const T* begin() const { return values; }
  constexpr const T* end() const { return values + count; }
  constexpr bool contains(const T& value) const {
    for (const T& v : *this)
      if (v == value) return true;
    return false;
  }
  friend constexpr bool operator==(const small_vector& a, const small_vector& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }
};

template <class T> inline constexpr bool is_small_list = false;
template <class T, int Capacity> inline constexpr bool is_small_list<small_vector<T, Capacity>> = true;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
