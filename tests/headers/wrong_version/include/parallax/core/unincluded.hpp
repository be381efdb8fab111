// In a namespace of that name, unless it is included behind another header.
#pragma once

namespace parallax::PARALLAX_INLINE_VERSION {
struct unincluded {};
} // namespace parallax::PARALLAX_INLINE_VERSION
