// The statements of a loop while it is built: each value is loaded once.
#pragma once

#include <parallax/compile/fuse/loop.hpp>
#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A loop while it is built. Each statement has a number.
class loop_statements {
 public:
  planned_loop loop;

 protected:
  /// The statement that loads an operand; it is added unless the loop loads the operand already.
  constexpr int load(const access& from, element_type type) {
    const dim innermost = loop.extents.empty() ? dim{} : from.strides[loop.extents.size() - 1];
    return load_once(innermost == 0   ? statement_kind::load_scalar
                     : innermost == 1 ? statement_kind::load_vector
                                      : statement_kind::load_strided,
                     from, type);
  }
  constexpr int load_once(statement_kind kind, const access& a, element_type type) {
    const kernel_statement* const statements = loop.statements.data();
    const access* const accesses = loop.accesses.data();
    for (int statement : load_of) {
      const kernel_statement& known = statements[statement];
      if (known.type == type && accesses[known.argument] == a) return statement;
    }
    loop.accesses.push_back(a);
    load_of.push_back(add({.kind = kind, .type = type, .argument = count_of(loop.accesses) - 1}));
    return load_of.back();
  }
  constexpr int constant(const kernel_constant& c) {
    for (std::size_t i = 0; i < loop.constants.size(); ++i)
      if (loop.constants[i] == c) return constant_of[i];
    loop.constants.push_back(c);
    constant_of.push_back(
        add({.kind = statement_kind::load_constant, .type = c.type, .argument = count_of(loop.constants) - 1}));
    return constant_of.back();
  }
  constexpr int add(const kernel_statement& s) {
    uniform.push_back(is_one_along_rows(s) ? 1 : 0);
    loop.statements.push_back(s);
    return count_of(loop.statements) - 1;
  }
  /// Whether a statement's value is one along the innermost dimension.
  constexpr bool is_uniform(int statement) const { return uniform.data()[statement] != 0; }

 private:
  growing_vector<int> load_of;     ///< the statements that load
  growing_vector<int> constant_of; ///< by constant: the statement that gives it
  flags_of<kernel_statement> uniform;

  constexpr bool is_one_along_rows(const kernel_statement& s) const {
    if (s.kind == statement_kind::load_scalar || s.kind == statement_kind::load_constant || loop.extents.empty())
      return true;
    if (s.kind == statement_kind::load_index)
      return loop.accesses[index_of(s.argument)].strides[loop.extents.size() - 1] == 0;
    if (s.kind != statement_kind::compute) return false;
    for (int operand : s.operands)
      if (!is_uniform(operand)) return false;
    return true;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
