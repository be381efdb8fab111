// Sorts on a device: runs of a few elements are sorted by counting, and then merged two by two. Every thread finds
// where its element goes, so that all threads work on a row however long it is.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/primitives/arrays/sort.hpp>
#include <parallax/program/sorted_types.hpp>

#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The elements of all rows before a round, and their destinations.
template <class Kernel> struct sort_round {
  const typename sorted_types<Kernel>::key* from_keys;
  const typename sorted_types<Kernel>::value* from;
  typename sorted_types<Kernel>::key* to_keys; ///< null if the keys are the values, or are not needed any more
  typename sorted_types<Kernel>::value* to;
  std::int64_t count;  ///< of elements
  std::int64_t length; ///< of a row
  std::int64_t run;    ///< elements that are sorted already; runs begin at multiples of that in each row
};

namespace detail {

/// Moves the element of number `i` to place `to`.
template <class Kernel, class Block>
PARALLAX_DEVICE PARALLAX_INLINE void move_sorted(const Block& block, const sort_round<Kernel>& a, std::int64_t i,
                                                 std::int64_t to) {
  block.store(a.to + to, block.load(a.from + i));
  if constexpr (sorted_types<Kernel>::has_keys)
    if (a.to_keys != nullptr) block.store(a.to_keys + to, block.load(a.from_keys + i));
}
template <class Kernel, class K> PARALLAX_DEVICE PARALLAX_INLINE bool precedes(K x, K y) {
  return primitives::sort_by::precedes<sorted_types<Kernel>::descending>(x, y);
}

} // namespace detail

/// Sorts runs of a few elements: each counts those of its run that stand before it.
template <class Kernel> struct sort_runs {
  using arguments = sort_round<Kernel>;
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;
  static constexpr std::int64_t run_length = 16;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.count; i += step) {
      const std::int64_t in_row = i % a.length, first = i - in_row % run_length;
      const std::int64_t rest = i - in_row + a.length - first, last = first + (rest < run_length ? rest : run_length);
      const auto key = block.load(a.from_keys + i);
      std::int64_t to = first;
      for (std::int64_t j = first; j < last; ++j) {
        const auto other = block.load(a.from_keys + j);
        const bool stands_before = j < i ? !detail::precedes<Kernel>(key, other) : detail::precedes<Kernel>(other, key);
        to += stands_before ? 1 : 0;
      }
      detail::move_sorted(block, a, i, to);
    }
  }
};

/// Merges pairs of runs: each element finds how many of the other run stand before it.
template <class Kernel> struct merge_runs {
  using arguments = sort_round<Kernel>;
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < a.count; i += step) {
      const std::int64_t in_row = i % a.length, row = i - in_row, end = row + a.length;
      const std::int64_t first = row + in_row - in_row % (2 * a.run);
      const std::int64_t middle = smaller(first + a.run, end), last = smaller(middle + a.run, end);
      const bool in_first = i < middle;
      const auto key = block.load(a.from_keys + i);
      // equal elements of the first run come before those of the second
      std::int64_t low = in_first ? middle : first, high = in_first ? last : middle;
      const std::int64_t others = low;
      while (low < high) {
        const std::int64_t between = low + (high - low) / 2;
        const auto other = block.load(a.from_keys + between);
        const bool stands_before =
            in_first ? detail::precedes<Kernel>(other, key) : !detail::precedes<Kernel>(key, other);
        if (stands_before) low = between + 1;
        else high = between;
      }
      const std::int64_t own = in_first ? i - first : i - middle;
      detail::move_sorted(block, a, i, first + own + (low - others));
    }
  }

 private:
  static PARALLAX_DEVICE PARALLAX_INLINE std::int64_t smaller(std::int64_t x, std::int64_t y) { return x < y ? x : y; }
};

namespace detail {

/// Sorts all rows, into the memory that `memory.to` is afterwards.
template <launch_api Api, class Kernel>
status launch_sort_rounds(sort_memory<Kernel>& memory, std::int64_t count, std::int64_t length,
                          const launch_context<Api>& where) {
  const launch_shape shape{block_count(count, elementwise_threads, where), elementwise_threads};
  auto round = [&](std::int64_t run) {
    return sort_round<Kernel>{memory.from_keys, memory.from, memory.to_keys, memory.to, count, length, run};
  };
  constexpr std::int64_t shortest = sort_runs<Kernel>::run_length;
  status result = Api::launch(sort_runs<Kernel>{}, shape, where.stream, round(1));
  for (std::int64_t run = shortest; run < length && result.ok(); run *= 2) {
    memory.next_round(run * 2 >= length);
    result = Api::launch(merge_runs<Kernel>{}, shape, where.stream, round(run));
  }
  return result;
}

/// Its operands: see `plan_sort`.
template <launch_api Api, class Kernel>
status launch_sort(const kernel_arguments& a, const launch_context<Api>& where) {
  sort_memory<Kernel> memory(a);
  const std::int64_t count = a.extents[0] * a.extents[1], length = a.extents[1];
  if (count == 0) return {};
  memory.start(sort_runs<Kernel>::run_length, length);
  return launch_sort_rounds<Api, Kernel>(memory, count, length, where);
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
