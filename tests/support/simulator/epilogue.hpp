// What products do to their results, by plain loops.
#pragma once

#include "support/simulator/recorder.hpp"

#include <parallax/cuda/api/api.hpp>
#include <parallax/math/scalar_math.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator {

using parallax::cuda::matrix_product;
using parallax::detail::product_activation;

/// Bytes of a row of signs.
inline std::size_t sign_bytes(std::int64_t columns) { return static_cast<std::size_t>((columns + 127) / 128 * 16); }

namespace detail {

template <class T> T activated(product_activation how, T x, const T* kept, bool sign) {
  switch (how) {
  case product_activation::identity: return x;
  case product_activation::relu: return parallax::math::relu(x);
  case product_activation::gelu: return parallax::math::gelu(x);
  case product_activation::relu_gradient: return sign ? x : T{};
  case product_activation::gelu_gradient: return T(x * parallax::math::gelu_derivative(*kept));
  }
  return x;
}

/// The sums of the rows of a contiguous matrix.
template <class T> void sum_rows(const T* matrix, std::int64_t rows, std::int64_t columns, T* sums) {
  for (std::int64_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += static_cast<double>(matrix[i * columns + j]);
    sums[j] = static_cast<T>(sum);
  }
}

} // namespace detail

/// Applies a product's epilogue to its result, which is there already. Faults where it breaks the seam's rules.
template <class T> void apply_epilogue(const matrix_product& p, recorder& log) {
  const auto& e = p.epilogue;
  using enum product_activation;
  const bool of_relu = e.activation == relu || e.activation == relu_gradient;
  const bool is_gradient = e.activation == relu_gradient || e.activation == gelu_gradient;
  if (p.batch != 1) fail(name_of(log.who()), ": an epilogue of a batch");
  if (e.auxiliary != nullptr && !of_relu && p.columns % 8 != 0)
    fail(name_of(log.who()), ": an auxiliary matrix whose rows are no multiple of 8");
  if (is_gradient && e.auxiliary == nullptr) fail(name_of(log.who()), ": a gradient without its auxiliary matrix");
  if (p.depth == 1 && (is_gradient || e.bias_gradient != nullptr))
    fail(name_of(log.who()), ": a gradient's epilogue of a product of depth 1");
  const auto columns = static_cast<std::size_t>(p.columns), count = static_cast<std::size_t>(p.rows) * columns;
  const std::size_t auxiliary_bytes = e.auxiliary == nullptr ? 0
                                      : of_relu              ? static_cast<std::size_t>(p.rows) * sign_bytes(p.columns)
                                                             : count * sizeof(T);
  if (e.bias != nullptr) log.read(e.bias, columns * sizeof(T));
  if (is_gradient) log.read(e.auxiliary, auxiliary_bytes);
  else if (auxiliary_bytes > 0) log.write(e.auxiliary, auxiliary_bytes);
  if (e.bias_gradient != nullptr) log.write(e.bias_gradient, columns * sizeof(T));

  T* const result = static_cast<T*>(p.result);
  const T* const bias = static_cast<const T*>(e.bias);
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      T& x = result[i * p.columns + j];
      if (bias != nullptr) x = static_cast<T>(x + bias[j]);
      T* const kept = of_relu || e.auxiliary == nullptr ? nullptr : static_cast<T*>(e.auxiliary) + i * p.columns + j;
      bool sign = false;
      if (of_relu && e.auxiliary != nullptr) {
        std::byte& bits = static_cast<std::byte*>(
            e.auxiliary)[static_cast<std::size_t>(i) * sign_bytes(p.columns) + static_cast<std::size_t>(j / 8)];
        const std::byte bit{static_cast<unsigned char>(1U << (j % 8))};
        if (!is_gradient) bits = x > T{} ? bits | bit : bits & ~bit;
        sign = (bits & bit) != std::byte{};
      } else if (kept != nullptr && !is_gradient) {
        *kept = x;
      }
      x = detail::activated<T>(e.activation, x, kept, sign);
    }
  if (e.bias_gradient == nullptr) return;
  if (!e.sums_right) return detail::sum_rows(result, p.rows, p.columns, static_cast<T*>(e.bias_gradient));
  if (p.columns != 1 && (p.right_column != 1 || p.right_depth != p.columns))
    fail(name_of(log.who()), ": sums of a transposed operand");
  detail::sum_rows(static_cast<const T*>(p.right), p.depth, p.columns, static_cast<T*>(e.bias_gradient));
}

} // namespace simulator
