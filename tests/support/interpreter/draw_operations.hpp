// Draws statements that are no functions.
#pragma once

#include "support/interpreter/drawing.hpp"

#include <utility>
#include <vector>

namespace properties {

class operation_drawer : public drawing {
 public:
  using drawing::drawing;

 protected:
  static int derivatives(const situation& here) { return here.gradients + here.directions; }

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
    case 10: return rank == 0 ? unary(operation::sine, shape) : draw_reduction(to, x);
    case 11: return draw_whole_as_numbers(to, here);
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
    case 19: return rank == 0 ? unary(operation::sine, shape) : draw_cumulative(to, x);
    case 20: return draw_ordered(to);
    case 21:
    case 22:
    case 23:
    case 24: return draw_indexed(to, here);
    default: return draw_collective(to, here);
    }
  }
  void draw_reduction(block& to, variable x) {
    const int axis = between(0, rank_of(x) - 1);
    std::vector<int> rest = shape_of(x);
    rest.erase(rest.begin() + axis);
    add(to, {.what = chance(70) ? operation::sum : operation::largest, .operands = {x}, .number = axis}, {false, rest});
  }
  void draw_whole_as_numbers(block& to, const situation& here) {
    if (chance(50)) {
      add(to, {.what = operation::of_whole, .operands = {whole_number(to, false, here)}}, {false, {}});
      return;
    }
    const variable places = find(true, [&](variable v) { return rank_of(v) <= 1; });
    std::vector<int> hot = shape_of(places);
    hot.push_back(3);
    add(to, {.what = operation::one_hot, .operands = {places}}, {false, hot});
  }
  void draw_cumulative(block& to, variable x) {
    const operation which[] = {operation::cumulative_sum,      operation::reverse_sum,
                               operation::cumulative_product,  operation::cumulative_largest,
                               operation::cumulative_smallest, operation::cumulative_logsumexp};
    add(to, {.what = which[between(0, 5)], .operands = {x}, .number = between(0, rank_of(x) - 1)},
        {false, shape_of(x)});
  }
  void draw_dot(block& to) {
    if (chance(25)) return draw_updates(to);
    const int rows = between(2, 3), depth = between(2, 3), columns = between(2, 3);
    const bool vector = chance(50);
    const std::vector<int> right = vector ? std::vector<int>{depth} : std::vector<int>{depth, columns};
    const variable x = shaped(to, {rows, depth}), y = shaped(to, right);
    add(to, {.what = operation::dot, .operands = {x, y}},
        {false, vector ? std::vector<int>{rows} : std::vector<int>{rows, columns}});
  }
  /// A matrix that its own products are added to, as in an update of parameters.
  void draw_updates(block& to) {
    const int rows = between(2, 3), columns = between(2, 3);
    const value_type type{false, {rows, columns}};
    variable x = shaped(to, type.shape);
    const variable y = shaped(to, {columns, columns});
    for (int round = between(2, 3); round > 0; --round) {
      const variable product = add(to, {.what = operation::dot, .operands = {x, y}}, type);
      x = add(to, {.what = operation::add, .operands = {product, x}}, type);
    }
  }
  void draw_ordered(block& to) {
    const variable x = slices(to);
    std::vector<int> shape = shape_of(x);
    switch (between(0, 4)) {
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
    case 3: add(to, {.what = operation::sort_with, .operands = {x, shaped(to, shape)}}, {false, shape}); return;
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
