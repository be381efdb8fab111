// Memory that is read where there is nothing to read.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// Zeros, as long as the largest element. A gather of an array without elements reads here; what it reads is of no
/// effect, and nothing is written.
inline std::byte* nothing_to_read() {
  alignas(64) static std::byte zeros[64]{};
  return zeros;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host
