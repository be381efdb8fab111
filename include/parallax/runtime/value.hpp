// An array of any type and shape while a program runs: on the host, or in pieces on its devices.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/compile/program.hpp>
#include <parallax/compile/trace/expression.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

template <class T, auto Shape> inline constexpr bool is_array_value<array<T, Shape>> = true;
template <class T, auto Shape> inline constexpr bool is_array_value<sharded<T, Shape>> = true;

using namespace runtime;

template <class T, auto Shape> struct abstract_leaf<array<T, Shape>> {
  using type = abstract_array<T, extents_of<Shape>>;
};
template <class T, auto Shape> struct abstract_leaf<sharded<T, Shape>> {
  using type = abstract_array<T, extents_of<Shape>>;
};

} // namespace detail

namespace runtime {

/// An argument or intermediate result of a program's main section.
struct runtime_value {
  element_type type = element_type::float32;
  small_vector<std::int64_t, max_rank> shape;
  bool is_input = true; ///< false for leaves that have no elements
  bool on_host = false;
  buffer host;
  recycled_vector<int> devices; ///< where the pieces lie; empty if there are none
  recycled_vector<shard_axis> axes;
  recycled_vector<buffer> pieces;
  bool is_donated = false; ///< whether results may take the memory, which nobody else has

  std::int64_t count() const { return product({shape.data(), index_of(shape.size())}); }
  std::size_t bytes() const { return index_of(count()) * size_of(type); }

  /// The elements on the host; gathers them the first time, and counts the bytes.
  std::byte* host_data() {
    if (!on_host) {
      host = buffer::allocate(bytes());
      copy_pieces_in(host.data(), shape, size_of(type), axes, pieces, 0, 0);
      count_read(pieces[0], bytes());
      on_host = true;
    }
    return host.data();
  }
};

/// A value of `shape` without elements yet.
PARALLAX_RUNTIME_FUNCTION runtime_value value_of_shape(element_type type, plain_span<const std::int64_t> shape);

/// Puts `value` behind the others.
PARALLAX_RUNTIME_FUNCTION void append(recycled_vector<runtime_value>& values, runtime_value&& value);

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION runtime_value value_of_shape(element_type type, plain_span<const std::int64_t> shape) {
  runtime_value value;
  value.type = type;
  for (std::int64_t extent : shape) value.shape.push_back(extent);
  return value;
}

PARALLAX_RUNTIME_FUNCTION void append(recycled_vector<runtime_value>& values, runtime_value&& value) {
  values.push_back(std::move(value));
}
#endif

template <class T, auto Shape> runtime_value value_of(const array<T, Shape>& x) {
  runtime_value value = value_of_shape(element_type_of<T>, x.shape());
  value.on_host = true;
  value.host = x.storage();
  return value;
}
template <class T, auto Shape> runtime_value value_of(const sharded<T, Shape>& x) {
  runtime_value value = value_of_shape(element_type_of<T>, x.shape());
  value.devices = x.devices();
  value.axes = x.axes();
  for (int p = 0; p < count_of(value.devices); ++p) value.pieces.push_back(x.shard_buffer(p));
  return value;
}
template <scalar T> runtime_value value_of(T x) {
  constexpr element_type type = scalar_type_of<T>;
  runtime_value value;
  value.type = type;
  value.on_host = true;
  value.host = buffer::allocate(sizeof(element_t<type>));
  *reinterpret_cast<element_t<type>*>(value.host.data()) = static_cast<element_t<type>>(x);
  return value;
}
/// Extents have no elements: only their values matter.
template <std::size_t Rank> runtime_value value_of(const extent_list<Rank>& list) {
  runtime_value value;
  for (const extent& e : list.view()) value.shape.push_back(e.number());
  value.is_input = false;
  return value;
}

template <std::size_t Rank> std::array<std::int64_t, Rank> shape_array(const runtime_value& value) {
  std::array<std::int64_t, Rank> shape{};
  constexpr int rank = Rank;
  for (int i = 0; i < rank; ++i) shape[index_of(i)] = value.shape[i];
  return shape;
}

/// `array<T, shape_for<Extents>>`, or likewise `sharded`. Ranks are written as figures: nvcc names a type as the first
/// use spells it, which fails if the program's function, a lambda, is part of the name.
template <template <class, auto> class Kind, class T, class Extents> struct shaped;
template <template <class, auto> class Kind, class T, std::int64_t... Extents>
struct shaped<Kind, T, extents_t<Extents...>> {
  using type = Kind<T, extents<Extents...>>;
};
template <template <class, auto> class Kind, class T, std::int64_t... Extents>
  requires(extents_t<Extents...>::all_dynamic)
struct shaped<Kind, T, extents_t<Extents...>> {
  using ranks = std::tuple<Kind<T, 0>, Kind<T, 1>, Kind<T, 2>, Kind<T, 3>, Kind<T, 4>, Kind<T, 5>, Kind<T, 6>,
                           Kind<T, 7>, Kind<T, max_rank>>;
  using type = std::tuple_element_t<sizeof...(Extents), ranks>;
};

/// Makes the array of a value. Its type is deduced, so that all results of one type share this function.
template <class T, auto Shape> array<T, Shape> array_of(std::type_identity<array<T, Shape>>, runtime_value&& value) {
  return array<T, Shape>::adopt(std::move(value.host), shape_array<index_of(array<T, Shape>::rank)>(value));
}
template <class T, auto Shape>
sharded<T, Shape> array_of(std::type_identity<sharded<T, Shape>>, runtime_value&& value) {
  const bool others_have_some = !has_all_pieces(value.axes, value.pieces.size());
  return sharded<T, Shape>::of_pieces(shape_array<index_of(sharded<T, Shape>::rank)>(value), std::move(value.devices),
                                      std::move(value.axes), std::move(value.pieces), others_have_some);
}

/// What is known while compiling of output `Number` of a program's main section.
template <class Program, int Number> struct output_description {
  static constexpr output_record output =
      Program::plan[Program::plan.section(section_id::main).outputs][index_of(Number)];
  static constexpr bool is_value = output.value != value_id::none;
  static constexpr element_type type = output.described.type;
  static constexpr std::size_t rank = index_of(output.described.shape.count);

  template <std::size_t... I> static constexpr auto static_extents(std::index_sequence<I...>) {
    [[maybe_unused]] constexpr auto extent_at = [](std::size_t i) {
      const dim extent = Program::plan[output.described.shape][i];
      return is_static(extent) ? extent.number() : dyn;
    };
    return extents_t<extent_at(I)...>{};
  }
  /// The type of the array. No part of it has a name of its own: nvcc 12 writes a type by the name that it met first.
  static auto type_of_array() {
    using extents_type = decltype(static_extents(std::make_index_sequence<rank>{}));
    if constexpr (is_value) return std::type_identity<typename shaped<sharded, element_t<type>, extents_type>::type>{};
    else return std::type_identity<typename shaped<array, element_t<type>, extents_type>::type>{};
  }
  /// Makes the caller's result. Results of a pmap stay on their devices.
  static auto make(runtime_value&& value) { return array_of(type_of_array(), std::move(value)); }
};

} // namespace runtime
} // namespace parallax::PARALLAX_INLINE_VERSION
