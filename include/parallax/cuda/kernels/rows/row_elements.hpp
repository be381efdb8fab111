// The elements of a row in its passes: in a thread's registers, in the operands' memory, or in the block's shared
// memory.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/names.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// A statement's values for the vectors that a thread holds, if they are kept from pass to pass.
template <int I, class T, int Width, int Vectors, bool Kept> struct kept_value {
  lanes<T, Width> vectors[std::size_t{Vectors}];
};
template <int I, class T, int Width, int Vectors> struct kept_value<I, T, Width, Vectors, false> {};

template <int I, class T, int Width, int Vectors>
PARALLAX_DEVICE PARALLAX_INLINE lanes<T, Width>* kept_at(kept_value<I, T, Width, Vectors, true>& kept) {
  return kept.vectors;
}

} // namespace detail

/// Elements that every pass loads from the operands' memory.
struct elements_in_memory {
  template <int I, int Pass, class Block, class Loop, class Place, class Transfer>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p, Transfer& to) const {
    to.load(block, l, p);
  }
  template <int I, int Pass, class Block, class Place, class Transfer>
  PARALLAX_DEVICE PARALLAX_INLINE void hold(const Block&, const Place&, const Transfer&) const {}
};

/// Elements that several passes need: the first pass loads them from the operands' memory and keeps them in the block's
/// shared memory for the others. Each thread reads only elements that it has kept itself.
template <class Passes> struct elements_in_shared_memory {
  std::byte* first;       ///< aligned to 16 bytes
  std::uint32_t capacity; ///< elements of each operand, a multiple of 16
  std::int32_t origin;    ///< where along the row the first one is; where vectors begin it is a multiple of them away

  template <int I, int Pass, class Block, class Loop, class Place, class Transfer>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p, Transfer& to) const {
    if constexpr (Passes::template is_held<I> && Passes::template first_pass<I> < Pass)
      to.take(block.load(static_cast<const decltype(to.elements())*>(at<I, decltype(to.elements())>(p))));
    else to.load(block, l, p);
  }
  template <int I, int Pass, class Block, class Place, class Transfer>
  PARALLAX_DEVICE PARALLAX_INLINE void hold([[maybe_unused]] const Block& block, [[maybe_unused]] const Place& p,
                                            [[maybe_unused]] const Transfer& from) const {
    if constexpr (Passes::template is_held<I> && Passes::template first_pass<I> == Pass)
      block.store(at<I, decltype(from.elements())>(p), from.elements());
  }

 private:
  template <int I, class V, class Place> PARALLAX_DEVICE PARALLAX_INLINE V* at(const Place& p) const {
    constexpr std::uint32_t before = Passes::template held_before<I>, bytes = Passes::template held_bytes<I>;
    return reinterpret_cast<V*>(first + (capacity * before + static_cast<std::uint32_t>(p.inner - origin) * bytes));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
