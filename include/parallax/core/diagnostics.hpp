// What messages of the compiler are made of.
#pragma once

#include <string_view>

namespace parallax::detail {

/// The name of a type as the compiler prints it.
template <class T> constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__; // ... [with T = int; ...], [T = int], [with T=int]
  name.remove_prefix(name.find('T', name.rfind('[')));
  name.remove_prefix(name.find('=') + 1);
  while (name.front() == ' ') name.remove_prefix(1);
  return name.substr(0, name.find_first_of(";]"));
}

/// What a function returns after a failed assertion. There is no such type: the function's result has none, so that its
/// uses are no errors once more.
template <class T> using no_result = typename T::the_error_is_above;

} // namespace parallax::detail
