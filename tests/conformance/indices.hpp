// What the tests of indexing share: indices within an axis and beyond it, and where each lies.
#pragma once

#include "expected.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conformance::indexing {

using numbers = std::vector<double>;
using places = std::vector<std::int32_t>;

inline plx::array<std::int32_t, 1> indices(const places& values) {
  return plx::array<std::int32_t, 1>({static_cast<std::int64_t>(values.size())}, std::span<const std::int32_t>(values));
}
template <int Rank> plx::array<double, Rank> waves(const std::array<std::int64_t, std::size_t{Rank}>& shape) {
  auto result = plx::array<double, Rank>::uninitialised(shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<double>(static_cast<int>(i * 37 % 101) - 50) / 40;
  return result;
}
/// Where an index lies on an axis: from the end where it is negative, and the nearest place for one beyond it.
inline std::int64_t clipped(std::int64_t i, std::int64_t extent) {
  return std::clamp<std::int64_t>(i < 0 ? i + extent : i, 0, extent - 1);
}
/// The same, but -1 for what an axis does not have.
inline std::int64_t valid(std::int64_t i, std::int64_t extent) {
  i = i < 0 ? i + extent : i;
  return i < 0 || i >= extent ? -1 : i;
}
inline double at(const plx::array<double, 2>& x, std::int64_t i, std::int64_t j) {
  return x.values()[static_cast<std::size_t>(i * x.shape(1) + j)];
}

/// Some within, some negative, some beyond, some equal.
inline const places mixed{2, -1, 0, 9, 2, -7, 4, 2, -5, 5};

} // namespace conformance::indexing
