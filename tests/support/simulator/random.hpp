// The source of every choice of a simulation: the same seed, the same choices.
#pragma once

#include <cstdint>

namespace simulator {

/// Splitmix64.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}

  /// 64 random bits.
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// A number from 0 to `count` - 1; `count` is small, so that the remainder is as good as uniform.
  std::uint64_t below(std::uint64_t count) { return bits() % count; }

  /// True in `of` cases out of `cases`.
  bool chance(std::uint64_t of, std::uint64_t cases) { return below(cases) < of; }

 private:
  std::uint64_t state_;
};

} // namespace simulator
