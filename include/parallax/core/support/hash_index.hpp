// Finds equal elements again by their hashes.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The hash of one more word.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}
/// The hash of `count` more words. It takes pointers and no iterators: in constant evaluation every call costs time.
template <class T> constexpr std::uint64_t mix(std::uint64_t hash, const T* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) hash = mix(hash, static_cast<std::uint64_t>(words[i]));
  return hash;
}

/// Finds the numbers of elements that are stored elsewhere by the elements' hashes.
class hash_index {
 public:
  /// The number of an element that has this hash and for which `same(number)` is true; -1 if there is none.
  template <class Same> constexpr int find(std::uint64_t hash, const Same& same) const {
    if (slots.empty()) return -1;
    for (std::size_t slot = slot_of(hash); slots[slot] >= 0; slot = next(slot)) {
      const entry& known = entries[index_of(slots[slot])];
      if (known.hash == hash && same(known.number)) return known.number;
    }
    return -1;
  }
  /// Adds an element that `find` does not find yet.
  constexpr void add(std::uint64_t hash, int number) {
    entries.push_back({hash, number});
    if (2 * entries.size() > slots.size()) grow();
    else insert(count_of(entries) - 1);
  }

 private:
  struct entry {
    std::uint64_t hash;
    int number;
  };
  growing_vector<entry> entries;
  growing_vector<int> slots; ///< by slot: the entry in it, -1 if it is free

  constexpr std::size_t slot_of(std::uint64_t hash) const { return hash & (slots.size() - 1); }
  constexpr std::size_t next(std::size_t slot) const { return (slot + 1) & (slots.size() - 1); }
  constexpr void insert(int which) {
    std::size_t slot = slot_of(entries[index_of(which)].hash);
    while (slots[slot] >= 0) slot = next(slot);
    slots[slot] = which;
  }
  constexpr void grow() {
    slots.assign(slots.empty() ? 64 : 2 * slots.size(), -1);
    for (int which = 0; which < count_of(entries); ++which) insert(which);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
