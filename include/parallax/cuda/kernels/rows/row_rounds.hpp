// What a thread computes for a row beside its elements: the uniform statements of a row kernel, round by round, once
// the totals of their reductions are known (program/row_schedule.hpp).
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/kernels/loop/uniform_division.hpp>
#include <parallax/cuda/kernels/rows/row_totals.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/program/row_schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <class Kernel, bool FewPasses = false> struct row_rounds;

template <template <kernel_result, class, class...> class Form, kernel_result Result, class Reduction, class... S,
          bool FewPasses>
struct row_rounds<Form<Result, Reduction, S...>, FewPasses> {
  using schedule = row_schedule<kernel<Result, Reduction, S...>, FewPasses>;
  using evaluate = evaluator<Form<Result, Reduction, S...>>;
  using loop_type = typename evaluate::loop_type;
  using indices = std::make_index_sequence<sizeof...(S)>;
  using place = place_of<loop_type>;
  using values = detail::values<indices, S...>;
  template <int I, class Statement>
  static constexpr int divisor_of = detail::row_division<schedule, I, Statement>::divisor;
  /// The uniform values of a row: those of statements, and the reciprocals of divisors.
  template <class Indices> struct uniform_type;
  template <std::size_t... I>
  struct uniform_type<std::index_sequence<I...>> : values,
                                                   detail::numbered_reciprocal<I, (divisor_of<I, S> >= 0)>... {};
  using uniform_values = uniform_type<indices>;
  using row_totals = cuda::row_totals<indices, kernel<Result, Reduction, S...>, FewPasses>;

  /// Evaluates the uniform statements of a round; the totals of their reductions are known. `stores`: whether this
  /// thread writes results with one value for each row.
  template <int Round, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void start(const Block& block, const loop_type& l, const place& p,
                                                    const row_totals& totals, uniform_values& uniform, bool stores) {
    start_all<Round>(block, l, p, totals, uniform, stores, indices{});
  }

 private:
  // a constant: device code calls no function of the host, not even while compiling
  template <int I, int Round> static constexpr bool in_round = schedule::in_round(I, Round);

  template <int Round, class Block, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void start_all(const Block& block, const loop_type& l, const place& p,
                                                        const row_totals& totals, uniform_values& uniform, bool stores,
                                                        std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(start_one<Round, I>(S{}, block, l, p, totals, uniform, stores), true)...};
  }
  template <int Round, int I, class Statement, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  start_one([[maybe_unused]] Statement s, [[maybe_unused]] const Block& block, [[maybe_unused]] const loop_type& l,
            [[maybe_unused]] const place& p, [[maybe_unused]] const row_totals& totals,
            [[maybe_unused]] uniform_values& uniform, [[maybe_unused]] bool stores) {
    if constexpr (in_round<I, Round>) start_statement<I>(s, block, l, p, totals, uniform, stores);
    if constexpr (constexpr int divisor = divisor_of<I, Statement>; divisor >= 0) {
      if constexpr (in_round<divisor, Round>)
        detail::reciprocal_at<I>(uniform) = reciprocal_of(math::convert<float>(detail::value_at<divisor>(uniform)));
    }
  }
  template <int I, class Block, class Primitive, element_type Type, int Operand>
  static PARALLAX_DEVICE PARALLAX_INLINE void start_statement(reduce_statement<Primitive, Type, Operand>, const Block&,
                                                              const loop_type&, const place&, const row_totals& totals,
                                                              uniform_values& uniform, bool) {
    using reduction = typename row_totals::template reduction<I, reduce_statement<Primitive, Type, Operand>>;
    if constexpr (reduction::is_centred)
      detail::value_at<I>(uniform) =
          reduction::R::result(detail::value_at<I>(totals),
                               math::convert<element_t<Type>>(detail::value_at<reduction::centred.centre>(uniform)));
    else detail::value_at<I>(uniform) = reduction::R::result(detail::value_at<I>(totals));
  }
  template <int I, class Block, class Primitive, element_type Type, std::int64_t Parameter, int... Operands>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  start_statement(compute_statement<Primitive, Type, Parameter, Operands...>, const Block&, const loop_type&,
                  const place&, const row_totals&, uniform_values& uniform, bool) {
    detail::value_at<I>(uniform) = detail::apply<Primitive, Type, Parameter>(detail::value_at<Operands>(uniform)...);
  }
  template <int I, class Block, element_type Type, int Operand, int Array>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  start_statement(store_statement<statement_kind::store_row, Type, Operand, Array>, const Block& block,
                  const loop_type& l, const place& p, const row_totals&, uniform_values& uniform, bool stores) {
    if (stores)
      block.store(detail::address<element_t<Type>>(l, Array, row_offset(l, Array, p)),
                  detail::value_at<Operand>(uniform));
  }
  template <int I, class Block, statement_kind Kind, element_type Type, int Argument>
  static PARALLAX_DEVICE PARALLAX_INLINE void start_statement(load_statement<Kind, Type, Argument>, const Block& block,
                                                              const loop_type& l, const place& p, const row_totals&,
                                                              uniform_values& uniform, bool) {
    detail::transfer<load_statement<Kind, Type, Argument>, 1> from;
    from.load(block, l, p);
    detail::value_at<I>(uniform) = from.lane(0);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
