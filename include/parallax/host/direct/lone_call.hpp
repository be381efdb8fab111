// Calls of programs of static extents without the library's runtime: in the calling thread, in memory that the caller
// gives.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/direct/loop_steps.hpp>
#include <parallax/host/direct/straight_call.hpp>
#include <parallax/host/kernels/loop/work.hpp>
#include <parallax/host/kernels/products/plain_product.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// See `loop_steps`.
struct lone_execution {
  static constexpr bool has_accumulations = false;
  using work = calling_thread;
  template <class T> static void run_product(const product_arguments& p) { run_plain_product<T>(p); }
  static constexpr std::size_t bytes(std::int64_t count, element_type type) { return index_of(count) * size_of(type); }
  static constexpr std::size_t sum(std::size_t a, std::size_t b) { return a + b; }
};

/// The extents of a program whose extents are all static.
struct static_extents {
  PARALLAX_INLINE constexpr std::int64_t operator[](dim extent) const { return extent.number(); }
};

/// The layout of the workspace of a program of static extents: slots, and behind them memory for the rows of row
/// kernels.
template <class Program> class lone_layout {
  using memory = section_memory<Program, section_id::main, static_extents, lone_execution>;

  template <std::size_t Index> static constexpr std::size_t row_bytes() {
    constexpr kernel_step step = Program::plan.template at<kernel_step>(static_cast<int>(Index));
    using kernel = typename program_kernel<Program, static_cast<int>(step.kernel)>::type;
    if constexpr (kernel::result == kernel_result::rows) {
      const std::int64_t length = Program::plan[step.extents][index_of(step.extents.count) - 1].number();
      return aligned_to_slot(static_cast<std::size_t>(detail::room_of_row(length)) *
                             detail::row_passes<kernel>::remembered_bytes);
    } else {
      return 0;
    }
  }
  template <std::size_t... Index> static constexpr std::size_t most_row_bytes(std::index_sequence<Index...>) {
    return std::max({std::size_t{0}, row_bytes<Index>()...});
  }

 public:
  static constexpr std::array<std::size_t, memory::slot_count + 1> offsets = [] {
    std::array<std::size_t, memory::slot_count + 1> starts{};
    memory::place_slots(starts.data(), static_extents{});
    return starts;
  }();
  static constexpr std::size_t slot_bytes = memory::bytes(static_extents{});
  /// The bytes that a workspace needs from an address that is a multiple of 64.
  static constexpr std::size_t bytes =
      slot_bytes + most_row_bytes(std::make_index_sequence<Program::plan.template all<kernel_step>().size()>{});
  /// The bytes that a workspace needs from any address.
  static constexpr std::size_t bytes_anywhere = bytes == 0 ? 0 : bytes + line_bytes - 1;

  static std::byte* first_aligned(std::byte* memory_given) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_given);
    return memory_given + (aligned_to_slot(address) - address);
  }
};

/// Calls a program.
template <class Program> struct lone_call {
  static constexpr bool is_straight = direct_steps<Program>::are_straight_alone;
  static constexpr std::size_t workspace_bytes = [] {
    if constexpr (is_straight) return std::size_t{0};
    else return lone_layout<Program>::bytes_anywhere;
  }();

  /// `values` are the first elements of the arguments, `outputs` of the results.
  static void run(const std::byte* const* values, std::byte* const* outputs,
                  [[maybe_unused]] std::byte* workspace) noexcept {
    if constexpr (is_straight) {
      straight_call<Program>::run(values, outputs);
    } else {
      using layout = lone_layout<Program>;
      std::byte* const first = workspace_bytes == 0 ? nullptr : layout::first_aligned(workspace);
      const static_extents extents;
      loop_steps<Program, section_id::main, static_extents, lone_execution> steps(extents, values, outputs, first,
                                                                                  layout::offsets.data());
      if (first != nullptr) steps.row_memory = first + layout::slot_bytes;
      steps.run();
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
