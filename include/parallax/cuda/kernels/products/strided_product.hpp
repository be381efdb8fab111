// Matrix products that the library lacks: of integers and booleans, and of operands without a stride of 1.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Any product of elements of type T: a thread for each element of the result, neighbours in a row.
template <element T> struct strided_product {
  using arguments = matrix_product;
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <thread_block Block> static PARALLAX_HD PARALLAX_INLINE void run(const Block& block, const arguments& p) {
    const std::int64_t of_one = p.rows * p.columns, step = block.blocks() * block.threads();
    for (std::int64_t i = block.block() * block.threads() + block.thread(); i < p.batch * of_one; i += step) {
      const std::int64_t batch = i / of_one, row = i % of_one / p.columns, column = i % p.columns;
      auto matrix = [&](int which, const void* first, std::int64_t stride) {
        if (p.addresses != nullptr) return static_cast<T*>(block.load(p.addresses + which * p.batch + batch));
        return static_cast<T*>(const_cast<void*>(first)) + batch * stride;
      };
      const T* left = matrix(0, p.left, p.left_batch) + row * p.left_row;
      const T* right = matrix(1, p.right, p.right_batch) + column * p.right_column;
      using wide = std::conditional_t<math::floating16_element<T>, float, T>;
      wide sum{};
      for (std::int64_t k = 0; k < p.depth; ++k)
        sum = math::add(sum, math::mul(static_cast<wide>(block.load(left + k * p.left_depth)),
                                       static_cast<wide>(block.load(right + k * p.right_depth))));
      block.store(matrix(2, p.result, p.result_batch) + row * p.result_pitch() + column, static_cast<T>(sum));
    }
  }
};

/// Enqueues `product` as a `strided_product`, with the launches of `Api`.
template <launch_api Api> status multiply_strided(const matrix_product& product, typename Api::stream stream) {
  const std::int64_t count = product.batch * product.rows * product.columns;
  if (count == 0) return {};
  auto launched = [&](auto kernel) {
    constexpr int threads = decltype(kernel)::max_threads;
    constexpr std::int64_t most_blocks = 1 << 16; // each thread goes on from there
    const std::int64_t blocks = std::min((count + threads - 1) / threads, most_blocks);
    return Api::launch(kernel, {static_cast<unsigned>(blocks), unsigned(threads), 0}, stream, product);
  };
  // sums and products that wrap have the same bits with and without a sign
  switch (product.type) {
  case element_type::boolean: return launched(strided_product<bool>{});
  case element_type::uint8: return launched(strided_product<std::uint8_t>{});
  case element_type::int32:
  case element_type::uint32: return launched(strided_product<std::uint32_t>{});
  case element_type::int64:
  case element_type::uint64: return launched(strided_product<std::uint64_t>{});
  case element_type::float16: return launched(strided_product<float16>{});
  case element_type::bfloat16: return launched(strided_product<bfloat16>{});
  case element_type::float32: return launched(strided_product<float>{});
  case element_type::float64: return launched(strided_product<double>{});
  }
  return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
