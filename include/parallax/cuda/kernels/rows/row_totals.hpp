// The totals of a row kernel's reductions so far: an accumulator for each.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/reductions/centred_reducer.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/row_schedule.hpp>

#include <algorithm>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// Statement I as a reduction: its reducer, and the statement whose values it combines. Other statements have no
/// accumulator.
template <class Schedule, int I, class Statement> struct row_reduction {
  struct accumulator {};
};
template <class Schedule, int I, class Primitive, element_type Type, int Operand>
struct row_reduction<Schedule, I, reduce_statement<Primitive, Type, Operand>> {
  using T = element_t<Type>;
  using kind = centred_kind;
  static constexpr centred_sum centred = Schedule::centred(I);
  static constexpr bool is_centred = centred.kind != kind::none;
  static constexpr int operand = is_centred ? centred.elements : Operand;

  template <kind Kind, class U> struct reducer_of {
    using type = centred_reducer<Kind, U>;
  };
  template <class U> struct reducer_of<kind::none, U> {
    using type = reducer<Primitive, U>;
  };
  using R = typename reducer_of<centred.kind, T>::type;
  using accumulator = typename R::accumulator;

  /// The accumulator of one element.
  template <class V> static PARALLAX_DEVICE PARALLAX_INLINE accumulator of(V value) {
    return R::of(math::convert<T>(value), 0);
  }
};

} // namespace detail

template <class Indices, class Kernel, bool FewPasses> struct row_totals;

template <std::size_t... I, kernel_result Result, class Reduction, class... S, bool FewPasses>
struct row_totals<std::index_sequence<I...>, kernel<Result, Reduction, S...>, FewPasses>
    : detail::numbered_value<I, typename detail::row_reduction<row_schedule<kernel<Result, Reduction, S...>, FewPasses>,
                                                               I, S>::accumulator>... {
  using schedule = row_schedule<kernel<Result, Reduction, S...>, FewPasses>;
  template <int N, class Statement> using reduction = detail::row_reduction<schedule, N, Statement>;

  /// The reductions before a statement.
  static constexpr int reductions_before(int statement) {
    int count = 0;
    for (int i = 0; i < statement; ++i) count += schedule::is_reduction(i);
    return count;
  }
  static constexpr int reductions = reductions_before(schedule::size);
  /// The bytes of the largest accumulator, at least 8.
  static constexpr std::size_t accumulator_bytes =
      std::max({std::size_t{8}, sizeof(typename reduction<I, S>::accumulator)...});

  template <int Pass> PARALLAX_DEVICE PARALLAX_INLINE void clear() {
    [[maybe_unused]] const bool done[] = {(clear_one<Pass, I, S>(), true)...};
  }
  /// Combines the totals of a group's threads.
  template <int Pass, class Block> PARALLAX_DEVICE PARALLAX_INLINE void combine(const Block& block, int group) {
    [[maybe_unused]] const bool done[] = {(combine_one<Pass, I, S>(block, group), true)...};
  }
  /// Adds other totals.
  template <int Pass> PARALLAX_DEVICE PARALLAX_INLINE void add(const row_totals& others) {
    [[maybe_unused]] const bool done[] = {(add_one<Pass, I, S>(others), true)...};
  }
  /// Calls `use.operator()<reducer>(number, total)` for the reductions of a pass; `number` counts all of the kernel's.
  template <int Pass, class Use> PARALLAX_DEVICE PARALLAX_INLINE void for_each(const Use& use) {
    [[maybe_unused]] const bool done[] = {(use_one<Pass, I, S>(use), true)...};
  }

 private:
  // constants: device code calls no function of the host, not even while compiling
  template <int N, int Pass> static constexpr bool reduces_in = schedule::reduces_in(N, Pass);
  template <int N> static constexpr int number_of_reduction = reductions_before(N);

  template <int Pass, int N, class Statement> PARALLAX_DEVICE PARALLAX_INLINE void clear_one() {
    if constexpr (reduces_in<N, Pass>) detail::value_at<N>(*this) = reduction<N, Statement>::R::neutral();
  }
  template <int Pass, int N, class Statement, class Block>
  PARALLAX_DEVICE PARALLAX_INLINE void combine_one([[maybe_unused]] const Block& block, [[maybe_unused]] int group) {
    if constexpr (reduces_in<N, Pass>)
      detail::value_at<N>(*this) =
          detail::combine_group<typename reduction<N, Statement>::R>(block, detail::value_at<N>(*this), group);
  }
  template <int Pass, int N, class Statement>
  PARALLAX_DEVICE PARALLAX_INLINE void add_one([[maybe_unused]] const row_totals& others) {
    if constexpr (reduces_in<N, Pass>)
      detail::value_at<N>(*this) =
          reduction<N, Statement>::R::combine(detail::value_at<N>(*this), detail::value_at<N>(others));
  }
  template <int Pass, int N, class Statement, class Use>
  PARALLAX_DEVICE PARALLAX_INLINE void use_one([[maybe_unused]] const Use& use) {
    if constexpr (reduces_in<N, Pass>)
      use.template operator()<typename reduction<N, Statement>::R>(number_of_reduction<N>, detail::value_at<N>(*this));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
