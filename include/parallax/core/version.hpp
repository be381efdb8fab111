// The version of the library, and the namespace that contains all of the library.
#pragma once

// A process may have files that were compiled with different versions. The linker keeps one of several definitions with
// equal names, so all of the library is in an inline namespace of its version: headers open `namespace
// parallax::PARALLAX_INLINE_VERSION`. The macro contains `inline` because tools overlook functions in a namespace that
// a header opens with the keyword itself.
#define PARALLAX_INLINE_VERSION inline v0_2

namespace parallax::PARALLAX_INLINE_VERSION {

/// As the package says it.
inline constexpr char library_version[] = "0.2.0";

} // namespace parallax::PARALLAX_INLINE_VERSION
