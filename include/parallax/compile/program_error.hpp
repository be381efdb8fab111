// Stopping compilation with the error of a program: its text first, then the user's own line.
#pragma once

#include <parallax/compile/program.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A text, behind it an explanation of the first symbolic extent in it, such as n0_1.
constexpr message explain_extents(message text) {
  const message original = text;
  const std::string_view whole = original.view(), digits = "0123456789", before = "[,(*+-";
  for (std::size_t start = 1; start < whole.size(); ++start) {
    if (whole[start] != 'n' || before.find(whole[start - 1]) == whole.npos) continue;
    const std::size_t middle = whole.find_first_not_of(digits, start + 1);
    if (middle == start + 1 || middle == whole.npos || whole[middle] != '_') continue;
    const std::size_t end = whole.find_first_not_of(digits, middle + 1);
    return text << " (" << whole.substr(start, end - start) << " is the extent of axis "
                << whole.substr(middle + 1, end - middle - 1) << " of argument "
                << whole.substr(start + 1, middle - start - 1) << ", known at the call only)";
  }
  return text;
}

/// The result of a call whose program is no constant: the function reads a value that is known at run time only, or
/// calls a function that is not constexpr. There is no such type, as for `no_result`.
template <class Function> using not_constant = typename Function::pass_what_is_known_at_run_time_only_as_an_argument;

/// The text that stops a program's compilation.
template <class Program> struct error_of {
  static constexpr message error = explain_extents(Program::first.error);
};

/// Shows the user's line after the text. The result has no type, so that uses of it cause no further errors.
template <class Function, class... Trees> constexpr auto show_line() {
  // traced again, up to the error: the compiler shows how it came there
  return std::bool_constant<words_of<Function, Trees...>(true, capacity<1>{}).size == 0>{};
}

/// Element type and rank of a result.
struct value_kind {
  element_type type = element_type::float32;
  int rank = 0;
};
/// The element types and ranks of the results of a program with an error.
template <class Function, class... Trees> constexpr auto trace_results() {
  context trace;
  const auto results = tracers_of(trace_program<Function, Trees...>(trace));
  std::array<value_kind, static_cast<std::size_t>(leaf_count<program_result<Function, Trees...>>)> kinds{};
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] = {results[k].type(), results[k].rank()};
  return kinds;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
