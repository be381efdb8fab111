// Draws programs: each is right by construction, and whether it is worth a test its interpretation shows.
#pragma once

#include "properties/drawn_program.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace properties {

/// Where a statement is drawn.
struct situation {
  int depth = 0;
  int gradients = 0;                 ///< that it is inside of
  int directions = 0;                ///< likewise of jvp
  int pmaps = 0;                     ///< likewise
  int devices = 1;                   ///< that the pmaps around it take
  bool as_one = false;               ///< inside of a pmap, a loop or a branch, whose pmaps run as one
  bool may_meet = true;              ///< whether all instances come here together
  std::vector<mapped_extent> axes{}; ///< mapped ones
  std::size_t shared_variables = 0;  ///< those that are the same for all instances, which stand first
};

class program_drawer {
 public:
  explicit program_drawer(std::uint64_t seed) : engine(seed) {}

  drawn_program draw() {
    for (const value_type& type : {value_type{false, {3}}, value_type{false, {2, 3}}, value_type{false, {4, 2}},
                                   value_type{true, {3}}, value_type{true, {}}})
      p.main.parameters.push_back(new_variable(type));
    visible = p.main.parameters;
    situation here{.shared_variables = visible.size()};
    draw_statements(p.main, here, between(3, 6));
    for (const std::vector<int>& shape : {std::vector<int>{3}, std::vector<int>{2, 3}})
      p.main.results.push_back(combined(p.main, shape));
    return p;
  }

 private:
  static constexpr int most_devices = 8, axis_names = 3;
  std::mt19937_64 engine;
  drawn_program p;
  std::vector<variable> visible;
  std::vector<int> pmaps_at; ///< by depth: how many there are in the outermost pmap, which takes one

  int between(int low, int high) {
    return low + static_cast<int>(engine() % static_cast<std::uint64_t>(high - low + 1));
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
  /// A whole number below 4.
  variable whole_number(block& to, bool shared, const situation& here) {
    std::size_t place = 0;
    std::vector<variable> found;
    for (variable v : visible) {
      if ((!shared || place < here.shared_variables) && p.type_of(v) == value_type{true, {}}) found.push_back(v);
      ++place;
    }
    if (found.empty() || chance(10))
      return add(to, {.what = operation::literal, .constant = static_cast<double>(between(0, 3))}, {true, {}});
    return found[static_cast<std::size_t>(between(0, static_cast<int>(found.size()) - 1))];
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
  /// A bounded number of a shape, of two that are there.
  variable combined(block& to, const std::vector<int>& shape) {
    const variable x = coerced(to, chance(70) ? youngest() : any_number(), shape), y = shaped(to, shape);
    const variable sum = add(to, {.what = operation::add, .operands = {x, y}}, {false, shape});
    return add(to, {.what = chance(50) ? operation::sine : operation::hyperbolic, .operands = {sum}}, {false, shape});
  }

  void draw_statements(block& to, const situation& here, int count) {
    for (int k = 0; k < count; ++k) {
      if (here.depth < 4 && chance(here.depth == 0 ? 75 : here.depth == 1 ? 50 : 30)) draw_call(to, here);
      else if (!here.axes.empty() && chance(25)) draw_collective(to, here);
      else draw_operation(to, here);
    }
  }

  /// A function of these parameters, which are bounded, as its results are. The first result of a round may be a
  /// `changing` carry, with an element that is another one.
  block draw_body(const std::vector<value_type>& parameters, const std::vector<std::vector<int>>& results,
                  situation here, int changing = -1) {
    block body;
    const std::vector<variable> outside = visible;
    for (const value_type& type : parameters) {
      body.parameters.push_back(new_variable(type));
      visible.push_back(body.parameters.back());
    }
    ++here.depth;
    draw_statements(body, here, between(1, here.depth > 2 ? 2 : 4));
    const bool changes = changing >= 0 && !results[0].empty() && chance(40), early = chance(50);
    variable with_change = variable::none;
    auto change = [&] { with_change = changed(body, body.parameters[static_cast<std::size_t>(changing)], here); };
    if (changes && early) change();
    for (const std::vector<int>& shape : results) body.results.push_back(combined(body, shape));
    if (changes && !early) change();
    if (changes) body.results[0] = with_change;
    visible = outside;
    return body;
  }
  variable changed(block& to, variable x, const situation& here) {
    const std::vector<int> slice = without_first(shape_of(x));
    const variable update = combined(to, slice), place = whole_number(to, false, here);
    return add(to, {.what = operation::set_element, .operands = {x, place, update}}, {false, shape_of(x)});
  }
  void add_targets(block& to, statement s, const std::vector<value_type>& types) {
    for (const value_type& type : types) s.targets.push_back(new_variable(type));
    to.statements.push_back(s);
    visible.insert(visible.end(), s.targets.begin(), s.targets.end());
  }

  void draw_call(block& to, const situation& here) {
    switch (between(0, 13)) {
    case 0:
    case 1: return draw_scan(to, here);
    case 2: return draw_fori_loop(to, here);
    case 3: return here.gradients == 0 ? draw_while(to, here) : draw_map(to, here);
    case 4: return draw_map(to, here);
    case 5: return draw_branches(to, here);
    case 6:
    case 7: return draw_mapped(to, here, nesting::vmap);
    case 8:
    case 9: return draw_mapped(to, here, nesting::pmap);
    case 10: return draw_checkpointed(to, here);
    case 11: return derivatives(here) < 2 ? draw_direction(to, here) : draw_scan(to, here);
    default: return derivatives(here) < 2 ? draw_gradient(to, here) : draw_scan(to, here);
    }
  }
  static int derivatives(const situation& here) { return here.gradients + here.directions; }
  /// Inside of a loop or of a branch.
  situation in_loop(situation here) {
    if (!here.as_one) pmaps_at.clear();
    here.as_one = true;
    return here;
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

  void draw_scan(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1), output = small_shape(1);
    statement s{.what = operation::nest, .nested = chance(70) ? nesting::scan : nesting::reverse_scan};
    s.operands = {shaped(to, first), shaped(to, second), slices(to)};
    const std::vector<int> all = shape_of(s.operands[2]);
    s.bodies.push_back(draw_body({{false, first}, {false, second}, {false, without_first(all)}},
                                 {first, second, output}, in_loop(here), 0));
    add_targets(to, s, {{false, first}, {false, second}, {false, with_first(all[0], output)}});
  }
  void draw_fori_loop(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1);
    statement s{
        .what = operation::nest, .nested = nesting::fori_loop, .operands = {shaped(to, first), shaped(to, second)}};
    s.number = between(0, 3);
    s.bodies.push_back(draw_body({{true, {}}, {false, first}, {false, second}}, {first, second}, in_loop(here), 1));
    add_targets(to, s, {{false, first}, {false, second}});
  }
  void draw_while(block& to, const situation& here) {
    const std::vector<int> carry = small_shape(2);
    situation inside = in_loop(here);
    const bool shared = chance(40);
    statement s{.what = operation::nest, .nested = nesting::while_loop};
    s.operands = {shaped(to, carry), whole_number(to, shared, here), whole_number(to, shared, here)};
    inside.may_meet = inside.may_meet && is_shared(s.operands[1], here) && is_shared(s.operands[2], here);
    s.bodies.push_back(draw_body({{false, carry}, {true, {}}}, {carry}, inside));
    add_targets(to, s, {{false, carry}, {true, {}}});
  }
  bool is_shared(variable v, const situation& here) const {
    const auto end = visible.begin() + static_cast<std::ptrdiff_t>(here.shared_variables);
    return std::find(visible.begin(), end, v) != end;
  }
  void draw_map(block& to, const situation& here) {
    const std::vector<int> output = small_shape(1);
    statement s{.what = operation::nest, .nested = nesting::map, .operands = {slices(to)}};
    const std::vector<int> all = shape_of(s.operands[0]);
    s.bodies.push_back(draw_body({{false, without_first(all)}}, {output}, in_loop(here)));
    add_targets(to, s, {{false, with_first(all[0], output)}});
  }
  void draw_branches(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1), result = small_shape(2);
    statement s{.what = operation::nest, .nested = chance(60) ? nesting::cond : nesting::switched};
    s.operands = {whole_number(to, chance(40), here), shaped(to, first), shaped(to, second)};
    situation inside = in_loop(here);
    inside.may_meet = inside.may_meet && is_shared(s.operands[0], here);
    for (int k = s.nested == nesting::cond ? 2 : 3; k > 0; --k)
      s.bodies.push_back(draw_body({{false, first}, {false, second}}, {result, second}, inside));
    add_targets(to, s, {{false, result}, {false, second}});
  }

  /// Pmaps inside one are of one extent at each depth, which a single one always is.
  bool may_pmap(const situation& here) const {
    return here.may_meet && (!here.as_one || pmaps_at.size() <= static_cast<std::size_t>(here.pmaps));
  }
  static bool has_axis(const situation& here, int name) {
    return std::any_of(here.axes.begin(), here.axes.end(),
                       [&](const mapped_extent& each) { return each.axis == name; });
  }
  void draw_mapped(block& to, const situation& here, nesting what) {
    situation inside = here;
    int name = 0;
    while (name < axis_names && has_axis(here, name)) ++name;
    const int most = what == nesting::pmap ? most_devices / here.devices : 3;
    if (name == axis_names || most < 2 || (what == nesting::pmap && !may_pmap(here))) return draw_operation(to, here);
    statement s{.what = operation::nest, .nested = what, .number = name, .extent = between(2, std::min(most, 4))};
    s.layout = static_cast<mapped_layout>(between(0, 2));
    const std::vector<int> first = small_shape(1), second = small_shape(1);
    std::vector<int> whole_first = with_first(s.extent, first);
    if (s.layout == mapped_layout::first_along_1) whole_first = {between(2, 3), s.extent};
    const std::vector<int> of_one = s.layout == mapped_layout::first_along_1 ? std::vector<int>{whole_first[0]} : first;
    const bool whole = s.layout == mapped_layout::second_whole;
    s.operands = {shaped(to, whole_first), shaped(to, whole ? second : with_first(s.extent, second))};
    inside.axes.push_back({name, s.extent});
    if (what == nesting::pmap) {
      inside.devices *= s.extent;
      ++inside.pmaps;
      inside.as_one = true;
      pmaps_at.resize(static_cast<std::size_t>(here.pmaps));
      pmaps_at.push_back(1);
    }
    const std::vector<int> result = small_shape(1);
    s.bodies.push_back(draw_body({{false, of_one}, {false, second}}, {result, of_one}, inside));
    add_targets(to, s, {{false, with_first(s.extent, result)}, {false, with_first(s.extent, of_one)}});
  }
  void draw_checkpointed(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1), result = small_shape(1);
    statement s{
        .what = operation::nest, .nested = nesting::checkpointed, .operands = {shaped(to, first), shaped(to, second)}};
    s.bodies.push_back(draw_body({{false, first}, {false, second}}, {first, result}, here));
    add_targets(to, s, {{false, first}, {false, result}});
  }
  void draw_direction(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1), result = small_shape(1);
    statement s{
        .what = operation::nest, .nested = nesting::direction, .operands = {shaped(to, first), shaped(to, second)}};
    situation inside = here;
    ++inside.directions;
    s.bodies.push_back(draw_body({{false, first}, {false, second}}, {result}, inside));
    add_targets(to, s, {{false, result}});
  }
  void draw_gradient(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1);
    statement s{.what = operation::nest, .nested = chance(50) ? nesting::gradient : nesting::both_gradients};
    s.operands = {shaped(to, first), shaped(to, second)};
    situation inside = here;
    ++inside.gradients;
    s.bodies.push_back(draw_body({{false, first}, {false, second}}, {{}}, inside));
    if (s.nested == nesting::gradient) add_targets(to, s, {{false, first}});
    else add_targets(to, s, {{false, first}, {false, second}});
  }

  void draw_operation(block& to, const situation& here) {
    const variable x = any_number();
    const std::vector<int> shape = shape_of(x);
    const int rank = rank_of(x);
    auto result = [&](statement s, const std::vector<int>& of) { add(to, std::move(s), {false, of}); };
    auto unary = [&](operation what, const std::vector<int>& of) { result({.what = what, .operands = {x}}, of); };
    switch (between(0, 25)) {
    case 0: return result({.what = operation::add, .operands = {x, shaped(to, shape)}}, shape);
    case 1:
      return result({.what = operation::subtract, .operands = {x, shaped(to, chance(30) ? std::vector<int>{} : shape)}},
                    shape);
    case 2:
      return result({.what = operation::multiply, .operands = {x, shaped(to, chance(30) ? std::vector<int>{} : shape)}},
                    shape);
    case 3: return result({.what = operation::divide, .operands = {x, shaped(to, shape)}}, shape);
    case 4: return result({.what = operation::maximum, .operands = {x, shaped(to, shape)}}, shape);
    case 5: return unary(operation::sine, shape);
    case 6: return unary(operation::hyperbolic, shape);
    case 7:
      return result(
          {.what = operation::select, .operands = {x, shaped(to, shape), shaped(to, shape), shaped(to, shape)}}, shape);
    case 8: return unary(operation::sum_all, {});
    case 9:
    case 10: {
      if (rank == 0) return unary(operation::sine, shape);
      const int axis = between(0, rank - 1);
      std::vector<int> rest = shape;
      rest.erase(rest.begin() + axis);
      return result({.what = chance(70) ? operation::sum : operation::largest, .operands = {x}, .number = axis}, rest);
    }
    case 11: return result({.what = operation::of_whole, .operands = {whole_number(to, false, here)}}, {});
    case 12: return rank == 2 ? unary(operation::transpose, {shape[1], shape[0]}) : unary(operation::sine, shape);
    case 13: return rank == 2 ? unary(operation::flatten, {shape[0] * shape[1]}) : unary(operation::sine, shape);
    case 14: {
      if (rank == 0 || shape[0] > 3) return unary(operation::hyperbolic, shape);
      std::vector<int> longer = shape;
      longer[0] *= 2;
      return result({.what = operation::concatenate, .operands = {x, shaped(to, shape)}}, longer);
    }
    case 15: {
      if (rank == 0 || shape[0] < 2) return unary(operation::hyperbolic, shape);
      std::vector<int> shorter = shape;
      --shorter[0];
      return unary(operation::slice, shorter);
    }
    case 16:
    case 17: return draw_dot(to);
    case 18:
    case 19: {
      if (rank == 0) return unary(operation::sine, shape);
      const operation which[] = {operation::cumulative_sum, operation::reverse_sum, operation::cumulative_product,
                                 operation::cumulative_largest};
      return result({.what = which[between(0, 3)], .operands = {x}, .number = between(0, rank - 1)}, shape);
    }
    case 20: return draw_ordered(to);
    case 21:
    case 22:
    case 23:
    case 24: return draw_indexed(to, here);
    default: return draw_collective(to, here);
    }
  }
  void draw_dot(block& to) {
    const int rows = between(2, 3), depth = between(2, 3), columns = between(2, 3);
    const bool vector = chance(50);
    const std::vector<int> right = vector ? std::vector<int>{depth} : std::vector<int>{depth, columns};
    const variable x = shaped(to, {rows, depth}), y = shaped(to, right);
    add(to, {.what = operation::dot, .operands = {x, y}},
        {false, vector ? std::vector<int>{rows} : std::vector<int>{rows, columns}});
  }
  void draw_ordered(block& to) {
    const variable x = slices(to);
    std::vector<int> shape = shape_of(x);
    switch (between(0, 3)) {
    case 0: add(to, {.what = operation::argsort, .operands = {x}}, {true, shape}); return;
    case 1:
      if (shape.back() < 2) break;
      shape.back() = 2;
      add(to, {.what = operation::top, .operands = {x}}, {false, shape});
      return;
    case 2: {
      if (shape.size() > 1) break;
      const variable y = shaped(to, small_shape(1));
      add(to, {.what = operation::search, .operands = {x, y}}, {true, shape_of(y)});
      return;
    }
    default: break;
    }
    add(to, {.what = operation::sort, .operands = {x}}, {false, shape});
  }
  void draw_indexed(block& to, const situation& here) {
    const variable x = slices(to);
    const std::vector<int> shape = shape_of(x), slice = without_first(shape);
    const variable several = find(true, [&](variable v) { return rank_of(v) == 1; });
    if (several != variable::none && chance(60)) return draw_indexed_by(to, several, x);
    const variable place = whole_number(to, false, here);
    const bool has_window = shape[0] > 1;
    switch (between(0, has_window ? 8 : 6)) {
    case 0: add(to, {.what = operation::element, .operands = {x, place}}, {false, slice}); return;
    case 1: add(to, {.what = operation::element_from_end, .operands = {x, place}}, {false, slice}); return;
    case 7:
      add(to, {.what = operation::window, .operands = {x, place}}, {false, with_first(shape[0] - 1, slice)});
      return;
    case 8: {
      const variable update = shaped(to, with_first(shape[0] - 1, slice));
      add(to, {.what = operation::set_window, .operands = {x, place, update}}, {false, shape});
      return;
    }
    default: {
      // the gradient of products of elements is one of unique places only
      const operation which[] = {operation::set_element, operation::add_element, operation::smaller_element,
                                 operation::larger_element, operation::multiply_element};
      const operation what = which[between(0, derivatives(here) == 0 ? 4 : 3)];
      add(to, {.what = what, .operands = {x, place, shaped(to, slice)}}, {false, shape});
    }
    }
  }
  void draw_indexed_by(block& to, variable several, variable x) {
    const int count = shape_of(several)[0];
    const std::vector<int> shape = shape_of(x), slice = without_first(shape);
    switch (between(0, 5)) {
    case 0:
      if (shape[0] == count) {
        add(to, {.what = operation::segment_sums, .operands = {x, several}}, {false, with_first(3, slice)});
        return;
      }
      break;
    case 1:
      if (shape.size() == 1) {
        add(to, {.what = operation::take_along, .operands = {x, several}, .number = shape[0]}, {false, {count}});
        return;
      }
      break;
    case 2:
    case 3: {
      const variable updates = shaped(to, with_first(count, slice));
      add(to, {.what = operation::add_elements, .operands = {x, several, updates}}, {false, shape});
      return;
    }
    default: break;
    }
    add(to, {.what = operation::take, .operands = {x, several}}, {false, with_first(count, slice)});
  }
  void draw_collective(block& to, const situation& here) {
    const variable x = any_number();
    const std::vector<int> shape = shape_of(x);
    if (here.axes.empty() || !here.may_meet) {
      const variable whole = whole_number(to, false, here);
      add(to, {.what = operation::remainder, .operands = {whole}, .number = 3}, {true, {}});
      return;
    }
    const auto [axis, extent] = here.axes[static_cast<std::size_t>(between(0, static_cast<int>(here.axes.size()) - 1))];
    auto over = [&, number = axis](meeting what) {
      add(to, {.what = operation::meet, .together = what, .operands = {x}, .number = number}, {false, shape});
    };
    switch (between(0, 6)) {
    case 0: return over(meeting::sum);
    case 1: return over(meeting::mean);
    case 2: return over(derivatives(here) == 0 ? meeting::largest : meeting::sum);
    case 3: return over(meeting::rotate);
    case 4: return over(meeting::shift);
    case 5:
      if (shape.size() < 2) {
        add(to, {.what = operation::meet, .together = meeting::gather, .operands = {x}, .number = axis},
            {false, with_first(extent, shape)});
        return;
      }
      return over(meeting::sum);
    default: add(to, {.what = operation::meet, .together = meeting::index, .number = axis}, {true, {}});
    }
  }
};

} // namespace properties
