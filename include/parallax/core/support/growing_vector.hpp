// A vector for constant evaluation, in which every call costs time: its operations are loops over pointers, while those
// of std::vector pass through a dozen functions each. With it g++ takes a third less time for a program's front end.
#pragma once

#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector> // for std::allocator and std::construct_at: <memory> has streams too

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// As many values as have been appended. Members that std::vector has too have its names. Iterators are pointers.
template <class T> class growing_vector {
 public:
  using value_type = T;

  constexpr growing_vector() = default;
  constexpr explicit growing_vector(std::size_t size) { resize(size); }
  constexpr growing_vector(std::size_t size, const T& value) { resize(size, value); }
  constexpr growing_vector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  template <class Iterator>
    requires(!std::integral<Iterator>)
  constexpr growing_vector(Iterator begin, Iterator end) {
    append(begin, end);
  }
  constexpr growing_vector(const growing_vector& other) {
    reserve(other.count);
    append(other.begin(), other.end());
  }
  constexpr growing_vector(growing_vector&& other) noexcept { swap(other); }
  constexpr growing_vector& operator=(const growing_vector& other) {
    if (this == &other) return *this;
    growing_vector copy(other);
    swap(copy);
    return *this;
  }
  constexpr growing_vector& operator=(growing_vector&& other) noexcept {
    growing_vector taken(std::move(other));
    swap(taken);
    return *this;
  }
  constexpr ~growing_vector() {
    clear();
    release();
  }

  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T& operator[](std::size_t i) { return first[i]; }
  constexpr const T& operator[](std::size_t i) const { return first[i]; }
  constexpr T& back() { return first[count - 1]; }
  constexpr const T& back() const { return first[count - 1]; }
  constexpr T* data() { return first; }
  constexpr const T* data() const { return first; }
  constexpr T* begin() { return first; }
  constexpr T* end() { return first + count; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }

  constexpr void reserve(std::size_t size) {
    if (size <= room) return;
    T* larger = nullptr;
    if constexpr (is_plain) {
      larger = new T[size];
      for (std::size_t i = 0; i < count; ++i) larger[i] = first[i];
    } else {
      larger = std::allocator<T>().allocate(size);
      for (std::size_t i = 0; i < count; ++i) {
        std::construct_at(larger + i, std::move(first[i]));
        if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_at(first + i);
      }
    }
    release();
    first = larger;
    room = size;
  }
  constexpr void push_back(T value) {
    if (count == room) reserve(room == 0 ? 4 : 2 * room);
    if constexpr (is_plain) first[count] = value;
    else std::construct_at(first + count, std::move(value));
    ++count;
  }
  constexpr void pop_back() {
    --count;
    if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_at(first + count);
  }
  constexpr void clear() {
    if constexpr (std::is_trivially_destructible_v<T>) count = 0;
    else
      while (count > 0) pop_back();
  }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): an element of this vector would move while it is read
  constexpr void resize(std::size_t size, T value = T()) {
    reserve(size);
    while (count > size) pop_back();
    for (; count < size; ++count)
      if constexpr (is_plain) first[count] = value;
      else std::construct_at(first + count, value);
  }
  constexpr void assign(std::size_t size, T value) {
    clear();
    resize(size, value);
  }
  /// Appends the elements of a range.
  template <class Iterator> constexpr void append(Iterator from, Iterator to) {
    if constexpr (std::is_pointer_v<Iterator>) {
      const std::size_t needed = count + static_cast<std::size_t>(to - from);
      if (needed > room) reserve(needed > 2 * room ? needed : 2 * room);
      for (; from != to; ++from, ++count)
        if constexpr (is_plain) first[count] = *from;
        else std::construct_at(first + count, *from);
    } else {
      while (from != to) {
        push_back(*from);
        ++from;
      }
    }
  }
  constexpr void erase(const T* position) {
    for (T* at = first + (position - first); at + 1 != end(); ++at) *at = std::move(at[1]);
    pop_back();
  }

  friend constexpr bool operator==(const growing_vector& a, const growing_vector& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i)
      if (!(a.first[i] == b.first[i])) return false;
    return true;
  }

 protected: // for lists that are indexed by ids: one call less for each access
  T* first = nullptr;
  std::size_t count = 0;

 private:
  static constexpr bool is_small = sizeof(T) <= 16; // NOLINT(bugprone-sizeof-expression): T may be a pointer
  /// Whether elements are there from the start, and are assigned: three calls less for each than to make it.
  static constexpr bool is_plain = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                                   (std::is_trivially_default_constructible_v<T> || is_small);

  std::size_t room = 0;

  constexpr void release() {
    if (room == 0) return;
    if constexpr (is_plain) delete[] first;
    else std::allocator<T>().deallocate(first, room);
  }

  constexpr void swap(growing_vector& other) noexcept {
    T* const its_first = other.first;
    const std::size_t its_count = other.count, its_room = other.room;
    other.first = first, other.count = count, other.room = room;
    first = its_first, count = its_count, room = its_room;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
