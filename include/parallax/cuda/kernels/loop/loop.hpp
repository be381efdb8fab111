// The loop of a kernel as a device gets it, by value: extents, operands and constants, as many as the kernel's type
// says. All offsets fit 32 bits: a loop that needs more is launched in parts.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/status.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Elements and offsets of one launch lie below this, so that no index of a thread exceeds 32 bits.
inline constexpr std::int64_t largest_loop = std::int64_t{1} << 30;

/// Divides numbers below 2^31 by one that is known at the launch: with a multiplication and a shift.
struct divisor {
  std::uint32_t value = 1;
  std::uint32_t multiplier = 1;
  int shift = 0;

  /// `value` is from 1 to 2^31.
  static constexpr divisor of(std::int64_t value) {
    divisor d;
    d.value = static_cast<std::uint32_t>(value);
    d.shift = static_cast<int>(std::bit_width(d.value - 1));
    std::uint64_t excess = (std::uint64_t{1} << d.shift) - d.value;
    d.multiplier = static_cast<std::uint32_t>((excess << 32) / d.value + 1);
    return d;
  }
  PARALLAX_HD std::uint32_t quotient(std::uint32_t x) const {
    std::uint32_t high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(x) * multiplier >> 32);
    return (high + x) >> shift;
  }
};

/// An operand's first element, or the first value of an index, and strides in elements.
struct loop_operand {
  std::byte* data = nullptr;
  std::int64_t start = 0; ///< of an index; otherwise the bytes that an operand moves with each round
  std::int32_t strides[max_rank] = {};
};

/// The number of a loop's innermost dimension, which does not depend on the rank. The dimensions before it are numbered
/// from 0.
inline constexpr int innermost = max_rank - 1;

/// A kernel whose operands may be slices that move with the number of a round, which only the device knows.
template <kernel_result Result, class Reduction, class... Statements>
struct moving_kernel : kernel<Result, Reduction, Statements...> {};
template <class Kernel> struct made_moving;
template <kernel_result Result, class Reduction, class... S> struct made_moving<kernel<Result, Reduction, S...>> {
  using type = moving_kernel<Result, Reduction, S...>;
};
template <class Kernel> inline constexpr bool is_moving = false;
template <kernel_result Result, class Reduction, class... S>
inline constexpr bool is_moving<moving_kernel<Result, Reduction, S...>> = true;

/// The address of the round's number, for loops that may move.
template <bool Moves> struct counted_round {
  constexpr explicit counted_round(const std::int64_t*) {}
};
template <> struct counted_round<true> {
  const std::int64_t* round; ///< null if nothing moves
  constexpr explicit counted_round(const std::int64_t* counted) : round(counted) {}
};

/// A loop of at least one dimension.
template <int Operands, int Constants, bool Moves = false> struct loop : counted_round<Moves> {
  static constexpr bool moves = Moves;
  static constexpr int operand_count = Operands;
  static constexpr int constant_count = Constants;

  int rank = 1;
  divisor extents[max_rank];
  loop_operand operands[std::size_t{Operands > 0 ? Operands : 1}];
  std::uint64_t constants[std::size_t{Constants > 0 ? Constants : 1}] = {};

  /// The loop that the host describes, which has to fit one launch.
  constexpr explicit loop(const kernel_arguments& a) : counted_round<Moves>(a.round), rank(std::max(a.rank, 1)) {
    auto place = [&](int d) { return d == a.rank - 1 ? innermost : d; };
    for (int d = 0; d < a.rank; ++d) extents[place(d)] = divisor::of(std::max<std::int64_t>(a.extents[d], 1));
    for (int i = 0; i < Operands; ++i) {
      operands[i].data = a.operands[i].data;
      operands[i].start = a.operands[i].start;
      for (int d = 0; d < a.rank; ++d) {
        // along one element no stride is used, and the given one may not fit
        std::int64_t stride = a.extents[d] > 1 ? a.operands[i].strides[d] : 0;
        operands[i].strides[place(d)] = static_cast<std::int32_t>(stride);
      }
    }
    for (int i = 0; i < Constants; ++i) constants[i] = a.constants[i].bits;
  }
};

namespace detail {

/// Whether one launch can go over the loop's dimensions in `mask`.
inline bool fits(const kernel_arguments& a, std::int64_t limit, unsigned mask = ~0U) {
  std::int64_t count = 1;
  for (int d = 0; d < a.rank; ++d)
    if ((mask >> d & 1U) && (__builtin_mul_overflow(count, a.extents[d], &count) || count > limit)) return false;
  for (int i = 0; i < a.operand_count; ++i) {
    std::int64_t span = 0;
    for (int d = 0; d < a.rank; ++d) {
      if (!(mask >> d & 1U)) continue;
      std::int64_t stride = a.operands[i].strides[d], along = 0;
      if (__builtin_mul_overflow(a.extents[d] - 1, stride < 0 ? -stride : stride, &along)) return false;
      if (__builtin_add_overflow(span, along, &span) || span > limit) return false;
    }
  }
  return true;
}

/// Makes dimension `order[d]` the d-th.
constexpr void reorder(kernel_arguments& a, const int* order) {
  auto each = [&](std::int64_t* values) {
    std::int64_t old[max_rank];
    std::copy(values, values + a.rank, old);
    for (int d = 0; d < a.rank; ++d) values[d] = old[order[d]];
  };
  each(a.extents);
  for (int i = 0; i < a.operand_count; ++i) each(a.operands[i].strides);
}

inline void advance(kernel_arguments& a, int dimension, std::int64_t steps) {
  for (int i = 0; i < a.operand_count; ++i) {
    operand& o = a.operands[i];
    if (o.data) o.data += steps * o.strides[dimension] * o.element_bytes;
    else o.start += steps * o.strides[dimension];
  }
}

/// The dimension in `mask` along which operands extend farthest; -1 if all of them have one element.
inline int widest_dimension(const kernel_arguments& a, unsigned mask) {
  int widest = -1;
  double most = 0;
  for (int d = 0; d < a.rank; ++d) {
    if (!(mask >> d & 1U) || a.extents[d] < 2) continue;
    double reach = 1;
    for (int i = 0; i < a.operand_count; ++i)
      reach = std::max(reach, std::abs(static_cast<double>(a.operands[i].strides[d])));
    reach *= static_cast<double>(a.extents[d]);
    if (reach > most) most = reach, widest = d;
  }
  return widest;
}

/// Splits the loop along the dimensions in `mask` until `done(a)`, and calls `part(a, first)` for each piece; `first`
/// is the number of steps along split dimensions before it. Returns the first failure.
template <class Done, class Part>
status for_each_part(kernel_arguments& a, unsigned mask, const Done& done, const Part& part, std::int64_t first = 0) {
  int d = done(a) ? -1 : widest_dimension(a, mask);
  if (d < 0) return part(a, first);
  std::int64_t extent = a.extents[d], half = extent / 2;
  if (half > 16) half -= half % 16; // keeps aligned operands aligned
  a.extents[d] = half;
  status result = for_each_part(a, mask, done, part, first);
  advance(a, d, half);
  a.extents[d] = extent - half;
  if (result.ok()) result = for_each_part(a, mask, done, part, first + half);
  advance(a, d, -half);
  a.extents[d] = extent;
  return result;
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
