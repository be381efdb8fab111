// What messages of the compiler are made of.
#pragma once

#include <string_view>

namespace parallax::detail {

/// The name of a type as the compiler prints it.
template <class T> constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__; // ... [with T = int; ...], [T = int], [with T=int]
  std::size_t start = name.find('=') + 1;
  if (name[start] == ' ') ++start;
  return name.substr(start, name.find_first_of(";]", start) - start);
}

/// What a function returns after a failed assertion. There is no such type: the function's result has none, so that its
/// uses are no errors once more.
template <class T> using no_result = typename T::the_error_is_above;

} // namespace parallax::detail
