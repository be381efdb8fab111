// Copies of rows of few bytes that lie apart: copy engines move such rows one by one.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/loop/loop.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A thread for each `Unit`, neighbours in a row.
template <class Unit> struct copy_narrow_rows {
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;

  struct arguments {
    Unit* to;
    const Unit* from;
    std::int64_t to_pitch, from_pitch; ///< from row to row, in units
    divisor width;                     ///< in units
    std::int64_t units;                ///< of all rows, below `largest_loop`
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::int64_t step = std::int64_t{block.blocks()} * block.threads();
    for (std::int64_t i = std::int64_t{block.block()} * block.threads() + block.thread(); i < a.units; i += step) {
      const std::uint32_t row = a.width.quotient(static_cast<std::uint32_t>(i));
      const std::int64_t at = i - std::int64_t{row} * a.width.value;
      block.store(a.to + (row * a.to_pitch + at), block.load(a.from + (row * a.from_pitch + at)));
    }
  }
};

/// The longest rows that are copied so, in bytes: longer rows keep a copy engine busy.
inline constexpr std::size_t most_narrow_bytes = 512;

/// Enqueues a copy of rows of `width` bytes, which begin a pitch apart, in the largest units that divide all addresses,
/// pitches and the width.
template <launch_api Api, class Unit = std::uint64_t>
status launch_narrow_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                          std::size_t rows, const launch_context<Api>& where) {
  if constexpr (sizeof(Unit) > 1) {
    const auto all =
        reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | to_pitch | from_pitch | width;
    if (all % sizeof(Unit) != 0) {
      using half = std::conditional_t<sizeof(Unit) == 8, std::uint32_t,
                                      std::conditional_t<sizeof(Unit) == 4, std::uint16_t, std::uint8_t>>;
      return launch_narrow_rows<Api, half>(to, to_pitch, from, from_pitch, width, rows, where);
    }
  }
  using kernel = copy_narrow_rows<Unit>;
  typename kernel::arguments a{static_cast<Unit*>(to),
                               static_cast<const Unit*>(from),
                               static_cast<std::int64_t>(to_pitch / sizeof(Unit)),
                               static_cast<std::int64_t>(from_pitch / sizeof(Unit)),
                               divisor::of(static_cast<std::int64_t>(width / sizeof(Unit))),
                               0};
  const std::int64_t most_rows = largest_loop / a.width.value;
  for (auto left = static_cast<std::int64_t>(rows); left > 0; left -= most_rows) {
    const std::int64_t now = std::min(left, most_rows);
    a.units = now * a.width.value;
    const launch_shape shape{detail::block_count(a.units, kernel::max_threads, where), unsigned(kernel::max_threads)};
    if (const status launched = Api::launch(kernel{}, shape, where.stream, a); !launched.ok()) return launched;
    a.to += now * a.to_pitch;
    a.from += now * a.from_pitch;
  }
  return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
