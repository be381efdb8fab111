// A planned program as constant data, which is all that remains of it at run time.
#pragma once

#include <parallax/compile/plan/lower.hpp>
#include <parallax/compile/trace/trace.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Symbolic extents as records.
constexpr void add_extents(plan_builder& plan, const dim_table& extents) {
  for_each(extents.atoms, [&](const dim_atom& atom) { plan.add(atom_record{atom}); });
  for_each(extents.entries, [&](const dim_table::polynomial& polynomial) {
    growing_vector<term_record> terms;
    for (const dim_term& term : polynomial) terms.push_back({term.coefficient, plan.add_list(term.atoms)});
    plan.add(entry_record{plan.add_list(terms)});
  });
}
constexpr void add_guards(plan_builder& plan, const growing_vector<guard>& guards) {
  for_each(guards, [&](const guard& g) {
    growing_vector<mapped_argument_record> mapped;
    for (const mapped_argument& a : g.mapped_arguments) mapped.push_back({a.argument, a.axis, plan.add_value(a.value)});
    plan.add(guard_record{g.kind, plan.add_list(g.operation), g.left, g.right, plan.add_value(g.left_value),
                          plan.add_value(g.right_value), plan.add_list(mapped)});
  });
}

inline constexpr std::size_t most_ffi_functions = 16; ///< functions of users' own in one program

/// The words of a plan, at most `Capacity` of them, or the error that kept it from being made.
template <std::size_t Capacity> struct plan_words {
  std::int64_t words[Capacity]{}; ///< no std::array, whose operators are calls
  std::size_t size = 0;           ///< the words that are needed, even if there is no room for them
  std::array<const ffi_function*, most_ffi_functions> ffi_functions{};
  std::size_t ffi_function_count = 0;
  std::size_t table_count = 0, first_of_tables = 0; ///< tables of numbers, whose words lie behind the plan's
  message error;

  constexpr void operator()(std::int64_t word) {
    if (size < Capacity) words[size] = word;
    ++size;
  }
};

template <std::size_t Capacity> struct capacity {};
/// Most programs fit, so that they are traced once; the others are traced again at their size. An operation takes some
/// 15 words, and the words of no program are left in an object that g++ may reorder. nvcc keeps the words that are not
/// used too: 68 MB for each program, if they were as many as elsewhere.
#ifdef __CUDACC__
inline constexpr std::size_t first_capacity = 16384;
#else
inline constexpr std::size_t first_capacity = 65536;
#endif

/// The words of the program of `Function` on arguments of these types.
template <class Function, class... Trees, std::size_t Capacity = first_capacity>
constexpr plan_words<Capacity> words_of(bool strict = false, capacity<Capacity> = {}) {
  context trace;
  trace.strict = strict;
  std::ignore = trace_program<Function, Trees...>(trace);
  plan_words<Capacity> result;
  plan_builder plan;
  if (!trace.failed) lower(trace, plan);
  if (!trace.failed) trace.check_extents("lowering");
  if (trace.ffi_functions.size() > most_ffi_functions)
    trace.fail(message() << "custom_call: a program calls at most " << static_cast<std::int64_t>(most_ffi_functions)
                         << " functions of its user's own; make it two programs");
  if (trace.failed) {
    result.error = trace.error;
    return result;
  }
  add_extents(plan, trace.extents);
  add_guards(plan, trace.guards);
  plan.write(result);
  result.table_count = trace.constants.size();
  result.first_of_tables = result.size;
  for_each(trace.constants, [&](const constant_table& table) {
    result(static_cast<std::int64_t>(table.type));
    result(table.shape.size());
    for (const dim extent : table.shape) result(extent.number());
    for (const std::int64_t word : table.words) result(word);
  });
  for (std::size_t k = 0; k < trace.ffi_functions.size(); ++k) result.ffi_functions[k] = trace.ffi_functions[k];
  result.ffi_function_count = trace.ffi_functions.size();
  return result;
}

/// The words of a program that fits. The name is a message to a user whose function is no constant: compilers show it
/// in the first line of the error.
template <class Function, class... Trees>
inline constexpr auto pass_what_is_known_at_run_time_only_as_an_argument = words_of<Function, Trees...>();

template <class Function, std::size_t Size, class... Trees>
inline constexpr auto whole_words = words_of<Function, Trees...>(false, capacity<Size>{});

/// Whether the compiler could evaluate the program; if not, it has said why.
template <class Function, class... Trees>
concept is_evaluated = requires {
  typename std::bool_constant<pass_what_is_known_at_run_time_only_as_an_argument<Function, Trees...>.size == 0>;
} && requires {
  requires pass_what_is_known_at_run_time_only_as_an_argument<Function, Trees...>.size + 1 > 0;
}; // for nvcc, which takes an error for a constant

/// The compiled form of `Function` on arguments of these types. Programs are told apart by their types, never by their
/// contents, so that nothing of these enters a mangled name.
template <class Function, class... Trees> struct program {
  static constexpr const auto& first = pass_what_is_known_at_run_time_only_as_an_argument<Function, Trees...>;
  static constexpr bool valid = first.error.size == 0;

  /// All words: those of a program that did not fit are made again.
  static constexpr const auto& whole() {
    if constexpr (first.size <= first_capacity) return first;
    else return whole_words<Function, first.size, Trees...>;
  }
  template <std::size_t... I> static constexpr auto read(std::index_sequence<I...>) {
    using data_type = record_arrays<record_types, static_cast<std::size_t>(first.words[I])...>;
    return data_type(word_reader(whole().words + sizeof...(I)));
  }
  static constexpr auto data = read(std::make_index_sequence<record_types::size>{});
  /// A copy: a reference into the words would keep all of them in the executable, and on the device.
  template <std::size_t... I> static constexpr auto ffi_functions_of(std::index_sequence<I...>) {
    return std::array<const ffi_function*, sizeof...(I)>{first.ffi_functions[I]...};
  }
  static constexpr auto ffi_functions = ffi_functions_of(std::make_index_sequence<first.ffi_function_count>{});
  static constexpr plan_view plan = data.view(first.ffi_function_count == 0 ? nullptr : ffi_functions.data());

  static constexpr std::size_t table_count = first.table_count; ///< of numbers, in the function

  using result_tree = program_result<Function, Trees...>;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
