// A product of a matrix and a vector, or of two vectors, and what its kernels have in common: how they find its
// operands and write its results.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/primitives/arrays/reduction.hpp>

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

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
