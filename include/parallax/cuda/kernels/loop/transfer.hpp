// The values that a kernel's statements exchange with memory, for one thread and one or several neighbouring elements.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/positions.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

/// The address of an element. It has to be aligned for a vector.
template <class T, class Loop>
PARALLAX_DEVICE PARALLAX_INLINE T* address(const Loop& l, int operand, std::int32_t offset) {
  std::byte* first = l.operands[operand].data;
  if constexpr (Loop::moves)
    if (l.round != nullptr) first += *l.round * l.operands[operand].start;
  return reinterpret_cast<T*>(first) + offset;
}

/// The number of elements behind `first` where the next vector of `Width` elements may begin.
template <int Width, class T> PARALLAX_DEVICE PARALLAX_INLINE std::int32_t steps_to_vector(const T* first) {
  return static_cast<std::int32_t>(-(reinterpret_cast<std::uintptr_t>(first) / sizeof(T)) % Width);
}
/// Whether a vector may begin at `first`, as it may for all but unaligned positions.
template <class Place, int Width, class T> PARALLAX_DEVICE PARALLAX_INLINE bool lies_as_vector(const T* first) {
  if constexpr (requires { typename Place::unaligned; }) return steps_to_vector<Width>(first) == 0;
  else return true;
}

/// The values that a statement exchanges with memory for `Width` neighbouring elements: none for a statement that
/// computes.
template <class Statement, int Width> struct transfer {
  static constexpr int arrays = 0, constants = 0; ///< one more than the largest number that the statement names
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
    if constexpr (Width == 1) {
      vector.values[0] = block.load(first);
    } else if (lies_as_vector<Place, Width>(first)) {
      vector = block.load(reinterpret_cast<const vector_of<T, Width>*>(first));
    } else {
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < Width; ++i) vector.values[i] = block.load(first + i);
    }
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int i) const { return vector.values[i]; }
  /// The elements, to be kept elsewhere; `take` puts them back.
  PARALLAX_DEVICE PARALLAX_INLINE vector_of<T, Width> elements() const { return vector; }
  PARALLAX_DEVICE PARALLAX_INLINE void take(const vector_of<T, Width>& kept) { vector = kept; }
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
  T values[std::size_t{Width}];

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p) {
    if constexpr (requires { p.template staged<Array, T>(block, 0); }) {
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < Width; ++i) values[i] = p.template staged<Array, T>(block, i);
    } else {
      static_assert(Width == 1, "elements a stride apart are no vector");
      std::int32_t offset = row_offset(l, Array, p) + p.inner * l.operands[Array].strides[innermost];
      values[0] = block.load(static_cast<const T*>(address<T>(l, Array, offset)));
    }
  }
  PARALLAX_DEVICE PARALLAX_INLINE T lane(int i) const { return values[i]; }
  PARALLAX_DEVICE PARALLAX_INLINE vector_of<T, 1> elements() const { return {{values[0]}}; }
  PARALLAX_DEVICE PARALLAX_INLINE void take(const vector_of<T, 1>& kept) { values[0] = kept.values[0]; }
};

template <element_type Type, int Array, int Width>
struct transfer<load_statement<statement_kind::load_index, Type, Array>, Width> : transfer<void, Width> {
  using T = element_t<Type>;
  static constexpr int arrays = Array + 1;
  std::int64_t first, step;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block&, const Loop& l, const Place& p) {
    step = l.operands[Array].strides[innermost];
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
    if constexpr (Width == 1) {
      block.store(first, vector.values[0]);
    } else if (lies_as_vector<Place, Width>(first)) {
      block.store(reinterpret_cast<vector_of<T, Width>*>(first), vector);
    } else {
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < Width; ++i) block.store(first + i, vector.values[i]);
    }
  }
};

template <element_type Type, int Operand, int Array, int Width>
struct transfer<store_statement<statement_kind::store_row, Type, Operand, Array>, Width> : transfer<void, Width> {
  static constexpr int arrays = Array + 1;
};

/// The address that a gather's or scatter's offsets are counted from.
template <class T, int Array> struct indexed_transfer : transfer<void, 1> {
  static constexpr int arrays = Array + 1;
  T* first;
  std::int32_t step;

  template <class Block, class Loop, class Place>
  PARALLAX_DEVICE PARALLAX_INLINE void load(const Block&, const Loop& l, const Place& p) {
    step = l.operands[Array].strides[innermost];
    first = address<T>(l, Array, row_offset(l, Array, p) + p.inner * step);
  }
  template <class Offset> PARALLAX_DEVICE PARALLAX_INLINE T* element(int i, Offset offset) const {
    return first + (static_cast<std::int64_t>(i) * step + static_cast<std::int64_t>(offset));
  }
};
template <statement_kind Kind, element_type Type, int Offset, int Array, int Width>
struct transfer<gather_statement<Kind, Type, Offset, Array>, Width> : indexed_transfer<element_t<Type>, Array> {
  static_assert(Kind == statement_kind::gather_each || Kind == statement_kind::gather_row);
};
template <statement_kind Kind, class Primitive, element_type Type, int Offset, int Update, int Array, int Width>
struct transfer<scatter_statement<Kind, Primitive, Type, Offset, Update, Array>, Width>
    : indexed_transfer<element_t<Type>, Array> {
  static_assert(Kind == statement_kind::scatter_each || Kind == statement_kind::scatter_row);
  element_t<Type>* changed; ///< null if nothing is changed
};

template <class P>
concept shares_with_neighbours = requires { typename P::shared_by_neighbours; };

/// No memory either: the values that a primitive's neighbouring elements share.
template <class Primitive, element_type Type, std::int64_t Parameter, int... Operands, int Width>
  requires shares_with_neighbours<Primitive>
struct transfer<compute_statement<Primitive, Type, Parameter, Operands...>, Width> : transfer<void, Width> {
  typename Primitive::shared_by_neighbours shared;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
