// Sets of a mesh's axes, as values inside a program carry them.
#pragma once

#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The axes of enclosing meshes along which a value may differ between instances, each by a bit of its own:
/// `mapped_axis::bit`. Axes that vmap and pmap map have none. JAX: the varying manual axes of a type, `vma`
class axis_bits {
 public:
  constexpr axis_bits() = default;
  static constexpr int most = 64;
  /// The set of the one axis with this number.
  static constexpr axis_bits of_axis(int number) { return axis_bits(std::uint64_t{1} << number); }

  constexpr bool empty() const { return bits == 0; }
  /// Whether all of `others` are among these.
  constexpr bool contains(axis_bits others) const { return (others.bits & ~bits) == 0; }
  constexpr axis_bits without(axis_bits others) const { return axis_bits(bits & ~others.bits); }

  friend constexpr axis_bits operator|(axis_bits a, axis_bits b) { return axis_bits(a.bits | b.bits); }
  friend constexpr bool operator==(axis_bits, axis_bits) = default;

 private:
  constexpr explicit axis_bits(std::uint64_t set) : bits(set) {}
  std::uint64_t bits = 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
