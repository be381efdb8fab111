// A row kernel's statements evaluated by one thread, pass by pass (compile/row_schedule.hpp).
#pragma once

#include <parallax/compile/row_schedule.hpp>
#include <parallax/cuda/centred_reducer.hpp>
#include <parallax/cuda/evaluate.hpp>

#include <cstddef>
#include <utility>

namespace parallax::cuda {

namespace detail {

/// A statement's values for the vectors that a thread holds, where they are kept from pass to pass.
template <int I, class T, int Width, int Vectors, bool Kept> struct kept_value {
  lanes<T, Width> vectors[Vectors];
};
template <int I, class T, int Width, int Vectors> struct kept_value<I, T, Width, Vectors, false> {};

template <int I, class T, int Width, int Vectors>
PARALLAX_DEVICE PARALLAX_INLINE lanes<T, Width>* kept_at(kept_value<I, T, Width, Vectors, true>& kept) {
  return kept.vectors;
}

/// What a reduction statement combines.
template <parallax::detail::centred_kind Kind, class Statement> struct row_reducer {
  using type = centred_reducer<Kind, typename Statement::value_type>;
};
template <class Statement> struct row_reducer<parallax::detail::centred_kind::none, Statement> {
  using type = reducer<static_cast<int>(Statement::parameter), typename Statement::value_type>;
};

} // namespace detail

template <class Kernel, bool FewPasses = false> struct row_passes;

template <int Result, int Reduction, class... S, bool FewPasses>
struct row_passes<kernel<Result, Reduction, S...>, FewPasses> {
  using schedule = row_schedule<kernel<Result, Reduction, S...>, FewPasses>;
  using evaluate = evaluator<kernel<Result, Reduction, S...>>;
  using loop_type = typename evaluate::loop_type;
  using indices = std::make_index_sequence<sizeof...(S)>;
  using values = detail::values<indices, S...>;
  /// Where a thread does not hold its elements: values are computed, and operands loaded, again in every pass.
  struct nothing_kept {};

  static constexpr bool is_kept(int i) { return schedule::is_needed_again(i) && !schedule::is_index(i); }
  static constexpr int kept_count = [] {
    int count = 0;
    for (int i = 0; i < schedule::size; ++i) count += is_kept(i);
    return count;
  }();
  /// Reductions before a statement.
  static constexpr int reductions_before(int statement) {
    int count = 0;
    for (int i = 0; i < statement; ++i) count += schedule::is_reduction(i);
    return count;
  }

  static constexpr int reductions = reductions_before(schedule::size);

  template <int Width, int Vectors, class Indices> struct kept_type;
  template <int Width, int Vectors, std::size_t... I>
  struct kept_type<Width, Vectors, std::index_sequence<I...>>
      : detail::kept_value<static_cast<int>(I), typename S::value_type, Width, Vectors,
                           is_kept(static_cast<int>(I))>... {};
  template <int Width, int Vectors> using kept = kept_type<Width, Vectors, indices>;

  /// The reduction that statement I is: what it combines, of which statement's values. Others have no accumulator.
  template <int I, class Statement> struct reduction_at {
    struct accumulator {};
  };
  template <int I, element_type Type, std::int64_t Parameter, int Operand>
  struct reduction_at<I, statement<parallax::detail::reduce_row, Type, Parameter, Operand>> {
    static constexpr parallax::detail::centred_sum centred = schedule::centred(I);
    static constexpr bool is_centred = centred.kind != parallax::detail::centred_kind::none;
    static constexpr int operand = is_centred ? centred.elements : Operand;
    using R = typename detail::row_reducer<centred.kind,
                                           statement<parallax::detail::reduce_row, Type, Parameter, Operand>>::type;
    using accumulator = typename R::accumulator;
  };

  template <class Indices> struct totals_type;
  template <std::size_t... I>
  struct totals_type<std::index_sequence<I...>>
      : detail::numbered_value<static_cast<int>(I), typename reduction_at<static_cast<int>(I), S>::accumulator>... {
    /// Of the largest accumulator, or 8.
    static constexpr std::size_t accumulator_bytes =
        std::max({std::size_t{8}, sizeof(typename reduction_at<static_cast<int>(I), S>::accumulator)...});
  };
  using row_totals = totals_type<indices>;
  static constexpr std::size_t accumulator_bytes = row_totals::accumulator_bytes;

  /// Evaluates the uniform statements of a round, of which the reductions' totals are there; `stores` where this thread
  /// writes what each row has one of.
  template <int Round, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void start(const Block& block, const loop_type& l, const place& p,
                                                    const row_totals& totals, values& uniform, bool stores) {
    start_all<Round>(block, l, p, totals, uniform, stores, indices{});
  }

  template <int Pass> static PARALLAX_DEVICE PARALLAX_INLINE void clear(row_totals& totals) {
    clear_all<Pass>(totals, indices{});
  }
  /// Combines the totals of a group's threads.
  template <int Pass, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine(const Block& block, row_totals& totals, int group) {
    combine_all<Pass>(block, totals, group, indices{});
  }
  /// Adds other totals.
  template <int Pass> static PARALLAX_DEVICE PARALLAX_INLINE void add(row_totals& totals, const row_totals& others) {
    add_all<Pass>(totals, others, indices{});
  }

  /// Evaluates a pass for the `Width` elements from `p` on, which are vector number `vector` of those that the thread
  /// holds, and combines them into `totals`.
  template <int Pass, int Width, class Block, class Kept>
  static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const loop_type& l, const place& p,
                                                  const values& uniform, Kept& kept, int vector, row_totals& totals,
                                                  bool stores) {
    run_all<Pass, Width>(block, l, p, uniform, kept, vector, totals, stores, indices{});
  }

  /// Calls `use.operator()<reducer>(number, total)` for the reductions of a pass; the kernel's are counted.
  template <int Pass, class Use>
  static PARALLAX_DEVICE PARALLAX_INLINE void for_totals(row_totals& totals, const Use& use) {
    use_all<Pass>(totals, use, indices{});
  }

 private:
  // what the schedule says, as constants: device code calls no function of the host, not even while compiling
  template <int I, int Round> static constexpr bool in_round = schedule::in_round(I, Round);
  template <int I, int Pass> static constexpr bool reduces_in = schedule::reduces_in(I, Pass);
  template <class Kept> static constexpr bool keeps = !std::is_same_v<Kept, nothing_kept>;
  template <class Kept, int I, int Pass> static constexpr bool is_needed = schedule::is_needed(I, Pass, !keeps<Kept>);
  /// Whether a pass finds a value among those kept.
  template <class Kept, int I, int Pass>
  static constexpr bool is_at_hand = keeps<Kept> && is_kept(I) && schedule::first_pass(I) < Pass;
  template <class Kept, int I, int Pass>
  static constexpr bool is_evaluated = is_needed<Kept, I, Pass> && !schedule::is_reduction(I);
  template <class Kept, int I> static constexpr bool is_remembered = keeps<Kept> && is_kept(I);
  template <class Kept, int I, int Pass>
  static constexpr bool is_load = schedule::is_loaded(I) && is_needed<Kept, I, Pass> && !is_at_hand<Kept, I, Pass>;
  template <int I, int Pass>
  static constexpr bool is_store = schedule::is_element_store(I) && schedule::is_needed(I, Pass, false);
  template <int I> static constexpr int number_of_reduction = reductions_before(I);

  template <int Round, class Block, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void start_all(const Block& block, const loop_type& l, const place& p,
                                                        const row_totals& totals, values& uniform, bool stores,
                                                        std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {
        (start_one<Round, static_cast<int>(I)>(S{}, block, l, p, totals, uniform, stores), true)...};
  }
  template <int Round, int I, class Block, int Operation, element_type Type, std::int64_t Parameter, int... Operands>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  start_one(statement<Operation, Type, Parameter, Operands...>, const Block& block, const loop_type& l, const place& p,
            [[maybe_unused]] const row_totals& totals, values& uniform, bool stores) {
    using T = element_t<Type>;
    if constexpr (in_round<I, Round>) {
      if constexpr (Operation == parallax::detail::reduce_row) {
        using reduction = reduction_at<I, statement<Operation, Type, Parameter, Operands...>>;
        if constexpr (reduction::is_centred)
          detail::value_at<I>(uniform) = reduction::R::result(
              detail::value_at<I>(totals), math::convert<T>(detail::value_at<reduction::centred.centre>(uniform)));
        else detail::value_at<I>(uniform) = reduction::R::result(detail::value_at<I>(totals));
      } else if constexpr (Operation >= 0) {
        detail::value_at<I>(uniform) = detail::apply<parallax::detail::primitive_at<Operation>, Type, Parameter>(
            detail::value_at<Operands>(uniform)...);
      } else if constexpr (Operation == parallax::detail::store_row) {
        constexpr int operands[] = {Operands...};
        if (stores)
          block.store(detail::address<T>(l, operands[1], row_offset(l, operands[1], p)),
                      detail::value_at<operands[0]>(uniform));
      } else {
        detail::transfer<statement<Operation, Type, Parameter, Operands...>, 1> from;
        from.load(block, l, p);
        detail::value_at<I>(uniform) = from.lane(0);
      }
    }
  }

  template <int Pass, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void clear_all(row_totals& totals, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(clear_one<Pass, static_cast<int>(I), S>(totals), true)...};
  }
  template <int Pass, int I, class Statement>
  static PARALLAX_DEVICE PARALLAX_INLINE void clear_one([[maybe_unused]] row_totals& totals) {
    if constexpr (reduces_in<I, Pass>) detail::value_at<I>(totals) = reduction_at<I, Statement>::R::neutral();
  }
  template <int Pass, class Block, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine_all(const Block& block, row_totals& totals, int group,
                                                          std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(combine_one<Pass, static_cast<int>(I), S>(block, totals, group), true)...};
  }
  template <int Pass, int I, class Statement, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  combine_one([[maybe_unused]] const Block& block, [[maybe_unused]] row_totals& totals, [[maybe_unused]] int group) {
    if constexpr (reduces_in<I, Pass>)
      detail::value_at<I>(totals) =
          detail::combine_group<typename reduction_at<I, Statement>::R>(block, detail::value_at<I>(totals), group);
  }
  template <int Pass, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_all(row_totals& totals, const row_totals& others,
                                                      std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(add_one<Pass, static_cast<int>(I), S>(totals, others), true)...};
  }
  template <int Pass, int I, class Statement>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_one([[maybe_unused]] row_totals& totals,
                                                      [[maybe_unused]] const row_totals& others) {
    if constexpr (reduces_in<I, Pass>)
      detail::value_at<I>(totals) =
          reduction_at<I, Statement>::R::combine(detail::value_at<I>(totals), detail::value_at<I>(others));
  }
  template <int Pass, class Use, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void use_all(row_totals& totals, const Use& use, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(use_one<Pass, static_cast<int>(I), S>(totals, use), true)...};
  }
  template <int Pass, int I, class Statement, class Use>
  static PARALLAX_DEVICE PARALLAX_INLINE void use_one([[maybe_unused]] row_totals& totals,
                                                      [[maybe_unused]] const Use& use) {
    if constexpr (reduces_in<I, Pass>)
      use.template operator()<typename reduction_at<I, Statement>::R>(number_of_reduction<I>,
                                                                      detail::value_at<I>(totals));
  }

  template <int Pass, int Width, class Block, class Kept, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_all(const Block& block, const loop_type& l, const place& p,
                                                      const values& uniform, Kept& kept, int vector, row_totals& totals,
                                                      bool stores, std::index_sequence<I...>) {
    detail::thread_state<indices, Width, S...> state;
    [[maybe_unused]] const bool loaded[] = {
        (load_one<Pass, static_cast<int>(I), Kept, Width, S>(block, l, p, state), true)...};
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Width; ++i) {
      values own = uniform;
      [[maybe_unused]] const bool evaluated[] = {
          (evaluate_one<Pass, static_cast<int>(I)>(S{}, own, state, kept, vector, i, totals), true)...};
    }
    if (stores) {
      [[maybe_unused]] const bool stored[] = {
          (store_one<Pass, static_cast<int>(I), Width, S>(block, l, p, state), true)...};
    }
  }
  template <int Pass, int I, class Kept, int Width, class Statement, class Block, class State>
  static PARALLAX_DEVICE PARALLAX_INLINE void load_one([[maybe_unused]] const Block& block,
                                                       [[maybe_unused]] const loop_type& l,
                                                       [[maybe_unused]] const place& p, [[maybe_unused]] State& state) {
    if constexpr (is_load<Kept, I, Pass>) detail::transfer_at<I, Statement, Width>(state).load(block, l, p);
  }
  template <int Pass, int I, int Width, class Statement, class Block, class State>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  store_one([[maybe_unused]] const Block& block, [[maybe_unused]] const loop_type& l, [[maybe_unused]] const place& p,
            [[maybe_unused]] const State& state) {
    if constexpr (is_store<I, Pass>) detail::transfer_at<I, Statement, Width>(state).store(block, l, p);
  }
  template <int Pass, int I, class Statement, class State, class Kept>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  evaluate_one(Statement s, values& own, [[maybe_unused]] State& state, [[maybe_unused]] Kept& kept,
               [[maybe_unused]] int vector, [[maybe_unused]] int i, [[maybe_unused]] row_totals& totals) {
    if constexpr (reduces_in<I, Pass>) {
      using reduction = reduction_at<I, Statement>;
      using T = typename Statement::value_type;
      detail::value_at<I>(totals) =
          reduction::R::combine(detail::value_at<I>(totals),
                                reduction::R::of(math::convert<T>(detail::value_at<reduction::operand>(own)), 0));
    } else if constexpr (is_evaluated<Kept, I, Pass>) {
      if constexpr (is_at_hand<Kept, I, Pass>) detail::value_at<I>(own) = detail::kept_at<I>(kept)[vector].value[i];
      else detail::value_at<I>(own) = detail::evaluate<I>(s, own, state, i);
      if constexpr (is_remembered<Kept, I>) detail::kept_at<I>(kept)[vector].value[i] = detail::value_at<I>(own);
    }
  }
};

} // namespace parallax::cuda
