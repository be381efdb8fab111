// A kernel's statements evaluated by one thread, for one element or for a vector of neighbouring ones: first all loads,
// then element after element, so that few values are alive at a time, then all further results' stores.
#pragma once

#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/program/kernel.hpp>

#include <algorithm>
#include <utility>

namespace parallax::cuda {

/// Values of `Width` neighbouring elements.
template <class T, int Width> struct lanes {
  T value[std::size_t{Width}];
};

namespace detail {

/// The address of an element. A vector's has to be aligned.
template <class T, class Loop>
PARALLAX_DEVICE PARALLAX_INLINE T* address(const Loop& l, int operand, std::int32_t offset) {
  return reinterpret_cast<T*>(l.operands[operand].data) + offset;
}

/// What a statement exchanges with memory for `Width` neighbouring elements: nothing, where it computes.
template <class Statement, int Width> struct transfer {
  static constexpr int arrays = 0, constants = 0; ///< one more than the largest number that it names
  static constexpr std::size_t vector_bytes = 0;  ///< of an element that is moved in vectors
  static constexpr int vector_operand = 0;
  static constexpr int strided_operand = -1;
  static constexpr std::size_t strided_bytes = 0; ///< of an element

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block&, const Loop&, const Place&) {}
  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void store(const Block&, const Loop&, const Place&) const {}
};

template <element_type Type, int Array, int Width>
struct transfer<load_statement<statement_kind::load_vector, Type, Array>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int arrays = Array + 1, vector_operand = Array;
  static constexpr std::size_t vector_bytes = sizeof(T);
  vector_of<T, Width> vector;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p) {
    const T* first = address<T>(l, Array, row_offset(l, Array, p) + p.inner);
    if constexpr (Width == 1) vector.values[0] = block.load(first);
    else vector = block.load(reinterpret_cast<const vector_of<T, Width>*>(first));
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int i) const { return vector.values[i]; }
};

template <element_type Type, int Array, int Width>
struct transfer<load_statement<statement_kind::load_scalar, Type, Array>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int arrays = Array + 1;
  T value;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p) {
    value = block.load(static_cast<const T*>(address<T>(l, Array, row_offset(l, Array, p))));
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int) const { return value; }
};

template <element_type Type, int Array, int Width>
struct transfer<load_statement<statement_kind::load_strided, Type, Array>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int arrays = Array + 1, strided_operand = Array;
  static constexpr std::size_t strided_bytes = sizeof(T);
  static_assert(Width == 1, "elements a stride apart are no vector");
  T value;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p) {
    if constexpr (requires { p.template staged<Array, T>(block); }) {
      value = p.template staged<Array, T>(block);
    } else {
      std::int32_t offset = row_offset(l, Array, p) + p.inner * l.operands[Array].strides[l.rank - 1];
      value = block.load(static_cast<const T*>(address<T>(l, Array, offset)));
    }
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int) const { return value; }
};

template <element_type Type, int Array, int Width>
struct transfer<load_statement<statement_kind::load_index, Type, Array>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int arrays = Array + 1;
  std::int64_t first, step;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block&, const Loop& l, const Place& p) {
    step = l.operands[Array].strides[l.rank - 1];
    first = l.operands[Array].start + row_offset(l, Array, p) + p.inner * step;
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int i) const { return static_cast<T>(first + i * step); }
};

template <element_type Type, int Constant, int Width>
struct transfer<load_statement<statement_kind::load_constant, Type, Constant>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int constants = Constant + 1;
  T value;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block&, const Loop& l, const Place&) {
    if constexpr (sizeof(T) == 8) value = __builtin_bit_cast(T, l.constants[Constant]);
    else if constexpr (sizeof(T) == 4) value = __builtin_bit_cast(T, static_cast<std::uint32_t>(l.constants[Constant]));
    else if constexpr (sizeof(T) == 2) value = __builtin_bit_cast(T, static_cast<std::uint16_t>(l.constants[Constant]));
    else value = static_cast<T>(l.constants[Constant]);
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int) const { return value; }
};

template <element_type Type, int Operand, int Array, int Width>
struct transfer<store_statement<statement_kind::store_vector, Type, Operand, Array>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int arrays = Array + 1, vector_operand = Array;
  static constexpr std::size_t vector_bytes = sizeof(T);
  vector_of<T, Width> vector;

  PARALLAX_DEVICE PARALLAX_INLINE void keep(int i, T value) { vector.values[i] = value; }
  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void store(const Block& block, const Loop& l, const Place& p) const {
    T* first = address<T>(l, Array, row_offset(l, Array, p) + p.inner);
    if constexpr (Width == 1) block.store(first, vector.values[0]);
    else block.store(reinterpret_cast<vector_of<T, Width>*>(first), vector);
  }
};

template <element_type Type, int Operand, int Array, int Width>
struct transfer<store_statement<statement_kind::store_row, Type, Operand, Array>, Width> : transfer<void, Width> {
  static constexpr int arrays = Array + 1;
};

template <class P>
concept shares_with_neighbours = requires { typename P::shared_by_neighbours; };

/// Exchanges nothing either: what a primitive's neighbouring elements share.
template <primitive_id Primitive, element_type Type, std::int64_t Parameter, int... Operands, int Width>
  requires shares_with_neighbours<primitives::primitive_at<Primitive>>
struct transfer<compute_statement<Primitive, Type, Parameter, Operands...>, Width> : transfer<void, Width> {
  typename primitives::primitive_at<Primitive>::shared_by_neighbours shared;
};

template <int I, class T> struct numbered_value {
  T value;
};
template <int I, class Statement, int Width> struct numbered_transfer : transfer<Statement, Width> {};

template <class Indices, int Width, class... S> struct thread_state;
/// The values of one element's statements, and what all of them exchange with memory.
template <std::size_t... I, int Width, class... S>
struct thread_state<std::index_sequence<I...>, Width, S...> : numbered_transfer<I, S, Width>... {};

template <class Indices, class... S> struct values;
template <std::size_t... I, class... S>
struct values<std::index_sequence<I...>, S...> : numbered_value<I, typename S::value_type>... {};

template <int I, class T> PARALLAX_DEVICE PARALLAX_INLINE T& value_at(numbered_value<I, T>& v) { return v.value; }
template <int I, class T> PARALLAX_DEVICE PARALLAX_INLINE const T& value_at(const numbered_value<I, T>& v) {
  return v.value;
}
template <int I, class S, int Width>
PARALLAX_DEVICE PARALLAX_INLINE transfer<S, Width>& transfer_at(numbered_transfer<I, S, Width>& t) {
  return t;
}
template <int I, class S, int Width>
PARALLAX_DEVICE PARALLAX_INLINE const transfer<S, Width>& transfer_at(const numbered_transfer<I, S, Width>& t) {
  return t;
}

template <class P, element_type Type, std::int64_t Parameter, class... V>
PARALLAX_DEVICE PARALLAX_INLINE auto apply(V... operands) {
  if constexpr (requires { P::evaluate(operands...); }) return P::evaluate(operands...);
  else return P::template evaluate<Type, Parameter>(operands...);
}

/// Evaluates statement number I for element `i` of a vector.
template <int I, primitive_id Primitive, element_type Type, std::int64_t Parameter, int... Operands, class Values,
          class State>
PARALLAX_DEVICE PARALLAX_INLINE element_t<Type> evaluate(compute_statement<Primitive, Type, Parameter, Operands...>,
                                                         Values& v, [[maybe_unused]] State& state, int) {
  using primitive = primitives::primitive_at<Primitive>;
  if constexpr (requires { transfer_at<I>(state).shared; })
    return primitive::template evaluate<Type, Parameter>(transfer_at<I>(state).shared, value_at<Operands>(v)...);
  else return apply<primitive, Type, Parameter>(value_at<Operands>(v)...);
}
template <int I, element_type Type, int Operand, int Array, class Values, class State>
PARALLAX_DEVICE PARALLAX_INLINE element_t<Type>
evaluate(store_statement<statement_kind::store_vector, Type, Operand, Array>, Values& v, State& state, int i) {
  element_t<Type> value = value_at<Operand>(v);
  transfer_at<I>(state).keep(i, value);
  return value;
}
template <int I, statement_kind Kind, element_type Type, int Argument, class Values, class State>
PARALLAX_DEVICE PARALLAX_INLINE element_t<Type> evaluate(load_statement<Kind, Type, Argument>, Values&, State& state,
                                                         int i) {
  return transfer_at<I>(state).lane(i);
}

} // namespace detail

/// An operand that is moved in vectors of its elements.
struct vector_operand {
  int operand = 0;
  std::int64_t element_bytes = 0; ///< 0 for none
};

template <class Kernel> struct evaluator;

/// Evaluates a kernel's statements; the last one's values are the results.
template <kernel_result Result, primitive_id Reduction, class... S> struct evaluator<kernel<Result, Reduction, S...>> {
  static constexpr int operand_count = std::max({1, detail::transfer<S, 1>::arrays...});
  static constexpr int constant_count = std::max({0, detail::transfer<S, 1>::constants...});
  static constexpr int strided_count = (0 + ... + (S::record.kind == statement_kind::load_strided ? 1 : 0));
  using loop_type = loop<operand_count, constant_count>;

  using indices = std::make_index_sequence<sizeof...(S)>;
  static constexpr int last = static_cast<int>(sizeof...(S)) - 1;
  using value_type =
      std::remove_cvref_t<decltype(detail::value_at<last>(std::declval<detail::values<indices, S...>&>()))>;

  static constexpr bool result_is_vector = Result == kernel_result::vector;
  /// Whether neighbouring elements can be computed together.
  static constexpr bool has_vectors = strided_count == 0 && Result != kernel_result::strided;
  /// How many: what the largest elements allow, or 8, since more would take too many registers.
  static constexpr int width =
      16 / static_cast<int>(std::max({std::size_t{2}, sizeof(value_type), detail::transfer<S, 1>::vector_bytes...}));

  /// How many elements' loads a loop may have under way: two, where there is little to compute.
  static constexpr int loads_ahead = sizeof...(S) <= 12 ? 2 : 1;

  /// Whether the vectors of all rows are aligned.
  static bool is_aligned(const kernel_arguments& a) {
    // as large as nvcc is told: it cannot count the expansion
    const vector_operand moved[sizeof...(S) + 1] = {
        {0, result_is_vector ? static_cast<std::int64_t>(sizeof(value_type)) : 0},
        {detail::transfer<S, 1>::vector_operand, static_cast<std::int64_t>(detail::transfer<S, 1>::vector_bytes)}...};
    for (const vector_operand& v : moved) {
      if (v.element_bytes == 0) continue;
      const operand& o = a.operands[v.operand];
      if (reinterpret_cast<std::uintptr_t>(o.data) % static_cast<std::uintptr_t>(v.element_bytes * width) != 0)
        return false;
      for (int d = 0; d + 1 < a.rank; ++d)
        if (a.extents[d] > 1 && o.strides[d] % width != 0) return false;
    }
    return true;
  }
  /// The number of elements that a thread takes together: 0 unless all vectors are aligned.
  static int vector_width(const kernel_arguments& a) { return has_vectors && is_aligned(a) ? width : 0; }

  /// The bytes that one element each of the strided operands before number `operand` takes.
  static PARALLAX_HD constexpr std::size_t strided_bytes_before(int operand) {
    return (std::size_t{0} + ... +
            (detail::transfer<S, 1>::strided_operand < operand ? detail::transfer<S, 1>::strided_bytes : 0));
  }

  /// Evaluates all statements for the `Width` elements from `p` on, and stores the further results.
  template <int Width, class Block, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE lanes<value_type, Width> run(const Block& block, const loop_type& l,
                                                                      const Place& p) {
    return run_all<Width>(block, l, p, indices{});
  }

 private:
  template <int Width, class Block, class Place, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE lanes<value_type, Width> run_all(const Block& block, const loop_type& l,
                                                                          const Place& p, std::index_sequence<I...>) {
    detail::thread_state<indices, Width, S...> state;
    lanes<value_type, Width> results;
    // array initialisers, because compilers limit the nesting of folds
    [[maybe_unused]] const bool loaded[] = {(detail::transfer_at<I>(state).load(block, l, p), true)...};
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Width; ++i) {
      detail::values<indices, S...> v;
      [[maybe_unused]] const bool evaluated[] = {
          (detail::value_at<I>(v) = detail::evaluate<I>(S{}, v, state, i), true)...};
      results.value[i] = detail::value_at<last>(v);
    }
    [[maybe_unused]] const bool stored[] = {(detail::transfer_at<I>(state).store(block, l, p), true)...};
    return results;
  }
};

} // namespace parallax::cuda
