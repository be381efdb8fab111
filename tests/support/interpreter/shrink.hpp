// Makes a drawn program that shows a fault smaller, as long as it still does.
#pragma once

#include "support/interpreter/drawn_program.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace properties {

/// Leaves out what no result depends on.
class dead_code {
 public:
  static drawn_program removed(drawn_program p) {
    dead_code all(p);
    all.clear(p.main);
    return p;
  }

 private:
  std::vector<char> used;

  explicit dead_code(const drawn_program& p) : used(p.types.size()) {}
  void use(const std::vector<variable>& all) {
    for (variable v : all) used[static_cast<std::size_t>(v)] = 1;
  }
  void clear(block& b) {
    use(b.results);
    std::vector<statement> kept;
    for (std::size_t k = b.statements.size(); k-- > 0;) {
      statement& s = b.statements[k];
      if (std::none_of(s.targets.begin(), s.targets.end(),
                       [&](variable v) { return used[static_cast<std::size_t>(v)] != 0; }))
        continue;
      use(s.operands);
      for (block& body : s.bodies) clear(body);
      kept.push_back(s);
    }
    std::reverse(kept.begin(), kept.end());
    b.statements = kept;
  }
};

/// Calls f with each block of a program, until it returns true.
template <class F> bool visit_blocks(block& b, const F& f) {
  if (f(b)) return true;
  for (statement& s : b.statements)
    for (block& body : s.bodies)
      if (visit_blocks(body, f)) return true;
  return false;
}

/// A statement's results as constants.
inline std::vector<statement> as_constants(const drawn_program& p, const statement& s) {
  std::vector<statement> constants;
  for (variable v : s.targets) {
    const value_type& type = p.type_of(v);
    statement constant{.what = type.shape.empty() ? operation::literal : operation::ramp, .targets = {v}};
    constant.constant = type.is_whole ? 1 : 0.37;
    constant.shape = type.shape;
    constants.push_back(constant);
  }
  return constants;
}

/// A smaller program that `fails` like this one.
template <class Fails> drawn_program shrunk(drawn_program p, const Fails& fails) {
  auto try_change = [&](const auto& change) {
    // a change is told by its number, since blocks move when programs are copied
    for (int number = 0;; ++number) {
      drawn_program smaller = p;
      int at = 0;
      if (!visit_blocks(smaller.main, [&](block& b) { return change(smaller, b, at, number); })) return false;
      smaller = dead_code::removed(smaller);
      if (!fails(smaller)) continue;
      p = smaller;
      return true;
    }
  };
  auto replace_statement = [](const drawn_program& all, block& b, int& at, int number) {
    for (std::size_t k = b.statements.size(); k-- > 0;) {
      const statement s = b.statements[k];
      if (s.what == operation::literal || s.what == operation::ramp || at++ != number) continue;
      b.statements.erase(b.statements.begin() + static_cast<std::ptrdiff_t>(k));
      const std::vector<statement> constants = as_constants(all, s);
      b.statements.insert(b.statements.begin() + static_cast<std::ptrdiff_t>(k), constants.begin(), constants.end());
      return true;
    }
    return false;
  };
  // an operand of the same type in place of the result of an operation
  auto skip_statement = [](const drawn_program& all, block& b, int& at, int number) {
    for (const statement& s : b.statements) {
      if (s.what == operation::nest || s.targets.size() != 1) continue;
      for (variable operand : s.operands) {
        if (!(all.type_of(operand) == all.type_of(s.targets[0])) || at++ != number) continue;
        const variable target = s.targets[0];
        visit_blocks(b, [&](block& each) {
          for (statement& reader : each.statements)
            std::replace(reader.operands.begin(), reader.operands.end(), target, operand);
          std::replace(each.results.begin(), each.results.end(), target, operand);
          return false;
        });
        return true;
      }
    }
    return false;
  };
  p = dead_code::removed(p);
  while (try_change(replace_statement) || try_change(skip_statement)) {
  }
  return p;
}

} // namespace properties
