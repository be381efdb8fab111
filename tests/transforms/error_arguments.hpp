// Functions, and the shapes that they are called with, for tests of the texts of errors.
#pragma once

#include <parallax/parallax.hpp>

namespace error_arguments {

using parallax::shaped, parallax::dyn;

inline constexpr auto matrix = shaped<float, 3, 4>;
inline constexpr auto four = shaped<float, 4>;
inline constexpr auto five = shaped<float, 5>;
inline constexpr auto scalar = shaped<float>;
inline constexpr auto dynamic = shaped<float, dyn, dyn>;

inline constexpr auto identity = [](auto x) { return x; };
inline constexpr auto first_of_two = [](auto x, auto) { return x; };

} // namespace error_arguments
