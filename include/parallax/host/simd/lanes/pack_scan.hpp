// Combining each lane of a pack with those before it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// Moves lanes by `Step` towards the last one, or, if `Down`, towards the first. Lanes of `fill` come in at the other
/// end.
template <int Step, bool Down, class T, int... I>
PARALLAX_INLINE pack<T> shifted(const pack<T>& x, const pack<T>& fill,
                                [[maybe_unused]] std::integer_sequence<int, I...> part_lanes) {
  pack<T> result;
#ifdef __CUDACC__ // cudafe++ loses the expansion in a shuffle
  for (int i = 0; i < lanes; ++i) {
    const int from = Down ? i + Step : i - Step;
    result.lane[i] = from >= 0 && from < lanes ? x.lane[from] : fill.lane[i];
  }
#else
  constexpr int count = pack<T>::part_lanes;
  constexpr bool whole_part = Step == count;
  const auto first = x.template part<0>(), other = fill.template part<0>();
  if constexpr (pack<T>::parts == 1) {
    if constexpr (Down) result.template set_part<0>(__builtin_shufflevector(first, other, (I + Step)...));
    else result.template set_part<0>(__builtin_shufflevector(other, first, (count - Step + I)...));
  } else {
    const auto second = x.template part<1>();
    if constexpr (whole_part) {
      result.template set_part<0>(Down ? second : other);
      result.template set_part<1>(Down ? other : first);
    } else if constexpr (Down) {
      result.template set_part<0>(__builtin_shufflevector(first, second, (I + Step)...));
      result.template set_part<1>(__builtin_shufflevector(second, other, (I + Step)...));
    } else {
      result.template set_part<0>(__builtin_shufflevector(other, first, (count - Step + I)...));
      result.template set_part<1>(__builtin_shufflevector(first, second, (count - Step + I)...));
    }
  }
#endif
  return result;
}

template <bool Down, int Step, class T, class F>
PARALLAX_INLINE pack<T> scan_from(const pack<T>& x, const pack<T>& neutral, F f) {
  if constexpr (Step == lanes) return x;
  else
    return scan_from<Down, 2 * Step>(
        f(shifted<Step, Down>(x, neutral, std::make_integer_sequence<int, pack<T>::part_lanes>{}), x), neutral, f);
}

} // namespace detail

/// f(...f(x[0], x[1])..., x[i]) for each lane i, f being associative; if `Reverse`, from the last lane on. `neutral`
/// changes nothing as the first operand.
template <bool Reverse, element T, class F>
PARALLAX_INLINE pack<T> inclusive_scan(const pack<T>& x, const pack<T>& neutral, F f) {
  return detail::scan_from<Reverse, 1>(x, neutral, f);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
