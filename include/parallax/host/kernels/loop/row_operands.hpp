// The operands of a row of a loop: where they begin, and how far apart their elements are.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Whether rows of so many bytes are written past the caches: many bytes in all, and rows of whole registers, since a
/// line that two rows share would be written in two parts.
constexpr bool are_past_caches(std::int64_t rows, std::int64_t row_bytes) {
  return rows * row_bytes >= 4 << 20 && (rows == 1 || row_bytes % register_bytes == 0);
}

/// The operands of a row: the addresses of their first elements, or the first value of an index.
struct row_position {
  const std::byte* data[max_accesses];
  std::int64_t start[max_accesses];
  std::int64_t stride[max_accesses]; ///< along the row, in elements
  bool past_caches = false;          ///< whether results are written past the caches

  /// The row at the given position of the outer dimensions.
  PARALLAX_INLINE void set(const kernel_arguments& a, const std::int64_t* position, int outer_rank) {
    for (int i = 0; i < a.operand_count; ++i) {
      const operand& o = a.operands[i];
      std::int64_t offset = 0;
      for (int d = 0; d < outer_rank; ++d) offset += position[d] * o.strides[d];
      data[i] = o.data ? o.data + offset * o.element_bytes : nullptr;
      start[i] = o.start + offset;
      stride[i] = outer_rank < a.rank ? o.strides[outer_rank] : 0;
    }
  }
  /// Moves `elements` elements along the row.
  PARALLAX_INLINE void move(const kernel_arguments& a, std::int64_t elements) {
    for (int i = 0; i < a.operand_count; ++i) {
      if (data[i] != nullptr) data[i] += elements * stride[i] * a.operands[i].element_bytes;
      start[i] += elements * stride[i];
    }
  }
  /// Moves to the next row along `dimension`.
  PARALLAX_INLINE void advance(const kernel_arguments& a, int dimension) {
    for (int i = 0; i < a.operand_count; ++i) {
      const operand& o = a.operands[i];
      if (o.data) data[i] += o.strides[dimension] * o.element_bytes;
      start[i] += o.strides[dimension];
    }
  }
};

namespace detail {

/// A row's operands as single values: compilers keep these in registers, unlike arrays.
template <int I> struct row_operand {
  const std::byte* data;
  std::int64_t start, stride;
};
/// The distances between a row's operands and those of the next row along a dimension.
template <int I> struct row_step {
  std::ptrdiff_t bytes;
  std::int64_t elements;

  PARALLAX_INLINE row_step(const operand& o, int dimension)
      : bytes(o.data == nullptr ? 0 : o.strides[dimension] * o.element_bytes), elements(o.strides[dimension]) {}
};
template <class Indices> struct row_steps;
template <std::size_t... I> struct row_steps<std::index_sequence<I...>> : row_step<static_cast<int>(I)>... {
  PARALLAX_INLINE row_steps(const kernel_arguments& a, int dimension)
      : row_step<static_cast<int>(I)>(a.operands[I], dimension)... {}
};
template <int I> PARALLAX_INLINE const row_step<I>& step_of(const row_step<I>& s) { return s; }

template <class Indices> struct row_operands;
template <std::size_t... I> struct row_operands<std::index_sequence<I...>> : row_operand<I>... {
  bool past_caches; ///< whether results are written past the caches

  PARALLAX_INLINE explicit row_operands(const row_position& row)
      : row_operand<I>{row.data[I], row.start[I], row.stride[I]}..., past_caches(row.past_caches) {}
  /// The only row of a loop of one dimension.
  PARALLAX_INLINE row_operands(const operand* operands, bool writes_past_caches)
      : row_operand<I>{operands[I].data, operands[I].start, operands[I].strides[0]}...,
        past_caches(writes_past_caches) {}
  /// The next row. Unlike a `row_position`, it stays in registers.
  PARALLAX_INLINE void advance(const row_steps<std::index_sequence<I...>>& steps) {
    ((row_operand<I>::data += step_of<I>(steps).bytes, row_operand<I>::start += step_of<I>(steps).elements), ...);
  }
};
template <int I> PARALLAX_INLINE const row_operand<I>& operand_at(const row_operand<I>& o) { return o; }

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
