// A row kernel's statements evaluated by one thread for a row's elements, pass by pass (program/row_schedule.hpp).
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/kernels/loop/uniform_division.hpp>
#include <parallax/cuda/kernels/rows/row_elements.hpp>
#include <parallax/cuda/kernels/rows/row_rounds.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <class Kernel, bool FewPasses = false> struct row_passes;

template <template <kernel_result, class, class...> class Form, kernel_result Result, class Reduction, class... S,
          bool FewPasses>
struct row_passes<Form<Result, Reduction, S...>, FewPasses> : row_rounds<Form<Result, Reduction, S...>, FewPasses> {
  using rounds = row_rounds<Form<Result, Reduction, S...>, FewPasses>;
  using typename rounds::evaluate;
  using typename rounds::indices;
  using typename rounds::loop_type;
  using typename rounds::place;
  using typename rounds::row_totals;
  using typename rounds::schedule;
  using typename rounds::uniform_values;
  using typename rounds::values;
  static constexpr std::size_t widest_value = std::max({sizeof(typename S::value_type)...}); ///< in bytes
  /// For threads that hold no elements: values are computed, and operands loaded, again in every pass.
  struct nothing_kept {};

  static constexpr bool is_kept(int i) { return schedule::is_remembered(i); }
  static constexpr int kept_count = [] {
    int count = 0;
    for (int i = 0; i < schedule::size; ++i) count += is_kept(i);
    return count;
  }();
  /// How many arrays are read along the row.
  static constexpr int loaded_count = [] {
    int count = 0;
    for (int i = 0; i < schedule::size; ++i) count += schedule::is_loaded(i) && !schedule::is_index(i);
    return count;
  }();
  template <int Width, int Vectors, class Indices> struct kept_type;
  template <int Width, int Vectors, std::size_t... I>
  struct kept_type<Width, Vectors, std::index_sequence<I...>>
      : detail::kept_value<I, typename S::value_type, Width, Vectors, is_kept(I)>... {};
  template <int Width, int Vectors> using kept = kept_type<Width, Vectors, indices>;

 private:
  // the schedule as constants: device code calls no function of the host, not even while compiling
  template <int I, int Pass> static constexpr bool reduces_in = schedule::reduces_in(I, Pass);
  template <class Kept> static constexpr bool keeps = !std::is_same_v<Kept, nothing_kept>;
  /// Whether a pass evaluates a value. A kept value is evaluated first in the pass that it is remembered from, which
  /// may not need it yet.
  template <class Kept, int I, int Pass>
  static constexpr bool is_needed =
      schedule::is_needed(I, Pass, !keeps<Kept>) || (keeps<Kept> && is_kept(I) && schedule::remembered_from(I) == Pass);
  /// Whether a pass finds a value among the kept ones.
  template <class Kept, int I, int Pass>
  static constexpr bool is_at_hand = keeps<Kept> && is_kept(I) && schedule::remembered_from(I) < Pass;
  template <class Kept, int I, int Pass>
  static constexpr bool is_evaluated = is_needed<Kept, I, Pass> && !schedule::is_reduction(I);
  template <class Kept, int I> static constexpr bool is_remembered = keeps<Kept> && is_kept(I);
  template <class Kept, int I, int Pass>
  static constexpr bool is_load = schedule::is_loaded(I) && is_needed<Kept, I, Pass> && !is_at_hand<Kept, I, Pass>;
  template <class Kept, int Pass, std::size_t... I>
  static constexpr std::size_t loaded_bytes(std::index_sequence<I...>) {
    return (
        std::size_t{0} + ... +
        (is_load<Kept, I, Pass> ? detail::transfer<S, 1>::vector_bytes + detail::transfer<S, 1>::strided_bytes : 0));
  }
  template <int I, int Pass>
  static constexpr bool is_store = schedule::is_element_store(I) && schedule::is_needed(I, Pass, false);

 public:
  template <class Kept, int Pass> static constexpr bool loads = loaded_bytes<Kept, Pass>(indices{}) > 0;
  /// The number of vectors, of `Vectors` that a thread has, that it loads before it uses the first in a pass: 64 bytes
  /// of them in the first pass and 32 in later ones, as registers allow.
  template <class Kept, int Pass, int Width, int Vectors>
  static constexpr int vectors_together = [] {
    // at least 1: a pass may load nothing
    const std::size_t bytes = std::max<std::size_t>(loaded_bytes<Kept, Pass>(indices{}) * std::size_t{Width}, 1);
    const std::size_t most = loads<Kept, Pass> ? std::size_t{Pass == 0 ? 64 : 32} / bytes : 1;
    return static_cast<int>(std::clamp<std::size_t>(std::bit_floor(most), 1, Vectors));
  }();
  template <int Width> using state = detail::thread_state<indices, Width, S...>;

  /// Loads what a pass reads for the `Width` elements from `p` on.
  template <int Pass, int Width, class Kept, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void load(const Block& block, const loop_type& l, const place& p,
                                                   state<Width>& loaded) {
    load_all<Pass, Kept>(block, l, p, loaded, indices{}, elements_in_memory{});
  }
  /// Evaluates the pass for these elements, which are vector number `vector` of those that the thread holds, and adds
  /// them to the totals.
  template <int Pass, int Width, class Kept>
  static PARALLAX_DEVICE PARALLAX_INLINE void finish(const uniform_values& uniform, state<Width>& loaded, Kept& kept,
                                                     int vector, row_totals& totals) {
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Width; ++i) {
      values own = uniform;
      evaluate_all<Pass>(own, uniform, loaded, kept, vector, i, indices{});
      row_totals one;
      begin_all<Pass>(one, own, indices{});
      totals.template add<Pass>(one);
    }
  }
  /// Stores what the pass writes for these elements.
  template <int Pass, int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void store(const Block& block, const loop_type& l, const place& p,
                                                    const state<Width>& loaded) {
    store_all<Pass>(block, l, p, loaded, indices{});
  }

  // For blocks that go over a piece of a row and keep no values: these are computed again in every pass.

  /// The elements that are read together.
  static constexpr int piece_width = evaluate::has_vectors ? evaluate::width : 1;
  /// Vectors of a thread that are loaded together in a pass, as registers allow.
  template <int Pass>
  static constexpr int pieces_together = static_cast<int>(
      std::clamp<std::size_t>(64 / std::max<std::size_t>(schedule::bytes_in(Pass) * piece_width, 1), 1, 4));
  // operands that are read in several passes: bytes of an element, of one statement and of all statements before it
  template <int I> static constexpr bool is_held = schedule::is_read_again(I);
  template <int I> static constexpr int first_pass = schedule::first_pass(I);
  template <int I> static constexpr std::uint32_t held_bytes = schedule::held_bytes(I);
  template <int I> static constexpr std::uint32_t held_before = schedule::held_bytes_before(I);

  /// Runs one pass over `Count` vectors of `Width` elements, `step` elements apart, from `p` on. All are loaded before
  /// the first is used.
  template <int Pass, int Width, int Count, class Block, class Elements>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_apart(const Block& block, const loop_type& l, place p,
                                                        std::int32_t step, const uniform_values& uniform,
                                                        row_totals& totals, const Elements& elements) {
    nothing_kept nothing;
    state<Width> loaded[std::size_t{Count}];
    const std::int32_t first = p.inner;
    PARALLAX_DEVICE_UNROLL
    for (int k = 0; k < Count; ++k) {
      p.inner = first + k * step;
      load_all<Pass, nothing_kept>(block, l, p, loaded[k], indices{}, elements);
    }
    PARALLAX_DEVICE_UNROLL
    for (int k = 0; k < Count; ++k) {
      row_totals ones[std::size_t{Width}];
      p.inner = first + k * step;
      hold_all<Pass>(block, p, loaded[k], elements, indices{});
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < Width; ++i) {
        values own = uniform;
        evaluate_all<Pass>(own, uniform, loaded[k], nothing, 0, i, indices{});
        begin_all<Pass>(ones[i], own, indices{});
      }
      store_all<Pass>(block, l, p, loaded[k], indices{});
      // elements among themselves first: they are few, so that their numbers are known while compiling
      PARALLAX_DEVICE_UNROLL
      for (int half = Width / 2; half > 0; half /= 2) {
        PARALLAX_DEVICE_UNROLL
        for (int i = 0; i < half; ++i) ones[i].template add<Pass>(ones[i + half]);
      }
      totals.template add<Pass>(ones[0]);
    }
  }

 private:
  template <int Pass, class Kept, class Block, class State, class Elements, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void load_all(const Block& block, const loop_type& l, const place& p,
                                                       State& state, std::index_sequence<I...>,
                                                       const Elements& elements) {
    [[maybe_unused]] const bool done[] = {(load_one<Pass, I, Kept>(block, l, p, state, elements), true)...};
  }
  template <int Pass, int I, class Kept, class Block, class State, class Elements>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  load_one([[maybe_unused]] const Block& block, [[maybe_unused]] const loop_type& l, [[maybe_unused]] const place& p,
           [[maybe_unused]] State& state, [[maybe_unused]] const Elements& elements) {
    if constexpr (is_load<Kept, I, Pass>) elements.template load<I, Pass>(block, l, p, detail::transfer_at<I>(state));
  }
  template <int Pass, class Block, class State, class Elements, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void hold_all(const Block& block, const place& p, const State& state,
                                                       const Elements& elements, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {
        (elements.template hold<I, Pass>(block, p, detail::transfer_at<I>(state)), true)...};
  }
  template <int Pass, class Block, class State, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void store_all(const Block& block, const loop_type& l, const place& p,
                                                        const State& state, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(store_one<Pass, I>(block, l, p, state), true)...};
  }
  template <int Pass, int I, class Block, class State>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  store_one([[maybe_unused]] const Block& block, [[maybe_unused]] const loop_type& l, [[maybe_unused]] const place& p,
            [[maybe_unused]] const State& state) {
    if constexpr (is_store<I, Pass>) detail::transfer_at<I>(state).store(block, l, p);
  }

  template <int Pass, class State, class Kept, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void evaluate_all(values& own, const uniform_values& uniform, State& state,
                                                           Kept& kept, int vector, int i, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(evaluate_one<Pass, I>(S{}, own, uniform, state, kept, vector, i), true)...};
  }
  template <int Pass, int I, class Statement, class State, class Kept>
  static PARALLAX_DEVICE PARALLAX_INLINE void evaluate_one([[maybe_unused]] Statement s, [[maybe_unused]] values& own,
                                                           [[maybe_unused]] const uniform_values& uniform,
                                                           [[maybe_unused]] State& state, [[maybe_unused]] Kept& kept,
                                                           [[maybe_unused]] int vector, [[maybe_unused]] int i) {
    if constexpr (is_evaluated<Kept, I, Pass>) {
      if constexpr (is_at_hand<Kept, I, Pass>) detail::value_at<I>(own) = detail::kept_at<I>(kept)[vector].value[i];
      else if constexpr (rounds::template divisor_of<I, Statement> >= 0)
        detail::value_at<I>(own) = quotient<I>(s, own, uniform);
      else detail::value_at<I>(own) = detail::evaluate<I>(s, own, state, i);
      if constexpr (is_remembered<Kept, I>) detail::kept_at<I>(kept)[vector].value[i] = detail::value_at<I>(own);
    }
  }
  template <int I, class Divide, element_type Type, std::int64_t Parameter, int X, int Y>
  static PARALLAX_DEVICE PARALLAX_INLINE element_t<Type> quotient(compute_statement<Divide, Type, Parameter, X, Y>,
                                                                  const values& own, const uniform_values& uniform) {
    return math::convert<element_t<Type>>(divided(math::convert<float>(detail::value_at<X>(own)),
                                                  math::convert<float>(detail::value_at<Y>(own)),
                                                  detail::reciprocal_at<I>(uniform)));
  }
  /// Begins totals with one element.
  template <int Pass, std::size_t... I>
  static PARALLAX_DEVICE PARALLAX_INLINE void begin_all(row_totals& one, const values& own, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {(begin_one<Pass, I, S>(one, own), true)...};
  }
  template <int Pass, int I, class Statement>
  static PARALLAX_DEVICE PARALLAX_INLINE void begin_one([[maybe_unused]] row_totals& one,
                                                        [[maybe_unused]] const values& own) {
    if constexpr (reduces_in<I, Pass>) {
      using reduction = typename row_totals::template reduction<I, Statement>;
      detail::value_at<I>(one) = reduction::of(detail::value_at<reduction::operand>(own));
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
