// A small loop of a program without the loop: each element is computed by statements of its own, on single numbers, so
// that the compiler sees all of it and keeps it in registers.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/evaluate_statement.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// The loop of a kernel step whose extents are static.
template <class Program, int Step> struct static_loop {
  static constexpr kernel_step step = Program::plan.template at<kernel_step>(Step);
  using kernel = typename program_kernel<Program, static_cast<int>(step.kernel)>::type;
  static constexpr int rank = step.extents.count;
  static constexpr std::int64_t extent(int d) { return Program::plan[step.extents][index_of(d)].number(); }

  /// Whether the elements along a dimension are computed together: they are reduced to one result, or are a row.
  static constexpr bool is_inner(int d) {
    return kernel::result == kernel_result::rows ? d == rank - 1 : step.reduced.contains(d);
  }
  static constexpr std::int64_t product_of_extents(bool inner) {
    std::int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= is_inner(d) == inner ? extent(d) : 1;
    return product;
  }
  static constexpr std::int64_t together = product_of_extents(true), groups = product_of_extents(false),
                                positions = together * groups;

  /// For each operand, the offset of the element at each position, group by group.
  static constexpr std::size_t operand_count = index_of(step.operands.count);
  using offsets_of_operand = std::array<std::int64_t, index_of(positions)>;
  static constexpr std::array<offsets_of_operand, operand_count> offsets = [] {
    std::array<offsets_of_operand, operand_count> all{};
    for (std::int64_t p = 0; p < positions; ++p) {
      std::int64_t position[max_rank] = {}, in_group = p % together, group = p / together;
      for (int d = rank - 1; d >= 0; --d) {
        std::int64_t& rest = is_inner(d) ? in_group : group;
        position[d] = rest % extent(d);
        rest /= extent(d);
      }
      for (std::size_t i = 0; i < operand_count; ++i) {
        const operand_record& operand = Program::plan[step.operands][i];
        std::int64_t offset = operand.offset.number();
        for (int d = 0; d < rank; ++d) offset += position[d] * Program::plan[operand.strides][index_of(d)].number();
        all[i][index_of(p)] = offset;
      }
    }
    return all;
  }();
};

namespace detail {

template <int I, class T, std::size_t Count> struct numbered_values {
  T values[Count];
};
template <std::size_t Count, class Indices, class... S> struct value_file;
template <std::size_t Count, std::size_t... I, class... S>
struct value_file<Count, std::index_sequence<I...>, S...> : numbered_values<I, typename S::value_type, Count>... {};
template <int I, class T, std::size_t Count> PARALLAX_INLINE T* values_at(numbered_values<I, T, Count>& file) {
  return file.values;
}

/// A constant of a kernel step, known while compiling, as a number of type `T`.
template <class T> constexpr T compiled_number(const kernel_constant& c) {
  if (c.kind == constant_kind::extent) return static_cast<T>(c.extent.number());
  if (has_double_literal(c.type)) return static_cast<T>(std::bit_cast<double>(c.bits));
  return static_cast<T>(c.bits);
}

/// Whether the values of a kernel's last statement are its result, and are not stored by that statement.
constexpr bool has_last_result(kernel_result result) {
  switch (result) {
  case kernel_result::vector:
  case kernel_result::strided:
  case kernel_result::reduction:
  case kernel_result::cumulative:
  case kernel_result::reverse_cumulative:
  case kernel_result::sorted: return true;
  case kernel_result::rows:
  case kernel_result::scattered: return false;
  }
  return false;
}

} // namespace detail

template <class Program, int Step, class Kernel = typename static_loop<Program, Step>::kernel> struct straight_loop;

/// Runs a kernel step. `Frame` gives the first element of a buffer by its number: `data<Buffer>()`.
template <class Program, int Step, kernel_result Result, class Reduction, class... S>
struct straight_loop<Program, Step, kernel<Result, Reduction, S...>> {
  using loop = static_loop<Program, Step>;
  static constexpr bool is_rows = Result == kernel_result::rows;
  static_assert(!is_cumulative(Result) && Result != kernel_result::sorted, "elements of these are computed in order");
  static constexpr bool is_reduction = !is_rows && kernel<Result, Reduction, S...>::has_reduction;
  /// Elements whose values live at the same time.
  static constexpr std::size_t width = is_rows || is_reduction ? index_of(loop::together) : 1;
  static constexpr std::size_t groups = index_of(is_rows || is_reduction ? loop::groups : loop::positions);

  using indices = std::make_index_sequence<sizeof...(S)>;
  using elements = std::make_index_sequence<width>;
  using file = detail::value_file<width, indices, S...>;
  static constexpr int last = static_cast<int>(sizeof...(S)) - 1;

  template <class Frame> static PARALLAX_INLINE void run(Frame& frame) {
    run_groups(frame, std::make_index_sequence<groups>{});
  }

 private:
  template <class Frame, std::size_t... Group>
  static PARALLAX_INLINE void run_groups(Frame& frame, std::index_sequence<Group...>) {
    [[maybe_unused]] const bool done[] = {true, (run_group(frame, Group * width), true)...};
  }
  template <class Frame> static PARALLAX_INLINE void run_group(Frame& frame, std::size_t first) {
    file values;
    run_statements(frame, values, first, indices{});
    if constexpr (detail::has_last_result(Result)) {
      auto* const result = detail::values_at<last>(values);
      if constexpr (is_reduction) *element<0>(frame, first) = reduced<Reduction>(result, elements{});
      else *element<0>(frame, first) = *result;
    }
  }
  template <class Frame, std::size_t... I>
  static PARALLAX_INLINE void run_statements(Frame& frame, file& values, std::size_t first, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(evaluate<I>(S{}, frame, values, first), true)...};
  }

  template <int Operand, class Frame> static PARALLAX_INLINE auto* element(Frame& frame, std::size_t at) {
    return frame.template data<static_cast<int>(Program::plan[loop::step.operands][index_of(Operand)].buffer)>() +
           loop::offsets[index_of(Operand)][at];
  }

  template <int I, statement_kind Kind, element_type Type, int Argument, class Frame>
  static PARALLAX_INLINE void evaluate(load_statement<Kind, Type, Argument>, Frame& frame, file& values,
                                       std::size_t first) {
    if constexpr (width == 1) {
      *detail::values_at<I>(values) = loaded<Kind, element_t<Type>, Argument>(frame, first);
    } else {
      for_elements(detail::values_at<I>(values), elements{}, [&](std::size_t i) PARALLAX_INLINE_LAMBDA {
        return loaded<Kind, element_t<Type>, Argument>(frame, first + i);
      });
    }
  }
  template <statement_kind Kind, class T, int Argument, class Frame>
  static PARALLAX_INLINE T loaded(Frame& frame, std::size_t at) {
    if constexpr (Kind == statement_kind::load_constant)
      return detail::compiled_number<T>(Program::plan[loop::step.constants][index_of(Argument)]);
    else if constexpr (Kind == statement_kind::load_index) return static_cast<T>(loop::offsets[index_of(Argument)][at]);
    else {
      static_assert(is_load_of_array(Kind));
      return *element<Argument>(frame, at);
    }
  }
  template <int I, class Primitive, element_type Type, std::int64_t Parameter, int... Operands, class Frame>
  static PARALLAX_INLINE void evaluate(compute_statement<Primitive, Type, Parameter, Operands...>, Frame&, file& values,
                                       std::size_t) {
    if constexpr (width == 1) { // spares the compiler a function
      *detail::values_at<I>(values) =
          detail::apply<Primitive, Type, Parameter>(*detail::values_at<Operands>(values)...);
    } else {
      for_elements(detail::values_at<I>(values), elements{}, [&](std::size_t i) PARALLAX_INLINE_LAMBDA {
        return detail::apply<Primitive, Type, Parameter>(detail::values_at<Operands>(values)[i]...);
      });
    }
  }
  template <int I, statement_kind Kind, element_type Type, int Operand, int Array, class Frame>
  static PARALLAX_INLINE void evaluate(store_statement<Kind, Type, Operand, Array>, Frame& frame, file& values,
                                       std::size_t first) {
    static_assert(Kind == statement_kind::store_vector || Kind == statement_kind::store_row);
    const element_t<Type>* const stored = detail::values_at<Operand>(values);
    if constexpr (Kind == statement_kind::store_row) *element<Array>(frame, first) = *stored;
    for_elements(detail::values_at<I>(values), elements{}, [&](std::size_t i) PARALLAX_INLINE_LAMBDA {
      if constexpr (Kind != statement_kind::store_row) *element<Array>(frame, first + i) = stored[i];
      return stored[i];
    });
  }
  template <int I, statement_kind Kind, element_type Type, int Offset, int Array, class Frame>
  static PARALLAX_INLINE void evaluate(gather_statement<Kind, Type, Offset, Array>, Frame& frame, file& values,
                                       std::size_t first) {
    static_assert(Kind == statement_kind::gather_each || Kind == statement_kind::gather_row);
    for_elements(detail::values_at<I>(values), elements{}, [&](std::size_t i) PARALLAX_INLINE_LAMBDA {
      return element<Array>(frame, first + i)[detail::values_at<Offset>(values)[i]];
    });
  }
  template <int I, statement_kind Kind, class Primitive, element_type Type, int Offset, int Update, int Array,
            class Frame>
  static PARALLAX_INLINE void evaluate(scatter_statement<Kind, Primitive, Type, Offset, Update, Array>, Frame& frame,
                                       file& values, std::size_t first) {
    static_assert(Kind == statement_kind::scatter_each || Kind == statement_kind::scatter_row);
    const auto offset = *detail::values_at<Offset>(values);
    if (offset < 0) return;
    element_t<Type>& changed = element<Array>(frame, first)[offset];
    changed = detail::combined<Primitive>(changed, *detail::values_at<Update>(values));
  }
  template <int I, class Primitive, element_type Type, int Operand, class Frame>
  static PARALLAX_INLINE void evaluate(reduce_statement<Primitive, Type, Operand>, Frame&, file& values, std::size_t) {
    const element_t<Type> total = reduced<Primitive>(detail::values_at<Operand>(values), elements{});
    for_elements(detail::values_at<I>(values), elements{}, [&](std::size_t) PARALLAX_INLINE_LAMBDA { return total; });
  }

  template <class T, std::size_t... I, class F>
  static PARALLAX_INLINE void for_elements(T* values, std::index_sequence<I...>, const F& f) {
    [[maybe_unused]] const bool done[] = {true, (values[I] = f(I), true)...};
  }
  /// The reduction of one element or more: loops reduce no elements.
  template <class P, class T, std::size_t First, std::size_t... I>
  static PARALLAX_INLINE T reduced(const T* values, std::index_sequence<First, I...>) {
    T total = values[First];
    [[maybe_unused]] const bool done[] = {true, (total = P::evaluate(total, values[I]), true)...};
    return total;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
