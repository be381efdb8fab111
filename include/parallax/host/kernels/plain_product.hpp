// Matrix products without a library, for programs that run alone.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/element_type.hpp>
#include <parallax/host/kernels/product_arguments.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/host/simd/registers.hpp>
#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace parallax::host::inline PARALLAX_REGISTERS {

namespace detail {

/// One matrix of a batch: strides in elements, the result row-major.
template <class T> struct plain_matrices {
  const T* left;
  const T* right;
  T* result;
  const product_arguments& p;

  /// Terms that are added one after another; sums of so many are added to the result, so that rounding errors stay
  /// small.
  static constexpr std::int64_t terms_in_turn = 512;

  void multiply() const {
    if constexpr (std::floating_point<T>) {
      if (p.right_column == 1) return multiply_rows();
    }
    for (std::int64_t i = 0; i < p.rows; ++i)
      for (std::int64_t j = 0; j < p.columns; ++j) result[i * p.columns + j] = element(i, j);
  }

 private:
  using sum = std::conditional_t<math::floating16_element<T>, float, T>;

  T element(std::int64_t i, std::int64_t j) const {
    sum total{};
    for (std::int64_t first = 0; first < p.depth; first += terms_in_turn) {
      sum part{};
      for (std::int64_t k = first; k < std::min(p.depth, first + terms_in_turn); ++k)
        part = math::add(part, math::mul(static_cast<sum>(left[i * p.left_row + k * p.left_depth]),
                                         static_cast<sum>(right[k * p.right_depth + j * p.right_column])));
      total = math::add(total, part);
    }
    return static_cast<T>(total);
  }

  /// The rows of the right operand are contiguous: registers of them are multiplied by numbers of the left one.
  void multiply_rows() const {
    for (std::int64_t j = 0; j < p.columns; j += lanes) {
      const int count = static_cast<int>(std::min<std::int64_t>(lanes, p.columns - j));
      std::int64_t i = 0;
      for (; i + rows_together <= p.rows; i += rows_together) tile<rows_together>(i, j, count);
      for (; i < p.rows; ++i) tile<1>(i, j, count);
    }
  }
  static constexpr int rows_together = 4;
  template <int Rows> void tile(std::int64_t i, std::int64_t j, int count) const {
    pack<T> totals[std::size_t{Rows}];
    for (auto& each : totals) each = broadcast(T{});
    for (std::int64_t first = 0; first < p.depth; first += terms_in_turn) {
      pack<T> parts[std::size_t{Rows}];
      for (auto& each : parts) each = broadcast(T{});
      for (std::int64_t k = first; k < std::min(p.depth, first + terms_in_turn); ++k) {
        const T* const from = right + k * p.right_depth + j;
        const pack<T> row = count == lanes ? load(from) : load(from, count);
        PARALLAX_UNROLL(4)
        for (int r = 0; r < Rows; ++r)
          parts[r] = math::add(parts[r], math::mul(broadcast(left[(i + r) * p.left_row + k * p.left_depth]), row));
      }
      for (int r = 0; r < Rows; ++r) totals[r] = math::add(totals[r], parts[r]);
    }
    for (int r = 0; r < Rows; ++r) {
      T* const to = result + (i + r) * p.columns + j;
      if (count == lanes) store(to, totals[r]);
      else store(to, totals[r], count);
    }
  }
};

template <class T> void plain_product(const product_arguments& p) {
  std::int64_t count = 1;
  for (int d = 0; d < p.batch_rank; ++d) count *= p.batch[d];
  for (std::int64_t number = 0; number < count; ++number) {
    std::int64_t left = 0, right = 0, rest = number;
    for (int d = p.batch_rank; d-- > 0;) {
      left += rest % p.batch[d] * p.left_batch[d];
      right += rest % p.batch[d] * p.right_batch[d];
      rest /= p.batch[d];
    }
    plain_matrices<T>{static_cast<const T*>(p.left) + left, static_cast<const T*>(p.right) + right,
                      static_cast<T*>(p.result) + number * p.rows * p.columns, p}
        .multiply();
  }
}

} // namespace detail

/// Runs a product of elements of type `T`.
template <class T> void run_plain_product(const product_arguments& p) { detail::plain_product<T>(p); }

} // namespace parallax::host::inline PARALLAX_REGISTERS
