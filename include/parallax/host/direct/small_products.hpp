// Batches of small products.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/direct/small_product.hpp>
#include <parallax/host/kernels/products/product_arguments.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Runs a product of matrices whose sizes are known while compiling. `strides_of(p)` gives their strides, as constants
/// if they are known too.
template <class T, int Rows, int Columns, int Depth, class Work, class Strides>
void run_small_products(const product_arguments& p, Strides strides_of) {
  std::int64_t count = 1;
  for (int d = 0; d < p.batch_rank; ++d) count *= p.batch[d];
  auto some = [&](std::int64_t begin, std::int64_t end) {
    const T* const left = static_cast<const T*>(p.left);
    const T* const right = static_cast<const T*>(p.right);
    T* result = static_cast<T*>(p.result) + begin * (Rows * Columns);
    // along the innermost dimension of the batch, operands are a constant distance apart
    const std::int64_t inner = p.batch_rank > 0 ? p.batch[p.batch_rank - 1] : 1;
    const std::int64_t left_step = p.batch_rank > 0 ? p.left_batch[p.batch_rank - 1] : 0;
    const std::int64_t right_step = p.batch_rank > 0 ? p.right_batch[p.batch_rank - 1] : 0;
    for (std::int64_t number = begin; number < end;) {
      std::int64_t left_offset = number % inner * left_step, right_offset = number % inner * right_step;
      std::int64_t rest = number / inner;
      for (int d = p.batch_rank - 1; d-- > 0;) {
        left_offset += rest % p.batch[d] * p.left_batch[d];
        right_offset += rest % p.batch[d] * p.right_batch[d];
        rest /= p.batch[d];
      }
      const std::int64_t stop = number - number % inner + inner;
      for (; number < stop && number < end; ++number) {
        small_product<T, Rows, Columns, Depth>(left + left_offset, right + right_offset, result, strides_of(p));
        left_offset += left_step;
        right_offset += right_step;
        result += Rows * Columns;
      }
    }
  };
  constexpr std::int64_t work = Rows * Columns * Depth, worth_a_thread = 1 << 18; // multiply-adds
  if (count * work < 2 * worth_a_thread) some(0, count);
  else Work::parallel_for(count, worth_a_thread / work + 1, some);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
