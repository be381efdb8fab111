// Choices among the lanes of two registers.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// a where the mask is -1, b where it is 0, lane by lane of a part.
template <class M, class A> PARALLAX_INLINE A choose(M mask, A a, A b) {
// cudafe++ cannot parse the conditional operator on vectors of a dependent type, and g++ branches for each lane of 64
// bits if these cannot be compared.
#if defined(__CUDACC__) || (defined(__SSE2__) && !defined(__SSE4_1__))
  return A((mask & M(a)) | (~mask & M(b)));
#else
  return mask ? a : b;
#endif
}

/// a > b ? a : b in each lane: b if they are equal or one is NaN.
template <class Part> PARALLAX_INLINE Part larger_of(Part a, Part b) { return choose(a > b, a, b); }
/// a < b ? a : b in each lane: b if they are equal or one is NaN.
template <class Part> PARALLAX_INLINE Part smaller_of(Part a, Part b) { return choose(a < b, a, b); }

// One instruction, which g++ does not find by itself.
#if !defined(__CUDACC__) && defined(__SSE2__)
using float_part = pack<float>::part_type;
using double_part = pack<double>::part_type;
#if defined(__AVX512F__) && defined(__clang__)
PARALLAX_INLINE float_part larger_of(float_part a, float_part b) { return __builtin_ia32_maxps512(a, b, 4); }
PARALLAX_INLINE float_part smaller_of(float_part a, float_part b) { return __builtin_ia32_minps512(a, b, 4); }
PARALLAX_INLINE double_part larger_of(double_part a, double_part b) { return __builtin_ia32_maxpd512(a, b, 4); }
PARALLAX_INLINE double_part smaller_of(double_part a, double_part b) { return __builtin_ia32_minpd512(a, b, 4); }
#elif defined(__AVX512F__)
PARALLAX_INLINE float_part larger_of(float_part a, float_part b) {
  return __builtin_ia32_maxps512_mask(a, b, a, static_cast<short>(-1), 4);
}
PARALLAX_INLINE float_part smaller_of(float_part a, float_part b) {
  return __builtin_ia32_minps512_mask(a, b, a, static_cast<short>(-1), 4);
}
PARALLAX_INLINE double_part larger_of(double_part a, double_part b) {
  return __builtin_ia32_maxpd512_mask(a, b, a, static_cast<unsigned char>(-1), 4);
}
PARALLAX_INLINE double_part smaller_of(double_part a, double_part b) {
  return __builtin_ia32_minpd512_mask(a, b, a, static_cast<unsigned char>(-1), 4);
}
#elif defined(__AVX__)
PARALLAX_INLINE float_part larger_of(float_part a, float_part b) { return __builtin_ia32_maxps256(a, b); }
PARALLAX_INLINE float_part smaller_of(float_part a, float_part b) { return __builtin_ia32_minps256(a, b); }
PARALLAX_INLINE double_part larger_of(double_part a, double_part b) { return __builtin_ia32_maxpd256(a, b); }
PARALLAX_INLINE double_part smaller_of(double_part a, double_part b) { return __builtin_ia32_minpd256(a, b); }
#else
PARALLAX_INLINE float_part larger_of(float_part a, float_part b) { return __builtin_ia32_maxps(a, b); }
PARALLAX_INLINE float_part smaller_of(float_part a, float_part b) { return __builtin_ia32_minps(a, b); }
PARALLAX_INLINE double_part larger_of(double_part a, double_part b) { return __builtin_ia32_maxpd(a, b); }
PARALLAX_INLINE double_part smaller_of(double_part a, double_part b) { return __builtin_ia32_minpd(a, b); }
#endif
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
