// What drawing a program begins with: its variables, and arrays of the shapes that are asked for.
#pragma once

#include "support/interpreter/drawn_program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace properties {

/// Where a statement is drawn.
struct situation {
  int depth = 0;
  int gradients = 0, directions = 0; ///< of grad and of jvp, that it is inside of
  int pmaps = 0;                     ///< likewise
  int devices = 1;                   ///< that the pmaps around it take
  bool as_one = false;               ///< inside of a pmap, a loop or a branch, whose pmaps run as one
  bool may_meet = true;              ///< whether all instances come here together
  std::vector<mapped_extent> axes{}; ///< mapped ones
  std::size_t shared_variables = 0;  ///< those that are the same for all instances, which stand first
};

/// A program that is being drawn, and what is visible where its next statement stands.
class drawing {
 public:
  explicit drawing(std::uint64_t seed) : engine(seed) {}

 protected:
  std::mt19937_64 engine;
  drawn_program p;
  std::vector<variable> visible;
  std::vector<variable> whole_constants; ///< which all instances have

  int between(int low, int high) {
    return low + static_cast<int>(engine() % static_cast<std::uint64_t>(high - low + 1));
  }
  variable one_of(const std::vector<variable>& all) {
    return all[static_cast<std::size_t>(between(0, static_cast<int>(all.size()) - 1))];
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  std::vector<int> small_shape(int most_rank) {
    std::vector<int> shape;
    for (int rank = between(0, most_rank); rank > 0; --rank) shape.push_back(between(2, 3));
    return shape;
  }

  variable new_variable(const value_type& type) {
    p.types.push_back(type);
    return variable{static_cast<int>(p.types.size()) - 1};
  }
  /// Appends a statement of one result.
  variable add(block& to, statement s, const value_type& type) {
    s.targets = {new_variable(type)};
    to.statements.push_back(s);
    visible.push_back(s.targets[0]);
    return s.targets[0];
  }
  const std::vector<int>& shape_of(variable v) const { return p.type_of(v).shape; }
  int rank_of(variable v) const { return static_cast<int>(shape_of(v).size()); }

  /// A number that is there, the younger the likelier; `none` if there is none such.
  template <class Suitable> variable find(bool is_whole, const Suitable& suitable) {
    std::vector<variable> found;
    for (variable v : visible)
      if (p.type_of(v).is_whole == is_whole && suitable(v)) found.push_back(v);
    if (found.empty()) return variable::none;
    const auto count = static_cast<int>(found.size());
    return found[static_cast<std::size_t>(
        std::max({between(0, count - 1), between(0, count - 1), between(0, count - 1)}))];
  }
  variable any_number() {
    return find(false, [](variable) { return true; });
  }
  variable youngest() const {
    std::size_t k = visible.size() - 1;
    while (p.type_of(visible[k]).is_whole) --k;
    return visible[k];
  }
  bool is_shared(variable v, const situation& here) const {
    const auto end = visible.begin() + static_cast<std::ptrdiff_t>(here.shared_variables);
    return std::find(visible.begin(), end, v) != end ||
           std::find(whole_constants.begin(), whole_constants.end(), v) != whole_constants.end();
  }
  variable whole_constant(block& to, int number) {
    whole_constants.push_back(
        add(to, {.what = operation::literal, .constant = static_cast<double>(number)}, {true, {}}));
    return whole_constants.back();
  }
  /// A whole number from 0 to 4.
  variable whole_number(block& to, bool shared, const situation& here) {
    std::vector<variable> found;
    for (variable v : visible)
      if ((!shared || is_shared(v, here)) && p.type_of(v) == value_type{true, {}}) found.push_back(v);
    if (found.empty() || chance(10)) return whole_constant(to, between(0, 3));
    return one_of(found);
  }

  /// A number of a shape, made of another one where there is none.
  variable shaped(block& to, const std::vector<int>& shape) {
    const variable v = find(false, [&](variable each) { return shape_of(each) == shape; });
    return v != variable::none && chance(80) ? v : coerced(to, any_number(), shape);
  }
  variable coerced(block& to, variable v, const std::vector<int>& shape) {
    if (shape_of(v) == shape) return v;
    if (!shape_of(v).empty()) v = add(to, {.what = operation::sum_all, .operands = {v}}, {});
    if (shape.empty()) return v;
    v = add(to, {.what = operation::sine, .operands = {v}}, {});
    v = add(to, {.what = operation::broadcast, .operands = {v}, .shape = shape}, {false, shape});
    const variable r =
        add(to, {.what = operation::ramp, .constant = 0.1 * between(1, 9) + 0.013, .shape = shape}, {false, shape});
    return add(to, {.what = operation::multiply, .operands = {v, r}}, {false, shape});
  }
  /// A bounded number of a shape, of two that are there; one of them is one of `given` if there are such.
  variable combined(block& to, const std::vector<int>& shape, const std::vector<variable>& given = {}) {
    const variable of = given.empty() ? (chance(70) ? youngest() : any_number()) : one_of(given);
    const variable x = coerced(to, of, shape), y = shaped(to, shape);
    const variable sum = add(to, {.what = operation::add, .operands = {x, y}}, {false, shape});
    return add(to, {.what = chance(50) ? operation::sine : operation::hyperbolic, .operands = {sum}}, {false, shape});
  }

  static std::vector<int> without_first(std::vector<int> shape) {
    shape.erase(shape.begin());
    return shape;
  }
  static std::vector<int> with_first(int extent, std::vector<int> shape) {
    shape.insert(shape.begin(), extent);
    return shape;
  }
  /// Something to go over along axis 0.
  variable slices(block& to) {
    const variable v = find(false, [&](variable each) { return rank_of(each) >= 1; });
    return v != variable::none ? v : coerced(to, any_number(), {between(2, 3), 2});
  }
};

} // namespace properties
