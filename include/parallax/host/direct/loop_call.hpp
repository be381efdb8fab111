// A direct call of loops and products, on all threads and with memory of the library.
#pragma once

#include <parallax/arrays/buffer.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/host/direct/direct_extents.hpp>
#include <parallax/host/direct/loop_steps.hpp>
#include <parallax/host/kernels/all_threads.hpp>
#include <parallax/host/kernels/run_product.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>
#include <parallax/runtime/checked_sizes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

/// See `loop_steps`.
struct library_execution {
  using work = all_threads;
  static void check_loop(const std::int64_t* extents, int rank) { runtime::check_loop(extents, rank); }
  template <class> static void run_product(const product_arguments& p) { host::run_product(p); }
};

template <class Program> class loop_call {
  using steps = direct_steps<Program>;
  static constexpr std::size_t slot_count = index_of(steps::section.slot_count);
  static constexpr std::size_t buffer_count = index_of(steps::section.buffers.count);
  static constexpr std::size_t alignment = 64;

 public:
  /// `values` are the first elements of the arguments, `outputs` of the results. Throws `out_of_memory`, `shape_error`.
  static PARALLAX_INLINE void run(const direct_extents<Program>& extents, const std::byte* const* values,
                                  std::byte* const* outputs) {
    std::size_t offsets[slot_count + 1] = {};
    buffer arena;
    if constexpr (slot_count > 0) {
      widen_all(offsets, extents, std::make_index_sequence<buffer_count>{});
      for (std::size_t i = 1; i <= slot_count; ++i) offsets[i] = checked_sum(offsets[i - 1], offsets[i]);
      arena = buffer::allocate(offsets[slot_count]);
    }
    loop_steps<Program, direct_extents<Program>, library_execution>(extents, values, outputs, arena.data(), offsets)
        .run();
  }

 private:
  template <std::size_t... B>
  static PARALLAX_INLINE void widen_all(std::size_t* offsets, const direct_extents<Program>& extents,
                                        std::index_sequence<B...>) {
    (widen<B>(offsets, extents), ...);
  }
  /// Each slot is as large as its largest buffer.
  template <std::size_t B>
  static PARALLAX_INLINE void widen([[maybe_unused]] std::size_t* offsets,
                                    [[maybe_unused]] const direct_extents<Program>& extents) {
    constexpr buffer_record record = Program::plan[steps::section.buffers][B];
    if constexpr (record.kind == buffer_kind::slot) {
      std::size_t& size = offsets[index_of(record.number) + 1];
      const std::size_t bytes = checked_bytes(extents[record.count], record.type);
      size = std::max(size, (bytes + alignment - 1) / alignment * alignment);
    }
  }
};

} // namespace parallax::host::inline PARALLAX_REGISTERS
