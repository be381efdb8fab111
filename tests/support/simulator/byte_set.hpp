// A set of an allocation's bytes: one bit each, so that a kernel's many small accesses become few intervals.
#pragma once

#include "support/simulator/regions.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator {

/// Bytes that were read, or written, by one operation.
class byte_set {
 public:
  /// Adds the bytes of a part of an allocation of `bytes` bytes.
  void insert(interval part, std::size_t bytes) {
    if (words_.empty()) words_.resize(bytes / 64 + 1, 0);
    const std::size_t first = part.begin / 64, last = (part.end - 1) / 64;
    const std::uint64_t from = ~std::uint64_t{0} << (part.begin % 64);
    const std::uint64_t until = ~std::uint64_t{0} >> (63 - (part.end - 1) % 64);
    low_ = std::min(low_, first);
    high_ = std::max(high_, last + 1);
    if (first == last) {
      words_[first] |= from & until;
      return;
    }
    words_[first] |= from;
    std::fill(words_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
              words_.begin() + static_cast<std::ptrdiff_t>(last), ~std::uint64_t{0});
    words_[last] |= until;
  }

  /// Removes the bytes of `other`.
  void remove(const byte_set& other) {
    for (std::size_t i = std::max(low_, other.low_); i < std::min(high_, other.high_); ++i)
      words_[i] &= ~other.words_[i];
  }

  /// The bytes as intervals in order; nothing is left.
  std::vector<interval> take() {
    std::vector<interval> runs;
    const std::size_t end = high_ * 64;
    for (std::size_t at = next(low_ * 64, 0); at < end;) {
      const std::size_t stop = next(at, ~std::uint64_t{0});
      runs.push_back({at, stop});
      at = next(stop, 0);
    }
    if (low_ < high_)
      std::fill(words_.begin() + static_cast<std::ptrdiff_t>(low_), words_.begin() + static_cast<std::ptrdiff_t>(high_),
                std::uint64_t{0});
    low_ = none;
    high_ = 0;
    return runs;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  /// The first bit from `at` on that is set; that is clear where `flip` is all ones.
  std::size_t next(std::size_t at, std::uint64_t flip) const {
    for (std::size_t i = at / 64; i < high_; ++i) {
      std::uint64_t word = words_[i] ^ flip;
      if (i == at / 64) word &= ~std::uint64_t{0} << (at % 64);
      if (word != 0) return i * 64 + static_cast<std::size_t>(std::countr_zero(word));
    }
    return high_ * 64;
  }

  std::vector<std::uint64_t> words_;
  std::size_t low_ = none; // words from here
  std::size_t high_ = 0;   // up to here may have bits
};

} // namespace simulator
