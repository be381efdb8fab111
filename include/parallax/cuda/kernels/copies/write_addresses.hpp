// The addresses of the matrices of batched products, for library calls that take matrices at any addresses.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/loop/product_batches.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Writes the addresses of several products in one launch: a thread for each address.
struct write_addresses {
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;

  static constexpr int most_products = 20;
  static constexpr int most_rank = 4; ///< batch dimensions that do not merge

  struct product {
    std::byte* first[3];             ///< of the left matrices, the right ones, the results
    void** addresses;                ///< of all matrices of the first kind, then of the second, then of the third
    std::int64_t extents[most_rank]; ///< the innermost first, and distances in bytes:
    std::int64_t steps[3][most_rank];
    std::uint32_t matrices;
    std::uint32_t begin; ///< the addresses of all products, counted on
  };
  struct arguments {
    int count;
    std::uint32_t all;
    product products[most_products];

    /// Adds the product with these batches.
    void add(const product_batches& batches, std::int64_t element_bytes, std::byte* left, std::byte* right,
             std::byte* result, void** addresses) {
      product& p = products[count++];
      p = {{left, right, result}, addresses, {}, {}, static_cast<std::uint32_t>(batches.all), all};
      const std::int64_t* const strides[] = {batches.left, batches.right, batches.result};
      for (int d = 0; d < most_rank; ++d) {
        p.extents[d] = d < batches.rank ? batches.extents[d] : 1;
        for (int which = 0; which < 3; ++which)
          p.steps[which][d] = d < batches.rank ? strides[which][d] * element_bytes : 0;
      }
      all += 3 * p.matrices;
    }
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::uint32_t step = blocks_of(block) * threads_of(block);
    for (std::uint32_t n = block_of(block) * threads_of(block) + thread_of(block); n < a.all; n += step) {
      int i = 0;
      while (i + 1 < a.count && a.products[i + 1].begin <= n) ++i;
      const product& p = a.products[i];
      const std::uint32_t which = (n - p.begin) / p.matrices;
      std::int64_t rest = (n - p.begin) % p.matrices, distance = 0;
      for (int d = 0; d < most_rank; ++d) {
        distance += rest % p.extents[d] * p.steps[which][d];
        rest /= p.extents[d];
      }
      block.store(p.addresses + (n - p.begin), static_cast<void*>(p.first[which] + distance));
    }
  }

  /// How these products are launched.
  template <launch_api Api> static launch_shape shape(const arguments& a, const launch_context<Api>& where) {
    return {detail::block_count(a.all, max_threads, where), unsigned(max_threads)};
  }
};
static_assert(sizeof(write_addresses::arguments) <= 4096);

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
