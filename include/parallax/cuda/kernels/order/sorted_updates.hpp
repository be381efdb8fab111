// Scatters with many updates, all of which may be of one element: updates are sorted by their elements, and those of
// one element are combined in groups of a fixed size, groups of groups and so on. So results are the same in each run.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/order/scatter_positions.hpp>
#include <parallax/cuda/kernels/order/sort.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/primitives/building/catalogue.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The sort key of an update: its element, and behind that its number in a list, so that no keys are equal.
struct update_key {
  static constexpr int number_bits = 20;
  static constexpr std::int64_t most_updates = std::int64_t{1} << number_bits;
  static constexpr std::uint64_t no_element = ~std::uint64_t{0} >> number_bits; ///< of updates that change nothing

  static PARALLAX_HD constexpr std::uint64_t of(std::uint64_t element, std::uint32_t number) {
    return element << number_bits | number;
  }
  static PARALLAX_HD constexpr std::uint64_t element(std::uint64_t key) { return key >> number_bits; }
  static PARALLAX_HD constexpr std::uint32_t number(std::uint64_t key) {
    return static_cast<std::uint32_t>(key) & ((1U << number_bits) - 1U);
  }
};

/// The updates of a list: a part of all updates, line by line. If neighbouring lines change neighbouring elements,
/// these lines are columns, and one entry stands for an update of all of them.
template <class Kernel> struct listed_updates {
  using T = typename scatter_positions<Kernel>::T;
  using combining = typename detail::scatter_statement_of<Kernel>::primitive;

  scatter_positions<Kernel> positions;
  divisor length;        ///< of a line
  std::uint32_t columns; ///< lines side by side
  std::uint32_t first;   ///< update of the list

  template <class Block>
  PARALLAX_DEVICE PARALLAX_INLINE update_of<T> at(const Block& block, std::uint32_t number,
                                                  std::uint32_t column) const {
    const std::uint32_t line = length.quotient(first + number), i = first + number - line * length.value;
    return positions.update(block, line * columns + column, i);
  }
  /// The value of an entry of a sorted list.
  template <class Block>
  PARALLAX_DEVICE PARALLAX_INLINE T value(const Block& block, std::uint64_t key, std::uint32_t,
                                          std::uint32_t column) const {
    return at(block, update_key::number(key), column).value;
  }
};

/// The results of combined groups of updates.
template <class Combining, class Element> struct combined_updates {
  using T = Element;
  using combining = Combining;

  const T* values; ///< columns side by side
  std::uint32_t columns;

  template <class Block>
  PARALLAX_DEVICE PARALLAX_INLINE T value(const Block& block, std::uint64_t, std::uint32_t entry,
                                          std::uint32_t column) const {
    return block.load(values + (static_cast<std::size_t>(entry) * columns + column));
  }
};

/// Makes the keys of a list, in its order.
template <class Kernel> struct make_update_keys {
  struct arguments {
    listed_updates<Kernel> updates;
    std::uint64_t* keys;
    std::uint32_t count;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::scatter_threads;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    using T = typename listed_updates<Kernel>::T;
    const T* const first = reinterpret_cast<const T*>(a.updates.positions.loop.operands[0].data);
    const std::uint32_t step = blocks_of(block) * threads_of(block);
    for (std::uint32_t i = block_of(block) * threads_of(block) + thread_of(block); i < a.count; i += step) {
      const T* const changed = a.updates.at(block, i, 0).element;
      const auto element = changed == nullptr ? update_key::no_element : static_cast<std::uint64_t>(changed - first);
      block.store(a.keys + i, update_key::of(element, i));
    }
  }
};

/// A thread combines a group of neighbours in a sorted list, for one column. Only the group's first and last element
/// may have updates in other groups: they become entries of a shorter list. The elements between are changed at once.
template <class Source> struct combine_groups {
  using T = typename Source::T;
  struct arguments {
    Source source;
    const std::uint64_t* keys;
    std::uint32_t count;
    divisor columns;
    T* elements;
    std::int32_t column_stride;
    std::uint64_t* next_keys; ///< two for each group; null if there is one group
    T* next_values;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::scatter_threads;
  static constexpr std::uint32_t group = 32;

  static constexpr std::int64_t groups_of(std::int64_t count) { return (count + group - 1) / group; }

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::uint32_t work = (a.count + group - 1) / group * a.columns.value;
    const std::uint32_t step = blocks_of(block) * threads_of(block);
    for (std::uint32_t w = block_of(block) * threads_of(block) + thread_of(block); w < work; w += step) {
      const std::uint32_t number = a.columns.quotient(w);
      combine(block, a, number, w - number * a.columns.value);
    }
  }

 private:
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine(const Block& block, const arguments& a, std::uint32_t number,
                                                      std::uint32_t column) {
    const std::uint32_t begin = number * group, end = begin + group < a.count ? begin + group : a.count;
    const bool is_only = a.next_keys == nullptr;
    std::uint64_t element = update_key::no_element;
    T total{};
    bool is_first = true;
    for (std::uint32_t entry = begin; entry < end; ++entry) {
      const std::uint64_t key = block.load(a.keys + entry);
      if (update_key::element(key) == update_key::no_element) continue;
      const T value = a.source.value(block, key, entry, column);
      if (update_key::element(key) == element) {
        total = detail::combined_by<typename Source::combining>(total, value);
        continue;
      }
      if (element != update_key::no_element) {
        if (is_first && !is_only) pass_on(block, a, 2 * number, column, element, total);
        else change(block, a, column, element, total);
        is_first = false;
      }
      element = update_key::element(key);
      total = value;
    }
    if (is_only) {
      if (element != update_key::no_element) change(block, a, column, element, total);
      return;
    }
    pass_on(block, a, 2 * number + (is_first ? 0 : 1), column, element, total);
    if (is_first) pass_on(block, a, 2 * number + 1, column, update_key::no_element, total);
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void change(const Block& block, const arguments& a, std::uint32_t column,
                                                     std::uint64_t element, T total) {
    T* const changed = a.elements + (static_cast<std::int64_t>(element) +
                                     static_cast<std::int64_t>(column) * static_cast<std::int64_t>(a.column_stride));
    block.store(changed,
                detail::combined_by<typename Source::combining>(block.load(static_cast<const T*>(changed)), total));
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void pass_on(const Block& block, const arguments& a, std::uint32_t entry,
                                                      std::uint32_t column, std::uint64_t element, T total) {
    if (column == 0) block.store(a.next_keys + entry, update_key::of(element, 0));
    if (element != update_key::no_element)
      block.store(a.next_values + (static_cast<std::size_t>(entry) * a.columns.value + column), total);
  }
};

namespace detail {

/// Sorts numbers of 64 bits.
using key_sort = kernel<kernel_result::sorted, primitives::sort_by,
                        load_statement<statement_kind::load_vector, element_type::uint64, 1>,
                        compute_statement<primitives::sort_by, element_type::uint64, 0, 0>>;

/// The launches of a scatter whose updates are sorted.
template <launch_api Api, class Kernel> class sorted_scatter {
  using T = typename scatter_positions<Kernel>::T;
  using later = combined_updates<typename scatter_statement_of<Kernel>::primitive, T>;

 public:
  /// `columns` lines are side by side.
  sorted_scatter(const scatter_positions<Kernel>& all, std::int64_t columns, const launch_context<Api>& context)
      : where(context), updates{all, divisor::of(all.length), static_cast<std::uint32_t>(columns), 0} {}

  /// Carries out all updates, as many at a time as fit the scratch memory, in their order.
  status run() {
    const std::int64_t all = std::int64_t{updates.positions.lines} / updates.columns * updates.positions.length;
    std::int64_t most = std::min(all, update_key::most_updates);
    while (most > group && bytes_of(most) > where.scratch_bytes) most = (most + 1) / 2;
    status result;
    for (std::int64_t first = 0; first < all && result.ok(); first += most) {
      updates.first = static_cast<std::uint32_t>(first);
      result = run_list(std::min(most, all - first));
    }
    return result;
  }

 private:
  static constexpr std::int64_t group = combine_groups<later>::group;

  const launch_context<Api>& where;
  listed_updates<Kernel> updates;

  /// The bytes of the shorter list that `groups` groups leave.
  std::size_t bytes_passed_on(std::int64_t groups) const {
    const std::size_t value_bytes = (sizeof(T) * updates.columns * 2 * static_cast<std::size_t>(groups) + 7) / 8 * 8;
    return static_cast<std::size_t>(groups) * 2 * sizeof(std::uint64_t) + value_bytes;
  }
  /// The bytes of two lists of keys, which the sort moves to and fro between, and of all shorter lists.
  std::size_t bytes_of(std::int64_t count) const {
    std::size_t bytes = 2 * sizeof(std::uint64_t) * static_cast<std::size_t>(count);
    for (; count > group; count = 2 * combine_groups<later>::groups_of(count))
      bytes += bytes_passed_on(combine_groups<later>::groups_of(count));
    return bytes;
  }

  status run_list(std::int64_t count) const {
    auto* const keys = static_cast<std::uint64_t*>(where.scratch);
    status result =
        Api::launch(make_update_keys<Kernel>{}, {block_count(count, scatter_threads, where), scatter_threads},
                    where.stream, {updates, keys, static_cast<std::uint32_t>(count)});
    if (!result.ok()) return result;
    sort_memory<key_sort> memory(keys, keys + count);
    result = launch_sort_rounds<Api, key_sort>(memory, count, count, where);
    if (result.ok()) result = combine(updates, memory.to, count, keys + 2 * count);
    return result;
  }
  /// Combines a sorted list, and the shorter lists that result, whose memory begins at `free`.
  template <class Source>
  status combine(const Source& source, const std::uint64_t* keys, std::int64_t count, std::uint64_t* free) const {
    using kernel_type = combine_groups<Source>;
    const std::int64_t groups = kernel_type::groups_of(count), work = groups * updates.columns;
    const loop_operand& changed = updates.positions.loop.operands[0];
    const bool is_only = groups == 1;
    T* const values = is_only ? nullptr : reinterpret_cast<T*>(free + 2 * groups);
    const typename kernel_type::arguments arguments{source,
                                                    keys,
                                                    static_cast<std::uint32_t>(count),
                                                    divisor::of(updates.columns),
                                                    reinterpret_cast<T*>(changed.data),
                                                    changed.strides[innermost],
                                                    is_only ? nullptr : free,
                                                    values};
    const status result = Api::launch(kernel_type{}, {block_count(work, scatter_threads, where), scatter_threads},
                                      where.stream, arguments);
    if (is_only || !result.ok()) return result;
    return combine(later{values, updates.columns}, free, 2 * groups, free + bytes_passed_on(groups) / 8);
  }
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
