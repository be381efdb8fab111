// A kernel's statements evaluated on SIMD registers.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/functions/vector_math.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Whether rows of so many bytes are written past the caches: many bytes in all, and rows of whole registers, since a
/// line that two rows share would be written in two parts.
constexpr bool are_past_caches(std::int64_t rows, std::int64_t row_bytes) {
  return rows * row_bytes >= 4 << 20 && (rows == 1 || row_bytes % register_bytes == 0);
}

/// The operands of a row: the addresses of their first elements, or the first value of an index.
struct row_position {
  const std::byte* data[max_accesses];
  std::int64_t start[max_accesses];
  std::int64_t stride[max_accesses]; ///< along the row, in elements
  bool past_caches = false;          ///< whether results are written past the caches

  /// The row at the given position of the outer dimensions.
  PARALLAX_INLINE void set(const kernel_arguments& a, const std::int64_t* position, int outer_rank) {
    for (int i = 0; i < a.operand_count; ++i) {
      const operand& o = a.operands[i];
      std::int64_t offset = 0;
      for (int d = 0; d < outer_rank; ++d) offset += position[d] * o.strides[d];
      data[i] = o.data ? o.data + offset * o.element_bytes : nullptr;
      start[i] = o.start + offset;
      stride[i] = outer_rank < a.rank ? o.strides[outer_rank] : 0;
    }
  }
  /// Moves `elements` elements along the row.
  PARALLAX_INLINE void move(const kernel_arguments& a, std::int64_t elements) {
    for (int i = 0; i < a.operand_count; ++i) {
      if (data[i] != nullptr) data[i] += elements * stride[i] * a.operands[i].element_bytes;
      start[i] += elements * stride[i];
    }
  }
  /// Moves to the next row along `dimension`.
  PARALLAX_INLINE void advance(const kernel_arguments& a, int dimension) {
    for (int i = 0; i < a.operand_count; ++i) {
      const operand& o = a.operands[i];
      if (o.data) data[i] += o.strides[dimension] * o.element_bytes;
      start[i] += o.strides[dimension];
    }
  }
};

namespace detail {

/// A row's operands as single values: compilers keep these in registers, unlike arrays.
template <int I> struct row_operand {
  const std::byte* data;
  std::int64_t start, stride;
};
/// The distances between a row's operands and those of the next row along a dimension.
template <int I> struct row_step {
  std::ptrdiff_t bytes;
  std::int64_t elements;

  PARALLAX_INLINE row_step(const operand& o, int dimension)
      : bytes(o.data == nullptr ? 0 : o.strides[dimension] * o.element_bytes), elements(o.strides[dimension]) {}
};
template <class Indices> struct row_steps;
template <std::size_t... I> struct row_steps<std::index_sequence<I...>> : row_step<static_cast<int>(I)>... {
  PARALLAX_INLINE row_steps(const kernel_arguments& a, int dimension)
      : row_step<static_cast<int>(I)>(a.operands[I], dimension)... {}
};
template <int I> PARALLAX_INLINE const row_step<I>& step_of(const row_step<I>& s) { return s; }

template <class Indices> struct row_operands;
template <std::size_t... I> struct row_operands<std::index_sequence<I...>> : row_operand<I>... {
  bool past_caches; ///< whether results are written past the caches

  PARALLAX_INLINE explicit row_operands(const row_position& row)
      : row_operand<I>{row.data[I], row.start[I], row.stride[I]}..., past_caches(row.past_caches) {}
  /// The only row of a loop of one dimension.
  PARALLAX_INLINE row_operands(const operand* operands, bool writes_past_caches)
      : row_operand<I>{operands[I].data, operands[I].start, operands[I].strides[0]}...,
        past_caches(writes_past_caches) {}
  /// The next row. Unlike a `row_position`, it stays in registers.
  PARALLAX_INLINE void advance(const row_steps<std::index_sequence<I...>>& steps) {
    ((row_operand<I>::data += step_of<I>(steps).bytes, row_operand<I>::start += step_of<I>(steps).elements), ...);
  }
};
template <int I> PARALLAX_INLINE const row_operand<I>& operand_at(const row_operand<I>& o) { return o; }

/// One more than the number of the array that a statement reads or writes; 0 if it does neither.
constexpr int arrays_up_to(const kernel_statement& s) {
  const bool is_access = is_store(s.kind) || is_gather(s.kind) || is_scatter(s.kind) ||
                         (is_load(s.kind) && s.kind != statement_kind::load_constant);
  return is_access ? s.argument + 1 : 0;
}

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
struct register_file<std::index_sequence<I...>, S...> : numbered_register<I, typename S::value_type>... {};

template <int I, class T> PARALLAX_INLINE pack<T>& at(numbered_register<I, T>& r) { return r.value; }

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
    static_assert(is_load_of_array(Kind));
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

} // namespace detail

/// Whether a kernel is so short that a test of the number of lanes counts. Longer kernels are compiled once.
template <class Kernel> inline constexpr bool is_short = Kernel::size <= 12;

/// How many of the elements from `i` to `last` one pack takes.
PARALLAX_INLINE int lanes_from(std::int64_t i, std::int64_t last) {
  return last - i < lanes ? static_cast<int>(last - i) : lanes;
}

namespace detail {
/// The first `count` lanes of `x`; the others become neutral: they change nothing when they are combined.
template <class P, class T> PARALLAX_INLINE pack<T> first_lanes(const pack<T>& x, int count) {
  const pack<bool> is_first =
      math::lt(host::lane_index<std::int32_t>(), host::broadcast(static_cast<std::int32_t>(count)));
  return math::select(is_first, x, broadcast(P::template neutral<T>()));
}
} // namespace detail

template <class Kernel> struct evaluator;

/// Evaluates a kernel's statements and returns the last one's value.
template <kernel_result Result, class Reduction, class... S> struct evaluator<kernel<Result, Reduction, S...>> {
  using indices = std::make_index_sequence<sizeof...(S)>;
  using registers = detail::register_file<indices, S...>;
  static constexpr int last = static_cast<int>(sizeof...(S)) - 1;
  using value_type = std::remove_cvref_t<decltype(detail::at<last>(std::declval<registers&>()))>;
  static constexpr std::size_t operand_count =
      static_cast<std::size_t>(std::max({1, detail::arrays_up_to(S::record)...}));
  using row = detail::row_operands<std::make_index_sequence<operand_count>>;
  using row_steps = detail::row_steps<std::make_index_sequence<operand_count>>;
  /// A bit for each of the first 64 arrays that is read with a stride and in no other way.
  static constexpr std::uint64_t strided_loads = [] {
    std::uint64_t strided = 0, others = 0;
    auto look = [&](const kernel_statement& s) {
      if (detail::arrays_up_to(s) == 0 || s.argument >= 64) return;
      (s.kind == statement_kind::load_strided ? strided : others) |= std::uint64_t{1} << s.argument;
    };
    (look(S::record), ...);
    return strided & ~others;
  }();

  template <moved_lanes Moved>
  static PARALLAX_INLINE value_type run(const row& operands, const constant_bits* constants, std::int64_t offset,
                                        int count) {
    registers file;
    fill<Moved>(file, operands, constants, offset, count);
    return detail::at<last>(file);
  }
  /// Evaluates the statements with one value for all elements of a row. Otherwise compilers would load such values
  /// again for each pack, since stores in between might have changed them.
  static PARALLAX_INLINE void begin(registers& file, const row& operands, const constant_bits* constants) {
    run_statements<statements::uniform, moved_lanes::all>(file, operands, constants, 0, lanes, indices{});
  }
  /// The last statement's value as by `run`, after a call of `begin`.
  template <moved_lanes Moved>
  static PARALLAX_INLINE value_type go_on(registers& file, const row& operands, std::int64_t offset, int count) {
    run_statements<statements::others, Moved>(file, operands, nullptr, offset, count, indices{});
    return detail::at<last>(file);
  }
  /// Evaluates all statements, and keeps their values in `file`.
  template <moved_lanes Moved>
  static PARALLAX_INLINE void fill(registers& file, const row& operands, const constant_bits* constants,
                                   std::int64_t offset, int count) {
    run_statements<statements::all, Moved>(file, operands, constants, offset, count, indices{});
  }

 private:
  enum class statements { all, uniform, others };

  static constexpr bool is_among(statement_kind kind, statements which) {
    const bool is_uniform = kind == statement_kind::load_constant || kind == statement_kind::load_scalar;
    return which == statements::all || is_uniform == (which == statements::uniform);
  }
  template <statements Which, moved_lanes Moved, std::size_t... I>
  static PARALLAX_INLINE void run_statements(registers& file, const row& operands, const constant_bits* constants,
                                             std::int64_t offset, int count, std::index_sequence<I...>) {
    // an array initialiser, because compilers limit the nesting of folds
    [[maybe_unused]] const bool done[] = {[&]() PARALLAX_INLINE_LAMBDA {
      if constexpr (is_among(S::record.kind, Which))
        detail::at<I>(file) = detail::evaluate<Moved>(S{}, file, operands, constants, offset, count);
      return true;
    }()...};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
