// Finding equal things again by their hashes.
#pragma once

#include <parallax/core/growing_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax {

/// The hash of one more word.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}
/// The hash of `count` more words. Pointers and not iterators: constant evaluation pays for every call.
template <class T> constexpr std::uint64_t mix(std::uint64_t hash, const T* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) hash = mix(hash, static_cast<std::uint64_t>(words[i]));
  return hash;
}

/// The numbers of things that are kept elsewhere, by the things' hashes.
class hash_index {
 public:
  /// The number of a thing with this hash that is the `same(number)`; -1 if there is none.
  template <class Same> constexpr int find(std::uint64_t hash, const Same& same) const {
    if (numbers.empty()) return -1;
    std::size_t slot = slot_of(hash);
    while (numbers[slot] >= 0) {
      if (hashes[slot] == hash && same(numbers[slot])) return numbers[slot];
      slot = next(slot);
    }
    return -1;
  }
  /// Adds a thing that is not there yet.
  constexpr void add(std::uint64_t hash, int number) {
    if (2 * (count + 1) > numbers.size()) grow();
    insert(hash, number);
    ++count;
  }

 private:
  std::size_t count = 0;
  growing_vector<int> numbers; ///< by slot: -1 where it is free
  growing_vector<std::uint64_t> hashes;

  constexpr std::size_t slot_of(std::uint64_t hash) const { return hash & (numbers.size() - 1); }
  constexpr std::size_t next(std::size_t slot) const { return (slot + 1) & (numbers.size() - 1); }
  constexpr void insert(std::uint64_t hash, int number) {
    std::size_t slot = slot_of(hash);
    while (numbers[slot] >= 0) slot = next(slot);
    numbers[slot] = number;
    hashes[slot] = hash;
  }
  constexpr void grow() {
    growing_vector<int> old_numbers = std::move(numbers);
    growing_vector<std::uint64_t> old_hashes = std::move(hashes);
    std::size_t size = old_numbers.empty() ? 64 : 2 * old_numbers.size();
    numbers.assign(size, -1);
    hashes.assign(size, 0);
    for (std::size_t slot = 0; slot < old_numbers.size(); ++slot) {
      const int number = old_numbers[slot];
      if (number >= 0) insert(old_hashes[slot], number);
    }
  }
};

} // namespace parallax
