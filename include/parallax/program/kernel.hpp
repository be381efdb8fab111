// Kernels as types: what the backends instantiate. Equal kernels of different programs are one type.
#pragma once

#include <parallax/primitives/all.hpp>
#include <parallax/program/plan.hpp>

#include <utility>

namespace parallax::compiled {

/// Statements as types. Constants are arguments of the kernel and not part of its type.
template <statement_kind Kind, element_type Type, int Argument> struct load_statement {
  static constexpr kernel_statement record{.kind = Kind, .type = Type, .argument = Argument};
  using value_type = element_t<Type>;
};
template <primitive_id Primitive, element_type Type, std::int64_t Parameter, int... Operands> struct compute_statement {
  static constexpr kernel_statement record{
      .type = Type, .primitive = Primitive, .parameter = Parameter, .operands = {Operands...}};
  using value_type = element_t<Type>;
};
template <primitive_id Primitive, element_type Type, int Operand> struct reduce_statement {
  static constexpr kernel_statement record{
      .kind = statement_kind::reduce_row, .type = Type, .primitive = Primitive, .operands = {Operand}};
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
template <statement_kind Kind, primitive_id Primitive, element_type Type, int Offset, int Update, int Argument>
struct scatter_statement {
  static constexpr kernel_statement record{
      .kind = Kind, .type = Type, .primitive = Primitive, .argument = Argument, .operands = {Offset, Update}};
  using value_type = element_t<Type>;
};

/// A fused loop: its statements in order, the last one being the result.
template <kernel_result Result, primitive_id Reduction, class... Statements> struct kernel {
  static constexpr kernel_result result = Result;
  static constexpr primitive_id reduction = Reduction;
  static constexpr int size = static_cast<int>(sizeof...(Statements));
};

template <class Program, int At, int... I> constexpr auto make_statement(std::integer_sequence<int, I...>) {
  constexpr const kernel_statement& s = Program::plan.template at<kernel_statement>(At);
  if constexpr (is_load(s.kind)) return load_statement<s.kind, s.type, s.argument>{};
  else if constexpr (is_store(s.kind)) return store_statement<s.kind, s.type, s.operands[I]..., s.argument>{};
  else if constexpr (is_gather(s.kind)) return gather_statement<s.kind, s.type, s.operands[I]..., s.argument>{};
  else if constexpr (is_scatter(s.kind))
    return scatter_statement<s.kind, s.primitive, s.type, s.operands[I]..., s.argument>{};
  else if constexpr (s.kind == statement_kind::reduce_row)
    return reduce_statement<s.primitive, s.type, s.operands[I]...>{};
  else return compute_statement<s.primitive, s.type, s.parameter, s.operands[I]...>{};
}
template <class Program, int At> constexpr auto make_statement() {
  constexpr int operands = Program::plan.template at<kernel_statement>(At).operands.size();
  return make_statement<Program, At>(std::make_integer_sequence<int, operands>{});
}
template <class Program, int Number, int... S> constexpr auto make_kernel(std::integer_sequence<int, S...>) {
  constexpr const kernel_record& k = Program::plan.template at<kernel_record>(Number);
  return kernel<k.result, k.reduction, decltype(make_statement<Program, k.statements.first + S>())...>{};
}

/// Kernel number `Number` of a program, as a type.
template <class Program, int Number> struct program_kernel {
  static constexpr int size = Program::plan.template at<kernel_record>(Number).statements.count;
  using type = decltype(make_kernel<Program, Number>(std::make_integer_sequence<int, size>{}));
};

/// The number of kernels of a program.
template <class Program> inline constexpr std::size_t kernel_count = Program::plan.template all<kernel_record>().size();

} // namespace parallax::compiled
