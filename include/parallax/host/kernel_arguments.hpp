// What a host kernel is called with.
#pragma once

#include <parallax/core/extents.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace parallax::host {

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
    __builtin_memcpy(&value, &bits, sizeof value);
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
  const constant_bits* constants = nullptr;

  /// Merges neighbouring dimensions that all operands walk through as one.
  void collapse() {
    for (int d = rank - 2; d >= 0; --d) {
      bool same = ((reduced >> d) & 1U) == ((reduced >> (d + 1)) & 1U);
      for (int i = 0; same && i < operand_count; ++i)
        same = operands[i].strides[d] == operands[i].strides[d + 1] * extents[d + 1];
      if (same) merge(d);
    }
  }

 private:
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

} // namespace parallax::host
