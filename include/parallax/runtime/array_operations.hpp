// What arrays outside of traced functions do: they are indexed, and stand under another shape, which is the same memory
// or the same constant inside a traced function.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/checked_shapes.hpp>
#include <parallax/arrays/memory/constant_block.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/support/checked_arithmetic.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/trace/extent.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/indexing.hpp>
#include <parallax/ops/shapes/reshaping.hpp>
#include <parallax/runtime/constants.hpp>
#include <parallax/runtime/eager.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

template <element T, auto Shape>
template <class Index>
constexpr auto array<T, Shape>::operator[](const Index& index) const {
  return detail::index_operation{}(*this, index);
}

template <element T, auto Shape>
template <class... Index>
constexpr auto array<T, Shape>::at(const Index&... index) const {
  return detail::elements_at(*this, index...);
}

namespace detail {

/// What `reshape` makes of these extents for an array of `size` elements. Throws `shape_error`.
template <std::size_t Rank>
constexpr std::array<std::int64_t, Rank> shape_of_reshaped(const extent_list<Rank>& list, std::int64_t size) {
  std::array<std::int64_t, Rank> shape{};
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < Rank; ++i) {
    const std::int64_t extent = shape[i] = list.values[i].number();
    if (extent == -1 && !open) open = &shape[i];
    else if (extent < 0 || !checked_multiply(known, extent))
      throw shape_error("reshape: " + std::to_string(extent) + " is no extent for an array of size " +
                        std::to_string(size) + "; give extents from 0 on, or one of -1");
  }
  if (open && known == 0)
    throw shape_error("reshape: cannot reshape array of size " + std::to_string(size) +
                      ": -1 cannot be inferred beside an extent of 0");
  if (open) {
    *open = size / known;
    known *= *open;
  }
  if (known != size)
    throw shape_error("reshape: cannot reshape array of size " + std::to_string(size) + " into shape " +
                      runtime::shape_text(shape));
  return shape;
}

/// Inside a traced function: a value that is computed there, under another shape.
template <std::size_t Rank> struct reshaped_value : runtime::constant_block_of<reshaped_value<Rank>> {
  runtime::constant_block* whole;
  extent_list<Rank> shape;

  constexpr reshaped_value(const runtime::constant_block& of, const extent_list<Rank>& list)
      : whole(of.copy(of)), shape(list) {}
  reshaped_value(const reshaped_value&) = delete;
  reshaped_value& operator=(const reshaped_value&) = delete;
  constexpr ~reshaped_value() { whole->destroy(whole); }
  constexpr runtime::constant_block* copy_of() const { return new reshaped_value(*whole, shape); }
  constexpr tracer value_in(context& trace) const {
    return reshape_operation::apply(trace, whole->in(*whole, trace), shape);
  }
};

/// The elements of an array or expression under another shape; one extent may be -1. Throws `shape_error` unless the
/// numbers of elements are equal.
template <class X, std::size_t Rank> constexpr auto reshape_array(const X& x, const extent_list<Rank>& list) {
  if constexpr (lazy_expression<X>) {
    return reshape_array(evaluate(x), list);
  } else {
    using result_type = array<typename X::value_type, int{Rank}>;
    if constexpr (array_in_a_trace<X>) { // and no array on devices
      if (__builtin_is_constant_evaluated()) {
        if (const runtime::constant_block* const computed = constant_access::block_of(x))
          return constant_access::computed<result_type>(new reshaped_value<Rank>(*computed, list));
        return constant_access::copied<result_type>(x, shape_of_reshaped(list, x.size()));
      }
    }
    const array<typename X::value_type, X::rank> whole(x);
    return result_type::adopt(whole.storage(), shape_of_reshaped(list, whole.size()));
  }
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
