// Everything that one trace owns: the graphs under construction, symbolic extents, bound axes, guards and the error.
#pragma once

#include <parallax/core/graph.hpp>
#include <parallax/core/text.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace parallax {

/// A mapped axis of a vmap or pmap.
struct mapped_axis {
  std::string_view name; ///< empty where the user gave none
  dim size = 0;
};

/// One array axis that takes part in a mapping: what a message about sizes that disagree lists.
struct mapped_argument {
  int argument = 0; ///< number of the argument's leaf
  int axis = 0;
  abstract_value value;
};

/// A condition on extents that only the call can decide. It is checked before anything runs.
struct guard {
  enum kind {
    equal_extents,     ///< of two operands
    broadcast_extents, ///< the same, where an extent of 1 that is known while compiling would have been repeated
    same_size,         ///< left is right
    divisible,         ///< left is divisible by right
    at_least,          ///< left is at least right
    index_within,      ///< index right is one of an axis of extent left
    not_zero,          ///< left is not 0
    groups_cover,      ///< an axis of extent left has the indices of groups, right in number
    mapped_sizes
  } condition = equal_extents;
  std::string_view operation;
  dim left = 0, right = 0;
  abstract_value left_value, right_value;        ///< the operands; one operand is the left value
  std::vector<mapped_argument> mapped_arguments; ///< mapped_sizes: all that are mapped

  constexpr bool asks_for_equality() const {
    return condition == equal_extents || condition == broadcast_extents || condition == same_size ||
           condition == mapped_sizes;
  }
};

/// Stops constant evaluation at the user's own line, after the text of the error has been printed.
inline void the_error_is_in_this_call() {}

class context;
class tracer;

/// Appends an operation to the innermost graph. The trace is told how: only where all primitives are known is it known.
using operation_appender = tracer (*)(context&, int operation, std::span<const tracer> operands,
                                      std::span<const std::int64_t> parameters);

class context {
 public:
  operation_appender append = nullptr;
  dim_table extents;
  std::vector<graph> graphs{graph{}};
  std::vector<int> active{0};    ///< the graphs being traced, innermost last
  std::vector<mapped_axis> axes; ///< every axis ever bound; its position is its number
  std::vector<int> bound_axes;   ///< the axes in scope, innermost last
  std::vector<guard> guards;
  message error;
  bool failed = false;
  bool strict = false; ///< stop at the error instead of recording it

  constexpr graph& at(int id) { return graphs[static_cast<std::size_t>(id)]; }
  constexpr const graph& at(int id) const { return graphs[static_cast<std::size_t>(id)]; }
  constexpr graph& current() { return at(active[active.size() - 1]); }

  /// Records the first error; tracing goes on with placeholder values so that the text can be reported.
  constexpr void fail(const message& text) {
    if (strict) the_error_is_in_this_call();
    if (!failed) error = text;
    failed = true;
  }

  /// Fails, on behalf of `operation`, if an extent has become too long to be written down.
  constexpr void check_extents(std::string_view operation) {
    if (extents.too_long)
      fail(message() << operation << ": an extent or a number of elements is a product of more than "
                     << dim_term::max_atoms
                     << " extents that are known at the call only; give some arguments static extents");
  }

  constexpr int open_graph() {
    graphs.push_back(graph{});
    graphs.back().parent = active.back();
    active.push_back(static_cast<int>(graphs.size()) - 1);
    return active.back();
  }
  constexpr void close_graph() { active.pop_back(); }

  constexpr int bind_axis(std::string_view name, dim size) {
    axes.push_back({name, size});
    bound_axes.push_back(static_cast<int>(axes.size()) - 1);
    return bound_axes.back();
  }
  constexpr void unbind_axis() { bound_axes.pop_back(); }
  constexpr int find_axis(std::string_view name) const {
    for (std::size_t i = bound_axes.size(); i-- > 0;)
      if (axes[static_cast<std::size_t>(bound_axes[i])].name == name) return bound_axes[i];
    return -1;
  }
  constexpr dim axis_size(int axis) const { return axes[static_cast<std::size_t>(axis)].size; }

  /// The node of the innermost graph that stands for `id` of `owner`: closing over an outer value makes it an input.
  constexpr int import(int owner, int id) {
    // after an error there may be values of graphs that are closed
    if (failed && owner != active.back()) return current().add(input_operation, {}, at(owner).value(id), {}, true);
    return import_into(static_cast<int>(active.size()) - 1, owner, id);
  }

 private:
  constexpr int import_into(int level, int owner, int id) {
    int target = active[static_cast<std::size_t>(level)];
    if (target == owner || level == 0) return id;
    int outer = import_into(level - 1, owner, id);
    for (const capture& c : at(target).captures)
      if (c.outer == outer) return c.inner;
    abstract_value value = at(active[static_cast<std::size_t>(level - 1)]).value(outer);
    int inner = at(target).add(input_operation, {}, value, {}, true);
    at(target).captures.push_back({outer, inner});
    return inner;
  }

 public:
  /// The operation number of a graph's inputs, below every primitive's.
  static constexpr int input_operation = -1;
};

/// Appends an abstract value as JAX prints it: `float32[3,4]`; symbolic extents by the argument axis they come from.
constexpr void print_extent(auto& out, const dim_table& table, dim extent) {
  if (is_static(extent)) {
    out << extent;
    return;
  }
  const auto& terms = table.entries[static_cast<std::size_t>(-extent - 1)];
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::int64_t coefficient = terms[i].coefficient;
    if (coefficient < 0) out << '-';
    else if (i > 0) out << '+';
    if (coefficient < 0) coefficient = -coefficient;
    bool first = coefficient == 1 && !terms[i].atoms.empty();
    if (!first) out << coefficient;
    for (int number : terms[i].atoms) {
      if (!first) out << '*';
      first = false;
      const dim_atom& atom = table.atoms[static_cast<std::size_t>(number)];
      if (atom.quotient) {
        out << '(';
        print_extent(out, table, atom.first);
        out << ")/(";
        print_extent(out, table, atom.second);
        out << ')';
      } else {
        out << 'n' << atom.first << '_' << atom.second;
      }
    }
  }
}

constexpr void print_value(auto& out, const dim_table& table, const abstract_value& value) {
  out << name_of(value.type) << '[';
  for (int i = 0; i < value.rank(); ++i) {
    if (i > 0) out << ',';
    print_extent(out, table, value.shape[i]);
  }
  out << ']';
}

} // namespace parallax
