// Tables of numbers: arrays that are written inside traced functions, and those that a program has of them.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/compile/program_table.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

struct constant_access {
  template <class T, auto Shape> static constexpr tracer in(context& trace, const array<T, Shape>& x) {
    if (const runtime::constant_block* const computed = x.elements.computed()) return computed->in(*computed, trace);
    if constexpr (extents_of<Shape>::rank == 0) {
      return build::scalar_literal(trace, *x.data(), element_type_of<T>, false);
    } else {
      constant_table table;
      table.type = element_type_of<T>;
      for (const std::int64_t extent : x.shape()) table.shape.push_back(dim{extent});
      for (std::int64_t k = 0; k < x.size(); ++k) table.words.push_back(word_of(x.data()[k]));
      return {&trace, graph_id::outermost, trace.input_of(table)};
    }
  }

  /// The description of an array's value if the trace that reads the array computes it; null for an array of numbers.
  template <class T, auto Shape> static constexpr const runtime::constant_block* block_of(const array<T, Shape>& x) {
    return x.elements.computed();
  }
  /// A new array of the same numbers, with another shape.
  template <class Array, class Numbers>
  static constexpr Array copied(const Numbers& x, const typename Array::shape_type& shape) {
    Array made = Array::uninitialised(shape);
    std::copy_n(x.data(), x.size(), made.raw());
    return made;
  }
  /// An array whose value is computed by the trace that reads it.
  template <class Array> static constexpr Array computed(runtime::constant_block* block) { return Array(block); }

 private:
  template <class T> static constexpr std::int64_t word_of(T number) {
    if constexpr (has_double_literal(element_type_of<T>))
      return std::bit_cast<std::int64_t>(static_cast<double>(number));
    else return static_cast<std::int64_t>(number);
  }
};

template <class T, auto Shape> struct constant_array<array<T, Shape>> {
  static constexpr tracer in(context& trace, const array<T, Shape>& x) { return constant_access::in(trace, x); }
};

/// Table number `K` of a program as an argument, which all calls share.
template <class Program, std::size_t K> const auto& table_argument() {
  using table = program_table<Program, K>;
  using array_type = array<typename table::value_type, shape_for<typename table::extents_type>>;
  static const array_type made(table::extents_type::values,
                               std::span<const typename table::value_type>(table::numbers));
  return made;
}

/// Calls `call` with other arguments, and a program's tables behind them.
template <class Program, class Call, class... Args> decltype(auto) with_tables(const Call& call, const Args&... args) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) -> decltype(auto) {
    return call(args..., table_argument<Program, K>()...);
  }(std::make_index_sequence<Program::table_count>{});
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
