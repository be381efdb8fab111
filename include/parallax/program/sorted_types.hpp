// A kernel that sorts: what it sorts, and the memory that it moves rows to and fro in.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// The values that a kernel sorts, by themselves or by keys beside them.
template <class Kernel> struct sorted_types;
template <class Values, class Sort, element_type Type, std::int64_t Descending>
struct sorted_types<kernel<kernel_result::sorted, Sort, Values, compute_statement<Sort, Type, Descending, 0>>> {
  using key = typename Values::value_type;
  using value = key;
  static constexpr bool has_keys = false, descending = Descending != 0;
};
template <class Keys, class Values, class Sort, element_type Type, std::int64_t Descending>
struct sorted_types<
    kernel<kernel_result::sorted, Sort, Keys, Values, compute_statement<Sort, Type, Descending, 0, 1>>> {
  using key = typename Keys::value_type;
  using value = typename Values::value_type;
  static constexpr bool has_keys = true, descending = Descending != 0;
};

/// Where a sort's elements are, and where the next round moves them. The first one reads the operands; the last one
/// writes the result and no keys.
template <class Kernel> class sort_memory {
  using types = sorted_types<Kernel>;
  using K = typename types::key;
  using V = typename types::value;

 public:
  const K* from_keys = nullptr;
  const V* from = nullptr;
  K* to_keys = nullptr; ///< null if the keys are the values, or are not needed any more
  V* to = nullptr;

  /// The operands of a kernel: the result; keys, if there are some beside the values; values; memory for as many
  /// values, and twice for keys.
  explicit sort_memory(const kernel_arguments& a) {
    auto at = [&](int operand) { return a.operands[operand].data; };
    other = reinterpret_cast<V*>(at(0));
    from = reinterpret_cast<const V*>(at(types::has_keys ? 2 : 1));
    to = reinterpret_cast<V*>(at(types::has_keys ? 3 : 2));
    if constexpr (types::has_keys) {
      from_keys = reinterpret_cast<const K*>(at(1));
      to_keys = reinterpret_cast<K*>(at(4));
      other_keys = reinterpret_cast<K*>(at(5));
    } else {
      from_keys = from;
    }
  }
  /// For values that are sorted by themselves: rounds move them to `memory` and back.
  sort_memory(V* unsorted, V* memory) : from_keys(unsorted), from(unsorted), to(memory), other(unsorted) {
    static_assert(!types::has_keys);
  }
  /// Call before the first round, which leaves sorted runs of `run` elements in rows of `length`. Chooses the memory
  /// that it writes to, so that the last round writes the result.
  void start(std::int64_t run, std::int64_t length) {
    bool is_result = true; // what the first round writes
    for (; run < length; run *= 2) is_result = !is_result;
    if (is_result) std::swap(to, other);
  }
  /// Call after a round, with whether the next one is the last.
  void next_round(bool is_last) {
    from = to;
    std::swap(to, other);
    if constexpr (types::has_keys) {
      from_keys = to_keys;
      to_keys = is_last ? nullptr : std::exchange(other_keys, to_keys);
    } else {
      from_keys = from;
    }
  }

 private:
  K* other_keys = nullptr;
  V* other = nullptr;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
