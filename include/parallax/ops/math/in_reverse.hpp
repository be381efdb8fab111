// An option of operations that go through an axis in order: to begin at its end.
#pragma once

#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

struct in_reverse_t {};
/// From the last element to the first: an option of `scan` and of cumulative operations. JAX: reverse=True
inline constexpr in_reverse_t in_reverse{};

} // namespace parallax::PARALLAX_INLINE_VERSION
