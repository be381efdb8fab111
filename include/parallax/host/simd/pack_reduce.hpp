// Reducing the lanes of a pack to one element.
#pragma once

#include <parallax/host/simd/pack_arithmetic.hpp>
#include <parallax/host/simd/registers.hpp>

namespace parallax::host::inline PARALLAX_REGISTERS {

namespace detail {

/// Lane i of the result is lane i ^ Step of x.
template <int Step, class T, int... I>
PARALLAX_INLINE pack<T> exchange(const pack<T>& x, [[maybe_unused]] std::integer_sequence<int, I...> part_lanes) {
  pack<T> result;
#ifdef __CUDACC__ // cudafe++ loses the expansion in a shuffle
  for (int i = 0; i < lanes; ++i) result.lane[i] = x.lane[i ^ Step];
#else
  if constexpr (Step == pack<T>::part_lanes) {
    result.template set_part<0>(x.template part<1>());
    result.template set_part<1>(x.template part<0>());
  } else {
    result = by_parts<pack<T>>([](auto part) { return __builtin_shufflevector(part, part, (I ^ Step)...); }, x);
  }
#endif
  return result;
}

template <int Step, class T, class F> PARALLAX_INLINE pack<T> combine(const pack<T>& x, F f) {
  pack<T> pairs = f(x, exchange<Step>(x, std::make_integer_sequence<int, pack<T>::part_lanes>{}));
  if constexpr (Step == 1) return pairs;
  else return combine<Step / 2>(pairs, f);
}

} // namespace detail

/// Combines all lanes by `f`, an associative and commutative function of two packs, always in the same order.
template <element T, class F> PARALLAX_INLINE T reduce(const pack<T>& x, F f) {
  return static_cast<T>(detail::combine<lanes / 2>(x, f).template part<0>()[0]);
}

/// A bit for each lane, the first one lowest: whether it is true.
PARALLAX_INLINE unsigned bits_of_lanes(const pack<bool>& x) {
  const auto mask = x.template part<0>();
#if !defined(__CUDACC__) && defined(__AVX512DQ__)
  return static_cast<unsigned short>(__builtin_ia32_cvtd2mask512(mask));
#elif !defined(__CUDACC__) && defined(__AVX__) && !defined(__AVX512F__)
  return static_cast<unsigned>(__builtin_ia32_movmskps256(detail::vector<float, lanes>(mask)));
#else
  unsigned bits = 0;
  for (int i = 0; i < lanes; ++i) bits |= mask[i] == 0 ? 0U : 1U << i;
  return bits;
#endif
}

/// Whether any lane is NaN.
template <element T> PARALLAX_INLINE bool has_nan(const pack<T>& x) {
  if constexpr (floating_element<T>) return bits_of_lanes(math::ne(x, x)) != 0;
  else return false;
}

} // namespace parallax::host::inline PARALLAX_REGISTERS
