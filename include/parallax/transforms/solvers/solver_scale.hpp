// The divisor of a linear system before it is solved, so that squares of its numbers neither vanish nor overflow.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp> // before operations, which name them

#include <parallax/ops/math/elementwise.hpp>
#include <parallax/ops/math/operators.hpp>

#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// How a number's power of 2 is found: in a floating type, by the bits of its exponent.
struct exponent_format {
  element_type computed, word;
  std::int64_t bits;
  double least_normal;
};
constexpr exponent_format exponent_format_of(element_type type) {
  switch (type) {
  case element_type::float16:
  case element_type::bfloat16:
  case element_type::float32:
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  case element_type::float64: return {type, element_type::uint64, 0x7FF0000000000000, 0x1p-1022};
  }
  return {element_type::float32, element_type::uint32, 0x7F800000, 0x1p-126};
}

/// The largest power of 2 that is at most a positive `number`: division by it is exact. 1 for 0, and infinite for
/// numbers that are not finite. Subnormal numbers have the smallest normal one.
constexpr tracer power_of_two_in(const tracer& number) {
  context& trace = *number.owner;
  const exponent_format format = exponent_format_of(number.type());
  const tracer x = build::convert(number, format.computed);
  const tracer exponent = build::integer_literal(trace, format.word, format.bits);
  const tracer bits = emit<primitives::bitwise_and>({emit<primitives::bitcast>({x}, {format.word}), exponent});
  const tracer power = emit<primitives::bitcast>({bits}, {format.computed});
  const tracer least = build::literal(trace, format.computed, format.least_normal);
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
