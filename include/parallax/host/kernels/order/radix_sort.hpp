// Sorts of long rows on the host: elements are parted by the highest bits in which keys differ, and each part is sorted
// by one digit of the keys after another, the lowest first. Elements with equal digits keep their order, so that in the
// end the order is that of the whole keys.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/program/sorted_types.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

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
      // selects in place of branches, which data without an order would mispredict
      const bits all_if_negative = static_cast<bits>(0 - (word >> (width - 1)));
      const bits of_number = static_cast<bits>(word ^ (all_if_negative | sign));
      const bits of_zero = magnitude == 0 ? sign : of_number;
      return magnitude > infinity ? all : of_zero;
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
  using bits = typename key::bits;
  static constexpr int digit_bits = 11;

 public:
  static constexpr std::size_t buckets = std::size_t{1} << digit_bits;
  static constexpr int digits = (key::width + digit_bits - 1) / digit_bits;
  /// Shorter rows are sorted faster by merges.
  static constexpr std::int64_t shortest_row = 350 * digits;
  /// Threads go over the pieces of a row at once: at most `most_pieces`, each of at least `shortest_piece` elements.
  static constexpr std::int64_t most_pieces = 16, shortest_piece = 1 << 16;
  static constexpr std::size_t counts_of_piece = buckets * static_cast<std::size_t>(digits);
  /// The numbers that a sort in so many pieces counts with: those of each piece, and where buckets begin.
  static constexpr std::size_t counts_of(std::int64_t pieces) {
    return counts_of_piece * static_cast<std::size_t>(pieces) + buckets + 1;
  }

  static std::int64_t pieces_of(std::int64_t length) {
    return std::clamp<std::int64_t>(length / shortest_piece, 1, most_pieces);
  }

  /// Sorts a row of the operands of a kernel, which begins at element `row`. `counts` has room for `counts_of(pieces)`;
  /// `for_each_piece(f)` calls `f(number)` for each piece, perhaps at the same time.
  template <class ForEachPiece>
  static void sort(const kernel_arguments& a, std::int64_t row, std::int64_t length, std::int64_t pieces,
                   std::uint32_t* counts, const ForEachPiece& for_each_piece) {
    const piece_list list{length, pieces};
    const lists given = lists_of(a, row, true), result = lists_of(a, row, false), other = other_lists(a, row);
    const bits different = differing_bits(given, list, counts, for_each_piece);
    const int rest = std::max(0, static_cast<int>(std::bit_width(different)) - digit_bits); // bits below the highest
    const lists& parted = passes_over(rest, digit_bits) % 2 == 0 ? result : other;
    for_each_piece([&](std::int64_t piece) {
      std::uint32_t* const of_piece = counts_at(counts, piece);
      std::fill_n(of_piece, buckets, 0U);
      for (std::int64_t i = list.begin(piece); i < list.end(piece); ++i)
        ++of_piece[digit(key::of(given.keys[i]), rest, buckets - 1)];
    });
    std::uint32_t* const begins = counts_at(counts, pieces);
    make_offsets(counts, pieces, begins, length);
    for_each_piece([&](std::int64_t piece) {
      move(given, parted, list.begin(piece), list.end(piece), {rest, buckets - 1, counts_at(counts, piece)}, rest > 0);
    });
    if (rest == 0) return;
    for_each_piece([&](std::int64_t piece) {
      const auto first = static_cast<std::uint32_t>(list.begin(piece)),
                 last = static_cast<std::uint32_t>(list.end(piece));
      for (const std::uint32_t* begin = std::lower_bound(begins, begins + buckets, first);
           begin != begins + buckets && *begin < last; ++begin)
        if (begin[0] != begin[1])
          sort_bucket(parted, &parted == &result ? other : result, result.values, begin[0], begin[1], rest,
                      counts_at(counts, piece));
    });
  }

 private:
  struct piece_list {
    std::int64_t length, count;
    std::int64_t begin(std::int64_t piece) const { return length * piece / count; }
    std::int64_t end(std::int64_t piece) const { return begin(piece + 1); }
  };
  /// Elements: keys and values. Without keys of their own, the values are the keys.
  struct lists {
    K* keys;
    V* values;
  };
  static lists lists_of(const kernel_arguments& a, std::int64_t row, bool given) {
    if constexpr (types::has_keys) return {operand<K>(a, given ? 1 : 4) + row, operand<V>(a, given ? 2 : 0) + row};
    else return {operand<V>(a, given ? 1 : 0) + row, operand<V>(a, given ? 1 : 0) + row};
  }
  static lists other_lists(const kernel_arguments& a, std::int64_t row) {
    if constexpr (types::has_keys) return {operand<K>(a, 5) + row, operand<V>(a, 3) + row};
    else return {operand<V>(a, 2) + row, operand<V>(a, 2) + row};
  }
  template <class T> static T* operand(const kernel_arguments& a, int number) {
    return reinterpret_cast<T*>(a.operands[number].data);
  }
  static std::uint32_t* counts_at(std::uint32_t* counts, std::int64_t piece) {
    return counts + static_cast<std::size_t>(piece) * counts_of_piece;
  }
  /// The number of digits of at most `most_bits` bits that cover the lowest `rest` bits.
  static constexpr int passes_over(int rest, int most_bits) { return (rest + most_bits - 1) / most_bits; }

  /// One digit of the keys, and, by its value, where the next element goes.
  struct digit_places {
    int shift;
    std::size_t mask;
    std::uint32_t* next;
  };
  static PARALLAX_INLINE std::size_t digit(bits word, int shift, std::size_t mask) {
    return static_cast<std::size_t>(word >> shift) & mask;
  }

  template <class ForEachPiece>
  static bits differing_bits(const lists& given, const piece_list& list, std::uint32_t* counts,
                             const ForEachPiece& for_each_piece) {
    const bits one = key::of(given.keys[0]);
    for_each_piece([&](std::int64_t piece) {
      bits different = 0;
      for (std::int64_t i = list.begin(piece); i < list.end(piece); ++i)
        different = static_cast<bits>(different | (key::of(given.keys[i]) ^ one));
      std::memcpy(counts_at(counts, piece), &different, sizeof different);
    });
    bits different = 0;
    for (std::int64_t piece = 0; piece < list.count; ++piece) {
      bits of_piece;
      std::memcpy(&of_piece, counts_at(counts, piece), sizeof of_piece);
      different = static_cast<bits>(different | of_piece);
    }
    return different;
  }
  /// Turns counts into positions: where the first element with a digit goes, piece by piece.
  static void make_offsets(std::uint32_t* counts, std::int64_t pieces, std::uint32_t* begins, std::int64_t length) {
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
      begins[b] = sum;
      for (std::int64_t piece = 0; piece < pieces; ++piece) sum += std::exchange(counts_at(counts, piece)[b], sum);
    }
    begins[buckets] = static_cast<std::uint32_t>(length);
  }
  static void move(const lists& from, const lists& to, std::int64_t begin, std::int64_t end, const digit_places& places,
                   bool moves_keys) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint32_t where = places.next[digit(key::of(from.keys[i]), places.shift, places.mask)]++;
      to.values[where] = from.values[i];
      if constexpr (types::has_keys)
        if (moves_keys) to.keys[where] = from.keys[i];
    }
  }

  /// Sorts elements that differ only in their lowest `rest` bits. Few elements get small digits, so that there are no
  /// more counts than elements.
  static void sort_bucket(lists from, lists to, V* result, std::uint32_t begin, std::uint32_t end, int rest,
                          std::uint32_t* counts) {
    const std::uint32_t length = end - begin;
    constexpr std::uint32_t few = 32;
    if (length <= few) {
      insert(from, begin, end);
    } else {
      const int most_bits = std::min(digit_bits, static_cast<int>(std::bit_width(length)));
      const int passes = passes_over(rest, most_bits), width = (rest + passes - 1) / passes;
      const std::size_t size = std::size_t{1} << width;
      std::fill_n(counts, size * static_cast<std::size_t>(passes), 0U);
      for (std::uint32_t i = begin; i < end; ++i) {
        const bits word = key::of(from.keys[i]);
        for (int d = 0; d < passes; ++d)
          ++counts[static_cast<std::size_t>(d) * size + digit(word, d * width, size - 1)];
      }
      for (int d = 0; d < passes; ++d) {
        std::uint32_t* const of_digit = counts + static_cast<std::size_t>(d) * size;
        if (of_digit[digit(key::of(from.keys[begin]), d * width, size - 1)] == length) continue;
        std::uint32_t sum = begin;
        for (std::size_t b = 0; b < size; ++b) sum += std::exchange(of_digit[b], sum);
        move(from, to, begin, end, {d * width, size - 1, of_digit}, d + 1 < passes);
        std::swap(from, to);
      }
    }
    if (from.values != result) std::copy(from.values + begin, from.values + end, result + begin);
  }
  static void insert(const lists& at, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin + 1; i < end; ++i) {
      const K inserted = at.keys[i];
      const V value = at.values[i];
      const bits word = key::of(inserted);
      std::uint32_t to = i;
      for (; to > begin && key::of(at.keys[to - 1]) > word; --to) {
        at.values[to] = at.values[to - 1];
        if constexpr (types::has_keys) at.keys[to] = at.keys[to - 1];
      }
      at.values[to] = value;
      if constexpr (types::has_keys) at.keys[to] = inserted;
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
      typename Work::template scratch<std::uint32_t, sorter::counts_of(1)> counts(
          static_cast<std::int64_t>(sorter::counts_of(1)));
      for (std::int64_t row = begin; row < end; ++row) sorter::sort(a, row * length, length, 1, counts.data(), alone);
    });
    return;
  }
  typename Work::template scratch<std::uint32_t, sorter::counts_of(1)> counts(
      static_cast<std::int64_t>(sorter::counts_of(pieces)));
  auto at_once = [&](const auto& work) {
    Work::parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) work(piece);
    });
  };
  for (std::int64_t row = 0; row < rows; ++row) sorter::sort(a, row * length, length, pieces, counts.data(), at_once);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
