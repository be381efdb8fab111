// Sorts of long rows on the host: by one digit of the keys after another, the lowest first. Equal digits stay as they
// follow each other, so that the order is that of the whole keys at the end.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/program/sorted_types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

namespace detail {

/// Keys as whole numbers that are ordered like them: NaN behind all others, and -0 as 0.
template <class K, bool Descending> struct radix_key {
  using bits = std::conditional_t<sizeof(K) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(K) == 4, std::uint32_t,
                                                     std::conditional_t<sizeof(K) == 2, std::uint16_t, std::uint8_t>>>;
  static constexpr int width = static_cast<int>(sizeof(K) * 8);
  static constexpr bits sign = static_cast<bits>(bits{1} << (width - 1)), all = static_cast<bits>(~bits{});

  static PARALLAX_INLINE bits of(K key) {
    const bits ascending = of_ascending(key);
    return Descending ? static_cast<bits>(~ascending) : ascending;
  }

 private:
  static PARALLAX_INLINE bits of_ascending(K key) {
    bits word;
    std::memcpy(&word, &key, sizeof word);
    if constexpr (math::floating_element<K> || math::floating16_element<K>) {
      const bits magnitude = static_cast<bits>(word & ~sign), infinity = bits_of_infinity();
      if (magnitude > infinity) return all;
      if (magnitude == 0) return sign;
      return static_cast<bits>((word & sign) != 0 ? ~word : word | sign);
    } else if constexpr (std::is_signed_v<K>) {
      return static_cast<bits>(word ^ sign);
    } else {
      return word;
    }
  }
  static constexpr bits bits_of_infinity() {
    constexpr int exponent_bits = sizeof(K) == 8 ? 11 : sizeof(K) == 4 || std::is_same_v<K, bfloat16> ? 8 : 5;
    return static_cast<bits>(((bits{1} << exponent_bits) - 1) << (width - 1 - exponent_bits));
  }
};

template <class Kernel> class radix_sorter {
  using types = sorted_types<Kernel>;
  using K = typename types::key;
  using V = typename types::value;
  using key = radix_key<K, types::descending>;
  static constexpr int digit_bits = 11;

 public:
  static constexpr std::size_t buckets = std::size_t{1} << digit_bits;
  static constexpr int digits = (key::width + digit_bits - 1) / digit_bits;
  /// Shorter rows are sorted sooner by merges.
  static constexpr std::int64_t shortest_row = 350 * digits;
  /// A row is cut into so many pieces at most, of so many elements at least, which threads go over at once.
  static constexpr std::int64_t most_pieces = 16, shortest_piece = 1 << 16;
  static constexpr std::size_t counts_of_piece = buckets * static_cast<std::size_t>(digits);

  static std::int64_t pieces_of(std::int64_t length) {
    return std::clamp<std::int64_t>(length / shortest_piece, 1, most_pieces);
  }

  /// Sorts a row of the operands of a kernel, which begins at element `row`. `counts` has room for
  /// `counts_of_piece * pieces` numbers; `for_each_piece(f)` calls `f(number)` for each piece, maybe at once.
  template <class ForEachPiece>
  static void sort(const kernel_arguments& a, std::int64_t row, std::int64_t length, std::int64_t pieces,
                   std::uint32_t* counts, const ForEachPiece& for_each_piece) {
    const piece_list list{length, pieces};
    places at(a, row);
    for_each_piece([&](std::int64_t piece) {
      std::uint32_t* const of_piece = counts + static_cast<std::size_t>(piece) * counts_of_piece;
      std::fill_n(of_piece, counts_of_piece, 0U);
      for (std::int64_t i = list.begin(piece); i < list.end(piece); ++i) {
        const auto word = key::of(at.keys[i]);
        for (int d = 0; d < digits; ++d) ++of_piece[static_cast<std::size_t>(d) * buckets + digit(word, d)];
      }
    });
    bool moves[std::size_t{digits}];
    int moving = 0;
    for (int d = 0; d < digits; ++d) moving += (moves[d] = differs(counts, pieces, d, length)) ? 1 : 0;
    at.begin(moving);
    if (moving == 0) return at.copy(length);
    bool is_counted = true; // the digits of each piece
    for (int d = 0; d < digits; ++d) {
      if (!moves[d]) continue;
      if (!is_counted) for_each_piece([&](std::int64_t piece) { count(at, list, piece, d, counts); });
      make_offsets(counts, pieces, d);
      at.is_last = --moving == 0;
      for_each_piece([&](std::int64_t piece) { move(at, list, piece, d, counts); });
      at.advance();
      is_counted = pieces == 1;
    }
  }

 private:
  struct piece_list {
    std::int64_t length, count;
    std::int64_t begin(std::int64_t piece) const { return length * piece / count; }
    std::int64_t end(std::int64_t piece) const { return begin(piece + 1); }
  };

  /// Where elements are, and where they are moved to. Keys are the values where there are none beside them.
  struct places {
    const K* keys = nullptr;
    const V* values = nullptr;
    V* result = nullptr;
    V* to = nullptr;
    V* other = nullptr;
    K* to_keys = nullptr;
    K* other_keys = nullptr;
    bool is_last = false;

    places(const kernel_arguments& a, std::int64_t row) {
      auto at = [&]<class T>(int operand, std::type_identity<T>) {
        return reinterpret_cast<T*>(a.operands[operand].data) + row;
      };
      result = to = at(0, std::type_identity<V>{});
      values = at(types::has_keys ? 2 : 1, std::type_identity<V>{});
      other = at(types::has_keys ? 3 : 2, std::type_identity<V>{});
      if constexpr (types::has_keys) {
        keys = at(1, std::type_identity<K>{});
        to_keys = at(4, std::type_identity<K>{});
        other_keys = at(5, std::type_identity<K>{});
      } else {
        keys = values;
      }
    }
    /// The last of so many moves writes the result.
    void begin(int moves) {
      if (moves % 2 == 0) std::swap(to, other);
    }
    void advance() {
      values = to;
      std::swap(to, other);
      if constexpr (types::has_keys) {
        keys = to_keys;
        std::swap(to_keys, other_keys);
      } else {
        keys = values;
      }
    }
    void copy(std::int64_t length) const { std::copy_n(values, length, result); }
  };

  static PARALLAX_INLINE std::size_t digit(typename key::bits word, int d) {
    return static_cast<std::size_t>(word >> (d * digit_bits)) & (buckets - 1);
  }
  static PARALLAX_INLINE std::uint32_t* counts_at(std::uint32_t* counts, std::int64_t piece, int d) {
    return counts + static_cast<std::size_t>(piece) * counts_of_piece + static_cast<std::size_t>(d) * buckets;
  }
  /// Whether not all elements have the same digit.
  static bool differs(std::uint32_t* counts, std::int64_t pieces, int d, std::int64_t length) {
    for (std::size_t b = 0; b < buckets; ++b) {
      std::int64_t sum = 0;
      for (std::int64_t piece = 0; piece < pieces; ++piece) sum += counts_at(counts, piece, d)[b];
      if (sum != 0) return sum != length;
    }
    return false;
  }
  static void count(const places& at, const piece_list& list, std::int64_t piece, int d, std::uint32_t* counts) {
    std::uint32_t* const of_piece = counts_at(counts, piece, d);
    std::fill_n(of_piece, buckets, 0U);
    for (std::int64_t i = list.begin(piece); i < list.end(piece); ++i) ++of_piece[digit(key::of(at.keys[i]), d)];
  }
  /// How many become where the first of them goes: elements of a digit piece by piece.
  static void make_offsets(std::uint32_t* counts, std::int64_t pieces, int d) {
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets; ++b)
      for (std::int64_t piece = 0; piece < pieces; ++piece) sum += std::exchange(counts_at(counts, piece, d)[b], sum);
  }
  static void move(const places& at, const piece_list& list, std::int64_t piece, int d, std::uint32_t* counts) {
    std::uint32_t* const next = counts_at(counts, piece, d);
    const K* const keys = at.keys;
    const V* const values = at.values;
    V* const to = at.to;
    K* const to_keys = at.to_keys;
    const bool moves_keys = types::has_keys && !at.is_last;
    for (std::int64_t i = list.begin(piece); i < list.end(piece); ++i) {
      const std::uint32_t where = next[digit(key::of(keys[i]), d)]++;
      to[where] = values[i];
      if constexpr (types::has_keys)
        if (moves_keys) to_keys[where] = keys[i];
    }
  }
};

} // namespace detail

/// Sorts rows of a kernel whose length is a 32-bit number.
template <class Kernel, class Work> void run_radix_sort(const kernel_arguments& a) {
  using sorter = detail::radix_sorter<Kernel>;
  const std::int64_t rows = a.extents[0], length = a.extents[1];
  auto alone = [](const auto& work) { work(0); };
  const std::int64_t pieces = Work::is_alone ? 1 : sorter::pieces_of(length);
  if (pieces == 1 || rows >= sorter::most_pieces) {
    Work::parallel_for(rows, sorter::shortest_piece / length + 1, [&](std::int64_t begin, std::int64_t end) {
      typename Work::template scratch<std::uint32_t, sorter::counts_of_piece> counts(
          static_cast<std::int64_t>(sorter::counts_of_piece));
      for (std::int64_t row = begin; row < end; ++row) sorter::sort(a, row * length, length, 1, counts.data(), alone);
    });
    return;
  }
  typename Work::template scratch<std::uint32_t, sorter::counts_of_piece> counts(
      static_cast<std::int64_t>(sorter::counts_of_piece) * pieces);
  auto at_once = [&](const auto& work) {
    Work::parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) work(piece);
    });
  };
  for (std::int64_t row = 0; row < rows; ++row) sorter::sort(a, row * length, length, pieces, counts.data(), at_once);
}

} // namespace parallax::host::inline PARALLAX_REGISTERS
