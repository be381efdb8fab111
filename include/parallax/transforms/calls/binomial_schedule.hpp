// How many rounds a loop's way back can reach with how many slots: the binomial schedule (Griewank and Walther, 2000).
#pragma once

#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The most rounds that `slots` carries and `repeats` forward passes beside the first one suffice for: binomial(slots -
/// 1 + repeats, repeats), since the first carry takes a slot.
constexpr std::int64_t most_checkpointed_rounds(int slots, int repeats) {
  std::int64_t rounds = 1;
  for (int k = 1; k <= repeats; ++k) {
    if (rounds > std::int64_t{1} << 40) return rounds; // more than anybody waits for
    rounds = rounds * (slots - 1 + k) / k;
  }
  return rounds;
}

} // namespace detail

/// The largest number of times that a round is computed again before its derivative is taken, with so many slots.
constexpr int checkpoint_repeats(std::int64_t rounds, int slots) {
  int repeats = 1;
  while (detail::most_checkpointed_rounds(slots, repeats) < rounds) ++repeats;
  return repeats;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
