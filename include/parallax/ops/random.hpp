// Random numbers from keys, bit for bit those of JAX's threefry generator in its partitionable layout: element n of an
// array is made from its row-major index alone, so any part of it can be made anywhere.
#pragma once

#include <parallax/ops/creation.hpp>
#include <parallax/ops/slicing.hpp>
#include <parallax/primitives/assembly.hpp>
#include <parallax/primitives/threefry.hpp>

namespace parallax::random {

namespace detail {

using parallax::detail::dims_of;
using parallax::detail::no_extents;
using primitives::threefry_word;

/// A key is a uint32 array whose last axis has extent 2; these are its words, without that axis.
struct key_words {
  tracer first, second;
};
constexpr bool is_key(tracer key) {
  return key.type() == element_type::uint32 && key.rank() >= 1 &&
         (!is_static(key.dimension(key.rank() - 1)) || key.dimension(key.rank() - 1) == 2);
}
constexpr key_words words_of(tracer key, std::string_view name) {
  if (!is_key(key) || key.rank() != 1) {
    message text;
    text << name << ": expected a key, uint32[2], but got ";
    print_value(text, key.owner->extents, key.value());
    key.owner->fail(text << "; make one with random::key, and use vmap for several");
    return {key, key};
  }
  return {index_in_dim(key, 0), index_in_dim(key, 1)};
}

/// High and low 32 bits of the row-major index of a shape.
constexpr key_words counters(context& trace, const dims& shape) {
  if (shape.empty()) {
    tracer zero = build::integer_literal(trace, element_type::uint32, 0);
    return {zero, zero};
  }
  auto index = [&](element_type type) {
    small_vector<std::int64_t, max_rank + 2> parameters{static_cast<std::int64_t>(type), -1};
    for (dim d : shape) parameters.push_back(d);
    return emit<primitives::iota>(trace, {}, {parameters.data(), static_cast<std::size_t>(parameters.size())});
  };
  tracer low = index(element_type::uint32);
  dim size = trace.extents.product(shape);
  if (is_static(size) && size <= (std::int64_t{1} << 32))
    return {build::integer_literal(trace, element_type::uint32, 0), low};
  tracer wide = index(element_type::uint64);
  return {build::convert(emit<primitives::shift_right>({wide, build::integer_literal(trace, element_type::uint64, 32)}),
                         element_type::uint32),
          low};
}

constexpr tracer cipher(key_words key, key_words counter, threefry_word word) {
  return emit<primitives::threefry2x32>({key.first, key.second, counter.first, counter.second},
                                        {static_cast<std::int64_t>(word)});
}

constexpr tracer bits(tracer key, const dims& shape, element_type type, std::string_view name) {
  context& trace = *key.owner;
  key_words k = words_of(key, name);
  if (trace.failed) return key;
  key_words n = counters(trace, shape);
  if (type == element_type::uint32) return cipher(k, n, threefry_word::exclusive_or);
  if (type == element_type::uint8) {
    tracer low = emit<primitives::bitwise_and>(
        {cipher(k, n, threefry_word::exclusive_or), build::integer_literal(trace, element_type::uint32, 255)});
    return build::convert(low, element_type::uint8);
  }
  tracer high = build::convert(cipher(k, n, threefry_word::first), element_type::uint64);
  tracer low = build::convert(cipher(k, n, threefry_word::second), element_type::uint64);
  return emit<primitives::bitwise_or>(
      {emit<primitives::shift_left>({high, build::integer_literal(trace, element_type::uint64, 32)}), low});
}

/// In [0, 1), of 16 bits, from random words: as many of their low bits as JAX takes. Under the exponent of 1 they would
/// be a multiple of its last place.
constexpr tracer unit_of_16_bits(tracer words, element_type type) {
  context& trace = *words.owner;
  auto word = [&](std::int64_t value) { return build::integer_literal(trace, element_type::uint32, value); };
  const bool is_half = type == element_type::float16;
  tracer low_bits = emit<primitives::bitwise_and>({words, word(is_half ? 0xFFFF : 0xFF)});
  tracer fraction = emit<primitives::shift_right>({low_bits, word(is_half ? 6 : 1)});
  return build::convert(fraction, type) * build::literal(trace, type, is_half ? 0x1p-10 : 0x1p-7);
}
/// In [0, 1), from random words of the type's size: mantissa bits under the exponent of 1, minus 1.
constexpr tracer unit_of_words(tracer words, element_type type) {
  context& trace = *words.owner;
  const bool wide = type == element_type::float64;
  tracer shift = build::integer_literal(trace, words.type(), wide ? 12 : 9);
  tracer exponent = build::integer_literal(trace, words.type(), wide ? 0x3FF0000000000000 : 0x3F800000);
  tracer pattern = emit<primitives::bitwise_or>({emit<primitives::shift_right>({words, shift}), exponent});
  return emit<primitives::bitcast>({pattern}, {static_cast<std::int64_t>(type)}) - 1;
}

/// Uniform in [low, high).
constexpr tracer uniform(tracer key, const dims& shape, element_type type, tracer low, tracer high,
                         std::string_view name) {
  context& trace = *key.owner;
  tracer words = bits(key, shape, type == element_type::float64 ? element_type::uint64 : element_type::uint32, name);
  if (trace.failed) return key;
  tracer unit = is_floating16(type) ? unit_of_16_bits(words, type) : unit_of_words(words, type);
  low = build::convert(low, type);
  high = build::convert(high, type);
  return emit<primitives::maximum>({low, unit * (high - low) + low});
}

struct key_operation : operation<key_operation> {
  static constexpr tracer apply(context& trace, tracer high, tracer low) {
    tracer parts[] = {build::reshape(build::convert(high, element_type::uint32), {1}),
                      build::reshape(build::convert(low, element_type::uint32), {1})};
    std::int64_t along = 0;
    return emit<primitives::concatenate>(trace, parts, std::span<const std::int64_t>(&along, 1));
  }
};

struct split_operation : operation<split_operation> {
  template <int N> static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape) {
    key_words k = words_of(key, "random::split");
    if (trace.failed) return key;
    dims counts = dims_of(trace, "random::split", shape);
    key_words n = counters(trace, counts);
    dims pair = counts;
    pair.push_back(1);
    tracer parts[] = {build::reshape(cipher(k, n, threefry_word::first), pair),
                      build::reshape(cipher(k, n, threefry_word::second), pair)};
    std::int64_t along = pair.size() - 1;
    return emit<primitives::concatenate>(trace, parts, std::span<const std::int64_t>(&along, 1));
  }
};

struct fold_in_operation : operation<fold_in_operation> {
  static constexpr tracer apply(context& trace, tracer key, tracer data) {
    key_words k = words_of(key, "random::fold_in");
    if (trace.failed) return key;
    key_words n{build::integer_literal(trace, element_type::uint32, 0), build::convert(data, element_type::uint32)};
    tracer parts[] = {build::reshape(cipher(k, n, threefry_word::first), {1}),
                      build::reshape(cipher(k, n, threefry_word::second), {1})};
    std::int64_t along = 0;
    return emit<primitives::concatenate>(trace, parts, std::span<const std::int64_t>(&along, 1));
  }
};

template <element T> struct bits_operation : operation<bits_operation<T>> {
  template <int N> static constexpr tracer apply(context&, tracer key, const extent_list<N>& shape) {
    return bits(key, dims_of(*key.owner, "random::bits", shape), element_type_of<T>, "random::bits");
  }
};

template <element T> struct uniform_operation : operation<uniform_operation<T>> {
  template <int N>
  static constexpr tracer apply(context&, tracer key, const extent_list<N>& shape, tracer low, tracer high) {
    return uniform(key, dims_of(*key.owner, "random::uniform", shape), element_type_of<T>, low, high,
                   "random::uniform");
  }
};

template <element T> struct normal_operation : operation<normal_operation<T>> {
  template <int N> static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape) {
    constexpr element_type type = element_type_of<T>;
    constexpr double below_one = type == element_type::float16    ? -0x1.ffcp-1
                                 : type == element_type::bfloat16 ? -0x1.fep-1
                                 : type == element_type::float32  ? -0x1.fffffep-1
                                                                  : -0x1.fffffffffffffp-1;
    tracer u = uniform(key, dims_of(trace, "random::normal", shape), type, build::literal(trace, type, below_one),
                       build::literal(trace, type, 1), "random::normal");
    if (trace.failed) return key;
    return build::literal(trace, type, 1.4142135623730951) * emit<primitives::erf_inv>({u});
  }
};

struct bernoulli_operation : operation<bernoulli_operation> {
  template <int N> static constexpr tracer apply(context& trace, tracer key, tracer p, const extent_list<N>& shape) {
    element_type type = is_floating(p.type()) ? p.type() : element_type::float32;
    tracer u = uniform(key, dims_of(trace, "random::bernoulli", shape), type, build::literal(trace, type, 0),
                       build::literal(trace, type, 1), "random::bernoulli");
    return trace.failed ? key : u < p;
  }
};

template <element T> struct randint_operation : operation<randint_operation<T>> {
  template <int N>
  static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape, tracer low, tracer high) {
    constexpr element_type type = element_type_of<T>;
    constexpr element_type unsigned_type = size_of(type) == 8 ? element_type::uint64 : element_type::uint32;
    key_words k = words_of(key, "random::randint");
    dims counts = dims_of(trace, "random::randint", shape);
    if (trace.failed) return key;
    auto half = [&](std::int64_t number) {
      key_words n{build::integer_literal(trace, element_type::uint32, 0),
                  build::integer_literal(trace, element_type::uint32, number)};
      tracer parts[] = {build::reshape(cipher(k, n, threefry_word::first), {1}),
                        build::reshape(cipher(k, n, threefry_word::second), {1})};
      std::int64_t along = 0;
      tracer subkey = emit<primitives::concatenate>(trace, parts, std::span<const std::int64_t>(&along, 1));
      return bits(subkey, counts, unsigned_type, "random::randint");
    };
    tracer upper = half(0), lower = half(1);
    low = build::convert(low, type);
    high = build::convert(high, type);
    // two draws together, so that the remainder favours no value noticeably
    tracer one = build::integer_literal(trace, unsigned_type, 1);
    tracer span = build::select(high > low, build::convert(high - low, unsigned_type), one);
    tracer factor = emit<primitives::remainder>(
        {build::integer_literal(trace, unsigned_type,
                                unsigned_type == element_type::uint64 ? std::int64_t{1} << 32 : 1 << 16),
         span});
    factor = emit<primitives::remainder>({factor * factor, span});
    tracer offset = (upper % span) * factor + (lower % span);
    return low + build::convert(offset % span, type);
  }
};

template <class Operation, class... Operands> constexpr auto call(const Operands&... operands) {
  if constexpr ((traced<Operands> || ...) || (eager_operand<Operands> || ...)) return Operation{}(operands...);
  else return lazy<Operation, Operands...>{{operands...}};
}

} // namespace detail

/// The key of a seed: its upper and lower 32 bits. JAX: random.key with 64-bit seeds
constexpr auto key(std::integral auto seed) {
  std::uint64_t wide = static_cast<std::uint64_t>(seed);
  if constexpr (sizeof(seed) <= 4) wide &= 0xFFFFFFFFU; // a 32-bit seed is not sign-extended, as in JAX with x64 off
  return lazy<detail::key_operation, std::uint32_t, std::uint32_t>{
      {static_cast<std::uint32_t>(wide >> 32), static_cast<std::uint32_t>(wide)}};
}
/// `count` new keys, shape (count, 2).
template <class Key> constexpr auto split(const Key& key, extent count = 2) {
  return detail::call<detail::split_operation>(key, extent_list<1>{{count}});
}
template <class Key, int N> constexpr auto split(const Key& key, const extent (&shape)[N]) {
  return detail::call<detail::split_operation>(key, parallax::detail::list_of(shape));
}
/// A new key made of a key and a number.
template <class Key, class Data> constexpr auto fold_in(const Key& key, const Data& data) {
  return detail::call<detail::fold_in_operation>(key, data);
}

/// Random bits: uint8, uint32 or uint64.
template <element T = std::uint32_t, class Key> constexpr auto bits(const Key& key) {
  return detail::call<detail::bits_operation<T>>(key, extent_list<0>{});
}
template <element T = std::uint32_t, class Key, int N> constexpr auto bits(const Key& key, const extent (&shape)[N]) {
  return detail::call<detail::bits_operation<T>>(key, parallax::detail::list_of(shape));
}
template <element T = std::uint32_t, class Key> constexpr auto bits(const Key& key, detail::no_extents) {
  return bits<T>(key);
}
/// Uniform in [low, high).
template <element T = float, class Key> constexpr auto uniform(const Key& key) {
  return detail::call<detail::uniform_operation<T>>(key, extent_list<0>{}, T{0}, T{1});
}
template <element T = float, class Key, int N, class Low = T, class High = T>
constexpr auto uniform(const Key& key, const extent (&shape)[N], const Low& low = T{0}, const High& high = T{1}) {
  return detail::call<detail::uniform_operation<T>>(key, parallax::detail::list_of(shape), low, high);
}
template <element T = float, class Key, class Low = T, class High = T>
constexpr auto uniform(const Key& key, detail::no_extents, const Low& low = T{0}, const High& high = T{1}) {
  return detail::call<detail::uniform_operation<T>>(key, extent_list<0>{}, low, high);
}
/// Standard normal.
template <element T = float, class Key> constexpr auto normal(const Key& key) {
  return detail::call<detail::normal_operation<T>>(key, extent_list<0>{});
}
template <element T = float, class Key, int N> constexpr auto normal(const Key& key, const extent (&shape)[N]) {
  return detail::call<detail::normal_operation<T>>(key, parallax::detail::list_of(shape));
}
template <element T = float, class Key> constexpr auto normal(const Key& key, detail::no_extents) {
  return normal<T>(key);
}
/// True with probability p.
template <class Key, class P = float> constexpr auto bernoulli(const Key& key, const P& p = 0.5f) {
  return detail::call<detail::bernoulli_operation>(key, p, extent_list<0>{});
}
template <class Key, class P, int N> constexpr auto bernoulli(const Key& key, const P& p, const extent (&shape)[N]) {
  return detail::call<detail::bernoulli_operation>(key, p, parallax::detail::list_of(shape));
}
template <class Key, class P> constexpr auto bernoulli(const Key& key, const P& p, detail::no_extents) {
  return bernoulli(key, p);
}
/// Integers in [low, high).
template <element T = std::int32_t, class Key, int N, class Low, class High>
constexpr auto randint(const Key& key, const extent (&shape)[N], const Low& low, const High& high) {
  return detail::call<detail::randint_operation<T>>(key, parallax::detail::list_of(shape), low, high);
}
template <element T = std::int32_t, class Key, class Low, class High>
constexpr auto randint(const Key& key, const Low& low, const High& high) {
  return detail::call<detail::randint_operation<T>>(key, extent_list<0>{}, low, high);
}
template <element T = std::int32_t, class Key, class Low, class High>
constexpr auto randint(const Key& key, detail::no_extents, const Low& low, const High& high) {
  return randint<T>(key, low, high);
}

} // namespace parallax::random
