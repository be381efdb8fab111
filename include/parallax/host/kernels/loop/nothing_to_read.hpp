// Memory to read if an array has none.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// Zeros, as long as the largest element. A gather of an array without elements reads here; its result has no effect.
/// Nothing is written.
inline std::byte* nothing_to_read() {
  alignas(64) static std::byte zeros[64]{};
  return zeros;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host
