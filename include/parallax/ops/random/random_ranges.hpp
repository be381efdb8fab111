// The half-open ranges of random numbers, [low, high).
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/math/operators.hpp>
#include <parallax/primitives/math/conversion.hpp>
#include <parallax/primitives/math/select.hpp>

#include <cstdint>
#include <limits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Facts about the bits of a floating type; 16-bit types are computed in float32. `step` is the distance in bits
/// between neighbours, `least_normal` the smallest normal number, `least` the smallest of all.
struct floating_grid {
  element_type computed, word;
  std::int64_t step;
  double least_normal, least;
};
constexpr floating_grid grid_of(element_type type) {
  constexpr element_type float32 = element_type::float32, uint32 = element_type::uint32;
  switch (type) {
  case element_type::float16: return {float32, uint32, 1 << 13, 0x1p-14, 0x1p-24};
  case element_type::bfloat16: return {float32, uint32, 1 << 16, 0x1p-126, 0x1p-133};
  case element_type::float32: return {float32, uint32, 1, 0x1p-126, 0x1p-149};
  case element_type::float64: return {type, element_type::uint64, 1, 0x1p-1022, 0x1p-1074};
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  }
  return grid_of(not_said_of_this_element_type());
}
/// The largest number below `number` in its type.
constexpr tracer just_below(tracer number) {
  context& trace = *number.owner;
  const floating_grid grid = grid_of(number.type());
  const tracer x = build::convert(number, grid.computed), bits = emit<primitives::bitcast>({x}, {grid.word});
  const tracer step = build::integer_literal(trace, grid.word, grid.step);
  const tracer neighbour =
      emit<primitives::bitcast>({build::select(x > build::like(x, 0), bits - step, bits + step)}, {grid.computed});
  const tracer is_small = emit<primitives::absolute>({x}) <= build::like(x, grid.least_normal);
  return build::convert(build::select(is_small, x - build::like(x, grid.least), neighbour), number.type());
}

/// The least and the largest number of an integer type. The largest of uint64 is cut to that of int64; only uint64 has
/// larger numbers.
struct integer_limits {
  std::int64_t least, most;
};
constexpr integer_limits limits_of(element_type type) {
  switch (type) {
  case element_type::boolean: return {0, 1};
  case element_type::uint8: return {0, std::numeric_limits<std::uint8_t>::max()};
  case element_type::uint32: return {0, std::numeric_limits<std::uint32_t>::max()};
  case element_type::uint64: return {0, std::numeric_limits<std::int64_t>::max()};
  case element_type::int32: return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  case element_type::int64:
  case element_type::float16:
  case element_type::bfloat16:
  case element_type::float32:
  case element_type::float64: break;
  }
  return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
}
/// A number of any type, clamped to the range of an integer type and converted to it.
constexpr tracer cut_to(tracer x, element_type type) {
  if (is_inexact(x.type()) || x.type() == type) return build::convert(x, type);
  const integer_limits has = limits_of(x.type()), may = limits_of(type);
  auto number = [&x](std::int64_t value) { return build::integer_literal(*x.owner, x.type(), value); };
  x = build::convert(x, x.type());
  if (has.least < may.least) x = emit<primitives::maximum>({x, number(may.least)});
  if (has.most > may.most || (x.type() == element_type::uint64 && type == element_type::int64))
    x = emit<primitives::minimum>({x, number(may.most)});
  return build::convert(x, type);
}

/// A range of integers: the first, and how many there are, in an unsigned type. A `size` of 0 stands for all numbers of
/// the type.
struct integer_range {
  tracer low, size;

  /// The integers of [low, high) in a type. If `high` is above the type's largest number, that number is in the range;
  /// an empty range becomes `low` alone.
  static constexpr integer_range of(const tracer& low, const tracer& high, element_type type, element_type count) {
    context& trace = *low.owner;
    const tracer first = cut_to(low, type), end = cut_to(high, type);
    const tracer one = build::integer_literal(trace, count, 1);
    const tracer is_some = end > first;
    tracer size = build::convert(end - first, count);
    if (!is_inexact(high.type()) && limits_of(high.type()).most > limits_of(type).most) {
      const tracer most = build::integer_literal(trace, high.type(), limits_of(type).most);
      size = size + build::convert(build::convert(high, high.type()) > most, count);
    }
    return {first, build::select(is_some, size, one)};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
