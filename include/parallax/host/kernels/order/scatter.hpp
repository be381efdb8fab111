// Scatters on the host: a loop over updates that changes elements of its result.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/elementwise.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// The last statement of a kernel.
template <class Kernel> struct scatter_of;
template <kernel_result Result, class Reduction, class... S> struct scatter_of<kernel<Result, Reduction, S...>> {
  using type = typename last_statement<S...>::type;
};

/// The updates of a row, carried out as its last statement says.
template <class Kernel, class Scatter> struct scatter_row;

/// Rows of elements, which the statement itself changes.
template <class Kernel, class Primitive, element_type Type, int Offset, int Update, int Array>
struct scatter_row<Kernel, scatter_statement<statement_kind::scatter_row, Primitive, Type, Offset, Update, Array>> {
  static void run(const row_position& position, const constant_bits* constants, std::int64_t first, std::int64_t last) {
    using evaluate = evaluator<Kernel>;
    const typename evaluate::row row(position);
    for (std::int64_t i = first; i < last; i += lanes)
      evaluate::template run<moved_lanes::either>(row, constants, i, lanes_from(i, last));
  }
};

/// Elements anywhere: one after another, since several updates may change one element. The addresses of many elements
/// are computed before. This leaves a short loop, many rounds of which a processor has in flight while it waits for
/// memory.
template <class Kernel, class Primitive, element_type Type, int Offset, int Update, int Array>
struct scatter_row<Kernel, scatter_statement<statement_kind::scatter_each, Primitive, Type, Offset, Update, Array>> {
  using evaluate = evaluator<Kernel>;
  using T = element_t<Type>;
  using offset_type =
      typename std::remove_cvref_t<decltype(at<Offset>(std::declval<typename evaluate::registers&>()))>::value_type;
  static constexpr int most = 1024;

  static void run(const row_position& position, const constant_bits* constants, std::int64_t first, std::int64_t last) {
    const typename evaluate::row row(position);
    const std::int64_t stride = position.stride[Array];
    T* const elements = reinterpret_cast<T*>(const_cast<std::byte*>(position.data[Array]));
    alignas(register_bytes) offset_type offsets[most];
    alignas(register_bytes) T updates[most];
    for (std::int64_t begin = first; begin < last; begin += most) {
      const int count = last - begin < most ? static_cast<int>(last - begin) : most;
      for (int i = 0; i < count; i += lanes) {
        typename evaluate::registers file;
        evaluate::template fill<moved_lanes::either>(file, row, constants, begin + i, lanes_from(i, count));
        store(offsets + i, at<Offset>(file));
        store(updates + i, at<Update>(file));
      }
      if (stride == 0) change(elements, 0, offsets, updates, count);
      else change(elements + begin * stride, stride, offsets, updates, count);
    }
  }

 private:
  static PARALLAX_INLINE void change(T* elements, std::int64_t stride, const offset_type* offsets, const T* updates,
                                     int count) {
    for (int i = 0; i < count; ++i) {
      if (offsets[i] < 0) continue;
      T& element = elements[i * stride + static_cast<std::int64_t>(offsets[i])];
      element = combined<Primitive>(element, updates[i]);
    }
  }
};

/// Goes over the positions in row-major order; along dimension `along` only those from `begin` to `end`.
inline void scatter_part(const kernel_arguments& a, row_function compute, int along, std::int64_t begin,
                         std::int64_t end) {
  const int outer_rank = a.rank > 0 ? a.rank - 1 : 0;
  kernel_arguments part = a;
  if (along < outer_rank) part.extents[along] = end - begin;
  std::int64_t rows = 1;
  for (int d = 0; d < outer_rank; ++d) rows *= part.extents[d];
  const bool in_row = a.rank > 0 && along == outer_rank;
  const std::int64_t first = in_row ? begin : 0, last = in_row ? end : a.rank > 0 ? a.extents[outer_rank] : 1;
  row_position row;
  std::int64_t position[max_rank] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
    row_to_position(part, r, position, outer_rank);
    if (along < outer_rank) position[along] += begin;
    row.set(a, position, outer_rank);
    compute(row, a.constants, first, last);
  }
}

/// Threads share the outermost dimension that is long and along which updates never meet; without one, a single thread
/// goes over all. So elements are changed in one order, whatever the number of threads.
template <class Work> void scatter_rows(const kernel_arguments& a, row_function compute) {
  std::int64_t count = 1;
  for (int d = 0; d < a.rank; ++d) count *= a.extents[d];
  if (count == 0) return;
  int along = 0;
  while (along < a.rank && ((a.reduced >> along & 1U) != 0 || a.extents[along] == 1)) ++along;
  if (count <= parallel_grain || along == a.rank) return scatter_part(a, compute, 0, 0, a.rank > 0 ? a.extents[0] : 1);
  const std::int64_t step = along == a.rank - 1 ? lanes : 1, pieces = (a.extents[along] + step - 1) / step;
  Work::parallel_for(pieces, parallel_grain / (count / pieces) + 1, [&](std::int64_t begin, std::int64_t end) {
    scatter_part(a, compute, along, begin * step, std::min(end * step, a.extents[along]));
  });
}

} // namespace detail

/// Runs a scatter kernel over all updates.
template <class Kernel, class Work> void run_scatter(kernel_arguments& a) {
  detail::scatter_rows<Work>(a, &detail::scatter_row<Kernel, typename detail::scatter_of<Kernel>::type>::run);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
