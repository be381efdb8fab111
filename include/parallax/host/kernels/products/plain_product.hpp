// Matrix products without a library, for programs that run alone.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/products/product_arguments.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

template <int I, class T> struct row_sum {
  pack<T> value = broadcast(T{});
};
/// A register for each of some rows: members of their own, since compilers keep arrays in memory.
template <class T, class Indices> struct row_sums;
template <class T, int... I> struct row_sums<T, std::integer_sequence<int, I...>> : row_sum<I, T>... {
  /// Adds to each sum a row times a factor of its own.
  PARALLAX_INLINE void add(const T* factors, std::int64_t step, const pack<T>& row) {
    ((row_sum<I, T>::value = math::add(row_sum<I, T>::value, math::mul(broadcast(factors[I * step]), row))), ...);
  }
  PARALLAX_INLINE void join(const row_sums& others) {
    ((row_sum<I, T>::value = math::add(row_sum<I, T>::value, static_cast<const row_sum<I, T>&>(others).value)), ...);
  }
  template <bool Whole> PARALLAX_INLINE void store_to(T* to, std::int64_t step, int count) const {
    if constexpr (Whole) (store(to + I * step, row_sum<I, T>::value), ...);
    else (store(to + I * step, row_sum<I, T>::value, count), ...);
  }
};

/// One matrix of a batch: strides in elements, the result row-major.
template <class T> struct plain_matrices {
  const T* left;
  const T* right;
  T* result;
  const product_arguments& p;

  /// The most terms that are added one after another. Such sums are then added to the result, so that rounding errors
  /// stay small.
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
      for (; i + 8 <= p.rows; i += 8) tile<8>(i, j, count);
      for (; i + 4 <= p.rows; i += 4) tile<4>(i, j, count);
      for (; i < p.rows; ++i) tile<1>(i, j, count);
    }
  }
  template <int Rows> void tile(std::int64_t i, std::int64_t j, int count) const {
    if (count == lanes) tile_of<Rows, true>(i, j, count);
    else tile_of<Rows, false>(i, j, count);
  }
  template <int Rows, bool Whole> PARALLAX_INLINE void tile_of(std::int64_t i, std::int64_t j, int count) const {
    using sums = row_sums<T, std::make_integer_sequence<int, Rows>>;
    sums totals = terms<sums, Whole>(i, j, count, 0);
    for (std::int64_t first = terms_in_turn; first < p.depth; first += terms_in_turn)
      totals.join(terms<sums, Whole>(i, j, count, first));
    totals.template store_to<Whole>(result + i * p.columns + j, p.columns, count);
  }
  /// Sums of the terms from `first` on that are added one after another.
  template <class Sums, bool Whole>
  PARALLAX_INLINE Sums terms(std::int64_t i, std::int64_t j, int count, std::int64_t first) const {
    Sums added;
    if (p.depth == 0) return added; // operands may have no memory
    const std::int64_t row_step = p.left_row, left_step = p.left_depth, right_step = p.right_depth;
    const T* factors = left + i * row_step + first * left_step;
    const T* row = right + first * right_step + j;
    for (std::int64_t k = std::min(p.depth - first, terms_in_turn); k > 0; --k) {
      if constexpr (Whole) added.add(factors, row_step, load(row));
      else added.add(factors, row_step, load(row, count));
      factors += left_step, row += right_step;
    }
    return added;
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

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
