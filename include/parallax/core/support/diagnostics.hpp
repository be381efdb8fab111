// The parts that the compiler's messages are put together from.
#pragma once

#include <parallax/core/support/text.hpp>
#include <parallax/core/version.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The name of a type as the compiler prints it.
template <class T> constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__; // ... [with T = int; ...], [T = int], [with T=int]
  std::size_t start = name.find('=') + 1;
  if (name[start] == ' ') ++start;
  return name.substr(start, name.find_first_of(";]", start) - start);
}

/// The result type of a function after a failed assertion. There is no such type: the function then has no result, and
/// uses of a result are no further errors.
template <class T> using no_result = typename T::the_error_is_above;

/// Text at its exact length, for the compiler to print.
template <std::size_t N> struct error_text {
  char data[N + 1]{};
};
template <std::size_t N> constexpr error_text<N> exact_text(std::string_view characters) {
  error_text<N> result;
  for (std::size_t i = 0; i < N; ++i) result.data[i] = characters[i];
  result.data[N] = '\0'; // clang++ takes an array for text only if its end was written
  return result;
}

template <error_text Text> constexpr std::string_view printed() { return __PRETTY_FUNCTION__; }
/// Whether the compiler at work prints texts as such. nvcc's front end prints the numbers of their characters: it is
/// given no text, and the error is left to the host compiler, which reads the same source next. A template, so that
/// each compiler answers for itself.
template <class> constexpr bool prints_texts() {
  return printed<exact_text<6>("a text")>().find("a text") != std::string_view::npos;
}

#if defined(__clang__) && !defined(__CUDACC__)

// clang++ cuts a text of more than 36 characters short, but prints any number of them.
constexpr std::string_view piece_of(std::string_view whole, std::size_t number) {
  constexpr std::size_t longest = 34;
  for (;; --number) {
    std::size_t size = whole.size();
    if (size > longest) {
      std::size_t space = whole.substr(0, longest).rfind(' ');
      size = space == whole.npos ? longest : space + 1;
    }
    if (number == 0) return whole.substr(0, size);
    whole.remove_prefix(size);
  }
}
constexpr std::size_t piece_count(std::string_view whole) {
  std::size_t count = 0;
  while (!piece_of(whole, count).empty()) ++count;
  return count;
}

/// Never true: a compiler that refuses the assertion prints the text.
template <error_text... Pieces> struct parallax_program_error : std::false_type {};

template <class Source, std::size_t I> constexpr auto error_piece() {
  constexpr std::string_view piece = piece_of(Source::error.view(), I);
  return exact_text<piece.size()>(piece);
}
template <class Source, std::size_t... I> constexpr void print_error(std::index_sequence<I...>) {
  static_assert(parallax_program_error<error_piece<Source, I>()...>::value);
}
/// Stops compilation with the text `Source::error`.
template <class Source> constexpr void print_error() {
  print_error<Source>(std::make_index_sequence<piece_count(Source::error.view())>{});
}

#else

/// Not callable: a compiler that refuses the call prints the text.
template <error_text Text> void parallax_program_error() = delete;

/// Stops compilation with the text `Source::error`.
template <class Source> constexpr auto print_error() { // auto: at once, before other errors
  constexpr message error = Source::error;
  if constexpr (prints_texts<Source>()) parallax_program_error<exact_text<error.size>(error.view())>();
}

#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
