// Kernels read from a plan and computed number by number, for programs that are made while a test runs: no compiler has
// seen them, so nothing is there to be called.
#pragma once

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace properties {

namespace plx = parallax;
namespace compiled = parallax::compiled;
using compiled::kernel_arguments;
using compiled::kernel_result;
using compiled::kernel_statement;
using compiled::statement_kind;
using plx::element_type;

/// A number of any of the types that the drawn programs come to.
struct kernel_number {
  double real = 0; ///< of floating types
  std::int64_t whole = 0;

  template <class T> T as() const {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(real);
    else return static_cast<T>(whole);
  }
  template <class T> static kernel_number of(T x) {
    if constexpr (std::is_floating_point_v<T>) return {static_cast<double>(x), 0};
    else return {0, static_cast<std::int64_t>(x)};
  }
};

/// Calls f with a type's element.
template <class F> decltype(auto) with_element(element_type type, const F& f) {
  if (type == element_type::float64) return f(std::type_identity<double>{});
  if (type == element_type::float32) return f(std::type_identity<float>{});
  if (type == element_type::int32) return f(std::type_identity<std::int32_t>{});
  if (type == element_type::int64) return f(std::type_identity<std::int64_t>{});
  if (type == element_type::uint32) return f(std::type_identity<std::uint32_t>{});
  if (type == element_type::uint64) return f(std::type_identity<std::uint64_t>{});
  if (type == element_type::boolean) return f(std::type_identity<bool>{});
  throw std::logic_error("a drawn program has numbers of type " + std::string(name_of(type)));
}
/// Numbers in the host's memory. Kernels are interpreted where they are: a simulated device's memory is its own.
struct host_memory {
  template <class T> T load(const T* from) const {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T> void store(T* to, T value) const { std::memcpy(to, &value, sizeof value); }
};
template <class Memory> kernel_number load(const Memory& memory, element_type type, const std::byte* from) {
  return with_element(type, [&]<class T>(std::type_identity<T>) {
    return kernel_number::of(memory.load(reinterpret_cast<const T*>(from)));
  });
}
template <class Memory>
void store(const Memory& memory, element_type type, std::byte* to, const kernel_number& number) {
  with_element(type, [&]<class T>(std::type_identity<T>) { memory.store(reinterpret_cast<T*>(to), number.as<T>()); });
}

namespace detail {

namespace primitives = parallax::primitives;

template <class P>
inline constexpr bool is_for_bits =
    std::is_same_v<P, primitives::bitwise_and> || std::is_same_v<P, primitives::bitwise_or> ||
    std::is_same_v<P, primitives::bitwise_xor> || std::is_same_v<P, primitives::bitwise_not>;
/// Which types the evaluation of a primitive is asked for.
template <class P, class T> constexpr bool takes() {
  if constexpr (std::is_same_v<P, primitives::select>) return false; // its operands are of two types
  else if constexpr (is_for_bits<P>) return !std::is_floating_point_v<T>;
  else if constexpr (std::is_same_v<T, bool>)
    return std::is_same_v<P, primitives::equal> || std::is_same_v<P, primitives::not_equal> ||
           std::is_same_v<P, primitives::stop_gradient>;
  else if constexpr (std::is_integral_v<T>)
    return std::is_same_v<P, primitives::add> || std::is_same_v<P, primitives::subtract> ||
           std::is_same_v<P, primitives::multiply> || std::is_same_v<P, primitives::remainder> ||
           std::is_same_v<P, primitives::maximum> || std::is_same_v<P, primitives::minimum> ||
           std::is_same_v<P, primitives::negative> ||
           (std::is_base_of_v<primitives::predicate, P> && !std::is_same_v<P, primitives::is_finite>) ||
           std::is_same_v<P, primitives::stop_gradient> || std::is_base_of_v<primitives::reduction, P> ||
           std::is_same_v<P, primitives::cumsum>;
  else
    return !std::is_same_v<P, primitives::shift_left> && !std::is_same_v<P, primitives::shift_right> &&
           !std::is_same_v<P, primitives::threefry2x32> && !std::is_same_v<P, primitives::philox4x32> &&
           !std::is_same_v<P, primitives::wide_remainder>;
}

[[noreturn]] inline void no_meaning(std::string_view primitive) {
  throw std::logic_error("a drawn program computes what its test does not: " + std::string(primitive));
}

/// Applies a primitive to numbers of one type.
template <class P, class T> kernel_number apply_to(const kernel_number* x, std::size_t count) {
  if constexpr (!takes<P, T>()) no_meaning(P::name);
  else {
    const T a = x[0].as<T>();
    if constexpr (requires { P::evaluate(a); }) return kernel_number::of(P::evaluate(a));
    else if constexpr (requires { P::evaluate(a, a); }) return kernel_number::of(P::evaluate(a, x[1].as<T>()));
    else if constexpr (requires { P::evaluate(a, a, a); })
      return kernel_number::of(P::evaluate(a, x[1].as<T>(), x[2].as<T>()));
    else no_meaning(P::name);
  }
  static_cast<void>(count);
}
template <class P> kernel_number apply(element_type type, const kernel_number* x, std::size_t count) {
  return with_element(type, [&]<class T>(std::type_identity<T>) { return apply_to<P, T>(x, count); });
}
template <class P> kernel_number neutral_of(element_type type) {
  if constexpr (requires { P::template neutral<double>(); })
    return with_element(type, []<class T>(std::type_identity<T>) {
      if constexpr (takes<P, T>()) return kernel_number::of(P::template neutral<T>());
      else return kernel_number{};
    });
  else no_meaning(P::name);
}

struct primitive_functions {
  kernel_number (*apply)(element_type, const kernel_number*, std::size_t);
  kernel_number (*neutral)(element_type);
};
template <class List> struct function_table;
template <class... P> struct function_table<primitives::list<P...>> {
  static constexpr primitive_functions entries[] = {{&apply<P>, &neutral_of<P>}...};
};

} // namespace detail

inline const detail::primitive_functions& functions_of(plx::primitive_id primitive) {
  return detail::function_table<plx::primitives::catalogue>::entries[static_cast<std::size_t>(primitive)];
}

/// Runs a kernel of a plan.
template <class Memory> class kernel_interpreter {
 public:
  kernel_interpreter(const Memory& where, const compiled::plan_view& plan, compiled::kernel_id id,
                     const kernel_arguments& arguments)
      : memory(where),
        kernel(plan.at<compiled::kernel_record>(static_cast<int>(id))),
        statements(plan[kernel.statements]),
        a(arguments),
        values(statements.size()) {}

  void run() {
    switch (kernel.result) {
    case kernel_result::vector:
    case kernel_result::strided:
      if (kernel.reduction != plx::primitive_id::input) return reduce();
      return for_each_position(a.rank, [&] {
        evaluate_all();
        properties::store(memory, last().type, place(0), values.back());
      });
    case kernel_result::reduction: return reduce();
    case kernel_result::rows: return run_rows();
    case kernel_result::cumulative:
    case kernel_result::reverse_cumulative: return cumulate(kernel.result == kernel_result::reverse_cumulative);
    case kernel_result::sorted: return sort();
    case kernel_result::scattered: return for_each_position(a.rank, [&] { evaluate_all(); });
    }
  }

 private:
  const Memory& memory;
  const compiled::kernel_record& kernel;
  plx::plain_span<const kernel_statement> statements;
  const kernel_arguments& a;
  std::vector<kernel_number> values; ///< by statement
  std::array<std::int64_t, plx::max_rank> position{};

  const kernel_statement& last() const { return statements[statements.size() - 1]; }
  bool is_reduced(int d) const { return (a.reduced >> d & 1U) != 0; }
  /// The first `rank` dimensions in row-major order.
  template <class F> void for_each_position(int rank, const F& f, int from = 0) {
    if (from == rank) return f();
    for (std::int64_t k = 0; k < a.extents[from]; ++k) {
      position[static_cast<std::size_t>(from)] = k;
      for_each_position(rank, f, from + 1);
    }
    position[static_cast<std::size_t>(from)] = 0;
  }
  /// Dimensions that are reduced, or those that are not.
  template <class F> void for_each_of(bool reduced, const F& f, int from = 0) {
    if (from == a.rank) return f();
    if (is_reduced(from) != reduced) return for_each_of(reduced, f, from + 1);
    for (std::int64_t k = 0; k < a.extents[from]; ++k) {
      position[static_cast<std::size_t>(from)] = k;
      for_each_of(reduced, f, from + 1);
    }
    position[static_cast<std::size_t>(from)] = 0;
  }
  std::int64_t offset(int operand) const {
    std::int64_t sum = 0;
    for (int d = 0; d < a.rank; ++d) sum += position[static_cast<std::size_t>(d)] * a.operands[operand].strides[d];
    return sum;
  }
  std::byte* place(int operand, std::int64_t further = 0) const {
    const compiled::operand& o = a.operands[operand];
    return o.data + (offset(operand) + further) * o.element_bytes;
  }
  kernel_number value_of(int statement) const { return values[static_cast<std::size_t>(statement)]; }

  void evaluate_all() {
    for (std::size_t i = 0; i < statements.size(); ++i) values[i] = evaluate(statements[i]);
  }
  kernel_number evaluate(const kernel_statement& s) {
    switch (s.kind) {
    case statement_kind::compute: return compute(s);
    case statement_kind::load_vector:
    case statement_kind::load_scalar:
    case statement_kind::load_strided: return properties::load(memory, s.type, place(s.argument));
    case statement_kind::load_index: {
      const std::int64_t index = a.operands[s.argument].start + offset(s.argument);
      return {static_cast<double>(index), index};
    }
    case statement_kind::load_constant:
      return properties::load(host_memory{}, s.type, reinterpret_cast<const std::byte*>(&a.constants[s.argument].bits));
    case statement_kind::store_vector:
    case statement_kind::store_row:
      properties::store(memory, s.type, place(s.argument), value_of(s.operands[0]));
      return value_of(s.operands[0]);
    case statement_kind::gather_each:
    case statement_kind::gather_row:
      return properties::load(memory, s.type, place(s.argument, value_of(s.operands[0]).whole));
    case statement_kind::scatter_each:
    case statement_kind::scatter_row: return scatter(s);
    case statement_kind::reduce_row: break;
    }
    throw std::logic_error("a statement of rows outside of them");
  }
  kernel_number compute(const kernel_statement& s) {
    std::vector<kernel_number> x;
    for (int operand : s.operands) x.push_back(value_of(operand));
    const element_type from = statements[static_cast<std::size_t>(s.operands[0])].type;
    if (s.primitive == plx::primitives::id_of<plx::primitives::select>) return x[x[0].whole != 0 ? 1 : 2];
    if (s.primitive == plx::primitives::id_of<plx::primitives::convert>) return converted(from, s.type, x[0]);
    if (s.primitive == plx::primitives::id_of<plx::primitives::integer_power>) return power(s, x[0]);
    if (s.primitive == plx::primitives::id_of<plx::primitives::exp_of_square>)
      return {std::exp(static_cast<double>(s.parameter) * x[0].real * x[0].real), 0};
    return functions_of(s.primitive).apply(from, x.data(), x.size());
  }
  static kernel_number converted(element_type from, element_type to, const kernel_number& x) {
    return with_element(from, [&]<class From>(std::type_identity<From>) {
      return with_element(
          to, [&]<class To>(std::type_identity<To>) { return kernel_number::of(static_cast<To>(x.as<From>())); });
    });
  }
  static kernel_number power(const kernel_statement& s, const kernel_number& x) {
    double result = 1;
    for (std::int64_t k = 0; k < std::abs(s.parameter); ++k) result *= x.real;
    return {s.parameter < 0 ? 1 / result : result, 0};
  }
  kernel_number scatter(const kernel_statement& s) {
    const std::int64_t where = value_of(s.operands[0]).whole;
    const kernel_number update = value_of(s.operands[1]);
    if (where < 0) return update;
    std::byte* const element = place(s.argument, where);
    const kernel_number both[] = {properties::load(memory, s.type, element), update};
    const bool sets = s.primitive == plx::primitives::id_of<plx::primitives::stop_gradient>;
    properties::store(memory, s.type, element, sets ? update : functions_of(s.primitive).apply(s.type, both, 2));
    return update;
  }
  kernel_number combined(const kernel_number& x, const kernel_number& y) {
    const kernel_number both[] = {x, y};
    return functions_of(kernel.reduction).apply(last().type, both, 2);
  }

  void reduce() {
    for_each_of(false, [&] {
      kernel_number total = functions_of(kernel.reduction).neutral(last().type);
      for_each_of(true, [&] {
        evaluate_all();
        total = combined(total, values.back());
      });
      properties::store(memory, last().type, place(0), total);
    });
  }
  /// A row's statements one after another, each for the whole row.
  void run_rows() {
    const int outer = a.rank - 1;
    const auto length = static_cast<std::size_t>(a.extents[outer]);
    for_each_position(outer, [&] {
      std::vector<std::vector<kernel_number>> rows;
      for (const kernel_statement& s : statements) {
        std::vector<kernel_number> row;
        for (std::size_t k = 0; k < length && s.kind != statement_kind::reduce_row; ++k) {
          position[static_cast<std::size_t>(outer)] = static_cast<std::int64_t>(k);
          for (std::size_t i = 0; i < rows.size(); ++i) values[i] = rows[i][k];
          row.push_back(evaluate(s));
        }
        if (s.kind == statement_kind::reduce_row) {
          kernel_number total = functions_of(s.primitive).neutral(s.type);
          for (const kernel_number& x : rows[static_cast<std::size_t>(s.operands[0])]) {
            const kernel_number both[] = {total, x};
            total = functions_of(s.primitive).apply(s.type, both, 2);
          }
          row.assign(length, total);
        }
        rows.push_back(row);
      }
      position[static_cast<std::size_t>(outer)] = 0;
    });
  }
  void cumulate(bool reverse) {
    const bool is_recurrence = kernel.reduction == plx::primitives::id_of<plx::primitives::linear_recurrence>;
    int axis = -1;
    for (int d = 0; d < a.rank; ++d)
      if (is_reduced(d)) axis = d;
    for_each_of(false, [&] {
      kernel_number total = functions_of(kernel.reduction).neutral(last().type);
      const std::int64_t length = axis < 0 ? 1 : a.extents[axis];
      for (std::int64_t k = 0; k < length; ++k) {
        if (axis >= 0) position[static_cast<std::size_t>(axis)] = reverse ? length - 1 - k : k;
        if (is_recurrence) {
          for (std::size_t i = 0; i < 2; ++i) values[i] = evaluate(statements[i]);
          const kernel_number three[] = {total, values[0], values[1]};
          total = functions_of(kernel.reduction).apply(last().type, three, 3);
        } else {
          evaluate_all();
          total = combined(total, values.back());
        }
        properties::store(memory, last().type, place(0), total);
      }
      if (axis >= 0) position[static_cast<std::size_t>(axis)] = 0;
    });
  }
  struct sorted_element {
    kernel_number key, element;
    std::size_t place;
  };
  void sort() {
    const bool has_keys = statements.size() == 3, descending = last().parameter != 0;
    const element_type key_type = statements[0].type;
    const auto length = static_cast<std::size_t>(a.extents[1]);
    for_each_position(1, [&] {
      std::vector<sorted_element> row(length);
      for (std::size_t k = 0; k < length; ++k) {
        position[1] = static_cast<std::int64_t>(k);
        row[k] = {properties::load(memory, key_type, place(1)),
                  properties::load(memory, last().type, place(has_keys ? 2 : 1)), k};
      }
      auto precedes = [&](const kernel_number& x, const kernel_number& y) {
        return plx::is_inexact(key_type) ? x.real < y.real : x.whole < y.whole;
      };
      std::sort(row.begin(), row.end(), [&](const sorted_element& x, const sorted_element& y) {
        const kernel_number &l = descending ? y.key : x.key, &r = descending ? x.key : y.key;
        return precedes(l, r) || (!precedes(r, l) && x.place < y.place);
      });
      for (std::size_t k = 0; k < length; ++k) {
        position[1] = static_cast<std::int64_t>(k);
        properties::store(memory, last().type, place(0), row[k].element);
      }
      position[1] = 0;
    });
  }
};

} // namespace properties
