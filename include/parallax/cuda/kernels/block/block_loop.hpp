// A loop from its first round to its last as one kernel of one block.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/block/block_loop_limits.hpp>
#include <parallax/cuda/kernels/block/block_steps.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/loop_program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `Program` is a `packed_program`: the loop, as the only step of its main section.
template <class Program> struct block_loop {
  static constexpr section_record main = Program::plan.section(section_id::main);
  static constexpr step_record step = Program::plan[main.steps][0];
  static constexpr std::size_t operand_count = index_of(main.argument_count),
                               result_count = index_of(main.buffers.count) - operand_count;

  struct arguments {
    std::byte* operands[operand_count == 0 ? 1 : operand_count];
    std::byte* results[result_count == 0 ? 1 : result_count];
    std::int64_t rounds; ///< of a scan
    std::int32_t axis_indices[block_loop_limits::most_axes];
  };

  static constexpr block_loop_estimate estimate = [] {
    block_loop_estimate of(Program::plan);
    for_each_body(Program::plan, step, [&](section_id body) { of.add(body); });
    return of;
  }();
  static constexpr bool barriers = true;
  static constexpr int max_threads = estimate.threads(), min_blocks = 1;
  static constexpr std::size_t shared_bytes = estimate.step_bytes() + block_loop_memory(Program::plan).of_step(step);

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    using frame_type = section_frame<Program, section_id::main, step_bytes, main_places>;
    const main_places places{a};
    const frame_type frame{places, block.shared(), a.axis_indices};
    if constexpr (kind == step_kind::scan)
      block_loop_step<max_threads, frame_type, scan_step, index>::run_scan(block, frame, a.rounds);
    else {
      static_assert(kind == step_kind::while_loop);
      block_loop_step<max_threads, frame_type, while_step, index>::run_while(block, frame);
    }
  }

 private:
  static constexpr std::size_t step_bytes = estimate.step_bytes();
  static constexpr step_kind kind = step.kind;
  static constexpr int index = step.index;

  struct main_places {
    const arguments& a;
    template <std::size_t K> PARALLAX_DEVICE PARALLAX_INLINE std::byte* value() const { return a.operands[K]; }
    template <std::size_t K> PARALLAX_DEVICE PARALLAX_INLINE std::byte* output() const { return a.results[K]; }
  };
};

/// The arguments of a loop's launch.
struct loop_call {
  std::byte* const* operands = nullptr;
  std::byte* const* results = nullptr;
  std::int64_t rounds = 0; ///< of a scan
  plain_span<const std::int32_t> axis_indices;
};

/// Launches loop number `Index` among those of its kind of a program.
template <launch_api Api, class Program, class Step, int Index>
status launch_block_loop(const loop_call& call, const launch_context<Api>& where) {
  using kernel = block_loop<typename loop_program<Program, Step, Index>::type>;
  typename kernel::arguments a{};
  std::copy_n(call.operands, kernel::operand_count, a.operands);
  std::copy_n(call.results, kernel::result_count, a.results);
  a.rounds = call.rounds;
  std::copy(call.axis_indices.begin(), call.axis_indices.end(), a.axis_indices);
  return Api::launch(kernel{}, {1, static_cast<unsigned>(kernel::max_threads), kernel::shared_bytes}, where.stream, a);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
