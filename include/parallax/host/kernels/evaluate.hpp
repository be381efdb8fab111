// A kernel's statements evaluated on SIMD registers.
#pragma once

#include <parallax/host/names.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/host/simd/registers.hpp>
#include <parallax/host/simd/vector_math.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <algorithm>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

/// Where the operands of a row lie: pointers to the row's first element, or the first value of an index.
struct row_position {
  const std::byte* data[max_accesses];
  std::int64_t start[max_accesses];
  std::int64_t stride[max_accesses]; ///< along the row, in elements

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
  /// The next row along `dimension`.
  PARALLAX_INLINE void advance(const kernel_arguments& a, int dimension) {
    for (int i = 0; i < a.operand_count; ++i) {
      const operand& o = a.operands[i];
      if (o.data) data[i] += o.strides[dimension] * o.element_bytes;
      start[i] += o.strides[dimension];
    }
  }
};

namespace detail {

/// A row's operands as single values, which compilers keep in registers as they would not keep arrays.
template <int I> struct row_operand {
  const std::byte* data;
  std::int64_t start, stride;
};
template <class Indices> struct row_operands;
template <std::size_t... I> struct row_operands<std::index_sequence<I...>> : row_operand<I>... {
  PARALLAX_INLINE explicit row_operands(const row_position& row)
      : row_operand<I>{row.data[I], row.start[I], row.stride[I]}... {}
};
template <int I> PARALLAX_INLINE const row_operand<I>& operand_at(const row_operand<I>& o) { return o; }

/// One more than the largest operand number in a statement.
template <int Operation, element_type Type, std::int64_t Parameter, int... Operands>
constexpr int operands_up_to(statement<Operation, Type, Parameter, Operands...>) {
  constexpr int operands[] = {Operands..., 0};
  if (Operation >= 0 || Operation == load_constant || Operation == reduce_row) return 0;
  return operands[Operation == store_vector || Operation == store_row ? 1 : 0] + 1;
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

/// Evaluates one statement at `offset` of a row, for `count` elements of it (all lanes where `Whole`).
template <bool Whole, int Operation, element_type Type, std::int64_t Parameter, int... Operands, class Registers,
          class Row>
PARALLAX_INLINE auto evaluate(statement<Operation, Type, Parameter, Operands...>, Registers& registers, const Row& row,
                              const constant_bits* constants, std::int64_t offset, int count) {
  using T = element_t<Type>;
  if constexpr (Operation == store_vector) {
    constexpr int operand[] = {Operands...};
    pack<T> value = at<operand[0]>(registers);
    T* data = reinterpret_cast<T*>(const_cast<std::byte*>(operand_at<operand[1]>(row).data));
    if constexpr (Whole) store(data + offset, value);
    else store(data + offset, value, count);
    return value;
  } else if constexpr (Operation >= 0) {
    return apply<primitives::primitive_at<primitive_id{Operation}>, Type, Parameter>(at<Operands>(registers)...);
  } else {
    constexpr int k = [](int first) { return first; }(Operands...);
    if constexpr (Operation == load_constant) {
      return broadcast(constants[k].template as<T>());
    } else if constexpr (Operation == load_index) {
      // in floats where 16 bits would round each part of the sum
      using number = std::conditional_t<math::floating16_element<T>, float, T>;
      auto lane = host::lane_index<number>();
      std::int64_t stride = operand_at<k>(row).stride;
      number start = static_cast<number>(operand_at<k>(row).start + offset * stride);
      return math::convert<T>(math::add(broadcast(start), math::mul(lane, broadcast(static_cast<number>(stride)))));
    } else {
      const T* data = reinterpret_cast<const T*>(operand_at<k>(row).data);
      std::int64_t stride = operand_at<k>(row).stride;
      if constexpr (Operation == load_scalar) return broadcast(*data);
      else if constexpr (Operation == load_vector) return Whole ? load(data + offset) : load(data + offset, count);
      else
        return Whole ? load_strided(data + offset * stride, stride)
                     : load_strided(data + offset * stride, stride, count);
    }
  }
}

} // namespace detail

template <class Kernel> struct evaluator;

/// Evaluates a kernel's statements and returns the last one's value.
template <kernel_result Result, primitive_id Reduction, class... S> struct evaluator<kernel<Result, Reduction, S...>> {
  using indices = std::make_index_sequence<sizeof...(S)>;
  using registers = detail::register_file<indices, S...>;
  static constexpr int last = static_cast<int>(sizeof...(S)) - 1;
  using value_type = std::remove_cvref_t<decltype(detail::at<last>(std::declval<registers&>()))>;
  static constexpr std::size_t operand_count = static_cast<std::size_t>(std::max({1, detail::operands_up_to(S{})...}));
  using row = detail::row_operands<std::make_index_sequence<operand_count>>;

  template <bool Whole>
  static PARALLAX_INLINE value_type run(const row& operands, const constant_bits* constants, std::int64_t offset,
                                        int count) {
    registers file;
    run_all<Whole>(file, operands, constants, offset, count, indices{});
    return detail::at<last>(file);
  }

 private:
  template <bool Whole, std::size_t... I>
  static PARALLAX_INLINE void run_all(registers& file, const row& operands, const constant_bits* constants,
                                      std::int64_t offset, int count, std::index_sequence<I...>) {
    // an array initialiser, because compilers limit the nesting of folds
    [[maybe_unused]] const bool done[] = {
        (detail::at<I>(file) = detail::evaluate<Whole>(S{}, file, operands, constants, offset, count), true)...};
  }
};

} // namespace parallax::host::inline PARALLAX_REGISTERS
