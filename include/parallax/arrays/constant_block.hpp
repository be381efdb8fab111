// What arrays hold while a function is traced: the numbers of a table written out, or what is computed in the trace that
// comes to read it.
#pragma once

#include <parallax/core/context.hpp>
#include <parallax/core/tracer.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// What a buffer is a handle to: a `memory_block` when programs run, a `constant_block` while functions are traced.
struct block {};

/// Belongs to one handle, which copies it.
struct constant_block : block {
  constexpr constant_block() = default;
  constexpr constant_block(const constant_block&) = default;
  constant_block& operator=(const constant_block&) = delete;
  constexpr virtual ~constant_block() = default;
  constexpr virtual constant_block* copy() const = 0;
  /// The value in a trace, where that is not a table's.
  constexpr virtual tracer in(context&) const { return {}; }
};

/// `count` numbers.
template <class T> struct constant_numbers : constant_block {
  T* first;
  std::size_t count;

  constexpr explicit constant_numbers(std::size_t size) : first(new T[size]{}), count(size) {}
  constexpr constant_numbers(const constant_numbers& other) : constant_numbers(other.count) {
    for (std::size_t k = 0; k < count; ++k) first[k] = other.first[k];
  }
  constant_numbers& operator=(const constant_numbers&) = delete;
  constexpr ~constant_numbers() override { delete[] first; }
  constexpr constant_block* copy() const override { return new constant_numbers(*this); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
