// Moving only the first lanes of a pack: by instructions of the machine if it has them, otherwise in pieces.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// Copies `count` < 2 * Step elements in pieces of Step, Step / 2, ..., 1, which are moves and not calls.
template <int Step, class T> PARALLAX_INLINE void copy_pieces(T* to, const T* from, int count) {
  int offset = 0;
  if (count & Step) {
    __builtin_memcpy(to, from, Step * sizeof(T));
    offset = Step;
  }
  if constexpr (Step > 1) copy_pieces<Step / 2>(to + offset, from + offset, count);
}

// The masked moves of <immintrin.h>, without the header, which takes longer to compile than all of this. They are for
// elements of 4 and 8 bytes, read as float and double. `First` is the number of the part's first lane.
#if defined(__AVX512F__)
inline constexpr bool has_masked_moves = true, masked_moves_are_cheap = true;

template <class P, int First> PARALLAX_INLINE typename P::part_type masked_load(const void* source, int count) {
  using part_type = typename P::part_type;
  const unsigned mask = ((1U << count) - 1) >> First;
  if constexpr (sizeof(typename P::value_type) == 4)
    return part_type(__builtin_ia32_loadups512_mask(static_cast<const float*>(source) + First, pack<float>::part_type{},
                                                    static_cast<unsigned short>(mask)));
  else
    return part_type(__builtin_ia32_loadupd512_mask(static_cast<const double*>(source) + First,
                                                    pack<double>::part_type{}, static_cast<unsigned char>(mask)));
}

template <class P, int First> PARALLAX_INLINE void masked_store(void* target, typename P::part_type x, int count) {
  const unsigned mask = ((1U << count) - 1) >> First;
  if constexpr (sizeof(typename P::value_type) == 4)
    __builtin_ia32_storeups512_mask(static_cast<float*>(target) + First, pack<float>::part_type(x),
                                    static_cast<unsigned short>(mask));
  else
    __builtin_ia32_storeupd512_mask(static_cast<double*>(target) + First, pack<double>::part_type(x),
                                    static_cast<unsigned char>(mask));
}
#elif defined(__AVX__)
inline constexpr bool has_masked_moves = true, masked_moves_are_cheap = false;

using single_mask = vector<int, 8>;
using double_mask = vector<long long, 4>;

template <int First> PARALLAX_INLINE single_mask first_singles(int count) {
  return single_mask{0, 1, 2, 3, 4, 5, 6, 7} < count - First;
}
template <int First> PARALLAX_INLINE double_mask first_doubles(int count) {
  return double_mask{0, 1, 2, 3} < count - First;
}

template <class P, int First> PARALLAX_INLINE typename P::part_type masked_load(const void* source, int count) {
  using part_type = typename P::part_type;
  if constexpr (sizeof(typename P::value_type) == 4) {
    auto first = reinterpret_cast<const vector<float, 8>*>(static_cast<const float*>(source) + First);
    return part_type(__builtin_ia32_maskloadps256(first, first_singles<First>(count)));
  } else {
    auto first = reinterpret_cast<const vector<double, 4>*>(static_cast<const double*>(source) + First);
    return part_type(__builtin_ia32_maskloadpd256(first, first_doubles<First>(count)));
  }
}

template <class P, int First> PARALLAX_INLINE void masked_store(void* target, typename P::part_type x, int count) {
  if constexpr (sizeof(typename P::value_type) == 4) {
    auto first = reinterpret_cast<vector<float, 8>*>(static_cast<float*>(target) + First);
    __builtin_ia32_maskstoreps256(first, first_singles<First>(count), vector<float, 8>(x));
  } else {
    auto first = reinterpret_cast<vector<double, 4>*>(static_cast<double*>(target) + First);
    __builtin_ia32_maskstorepd256(first, first_doubles<First>(count), vector<double, 4>(x));
  }
}
#else
inline constexpr bool has_masked_moves = false, masked_moves_are_cheap = false;

template <class P, int> typename P::part_type masked_load(const void*, int) = delete;
template <class P, int> void masked_store(void*, typename P::part_type, int) = delete;
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
