// Which version of the library this is, and the namespace of all that is in it.
#pragma once

// A process may have files that were compiled with different versions. Of equal names the linker keeps one, so all of
// the library is in an inline namespace of its version: headers open `namespace parallax::PARALLAX_INLINE_VERSION`. The
// macro has `inline` in it because tools overlook functions in a namespace whose name says it.
#define PARALLAX_INLINE_VERSION inline v0_2

namespace parallax::PARALLAX_INLINE_VERSION {

/// As the package says it.
inline constexpr char library_version[] = "0.2.0";

} // namespace parallax::PARALLAX_INLINE_VERSION
