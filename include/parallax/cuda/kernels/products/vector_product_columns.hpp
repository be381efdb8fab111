// Products of a matrix and a vector in which neighbouring results have neighbouring elements of the matrix.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/products/vector_product_kernel.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

/// Products whose results are neighbours in the matrix: a thread has one result or a vector of them, and threads in
/// other rows of the block have other elements of the same results.
template <element T> struct vector_product_columns : vector_product_kernel<T> {
  using common = vector_product_kernel<T>;
  using typename common::accumulator;
  using typename common::arguments;
  using typename common::R;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    if (a.has_vectors) run_items<common::width>(block, a);
    else run_items<1>(block, a);
  }

 private:
  template <int Width> struct sums {
    accumulator value[std::size_t{Width}] = {};

    PARALLAX_DEVICE PARALLAX_INLINE void add(const sums& more) {
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) value[k] += more.value[k];
    }
  };
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_items(const Block& block, const arguments& a) {
    const vector_product& p = a.product;
    const std::int64_t side = a.group.size, columns = p.results / Width, tiles = (columns + side - 1) / side;
    for (std::int64_t item = block.block(); item < tiles * p.batch * a.pieces; item += block.blocks()) {
      const std::int64_t piece = item / (tiles * p.batch), b = item / tiles % p.batch;
      const std::int64_t column = item % tiles * side + a.group.rank(block);
      sums<Width> total;
      if (column < columns) add<Width>(block, a, piece, b, column * Width, total);
      combine_rows<Width>(block, a.group, total);
      if (a.group.number(block) != 0 || column >= columns) continue;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) common::write(block, a, piece, b, column * Width + k, total.value[k]);
    }
  }
  /// Adds this thread's elements of a piece of the results from `first` on.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add(const Block& block, const arguments& a, std::int64_t piece,
                                                  std::int64_t b, std::int64_t first, sums<Width>& total) {
    const vector_product& p = a.product;
    const T* const matrix = common::find_matrix(block, p, b) + first;
    const T* const vector = common::find_vector(block, p, b);
    const std::int64_t each = (p.depth + a.pieces - 1) / a.pieces, step = a.group.count(block);
    const std::int64_t end = (piece + 1) * each < p.depth ? (piece + 1) * each : p.depth;
    constexpr int together = common::together;
    for (std::int64_t i = piece * each + a.group.number(block); i < end;) {
      const std::int64_t stop = end - i < longest_sum * step ? end : i + longest_sum * step;
      sums<Width> part;
      for (; i + (together - 1) * step < stop; i += together * step)
        add_together<Width, together>(block, matrix + i * p.matrix_depth, vector + i * p.vector_depth,
                                      step * p.matrix_depth, step * p.vector_depth, part);
      for (; i < stop; i += step)
        add_together<Width, 1>(block, matrix + i * p.matrix_depth, vector + i * p.vector_depth, 0, 0, part);
      i = stop;
      total.add(part);
    }
  }
  /// Adds `Count` elements, a step apart: all are loaded before the first is used.
  template <int Width, int Count, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_together(const Block& block, const T* matrix, const T* vector,
                                                           std::int64_t matrix_step, std::int64_t vector_step,
                                                           sums<Width>& part) {
    using loaded = vector_of<T, Width>;
    loaded x[std::size_t{Count}];
    T y[std::size_t{Count}];
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      x[n] = block.load(reinterpret_cast<const loaded*>(matrix + n * matrix_step));
      y[n] = block.load(vector + n * vector_step);
    }
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) part.value[k] += common::multiply(x[n].values[k], y[n]);
    }
  }
  /// Adds up the sums of the block's rows; those of the first row get the total.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine_rows(const Block& block, const thread_group& side,
                                                           sums<Width>& total) {
    auto* const shared = reinterpret_cast<accumulator*>(block.shared());
    for (int rows = static_cast<int>(side.count(block)) / 2; rows > 0; rows /= 2) {
      const int half = rows * side.size, thread = block.thread();
      if (thread >= half && thread < 2 * half)
        for (int k = 0; k < Width; ++k) block.store(shared + (thread - half) * Width + k, total.value[k]);
      block.barrier();
      if (thread < half)
        for (int k = 0; k < Width; ++k) total.value[k] += block.load(shared + thread * Width + k);
      block.barrier();
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
