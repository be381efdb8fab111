// Blocks of the operands of a reduction over devices, and how they are combined.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/processes/tree_order.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

using reduction = reduction_kind;

// Blocks of a reduction stay in the first-level cache while the operands of all members are combined into them.
inline constexpr std::size_t reduction_block_bytes = 4096;

/// Rows of elements of one value, or of four neighbouring leaves of the tree: rows are `stride` elements apart in each.
struct operand_rows {
  const std::byte* first[4] = {};
  int count = 0;
  std::size_t stride = 0;

  explicit operator bool() const { return count > 0; }
};

/// Combines `rows` rows of `width` elements of the operands into the rows of `target`, which lie one after another.
/// `is_added`: together with the elements that are there already, as is always so for a single operand.
using combine_function = void (*)(void* target, const operand_rows& from, std::size_t rows, std::size_t width,
                                  bool is_added);

template <reduction Reduction, class T> constexpr T combined(T a, T b) {
  if constexpr (Reduction == reduction::max) {
    return a > b || a != a ? a : b; // a NaN on either side is the result
  } else if constexpr (Reduction == reduction::min) {
    return a < b || a != a ? a : b;
  } else if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b))); // wraps around
  } else {
    return a + b;
  }
}

template <reduction Reduction, class T>
void combine(void* target, const operand_rows& from, std::size_t rows, std::size_t width, bool is_added) {
  if (width == from.stride || rows == 1) {
    width *= rows;
    rows = 1;
  }
  T* __restrict to = static_cast<T*>(target);
  const auto operand = [&](int k, std::size_t row) {
    return reinterpret_cast<const T*>(from.first[k]) + row * from.stride;
  };
  for (std::size_t row = 0; row < rows; ++row, to += width) {
    const T* __restrict a = operand(0, row);
    if (from.count == 1) {
      for (std::size_t i = 0; i < width; ++i) to[i] = combined<Reduction>(to[i], a[i]);
      continue;
    }
    const T* __restrict b = operand(1, row), * __restrict c = operand(2, row), * __restrict d = operand(3, row);
    const auto of_four = [=](std::size_t i) {
      return combined<Reduction>(combined<Reduction>(a[i], b[i]), combined<Reduction>(c[i], d[i]));
    };
    if (is_added)
      for (std::size_t i = 0; i < width; ++i) to[i] = combined<Reduction>(to[i], of_four(i));
    else
      for (std::size_t i = 0; i < width; ++i) to[i] = of_four(i);
  }
}

template <reduction Reduction> combine_function combine_for(element_type type) {
  switch (type) {
  case element_type::boolean:
    if constexpr (Reduction == reduction::sum) throw error("the sum of booleans over devices is not defined");
    else return combine<Reduction, std::uint8_t>; // 0 and 1: max is or, min is and
  case element_type::uint8: return combine<Reduction, std::uint8_t>;
  case element_type::int32: return combine<Reduction, std::int32_t>;
  case element_type::uint32: return combine<Reduction, std::uint32_t>;
  case element_type::int64: return combine<Reduction, std::int64_t>;
  case element_type::uint64: return combine<Reduction, std::uint64_t>;
  case element_type::float16: return combine<Reduction, float16>;
  case element_type::bfloat16: return combine<Reduction, bfloat16>;
  case element_type::float32: return combine<Reduction, float>;
  case element_type::float64: return combine<Reduction, double>;
  }
  throw error("not an element type");
}

/// The loop that combines elements of this type.
inline combine_function combine_for(reduction how, element_type type) {
  switch (how) {
  case reduction::sum: return combine_for<reduction::sum>(type);
  case reduction::max: return combine_for<reduction::max>(type);
  case reduction::min: return combine_for<reduction::min>(type);
  }
  throw error("not a reduction");
}

/// Copies `rows` rows of `width` bytes that are `from_stride` and `to_stride` bytes apart.
inline void copy_rows(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
                      std::size_t rows, std::size_t width) {
  if (width == 0) return;
  const auto copy = [&](auto size) {
    for (std::size_t row = 0; row < rows; ++row) std::memcpy(to + row * to_stride, from + row * from_stride, size);
  };
  // A row of one element is common; its copy need not be a call.
  switch (width) {
  case 1: return copy(std::integral_constant<std::size_t, 1>{});
  case 4: return copy(std::integral_constant<std::size_t, 4>{});
  case 8: return copy(std::integral_constant<std::size_t, 8>{});
  default: return copy(width);
  }
}

/// How blocks of at most `reduction_block_bytes` are combined: `rows` rows of `width` elements. The combined rows lie
/// one after another.
struct block_arithmetic {
  combine_function with;
  std::size_t element;
  std::size_t rows = 1, width = 0;

  block_arithmetic(reduction how, element_type type) : with(combine_for(how, type)), element(size_of(type)) {}

  /// The values that are known below a node: the node's own, or those of four leaves, which are read at once.
  /// `first_of(node)` is the address of a node's rows, `stride` elements apart; null if the node's value is not known.
  template <class FirstOf>
  static operand_rows below(processes::tree_node node, std::size_t stride, const FirstOf& first_of) {
    if (const std::byte* const whole = first_of(node)) return {{whole}, 1, stride};
    if (node.count != 4) return {};
    operand_rows leaves{{}, 4, stride};
    for (int k = 0; k < 4; ++k) {
      leaves.first[k] = first_of(processes::tree_node{node.first + k, 1});
      if (leaves.first[k] == nullptr) return {};
    }
    return leaves;
  }

  void copy(std::byte* to, const operand_rows& from) const {
    if (from.count > 1) with(to, from, rows, width, false);
    else copy_rows(to, width * element, from.first[0], from.stride * element, rows, width * element);
  }
  void combine(std::byte* to, const operand_rows& from) const { with(to, from, rows, width, true); }
  operand_rows view(const std::byte* combined) const { return {{combined}, 1, width}; }
  std::byte* spare(int depth) {
    buffer& own = blocks[index_of(depth)];
    if (own.is_null()) own = buffer::allocate(reduction_block_bytes);
    return own.data();
  }

 private:
  static constexpr int max_depth = 20; ///< of a tree over a million devices

  std::array<buffer, max_depth> blocks; ///< allocated as they are needed, not on the thread's stack, which may be small
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
