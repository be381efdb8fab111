// Calls of programs of static extents without the library's runtime: in the calling thread, in memory that the caller
// gives.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/direct/loop_steps.hpp>
#include <parallax/host/direct/straight_call.hpp>
#include <parallax/host/kernels/plain_product.hpp>
#include <parallax/host/kernels/work.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

/// See `loop_steps`.
struct lone_execution {
  using work = calling_thread;
  template <class T> static void run_product(const product_arguments& p) { run_plain_product<T>(p); }
};

/// The values of extents of a program that has static ones only.
struct static_extents {
  PARALLAX_INLINE std::int64_t operator[](dim extent) const { return extent.number(); }
};

/// Where the slots of a program of static extents begin in its workspace, and what follows them.
template <class Program> class lone_layout {
  using steps = direct_steps<Program>;
  static constexpr std::size_t slot_count = index_of(steps::section.slot_count);
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t aligned(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

  /// What a step remembers of a row.
  template <step_kind Kind, int Index> static constexpr std::size_t row_bytes() {
    if constexpr (Kind == step_kind::kernel) {
      constexpr kernel_step step = Program::plan.template at<kernel_step>(Index);
      using kernel = typename program_kernel<Program, static_cast<int>(step.kernel)>::type;
      if constexpr (kernel::result == kernel_result::rows) {
        using passes = detail::row_passes<kernel>;
        const std::int64_t length = Program::plan[step.extents][index_of(step.extents.count) - 1].number();
        return aligned(static_cast<std::size_t>(detail::room_of_row(length)) * passes::remembered_bytes);
      }
    }
    return 0;
  }
  template <std::size_t... I> static constexpr std::size_t most_row_bytes(std::index_sequence<I...>) {
    return std::max({std::size_t{0}, row_bytes<steps::all[I].kind, steps::all[I].index>()...});
  }

 public:
  static constexpr std::array<std::size_t, slot_count + 1> offsets = [] {
    std::array<std::size_t, slot_count + 1> starts{};
    for (const buffer_record& buffer : Program::plan[steps::section.buffers]) {
      if (buffer.kind != buffer_kind::slot) continue;
      std::size_t& size = starts[index_of(buffer.number) + 1];
      size = std::max(size, aligned(index_of(buffer.count.number()) * size_of(buffer.type)));
    }
    for (std::size_t i = 1; i <= slot_count; ++i) starts[i] += starts[i - 1];
    return starts;
  }();
  /// The bytes in all, from an address that is a multiple of 64.
  static constexpr std::size_t bytes =
      offsets[slot_count] + most_row_bytes(std::make_index_sequence<index_of(steps::count)>{});
  /// The same from any address.
  static constexpr std::size_t bytes_anywhere = bytes == 0 ? 0 : bytes + alignment - 1;

  static std::byte* first_aligned(std::byte* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return memory + (aligned(address) - address);
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
      loop_steps<Program, static_extents, lone_execution> steps(extents, values, outputs, first,
                                                                layout::offsets.data());
      if (first != nullptr) steps.row_memory = first + layout::offsets.back();
      steps.run();
    }
  }
};

} // namespace parallax::host::inline PARALLAX_REGISTERS
