// Arrays for tests of whole programs.
#pragma once

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace simulated {

/// Values from -0.5 to 0.5 that look random.
template <std::size_t Rank>
parallax::array<float, int{Rank}> numbers(const std::array<std::int64_t, Rank>& shape, unsigned seed) {
  auto result = parallax::array<float, int{Rank}>::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    result.mutable_data()[i] = static_cast<float>(seed >> 8) / 16777216.f - 0.5f;
  }
  return result;
}

} // namespace simulated
