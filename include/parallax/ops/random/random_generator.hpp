// Random numbers from keys: the functions that every generator has.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/random/random_operations.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Random numbers of a generator from keys, which are uint32 arrays of two elements. All generators have these
/// functions, so a template can be written for any of them. Shapes: `shape`; a number without it. Errors: a key that is
/// not uint32[2], which `vmap` makes of several.
template <class Generator> struct random_generator {
  /// The key of a seed: its upper and lower 32 bits. JAX: random.key with 64-bit seeds
  static constexpr auto key(std::integral auto seed) {
    std::uint64_t wide = static_cast<std::uint64_t>(seed);
    if constexpr (sizeof(seed) <= 4) wide &= 0xFFFFFFFFU; // a 32-bit seed is not sign-extended, as in JAX with x64 off
    return lazy<detail::key_operation, std::uint32_t, std::uint32_t>{
        {static_cast<std::uint32_t>(wide >> 32), static_cast<std::uint32_t>(wide)}};
  }
  /// `count` new keys, shape (count, 2).
  template <class Key> static constexpr auto split(const Key& key, extent count = 2) {
    return call<detail::split_operation<Generator>>(key, extent_list<1>{{count}});
  }
  template <class Key, std::size_t N> static constexpr auto split(const Key& key, const extent (&shape)[N]) {
    return call<detail::split_operation<Generator>>(key, detail::list_of(shape));
  }
  /// `Number` new keys, each by itself: `auto [a, b] = split<2>(key)`.
  template <int Number, class Key> static constexpr auto split(const Key& key) {
    static_assert(Number >= 0, "parallax: split<n>(key) makes n keys: give a number from 0 on");
    const auto keys = split(key, Number);
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return std::array<std::remove_cvref_t<decltype(keys[0])>, sizeof...(I)>{keys[I]...};
    }(std::make_integer_sequence<int, Number>{});
  }
  /// A new key made of a key and a number.
  template <class Key, class Data> static constexpr auto fold_in(const Key& key, const Data& data) {
    return call<detail::fold_in_operation<Generator>>(key, data);
  }

  /// Random bits: uint8, uint32 or uint64.
  template <element T = std::uint32_t, class Key> static constexpr auto bits(const Key& key) {
    return call<detail::bits_operation<Generator, T>>(key, extent_list<0>{});
  }
  template <element T = std::uint32_t, class Key, std::size_t N>
  static constexpr auto bits(const Key& key, const extent (&shape)[N]) {
    return call<detail::bits_operation<Generator, T>>(key, detail::list_of(shape));
  }
  template <element T = std::uint32_t, class Key> static constexpr auto bits(const Key& key, detail::no_extents) {
    return bits<T>(key);
  }
  /// Uniform in [low, high), never `high` itself: a number that would be rounded to `high`, which JAX returns, becomes
  /// the number below.
  template <element T = float, class Key> static constexpr auto uniform(const Key& key) {
    return call<detail::uniform_operation<Generator, T>>(key, extent_list<0>{});
  }
  template <element T = float, class Key, std::size_t N>
  static constexpr auto uniform(const Key& key, const extent (&shape)[N]) {
    return call<detail::uniform_operation<Generator, T>>(key, detail::list_of(shape));
  }
  template <element T = float, class Key> static constexpr auto uniform(const Key& key, detail::no_extents) {
    return uniform<T>(key);
  }
  template <element T = float, class Key, std::size_t N, class Low, class High = T>
  static constexpr auto uniform(const Key& key, const extent (&shape)[N], const Low& low, const High& high = T{1}) {
    return call<detail::uniform_operation<Generator, T>>(key, detail::list_of(shape), low, high);
  }
  template <element T = float, class Key, class Low, class High = T>
  static constexpr auto uniform(const Key& key, detail::no_extents, const Low& low, const High& high = T{1}) {
    return call<detail::uniform_operation<Generator, T>>(key, extent_list<0>{}, low, high);
  }
  /// Standard normal.
  template <element T = float, class Key> static constexpr auto normal(const Key& key) {
    return call<detail::normal_operation<Generator, T>>(key, extent_list<0>{});
  }
  template <element T = float, class Key, std::size_t N>
  static constexpr auto normal(const Key& key, const extent (&shape)[N]) {
    return call<detail::normal_operation<Generator, T>>(key, detail::list_of(shape));
  }
  template <element T = float, class Key> static constexpr auto normal(const Key& key, detail::no_extents) {
    return normal<T>(key);
  }
  /// True with probability p.
  template <class Key, class P = float> static constexpr auto bernoulli(const Key& key, const P& p = 0.5f) {
    return call<detail::bernoulli_operation<Generator>>(key, p, extent_list<0>{});
  }
  template <class Key, class P, std::size_t N>
  static constexpr auto bernoulli(const Key& key, const P& p, const extent (&shape)[N]) {
    return call<detail::bernoulli_operation<Generator>>(key, p, detail::list_of(shape));
  }
  template <class Key, class P> static constexpr auto bernoulli(const Key& key, const P& p, detail::no_extents) {
    return bernoulli(key, p);
  }
  /// Integers in [low, high), all equally likely; `high` may be one more than the largest of the type. They equal JAX's
  /// if there are at most 2^16 of them, or a power of 2 (2^32 in 64 bits; in uint8 a power of 2 alone). For larger
  /// ranges JAX takes the remainder of one draw, which favours small numbers.
  template <element T = std::int32_t, class Key, std::size_t N, class Low, class High>
  static constexpr auto randint(const Key& key, const extent (&shape)[N], const Low& low, const High& high) {
    return call<detail::randint_operation<Generator, T>>(key, detail::list_of(shape), low, high);
  }
  template <element T = std::int32_t, class Key, class Low, class High>
  static constexpr auto randint(const Key& key, const Low& low, const High& high) {
    return call<detail::randint_operation<Generator, T>>(key, extent_list<0>{}, low, high);
  }
  template <element T = std::int32_t, class Key, class Low, class High>
  static constexpr auto randint(const Key& key, detail::no_extents, const Low& low, const High& high) {
    return randint<T>(key, low, high);
  }

 private:
  template <class Operation, class... Operands> static constexpr auto call(const Operands&... operands) {
    return Operation::with_shape(operands...);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION
