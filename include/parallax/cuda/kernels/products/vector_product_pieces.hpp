// The results of products of a matrix and a vector whose sums were cut into pieces.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/products/vector_product_kernel.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

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

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
