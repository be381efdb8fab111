// What a host kernel is called with.
#pragma once

#include <parallax/core/extents.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace parallax::compiled {

/// The largest number of operands of a kernel.
inline constexpr int max_accesses = 260;

/// A constant's bits, to be read as the type that the kernel's statement says.
struct constant_bits {
  std::uint64_t bits;

  template <class T> static constant_bits of(T value) {
    constant_bits result{0};
    __builtin_memcpy(&result.bits, &value, sizeof value);
    return result;
  }
  template <class T> T as() const {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  }
};

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
  std::byte* row_memory = nullptr; ///< what a row kernel remembers of a row, where its caller provides for that

  /// As `collapse`, but the innermost dimension stays as it is.
  void collapse_rows() {
    for (int d = rank - 3; d >= 0; --d)
      if (extents[d] == 1 || walked_as_one(d)) merge(d);
  }
  /// Merges neighbouring dimensions that all operands walk through as one, and leaves out those of extent 1.
  void collapse() {
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

 private:
  /// Whether all operands walk through dimensions d and d + 1 as through one.
  bool walked_as_one(int d) const {
    for (int i = 0; i < operand_count; ++i)
      if (operands[i].strides[d] != operands[i].strides[d + 1] * extents[d + 1]) return false;
    return true;
  }
  /// Whether kernels made for the innermost dimension may walk along the one before it. A reduction's result is written
  /// by itself.
  bool innermost_is_like_next() const {
    for (int i = reduced != 0 ? 1 : 0; i < operand_count; ++i)
      if (operands[i].strides[rank - 2] != operands[i].strides[rank - 1]) return false;
    return true;
  }
  void merge(int d) {
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

} // namespace parallax::compiled
