// Text that is put together inside constant expressions: error messages, axis names, printed programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parallax {

/// A string literal as a template argument: the name of a mapped axis.
template <std::size_t N> struct fixed_string {
  char data[N]{};

  constexpr fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) data[i] = literal[i];
  }
  constexpr std::string_view view() const { return {data, N - 1}; }
};

/// Text of at most `Capacity` characters; what does not fit is cut off.
template <int Capacity> struct text_buffer {
  char data[Capacity]{};
  int size = 0;

  constexpr text_buffer& operator<<(std::string_view piece) {
    for (char c : piece)
      if (size < Capacity) data[size++] = c;
    return *this;
  }
  constexpr text_buffer& operator<<(const char* piece) { return *this << std::string_view(piece); }
  constexpr text_buffer& operator<<(char c) { return *this << std::string_view(&c, 1); }
  constexpr text_buffer& operator<<(std::int64_t value) {
    // unsigned, since the smallest number has no positive counterpart
    std::uint64_t rest = static_cast<std::uint64_t>(value);
    if (value < 0) *this << '-', rest = -rest;
    char digits[20]{};
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    while (count > 0) *this << digits[--count];
    return *this;
  }
  constexpr text_buffer& operator<<(int value) { return *this << static_cast<std::int64_t>(value); }
  constexpr std::string_view view() const { return {data, static_cast<std::size_t>(size)}; }
};

/// The text of one error.
using message = text_buffer<512>;

} // namespace parallax
