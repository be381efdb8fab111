// Text that is put together inside constant expressions: error messages, axis names, printed programs.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A string literal as a template argument: the name of a mapped axis.
template <std::size_t N> struct fixed_string {
  char data[N]{};

  constexpr fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) data[i] = literal[i];
  }
  constexpr std::string_view view() const { return {data, N - 1}; }
};

/// A text that values can be written into; `Text::append(std::string_view)` takes the characters.
template <class Text> class text_operators {
 public:
  constexpr Text& operator<<(std::string_view piece) {
    text().append(piece);
    return text();
  }
  constexpr Text& operator<<(const char* piece) { return *this << std::string_view(piece); }
  constexpr Text& operator<<(char c) { return *this << std::string_view(&c, 1); }
  constexpr Text& operator<<(std::int64_t value) {
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
    return text();
  }
  constexpr Text& operator<<(int value) { return *this << static_cast<std::int64_t>(value); }

 private:
  constexpr Text& text() { return static_cast<Text&>(*this); }
};

/// Text of at most `Capacity` characters; the rest is cut off.
template <std::size_t Capacity> struct text_buffer : text_operators<text_buffer<Capacity>> {
  char data[Capacity]{};
  std::size_t size = 0;

  constexpr void append(std::string_view piece) {
    for (char c : piece)
      if (size < Capacity) data[size++] = c;
  }
  constexpr std::string_view view() const { return {data, size}; }
};

/// Text of any length.
class long_text : public text_operators<long_text> {
 public:
  constexpr void append(std::string_view piece) {
    for (char c : piece) characters.push_back(c);
  }
  constexpr std::string_view view() const { return {characters.data(), characters.size()}; }

 private:
  growing_vector<char> characters;
};

/// The text of one error.
using message = text_buffer<512>;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
