// A register of lanes: the type in which the host evaluates kernels.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// The size of a vector register of the machine compiled for.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

/// The number of elements that are worked on at once, whatever their type: a register full of floats.
inline constexpr int lanes = register_bytes / static_cast<int>(sizeof(float));

namespace detail {
// Booleans (0 and -1) and bytes take 32 bits, so that they need no conversion when they meet floats. Floating types of
// 16 bits are floats that have been rounded.
template <class T>
using lane_of = std::conditional_t<
    std::is_same_v<T, bool>, std::int32_t,
    std::conditional_t<std::is_same_v<T, std::uint8_t>, std::uint32_t,
                       std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>>>;

template <class Lane, int Count> struct vector_of {
  typedef Lane type __attribute__((vector_size(Count * sizeof(Lane))));
};
/// The compiler's vector type.
template <class Lane, int Count> using vector = typename vector_of<Lane, Count>::type;

template <class T> struct bits_of {
  using type = std::make_unsigned_t<T>;
};
template <> struct bits_of<float> {
  using type = std::uint32_t;
};
template <> struct bits_of<double> {
  using type = std::uint64_t;
};
} // namespace detail

/// `lanes` elements. It lies in one register or, if its elements have 8 bytes, in two: its parts.
template <element T> struct pack {
  using value_type = T;
  using lane_type = detail::lane_of<T>;
  static constexpr int parts = static_cast<int>(sizeof(lane_type)) * lanes / register_bytes;
  static constexpr int part_lanes = lanes / parts;
  using part_type = detail::vector<lane_type, part_lanes>;
  /// A part as unsigned integers, and as the integers that comparisons give.
  using bits_type = detail::vector<typename detail::bits_of<lane_type>::type, part_lanes>;
  using mask_type = detail::vector<std::make_signed_t<typename detail::bits_of<lane_type>::type>, part_lanes>;

  // An array and not vectors, because nvcc rejects vectors in functions that are for the device as well. Compilers keep
  // it in registers as long as it is read and written by parts.
  alignas(register_bytes) lane_type lane[lanes];

  pack() = default;

  /// All lanes hold `value`.
  PARALLAX_HD PARALLAX_INLINE explicit pack(T value) {
    lane_type repeated = static_cast<lane_type>(value);
    if constexpr (std::is_same_v<T, bool>) repeated = -repeated;
#ifdef __CUDACC__
    for (lane_type& each : lane) each = repeated;
#else
    part_type part = fill(repeated, std::make_integer_sequence<int, part_lanes>{});
    set_part<0>(part);
    if constexpr (parts == 2) set_part<1>(part);
#endif
  }

  template <int I> PARALLAX_INLINE part_type part() const {
    part_type result;
    __builtin_memcpy(&result, lane + I * part_lanes, sizeof result);
    return result;
  }

  template <int I> PARALLAX_INLINE void set_part(part_type value) {
    __builtin_memcpy(lane + I * part_lanes, &value, sizeof value);
  }

 private:
  template <int... I> static PARALLAX_INLINE part_type fill(lane_type value, std::integer_sequence<int, I...>) {
    return part_type{(static_cast<void>(I), value)...};
  }
};

/// All lanes hold `value`.
template <element T> PARALLAX_INLINE pack<T> broadcast(T value) { return pack<T>(value); }

namespace detail {

/// Applies `f` to each part of the packs.
template <class R, class F, class... P> PARALLAX_INLINE R by_parts(F f, const P&... x) {
  R result;
  result.template set_part<0>(typename R::part_type(f(x.template part<0>()...)));
  if constexpr (R::parts == 2) result.template set_part<1>(typename R::part_type(f(x.template part<1>()...)));
  return result;
}

/// Applies `f` to each lane of the packs, for functions without a vector instruction.
template <class R, class F, class... P> PARALLAX_INLINE R by_lanes(F f, const P&... x) {
  return by_parts<R>(
      [f](auto... part) {
        typename R::part_type result{};
        for (int i = 0; i < R::part_lanes; ++i) result[i] = f(part[i]...);
        return result;
      },
      x...);
}

#if defined(__AVX512F__)
#define PARALLAX_LOWER_LANES 0, 1, 2, 3, 4, 5, 6, 7
#define PARALLAX_UPPER_LANES 8, 9, 10, 11, 12, 13, 14, 15
#elif defined(__AVX__)
#define PARALLAX_LOWER_LANES 0, 1, 2, 3
#define PARALLAX_UPPER_LANES 4, 5, 6, 7
#else
#define PARALLAX_LOWER_LANES 0, 1
#define PARALLAX_UPPER_LANES 2, 3
#endif

/// The two halves of a part.
template <class T> struct part_halves {
  vector<T, lanes / 2> lower, upper;
};
#if defined(__NVCC__) && __CUDACC_VER_MAJOR__ < 13 // which do not know shuffles; this way leads through memory
template <class T> PARALLAX_INLINE part_halves<T> halves_of(vector<T, lanes> x) {
  return __builtin_bit_cast(part_halves<T>, x);
}
template <class T> PARALLAX_INLINE vector<T, lanes> joined(part_halves<T> x) {
  return __builtin_bit_cast(vector<T, lanes>, x);
}
#else
template <class T> PARALLAX_INLINE part_halves<T> halves_of(vector<T, lanes> x) {
  return {__builtin_shufflevector(x, x, PARALLAX_LOWER_LANES), __builtin_shufflevector(x, x, PARALLAX_UPPER_LANES)};
}
template <class T> PARALLAX_INLINE vector<T, lanes> joined(part_halves<T> x) {
  return __builtin_shufflevector(x.lower, x.upper, PARALLAX_LOWER_LANES, PARALLAX_UPPER_LANES);
}
#endif

#undef PARALLAX_LOWER_LANES
#undef PARALLAX_UPPER_LANES

/// The lanes of `x` converted one by one to the lanes of `R`, as by a C cast.
template <class R, class P> PARALLAX_INLINE R convert_lanes(const P& x) {
  using to = typename R::part_type;
  if constexpr (std::is_same_v<typename R::lane_type, typename P::lane_type>) {
    return by_parts<R>([](auto part) { return part; }, x);
  } else if constexpr (R::parts == P::parts) {
    return by_parts<R>([](auto part) { return __builtin_convertvector(part, to); }, x);
  } else if constexpr (R::parts == 2) {
    const auto halves = halves_of<typename P::lane_type>(x.template part<0>());
    R result;
    result.template set_part<0>(__builtin_convertvector(halves.lower, to));
    result.template set_part<1>(__builtin_convertvector(halves.upper, to));
    return result;
  } else {
    using half = vector<typename R::lane_type, lanes / 2>;
    R result;
    result.template set_part<0>(joined<typename R::lane_type>(
        {__builtin_convertvector(x.template part<0>(), half), __builtin_convertvector(x.template part<1>(), half)}));
    return result;
  }
}

template <class T, int... I> PARALLAX_INLINE pack<T> lane_index(std::integer_sequence<int, I...>) {
  using part = typename pack<T>::part_type;
  constexpr int step = pack<T>::part_lanes;
  pack<T> result;
  result.template set_part<0>(part{static_cast<typename pack<T>::lane_type>(I)...});
  if constexpr (pack<T>::parts == 2)
    result.template set_part<1>(part{static_cast<typename pack<T>::lane_type>(I + step)...});
  return result;
}

} // namespace detail

/// 0, 1, 2, ...: the number of each lane.
template <element T>
  requires(!std::is_same_v<T, bool>)
PARALLAX_INLINE pack<T> lane_index() {
  return detail::lane_index<T>(std::make_integer_sequence<int, pack<T>::part_lanes>{});
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
