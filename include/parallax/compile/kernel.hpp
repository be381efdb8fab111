// Kernels as types: what the backends instantiate. Equal kernels of different programs are one type.
#pragma once

#include <parallax/compile/encode.hpp>

#include <utility>

namespace parallax {

/// One operation of a kernel; literals are arguments of the kernel and not part of its type.
template <int Operation, element_type Type, std::int64_t Parameter, int... Operands> struct statement {
  static constexpr int operation = Operation;
  static constexpr element_type type = Type;
  static constexpr std::int64_t parameter = Parameter;
  using value_type = element_t<Type>;
};

/// A fused loop: its statements in order, the last one being the result.
template <int Result, int Reduction, class... Statements> struct kernel {
  static constexpr int result = Result;
  static constexpr int reduction = Reduction;
  static constexpr int size = static_cast<int>(sizeof...(Statements));
};

namespace detail {

template <class Program, std::int64_t At, std::size_t... I> constexpr auto make_statement(std::index_sequence<I...>) {
  constexpr auto& t = Program::table;
  return statement<static_cast<int>(t[At]), static_cast<element_type>(t[At + 1]), t[At + 2],
                   static_cast<int>(t[At + 4 + static_cast<std::int64_t>(I)])...>{};
}
template <class Program, std::int64_t At, std::size_t... S> constexpr auto make_kernel(std::index_sequence<S...>) {
  constexpr auto& t = Program::table;
  return kernel<
      static_cast<int>(t[At]), static_cast<int>(t[At + 1]),
      decltype(make_statement<Program, t[At + 3 + static_cast<std::int64_t>(S)]>(
          std::make_index_sequence<static_cast<std::size_t>(t[t[At + 3 + static_cast<std::int64_t>(S)] + 3])>{}))...>{};
}

/// Kernel number `Number` of a program, as a type.
template <class Program, std::size_t Number> struct program_kernel {
  static constexpr std::int64_t at = Program::table[static_cast<std::size_t>(Program::table[kernels_at]) + 1 + Number];
  using type =
      decltype(make_kernel<Program, at>(std::make_index_sequence<static_cast<std::size_t>(Program::table[at + 2])>{}));
};

/// The number of kernels of a program.
template <class Program>
inline constexpr std::size_t kernel_count =
    static_cast<std::size_t>(Program::table[static_cast<std::size_t>(Program::table[kernels_at])]);

} // namespace detail
} // namespace parallax
