// Of another version than the package, and in a namespace of a third.
#pragma once

#define PARALLAX_INLINE_VERSION inline v0_2

namespace parallax::PARALLAX_INLINE_VERSION {
inline constexpr char library_version[] = "0.1.0";
}
