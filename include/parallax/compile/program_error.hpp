// Stopping compilation with the error of a program: its text first, then the user's own line.
#pragma once

#include <parallax/compile/encode.hpp>

namespace parallax::detail {

/// An error's text at its exact length, for the compiler to print.
template <std::size_t N> struct error_text {
  char characters[N + 1]{};

  constexpr const char* data() const { return characters; }
  constexpr std::size_t size() const { return N; }
};
template <std::size_t N> constexpr error_text<N> shorten(const message& text) {
  error_text<N> result;
  for (std::size_t i = 0; i < N; ++i) result.characters[i] = text.data[i];
  return result;
}

// clang++ cuts a template argument short, but prints the text of an assertion whole; g++ and nvcc are the other way
// round.
#if defined(__clang__) && __clang_major__ >= 17 && !defined(__CUDACC__)
#define PARALLAX_ASSERTS_WITH_TEXT
#endif

/// Not callable: a compiler that refuses the call prints the text.
template <error_text Text> void parallax_program_error() = delete;

/// Prints the error of a program. What it returns has no type, so that no use of the result is an error once more.
template <class Function, class... Trees> constexpr auto report_error() {
  constexpr message error = program<Function, Trees...>::first.error;
  constexpr auto text = shorten<static_cast<std::size_t>(error.size)>(error);
#ifdef PARALLAX_ASSERTS_WITH_TEXT
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
  static_assert(text.size() == 0, text);
#pragma clang diagnostic pop
#else
  parallax_program_error<text>();
#endif
  // traced again, up to the error: the compiler shows how it came there
  return std::bool_constant<compile_table<1, Function, Trees...>(true).size == 0>{};
}

#undef PARALLAX_ASSERTS_WITH_TEXT

} // namespace parallax::detail
