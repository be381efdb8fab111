// Which version of the library this is.
#pragma once

#include <string_view>

namespace parallax {

/// As the package says it.
inline constexpr std::string_view library_version = "0.1.0";

} // namespace parallax
