// The precision of products.
#pragma once

#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// How products of float32 may be computed: with all bits, or in TF32 on tensor cores. Other types ignore it.
enum class product_precision : unsigned char { full, tensor_float_32 };
constexpr std::string_view name_of(product_precision precision) {
  switch (precision) {
  case product_precision::full: return "full";
  case product_precision::tensor_float_32: return "tf32";
  }
  return "";
}

} // namespace detail

/// A precision as an argument of `dot`, `matmul`, `vdot`, `outer` and `dot_general`: `plx::dot(a, b,
/// plx::precision::tf32)`. It holds for the derivatives too. JAX: the argument precision
template <detail::product_precision Precision> struct precision_t {};

namespace precision {
/// Every bit of float32; the default. JAX: Precision.HIGHEST
inline constexpr precision_t<detail::product_precision::full> highest{};
/// On CUDA devices, operands may be rounded to TF32's 11 significant bits, for many times the speed; products are still
/// summed in float32. The host computes the same as under `highest`. JAX: Precision.DEFAULT on a GPU
inline constexpr precision_t<detail::product_precision::tensor_float_32> tf32{};
} // namespace precision

} // namespace parallax::PARALLAX_INLINE_VERSION
