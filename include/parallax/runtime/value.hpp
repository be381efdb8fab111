// An array of any type and shape while a program runs: on the host, or in pieces on its devices.
#pragma once

#include <parallax/compile/encode.hpp>
#include <parallax/compile/expression.hpp>
#include <parallax/runtime/array.hpp>
#include <parallax/runtime/sharded.hpp>

#include <vector>

namespace parallax {

template <class T, auto Shape> inline constexpr bool is_array_value<array<T, Shape>> = true;
template <class T, auto Shape> inline constexpr bool is_array_value<sharded<T, Shape>> = true;

namespace detail {

template <class T, auto Shape> struct abstract_leaf<array<T, Shape>> {
  using type = abstract_array<T, extents_of<Shape>>;
};
template <class T, auto Shape> struct abstract_leaf<sharded<T, Shape>> {
  using type = abstract_array<T, extents_of<Shape>>;
};

/// An argument or intermediate result of a program's outermost block.
struct runtime_value {
  element_type type = element_type::float32;
  small_vector<std::int64_t, max_rank> shape;
  bool is_input = true; ///< false for leaves that have no elements
  bool on_host = false;
  buffer host;
  std::vector<int> devices; ///< where the pieces lie; empty if there are none
  std::vector<shard_axis> axes;
  std::vector<buffer> pieces;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (std::int64_t extent : shape) product *= extent;
    return product;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * size_of(type); }

  /// The elements on the host; gathers them, and counts that, the first time.
  std::byte* host_data() {
    if (!on_host) {
      host = buffer::allocate(bytes());
      copy_pieces_in(host.data(), {shape.data(), static_cast<std::size_t>(shape.size())}, size_of(type), axes, pieces,
                     0, 0);
      count_read(pieces[0], bytes());
      on_host = true;
    }
    return host.data();
  }
};

template <class T, auto Shape> runtime_value value_of(const array<T, Shape>& x) {
  runtime_value value;
  value.type = element_type_of<T>;
  for (std::int64_t extent : x.shape()) value.shape.push_back(extent);
  value.on_host = true;
  value.host = x.storage();
  return value;
}
template <class T, auto Shape> runtime_value value_of(const sharded<T, Shape>& x) {
  runtime_value value;
  value.type = element_type_of<T>;
  for (std::int64_t extent : x.shape()) value.shape.push_back(extent);
  value.devices = x.devices();
  value.axes = x.axes();
  for (int p = 0; p < static_cast<int>(value.devices.size()); ++p) value.pieces.push_back(x.shard_buffer(p));
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
template <int Rank> runtime_value value_of(const extent_list<Rank>& list) {
  runtime_value value;
  for (int i = 0; i < Rank; ++i) value.shape.push_back(list.values[i].value);
  value.is_input = false;
  return value;
}

template <std::size_t Rank> std::array<std::int64_t, Rank> shape_array(const runtime_value& value) {
  std::array<std::int64_t, Rank> shape{};
  for (int i = 0; i < static_cast<int>(Rank); ++i) shape[static_cast<std::size_t>(i)] = value.shape[i];
  return shape;
}

/// `array<T, shape_for<Extents>>`, or likewise `sharded`. Ranks stand in it as figures: nvcc names a type as it met it
/// first, and cannot where the program's function, a lambda, is part of that.
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

/// Where output `Number` of a program's outermost block is described.
template <class Program, int Number> struct output_description {
  static constexpr std::int64_t find() {
    constexpr auto& t = Program::table;
    table_reader r(t.data() + t[static_cast<std::size_t>(t[blocks_at] + 1)]);
    r.skip(r.next()); // mesh
    r.skip(3);
    r.skip(4 * r.next()); // buffers
    r.next();
    std::int64_t start = 0;
    for (int k = 0; k <= Number; ++k) {
      const std::int64_t* here = r.skip(0);
      start = here - t.data();
      r.skip(3);
      r.skip(r.next());
      r.skip(2 * r.next());
    }
    return start;
  }
  static constexpr std::int64_t at = find();
  static constexpr bool is_value = Program::table[at] != 0;
  static constexpr element_type type = static_cast<element_type>(Program::table[at + 2]);
  static constexpr std::size_t rank = static_cast<std::size_t>(Program::table[at + 3]);

  template <std::size_t... I> static constexpr auto static_extents(std::index_sequence<I...>) {
    return extents_t<(Program::table[at + 4 + static_cast<std::int64_t>(I)] >= 0
                          ? Program::table[at + 4 + static_cast<std::int64_t>(I)]
                          : dyn)...>{};
  }
  /// What a caller gets: results of a pmap stay on their devices.
  static auto make(runtime_value&& value) {
    using extents_type = decltype(static_extents(std::make_index_sequence<rank>{}));
    if constexpr (is_value)
      return shaped<sharded, element_t<type>, extents_type>::type::adopt(
          shape_array<rank>(value), std::move(value.devices), std::move(value.axes), std::move(value.pieces));
    else
      return shaped<array, element_t<type>, extents_type>::type::adopt(std::move(value.host), shape_array<rank>(value));
  }
};

} // namespace detail
} // namespace parallax
