// What a kernel is called with: its loop, and where its operands lie.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/steps.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// The largest number of operands of a kernel.
inline constexpr int max_accesses = 260;

/// A constant's bits, to be read as the type that the kernel's statement says.
struct constant_bits {
  std::uint64_t bits;

  template <class T> static PARALLAX_HD constexpr constant_bits of(T value) {
    if constexpr (sizeof(T) == 8) return {__builtin_bit_cast(std::uint64_t, value)};
    else if constexpr (sizeof(T) == 4) return {__builtin_bit_cast(std::uint32_t, value)};
    else if constexpr (sizeof(T) == 2) return {__builtin_bit_cast(std::uint16_t, value)};
    else return {static_cast<std::uint64_t>(value)}; // a truth value, or 8 bits without a sign
  }
  template <class T> T as() const {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  }
};

/// A number as a constant of a type.
template <class Number> PARALLAX_HD constexpr constant_bits constant_of(element_type type, Number number) {
  switch (type) {
  case element_type::float16: return constant_bits::of(float16(number));
  case element_type::bfloat16: return constant_bits::of(bfloat16(number));
  case element_type::float32: return constant_bits::of(static_cast<float>(number));
  case element_type::float64: return constant_bits::of(static_cast<double>(number));
  case element_type::boolean: return constant_bits::of(number != 0);
  case element_type::uint8: return constant_bits::of(static_cast<std::uint8_t>(number));
  case element_type::int32: return constant_bits::of(static_cast<std::int32_t>(number));
  case element_type::uint32: return constant_bits::of(static_cast<std::uint32_t>(number));
  case element_type::int64: return constant_bits::of(static_cast<std::int64_t>(number));
  case element_type::uint64: return constant_bits::of(static_cast<std::uint64_t>(number));
  }
  return {0};
}
/// The value of a program's constant: `extent` gives the value of a `dim`, `axis_index` the index along a mesh axis.
template <class Extent, class AxisIndex>
constexpr constant_bits constant_of(const kernel_constant& c, const Extent& extent, const AxisIndex& axis_index) {
  switch (c.kind) {
  case constant_kind::literal: break;
  case constant_kind::extent: return constant_of(c.type, std::int64_t{extent(c.extent)});
  case constant_kind::axis_index: return constant_of(c.type, std::int64_t{axis_index(c.axis)});
  }
  return has_double_literal(c.type) ? constant_of(c.type, std::bit_cast<double>(c.bits)) : constant_of(c.type, c.bits);
}

/// One operand of a kernel, or its result: the first element and the strides in elements. An index has no pointer but a
/// first value. No initialisers: a call has room for many, and sets those that it uses.
struct operand {
  std::byte* data;
  std::int64_t start; ///< of an index
  std::int64_t element_bytes;
  std::int64_t strides[max_rank];
};

/// The loop of a kernel: dimensions, whether each is reduced, operands (the result first), constants.
struct kernel_arguments {
  int rank = 0;
  std::int64_t extents[max_rank] = {};
  unsigned reduced = 0;
  int operand_count = 0;
  operand* operands = nullptr;
  int constant_count = 0;
  const constant_bits* constants = nullptr;
  std::byte* row_memory = nullptr; ///< memory for a row kernel's values of one row; null if the caller has none
  /// The number of a loop's round, on a device that counts rounds itself; null otherwise. An operand with a pointer
  /// then lies `*round * start` bytes behind it.
  const std::int64_t* round = nullptr;

  /// As `collapse`, but the innermost dimension stays as it is.
  constexpr void collapse_rows() {
    for (int d = rank - 3; d >= 0; --d)
      if (extents[d] == 1 || walked_as_one(d)) merge(d);
  }
  /// Merges neighbouring dimensions that all operands walk through as one, and leaves out those of extent 1.
  constexpr void collapse() {
    while (rank > 1 && extents[rank - 1] == 1 && innermost_is_like_next()) {
      --rank;
      reduced &= (1U << rank) - 1U;
    }
    for (int d = rank - 2; d >= 0; --d) {
      if (extents[d] == 1) reduced = (reduced & ~(1U << d)) | ((reduced >> (d + 1) & 1U) << d);
      const bool alike = ((reduced >> d) & 1U) == ((reduced >> (d + 1)) & 1U);
      if (extents[d] == 1 || (alike && walked_as_one(d))) merge(d);
    }
  }
  /// The dimension that is reduced; a loop without one gets a new first dimension of extent 1.
  constexpr int reduced_dimension() {
    for (int d = 0; d < rank; ++d)
      if (reduced >> d & 1U) return d;
    auto put_first = [this](std::int64_t* numbers, std::int64_t number) {
      for (int d = rank; d > 0; --d) numbers[d] = numbers[d - 1];
      numbers[0] = number;
    };
    put_first(extents, 1);
    for (int i = 0; i < operand_count; ++i) put_first(operands[i].strides, 0);
    ++rank;
    reduced = 1;
    return 0;
  }

 private:
  /// Whether all operands walk through dimensions d and d + 1 as through one.
  constexpr bool walked_as_one(int d) const {
    for (int i = 0; i < operand_count; ++i)
      if (operands[i].strides[d] != operands[i].strides[d + 1] * extents[d + 1]) return false;
    return true;
  }
  /// Whether the operands have the same strides in the last two dimensions, so that kernels may go along the one before
  /// the last. A reduction's result does not count: it is written element by element.
  constexpr bool innermost_is_like_next() const {
    for (int i = reduced != 0 ? 1 : 0; i < operand_count; ++i)
      if (operands[i].strides[rank - 2] != operands[i].strides[rank - 1]) return false;
    return true;
  }
  constexpr void merge(int d) {
    extents[d] *= extents[d + 1];
    for (int i = 0; i < operand_count; ++i) operands[i].strides[d] = operands[i].strides[d + 1];
    for (int k = d + 1; k + 1 < rank; ++k) {
      extents[k] = extents[k + 1];
      for (int i = 0; i < operand_count; ++i) operands[i].strides[k] = operands[i].strides[k + 1];
    }
    unsigned below = reduced & ((1U << (d + 1)) - 1U);
    reduced = below | ((reduced >> (d + 2)) << (d + 1));
    --rank;
  }
};

using kernel_function = void (*)(kernel_arguments&);

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
