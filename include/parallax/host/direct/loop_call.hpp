// A direct call of loops and products, on all threads and with memory that the library allocates.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_extents.hpp>
#include <parallax/host/direct/loop_steps.hpp>
#include <parallax/host/kernels/loop/all_threads.hpp>
#include <parallax/host/kernels/products/run_product.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/runtime/checked_sizes.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// See `loop_steps`.
struct library_execution {
  static constexpr bool has_accumulations = true;
  using work = all_threads;
  static std::size_t bytes(std::int64_t count, element_type type) { return checked_bytes(count, type); }
  static std::size_t sum(std::size_t a, std::size_t b) { return checked_sum(a, b); }
  static void check_loop(const std::int64_t* extents, int rank) { runtime::check_loop(extents, rank); }
  template <class> static void run_product(const product_arguments& p) { host::run_product(p); }
};

template <class Program> struct loop_call {
  /// `values` are the first elements of the arguments, `outputs` of the results. Throws `out_of_memory`, `shape_error`.
  static PARALLAX_INLINE void run(const direct_extents<Program>& extents, const std::byte* const* values,
                                  std::byte* const* outputs) {
    using memory = section_memory<Program, section_id::main, direct_extents<Program>, library_execution>;
    std::size_t offsets[memory::slot_count + 1];
    memory::place_slots(offsets, extents);
    buffer arena;
    if (const std::size_t bytes = memory::bytes(extents); bytes > 0) arena = buffer::allocate(bytes);
    loop_steps<Program, section_id::main, direct_extents<Program>, library_execution>(extents, values, outputs,
                                                                                      arena.data(), offsets)
        .run();
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
