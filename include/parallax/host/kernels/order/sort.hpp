// Sorts on the host: runs of a few elements are sorted by insertion, and then merged two by two, long ones in pieces.
// Long rows are sorted by digits.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/elementwise.hpp>
#include <parallax/host/kernels/order/radix_sort.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/primitives/arrays/sort.hpp>
#include <parallax/program/sorted_types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// The work on the rows of a sort in one round.
template <class Kernel> struct sorter {
  using types = sorted_types<Kernel>;
  using K = typename types::key;
  using V = typename types::value;
  using place = sort_memory<Kernel>;
  static constexpr std::int64_t shortest_run = 16;

  /// Sorts elements `begin` to `end`.
  static void insert(const place& p, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const K key = p.from_keys[i];
      const V value = p.from[i];
      std::int64_t at = i;
      for (; at > begin && precedes(key, sorted_key(p, at - 1)); --at) move(p, at - 1, at);
      p.to[at] = value;
      if constexpr (types::has_keys) p.to_keys[at] = key;
    }
  }
  /// Two sorted runs, `begin` to `middle` and `middle` to `end`.
  struct run_pair {
    std::int64_t begin, middle, end;
  };
  /// Writes elements `first` to `last` of the merged runs; an element of the first run stays before equal ones of the
  /// second.
  static void merge(const place& p, const run_pair& runs, std::int64_t first, std::int64_t last) {
    std::int64_t left = runs.begin + taken_from_left(p, runs, first - runs.begin);
    std::int64_t right = runs.middle + (first - left);
    const std::int64_t left_end = runs.begin + taken_from_left(p, runs, last - runs.begin);
    const std::int64_t right_end = runs.middle + (last - left_end);
    std::int64_t to = first;
    while (left < left_end && right < right_end) {
      const bool from_right = precedes(p.from_keys[right], p.from_keys[left]);
      take(p, from_right ? right : left, to++);
      right += from_right ? 1 : 0;
      left += from_right ? 0 : 1;
    }
    while (left < left_end) take(p, left++, to++);
    while (right < right_end) take(p, right++, to++);
  }

 private:
  static PARALLAX_INLINE bool precedes(K x, K y) { return primitives::sort_by::precedes<types::descending>(x, y); }
  static PARALLAX_INLINE void take(const place& p, std::int64_t from, std::int64_t to) {
    p.to[to] = p.from[from];
    if constexpr (types::has_keys)
      if (p.to_keys != nullptr) p.to_keys[to] = p.from_keys[from];
  }
  /// The number of elements, among the first `count` merged ones, that come from the first run.
  static std::int64_t taken_from_left(const place& p, const run_pair& runs, std::int64_t count) {
    std::int64_t low = std::max(std::int64_t{0}, count - (runs.end - runs.middle));
    std::int64_t high = std::min(count, runs.middle - runs.begin);
    while (low < high) {
      const std::int64_t left = low + (high - low) / 2, right = runs.middle + count - left - 1;
      if (precedes(p.from_keys[right], p.from_keys[runs.begin + left])) high = left;
      else low = left + 1;
    }
    return low;
  }
  static K sorted_key(const place& p, std::int64_t i) {
    if constexpr (types::has_keys) return p.to_keys[i];
    else return p.to[i];
  }
  static void move(const place& p, std::int64_t from, std::int64_t to) {
    p.to[to] = p.to[from];
    if constexpr (types::has_keys) p.to_keys[to] = p.to_keys[from];
  }
};

} // namespace detail

/// Runs a sort. Its operands: see `plan_sort`.
template <class Kernel, class Work> void run_sort(kernel_arguments& a) {
  using sort = detail::sorter<Kernel>;
  const std::int64_t rows = a.extents[0], length = a.extents[1];
  if (rows == 0 || length == 0) return;
  if (length >= detail::radix_sorter<Kernel>::shortest_row && length <= std::numeric_limits<std::uint32_t>::max())
    return run_radix_sort<Kernel, Work>(a);
  // rows are cut at multiples of `most`
  auto for_each_piece = [&](std::int64_t most, const auto& body) {
    const std::int64_t in_row = (length + most - 1) / most;
    Work::parallel_for(rows * in_row, detail::parallel_grain / most + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t row = k / in_row * length, first = k % in_row * most;
        body(row, row + first, row + std::min(first + most, length));
      }
    });
  };
  sort_memory<Kernel> memory(a);
  memory.start(sort::shortest_run, length);
  for_each_piece(sort::shortest_run,
                 [&](std::int64_t, std::int64_t begin, std::int64_t end) { sort::insert(memory, begin, end); });
  for (std::int64_t run = sort::shortest_run; run < length; run *= 2) {
    memory.next_round(run * 2 >= length);
    for_each_piece(std::min(2 * run, detail::parallel_grain),
                   [&](std::int64_t row, std::int64_t first, std::int64_t last) {
                     const std::int64_t begin = first - (first - row) % (2 * run), end = row + length;
                     const std::int64_t middle = std::min(begin + run, end);
                     sort::merge(memory, {begin, middle, std::min(middle + run, end)}, first, last);
                   });
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
