// Stopping compilation with the error of a program: its text first, then the user's own line.
#pragma once

#include <parallax/compile/encode.hpp>

namespace parallax::detail {

/// Text at its exact length, for the compiler to print.
template <std::size_t N> struct error_text {
  char data[N + 1]{};
};
template <std::size_t N> constexpr error_text<N> exact_text(std::string_view characters) {
  error_text<N> result;
  for (std::size_t i = 0; i < N; ++i) result.data[i] = characters[i];
  result.data[N] = '\0'; // clang++ takes an array for text where its end was written
  return result;
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

template <class Program, std::size_t I> constexpr auto error_piece() {
  constexpr std::string_view piece = piece_of(Program::first.error.view(), I);
  return exact_text<piece.size()>(piece);
}
template <class Program, std::size_t... I> constexpr void print_error(std::index_sequence<I...>) {
  static_assert(parallax_program_error<error_piece<Program, I>()...>::value);
}
template <class Program> constexpr void print_error() {
  print_error<Program>(std::make_index_sequence<piece_count(Program::first.error.view())>{});
}

#else

/// Not callable: a compiler that refuses the call prints the text.
template <error_text Text> void parallax_program_error() = delete;

template <class Program> constexpr auto print_error() { // auto: at once, before other errors
  constexpr message error = Program::first.error;
  parallax_program_error<exact_text<static_cast<std::size_t>(error.size)>(error.view())>();
}

#endif

/// Prints the error of a program. What it returns has no type, so that no use of the result is an error once more.
template <class Function, class... Trees> constexpr auto report_error() {
  print_error<program<Function, Trees...>>();
  // traced again, up to the error: the compiler shows how it came there
  return std::bool_constant<compile_table<1, Function, Trees...>(true).size == 0>{};
}

} // namespace parallax::detail
