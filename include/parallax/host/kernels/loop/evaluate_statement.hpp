// One statement of a kernel evaluated on SIMD registers, for some elements of a row.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/row_operands.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/functions/vector_math.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// A pack's elements one by one.
template <class T> struct lane_values {
  alignas(register_bytes) T lanes[host::lanes];
};
template <class T> PARALLAX_INLINE lane_values<T> stored_lanes(const pack<T>& x) {
  lane_values<T> values;
  store(values.lanes, x);
  return values;
}

/// The result of a scatter for an element, or a pack of elements, and its update.
template <class Primitive, class V> PARALLAX_INLINE V combined(const V& element, const V& update) {
  if constexpr (std::is_same_v<Primitive, primitives::stop_gradient>) return update;
  else return Primitive::evaluate(element, update);
}

template <int I, class T> struct numbered_register {
  pack<T> value;
};
template <class Indices, class... S> struct register_file;
template <std::size_t... I, class... S>
struct register_file<std::index_sequence<I...>, S...> : numbered_register<I, typename S::value_type>... {
  static constexpr element_type types[sizeof...(S)] = {S::record.type...};
};

/// The register of statement `I`. Its type is named: compilers would deduce it from all that the file has.
template <int I, class Registers> PARALLAX_INLINE auto& at(Registers& file) {
  using number = element_t<Registers::types[I]>;
  return static_cast<numbered_register<I, number>&>(file).value;
}

template <class P, element_type Type, std::int64_t Parameter, class... V>
PARALLAX_INLINE auto apply(const V&... operands) {
  if constexpr (requires { P::evaluate(operands...); }) return P::evaluate(operands...);
  else return P::template evaluate<Type, Parameter>(operands...);
}

/// Evaluates one statement at `offset` of a row, for `count` elements of it.
template <moved_lanes Moved, class Primitive, element_type Type, std::int64_t Parameter, int... Operands,
          class Registers, class Row>
PARALLAX_INLINE auto evaluate(compute_statement<Primitive, Type, Parameter, Operands...>, Registers& registers,
                              const Row&, const constant_bits*, std::int64_t, int) {
  return apply<Primitive, Type, Parameter>(at<Operands>(registers)...);
}
template <moved_lanes Moved, element_type Type, int Operand, int Array, class Registers, class Row>
PARALLAX_INLINE auto evaluate(store_statement<statement_kind::store_vector, Type, Operand, Array>, Registers& registers,
                              const Row& row, const constant_bits*, std::int64_t offset, int count) {
  using T = element_t<Type>;
  pack<T> value = at<Operand>(registers);
  T* const to = reinterpret_cast<T*>(const_cast<std::byte*>(operand_at<Array>(row).data)) + offset;
  if constexpr (has_stores_past_caches<T> && Moved != moved_lanes::first)
    if (row.past_caches && (Moved == moved_lanes::all || count == lanes) && is_aligned(to)) {
      store_past_caches(to, value);
      return value;
    }
  store<Moved>(to, value, count);
  return value;
}
template <moved_lanes Moved, statement_kind Kind, element_type Type, int Argument, class Registers, class Row>
PARALLAX_INLINE auto evaluate(load_statement<Kind, Type, Argument>, Registers&, const Row& row,
                              const constant_bits* constants, std::int64_t offset, int count) {
  using T = element_t<Type>;
  if constexpr (Kind == statement_kind::load_constant) {
    return broadcast(constants[Argument].template as<T>());
  } else if constexpr (Kind == statement_kind::load_index) {
    // in floats: 16 bits would round each part of the sum
    using number = std::conditional_t<math::floating16_element<T>, float, T>;
    auto lane = host::lane_index<number>();
    std::int64_t stride = operand_at<Argument>(row).stride;
    number start = static_cast<number>(operand_at<Argument>(row).start + offset * stride);
    return math::convert<T>(math::add(broadcast(start), math::mul(lane, broadcast(static_cast<number>(stride)))));
  } else {
    static_assert(Kind == statement_kind::load_scalar || Kind == statement_kind::load_vector ||
                  Kind == statement_kind::load_strided);
    const T* data = reinterpret_cast<const T*>(operand_at<Argument>(row).data);
    std::int64_t stride = operand_at<Argument>(row).stride;
    if constexpr (Kind == statement_kind::load_scalar) return broadcast(*data);
    else if constexpr (Kind == statement_kind::load_vector) return load<Moved>(data + offset, count);
    else if (stride == 1) return load<Moved>(data + offset, count); // of a tile
    else return load_strided<Moved>(data + offset * stride, stride, count);
  }
}

/// A lane of a pack of whole numbers. Lanes of 4 bytes leave a register in pairs, which takes half the instructions.
template <class Number> PARALLAX_INLINE std::int64_t place_of(const pack<Number>& places, int lane) {
  if constexpr (sizeof(Number) == 8) return places.lane[lane];
  else {
    std::int64_t two;
    __builtin_memcpy(&two, places.lane + (lane & ~1), sizeof two);
    return lane & 1 ? two >> 32 : static_cast<std::int64_t>(static_cast<std::int32_t>(two));
  }
}

template <moved_lanes Moved, statement_kind Kind, element_type Type, int Offset, int Array, class Registers, class Row>
PARALLAX_INLINE auto evaluate(gather_statement<Kind, Type, Offset, Array>, Registers& registers, const Row& row,
                              const constant_bits*, std::int64_t offset, int count) {
  using T = element_t<Type>;
  const std::int64_t stride = operand_at<Array>(row).stride;
  const T* first = reinterpret_cast<const T*>(operand_at<Array>(row).data) + offset * stride;
  const auto& offset_of = at<Offset>(registers);
  static_assert(Kind == statement_kind::gather_row || Kind == statement_kind::gather_each);
  if constexpr (Kind == statement_kind::gather_row) {
    first += stored_lanes(offset_of).lanes[0];
    return stride == 1 ? load<Moved>(first, count) : load_strided<Moved>(first, stride, count);
  } else if constexpr (register_bytes == 64) {
    using number = typename std::remove_cvref_t<decltype(offset_of)>::value_type;
    const pack<number> places =
        math::add(offset_of, math::mul(host::lane_index<number>(), broadcast(static_cast<number>(stride))));
    return pack_of<Moved, T>([&](int i) { return first[place_of(places, i)]; }, count);
  } else {
    const auto offsets = stored_lanes(offset_of);
    return pack_of<Moved, T>([&](int i) { return first[i * stride + offsets.lanes[i]]; }, count);
  }
}
/// The update only: its element, which may be any, is changed after all statements, see
/// `host/kernels/order/scatter.hpp`.
template <moved_lanes Moved, class Primitive, element_type Type, int Offset, int Update, int Array, class Registers,
          class Row>
PARALLAX_INLINE auto evaluate(scatter_statement<statement_kind::scatter_each, Primitive, Type, Offset, Update, Array>,
                              Registers& registers, const Row&, const constant_bits*, std::int64_t, int) {
  return at<Update>(registers);
}
/// Changes a row of elements that lie at one distance behind their positions.
template <moved_lanes Moved, class Primitive, element_type Type, int Offset, int Update, int Array, class Registers,
          class Row>
PARALLAX_INLINE auto evaluate(scatter_statement<statement_kind::scatter_row, Primitive, Type, Offset, Update, Array>,
                              Registers& registers, const Row& row, const constant_bits*, std::int64_t offset,
                              int count) {
  using T = element_t<Type>;
  const pack<T> update = at<Update>(registers);
  const std::int64_t stride = operand_at<Array>(row).stride, further = stored_lanes(at<Offset>(registers)).lanes[0];
  if (further < 0) return update;
  T* const first =
      reinterpret_cast<T*>(const_cast<std::byte*>(operand_at<Array>(row).data)) + offset * stride + further;
  if (stride == 1) {
    store<Moved>(first, combined<Primitive>(load<Moved>(first, count), update), count);
    return update;
  }
  const auto updates = stored_lanes(update);
  for (int i = 0; i < count; ++i) first[i * stride] = combined<Primitive>(first[i * stride], updates.lanes[i]);
  return update;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
