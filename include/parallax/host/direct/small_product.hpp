// Products of matrices that are so small that a library's call costs more than the work.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/math/scalar_math.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// The strides of a product's operands, in elements.
struct product_strides {
  std::int64_t left_row, left_depth, right_depth, right_column;
};

namespace detail {

/// The type in which products of elements are summed: 16 bits are rounded once, at the end.
template <class T> using sum_type = std::conditional_t<math::floating16_element<T>, float, T>;

/// `result[i][j]` = the sum over k of `left[i][k] * right[k][j]`, the terms in order; `Columns` numbers in one vector.
/// Rows of the result are `Stride` numbers apart.
template <class T, int Rows, int Columns, int Depth, int Stride = Columns> struct product_by_rows {
  static_assert(std::has_single_bit(static_cast<unsigned>(Columns)));
  using row = vector<T, Columns>;

  static PARALLAX_INLINE void run(const T* left, const T* right, T* result, product_strides s) {
    run_rows(left, right, result, s, std::make_index_sequence<std::size_t{Rows}>{});
  }

 private:
  template <std::size_t... I>
  static PARALLAX_INLINE void run_rows(const T* left, const T* right, T* result, product_strides s,
                                       std::index_sequence<I...>) {
    row rows[std::size_t{Depth}];
    load_rows(rows, right, s, std::make_index_sequence<std::size_t{Depth}>{});
    [[maybe_unused]] const bool done[] = {
        (run_row(left + std::int64_t{I} * s.left_row, rows, result + I * std::size_t{Stride}, s.left_depth,
                 std::make_index_sequence<std::size_t{Depth}>{}),
         true)...};
  }
  template <std::size_t... K>
  static PARALLAX_INLINE void load_rows(row* rows, const T* right, product_strides s, std::index_sequence<K...>) {
    [[maybe_unused]] const bool done[] = {(load_row(rows[K], right + std::int64_t{K} * s.right_depth, s.right_column,
                                                    std::make_index_sequence<std::size_t{Columns}>{}),
                                           true)...};
  }
  /// The result is a reference: g++ warns of vectors wider than a register as results, which differ between machines.
  template <std::size_t... J>
  static PARALLAX_INLINE void load_row(row& result, const T* from, std::int64_t stride, std::index_sequence<J...>) {
    if (stride == 1) __builtin_memcpy(&result, from, sizeof result);
    else result = row{from[std::int64_t{J} * stride]...};
  }
  template <std::size_t... K>
  static PARALLAX_INLINE void run_row(const T* left, const row* rows, T* result, std::int64_t left_depth,
                                      std::index_sequence<K...>) {
    row sum = left[0] * rows[0];
    [[maybe_unused]] const bool done[] = {(K == 0 || (sum += left[std::int64_t{K} * left_depth] * rows[K], true))...};
    __builtin_memcpy(result, &sum, sizeof sum);
  }
};

/// As `product_by_rows`, for any number of columns from 4 on: the first columns in one vector and the last ones in
/// another. Some columns may be computed twice.
template <class T, int Rows, int Columns, int Depth> struct product_by_overlapping_rows {
  static constexpr int first = static_cast<int>(std::bit_floor(static_cast<unsigned>(Columns)));
  static constexpr int rest = static_cast<int>(std::bit_ceil(static_cast<unsigned>(Columns - first)));
  static constexpr int last = rest < 4 ? 4 : rest;

  static PARALLAX_INLINE void run(const T* left, const T* right, T* result, product_strides s) {
    product_by_rows<T, Rows, first, Depth, Columns>::run(left, right, result, s);
    if constexpr (first != Columns)
      product_by_rows<T, Rows, last, Depth, Columns>::run(left, right + (Columns - last) * s.right_column,
                                                          result + (Columns - last), s);
  }
};

/// As `product_by_rows`, but element by element.
template <class T, int Rows, int Columns, int Depth> struct product_by_elements {
  static PARALLAX_INLINE void run(const T* left, const T* right, T* result, product_strides s) {
    run_all(left, right, result, s, std::make_index_sequence<std::size_t{Rows * Columns}>{});
  }

 private:
  template <std::size_t... E>
  static PARALLAX_INLINE void run_all(const T* left, const T* right, T* result, product_strides s,
                                      std::index_sequence<E...>) {
    [[maybe_unused]] const bool done[] = {(result[E] = element(left + std::int64_t{E} / Columns * s.left_row,
                                                               right + std::int64_t{E} % Columns * s.right_column, s,
                                                               std::make_index_sequence<std::size_t{Depth}>{}),
                                           true)...};
  }
  template <std::size_t... K>
  static PARALLAX_INLINE T element(const T* left, const T* right, product_strides s, std::index_sequence<K...>) {
    using sum = sum_type<T>;
    sum total{};
    [[maybe_unused]] const bool done[] = {
        (total = math::add(total, math::mul(static_cast<sum>(left[std::int64_t{K} * s.left_depth]),
                                            static_cast<sum>(right[std::int64_t{K} * s.right_depth]))),
         true)...};
    return static_cast<T>(total);
  }
};

/// As `product_by_elements`, but by loops, for products that are too large to be written out.
template <class T, int Rows, int Columns, int Depth> struct product_by_loops {
  static void run(const T* left, const T* right, T* result, product_strides s) {
    using sum = sum_type<T>;
    for (int i = 0; i < Rows; ++i) {
      sum totals[std::size_t{Columns}] = {};
      for (int k = 0; k < Depth; ++k) {
        const sum factor = static_cast<sum>(left[i * s.left_row + k * s.left_depth]);
        for (int j = 0; j < Columns; ++j)
          totals[j] =
              math::add(totals[j], math::mul(factor, static_cast<sum>(right[k * s.right_depth + j * s.right_column])));
      }
      for (int j = 0; j < Columns; ++j) result[i * Columns + j] = static_cast<T>(totals[j]);
    }
  }
};

/// The most multiply-adds that are written out element by element.
inline constexpr int most_written_out = 128;

template <class T, int Rows, int Columns, int Depth> constexpr auto small_product_of() {
  if constexpr (std::floating_point<T> && Columns >= 4)
    return std::type_identity<product_by_overlapping_rows<T, Rows, Columns, Depth>>{};
  else if constexpr (Rows * Columns * Depth <= most_written_out)
    return std::type_identity<product_by_elements<T, Rows, Columns, Depth>>{};
  else return std::type_identity<product_by_loops<T, Rows, Columns, Depth>>{};
}

} // namespace detail

/// The product of a `Rows` x `Depth` and a `Depth` x `Columns` matrix, row-major.
template <class T, int Rows, int Columns, int Depth>
PARALLAX_INLINE void small_product(const T* left, const T* right, T* result, product_strides strides) {
  decltype(detail::small_product_of<T, Rows, Columns, Depth>())::type::run(left, right, result, strides);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
