// Kernels as types: what the backends instantiate. Equal kernels of different programs are one type. Primitives are in
// it as types too: their ids are places in a catalogue, of which files of one process may have different ones.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp>
#include <parallax/program/plan.hpp>

#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// Statements as types. Constants are arguments of the kernel and not part of its type.
template <statement_kind Kind, element_type Type, int Argument> struct load_statement {
  static constexpr kernel_statement record{.kind = Kind, .type = Type, .argument = Argument};
  using value_type = element_t<Type>;
};
template <class Primitive, element_type Type, std::int64_t Parameter, int... Operands> struct compute_statement {
  static constexpr kernel_statement record{
      .type = Type, .primitive = primitives::id_of<Primitive>, .parameter = Parameter, .operands = {Operands...}};
  using value_type = element_t<Type>;
};
template <class Primitive, element_type Type, int Operand> struct reduce_statement {
  static constexpr kernel_statement record{.kind = statement_kind::reduce_row,
                                           .type = Type,
                                           .primitive = primitives::id_of<Primitive>,
                                           .operands = {Operand}};
  using value_type = element_t<Type>;
};
template <statement_kind Kind, element_type Type, int Operand, int Argument> struct store_statement {
  static constexpr kernel_statement record{.kind = Kind, .type = Type, .argument = Argument, .operands = {Operand}};
  using value_type = element_t<Type>;
};
template <statement_kind Kind, element_type Type, int Offset, int Argument> struct gather_statement {
  static constexpr kernel_statement record{.kind = Kind, .type = Type, .argument = Argument, .operands = {Offset}};
  using value_type = element_t<Type>;
};
template <statement_kind Kind, class Primitive, element_type Type, int Offset, int Update, int Argument>
struct scatter_statement {
  using primitive = Primitive;
  static constexpr kernel_statement record{.kind = Kind,
                                           .type = Type,
                                           .primitive = primitives::id_of<Primitive>,
                                           .argument = Argument,
                                           .operands = {Offset, Update}};
  using value_type = element_t<Type>;
};

/// The reduction of a kernel that combines no elements.
struct no_reduction {};

/// A fused loop: its statements in order, the last one being the result. `Reduction` is the primitive that combines
/// elements, if any.
template <kernel_result Result, class Reduction, class... Statements> struct kernel {
  static constexpr kernel_result result = Result;
  using reduction = Reduction;
  static constexpr bool has_reduction = !std::is_same_v<Reduction, no_reduction>;
  static constexpr int size = static_cast<int>(sizeof...(Statements));
};

/// The last of a kernel's statements.
template <class... S> struct last_statement;
template <class Last> struct last_statement<Last> {
  using type = Last;
};
template <class First, class... Rest> struct last_statement<First, Rest...> : last_statement<Rest...> {};

template <class Program, int At, int... I> constexpr auto make_statement(std::integer_sequence<int, I...>) {
  constexpr const kernel_statement& s = Program::plan.template at<kernel_statement>(At);
  if constexpr (is_load(s.kind)) return load_statement<s.kind, s.type, s.argument>{};
  else if constexpr (is_store(s.kind)) return store_statement<s.kind, s.type, s.operands[I]..., s.argument>{};
  else if constexpr (is_gather(s.kind)) return gather_statement<s.kind, s.type, s.operands[I]..., s.argument>{};
  else if constexpr (is_scatter(s.kind))
    return scatter_statement<s.kind, typename primitives::entry<s.primitive>::primitive, s.type, s.operands[I]...,
                             s.argument>{};
  else if constexpr (s.kind == statement_kind::reduce_row)
    return reduce_statement<typename primitives::entry<s.primitive>::primitive, s.type, s.operands[I]...>{};
  else {
    static_assert(s.kind == statement_kind::compute);
    return compute_statement<typename primitives::entry<s.primitive>::primitive, s.type, s.parameter,
                             s.operands[I]...>{};
  }
}
template <class Program, int At> constexpr auto make_statement() {
  constexpr int operands = Program::plan.template at<kernel_statement>(At).operands.size();
  return make_statement<Program, At>(std::make_integer_sequence<int, operands>{});
}
template <class Program, int Number, int... S> constexpr auto make_kernel(std::integer_sequence<int, S...>) {
  constexpr const kernel_record& k = Program::plan.template at<kernel_record>(Number);
  if constexpr (k.reduction == primitive_id::input)
    return kernel<k.result, no_reduction, decltype(make_statement<Program, k.statements.first + S>())...>{};
  else
    return kernel<k.result, typename primitives::entry<k.reduction>::primitive,
                  decltype(make_statement<Program, k.statements.first + S>())...>{};
}

/// Kernel number `Number` of a program, as a type.
template <class Program, int Number> struct program_kernel {
  static constexpr int size = Program::plan.template at<kernel_record>(Number).statements.count;
  using type = decltype(make_kernel<Program, Number>(std::make_integer_sequence<int, size>{}));
};

/// The number of kernels of a program.
template <class Program> inline constexpr std::size_t kernel_count = Program::plan.template all<kernel_record>().size();

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
