// The divisor of a linear system before it is solved, so that squares of its numbers neither vanish nor overflow.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp> // before operations, which name them

#include <parallax/ops/math/elementwise.hpp>
#include <parallax/ops/math/operators.hpp>

#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The largest power of 2 that is at most a positive `number`: division by it is exact. 1 for 0, and infinite for
/// numbers that are not finite. Subnormal numbers have the smallest normal one.
constexpr tracer power_of_two_in(const tracer& number) {
  context& trace = *number.owner;
  const bool is_double = number.type() == element_type::float64;
  const element_type type = is_double ? element_type::float64 : element_type::float32;
  const element_type word = is_double ? element_type::uint64 : element_type::uint32;
  const tracer x = build::convert(number, type);
  const tracer exponent = build::integer_literal(trace, word, is_double ? 0x7FF0000000000000 : 0x7F800000);
  const tracer bits = emit<primitives::bitwise_and>({emit<primitives::bitcast>({x}, {word}), exponent});
  const tracer power = emit<primitives::bitcast>({bits}, {type});
  const tracer least = build::literal(trace, type, is_double ? 0x1p-1022 : 0x1p-126);
  const tracer normal = emit<primitives::maximum>({power, least});
  return build::select(x == build::like(x, 0), build::like(x, 1), normal);
}

/// The largest element of trees, without its sign, as a power of 2; NaN counts as infinite.
template <class... Tree> constexpr tracer scale_of(const Tree&... trees) {
  tracer largest{};
  const auto look_at = [&largest](const auto& tree) {
    for_each(tracers_of(tree), [&largest](const tracer& leaf) {
      const tracer size =
          build::reduce<primitives::reduce_max>(emit<primitives::absolute>({leaf}), all_axes(leaf.rank()));
      const tracer some = emit<primitives::maximum>({size, build::like(size, 0)}); // if there is no element
      largest = largest.owner == nullptr ? some : build::binary<primitives::maximum>("maximum", largest, some);
    });
  };
  (look_at(trees), ...);
  return power_of_two_in(largest);
}
template <class Tree> constexpr Tree divided_by(const Tree& x, const tracer& scale) {
  return tree_map([&](const tracer& u) { return build::convert(build::convert(u, scale.type()) / scale, u.type()); },
                  x);
}
template <class Tree> constexpr Tree multiplied_by(const Tree& x, const tracer& scale) {
  return tree_map([&](const tracer& u) { return build::convert(build::convert(u, scale.type()) * scale, u.type()); },
                  x);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
