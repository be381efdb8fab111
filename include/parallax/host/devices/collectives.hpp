// Collectives between virtual devices, in memory. Every device of a group calls the same ones in the same order.
#pragma once

#include <parallax/core/element_type.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/host/devices/rendezvous.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/processes/tree_order.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace parallax::host {

using reduction = reduction_kind;

// Blocks of a reduction stay in the first-level cache while the operands of all members are combined into them.
inline constexpr std::size_t reduction_block_bytes = 4096;

/// Combines `rows` rows of `width` elements of `source`, whose rows are `stride` elements apart, into the rows of
/// `target`, which lie one after another.
using combine_function = void (*)(void* target, const void* source, std::size_t rows, std::size_t width,
                                  std::size_t stride);

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
void combine(void* target, const void* source, std::size_t rows, std::size_t width, std::size_t stride) {
  T* __restrict to = static_cast<T*>(target);
  const T* __restrict from = static_cast<const T*>(source);
  if (width == stride || rows == 1) {
    width *= rows;
    rows = 1;
  }
  for (std::size_t row = 0; row < rows; ++row, to += width, from += stride) {
    for (std::size_t i = 0; i < width; ++i) to[i] = combined<Reduction>(to[i], from[i]);
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

/// Rows of a value that are `stride` elements apart; false where there are none.
struct row_view {
  const std::byte* first = nullptr;
  std::size_t stride = 0;

  explicit operator bool() const { return first != nullptr; }
};

/// How blocks of at most `reduction_block_bytes` are combined: `rows` rows of `width` elements, which lie one after
/// another where they have been combined.
struct block_arithmetic {
  combine_function with;
  std::size_t element;
  std::size_t rows = 1, width = 0;

  block_arithmetic(reduction how, element_type type) : with(combine_for(how, type)), element(size_of(type)) {}

  void copy(std::byte* to, row_view from) const {
    copy_rows(to, width * element, from.first, from.stride * element, rows, width * element);
  }
  void combine(std::byte* to, row_view from) const { with(to, from.first, rows, width, from.stride); }
  row_view view(const std::byte* combined) const { return {combined, width}; }
  std::byte* spare(int depth) { return blocks[depth]; }

 private:
  static constexpr int max_depth = 20; ///< of a tree over a million devices

  alignas(64) std::byte blocks[max_depth][reduction_block_bytes];
};

/// Every member gets the combination of all members' `count` elements, in the order of `processes::tree_node`, so that
/// all get the same bits, a repetition gets them again, and so do processes that share the members. NaN propagates.
/// `in` may be `out`.
///
/// This and the other collectives throw `timeout_error` when a member does not come before the team's deadline,
/// `peer_failed` when another device failed, and `error` when members call different collectives.
inline void all_reduce(team& all, int position, const group_part& who, reduction how, element_type type, const void* in,
                       void* out, std::size_t count) {
  block_arithmetic on(how, type);
  const std::size_t element = on.element;
  rendezvous group(all, position, who, collective::all_reduce, in, out, count * element);
  // Each member combines a chunk and writes it into all results. A chunk is read by nobody else, so that a result may
  // lie where an operand does. Copied operands are so short that everybody combines all of them.
  const bool alone = group.buffered() || group.size() == 1;
  const auto members = index_of(group.size());
  const std::size_t line = 64 / element;
  const std::size_t chunk = alone ? count : ((count + members - 1) / members + line - 1) / line * line;
  const std::size_t first = alone ? 0 : std::min(count, chunk * index_of(group.index()));
  const std::size_t last = std::min(count, first + chunk);
  alignas(64) std::array<std::byte, reduction_block_bytes> block;
  for (std::size_t begin = first; begin < last;) {
    const std::size_t size = std::min(last - begin, reduction_block_bytes / element);
    on.width = size;
    const auto operand = [&](processes::tree_node node) {
      return node.count == 1 ? row_view{group.input(node.first) + begin * element, size} : row_view{};
    };
    processes::combine_tree(block.data(), {0, group.size()}, operand, on);
    if (alone) {
      std::memcpy(static_cast<std::byte*>(out) + begin * element, block.data(), size * element);
    } else {
      for (int k = 0; k < group.size(); ++k)
        std::memcpy(group.output(k) + begin * element, block.data(), size * element);
    }
    begin += size;
  }
}

/// Every member gets what all members have: `in` is [outer, inner], `out` is [outer, group size, inner], `inner` being
/// `inner_bytes` long. They do not overlap.
inline void all_gather(team& all, int position, const group_part& who, const void* in, void* out, std::size_t outer,
                       std::size_t inner_bytes) {
  rendezvous group(all, position, who, collective::all_gather, in, out, outer * inner_bytes);
  std::byte* to = static_cast<std::byte*>(out);
  const std::size_t stride = inner_bytes * index_of(group.size());
  for (int k = 0; k < group.size(); ++k, to += inner_bytes) {
    copy_rows(to, stride, group.input(k), inner_bytes, outer, inner_bytes);
  }
}

/// The i-th member gets the i-th slice of the combination of all members' operands, in the order of `all_reduce`: `in`
/// is [outer, group size, inner], `out` is [outer, inner]. They do not overlap.
inline void reduce_scatter(team& all, int position, const group_part& who, reduction how, element_type type,
                           const void* in, void* out, std::size_t outer, std::size_t inner_count) {
  block_arithmetic on(how, type);
  const std::size_t element = on.element;
  const std::size_t stride = inner_count * index_of(who.size(all));
  rendezvous group(all, position, who, collective::reduce_scatter, in, out, outer * stride * element);
  if (inner_count == 0) return;
  // Blocks of whole rows where they are short, of parts of one row where they are long.
  const std::size_t width = std::min(inner_count, reduction_block_bytes / element);
  const std::size_t rows = std::max<std::size_t>(1, reduction_block_bytes / element / inner_count);
  const std::size_t slice = inner_count * index_of(group.index());
  for (std::size_t row = 0; row < outer; row += rows) {
    const std::size_t height = std::min(rows, outer - row);
    for (std::size_t column = 0; column < inner_count; column += width) {
      const std::size_t length = std::min(width, inner_count - column);
      const std::size_t from = (row * stride + slice + column) * element;
      std::byte* to = static_cast<std::byte*>(out) + (row * inner_count + column) * element;
      on.rows = height, on.width = length;
      const auto operand = [&](processes::tree_node node) {
        return node.count == 1 ? row_view{group.input(node.first) + from, stride} : row_view{};
      };
      processes::combine_tree(to, {0, group.size()}, operand, on);
    }
  }
}

/// The i-th member gets the i-th block of every member: `in` is [group size, block], `out` is [group size, block], the
/// k-th block coming from the k-th member. They do not overlap.
inline void all_to_all(team& all, int position, const group_part& who, const void* in, void* out,
                       std::size_t block_bytes) {
  const auto members = index_of(who.size(all));
  rendezvous group(all, position, who, collective::all_to_all, in, out, members * block_bytes);
  const std::size_t mine = index_of(group.index()) * block_bytes;
  std::byte* to = static_cast<std::byte*>(out);
  for (int k = 0; k < group.size(); ++k, to += block_bytes) copy_rows(to, 0, group.input(k) + mine, 0, 1, block_bytes);
}

/// A member gets the operand of the member `source`, an index into the group, or zeros where `source` is -1. Several
/// may have the same source. `in` and `out` do not overlap.
inline void permute(team& all, int position, const group_part& who, int source, const void* in, void* out,
                    std::size_t bytes) {
  if (source < -1 || source >= who.size(all)) throw error("the source of a permutation is not in the group");
  rendezvous group(all, position, who, collective::permute, in, out, bytes);
  if (bytes == 0) return;
  if (source < 0) std::memset(out, 0, bytes);
  else std::memcpy(out, group.input(source), bytes);
}

/// Every member gets the operand of the member `source`, an index into the group. `in` and `out` do not overlap.
inline void broadcast(team& all, int position, const group_part& who, int source, const void* in, void* out,
                      std::size_t bytes) {
  if (source < 0 || source >= who.size(all)) throw error("the source of a broadcast is not in the group");
  rendezvous group(all, position, who, collective::broadcast, in, out, bytes);
  if (bytes > 0) std::memcpy(out, group.input(source), bytes);
}

} // namespace parallax::host
