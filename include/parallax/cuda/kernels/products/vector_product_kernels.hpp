// The kernels of products of a matrix and a vector, and of two vectors: sums, which read each element of the matrix
// once.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Result r of a batch is the sum over k of matrix[r][k] * vector[k]. Strides in elements.
struct vector_product {
  const void *matrix, *vector, *base;
  void* result;
  void* const* addresses; ///< as a `matrix_product` has them
  bool matrix_is_left = true;
  double scale;
  std::int64_t batch, matrix_batch, vector_batch, result_batch;
  std::int64_t results, depth; ///< of one of the batch
  std::int64_t matrix_result, matrix_depth, vector_depth, result_step;

  explicit vector_product(const matrix_product& p)
      : matrix(p.left),
        vector(p.right),
        base(p.base),
        result(p.result),
        addresses(p.addresses),
        scale(p.scale),
        batch(p.batch),
        matrix_batch(p.left_batch),
        vector_batch(p.right_batch),
        result_batch(p.result_batch),
        results(p.rows),
        depth(p.depth),
        matrix_result(p.left_row),
        matrix_depth(p.left_depth),
        vector_depth(p.right_depth),
        result_step(p.result_pitch()) {
    if (p.columns == 1) return;
    matrix = p.right, vector = p.left;
    matrix_is_left = false;
    matrix_batch = p.right_batch, vector_batch = p.left_batch;
    results = p.columns;
    matrix_result = p.right_column, matrix_depth = p.right_depth;
    vector_depth = p.left_depth;
    result_step = 1;
  }
  PARALLAX_HD std::int64_t all() const { return batch * results; }
};

namespace detail {

/// The common part of the kernels of vector products of elements of type T.
template <element T> struct vector_product_kernel {
  using accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using R = reducer<primitives::reduce_sum, accumulator>;
  static constexpr int width = 16 / static_cast<int>(sizeof(T));
  static constexpr int together = 4; ///< loads of a thread before the first is used
  static constexpr bool barriers = true;
  static constexpr int max_threads = 256;
  static constexpr int min_blocks = 3; ///< with more, there would be no registers for the loads

  struct arguments {
    vector_product product;
    thread_group group;  ///< of each result, or side by side
    std::int64_t pieces; ///< of each sum; if there are several, another kernel adds them up
    void* partial;       ///< accumulators: [piece][result of all]
    bool has_vectors;    ///< whether the matrix is loaded in vectors
  };

  /// The address of operand `which` of matrix number `b` of the batch.
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE T* find(const Block& block, const vector_product& p, int which,
                                                 const void* first, std::int64_t stride, std::int64_t b) {
    T* const origin = static_cast<T*>(const_cast<void*>(first)); // a kernel's argument: loads know that it is global
    if (p.addresses != nullptr) stride = static_cast<T*>(block.load(p.addresses + which * p.batch + b)) - origin, b = 1;
    return origin + b * stride;
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE const T* find_matrix(const Block& block, const vector_product& p,
                                                              std::int64_t b) {
    return find(block, p, p.matrix_is_left ? 0 : 1, p.matrix, p.matrix_batch, b);
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE const T* find_vector(const Block& block, const vector_product& p,
                                                              std::int64_t b) {
    return find(block, p, p.matrix_is_left ? 1 : 0, p.vector, p.vector_batch, b);
  }

  /// Writes the sum of a piece of result `r` of one of the batch.
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const arguments& a, std::int64_t piece,
                                                    std::int64_t b, std::int64_t r, accumulator sum) {
    const vector_product& p = a.product;
    if (a.partial == nullptr) return write_result(block, p, b, r, sum);
    block.store(static_cast<accumulator*>(a.partial) + piece * p.all() + b * p.results + r, sum);
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void write_result(const Block& block, const vector_product& p, std::int64_t b,
                                                           std::int64_t r, accumulator sum) {
    const std::int64_t place = r * p.result_step;
    if (p.base != nullptr) {
      const T* const base = static_cast<const T*>(p.base) + b * p.result_batch;
      sum = static_cast<accumulator>(block.load(base + place)) + static_cast<accumulator>(p.scale) * sum;
    }
    block.store(find(block, p, 2, p.result, p.result_batch, b) + place, static_cast<T>(sum));
  }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator multiply(T x, T y) {
    return static_cast<accumulator>(x) * static_cast<accumulator>(y);
  }
};

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

/// Adds up the pieces of each result: a warp for each.
template <element T> struct vector_product_pieces : vector_product_kernel<T> {
  using common = vector_product_kernel<T>;
  using typename common::accumulator;
  using typename common::arguments;
  using typename common::R;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::int64_t all = a.product.all(), at_once = a.group.count(block);
    const auto* const partial = static_cast<const accumulator*>(a.partial);
    for (std::int64_t first = block.block() * at_once; first < all; first += block.blocks() * at_once) {
      const std::int64_t n = first + a.group.number(block);
      accumulator sum = R::neutral();
      if (n < all)
        for (std::int64_t i = a.group.rank(block); i < a.pieces; i += a.group.size)
          sum += block.load(partial + i * all + n);
      sum = combine_group<R>(block, sum, a.group.size);
      if (n < all && a.group.rank(block) == 0)
        common::write_result(block, a.product, n / a.product.results, n % a.product.results, sum);
    }
  }
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
