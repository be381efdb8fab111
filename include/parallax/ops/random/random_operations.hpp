// What random numbers are made of: operations on keys, for any generator. Element n of an array depends on its
// row-major index n alone, so any part of the array can be made anywhere.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/slicing.hpp>
#include <parallax/ops/random/random_ranges.hpp>
#include <parallax/ops/shapes/creation.hpp>
#include <parallax/primitives/arrays/assembly.hpp>
#include <parallax/primitives/math/conversion.hpp>
#include <parallax/primitives/math/wide_remainder.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A key is a uint32 array whose last axis has extent 2: its two words. Each word here is an array without that axis.
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
    key.owner->fail(text << "; make one with " << name.substr(0, name.find(':')) << "::key, and use vmap for several");
    return {key, key};
  }
  return {index_in_dim(key, 0), index_in_dim(key, 1)};
}

/// High and low 32 bits of the row-major index of a shape.
constexpr key_words row_major_number(context& trace, const dims& shape) {
  if (shape.empty()) {
    tracer zero = build::integer_literal(trace, element_type::uint32, 0);
    return {zero, zero};
  }
  auto index = [&](element_type type) {
    return emit<primitives::iota>(trace, {type, primitives::iota::row_major, shape});
  };
  tracer low = index(element_type::uint32);
  dim size = trace.extents.product(shape);
  if (is_static(size) && size.number() <= (std::int64_t{1} << 32))
    return {build::integer_literal(trace, element_type::uint32, 0), low};
  tracer wide = index(element_type::uint64);
  return {build::convert(emit<primitives::shift_right>({wide, build::integer_literal(trace, element_type::uint64, 32)}),
                         element_type::uint32),
          low};
}

constexpr tracer low_byte(tracer word) {
  tracer mask = build::integer_literal(*word.owner, element_type::uint32, 255);
  return build::convert(emit<primitives::bitwise_and>({word, mask}), element_type::uint8);
}

/// The name of a generator's function, for messages.
template <class Generator, fixed_string Function>
inline constexpr auto name_of_function = text_buffer<32>{} << Generator::name << "::" << Function.view();

/// How numbers in [0, 1) are made of random words.
struct unit_format {
  element_type word;
  std::int64_t bits; ///< 16-bit types: the bits of a word that are used; others: the exponent of 1
  int shift;         ///< of the word
  double step;       ///< between numbers of 16-bit types
  double below_one;  ///< the largest number
};
constexpr unit_format unit_format_of(element_type type) {
  switch (type) {
  case element_type::float16: return {element_type::uint32, 0xFFFF, 6, 0x1p-10, 0x1.ffcp-1};
  case element_type::bfloat16: return {element_type::uint32, 0xFF, 1, 0x1p-7, 0x1.fep-1};
  case element_type::float32: return {element_type::uint32, 0x3F800000, 9, 0, 0x1.fffffep-1};
  case element_type::float64: return {element_type::uint64, 0x3FF0000000000000, 12, 0, 0x1.fffffffffffffp-1};
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  }
  return unit_format_of(not_said_of_this_element_type());
}

/// A 16-bit number in [0, 1) from random words: it uses as many of their low bits as JAX does. By way of an exponent of
/// 1, as below, the last place would be coarser.
constexpr tracer unit_of_16_bits(tracer words, element_type type) {
  context& trace = *words.owner;
  auto word = [&](std::int64_t value) { return build::integer_literal(trace, element_type::uint32, value); };
  const unit_format format = unit_format_of(type);
  tracer low_bits = emit<primitives::bitwise_and>({words, word(format.bits)});
  tracer fraction = emit<primitives::shift_right>({low_bits, word(format.shift)});
  return build::convert(fraction, type) * build::literal(trace, type, format.step);
}
/// A number in [0, 1) from random words of the type's size: random mantissa bits with the exponent of 1, minus 1.
constexpr tracer unit_of_words(tracer words, element_type type) {
  context& trace = *words.owner;
  const unit_format format = unit_format_of(type);
  tracer shift = build::integer_literal(trace, words.type(), format.shift);
  tracer exponent = build::integer_literal(trace, words.type(), format.bits);
  tracer pattern = emit<primitives::bitwise_or>({emit<primitives::shift_right>({words, shift}), exponent});
  return emit<primitives::bitcast>({pattern}, {type}) - 1;
}

/// Uniform in [low, high) of bounds of the type; `low` if that range is empty. With `stays_below`, the bounds are such
/// that the largest random number gives less than `high` without a correction: those of [0, 1), for example.
template <class Generator>
constexpr tracer uniform_numbers(tracer key, const dims& shape, element_type type, tracer low, tracer high,
                                 std::string_view name, bool stays_below = false) {
  key_words k = words_of(key, name);
  if (key.owner->failed) return key;
  tracer words = Generator::bits(k, shape, unit_format_of(type).word);
  tracer unit = is_half_precision(type) ? unit_of_16_bits(words, type) : unit_of_words(words, type);
  low = build::convert(low, type);
  high = build::convert(high, type);
  tracer number = unit * (high - low) + low; // may be rounded up
  if (!stays_below) number = emit<primitives::minimum>({number, just_below(high)});
  return emit<primitives::maximum>({low, number});
}
/// Uniform in [0, 1).
template <class Generator>
constexpr tracer uniform_unit(tracer key, const dims& shape, element_type type, std::string_view name) {
  context& trace = *key.owner;
  return uniform_numbers<Generator>(key, shape, type, build::literal(trace, type, 0), build::literal(trace, type, 1),
                                    name, true);
}

struct key_operation : operation<key_operation> {
  static constexpr tracer apply(context&, tracer high, tracer low) {
    return emit<primitives::concatenate>({build::reshape(build::convert(high, element_type::uint32), {dim{1}}),
                                          build::reshape(build::convert(low, element_type::uint32), {dim{1}})},
                                         {0});
  }
};

template <class Generator> struct split_operation : operation<split_operation<Generator>> {
  template <std::size_t N> static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape) {
    constexpr std::string_view name = name_of_function<Generator, "split">.view();
    key_words k = words_of(key, name);
    dims counts = dims_of(trace, name, shape);
    return trace.failed ? key : Generator::keys(k, counts);
  }
};

template <class Generator> struct fold_in_operation : operation<fold_in_operation<Generator>> {
  static constexpr tracer apply(context& trace, tracer key, tracer data) {
    key_words k = words_of(key, name_of_function<Generator, "fold_in">.view());
    return trace.failed ? key : Generator::fold_in(k, data);
  }
};

template <class Generator, element T> struct bits_operation : operation<bits_operation<Generator, T>> {
  template <std::size_t N> static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape) {
    constexpr std::string_view name = name_of_function<Generator, "bits">.view();
    key_words k = words_of(key, name);
    dims counts = dims_of(trace, name, shape);
    return trace.failed ? key : Generator::bits(k, counts, element_type_of<T>);
  }
};

template <class Generator, element T> struct uniform_operation : operation<uniform_operation<Generator, T>> {
  template <std::size_t N> static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape) {
    constexpr std::string_view name = name_of_function<Generator, "uniform">.view();
    return uniform_unit<Generator>(key, dims_of(trace, name, shape), element_type_of<T>, name);
  }
  template <std::size_t N>
  static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape, tracer low, tracer high) {
    constexpr std::string_view name = name_of_function<Generator, "uniform">.view();
    return uniform_numbers<Generator>(key, dims_of(trace, name, shape), element_type_of<T>, low, high, name);
  }
};

template <class Generator, element T> struct normal_operation : operation<normal_operation<Generator, T>> {
  template <std::size_t N> static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape) {
    constexpr std::string_view name = name_of_function<Generator, "normal">.view();
    constexpr element_type type = element_type_of<T>;
    constexpr double above_minus_one = -unit_format_of(type).below_one;
    tracer u =
        uniform_numbers<Generator>(key, dims_of(trace, name, shape), type, build::literal(trace, type, above_minus_one),
                                   build::literal(trace, type, 1), name, true);
    if (trace.failed) return key;
    return build::literal(trace, type, 1.4142135623730951) * emit<primitives::erf_inv>({u});
  }
};

template <class Generator> struct bernoulli_operation : operation<bernoulli_operation<Generator>> {
  template <std::size_t N>
  static constexpr tracer apply(context& trace, tracer key, tracer p, const extent_list<N>& shape) {
    constexpr std::string_view name = name_of_function<Generator, "bernoulli">.view();
    element_type type = is_inexact(p.type()) ? p.type() : element_type::float32;
    tracer u = uniform_unit<Generator>(key, dims_of(trace, name, shape), type, name);
    return trace.failed ? key : u < p;
  }
};

template <class Generator, element T> struct randint_operation : operation<randint_operation<Generator, T>> {
  template <std::size_t N>
  static constexpr tracer apply(context& trace, tracer key, const extent_list<N>& shape, tracer low, tracer high) {
    constexpr std::string_view name = name_of_function<Generator, "randint">.view();
    constexpr element_type type = element_type_of<T>;
    constexpr element_type unsigned_type = size_of(type) == 8 ? element_type::uint64 : element_type::uint32;
    key_words k = words_of(key, name);
    dims counts = dims_of(trace, name, shape);
    if (trace.failed) return key;
    auto half = [&](std::int64_t number) {
      tracer subkey = Generator::fold_in(k, build::integer_literal(trace, element_type::uint32, number));
      return Generator::bits(words_of(subkey, name), counts, unsigned_type);
    };
    tracer upper = half(0), lower = half(1);
    // two draws form one number of twice the bits, so that the remainder favours no value noticeably
    const integer_range range = integer_range::of(low, high, type, unsigned_type);
    return range.low + build::convert(emit<primitives::wide_remainder>({upper, lower, range.size}), type);
  }
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
