// Products that are subtracted from a number, or added to it, with one rounding.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// x - y * z, rounded once if `fuses_products`. Compilers may fuse `x - y * z` too, but need not.
#if defined(__FMA__)
inline constexpr bool fuses_products = true;
template <class Part> PARALLAX_INLINE Part minus_product(Part x, Part y, Part z) {
  [[maybe_unused]] constexpr bool is_single = std::is_same_v<Part, pack<float>::part_type>;
#if defined(__clang__)
  return __builtin_elementwise_fma(y, -z, x);
#elif defined(__AVX512F__)
  constexpr int current_rounding = 4;
  if constexpr (is_single) return __builtin_ia32_vfmaddps512_mask(y, -z, x, static_cast<short>(-1), current_rounding);
  else return __builtin_ia32_vfmaddpd512_mask(y, -z, x, static_cast<unsigned char>(-1), current_rounding);
#else
  if constexpr (is_single) return __builtin_ia32_vfmaddps256(y, -z, x);
  else return __builtin_ia32_vfmaddpd256(y, -z, x);
#endif
}
#else
inline constexpr bool fuses_products = false;
template <class Part> PARALLAX_INLINE Part minus_product(Part x, Part y, Part z) { return x - y * z; }
#endif

/// x + y * z, rounded once if `fuses_products` and the compiler may do so.
template <class Part> PARALLAX_INLINE Part plus_product(Part x, Part y, Part z) {
#if defined(__clang__) && defined(__FMA__)
  return __builtin_elementwise_fma(y, z, x);
#else
  return x + y * z;
#endif
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
