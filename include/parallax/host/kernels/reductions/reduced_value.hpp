// The values in which a reduction gathers elements.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/program/kernel.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// Whether P finds the largest or smallest of numbers that may be NaN; NaN wins.
template <class P, class T>
inline constexpr bool is_extreme_of_numbers =
    (std::is_same_v<T, float> || std::is_same_v<T, double>) &&
    (std::is_same_v<P, primitives::reduce_max> || std::is_same_v<P, primitives::reduce_min>);

/// The larger or smaller one, by one instruction; y if either is NaN.
template <class P, class T> PARALLAX_INLINE pack<T> extreme_or_second(const pack<T>& x, const pack<T>& y) {
  return by_parts<pack<T>>(
      [](auto a, auto b) {
        if constexpr (std::is_same_v<P, primitives::reduce_max>) return larger_of(a, b);
        else return smaller_of(a, b);
      },
      x, y);
}

/// The number of registers of elements that are combined side by side, so that none waits for another. The longer a
/// kernel is, the less a wait matters; and each copy of its statements has to be compiled.
template <class Kernel> inline constexpr int independent_sums = Kernel::size <= 12 ? 4 : Kernel::size <= 24 ? 2 : 1;

/// The combination by P of the elements so far.
template <class P, class T, bool Quick = false> struct reduced_value {
  pack<T> total = broadcast(P::template neutral<T>());

  PARALLAX_INLINE void add(const pack<T>& x) { total = P::evaluate(total, x); }
  PARALLAX_INLINE void join(const reduced_value& others) { add(others.total); }
  PARALLAX_INLINE pack<T> result() const { return total; }
};

/// An extreme that does not test each number for NaN: the sum of the numbers shows whether there was one. The sum is
/// also NaN for infinities of both signs, so that a result of NaN may be wrong and has to be computed again.
template <class P, class T>
  requires is_extreme_of_numbers<P, T>
struct reduced_value<P, T, true> {
  pack<T> total = broadcast(P::template neutral<T>()), sum = broadcast(T{0});

  PARALLAX_INLINE void add(const pack<T>& x) {
    total = extreme_or_second<P>(x, total);
    sum = math::add(sum, x);
  }
  PARALLAX_INLINE void join(const reduced_value& others) {
    total = extreme_or_second<P>(others.total, total);
    sum = math::add(sum, others.sum);
  }
  PARALLAX_INLINE pack<T> result() const {
    return math::select(math::eq(sum, sum), total, broadcast(std::numeric_limits<T>::quiet_NaN()));
  }
};

/// The combination by P of all elements of `partial`, in pairs.
template <class P, class T, bool Quick, std::size_t Count>
PARALLAX_INLINE pack<T> joined(reduced_value<P, T, Quick> (&partial)[Count]) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  if constexpr (Count >= 2) partial[0].join(partial[1]);
  if constexpr (Count == 4) partial[2].join(partial[3]), partial[0].join(partial[2]);
  return partial[0].result();
}

/// All lanes of `x` combined by P, always in the same order.
template <class P, class T> PARALLAX_INLINE T reduce_lanes(const pack<T>& x) {
  if constexpr (is_extreme_of_numbers<P, T>) {
    const T found = host::reduce(x, [](const pack<T>& a, const pack<T>& b) { return extreme_or_second<P>(a, b); });
    return has_nan(x) ? std::numeric_limits<T>::quiet_NaN() : found;
  } else {
    return host::reduce(x, [](const pack<T>& a, const pack<T>& b) { return P::evaluate(a, b); });
  }
}

/// The lanes of each of several packs, combined as by `reduce_lanes`.
template <class P, class T> PARALLAX_INLINE void reduce_lanes_of_each(const pack<T> (&x)[packs_in_one_go], T* results) {
  if constexpr (is_extreme_of_numbers<P, T>) {
    pack<T> sum = x[0];
    for (int r = 1; r < packs_in_one_go; ++r) sum = math::add(sum, x[r]);
    if (has_nan(sum)) { // or infinities of both signs
      for (int r = 0; r < packs_in_one_go; ++r) results[r] = reduce_lanes<P>(x[r]);
    } else {
      reduce_each(x, [](const pack<T>& a, const pack<T>& b) { return extreme_or_second<P>(a, b); }, results);
    }
  } else {
    reduce_each(x, [](const pack<T>& a, const pack<T>& b) { return P::evaluate(a, b); }, results);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
