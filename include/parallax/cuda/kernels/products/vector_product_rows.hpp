// Products of a matrix and a vector in which each result has contiguous elements of the matrix, or is the only one.
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

/// Products with contiguous elements for a result, or with one result: neighbouring threads share it.
template <element T> struct vector_product_rows : vector_product_kernel<T> {
  using common = vector_product_kernel<T>;
  using typename common::accumulator;
  using typename common::arguments;
  using typename common::R;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const vector_product& p = a.product;
    const std::int64_t at_once = a.group.count(block), blocks = (p.all() + at_once - 1) / at_once;
    for (std::int64_t item = block.block(); item < blocks * a.pieces; item += block.blocks()) {
      const std::int64_t piece = item / blocks, n = item % blocks * at_once + a.group.number(block);
      const std::int64_t b = n / p.results, r = n % p.results;
      accumulator sum = R::neutral();
      if (n < p.all()) {
        const T* const row = common::find_matrix(block, p, b) + r * p.matrix_result;
        const T* const vector = common::find_vector(block, p, b);
        std::int64_t done = 0;
        if (a.has_vectors) {
          add<common::width>(block, a, row, vector, piece, p.depth / common::width, sum);
          done = p.depth / common::width * common::width;
        }
        add<1>(block, a, row + done * p.matrix_depth, vector + done * p.vector_depth, piece, p.depth - done, sum);
      }
      sum = combine_group<R>(block, sum, a.group.size);
      if (n < p.all() && a.group.rank(block) == 0) common::write(block, a, piece, b, r, sum);
    }
  }

 private:
  /// Adds this thread's share of a piece of `count` vectors, or elements, of a row.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add(const Block& block, const arguments& a, const T* row, const T* vector,
                                                  std::int64_t piece, std::int64_t count, accumulator& sum) {
    const std::int64_t row_step = Width > 1 ? Width : a.product.matrix_depth;
    const std::int64_t vector_step = Width > 1 ? Width : a.product.vector_depth;
    const std::int64_t each = (count + a.pieces - 1) / a.pieces, step = a.group.size;
    const std::int64_t end = (piece + 1) * each < count ? (piece + 1) * each : count;
    constexpr int together = common::together;
    accumulator parts[std::size_t{together}] = {};
    std::int64_t i = piece * each + a.group.rank(block);
    for (; i + (together - 1) * step < end; i += together * step)
      add_together<Width, together>(block, row + i * row_step, vector + i * vector_step, step * row_step,
                                    step * vector_step, parts);
    for (; i < end; i += step) add_together<Width, 1>(block, row + i * row_step, vector + i * vector_step, 0, 0, parts);
    sum += (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
  /// Adds `Count` products, a step apart: all are loaded before the first is used.
  template <int Width, int Count, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_together(const Block& block, const T* row, const T* vector,
                                                           std::int64_t row_step, std::int64_t vector_step,
                                                           accumulator* parts) {
    using loaded = vector_of<T, Width>;
    loaded x[std::size_t{Count}], y[std::size_t{Count}];
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      x[n] = block.load(reinterpret_cast<const loaded*>(row + n * row_step));
      y[n] = block.load(reinterpret_cast<const loaded*>(vector + n * vector_step));
    }
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      accumulator part = R::neutral();
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) part += common::multiply(x[n].values[k], y[n].values[k]);
      parts[n] += part;
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
