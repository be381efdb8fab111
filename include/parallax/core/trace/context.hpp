// All that one trace owns: the graphs under construction, symbolic extents, bound axes, guards and the error.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/support/text.hpp>
#include <parallax/core/trace/guard.hpp>
#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/trace/words.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// An axis that a vmap or pmap maps.
enum class axis_id : int { none = -1 };

struct mapped_axis {
  std::string_view name; ///< empty if the user gave none
  dim size;              ///< how many instances there are
  dim own_instances;     ///< how many of its instances this process has
  bool is_pmapped = false;
  bool is_counted = false; ///< whether a value in the program depends on its size
  axis_bits bit{};         ///< of a mesh's axis; none otherwise
};

/// Stops constant evaluation at the user's own line, after the text of the error has been printed.
inline void the_error_is_in_this_call() {}

class context;

} // namespace detail

class tracer;

namespace detail {
struct ffi_function;

/// Numbers that a traced function writes out as a table. A program has each table once, as an input after the inputs
/// that its arguments are.
struct constant_table {
  element_type type = element_type::float32;
  dims shape;
  growing_vector<std::int64_t> words; ///< the elements, encoded as in a `literal`
  node_id input = node_id::none;      ///< in the outermost graph

  constexpr bool is_same(const constant_table& other) const {
    return type == other.type && plain::equal(shape, other.shape) && plain::equal(words, other.words);
  }
};
struct primitive_rules;

/// Appends an operation to the innermost graph.
using operation_appender = tracer (*)(context&, primitive_id, plain_span<const tracer> operands, parameter_words);

/// The parts of the operation that is being appended.
struct operation_parts {
  growing_vector<node_id> operands;
  growing_vector<abstract_value> values;  ///< of the operands
  growing_vector<abstract_value> results; ///< of a call
  word_list parameters;
};

class context {
 public:
  // Set by `trace_program`: core/ cannot name the primitives.
  operation_appender append = nullptr;
  const primitive_rules* rules = nullptr; ///< by primitive_id

  dim_table extents;
  table<graph_id, graph> graphs;
  growing_vector<graph_id> active;    ///< the graphs being traced, innermost last
  table<axis_id, mapped_axis> axes;   ///< every axis ever bound
  growing_vector<axis_id> bound_axes; ///< the axes in scope, innermost last
  dim repeats{1};                     ///< 0 if the code being traced is in a loop of no rounds
  growing_vector<guard> guards;
  growing_vector<dims> passed;                       ///< extents that were arguments of nested functions
  growing_vector<const ffi_function*> ffi_functions; ///< functions of users' own that the program calls
  growing_vector<constant_table> constants;          ///< tables of numbers that the program has
  /// Kept here, because memory for each operation would cost time, and nvcc 13.0 loses such temporaries in long
  /// expressions.
  operation_parts next;
  message error;
  bool failed = false;
  bool strict = false; ///< stop at the error instead of recording it
  /// Whether this trace only looks for the trace that a function's captured values belong to, which it puts into `met`.
  bool is_probe = false;
  context* met = nullptr;

  constexpr context() { active.push_back(graphs.add({})); }

  constexpr graph& at(graph_id id) { return graphs.first[static_cast<std::size_t>(id)]; }
  constexpr const graph& at(graph_id id) const { return graphs.first[static_cast<std::size_t>(id)]; }
  constexpr graph_id innermost() const { return active.back(); }
  constexpr graph& current() { return graphs[active.back()]; }

  /// Records the first error; tracing goes on with placeholder values so that the text can be reported.
  constexpr void fail(const message& text) {
    if (strict) the_error_is_in_this_call();
    if (!failed) error = text;
    failed = true;
  }

  /// Fails, on behalf of `operation`, if arithmetic on extents has had no result.
  constexpr void check_extents(std::string_view operation) {
    switch (extents.failure) {
    case dim_failure::none: return;
    case dim_failure::too_many_factors:
      return fail(message() << operation << ": an extent or a number of elements is a product of more than "
                            << dim_term::max_atoms
                            << " extents that are known at the call only; give some arguments static extents");
    case dim_failure::too_large:
      return fail(message() << operation
                            << ": an extent or a number of elements is beyond 64 bits; make the arrays smaller");
    case dim_failure::negative:
      return fail(message() << operation << ": an extent is negative; give extents and bounds that leave 0 or more");
    }
  }

  /// The number of a user's own function. A function that has none yet is added.
  constexpr int number_of(const ffi_function* function) {
    for (std::size_t k = 0; k < ffi_functions.size(); ++k)
      if (ffi_functions[k] == function) return static_cast<int>(k);
    ffi_functions.push_back(function);
    return static_cast<int>(ffi_functions.size()) - 1;
  }

  constexpr graph_id open_graph() {
    graph opened;
    opened.parent = innermost();
    active.push_back(graphs.add(opened));
    return innermost();
  }
  constexpr void close_graph() { active.pop_back(); }

  constexpr axis_id bind_axis(const mapped_axis& axis) {
    bound_axes.push_back(axes.add(axis));
    return bound_axes.back();
  }
  constexpr bool is_inside_pmap() const {
    for (axis_id axis : bound_axes)
      if (axes[axis].is_pmapped) return true;
    return false;
  }
  constexpr void unbind_axis() { bound_axes.pop_back(); }
  /// Whether an axis of a mesh is in scope.
  constexpr bool is_on_mesh() const {
    bool found = false;
    for (std::size_t i = 0; i < bound_axes.size(); ++i) found = found || !axes[bound_axes[i]].bit.empty();
    return found;
  }
  /// A bit that no other axis has, for the next axis of a mesh that is bound.
  constexpr axis_bits next_axis_bit() {
    int number = 0;
    for (const mapped_axis& axis : axes) number += axis.bit.empty() ? 0 : 1;
    if (number < axis_bits::most) return axis_bits::of_axis(number);
    fail(message() << "shard_map: a program has more than " << axis_bits::most
                   << " axes of meshes, with each call's anew; call it in a loop");
    return {};
  }
  constexpr axis_id find_axis(std::string_view name) const {
    for (std::size_t i = bound_axes.size(); i-- > 0;)
      if (axes[bound_axes[i]].name == name) return bound_axes[i];
    return axis_id::none;
  }
  constexpr dim axis_size(axis_id axis) const { return axes[axis].size; }

  /// The input of the outermost graph that stands for this table; a new one if there is none yet.
  constexpr node_id input_of(constant_table table) {
    for (const constant_table& known : constants)
      if (known.is_same(table)) return known.input;
    graph& outermost = at(graph_id::outermost);
    table.input = outermost.add_input({table.type, false, table.shape});
    outermost.inputs.push_back(table.input);
    constants.push_back(table);
    return table.input;
  }
  /// The table that an input of the outermost graph stands for; null if the input is no table.
  constexpr const constant_table* table_at(node_id input) const {
    for (const constant_table& known : constants)
      if (known.input == input) return &known;
    return nullptr;
  }

  /// The value as a value of this trace; a placeholder if it is of another trace.
  constexpr tracer own(const tracer& x);

  /// The node of the innermost graph that stands for `id` of `owner`: closing over an outer value makes it an input.
  constexpr node_id import(graph_id owner, node_id id) {
    // after an error there may be values of graphs that are closed
    if (failed && owner != innermost()) return current().add_input(at(owner).value(id));
    return import_into(active.size() - 1, owner, id);
  }

 private:
  constexpr node_id import_into(std::size_t level, graph_id owner, node_id id) {
    graph_id target = active[level];
    if (target == owner || level == 0) return id;
    node_id outer = import_into(level - 1, owner, id);
    for (const capture& c : at(target).captures)
      if (c.outer == outer) return c.inner;
    abstract_value value = at(active[level - 1]).value(outer);
    value.varies = value.varies | at(target).runs_along;
    node_id inner = at(target).add_input(value);
    at(target).captures.push_back({outer, inner});
    return inner;
  }
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
