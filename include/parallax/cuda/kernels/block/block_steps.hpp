// The steps of a section as one block runs them, one after another.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/block/block_frame.hpp>
#include <parallax/cuda/kernels/block/block_kernels.hpp>
#include <parallax/cuda/kernels/block/block_nested.hpp>
#include <parallax/cuda/kernels/products/strided_product.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/kernel_arguments.hpp>
#include <parallax/program/section_steps.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The steps of a section, with the buffers of `Frame`. Each step ends before the next one begins.
template <int Threads, class Frame> class block_steps {
  using program = typename Frame::program;
  static constexpr std::size_t count = [] {
    std::size_t number = 0;
    for_each_step(program::plan, Frame::section, [&](const step_record&) { ++number; });
    return number;
  }();
  static constexpr auto all = [] {
    std::array<step_record, count + 1> steps{};
    std::size_t number = 0;
    for_each_step(program::plan, Frame::section, [&](const step_record& step) { steps[number++] = step; });
    return steps;
  }();
  template <std::size_t I> static constexpr step_record step_at = all[I];

 public:
  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const Frame& frame) {
    run_all(block, frame, std::make_index_sequence<count>{});
  }

 private:
  template <class Block, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_all(const Block& block, const Frame& frame,
                                                      std::index_sequence<I...>) {
    (run_one<step_at<I>.kind, step_at<I>.index>(block, frame), ...);
  }
  template <step_kind Kind, int Index, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_one(const Block& block, const Frame& frame) {
    if constexpr (Kind == step_kind::kernel) run_kernel<Index>(block, frame);
    else if constexpr (Kind == step_kind::product) run_product<Index>(block, frame);
    else if constexpr (Kind == step_kind::scan) {
      constexpr std::int64_t rounds = count_of_rounds<Index>;
      block_loop_step<Threads, Frame, scan_step, Index>::run_scan(block, frame, rounds);
    } else if constexpr (Kind == step_kind::while_loop)
      block_loop_step<Threads, Frame, while_step, Index>::run_while(block, frame);
    else {
      static_assert(Kind == step_kind::cond);
      block_branches<Threads, Frame, Index>::run(block, frame);
    }
    block.barrier();
  }
  template <int Index>
  static constexpr std::int64_t count_of_rounds = program::plan.template at<scan_step>(Index).count.number();

  template <int Index> using kernel_at = block_kernel_step<program, Frame::section, Index, Threads>;
  template <int Index, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_kernel(const Block& block, const Frame& frame) {
    using step = kernel_at<Index>;
    constexpr typename step::type::arguments known = step::arguments;
    typename step::type::arguments a = known;
    using loop_type = std::remove_reference_t<decltype(a.loop)>;
    set_addresses<Index>(a.loop, frame, std::make_index_sequence<std::size_t{loop_type::operand_count}>{});
    set_indices<Index>(a.loop, frame, std::make_index_sequence<std::size_t{loop_type::constant_count}>{});
    step::type::run(step_block<Block>{block, frame.shared}, a);
  }
  template <int Index, std::size_t K> struct operand_at {
    static constexpr kernel_step step = program::plan.template at<kernel_step>(Index);
    static constexpr operand_record record = program::plan[step.operands][K];
    static constexpr bool is_index = record.buffer == buffer_id::none;
    static constexpr int buffer = static_cast<int>(record.buffer);
    static constexpr std::int64_t offset = [] {
      if constexpr (is_index) return std::int64_t{0};
      else return record.offset.number() * std::int64_t{static_buffer<program, Frame::section, buffer>::bytes};
    }();
  };
  template <int Index>
  static constexpr std::size_t operand_count = index_of(program::plan.template at<kernel_step>(Index).operands.count);
  template <int Index, class Loop, std::size_t... K>
  static PARALLAX_DEVICE PARALLAX_INLINE void set_addresses(Loop& loop, const Frame& frame, std::index_sequence<K...>) {
    (set_address<Index, K>(loop, frame), ...);
  }
  template <int Index, std::size_t K, class Loop>
  static PARALLAX_DEVICE PARALLAX_INLINE void set_address(Loop& loop, const Frame& frame) {
    if constexpr (K < operand_count<Index>) {
      using operand = operand_at<Index, K>;
      if constexpr (!operand::is_index)
        loop.operands[K].data = frame.template address<operand::buffer>() + operand::offset;
    }
  }
  template <int Index, std::size_t C> struct constant_at {
    static constexpr kernel_constant record = program::plan[program::plan.template at<kernel_step>(Index).constants][C];
    static constexpr bool is_axis_index = record.kind == constant_kind::axis_index;
    static constexpr int axis = static_cast<int>(record.axis);
    static constexpr element_type type = record.type;
  };
  template <int Index, class Loop, std::size_t... C>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  set_indices([[maybe_unused]] Loop& loop, [[maybe_unused]] const Frame& frame, std::index_sequence<C...>) {
    (set_index<Index, C>(loop, frame), ...);
  }
  template <int Index, std::size_t C, class Loop>
  static PARALLAX_DEVICE PARALLAX_INLINE void set_index(Loop& loop, const Frame& frame) {
    using constant = constant_at<Index, C>;
    if constexpr (constant::is_axis_index)
      loop.constants[C] = constant_of(constant::type, std::int64_t{frame.axis_indices[constant::axis]}).bits;
  }

  /// The strides and extents of a product step, without addresses.
  template <int Index> struct product_at {
    static constexpr product_step step = program::plan.template at<product_step>(Index);
    static constexpr int result = static_cast<int>(step.result), left = static_cast<int>(step.left),
                         right = static_cast<int>(step.right);
    using T = typename static_buffer<program, Frame::section, result>::type;
    static constexpr std::int64_t bytes = sizeof(T), left_offset = step.left_offset.number() * bytes,
                                  right_offset = step.right_offset.number() * bytes;
    static constexpr matrix_product arguments = [] {
      std::int64_t batch[max_rank] = {}, left_batch[max_rank] = {}, right_batch[max_rank] = {};
      for (int d = 0; d < step.batch.count; ++d) {
        batch[d] = program::plan[step.batch][index_of(d)].number();
        left_batch[d] = program::plan[step.left_batch][index_of(d)].number();
        right_batch[d] = program::plan[step.right_batch][index_of(d)].number();
      }
      const product_batches merged(step.batch.count, batch, left_batch, right_batch);
      matrix_product p;
      p.batch = merged.extents[0], p.left_batch = merged.left[0], p.right_batch = merged.right[0];
      p.rows = step.rows.number(), p.columns = step.columns.number(), p.depth = step.depth.number();
      p.result_batch = p.rows * p.columns;
      p.left_row = step.left_row.number(), p.left_depth = step.left_depth.number();
      p.right_depth = step.right_depth.number(), p.right_column = step.right_column.number();
      return p;
    }();
  };
  template <int Index, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_product(const Block& block, const Frame& frame) {
    using step = product_at<Index>;
    constexpr matrix_product known = step::arguments;
    matrix_product p = known;
    p.result = frame.template address<step::result>();
    p.left = frame.template address<step::left>() + step::left_offset;
    p.right = frame.template address<step::right>() + step::right_offset;
    strided_product<typename step::T>::run(step_block<Block>{block, frame.shared}, p);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
