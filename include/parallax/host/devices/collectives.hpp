// Collectives between virtual devices, in memory. Every device of a group calls the same ones in the same order.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/block_arithmetic.hpp>
#include <parallax/host/devices/rendezvous.hpp>
#include <parallax/host/devices/team.hpp>
#include <parallax/host/simd/lanes/pack_memory.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/processes/tree_order.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Operands and results with more bytes than this in all leave the caches before they are used again.
inline constexpr std::size_t most_cached_bytes = std::size_t{24} << 20;

/// Every member gets the combination of all members' `count` elements, in the order of `processes::tree_node`, so that
/// all get the same bits, a repetition gets them again, and so do processes that share the members. NaN propagates.
/// `in` may be `out`.
///
/// This and the other collectives throw `timeout_error` when a member does not come before the team's deadline,
/// `peer_failed` when another device failed, and `error` when members call different collectives.
inline void all_reduce(const group_member& who, reduction how, element_type type, const void* in, void* out,
                       std::size_t count) {
  block_arithmetic on(how, type);
  const std::size_t element = on.element;
  rendezvous group(who, collective::all_reduce, in, out, count * element);
  // Each member combines a chunk and writes it into all results. No other member reads the chunk, so that a result may
  // lie in an operand's memory. Copied operands are so short that everybody combines all of them.
  const bool alone = group.buffered() || group.size() == 1;
  const auto members = index_of(group.size());
  const std::size_t line = 64 / element;
  const std::size_t chunk = alone ? count : ((count + members - 1) / members + line - 1) / line * line;
  const std::size_t first = alone ? 0 : std::min(count, chunk * index_of(group.index()));
  const std::size_t last = std::min(count, first + chunk);
  const bool is_long = !alone && 2 * members * count * element > most_cached_bytes;
  alignas(64) std::array<std::byte, reduction_block_bytes> block;
  for (std::size_t begin = first; begin < last;) {
    const std::size_t size = std::min(last - begin, reduction_block_bytes / element);
    on.width = size;
    const auto operand = [&](processes::tree_node node) {
      return on.below(node, size, [&](processes::tree_node of) {
        return of.count == 1 ? group.input(of.first) + begin * element : nullptr;
      });
    };
    processes::combine_tree(block.data(), {0, group.size()}, operand, on);
    if (alone) {
      std::memcpy(static_cast<std::byte*>(out) + begin * element, block.data(), size * element);
    } else {
      for (int k = 0; k < group.size(); ++k) {
        std::byte* const to = group.output(k) + begin * element;
        // if it is the operand's memory, the line has just been read
        if (is_long && group.output(k) != group.input(k)) copy_past_caches(to, block.data(), size * element);
        else std::memcpy(to, block.data(), size * element);
      }
    }
    begin += size;
  }
  if (is_long) finish_stores_past_caches();
}

/// Every member gets the operands of all members: `in` is [outer, inner], `out` is [outer, group size, inner], `inner`
/// being `inner_bytes` long. They do not overlap.
inline void all_gather(const group_member& who, const void* in, void* out, std::size_t outer, std::size_t inner_bytes) {
  rendezvous group(who, collective::all_gather, in, out, outer * inner_bytes);
  std::byte* to = static_cast<std::byte*>(out);
  const std::size_t stride = inner_bytes * index_of(group.size());
  for (int k = 0; k < group.size(); ++k, to += inner_bytes) {
    copy_rows(to, stride, group.input(k), inner_bytes, outer, inner_bytes);
  }
}

/// The i-th member gets the i-th slice of the combination of all members' operands, in the order of `all_reduce`: `in`
/// is [outer, group size, inner], `out` is [outer, inner]. They do not overlap.
inline void reduce_scatter(const group_member& who, reduction how, element_type type, const void* in, void* out,
                           std::size_t outer, std::size_t inner_count) {
  block_arithmetic on(how, type);
  const std::size_t element = on.element;
  const std::size_t stride = inner_count * index_of(who.group_size());
  rendezvous group(who, collective::reduce_scatter, in, out, outer * stride * element);
  if (inner_count == 0) return;
  // blocks of several whole rows if these are short, otherwise of parts of one row
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
        return on.below(node, stride, [&](processes::tree_node of) {
          return of.count == 1 ? group.input(of.first) + from : nullptr;
        });
      };
      processes::combine_tree(to, {0, group.size()}, operand, on);
    }
  }
}

/// The i-th member gets the i-th block of every member: `in` is [group size, block], `out` is [group size, block], the
/// k-th block coming from the k-th member. They do not overlap.
inline void all_to_all(const group_member& who, const void* in, void* out, std::size_t block_bytes) {
  const auto members = index_of(who.group_size());
  rendezvous group(who, collective::all_to_all, in, out, members * block_bytes);
  const std::size_t mine = index_of(group.index()) * block_bytes;
  std::byte* to = static_cast<std::byte*>(out);
  for (int k = 0; k < group.size(); ++k, to += block_bytes) copy_rows(to, 0, group.input(k) + mine, 0, 1, block_bytes);
}

/// A member gets the operand of the member `source`, an index into the group, or zeros if `source` is -1. Several
/// members may have the same source. `in` and `out` do not overlap.
inline void permute(const group_member& who, int source, const void* in, void* out, std::size_t bytes) {
  if (source < -1 || source >= who.group_size()) throw error("the source of a permutation is not in the group");
  rendezvous group(who, collective::permute, in, out, bytes);
  if (bytes == 0) return;
  if (source < 0) std::memset(out, 0, bytes);
  else std::memcpy(out, group.input(source), bytes);
}

/// Every member gets the operand of the member `source`, an index into the group. `in` and `out` do not overlap.
inline void broadcast(const group_member& who, int source, const void* in, void* out, std::size_t bytes) {
  if (source < 0 || source >= who.group_size()) throw error("the source of a broadcast is not in the group");
  rendezvous group(who, collective::broadcast, in, out, bytes);
  if (bytes > 0) std::memcpy(out, group.input(source), bytes);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
