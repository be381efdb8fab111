// Reducing the lanes of a pack to one element.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstddef>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

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

/// Combines lanes i and i ^ Half: of `x` if i & Half is 0, otherwise of `y`.
template <int Half, class Part, class F, int... I>
PARALLAX_INLINE Part combined_halves(Part x, Part y, F f, [[maybe_unused]] std::integer_sequence<int, I...> indices) {
#ifdef __CUDACC__ // cudafe++ loses the expansion in a shuffle
  Part own, other;
  for (int i = 0; i < static_cast<int>(sizeof...(I)); ++i) {
    const Part& from = (i & Half) == 0 ? x : y;
    own[i] = from[i], other[i] = from[i ^ Half];
  }
  return f(own, other);
#else
  constexpr int width = sizeof...(I);
  return f(__builtin_shufflevector(x, y, ((I & Half) == 0 ? I : I + width)...),
           __builtin_shufflevector(x, y, ((I & Half) == 0 ? I + Half : I - Half + width)...));
#endif
}
/// Combines the lanes of each of several parts by `f`, in the order of `combine`: two parts at a time, whose lanes then
/// share one register.
template <class T, int Half, int Count, class Part, std::size_t Rows, class F>
PARALLAX_INLINE void combine_each(Part (&rows)[Rows], F f, T* results) {
  constexpr int width = static_cast<int>(sizeof(Part) / sizeof(rows[0][0]));
  if constexpr (Half == 0) {
    for (int r = 0; r < static_cast<int>(Rows); ++r)
      results[r] = static_cast<T>(rows[0][r * (width / static_cast<int>(Rows))]);
  } else {
    constexpr int pairs = Count > 1 ? Count / 2 : 1, apart = Count > 1 ? pairs : 0;
    PARALLAX_UNROLL(8)
    for (int r = 0; r < pairs; ++r)
      rows[r] = combined_halves<Half>(rows[r], rows[r + apart], f, std::make_integer_sequence<int, width>{});
    combine_each<T, Half / 2, pairs>(rows, f, results);
  }
}

} // namespace detail

/// The best number of packs to reduce at once.
inline constexpr int packs_in_one_go = lanes / 2 < 8 ? lanes / 2 : 8;

/// Combines all lanes by `f`, an associative and commutative function of two packs, always in the same order.
template <element T, class F> PARALLAX_INLINE T reduce(const pack<T>& x, F f) {
  return static_cast<T>(detail::combine<lanes / 2>(x, f).template part<0>()[0]);
}

/// Combines the lanes of each of several packs, as `reduce` does, at once.
template <element T, class F> PARALLAX_INLINE void reduce_each(const pack<T> (&x)[packs_in_one_go], F f, T* results) {
  using part = typename pack<T>::part_type;
  part rows[std::size_t{packs_in_one_go}];
  PARALLAX_UNROLL(8)
  for (int r = 0; r < packs_in_one_go; ++r) {
    if constexpr (pack<T>::parts == 1) rows[r] = x[r].template part<0>();
    else
      rows[r] = f(x[r], detail::exchange<lanes / 2>(x[r], std::make_integer_sequence<int, pack<T>::part_lanes>{}))
                    .template part<0>();
  }
  auto of_parts = [f](part a, part b) PARALLAX_INLINE_LAMBDA {
    pack<T> one, other;
    one.template set_part<0>(a), other.template set_part<0>(b);
    if constexpr (pack<T>::parts == 2) one.template set_part<1>(a), other.template set_part<1>(b);
    return f(one, other).template part<0>();
  };
  detail::combine_each<T, pack<T>::part_lanes / 2, packs_in_one_go>(rows, of_parts, results);
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

namespace detail {

/// Whether a lane of a mask is -1.
template <class M> PARALLAX_INLINE bool has_true(M x) {
#if !defined(__CUDACC__) && defined(__AVX512DQ__)
  if constexpr (sizeof(x[0]) == 4) return __builtin_ia32_cvtd2mask512(x) != 0;
  else return __builtin_ia32_cvtq2mask512(vector<long long, lanes / 2>(x)) != 0;
#elif !defined(__CUDACC__) && defined(__AVX__) && !defined(__AVX512F__)
  return __builtin_ia32_movmskps256(vector<float, lanes>(x)) != 0;
#elif !defined(__CUDACC__) && defined(__SSE2__) && !defined(__AVX512F__)
  return __builtin_ia32_movmskps(vector<float, lanes>(x)) != 0;
#else
  bool result = false;
  for (int i = 0; i < static_cast<int>(sizeof x / sizeof(x[0])); ++i) result |= x[i] != 0;
  return result;
#endif
}

/// Whether `is`, which makes a mask of a part, holds for any lane.
template <element T, class Predicate> PARALLAX_INLINE bool any_lane(const pack<T>& x, Predicate is) {
  using mask = typename pack<T>::mask_type;
  mask any = mask(is(x.template part<0>()));
  if constexpr (pack<T>::parts == 2) any |= mask(is(x.template part<1>()));
  return has_true(any);
}

} // namespace detail

/// Whether any lane is NaN.
template <element T> PARALLAX_INLINE bool has_nan(const pack<T>& x) {
  if constexpr (floating_element<T>) return detail::any_lane(x, [](auto part) { return part != part; });
  else return false;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
