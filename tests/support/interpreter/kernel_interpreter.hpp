// Kernels read from a plan and computed number by number, for programs that are made while a test runs: no compiler has
// seen them, so nothing is there to be called.
#pragma once

#include "support/interpreter/kernel_numbers.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace properties {

namespace plx = parallax;
namespace compiled = parallax::compiled;
using compiled::kernel_arguments;
using compiled::kernel_result;
using compiled::kernel_statement;
using compiled::statement_kind;

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
      if (kernel.reduction != plx::detail::primitive_id::input) return reduce();
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
  plx::detail::plain_span<const kernel_statement> statements;
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
        return plx::detail::is_inexact(key_type) ? x.real < y.real : x.whole < y.whole;
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
