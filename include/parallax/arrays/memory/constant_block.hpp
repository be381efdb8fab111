// The content of arrays while a function is traced: the numbers of a table written out, or a value that is computed in
// the trace that reads it.
#pragma once

#include <parallax/core/trace/context.hpp>
#include <parallax/core/trace/tracer.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// The target of a buffer's handle while a function is traced. It belongs to one handle; a copied handle gets a copy of
/// it. Pointers to functions replace virtual ones, which nvcc 13.0's front end does not support here.
struct constant_block {
  constant_block* (*copy)(const constant_block&);
  void (*destroy)(constant_block*);
  tracer (*in)(const constant_block&, context&); ///< the value in a trace; null if the block holds numbers
  std::size_t count = 0;                         ///< of numbers
};

/// The base of `Block`, which has the functions `copy_of` and, unless it holds numbers, `value_in`.
template <class Block> struct constant_block_of : constant_block {
  constexpr explicit constant_block_of(std::size_t numbers)
      : constant_block{&copy_of_block, &destroy_block, nullptr, numbers} {}
  constexpr constant_block_of() : constant_block{&copy_of_block, &destroy_block, &value_of_block, 0} {}

 private:
  static constexpr constant_block* copy_of_block(const constant_block& block) {
    return static_cast<const Block&>(block).copy_of();
  }
  static constexpr void destroy_block(constant_block* block) { delete static_cast<Block*>(block); }
  static constexpr tracer value_of_block(const constant_block& block, context& trace) {
    return static_cast<const Block&>(block).value_in(trace);
  }
};

/// A traced array that was assigned to a variable which began as an array.
struct assigned_tracer : constant_block_of<assigned_tracer> {
  tracer value;

  constexpr explicit assigned_tracer(const tracer& x) : value(x) {}
  constexpr constant_block* copy_of() const { return new assigned_tracer(value); }
  constexpr tracer value_in(context& trace) const { return trace.own(value); }
};

/// `count` numbers.
template <class T> struct constant_numbers : constant_block_of<constant_numbers<T>> {
  T* first;

  constexpr explicit constant_numbers(std::size_t size)
      : constant_block_of<constant_numbers>(size), first(new T[size]{}) {}
  constexpr constant_numbers(std::size_t size, const T* from) : constant_numbers(size) {
    for (std::size_t k = 0; k < size; ++k) first[k] = from[k];
  }
  constant_numbers(const constant_numbers&) = delete;
  constant_numbers& operator=(const constant_numbers&) = delete;
  constexpr ~constant_numbers() { delete[] first; }
  constexpr constant_block* copy_of() const { return new constant_numbers(this->count, first); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
