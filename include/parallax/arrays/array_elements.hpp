// The place of an array's elements: a buffer, which copies share, or the array itself if they are few.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// An array of static extents holds its elements in place if they take at most this many bytes.
inline constexpr std::int64_t most_bytes_in_place = 256;

/// The number of elements of an array that holds them in place; 0 if it does not.
template <class T, class Extents>
inline constexpr std::size_t count_in_place = [] {
  std::int64_t count = 1;
  for (const std::int64_t extent : Extents::values) {
    if (extent <= 0 || extent > most_bytes_in_place) return std::size_t{0};
    if ((count *= extent) > most_bytes_in_place) return std::size_t{0};
  }
  return count * std::int64_t{sizeof(T)} <= most_bytes_in_place ? static_cast<std::size_t>(count) : std::size_t{0};
}();

/// Elements in a buffer.
template <class T, std::size_t CountInPlace> class array_elements {
 public:
  constexpr array_elements() = default;
  explicit array_elements(buffer memory) : owned(std::move(memory)) {
    if (owned.on_device() == nullptr) find_first();
  }
  /// `count` elements, to be written.
  constexpr explicit array_elements(std::size_t count) {
    if (__builtin_is_constant_evaluated()) {
      hold(new constant_numbers<T>(count));
    } else {
      owned = buffer::allocate(count * sizeof(T));
      find_first();
    }
  }
  /// Inside a traced function: a value that is computed there.
  constexpr explicit array_elements(constant_block* computed) { owned.hold(computed); }

  constexpr array_elements(const array_elements& other) {
    if (__builtin_is_constant_evaluated() && other.first != nullptr) {
      hold(new constant_numbers<T>(other.owned.held()->count, other.first));
    } else {
      owned = other.owned;
      first = other.first;
    }
  }
  constexpr array_elements(array_elements&& other) noexcept
      : owned(std::move(other.owned)), first(std::exchange(other.first, nullptr)) {}
  constexpr array_elements& operator=(array_elements other) noexcept {
    owned = std::move(other.owned);
    first = other.first;
    return *this;
  }
  constexpr ~array_elements() = default;

  /// The first element, if there is one on the host; otherwise it may be null.
  constexpr const T* first_on_host() const { return first; }
  const T* data() const { return first != nullptr ? first : reinterpret_cast<const T*>(owned.data()); }
  constexpr T* data() { return first != nullptr ? first : const_cast<T*>(std::as_const(*this).data()); }
  /// Inside a traced function: the value that is computed there; null if the elements are numbers.
  constexpr const constant_block* computed() const { return first == nullptr ? owned.held() : nullptr; }
  /// Whether there are no elements, as after a move.
  constexpr bool is_null() const { return owned.is_null(); }
  const buffer& memory() const { return owned; }
  /// To be called before a change: copies elements that others share or that lie on a device, so that this object alone
  /// has them.
  void become_unique(std::size_t count) {
    if (!owned.unique()) {
      array_elements own(count);
      std::copy_n(std::as_const(*this).data(), count, own.data());
      *this = std::move(own);
    }
    owned.may_change_from_now_on();
  }

 private:
  void find_first() { first = reinterpret_cast<T*>(owned.data()); }
  constexpr void hold(constant_numbers<T>* numbers) {
    owned.hold(numbers);
    first = numbers->first;
  }

  buffer owned;
  T* first = nullptr;
};

/// `CountInPlace` elements in this object. Elements that were given in a buffer, such as a device's results, stay there
/// until they are read.
template <class T, std::size_t CountInPlace>
  requires(CountInPlace > 0)
class array_elements<T, CountInPlace> {
 public:
  constexpr array_elements() { clear(); }
  explicit array_elements(buffer memory) : owned(std::move(memory)) {}
  constexpr explicit array_elements(std::size_t) { clear(); }
  /// Inside a traced function: a value that is computed there.
  constexpr explicit array_elements(constant_block* computed) {
    owned.hold(computed);
    clear();
  }

  constexpr array_elements(const array_elements& other) : owned(other.owned) { copy_in_place(other); }
  constexpr array_elements(array_elements&& other) noexcept : owned(std::move(other.owned)) { copy_in_place(other); }
  constexpr array_elements& operator=(array_elements other) noexcept {
    owned = std::move(other.owned);
    copy_in_place(other);
    return *this;
  }
  constexpr ~array_elements() = default;

  constexpr const T* first_on_host() const { return owned.is_null() ? in_place : nullptr; }
  constexpr const constant_block* computed() const { return owned.held(); }
  const T* data() const { return owned.is_null() ? in_place : reinterpret_cast<const T*>(owned.data()); }
  constexpr T* data() { return owned.is_null() ? in_place : const_cast<T*>(std::as_const(*this).data()); }
  static constexpr bool is_null() { return false; }
  /// The elements in a buffer; a copy if they lie in place.
  buffer memory() const {
    if (!owned.is_null()) return owned;
    const buffer copy = buffer::allocate(sizeof in_place);
    std::copy_n(in_place, CountInPlace, reinterpret_cast<T*>(copy.data()));
    return copy;
  }
  void become_unique(std::size_t) {
    if (owned.is_null()) return;
    std::copy_n(std::as_const(*this).data(), CountInPlace, in_place);
    owned = {};
  }

 private:
  /// Constants must not have unset elements.
  constexpr void clear() {
    if (__builtin_is_constant_evaluated()) std::fill_n(in_place, CountInPlace, T{});
  }
  constexpr void copy_in_place(const array_elements& other) {
    if (owned.is_null()) std::copy_n(other.in_place, CountInPlace, in_place);
    else clear();
  }

  buffer owned;
  T in_place[CountInPlace];
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
