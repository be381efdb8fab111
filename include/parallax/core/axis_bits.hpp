// Sets of a mesh's axes, as values inside a program carry them.
#pragma once

#include <cstdint>

namespace parallax {

/// The axes of enclosing meshes along which a value may differ between instances, each by a bit of its own:
/// `mapped_axis::bit`. Axes that vmap and pmap map have none. JAX: the varying manual axes of a type, `vma`
class axis_bits {
 public:
  constexpr axis_bits() = default;
  /// That of the axis within `depth` others.
  static constexpr axis_bits at_depth(int depth) { return axis_bits(static_cast<std::uint16_t>(1U << depth)); }

  constexpr bool empty() const { return bits == 0; }
  /// Whether all of `others` are among these.
  constexpr bool contains(axis_bits others) const { return (others.bits & ~bits) == 0; }
  constexpr axis_bits without(axis_bits others) const {
    return axis_bits(static_cast<std::uint16_t>(bits & ~others.bits));
  }

  friend constexpr axis_bits operator|(axis_bits a, axis_bits b) {
    return axis_bits(static_cast<std::uint16_t>(a.bits | b.bits));
  }
  friend constexpr bool operator==(axis_bits, axis_bits) = default;

 private:
  constexpr explicit axis_bits(std::uint16_t set) : bits(set) {}
  std::uint16_t bits = 0;
};

} // namespace parallax
