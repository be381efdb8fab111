// Draws programs: each is right by construction, and whether it is worth a test its interpretation shows.
#pragma once

#include "support/interpreter/draw_operations.hpp"
#include "support/interpreter/nest_order.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace properties {

class program_drawer : public operation_drawer {
 public:
  /// Every third program begins with nests in an order; neighbours of these have another outermost kind.
  explicit program_drawer(std::uint64_t seed) : operation_drawer(seed) {
    if (seed % 3 != 0) return;
    const std::vector<nest_order> all = all_nest_orders();
    const nest_order& order = all[seed / 3 * 7 % all.size()];
    ahead.assign(order.begin(), order.end());
  }

  drawn_program draw() {
    for (const value_type& type : {value_type{false, {3}}, value_type{false, {2, 3}}, value_type{false, {4, 2}},
                                   value_type{true, {3}}, value_type{true, {}}})
      p.main.parameters.push_back(new_variable(type));
    visible = p.main.parameters;
    situation here{.shared_variables = visible.size()};
    std::vector<variable> nest;
    if (ahead.empty()) draw_statements(p.main, here, between(3, 6));
    else nest = draw_ordered_nests(p.main, here, 0);
    for (const std::vector<int>& shape : {std::vector<int>{3}, std::vector<int>{2, 3}})
      p.main.results.push_back(combined(p.main, shape, nest));
    return p;
  }

 private:
  static constexpr int most_devices = 8, axis_names = 3;
  std::vector<nest_kind> ahead; ///< of an order of nests: the one that is drawn, and those inside of it
  std::size_t first_own = 0;    ///< of the visible variables: where those of the function that this one stands in begin
  int pmap_depths = 0;          ///< at which the outermost pmap, loop or branch has one, which is all that it takes

  void draw_statements(block& to, const situation& here, int count) {
    for (int k = 0; k < count; ++k) {
      if (here.depth < 4 && chance(here.depth == 0 ? 75 : here.depth == 1 ? 50 : 30)) draw_call(to, here);
      else if (!here.axes.empty() && chance(25)) draw_collective(to, here);
      else draw_operation(to, here);
    }
  }

  /// The nests that are ahead, each the first statement of a function; gives the numbers that it results in.
  std::vector<variable> draw_ordered_nests(block& to, const situation& here, std::size_t own) {
    first_own = own;
    switch (ahead.front()) {
    case nest_kind::loop: draw_loop(to, here); break;
    case nest_kind::vmap: draw_mapped(to, here, nesting::vmap); break;
    case nest_kind::pmap: draw_mapped(to, here, nesting::pmap); break;
    case nest_kind::derivative: chance(70) ? draw_gradient(to, here) : draw_direction(to, here); break;
    }
    std::vector<variable> numbers = to.statements.back().targets;
    std::erase_if(numbers, [&](variable v) { return p.type_of(v).is_whole; });
    draw_statements(to, here, between(0, 1));
    return numbers;
  }
  void draw_loop(block& to, const situation& here) {
    switch (between(0, here.gradients == 0 ? 4 : 3)) {
    case 0:
    case 1: return draw_scan(to, here);
    case 2: return draw_fori_loop(to, here);
    case 3: return draw_map(to, here);
    default: return draw_while(to, here);
    }
  }
  /// A nest's operand: in an order of nests one of the function that it stands in, so that they depend on each other.
  variable operand(block& to, const std::vector<int>& shape) {
    return ahead.empty() ? shaped(to, shape)
                         : coerced(to, own_number([&](variable v) { return shape_of(v) == shape; }), shape);
  }
  variable slices_operand(block& to) {
    if (ahead.empty()) return slices(to);
    const variable v = own_number([&](variable each) { return rank_of(each) >= 1; });
    return rank_of(v) >= 1 ? v : coerced(to, v, {between(2, 3), 2});
  }
  /// One that is suitable if there is one.
  template <class Suitable> variable own_number(const Suitable& suitable) {
    std::vector<variable> all, found;
    for (std::size_t k = first_own; k < visible.size(); ++k) {
      if (p.type_of(visible[k]).is_whole) continue;
      all.push_back(visible[k]);
      if (suitable(visible[k])) found.push_back(visible[k]);
    }
    return one_of(found.empty() ? all : found);
  }

  /// A function of these parameters, which are bounded, as its results are. A round's two carries begin with parameter
  /// `changing`: it may hand on the first one with an element that is another one, and the second one as it is.
  block draw_body(const std::vector<value_type>& parameters, const std::vector<std::vector<int>>& results,
                  situation here, int changing = -1) {
    block body;
    const std::vector<variable> outside = visible;
    for (const value_type& type : parameters) {
      body.parameters.push_back(new_variable(type));
      visible.push_back(body.parameters.back());
    }
    ++here.depth;
    if (!ahead.empty()) ahead.erase(ahead.begin());
    std::vector<variable> nest; // which the results depend on, in an order of nests
    if (ahead.empty()) draw_statements(body, here, between(1, here.depth > 2 ? 2 : 4));
    else nest = draw_ordered_nests(body, here, outside.size());
    const bool changes = changing >= 0 && !results[0].empty() && chance(40), early = chance(50);
    variable with_change = variable::none;
    auto change = [&] { with_change = changed(body, body.parameters[static_cast<std::size_t>(changing)], nest, here); };
    if (changes && early) change();
    for (const std::vector<int>& shape : results) body.results.push_back(combined(body, shape, nest));
    if (changes && !early) change();
    if (changes) body.results[0] = with_change;
    if (changing >= 0 && chance(20)) { // the second carry as it is, or the first one in its place
      const auto first = static_cast<std::size_t>(changing);
      const bool exchanged = results[0] == results[1] && chance(50);
      body.results[1] = body.parameters[exchanged ? first : first + 1];
    }
    visible = outside;
    return body;
  }
  variable changed(block& to, variable x, const std::vector<variable>& nest, const situation& here) {
    const std::vector<int> slice = without_first(shape_of(x));
    const variable update = combined(to, slice, nest), place = whole_number(to, false, here);
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
  /// Inside of a loop or of a branch.
  situation in_loop(situation here) {
    if (!here.as_one) pmap_depths = 0;
    here.as_one = true;
    return here;
  }
  void draw_scan(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1), output = small_shape(1);
    statement s{.what = operation::nest, .nested = chance(70) ? nesting::scan : nesting::reverse_scan};
    s.operands = {operand(to, first), operand(to, second), slices_operand(to)};
    const std::vector<int> all = shape_of(s.operands[2]);
    s.bodies.push_back(draw_body({{false, first}, {false, second}, {false, without_first(all)}},
                                 {first, second, output}, in_loop(here), 0));
    add_targets(to, s, {{false, first}, {false, second}, {false, with_first(all[0], output)}});
  }
  void draw_fori_loop(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1);
    statement s{
        .what = operation::nest, .nested = nesting::fori_loop, .operands = {operand(to, first), operand(to, second)}};
    s.number = between(ahead.empty() ? 0 : 1, 3);
    if (chance(50)) s.operands.push_back(slices_operand(to)); // an extent of the program says how many rounds there are
    s.bodies.push_back(draw_body({{true, {}}, {false, first}, {false, second}}, {first, second}, in_loop(here), 1));
    add_targets(to, s, {{false, first}, {false, second}});
  }
  void draw_while(block& to, const situation& here) {
    const std::vector<int> carry = small_shape(2);
    situation inside = in_loop(here);
    const bool ordered = !ahead.empty(), shared = ordered || chance(40);
    statement s{.what = operation::nest, .nested = nesting::while_loop};
    s.operands = {operand(to, carry), whole_number(to, shared, here)};
    // what instances share is below 4, so that there is a round
    s.operands.push_back(ordered ? whole_constant(to, 4) : whole_number(to, shared, here));
    inside.may_meet = inside.may_meet && is_shared(s.operands[1], here) && is_shared(s.operands[2], here);
    s.bodies.push_back(draw_body({{false, carry}, {true, {}}}, {carry}, inside));
    add_targets(to, s, {{false, carry}, {true, {}}});
  }
  void draw_map(block& to, const situation& here) {
    const std::vector<int> output = small_shape(1);
    statement s{.what = operation::nest, .nested = nesting::map, .operands = {slices_operand(to)}};
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
  bool may_pmap(const situation& here) const { return here.may_meet && (!here.as_one || pmap_depths <= here.pmaps); }
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
    s.operands = {operand(to, whole_first), operand(to, whole ? second : with_first(s.extent, second))};
    inside.axes.push_back({name, s.extent});
    if (what == nesting::pmap) {
      inside.devices *= s.extent;
      ++inside.pmaps;
      inside.as_one = true;
      pmap_depths = inside.pmaps;
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
        .what = operation::nest, .nested = nesting::direction, .operands = {operand(to, first), operand(to, second)}};
    situation inside = here;
    ++inside.directions;
    s.bodies.push_back(draw_body({{false, first}, {false, second}}, {result}, inside));
    add_targets(to, s, {{false, result}});
  }
  void draw_gradient(block& to, const situation& here) {
    const std::vector<int> first = small_shape(2), second = small_shape(1);
    statement s{.what = operation::nest, .nested = chance(50) ? nesting::gradient : nesting::both_gradients};
    s.operands = {operand(to, first), operand(to, second)};
    situation inside = here;
    ++inside.gradients;
    s.bodies.push_back(draw_body({{false, first}, {false, second}}, {{}}, inside));
    if (s.nested == nesting::gradient) add_targets(to, s, {{false, first}});
    else add_targets(to, s, {{false, first}, {false, second}});
  }
};

} // namespace properties
