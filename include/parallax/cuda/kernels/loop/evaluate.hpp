// A kernel's statements evaluated by one thread, for one element or for a vector of neighbouring ones: first all loads,
// then element after element, so that few values are alive at a time, then all further results' stores.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/transfer.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/program/kernel.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Values of `Width` neighbouring elements.
template <class T, int Width> struct lanes {
  T value[std::size_t{Width}];
};

namespace detail {

template <int I, class T> struct numbered_value {
  T value;
};
template <int I, class Statement, int Width> struct numbered_transfer : transfer<Statement, Width> {};

template <class Indices, int Width, class... S> struct thread_state;
/// The values of one element's statements, and the values that they exchange with memory.
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
template <int I, class Primitive, element_type Type, std::int64_t Parameter, int... Operands, class Values, class State>
PARALLAX_DEVICE PARALLAX_INLINE element_t<Type> evaluate(compute_statement<Primitive, Type, Parameter, Operands...>,
                                                         Values& v, [[maybe_unused]] State& state, int) {
  if constexpr (requires { transfer_at<I>(state).shared; })
    return Primitive::template evaluate<Type, Parameter>(transfer_at<I>(state).shared, value_at<Operands>(v)...);
  else return apply<Primitive, Type, Parameter>(value_at<Operands>(v)...);
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

/// The number of elements up to a statement's next aligned vector, combined with those of the statements before it.
template <int Width, class Transfer, class Loop, class Place>
PARALLAX_DEVICE PARALLAX_INLINE void add_steps(const Transfer&, [[maybe_unused]] const Loop& l,
                                               [[maybe_unused]] const Place& p, [[maybe_unused]] int& steps,
                                               [[maybe_unused]] int& operands) {
  if constexpr (Transfer::vector_bytes > 0) {
    constexpr int operand = Transfer::vector_operand;
    using element = vector_of<std::byte, static_cast<int>(Transfer::vector_bytes)>;
    const int own = steps_to_vector<Width>(address<const element>(l, operand, row_offset(l, operand, p) + p.inner));
    steps = operands == 0 || steps == own ? own : -1;
    ++operands;
  }
}
template <class Primitive, class... P> inline constexpr bool one_of = (false || ... || std::is_same_v<Primitive, P>);
/// Whether a statement takes a few instructions, and no registers besides those of its operands and result.
template <class Statement> inline constexpr bool is_short = is_load(Statement::record.kind);
template <class Primitive, element_type Type, std::int64_t Parameter, int... Operands>
inline constexpr bool is_short<compute_statement<Primitive, Type, Parameter, Operands...>> =
    one_of<Primitive, primitives::add, primitives::subtract, primitives::multiply, primitives::negative,
           primitives::absolute, primitives::convert> ||
    (one_of<Primitive, primitives::integer_power> && Parameter == 2);

/// Evaluates a statement as `evaluate` does, with the block for statements that read memory at computed addresses.
template <int I, class Block, class Statement, class Values, class State>
PARALLAX_DEVICE PARALLAX_INLINE typename Statement::value_type evaluate_on(const Block&, Statement s, Values& v,
                                                                           State& state, int i) {
  return evaluate<I>(s, v, state, i);
}
template <int I, class Block, statement_kind Kind, element_type Type, int Offset, int Array, class Values, class State>
PARALLAX_DEVICE PARALLAX_INLINE element_t<Type>
evaluate_on(const Block& block, gather_statement<Kind, Type, Offset, Array>, Values& v, State& state, int i) {
  static_assert(Kind == statement_kind::gather_each || Kind == statement_kind::gather_row);
  const element_t<Type>* const element = transfer_at<I>(state).element(i, value_at<Offset>(v));
  return block.load(element);
}
template <int I, class Block, statement_kind Kind, class Primitive, element_type Type, int Offset, int Update,
          int Array, class Values, class State>
PARALLAX_DEVICE PARALLAX_INLINE element_t<Type>
evaluate_on(const Block&, scatter_statement<Kind, Primitive, Type, Offset, Update, Array>, Values& v, State& state,
            int i) {
  static_assert(Kind == statement_kind::scatter_each || Kind == statement_kind::scatter_row);
  const auto offset = value_at<Offset>(v);
  transfer_at<I>(state).changed = offset < 0 ? nullptr : transfer_at<I>(state).element(i, offset);
  return value_at<Update>(v);
}

} // namespace detail

/// The update of a scatter at one position: the element to change, null for none, and the value to combine it with.
template <class T> struct update_of {
  T* element;
  T value;
};

/// An operand that is moved in vectors of its elements.
struct vector_operand {
  int operand = 0;
  std::int64_t element_bytes = 0; ///< 0 for none
};

template <class Kernel> struct evaluator;

/// Evaluates a kernel's statements; the last one's values are the results.
template <template <kernel_result, class, class...> class Form, kernel_result Result, class Reduction, class... S>
struct evaluator<Form<Result, Reduction, S...>> {
  static constexpr int operand_count = std::max({1, detail::transfer<S, 1>::arrays...});
  static constexpr int constant_count = std::max({0, detail::transfer<S, 1>::constants...});
  static constexpr int strided_count = (0 + ... + (S::record.kind == statement_kind::load_strided ? 1 : 0));
  using loop_type = loop<operand_count, constant_count, is_moving<Form<Result, Reduction, S...>>>;

  using indices = std::make_index_sequence<sizeof...(S)>;
  static constexpr int last = static_cast<int>(sizeof...(S)) - 1;
  using value_type =
      std::remove_cvref_t<decltype(detail::value_at<last>(std::declval<detail::values<indices, S...>&>()))>;

  static constexpr bool result_is_vector = Result == kernel_result::vector;
  /// Whether neighbouring elements can be computed together.
  static constexpr bool has_vectors = strided_count == 0 && Result != kernel_result::strided;
  /// The number of elements that are computed together: as many as the largest elements allow, or 8, since more would
  /// take too many registers.
  static constexpr int width =
      16 / static_cast<int>(std::max(
               {std::size_t{2}, result_is_vector ? sizeof(value_type) : 2, detail::transfer<S, 1>::vector_bytes...}));

  /// The number of elements that a loop over many elements loads before it evaluates the first of them: enough for at
  /// least four loads in flight, if there is little to compute.
  static constexpr int loaded_count =
      (0 + ... + (is_load(S::record.kind) && detail::transfer<S, 1>::arrays > 0 ? 1 : 0));
  static constexpr int together = sizeof...(S) > 12 || loaded_count == 0 ? 1 : (3 + loaded_count) / loaded_count;

  /// Whether a thread needs few registers beyond those of the values that it loads.
  static constexpr bool is_light = sizeof...(S) <= 3 && (true && ... && detail::is_short<S>);

  /// Whether the vectors of all rows are aligned.
  static bool is_aligned(const kernel_arguments& a) {
    // as large as nvcc is told: it cannot count the expansion
    const vector_operand moved[sizeof...(S) + 1] = {
        {0, result_is_vector ? static_cast<std::int64_t>(sizeof(value_type)) : 0},
        {detail::transfer<S, 1>::vector_operand, static_cast<std::int64_t>(detail::transfer<S, 1>::vector_bytes)}...};
    for (const vector_operand& v : moved) {
      if (v.element_bytes == 0) continue;
      const operand& o = a.operands[v.operand];
      const std::int64_t bytes = v.element_bytes * width;
      if (reinterpret_cast<std::uintptr_t>(o.data) % static_cast<std::uintptr_t>(bytes) != 0 || o.start % bytes != 0)
        return false;
      for (int d = 0; d + 1 < a.rank; ++d)
        if (a.extents[d] > 1 && o.strides[d] % width != 0) return false;
    }
    return true;
  }
  /// The number of elements that a thread takes together: 0 unless all vectors are aligned.
  static int vector_width(const kernel_arguments& a) { return has_vectors && is_aligned(a) ? width : 0; }

  /// From how many elements behind `p` on all vectors are aligned; -1 if they never are.
  template <class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE int steps_to_vectors(const loop_type& l, const Place& p) {
    int steps = 0, operands = 0;
    (detail::add_steps<width>(detail::transfer<S, 1>{}, l, p, steps, operands), ...);
    return steps;
  }

  /// The bytes that one element each of the strided operands before number `operand` takes.
  static PARALLAX_HD constexpr std::size_t strided_bytes_before(int operand) {
    return (std::size_t{0} + ... +
            (detail::transfer<S, 1>::strided_operand < operand ? detail::transfer<S, 1>::strided_bytes : 0));
  }

  /// The values that `Width` neighbouring elements' statements exchange with memory.
  template <int Width> using state = detail::thread_state<indices, Width, S...>;

  /// Loads all values for the `Width` elements from `p` on.
  template <int Width, class Block, class Loop, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const Loop& l, const Place& p,
                                                   state<Width>& loaded) {
    load_all<Width>(block, l, p, loaded, indices{});
  }
  /// Evaluates all statements for these elements, and stores nothing.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE lanes<value_type, Width> compute(const Block& block, state<Width>& loaded) {
    return compute_all<Width>(block, loaded, indices{});
  }
  /// Stores the further results.
  template <int Width, class Block, class Loop, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE void store(const Block& block, const Loop& l, const Place& p,
                                                    const state<Width>& computed) {
    store_all<Width>(block, l, p, computed, indices{});
  }
  /// Computes and stores.
  template <int Width, class Block, class Loop, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE lanes<value_type, Width> finish(const Block& block, const Loop& l,
                                                                         const Place& p, state<Width>& loaded) {
    const lanes<value_type, Width> results = compute<Width>(block, loaded);
    store<Width>(block, l, p, loaded);
    return results;
  }
  /// Loads, computes and stores.
  template <int Width, class Block, class Loop, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE lanes<value_type, Width> run(const Block& block, const Loop& l,
                                                                      const Place& p) {
    state<Width> loaded;
    load<Width>(block, l, p, loaded);
    return finish<Width>(block, l, p, loaded);
  }

  /// Evaluates the statements of a scatter at `p`, and changes nothing.
  template <class Block, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE update_of<value_type> update(const Block& block, const loop_type& l,
                                                                      const Place& p) {
    return update_all(block, l, p, indices{});
  }

 private:
  template <class Block, class Place, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE update_of<value_type> update_all(const Block& block, const loop_type& l,
                                                                          const Place& p, std::index_sequence<I...>) {
    detail::thread_state<indices, 1, S...> state;
    detail::values<indices, S...> v;
    [[maybe_unused]] const bool loaded[] = {(detail::transfer_at<I>(state).load(block, l, p), true)...};
    [[maybe_unused]] const bool evaluated[] = {
        (detail::value_at<I>(v) = detail::evaluate_on<I>(block, S{}, v, state, 0), true)...};
    return {detail::transfer_at<last>(state).changed, detail::value_at<last>(v)};
  }
  // array initialisers, because compilers limit the nesting of folds
  template <int Width, class Block, class Loop, class Place, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void load_all(const Block& block, const Loop& l, const Place& p,
                                                       state<Width>& loaded, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(detail::transfer_at<I>(loaded).load(block, l, p), true)...};
  }
  template <int Width, class Block, class Loop, class Place, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void store_all(const Block& block, const Loop& l, const Place& p,
                                                        const state<Width>& computed, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(detail::transfer_at<I>(computed).store(block, l, p), true)...};
  }
  template <int Width, class Block, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE lanes<value_type, Width> compute_all(const Block& block, state<Width>& loaded,
                                                                              std::index_sequence<I...>) {
    lanes<value_type, Width> results;
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Width; ++i) {
      detail::values<indices, S...> v;
      [[maybe_unused]] const bool evaluated[] = {
          (detail::value_at<I>(v) = detail::evaluate_on<I>(block, S{}, v, loaded, i), true)...};
      results.value[i] = detail::value_at<last>(v);
    }
    return results;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
