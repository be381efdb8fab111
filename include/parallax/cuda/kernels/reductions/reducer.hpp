// The accumulators of reductions: sums and extremes of values, and positions of extremes; and how the threads of a
// block combine theirs.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/primitives/arrays/reduction.hpp>
#include <parallax/program/kernel.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Neighbouring threads that work together; their number is a power of two.
struct thread_group {
  int size, shift;

  constexpr thread_group(int threads)
      : size(threads), shift(static_cast<int>(std::bit_width(static_cast<unsigned>(threads))) - 1) {}
  /// This thread's group in its block, its rank in the group, and the number of groups of a block.
  template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t number(const Block& block) const {
    return thread_of(block) >> shift;
  }
  template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t rank(const Block& block) const {
    return thread_of(block) & (static_cast<std::uint32_t>(size) - 1);
  }
  template <class Block> PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t count(const Block& block) const {
    return threads_of(block) >> shift;
  }
};

namespace detail {
/// The value of the thread whose lane differs from this one's by `mask`.
template <class Block, class T> PARALLAX_DEVICE PARALLAX_INLINE T exchange(const Block& block, T value, int mask) {
  if constexpr (math::floating16_element<T>)
    return T::from_bits(static_cast<std::uint16_t>(block.shuffle_xor(std::uint32_t{value.bits()}, mask)));
  else if constexpr (sizeof(T) < 4) return static_cast<T>(block.shuffle_xor(static_cast<std::uint32_t>(value), mask));
  else return block.shuffle_xor(value, mask);
}
} // namespace detail

/// Sums, and largest and smallest values, of `T`. Accumulators are combined in any order.
template <class P, class T> struct reducer {
  using accumulator = T;
  using result_type = T;

  static PARALLAX_DEVICE PARALLAX_INLINE accumulator neutral() { return P::template neutral<T>(); }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator of(T value, std::int64_t) { return value; }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator combine(accumulator x, accumulator y) { return P::evaluate(x, y); }
  static PARALLAX_DEVICE PARALLAX_INLINE result_type result(accumulator x) { return x; }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator exchange(const Block& block, accumulator x, int mask) {
    return detail::exchange(block, x, mask);
  }
};

/// Positions of extremes. The first one wins among equals, and NaN wins over all numbers.
template <class Reduction, class T>
  requires(std::is_same_v<Reduction, primitives::argmax> || std::is_same_v<Reduction, primitives::argmin>)
struct reducer<Reduction, T> {
  struct accumulator {
    T value;
    std::int32_t position; ///< -1 for none
  };
  using result_type = std::int32_t;

  static PARALLAX_DEVICE PARALLAX_INLINE accumulator neutral() { return accumulator{T{}, -1}; }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator of(T value, std::int64_t position) {
    return accumulator{value, static_cast<std::int32_t>(position)};
  }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator combine(accumulator x, accumulator y) {
    bool first = x.position >= 0 && (y.position < 0 || x.position < y.position);
    // the later one wins only if it is better
    accumulator early = first ? x : y, late = first ? y : x;
    return late.position >= 0 && (early.position < 0 || beats(late.value, early.value)) ? late : early;
  }
  static PARALLAX_DEVICE PARALLAX_INLINE result_type result(accumulator x) { return x.position < 0 ? 0 : x.position; }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator exchange(const Block& block, accumulator x, int mask) {
    T value = detail::exchange(block, x.value, mask);
    return accumulator{value, detail::exchange(block, x.position, mask)};
  }

 private:
  static PARALLAX_DEVICE PARALLAX_INLINE bool beats(T x, T best) {
    constexpr bool largest = std::is_same_v<Reduction, primitives::argmax>;
    if (math::detail::is_nan(best)) return false;
    return math::detail::is_nan(x) || (largest ? x > best : x < best);
  }
};

namespace detail {

/// Combines this thread's accumulator with that of the thread whose lane differs by `mask`. Both threads get the same
/// result.
template <class R, class Block>
PARALLAX_DEVICE PARALLAX_INLINE typename R::accumulator combine_across(const Block& block, typename R::accumulator mine,
                                                                       int mask) {
  const typename R::accumulator other = R::exchange(block, mine, mask);
  if constexpr (requires { R::order_rounds; })
    if ((block.thread() & mask) != 0) return R::combine(other, mine);
  return R::combine(mine, other);
}

/// Combines the accumulators of `group` neighbouring threads, a power of two: of a warp's, or of all threads of the
/// block, which has `group / warp_size` accumulators of shared memory then. Every thread of the group gets the whole.
template <class R, class Block>
PARALLAX_DEVICE PARALLAX_INLINE typename R::accumulator combine_group(const Block& block, typename R::accumulator mine,
                                                                      int group) {
  using accumulator = typename R::accumulator;
  for (int mask = (group < warp_size ? group : warp_size) / 2; mask > 0; mask /= 2)
    mine = combine_across<R>(block, mine, mask);
  if (group <= warp_size) return mine;
  accumulator* of_warps = reinterpret_cast<accumulator*>(block.shared());
  const int lane = block.thread() % warp_size;
  if (lane == 0) block.store(of_warps + block.thread() / warp_size, mine);
  block.barrier();
  mine = lane < group / warp_size ? block.load(of_warps + lane) : R::neutral();
  for (int mask = warp_size / 2; mask > 0; mask /= 2) mine = combine_across<R>(block, mine, mask);
  block.barrier(); // the shared memory may be used again
  return mine;
}

/// The number of a thread's elements that one accumulator takes before it is added to the thread's other ones: rounding
/// errors of sums grow with this number, and with the number of such accumulators.
inline constexpr std::uint32_t longest_sum = 128;

/// Combines the elements of `Width` neighbouring accumulators.
template <class R, int Width>
PARALLAX_DEVICE PARALLAX_INLINE typename R::accumulator
combine_lanes(const lanes<typename R::accumulator, Width>& parts) {
  if constexpr (Width == 1) {
    return parts.value[0];
  } else {
    lanes<typename R::accumulator, Width / 2> halves;
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Width / 2; ++i) halves.value[i] = R::combine(parts.value[i], parts.value[i + Width / 2]);
    return combine_lanes<R, Width / 2>(halves);
  }
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
