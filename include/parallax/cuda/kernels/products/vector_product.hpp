// Products of a matrix and a vector, and of two vectors, without a library.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/products/vector_product_columns.hpp>
#include <parallax/cuda/kernels/products/vector_product_kernel.hpp>
#include <parallax/cuda/kernels/products/vector_product_pieces.hpp>
#include <parallax/cuda/kernels/products/vector_product_rows.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Whether a product is computed here: of a floating type, of one row or one column, and without an epilogue other than
/// a base.
inline bool is_vector_product(const matrix_product& p) {
  return is_inexact(p.type) && (p.rows == 1 || p.columns == 1) && p.depth > 0 && p.epilogue.is_plain();
}

namespace detail {

/// The launches of a vector product.
template <launch_api Api, element T> class vector_product_launch {
 public:
  vector_product_launch(const matrix_product& given, const launch_context<Api>& context) : p(given), where(context) {}

  status run() {
    if (p.all() == 0) return {};
    return p.results > 1 && p.matrix_depth != 1 ? run_columns() : run_rows();
  }

 private:
  using common = vector_product_kernel<T>;
  using accumulator = typename common::accumulator;
  static constexpr int width = common::width;
  /// The loads of a thread below which sums are not cut: pieces cost another launch.
  static constexpr int least_share = 16;

  vector_product p;
  const launch_context<Api>& where;

  std::int64_t target_threads() const { return std::int64_t{where.properties->multiprocessors} * 2048; }

  /// Whether all matrices begin at aligned vectors, given the first address and the strides.
  static bool is_aligned(const void* first, std::int64_t batch_stride, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(first) % 16 == 0 && batch_stride % width == 0 && stride % width == 0;
  }
  /// The number of pieces of each sum: the wanted number, if there is room for it.
  std::int64_t pieces(std::int64_t wanted) const {
    const std::int64_t room = static_cast<std::int64_t>(where.scratch_bytes / sizeof(accumulator)) / p.all();
    return std::max<std::int64_t>(std::min(wanted, room), 1);
  }

  status run_rows() {
    const bool vectors = p.matrix_depth == 1 && p.vector_depth == 1 && p.depth >= width &&
                         is_aligned(p.matrix, p.batch > 1 ? p.matrix_batch : 0, p.results > 1 ? p.matrix_result : 0) &&
                         is_aligned(p.vector, p.batch > 1 ? p.vector_batch : 0, 0);
    const std::int64_t work = vectors ? p.depth / width : p.depth;
    int group = power_of_two(work, warp_size);
    while (group < common::max_threads &&
           (work >= 16 * group || (work >= 2 * group && p.all() * group < target_threads())))
      group *= 2;
    typename common::arguments a{p, group,
                                 pieces(std::min(target_threads() / (p.all() * group), work / (least_share * group))),
                                 nullptr, vectors};
    const bool of_block = group > warp_size; // a whole block shares a result if a warp is not enough
    const int threads = of_block ? group : common::max_threads, at_once = threads / group;
    const std::size_t shared = of_block ? index_of(group / warp_size) * sizeof(accumulator) : 0;
    return launch(vector_product_rows<T>{},
                  {block_count((p.all() + at_once - 1) / at_once * a.pieces, 1, where), unsigned(threads), shared}, a);
  }
  status run_columns() {
    const bool vectors =
        p.results % width == 0 && is_aligned(p.matrix, p.batch > 1 ? p.matrix_batch : 0, p.matrix_depth);
    const std::int64_t columns = vectors ? p.results / width : p.results;
    const int side = power_of_two(columns, warp_size), rows = common::max_threads / side;
    const std::int64_t threads = p.batch * columns * rows;
    typename common::arguments a{p, side, pieces(std::min(target_threads() / threads, p.depth / (least_share * rows))),
                                 nullptr, vectors};
    const std::size_t shared = index_of(common::max_threads / 2 * (vectors ? width : 1)) * sizeof(accumulator);
    const std::int64_t items = (columns + side - 1) / side * p.batch * a.pieces;
    return launch(vector_product_columns<T>{}, {block_count(items, 1, where), unsigned(common::max_threads), shared},
                  a);
  }
  template <class K> status launch(K kernel, const launch_shape& shape, typename common::arguments& a) const {
    if (a.pieces > 1) a.partial = where.scratch;
    const status first = Api::launch(kernel, shape, where.stream, a);
    if (!first.ok() || a.pieces == 1) return first;
    a.group = warp_size;
    constexpr int at_once = common::max_threads / warp_size;
    return Api::launch(vector_product_pieces<T>{}, {block_count(p.all(), at_once, where), common::max_threads, 0},
                       where.stream, a);
  }
};

} // namespace detail

/// Enqueues a product for which `is_vector_product` holds. The order of its sums depends on its shape, its alignment
/// and the device's size alone.
template <launch_api Api> status multiply_vector(const matrix_product& p, const launch_context<Api>& where) {
  switch (p.type) {
  case element_type::float16: return detail::vector_product_launch<Api, float16>(p, where).run();
  case element_type::bfloat16: return detail::vector_product_launch<Api, bfloat16>(p, where).run();
  case element_type::float32: return detail::vector_product_launch<Api, float>(p, where).run();
  case element_type::float64: return detail::vector_product_launch<Api, double>(p, where).run();
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  }
  return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
