// What the tests of donated arguments share: where arrays lie, and whether they are used up.
#pragma once

#include <parallax/parallax.hpp>

#include <cstdint>
#include <numeric>

namespace donated {

namespace plx = parallax;

using vector = plx::array<float, 1>;

inline vector counted(std::int64_t n) {
  auto x = vector::uninitialised({n});
  std::iota(x.mutable_data(), x.mutable_data() + n, 1.f);
  return x;
}
inline bool is_used_up(const vector& x) {
  try {
    static_cast<void>(x(0));
  } catch (const plx::shape_error&) {
    return false;
  } catch (const plx::error&) {
    return true;
  }
  return false;
}

/// What tells memory apart, on the host or a device.
template <class Array> const void* memory_of(const Array& x) {
  if (const auto* const there = x.storage().on_device()) return there;
  return x.data();
}
/// The same array where results are: on the host, or a device.
inline constexpr auto placed = plx::jit([](auto x) { return x * 1.f; });

template <class T> struct state {
  T weights, momentum;
};

} // namespace donated
