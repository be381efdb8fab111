// Programs that tests draw: functions of arrays as data, with loops, branches, vmap, pmap and grad nested at will.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace properties {

/// Names an array of a drawn program. Its value is known to everything that is nested behind it.
enum class variable : int { none = -1 };

/// Numbers are float64, whole numbers int32.
struct value_type {
  bool is_whole = false;
  std::vector<int> shape{};
  friend bool operator==(const value_type&, const value_type&) = default;
};
inline int count_of_elements(const std::vector<int>& shape) {
  int count = 1;
  for (int extent : shape) count *= extent;
  return count;
}

/// What a statement does. `number`, `constant` and `shape` are the statement's.
enum class operation {
  literal,  ///< `constant`
  ramp,     ///< `constant` times 1, 2, 3, ... of `shape`
  of_whole, ///< a whole number as a number
  one_hot,  ///< 1 at place i of three, 0 elsewhere, along a new last axis
  add,      ///< of one shape, or the second one a scalar, as the next two
  subtract,
  multiply,
  divide, ///< x / (y^2 + 1.5)
  maximum,
  sine,
  hyperbolic, ///< tanh
  select,     ///< c where a < b, d elsewhere, all of one shape
  sum_all,
  sum,                  ///< along axis `number`
  largest,              ///< along axis `number`
  broadcast,            ///< a scalar to `shape`
  transpose,            ///< of a matrix
  flatten,              ///< a matrix to a row
  concatenate,          ///< along axis 0
  slice,                ///< all but the first along axis 0
  dot,                  ///< of a matrix and a matrix or vector
  cumulative_sum,       ///< along axis `number`
  reverse_sum,          ///< the same from the end
  cumulative_product,   ///< along axis `number`
  cumulative_largest,   ///< along axis `number`
  cumulative_smallest,  ///< along axis `number`
  cumulative_logsumexp, ///< along axis `number`
  sort,                 ///< along axis 0
  argsort,              ///< likewise
  sort_with,            ///< y in the order that sorts x, likewise
  top,                  ///< the two largest along the last axis
  search,               ///< where y goes into the sorted row x
  element,              ///< x[i], i a whole number, which is clamped
  element_from_end,     ///< x[-1 - i]
  take,                 ///< x[i], i several whole numbers
  take_along,           ///< the same of a row by take_along_axis, of remainders
  window,               ///< all but one element from i on
  set_window,           ///< writes as many there
  set_element,          ///< x.at(i).set(y)
  add_element,          ///< x.at(i).add(y)
  multiply_element,     ///< x.at(i).multiply(y)
  smaller_element,      ///< x.at(i).min(y)
  larger_element,       ///< x.at(i).max(y)
  add_elements,         ///< x.at(i).add(y) of several whole numbers
  segment_sums,         ///< three sums of x, i says which of them each element is added to
  remainder,            ///< of a whole number by `number`
  meet,                 ///< between instances: see `meeting`
  nest                  ///< functions: see `nesting`
};

/// What instances do together, along axis `number`.
enum class meeting { index, sum, mean, largest, rotate, shift, gather };

/// What is done with functions.
enum class nesting {
  scan,          ///< operands: two carries, slices; body: (carry, carry, slice) -> (carry, carry, output)
  reverse_scan,  ///< the same from the last slice
  fori_loop,     ///< `number` rounds, or the first extent of a third operand; operands: two carries; body: (i, carry,
                 ///< carry) -> (carry, carry)
  while_loop,    ///< operands: carry, i, bound; body: (carry, i) -> carry, as long as i < bound; then i + 1
  map,           ///< operands: slices; body: slice -> output
  cond,          ///< operands: whole number, two values; branches where it is below 2, and elsewhere
  switched,      ///< operands: whole number, two values; three branches
  vmap,          ///< over axis `number` of `extent` elements, as `layout` says; body: (x, y) -> (z, w)
  pmap,          ///< the same
  checkpointed,  ///< body: (x, y) -> (z, w)
  direction,     ///< jvp of body: (x, y) -> z, in the direction of x and y themselves
  gradient,      ///< body: (x, y) -> number; by x
  both_gradients ///< by x and y
};

/// Along which axes a vmap or pmap maps its two operands.
enum class mapped_layout { both_first, second_whole, first_along_1 };

/// A mapped axis: its number, which is its name, and its extent.
struct mapped_extent {
  int axis, extent;
};

struct statement;

/// A function: its results are variables that are known where it ends.
struct block {
  std::vector<variable> parameters{};
  std::vector<statement> statements; // no braces: a statement is not complete here
  std::vector<variable> results{};
};

struct statement {
  operation what = operation::literal;
  meeting together = meeting::index;
  nesting nested = nesting::scan;
  std::vector<variable> operands{}, targets{};
  int number = 0;
  double constant = 0;
  std::vector<int> shape{};
  mapped_layout layout = mapped_layout::both_first;
  int extent = 0;
  std::vector<block> bodies{};
};

struct drawn_program {
  std::vector<value_type> types{}; ///< by variable
  block main{};

  const value_type& type_of(variable v) const { return types[static_cast<std::size_t>(v)]; }
};

inline void print(std::ostream& out, const drawn_program& p, const block& b, int depth) {
  auto list = [&](const std::vector<variable>& all) {
    for (variable v : all) {
      out << " v" << static_cast<int>(v) << (p.type_of(v).is_whole ? "i[" : "[");
      for (std::size_t i = 0; i < p.type_of(v).shape.size(); ++i) out << (i ? "," : "") << p.type_of(v).shape[i];
      out << ']';
    }
  };
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  list(b.parameters);
  out << " ->\n";
  for (const statement& s : b.statements) {
    out << indent;
    list(s.targets);
    out << " = operation " << static_cast<int>(s.what) << '/' << static_cast<int>(s.together) << '/'
        << static_cast<int>(s.nested) << " number=" << s.number << " constant=" << s.constant
        << " layout=" << static_cast<int>(s.layout);
    list(s.operands);
    out << '\n';
    for (const block& body : s.bodies) {
      out << indent << " {";
      print(out, p, body, depth + 1);
      out << indent << " }\n";
    }
  }
  out << indent << "return";
  list(b.results);
  out << '\n';
}

} // namespace properties
