// Centred sums (program/centred_sums.hpp) of elements as they come: each part's own largest element or mean is its
// centre until the row's is known.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/centred_sums.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Like `reducer`, but the result depends on a centre too. Accumulators are combined in any order.
template <centred_kind Kind, class T> struct centred_reducer;

/// The sum of exp(x - centre): the largest x so far is the centre so far.
template <class T> struct centred_reducer<centred_kind::exponentials, T> {
  struct accumulator {
    T largest, sum;
  };
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator neutral() { return accumulator{-math::detail::infinity<T>, T{0}}; }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator of(T value, std::int64_t) { return accumulator{value, T{1}}; }
  /// NaN among the elements makes the sum NaN. Infinite ones equal to the centre count, since exp(0) is 1.
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator combine(accumulator x, accumulator y) {
    const bool rises = x.largest < y.largest;
    const T scale = math::exp(x.largest == y.largest ? T{0} : -math::abs(y.largest - x.largest));
    return accumulator{rises ? y.largest : x.largest, rises ? x.sum * scale + y.sum : x.sum + y.sum * scale};
  }
  /// The sum around the row's centre. NaN for infinite elements around an infinite centre, as it is element by element.
  static PARALLAX_DEVICE PARALLAX_INLINE T result(accumulator x, T centre) {
    return x.sum * math::exp(x.largest - centre);
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator exchange(const Block& block, accumulator x, int mask) {
    return accumulator{detail::exchange(block, x.largest, mask), detail::exchange(block, x.sum, mask)};
  }
};

/// The sum of (x - centre)^2, from the sum around the elements' own mean: parts are combined as Chan, Golub and LeVeque
/// do (Updating formulae and a pairwise algorithm for computing sample variances, 1979), so that no digits cancel.
/// Means are relative to one of the elements, so that digits that all elements share cost no digits of a mean.
template <class T> struct centred_reducer<centred_kind::squares, T> {
  struct accumulator {
    T count, origin, mean, squares;
  };
  static constexpr bool order_rounds = true; ///< the results differ in rounding: the order of two accumulators matters
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator neutral() { return accumulator{T{0}, T{0}, T{0}, T{0}}; }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator of(T value, std::int64_t) {
    return accumulator{T{1}, value, T{0}, T{0}};
  }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator combine(accumulator x, accumulator y) {
    const T origin = x.count == T{0} ? y.origin : x.origin;
    const T count = x.count + y.count, share = y.count == T{0} ? T{0} : y.count / count;
    const T step = (y.origin - origin) + (y.mean - x.mean);
    return accumulator{count, origin, x.mean + step * share, x.squares + y.squares + step * (step * (x.count * share))};
  }
  static PARALLAX_DEVICE PARALLAX_INLINE T result(accumulator x, T centre) {
    const T step = (x.origin - centre) + x.mean;
    return x.squares + step * (step * x.count);
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator exchange(const Block& block, accumulator x, int mask) {
    return accumulator{detail::exchange(block, x.count, mask), detail::exchange(block, x.origin, mask),
                       detail::exchange(block, x.mean, mask), detail::exchange(block, x.squares, mask)};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
